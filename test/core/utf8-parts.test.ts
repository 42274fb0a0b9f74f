/** A long answer is encoded in parts as it would be in one. */
import { expect, it } from 'vitest'
import { utf8Parts } from '../../handlers/http/utf8.ts'

it.each([
  ['of one byte a character', 'x'.repeat(400_000)],
  ['of three', '語'.repeat(400_000)],
  ['with pairs at every cut', `${'😀'.repeat(200_000)}`],
  ['with pairs beside every cut', `x${'😀'.repeat(200_000)}`],
  ['with halves of pairs', `${'\ud83d'.repeat(131_072)}\ude00${'\ude00'.repeat(131_072)}`],
  ['without anything', ''],
])('encodes text %s', (_, text) => {
  const parts = utf8Parts(text)
  let last = parts.next()
  let count = 0
  for (; last.done !== true; last = parts.next()) count += 1

  expect(Buffer.from(last.value).equals(Buffer.from(new TextEncoder().encode(text)))).toBe(true)
  expect(count > 1).toBe(text !== '')
})
