/** Slots of one account: it has its own lines, whatever it names. */
import { expect, it } from 'vitest'
import { createRequestSlots } from '../../src/platform/node/http/request-slots.ts'

const stays = () => false

it('lets so many of an account wait, whatever collections they name, and nobody behind others', async () => {
  const slots = createRequestSlots({ ofCollection: 1, ofAccount: 2, waiting: 2 })
  const ends = ['a', 'b'].map((collection) => slots.takeNow('one', collection))
  const waiting = ['c', 'd'].map((collection) => slots.take('one', collection, stays))

  await expect(slots.take('one', 'e', stays)).rejects.toMatchObject({ name: 'SqlFault' })
  expect(slots.takeNow('another', 'a')).toBeTypeOf('function')

  for (const end of ends) end?.()
  for (const end of await Promise.all(waiting)) end()
  expect(slots.takeNow('one', 'e')).toBeTypeOf('function')
})

it('counts each end once', () => {
  const slots = createRequestSlots({ ofCollection: 1, ofAccount: 1, waiting: 1 })
  const end = slots.takeNow('one', 'a')
  end?.()
  end?.()

  expect(slots.takeNow('one', 'a')).toBeTypeOf('function')
  expect(slots.takeNow('one', 'a')).toBeUndefined()
})
