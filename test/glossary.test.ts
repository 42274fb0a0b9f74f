/** Exported names and files use the words of docs/glossary.md: none is called by a name that the page lists as not to use. */
import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, it } from 'vitest'

const [terms = '', namesNotToUse = ''] = readFileSync('docs/glossary.md', 'utf8').split('\n## Names not to use\n')
const forbidden = new Set(
  [...namesNotToUse.matchAll(/^\| (`[^|]*`) \|/gm)].flatMap(([, names = '']) =>
    [...names.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name),
  ),
)

const files = ['src', 'handlers', 'packages', 'scripts', 'extensions', 'test/support'].flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.[jt]s$/.test(name) && !/(^|\/)(node_modules|dist)\//.test(name))
    .map((name) => join(folder, name)),
)

it('exports no name that the glossary forbids', () => {
  const found = files.flatMap((file) =>
    exportedNames(readFileSync(file, 'utf8'))
      .filter((name) => forbidden.has(name))
      .map((name) => `${file}: ${name}`),
  )

  expect(found).toEqual([])
})

it('has no file with a name that the glossary forbids', () => {
  expect(files.filter((file) => forbidden.has(basename(file).replace(/\..*$/, '')))).toEqual([])
})

it('reads a list of names to forbid', () => {
  expect(forbidden.size).toBeGreaterThan(50)
})

it('lists the terms in alphabetical order, one line each', () => {
  const names = [...terms.matchAll(/^\| ([^|]+) \| [^|]+ \|$/gm)].map(([, name = '']) => name).slice(1)

  expect(names.length).toBeGreaterThan(50)
  expect(names).toEqual([...names].sort((one, other) => sortKey(one).localeCompare(sortKey(other), 'en')))
})

function exportedNames(text: string): readonly string[] {
  const declared = text.matchAll(
    /^export (?:default )?(?:async )?(?:const|let|class|type|interface|function\*?) (\w+)/gm,
  )
  const listed = text.matchAll(/^export (?:const )?(?:type )?\{([^}]*)\}/gm)
  return [
    ...[...declared].map(([, name = '']) => name),
    ...[...listed].flatMap(([, names = '']) => names.split(',').map((name) => /(\w+)\s*$/.exec(name)?.[1] ?? '')),
  ]
}

function sortKey(name: string): string {
  return name.replace(',', '').toLowerCase()
}
