/** Every release in CHANGELOG.md says first what breaks. */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const order = ['Breaking', 'Added', 'Changed', 'Fixed', 'Known limits']
const [, ...releases] = readFileSync('CHANGELOG.md', 'utf8').split(/^## /m)

it.each(releases)('release %#: sections are known, in their order, and each has entries', (release) => {
  const [, ...sections] = release.split(/^### /m)
  const names = sections.map((section) => section.slice(0, section.indexOf('\n')))

  expect(names).toEqual(order.filter((name) => names.includes(name)))
  expect(sections.filter((section) => !/^- /m.test(section))).toEqual([])
})

it('no entry calls itself breaking outside of its section', () => {
  const entries = releases.flatMap((release) => release.match(/^- \**Breaking.*/gm) ?? [])

  expect(entries).toEqual([])
})
