/** A member that is given twice has a place; nothing else is mistaken for one. */
import { expect, it } from 'vitest'
import { repeatedMember } from '../../../src/core/file/repeated-member.ts'

it.each([
  ['{"a": 1, "a": 2}', 'a'],
  ['{"model": {"collections": {"x": {}, "y": {}, "x": {}}}}', 'model.collections.x'],
  ['{"model": {"collections": {"x": {}, "\\u0078": {}}}}', 'model.collections.x'],
  ['{"a": [{"b": 1}, {"b": [1, {"c": 1}], "b": 2}]}', 'a[1].b'],
])('finds that of %s', (text, place) => {
  expect(repeatedMember(text)).toBe(place)
})

it.each([
  '{}',
  '[1, "a", "a", {"a": "a", "b": "a"}, {"a": 1}]',
  '{"a": {"a": {"a": "a, \\"a\\": {"}}, "b": ["a", "a"], "c": "b"}',
  '"a"',
])('finds none in %s', (text) => {
  expect(repeatedMember(text)).toBeUndefined()
})

it('reads strings of any length', () => {
  expect(repeatedMember(`{"a": "${'\\n'.repeat(10_000_000)}", "a": 1}`)).toBe('a')
})
