/** Pieces of a body, however small, are held in little more than their bytes, in their order. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { Gathered, release } from '../../src/core/chunks.ts'

it('keeps the bytes in their order, also where it begins anew', () => {
  const pieces = fc.array(fc.uint8Array({ maxLength: 20_000 }), { maxLength: 30 })
  fc.assert(
    fc.property(pieces, fc.nat(1_000_000), (sent, most) => {
      const gathered = new Gathered(most)
      for (let time = 0; time < 2; time += 1) {
        gathered.reset()
        for (const piece of sent) {
          const copy = piece.slice()
          gathered.add(copy)
          release(copy)
        }
        expect(Buffer.compare(gathered.bytes, Buffer.concat(sent))).toBe(0)
      }
    }),
  )
})

it('holds at most twice what has arrived, and no more than it may', () => {
  const [free, bound] = [new Gathered(Number.POSITIVE_INFINITY), new Gathered(600_000)]
  for (let at = 0; at < 600_000; at += 1) {
    free.add(Uint8Array.of(at % 256))
    bound.add(Uint8Array.of(at % 256))
  }

  expect(free.bytes.buffer.byteLength).toBe(1024 * 1024)
  expect(bound.bytes.buffer.byteLength).toBe(600_000)
  expect(bound.bytes.every((byte, at) => byte === at % 256)).toBe(true)
})

it('gives back no memory of which others have a part', () => {
  const whole = new Uint8Array(8)
  release(whole.subarray(1))
  const kept = whole.byteLength
  release(whole)

  expect([kept, whole.byteLength]).toEqual([8, 0])
})
