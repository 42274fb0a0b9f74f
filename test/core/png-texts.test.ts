/** docs/decisions/120: of a PNG only what its picture needs reaches a decoder. */
import { crc32, deflateSync } from 'node:zlib'
import sharp from 'sharp'
import { expect, it } from 'vitest'
import { withoutTexts } from '../../src/core/assets/png-texts.ts'

const picture = await sharp({ create: { width: 4, height: 4, channels: 3, background: 'teal' } })
  .png()
  .toBuffer()

/** Behind the signature and the head of the picture. */
const BODY = 33

function chunk(type: string, data: Uint8Array): Buffer {
  const typed = Buffer.concat([Buffer.from(type), data])
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  sum.writeUInt32BE(crc32(typed))
  return Buffer.concat([length, typed, sum])
}

const packed = deflateSync(Buffer.alloc(10_000, 65))
const texts = [
  chunk('zTXt', Buffer.concat([Buffer.from('a\0\0'), packed])),
  chunk('iTXt', Buffer.concat([Buffer.from('a\0\u0001\0\0\0'), packed])),
  chunk('tEXt', Buffer.from('a\0b')),
]
const orientation = chunk('eXIf', Buffer.from('4d4d002a000000080001011200030000000100060000000000000', 'hex'))

it('takes all texts out of a PNG, wherever they stand, and nothing else', () => {
  const said = Buffer.concat([
    picture.subarray(0, BODY),
    ...texts,
    orientation,
    ...texts,
    picture.subarray(BODY, -12),
    ...texts,
    picture.subarray(-12),
    ...texts,
  ])
  const silent = Buffer.concat([picture.subarray(0, BODY), orientation, picture.subarray(BODY)])

  expect(Buffer.from(withoutTexts(said))).toEqual(silent)
})

it.each([
  ['has no texts', picture],
  ['is no PNG', Buffer.concat([Buffer.from('GIF89a  '), ...texts])],
  ['is empty', Buffer.alloc(0)],
])('leaves an image as it is that %s', (_, image) => {
  expect(withoutTexts(image)).toBe(image)
})

it('reads no further than an image that is cut goes', () => {
  const [text = Buffer.alloc(0)] = texts
  const cut = Buffer.concat([picture.subarray(0, BODY), text.subarray(0, -20)])

  expect(Buffer.from(withoutTexts(cut))).toEqual(picture.subarray(0, BODY))
})
