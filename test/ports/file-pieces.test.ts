/** docs/decisions/140: of pieces of files that are ready at once, a few are read before others are answered. */
import { expect, it } from 'vitest'
import { createPieceRate } from '../../src/platform/node/http/file-pieces.ts'

it('lets a few go on in one iteration of the event loop, in the order in which they came', async () => {
  const beforePiece = createPieceRate(2)
  const read: number[] = []
  const pieces = [0, 1, 2, 3, 4].map(async (piece) => {
    await beforePiece()
    read.push(piece)
  })
  const counts: number[] = []
  for (let iteration = 0; iteration < 3; iteration += 1) {
    await Promise.resolve()
    counts.push(read.length)
    await new Promise(setImmediate)
  }
  await Promise.all(pieces)

  expect(counts).toEqual([2, 4, 5])
  expect(read).toEqual([0, 1, 2, 3, 4])
})

it('lets one that comes alone wait for nothing', async () => {
  const beforePiece = createPieceRate(1)

  expect(beforePiece()).toBeUndefined()
  await new Promise(setImmediate)
  expect(beforePiece()).toBeUndefined()
})
