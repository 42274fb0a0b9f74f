/** What the console writes for spreadsheets, which run as a formula what a cell begins with. */
import { expect, it } from 'vitest'
import { guarded, unguarded } from '../../console/src/screens/transfer/formulas.ts'

it.each([
  ['=1+1', "'=1+1"],
  ["'=1", "''=1"],
  ['a;=cmd', "a;'=cmd"],
  ['a\t+1;\uff1d2', "a\t'+1;'\uff1d2"],
  ['-5', "'-5"],
  ['a=b', 'a=b'],
  ["it's; so", "it's; so"],
])('%j begins no cell with a formula, whatever separates cells, and comes back', (text, written) => {
  expect(guarded(text)).toBe(written)
  expect(unguarded(guarded(text))).toBe(text)
})
