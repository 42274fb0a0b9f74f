/** What takes much memory waits in a queue: some goes on at a time, each of another workspace, whatever becomes of that before. */
import { expect, it } from 'vitest'
import type { Model } from '../../src/core/model/model.ts'
import { ofWholeModel } from '../../src/services/caller/queued-requests.ts'
import { createWorkQueue } from '../../src/services/caller/work-queue.ts'

type Turn = { readonly name: string; readonly end: () => void; readonly fail: () => void }

function setUp(patience?: number) {
  const queue = createWorkQueue({ mostLarge: 2, ...(patience !== undefined && { patience }) })
  const going: Turn[] = []
  const take = (workspace: string, name = workspace, by = workspace) =>
    queue.run({ id: workspace, by, isLarge: true }, () => {
      return new Promise<string>((resolve, reject) => {
        going.push({ name, end: () => resolve(name), fail: () => reject(new Error(name)) })
      })
    })
  const names = () => going.map(({ name }) => name)
  return { take, going, names }
}

it('lets two large ones go on at once, and the next one when one of them has ended or failed', async () => {
  const { take, going, names } = setUp()
  const [first, second, third] = [take('a'), take('b'), take('c')]
  const fourth = take('d')
  expect(names()).toEqual(['a', 'b'])

  going[0]?.end()
  going[1]?.fail()

  expect(await first).toBe('a')
  await expect(second).rejects.toThrow('b')
  await expect.poll(names).toEqual(['a', 'b', 'c', 'd'])
  for (const { end } of going) end()
  expect(await Promise.all([third, fourth])).toEqual(['c', 'd'])
})

it('lets the account of which none went on longest ago be the next large one, whichever workspace that is in', async () => {
  const { take, going, names } = setUp()
  const all = [take('a', 'one', 'first'), take('b', 'two', 'second')]
  const waiting = [take('c', 'again', 'first'), take('d', 'more', 'second'), take('e', 'new', 'third')]

  for (const { end } of going) end()
  await Promise.all(all)
  await expect.poll(names).toHaveLength(4)
  expect(names().slice(2).toSorted()).toEqual(['again', 'new'])
  for (const { end } of going) end()
  await expect.poll(names).toHaveLength(5)
  going.at(-1)?.end()
  await Promise.all(waiting)
})

it('lets one large one of an account go on at a time, however many workspaces it is in', async () => {
  const { take, going, names } = setUp()
  const all = [take('a', 'one', 'account'), take('b', 'two', 'account'), take('c', 'three', 'other')]
  expect(names()).toEqual(['one', 'three'])

  going[0]?.end()
  await all[0]
  await expect.poll(names).toEqual(['one', 'three', 'two'])
  for (const { end } of going) end()
  expect(await Promise.all(all)).toEqual(['one', 'two', 'three'])
})

it('lets go on one after the other of a workspace', async () => {
  const { take, going, names } = setUp()
  const all = [take('a', 'one'), take('a', 'two'), take('b')]
  const last = take('a', 'three')
  expect(names()).toEqual(['one', 'b'])

  going[1]?.end()
  await all[2]
  expect(names()).toEqual(['one', 'b'])

  going[0]?.end()
  await expect.poll(names).toEqual(['one', 'b', 'two'])
  going[2]?.end()
  expect(await Promise.all(all)).toEqual(['one', 'two', 'b'])
  await expect.poll(names).toEqual(['one', 'b', 'two', 'three'])
  going[3]?.end()
  expect(await last).toBe('three')
})

it('lets an account that asks once go on before another one of many', async () => {
  const { take, going, names } = setUp()
  const all = ['first', 'second', 'third'].map((name) => take('a', name, 'many'))
  const other = take('a', 'other', 'one')
  expect(names()).toEqual(['first'])

  for (const at of [0, 1, 2, 3]) {
    await expect.poll(() => going.length).toBe(at + 1)
    going[at]?.end()
  }

  await Promise.all([...all, other])
  expect(names()).toEqual(['first', 'other', 'second', 'third'])
})

it('lets so many of an account wait and no more', async () => {
  const queue = createWorkQueue({ mostOfAccount: 2 })
  const { promise: end, resolve } = Promise.withResolvers<void>()
  const run = (by: string) => queue.run({ id: 'a', by, isLarge: false }, () => end)
  const first = run('one')
  const others = [run('one'), run('one'), run('other')]

  await expect(run('one')).rejects.toMatchObject({ kind: 'unavailable', meta: { retryAfter: 5 } })
  resolve()
  await Promise.all([first, ...others])
  await run('one')
})

it('refuses who waits too long', async () => {
  const { take, going } = setUp(200)
  const first = take('a')

  await expect(take('a')).rejects.toMatchObject({ kind: 'unavailable', meta: { retryAfter: 5 } })
  going[0]?.end()
  expect(await first).toBe('a')
})

it('lets go on what is made of a small model beside a large one, each of another workspace', async () => {
  const queue = createWorkQueue({ mostLarge: 1 })
  const going: string[] = []
  const { promise: end, resolve } = Promise.withResolvers<void>()
  const start = (name: string, fields: number, workspaceId = name) => {
    const model = { records: { primitiveFields: Array.from({ length: fields }) } } as unknown as Model
    return ofWholeModel(
      queue,
      { scope: { workspace: { id: workspaceId }, caller: { kind: 'anonymous' } }, model },
      async () => {
        going.push(name)
        await end
      },
    )
  }

  const all = [start('large', 6_000), start('other', 6_000), start('small', 10), start('again', 10, 'small')]
  expect(going).toEqual(['large', 'small'])

  resolve()
  await Promise.all(all)
  expect(going.toSorted()).toEqual(['again', 'large', 'other', 'small'])
})
