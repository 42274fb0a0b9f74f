/** Names and texts of a request in messages: bounded, and always text that an answer can carry. */
import { expect, it } from 'vitest'
import { shortName, truncate } from '../../src/core/message-text.ts'

it.each([
  ['leaves a short text alone', truncate('flights', 10), 'flights'],
  ['ends a cut text with an ellipsis', truncate('departures', 6), 'depart…'],
  ['does not leave half of a pair at the cut', truncate('ab😀', 3), 'ab\uFFFD…'],
  ['replaces half of a pair that was sent', shortName('a\uD83D'), 'a\uFFFD'],
])('%s', (_, shown, expected) => {
  expect(shown).toBe(expected)
})
