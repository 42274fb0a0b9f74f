/** The laws of the Background port on Node; on Workers the acceptance suite sees mails arrive and failures told. */
import { expect, it } from 'vitest'
import { createNodeBackground } from '../../src/platform/node/background.ts'
import type { Observation } from '../../src/ports/observe.ts'

it('is waited for at the end of the process, work that other work has begun included', async () => {
  const { background, settled } = createNodeBackground(() => {})
  const done: string[] = []
  const later = async (name: string) => {
    await new Promise((resolve) => setTimeout(resolve, 5))
    done.push(name)
  }
  background(later('first').then(() => background(later('second'))))

  await settled()

  expect(done).toEqual(['first', 'second'])
})

it('tells of work that fails, and of nothing else', async () => {
  const observed: Observation[] = []
  const { background, settled } = createNodeBackground((observation) => observed.push(observation))
  const error = new Error('no such mailbox')

  background(Promise.resolve())
  background(Promise.reject(error))
  await settled()

  expect(observed).toEqual([{ kind: 'fault', error }])
})

it('settles at once where there is nothing to do', async () => {
  const { settled } = createNodeBackground(() => {})

  await expect(settled()).resolves.toBeUndefined()
})
