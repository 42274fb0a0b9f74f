/** docs/contract.md and docs/proofs.md: every test that is named exists, and the gaps are the rows without one. */
import { existsSync, readFileSync } from 'node:fs'
import { join, matchesGlob } from 'node:path'
import { expect, it } from 'vitest'
import { ONLY_IN_FULL, STORIES } from '../support/run/only-in-full.ts'

const root = join(import.meta.dirname, '../..')
const page = readFileSync(join(root, 'docs/contract.md'), 'utf8')
const [tables = '', gaps = ''] = readFileSync(join(root, 'docs/proofs.md'), 'utf8').split(/\n## Open gaps\n/)

/** Number, sentence and proofs of each row. */
const rows = [...tables.matchAll(/^\| (\d+) \| (.+?) \| (.*?) ?\|$/gm)].map(([, number, sentence, proofs = '']) => ({
  name: `${number}: ${sentence}`,
  proofs: proofs === '' ? [] : proofs.split('<br>'),
}))

it('numbers its chapters one by one, each with an anchor of its own', () => {
  const chapters = [...page.matchAll(/^(<a id="[\w-]+"><\/a>\n\n)?## (?:(\d+)\. )?/gm)]

  expect(chapters.length).toBeGreaterThan(20)
  expect(chapters.map(([, anchor, number]) => [anchor !== undefined, Number(number)])).toEqual(
    chapters.map((_, index) => [true, index + 1]),
  )
})

it('numbers its rows one by one', () => {
  expect(rows.length).toBeGreaterThan(300)
  expect(rows.map(({ name }) => Number.parseInt(name, 10))).toEqual(rows.map((_, index) => index + 1))
})

it('names tests that exist, by a part of their titles', () => {
  const unknown = rows.flatMap(({ name, proofs }) =>
    proofs.filter((proof) => !isThere(proof)).map((proof) => `${name}: ${proof}`),
  )

  expect(unknown).toEqual([])
})

it('names tests of the quick tier', () => {
  const late = rows.flatMap(({ name, proofs }) =>
    proofs.filter((proof) => isLeftOut(fileOf(proof))).map((proof) => `${name}: ${proof}`),
  )

  expect(late).toEqual([])
})

it('tells stories that exist', () => {
  const told = Object.entries(STORIES).flatMap(([name, titles]) =>
    titles.map((title) => `\`test/${name}.test.ts\` “${title}”`),
  )

  expect(told.filter((story) => !isThere(story))).toEqual([])
})

it('lists the rows without a proof at its end', () => {
  const open = rows.filter(({ proofs }) => proofs.length === 0).map(({ name }) => `- ${name}`)

  expect(gaps.trim().split('\n')).toEqual(open)
})

/** Whether only the full tier runs it. What lies below `support` is called by files that both run. */
function isLeftOut(file: string): boolean {
  return ONLY_IN_FULL.some((pattern) => matchesGlob(file, pattern))
}

function fileOf(proof: string): string {
  return /`(test\/[^`]+)`/.exec(proof)?.[1] ?? ''
}

function isThere(proof: string): boolean {
  const [, file = '', title = ''] = /^`(test\/[\w./-]+\.ts)` “(.+)”$/.exec(proof) ?? []
  // What several files of one name say of their platforms stands beside them.
  const paths = [file, file.replace(/\.\w+\.test\.ts$/, '.ts')].map((path) => join(root, path))
  const isIn = (path: string) => existsSync(path) && readFileSync(path, 'utf8').includes(title.replaceAll('\\|', '|'))
  return file !== '' && paths.some(isIn)
}
