/** What is planned anew, and what is not (decision 013). */
import { expect, it } from 'vitest'
import type { Rights } from '../../src/core/access/principal.ts'
import type { Model } from '../../src/core/model/model.ts'
import { createPlanCache } from '../../src/services/data/plan-cache.ts'

it('keeps what is asked for again and again, however much else is asked for once', () => {
  const [rights, model] = [{} as Rights, {} as Model]
  const cache = createPlanCache()
  const often = () => cache.get(rights, model, 'often', () => ({}))
  const first = often()

  for (let index = 0; index < 10_000; index += 1) {
    often()
    cache.get(rights, model, `once ${index}`, () => ({}))
  }

  expect(often()).toBe(first)
})
