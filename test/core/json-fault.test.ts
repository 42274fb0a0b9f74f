import { expect, it } from 'vitest'
import { jsonFault } from '../../src/core/json-fault.ts'

it.each([
  ['', 1, 1],
  ['[{"title": ', 1, 12],
  ['{"a": 1,}', 1, 9],
  ['[1,]', 1, 4],
  ["{'a': 1}", 1, 2],
  ['{"a" 1}', 1, 6],
  ['{"a": 1 "b": 2}', 1, 9],
  ['{\n  "a": 1,\n  b: 2\n}', 3, 3],
  ['[1]\n[2]', 2, 1],
  ['{"a": 1]', 1, 8],
  ['"a\nb"', 1, 3],
  ['"a\\x"', 1, 3],
  ['"a\\u12g4"', 1, 3],
  ['"a', 1, 3],
  ['[01]', 1, 3],
  ['[1.]', 1, 3],
  ['[NaN]', 1, 2],
  ['[truer]', 1, 6],
  ['[1]\u00a0', 1, 4],
])('%j is no JSON from line %i, column %i on', (text, line, column) => {
  expect(() => JSON.parse(text)).toThrow()
  expect(jsonFault(text)).toBe(`is not JSON: line ${line}, column ${column}`)
})

it('takes all that JSON has, so that what is behind it is at fault', () => {
  const text = ' {"a": [1, -0.5e+3, "\\u00e9\\n\\"", true, false, null, {}, []], "b": {"c": [[]]}}\r\n\t'

  expect(JSON.parse(text)).toBeDefined()
  expect(jsonFault(`${text}?`)).toBe('is not JSON: line 2, column 2')
})
