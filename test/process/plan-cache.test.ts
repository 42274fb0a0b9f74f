/** What is planned anew, and what is not (decision 013). */
import { expect, it } from 'vitest'
import type { Rights } from '../../src/core/access/principal.ts'
import type { Model } from '../../src/core/model/model.ts'
import { createPlanCache } from '../../src/services/data/plan-cache.ts'

it('keeps what is asked for again and again, however much else is asked for once', () => {
  const [rights, model] = [{} as Rights, {} as Model]
  const cache = createPlanCache({})
  const often = () => cache.get(rights, model, 'often', () => ({}))
  const first = often()

  for (let index = 0; index < 10_000; index += 1) {
    often()
    cache.get(rights, model, `once ${index}`, () => ({}))
  }

  expect(often()).toBe(first)
})

it('keeps no more than some megabytes of statements, whoever asks', () => {
  const model = {} as Model
  const cache = createPlanCache({ maxWeight: 1_000_000 })
  const made = (name: string) => Object.assign(async () => name, { weight: 100_000 })
  const people = Array.from({ length: 20 }, () => ({}) as Rights)
  let count = 0
  const ask = (rights: Rights) =>
    cache.get(rights, model, 'list', () => {
      count += 1
      return { made: { made: made('list') } }
    })

  for (const rights of people) ask(rights)
  const first = count
  // The last ones are there still, the first ones are gone.
  for (const rights of people.slice(-5)) ask(rights)
  const again = count
  for (const rights of people.slice(0, 5)) ask(rights)

  expect([first, again, count]).toEqual([20, 20, 25])
})

it('counts what is compiled late once it is', () => {
  const [rights, model] = [{} as Rights, {} as Model]
  const cache = createPlanCache({ maxWeight: 100_000 })
  const late: { (): Promise<string>; weight?: number } = async () => 'late'
  const ask = () => cache.get(rights, model, 'late', () => ({ made: { run: late } }))
  const first = ask()

  late.weight = 60_000
  expect(ask()).toBe(first)
  cache.get(rights, model, 'other', () => Object.assign(async () => 'other', { weight: 60_000 }))

  expect(ask()).not.toBe(first)
})
