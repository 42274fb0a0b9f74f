/** A long answer is encoded in parts as it would be in one. */
import { expect, it } from 'vitest'
import { encodedInParts } from '../../handlers/http/utf8.ts'

it.each([
  ['of one byte a character', 'x'.repeat(800_000)],
  ['of three', '語'.repeat(800_000)],
  ['with pairs at every cut', '😀'.repeat(400_000)],
  ['with pairs beside every cut', `x${'😀'.repeat(400_000)}`],
  ['with halves of pairs', `${'\ud83d'.repeat(262_144)}\ude00${'\ude00'.repeat(262_144)}`],
  ['without anything', ''],
])('encodes text %s', async (_, text) => {
  const bytes = await encodedInParts(text)

  expect(Buffer.from(bytes).equals(Buffer.from(new TextEncoder().encode(text)))).toBe(true)
})

it('lets others run between its parts', async () => {
  let others = 0
  const timer = setInterval(() => {
    others += 1
  })
  await encodedInParts('x'.repeat(5_000_000))
  clearInterval(timer)

  expect(others).toBeGreaterThan(2)
})
