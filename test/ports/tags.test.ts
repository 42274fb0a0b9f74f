/** The tags of texts are the same on every platform. */
import { describe, expect, it } from 'vitest'
import { cloudflareTagOf } from '../../src/platform/cloudflare/tags.ts'
import { nodeTagOf } from '../../src/platform/node/tags.ts'

describe.each([
  ['Node', nodeTagOf],
  ['Workers', cloudflareTagOf],
])('on %s', (_, tagOf) => {
  it.each([
    ['nothing', '', '47DEQpj8HBSa-_TImW-5JC'],
    ['an item', '{"id":"1","title":"Ä 😀"}', 'V9XynGBSiYTv5o96FayN03'],
    ['a long text', 'x'.repeat(100_000), '1p5omIFXgzJyMFqvIfRTyA'],
  ])('is the beginning of the SHA-256 of %s', async (_name, text, tag) => {
    expect(await tagOf(text)).toBe(tag)
  })
})
