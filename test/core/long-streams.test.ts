/** Long documents are made while clients take them: some at a time, whatever becomes of those before. */
import { expect, it } from 'vitest'
import { createLongStreams } from '../../src/services/documents/long-streams.ts'

const pieces = (count = 40) =>
  Array.from({ length: count }, (_, at) => String(at % 10).repeat(10_000))[Symbol.iterator]()

const busy = expect.objectContaining({ kind: 'unavailable', meta: { retryAfter: 5 } })

it('has all of a document, piece by piece', async () => {
  const text = await new Response(createLongStreams().open('a', pieces())).text()

  expect(text).toBe([...pieces()].join(''))
})

it('sends four of a workspace at a time, and eight of all', async () => {
  const streams = createLongStreams()
  const open = (workspace: string, count = 4) => Array.from({ length: count }, () => streams.open(workspace, pieces()))

  open('a')
  expect(() => streams.open('a', pieces())).toThrow(busy)
  open('b')
  expect(() => streams.open('c', pieces())).toThrow(busy)
})

it('sends another one when one was taken or its client has left', async () => {
  const streams = createLongStreams()
  const [taken, left] = Array.from({ length: 4 }, () => streams.open('a', pieces()))

  await new Response(taken).text()
  const next = streams.open('a', pieces())
  expect(() => streams.open('a', pieces())).toThrow(busy)
  await left?.cancel()
  await next.cancel()

  expect(() => [streams.open('a', pieces()), streams.open('a', pieces())]).not.toThrow()
})
