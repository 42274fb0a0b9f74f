/** Query strings: what a text up to the limit takes grows as its length does, whatever it is made of. */
import { expect, it } from 'vitest'
import { MAX_QUERY_LENGTH } from '../../src/core/query/brackets.ts'
import { outcome } from '../core/query/outcome.ts'
import { growth, LINEAR } from '../support/run/work.ts'

it.each([
  ['opening brackets', '['],
  ['bracket pairs', '[]'],
  ['nested keys', '[a]'],
  ['separators', '&'],
  ['escapes', '%5B'],
  ['broken escapes', '%C3'],
  ['parameters that conflict', 'a[0]=&'],
  ['deep pushes', `a${'[]'.repeat(32)}&`],
  ['wide objects', 'a[b]&a[c]&'],
])('%s up to the limit take no more time than their length', async (_, unit) => {
  const times = await growth((length) => {
    const search = `a${unit.repeat(length / unit.length - 1)}`
    return () => outcome(search)
  }, MAX_QUERY_LENGTH / 4)

  expect(times).toBeLessThan(LINEAR)
})
