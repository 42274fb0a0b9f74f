/** The laws of the port Assets, for every platform. */
import { describe, expect, it } from 'vitest'
import type { Assets } from '../../src/ports/files.ts'

export function describeAssets(platform: string, open: () => Assets): void {
  describe(`Assets on ${platform}`, () => {
    const assets = open()

    it.each([
      ['reference.html', /^<!doctype html>/i],
      ['reference.css', /\{/],
      ['reference.js', /\bdocument\b/],
      ['device.html', /^<!doctype html>/i],
      ['device.css', /\{/],
      ['device.js', /\bdocument\b/],
    ])('answers the text of %s', async (name, text) => {
      expect(await new Response(await assets(name)).text()).toMatch(text)
    })

    it('answers the same whenever it is asked', async () => {
      const text = async () => new Response(await assets('reference.html')).text()
      const texts = await Promise.all([text(), text()])

      expect(texts).toEqual(Array(2).fill(await text()))
    })

    it.each(['nothing.html', 'reference', ''])('throws where "%s" was not shipped', async (name) => {
      await expect(assets(name)).rejects.toThrow()
    })
  })
}
