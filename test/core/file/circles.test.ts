import { expect, it } from 'vitest'
import { onCircles } from '../../../src/core/file/export/circles.ts'
import { atOnce } from '../../../src/core/parts.ts'

it.each<readonly [Record<string, readonly string[]>, readonly string[]]>([
  [{}, []],
  [{ a: ['b'], b: ['c'] }, []],
  [{ a: ['a'] }, ['a']],
  [{ a: ['b'], b: ['a'], c: ['a'] }, ['a', 'b']],
  [{ a: ['b'], b: ['a', 'c'], c: ['d'], d: ['e'], e: ['d'] }, ['a', 'b', 'd', 'e']],
  [{ a: ['b', 'c'], b: ['d'], c: ['d'], d: ['a'], e: ['e', 'a'] }, ['a', 'b', 'c', 'd', 'e']],
])('finds what leads back to itself in %j', (next, circular) => {
  expect([...atOnce(onCircles(new Map(Object.entries(next))))].sort()).toEqual(circular)
})

it('goes a long way', () => {
  const count = 50_000
  const next = new Map(Array.from({ length: count }, (_, at) => [`${at}`, [`${(at + 1) % count}`]]))

  expect(atOnce(onCircles(next)).size).toBe(count)
})
