/** Schemas are read in turns: two at a time, each of another workspace, whatever becomes of those before. */
import { expect, it } from 'vitest'
import { createSchemaTurns } from '../../src/services/model/schema-turns.ts'

type Turn = { readonly name: string; readonly end: () => void; readonly fail: () => void }

function setUp(patience?: number) {
  const turns = createSchemaTurns(patience === undefined ? {} : { patience })
  const going: Turn[] = []
  const take = (workspace: string, name = workspace) =>
    turns.take(workspace, () => {
      return new Promise<string>((resolve, reject) => {
        going.push({ name, end: () => resolve(name), fail: () => reject(new Error(name)) })
      })
    })
  const names = () => going.map(({ name }) => name)
  return { take, going, names }
}

it('gives two workspaces a turn at once, and the next one when one of them has ended or failed', async () => {
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

it('gives a workspace one turn after the other', async () => {
  const { take, going, names } = setUp()
  const all = [take('a', 'one'), take('a', 'two'), take('b')]
  expect(names()).toEqual(['one', 'b'])

  going[1]?.end()
  await all[2]
  expect(names()).toEqual(['one', 'b'])

  going[0]?.end()
  await expect.poll(names).toEqual(['one', 'b', 'two'])
  going[2]?.end()
  expect(await Promise.all(all)).toEqual(['one', 'two', 'b'])
})

it('refuses who waits too long, and what is too many of a workspace', async () => {
  const { take, going } = setUp(200)
  const first = take('a')

  const answers = await Promise.allSettled(Array.from({ length: 40 }, () => take('a')))

  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 'rejected'))
  expect(answers).toContainEqual({
    status: 'rejected',
    reason: expect.objectContaining({ kind: 'unavailable', meta: { retryAfter: 5 } }),
  })
  going[0]?.end()
  expect(await first).toBe('a')
})
