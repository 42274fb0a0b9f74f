/** Texts of the console that hold something to be copied: code, addresses, times as they are written. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const folder = join(import.meta.dirname, '../../console/src/messages')

const files = readdirSync(join(folder, 'en'))
const arabic = textsOf(await Promise.all(files.map((file) => import(join(folder, 'ar', file)))))
const english = textsOf(await Promise.all(files.map((file) => import(join(folder, 'en', file)))))

/** Every text by its place; of one that is made of values, one with such. */
function textsOf(value: unknown, place = ''): readonly (readonly [string, string])[] {
  if (typeof value === 'string') return [[place, value]]
  if (typeof value === 'function') return textsOf(made(value as (...values: readonly unknown[]) => unknown), place)
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, one]) => textsOf(one, `${place}.${name}`))
}

function made(text: (...values: readonly unknown[]) => unknown): unknown {
  for (const values of [['x', 'x', 'x'], [['x']], [{ shown: '1', count: 1 }], ['x', { shown: '1', count: 1 }]]) {
    try {
      return text(...values)
    } catch {}
  }
  throw new Error(`no values are known for ${text}`)
}

const codesIn = (text: string) => [...text.matchAll(/`([^`]+)`/g)].map(([, code]) => code)

it('keeps what is to be copied from the direction of the text around it', () => {
  const bare = arabic
    .map(([place, text]) => [place, text.replaceAll(/`[^`]+`|[\u2066\u2068][^\u2069]*\u2069/g, '')])
    .filter(([, rest]) => /[{}$`]|:\/\/|\["|\/api\/|_\.|\d[-:]\d/.test(rest ?? ''))
  expect(bare).toEqual([])
})

it('shows the same code in every language', () => {
  const codes = (texts: typeof english) => texts.map(([place, text]) => [place, codesIn(text)] as const)
  const some = codes(english).filter(([, found]) => found.length > 0)
  expect(codes(arabic).filter(([, found]) => found.length > 0)).toEqual(some)
  expect(some.length).toBeGreaterThan(5)
})
