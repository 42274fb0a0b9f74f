/** The port LoadTransliterate: on Workers the table comes from the assets, and does what the package does on Node. */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { copyPackageAssets } from '../../scripts/package-assets.ts'
import { createTransliterate } from '../../src/platform/cloudflare/transliterate.ts'
import { loadTransliterate } from '../../src/platform/node/transliterate.ts'
import { casesOr } from '../support/run/cases.ts'

let directory: string
let onWorkers: (text: string) => string
let onNode: (text: string) => string

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'assets-'))
  await copyPackageAssets(directory)
  onWorkers = await createTransliterate((name) => readFile(join(directory, name), 'utf8'))()
  onNode = await loadTransliterate()
})
afterAll(() => rm(directory, { recursive: true, force: true }))

it('is the same on both platforms, for texts of any script', () => {
  const script = fc.integer({ min: 0x20, max: 0x2fff }).map((code) => String.fromCodePoint(code))
  const texts = fc.oneof(fc.string({ unit: script, maxLength: 20 }), fc.string({ unit: 'grapheme', maxLength: 20 }))

  fc.assert(
    fc.property(texts, (text) => {
      expect(onWorkers(text)).toBe(onNode(text))
    }),
    { numRuns: casesOr(2_000) },
  )
})

it.each([
  ['Größe', 'Groesse'],
  ['Ελλάδα', 'Ellada'],
  ['Łódź — café', 'Lodz - cafe'],
])('makes of %s %s', (text, ascii) => {
  expect([onWorkers(text), onNode(text)]).toEqual([ascii, ascii])
})
