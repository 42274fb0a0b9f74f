/** All decisions have one form, and docs/decisions/README.md lists every one and explains the numbers that are missing. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const folder = 'docs/decisions'
const index = readFileSync(join(folder, 'README.md'), 'utf8')
const files = readdirSync(folder).filter((name) => name !== 'README.md')

/** In this order; `?` marks those that only some decisions have. */
const sections = ['Decision', 'Why?', 'Limits?', 'Upgrade?', 'Weighed', 'Evidence', 'Look again when']

const form = new RegExp(
  [
    /^# (?<number>\d{3}) (?<title>.+)\n\n/,
    /Status: (?<status>accepted|accepted, amended by \d{3}|superseded by \d{3})\n/,
    /Date: (?<date>20\d\d-\d\d-\d\d)\n/,
    ...sections.map((section) => {
      const [, name, optional] = /^(.+?)(\??)$/.exec(section) ?? []
      return new RegExp(`(?:\\n## ${name}\\n\\n(?:[^#\\n].*\\n|\\n(?!## ))+)${optional}`)
    }),
    /$/,
  ]
    .map(({ source }) => source)
    .join(''),
)

it('every decision has the form of one and its row in the index', () => {
  const odd = files.filter((file) => {
    const { number, title, status, date } = form.exec(readFileSync(join(folder, file), 'utf8'))?.groups ?? {}
    const isNamed = new RegExp(`^${number}-[a-z0-9-]+\\.md$`).test(file)
    return !isNamed || !index.includes(`| [${number} ${title}](${file}) | ${status} | ${date} |`)
  })

  expect(odd).toEqual([])
})

it('the index lists each decision once, and accounts for every number up to the last', () => {
  const rows = [...index.matchAll(/^\| \[(\d{3}) /gm)].map(([, number = '']) => number)
  const gaps = [...index.matchAll(/numbers (\d{3}) to (\d{3}) /g)].flatMap(([, first = '', last = '']) =>
    Array.from({ length: Number(last) - Number(first) + 1 }, (_, offset) =>
      `${Number(first) + offset}`.padStart(3, '0'),
    ),
  )

  expect(rows).toEqual(files.map((file) => file.slice(0, 3)).sort())
  expect([...rows, ...gaps].map(Number).sort((a, b) => a - b)).toEqual(
    Array.from({ length: Number(rows.at(-1)) }, (_, at) => at + 1),
  )
})
