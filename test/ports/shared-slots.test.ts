/** docs/decisions/037: those of one share have some of all slots, the others are for others. */
import { expect, it } from 'vitest'
import { createSharedSlots } from '../../src/platform/drivers/shared-slots.ts'

it('has those wait whose share has its slots, and first lets those go on of whose share the fewest do', async () => {
  const slots = createSharedSlots({ most: 4, ofShare: 2, patience: 60_000 })
  const order: string[] = []
  const take = async (share: string, name: string) => {
    const end = await slots.take(share)
    order.push(name)
    return end
  }

  const [first, second] = await Promise.all([take('a', 'a1'), take('a', 'a2')])
  const behind = [take('a', 'a3'), take('a', 'a4')]
  const other = await take('b', 'b1')
  const last = await take('d', 'd1')
  behind.push(take('c', 'c1'))
  first()
  first()
  await behind[2]
  other()
  last()
  await behind[0]
  second()
  await behind[1]

  expect(order).toEqual(['a1', 'a2', 'b1', 'd1', 'c1', 'a3', 'a4'])
})

it('tells those who waited too long', async () => {
  const slots = createSharedSlots({ most: 1, ofShare: 1, patience: 1 })
  const end = await slots.take('a')

  await expect(slots.take('b')).rejects.toMatchObject({ name: 'SqlFault', state: '53300' })
  end()
  expect(await slots.take('b')).toBeTypeOf('function')
})

it('keeps the last slot for a share that has none', async () => {
  const slots = createSharedSlots({ most: 4, ofShare: 2, patience: 60_000 })
  const ends = await Promise.all(['a', 'a', 'b'].map((share) => slots.take(share)))
  let second = false
  const waiting = slots.take('b').then(() => (second = true))
  await slots.take('c')
  const before = second
  ends[0]?.()
  ends[1]?.()
  await waiting

  expect([before, second]).toEqual([false, true])
})

it('lets shares take turns, however many of one wait', async () => {
  const slots = createSharedSlots({ most: 2, ofShare: 1, patience: 60_000 })
  const order: string[] = []
  const take = async (share: string) => {
    const end = await slots.take(share)
    order.push(share)
    await new Promise((resolve) => setImmediate(resolve))
    end()
  }
  await Promise.all(['a', 'b', 'a', 'a', 'b', 'b', 'c'].map(take))

  expect(order).toEqual(['a', 'b', 'a', 'b', 'c', 'a', 'b'])
})

it('leaves slots of a share to its other accounts', async () => {
  const slots = createSharedSlots({ most: 5, ofShare: 3, ofAccount: 2, patience: 60_000 })
  const ends = [slots.takeNow('a', 'many'), slots.takeNow('a', 'many'), slots.takeNow('a', 'many')]
  const other = slots.takeNow('a', 'other')
  ends[0]?.()

  expect([...ends, other, slots.takeNow('a', 'many')].map((end) => end !== undefined)).toEqual([
    ...[true, true, false, true, true],
  ])
})

it('lets the accounts of a share take turns, however many of one wait', async () => {
  const slots = createSharedSlots({ most: 2, ofShare: 1, patience: 60_000 })
  const order: string[] = []
  const take = async (account: string) => {
    const end = await slots.take('a', undefined, account)
    order.push(account)
    await new Promise((resolve) => setImmediate(resolve))
    end()
  }
  await Promise.all(['many', 'many', 'many', 'many', 'one', 'other'].map(take))

  expect(order).toEqual(['many', 'many', 'one', 'other', 'many', 'many'])
})

it('has only so many of a share wait, and counts nobody who has gone', async () => {
  const slots = createSharedSlots({ most: 1, ofShare: 1, patience: 60_000, waiting: 2 })
  const end = await slots.take('a')
  let hasGone = false
  const gone = [1, 2].map(() => slots.take('a', () => hasGone).catch(({ state }) => state))

  await expect(slots.take('a')).rejects.toMatchObject({ name: 'SqlFault', state: '53300' })
  const other = slots.take('b')
  hasGone = true
  const next = slots.take('a')
  expect(await Promise.all(gone)).toEqual(['57000', '57000'])
  end()
  const ends = [await other]
  ends[0]?.()
  ends.push(await next)
  expect(slots.takeNow('c')).toBeUndefined()
  ends[1]?.()
  expect(slots.takeNow('c')).toBeTypeOf('function')
})
