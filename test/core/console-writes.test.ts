/** The console changes and deletes an item only as long as it is what was shown (docs/contract.md#conditional-requests). */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const folder = join(import.meta.dirname, '../../console/src')
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => /\.tsx?$/.test(name))

it('changes and deletes an item of a key under the tag that it was read with', () => {
  const calls = files.flatMap((name) => callsIn(readFileSync(join(folder, name), 'utf8')).map((call) => [name, call]))

  expect(calls.map(([name]) => name).sort()).toEqual([
    'screens/bulk/delete.tsx',
    'screens/grid/saving.ts',
    'screens/item/delete.tsx',
  ])
  expect(calls.filter(([, call]) => !/\bifMatch: String\([^()]*(?:\([^()]*\))?[^()]*_etag\)/.test(call ?? ''))).toEqual(
    [],
  )
})

it('changes a view under the tag that it was chosen with', () => {
  const text = readFileSync(join(folder, 'screens/grid/views.tsx'), 'utf8')

  expect(text).toMatch(/const options = \{[^}]*ifMatch: chosen\._etag[^}]*\}\n.*\$request\('PATCH', [^)]*options\)/)
})

/** The arguments of calls that write the item of a key. */
function callsIn(text: string): readonly string[] {
  return [...text.matchAll(/\.(?:update|delete)\(\s*keyInPath\(/g)].map(({ index }) => {
    const start = text.indexOf('(', index)
    let depth = 0
    let end = start
    do {
      if (text[end] === '(') depth += 1
      if (text[end] === ')') depth -= 1
      end += 1
    } while (depth > 0)
    return text.slice(start, end)
  })
}
