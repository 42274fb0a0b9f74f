/** Pieces of a body, however small, are held in little more than their bytes, in their order. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { addChunk, joinChunks } from '../../src/core/chunks.ts'

it('keeps the bytes in their order', () => {
  const pieces = fc.array(fc.uint8Array({ maxLength: 20_000 }), { maxLength: 30 })
  fc.assert(
    fc.property(pieces, (sent) => {
      const chunks: Uint8Array[] = []
      const copies = sent.map((piece) => piece.slice())
      for (const piece of sent) {
        addChunk(chunks, piece)
        if (piece.length < 16 * 1024) piece.fill(0)
      }
      expect(joinChunks(chunks)).toEqual(joinChunks(copies))
    }),
  )
})

it('holds at most about twice what has arrived', () => {
  const chunks: Uint8Array[] = []
  for (let at = 0; at < 1_000_000; at += 1) addChunk(chunks, Uint8Array.of(at % 256))
  const buffers = new Set(chunks.map(({ buffer }) => buffer))
  const held = [...buffers].reduce((sum, { byteLength }) => sum + byteLength, 0)

  expect(chunks.length).toBeLessThan(30)
  expect(held).toBeLessThan(1_100_000)
  expect(joinChunks(chunks).every((byte, at) => byte === at % 256)).toBe(true)
})
