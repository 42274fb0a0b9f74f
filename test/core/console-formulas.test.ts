/** What the console writes for spreadsheets, which run as a formula what a cell begins with. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { guarded, guardedJson, unguarded } from '../../console/src/screens/transfer/formulas.ts'

it.each([
  ['=1+1', "'=1+1"],
  ["'=1", "''=1"],
  ['a;=cmd', "a;'=cmd"],
  ['a\t+1;\uff1d2', "a\t'+1;'\uff1d2"],
  ['-5', "'-5"],
  ['a;"=cmd', `a;'"=cmd`],
  [`a\t"'=1;'"+2`, `a\t'"'=1;''"+2`],
  ['"=quoted"', '"=quoted"'],
  ['a=b', 'a=b'],
  ["it's; so", "it's; so"],
])('%j begins no cell with a formula, whatever separates cells, and comes back', (text, written) => {
  expect(guarded(text)).toBe(written)
  expect(unguarded(guarded(text))).toBe(text)
})

it.each([...'=+-@\uff1d\uff0b\uff0d\uff20'])('begins none with %s, in a text and in JSON', (sign) => {
  expect([guarded(`${sign}1`), guarded(`a;${sign}1`)]).toEqual([`'${sign}1`, `a;'${sign}1`])
  expect(guardedJson(JSON.stringify(`a;${sign}1`))).not.toContain(`;${sign}`)
})

it('begins none in any text, and gives any back', () => {
  const unit = fc.constantFrom(...`;\t\r\n"'=+-@\uff1da `)
  fc.assert(
    fc.property(fc.string({ unit }), (text) => {
      expect(guarded(text)).not.toMatch(/^[=+\-@\uff1d\t\r]|[;\t\r\n]"*[=+\-@\uff1d\t\r]/)
      expect(unguarded(guarded(text))).toBe(text)
    }),
  )
})

it('begins no cell with a formula in JSON either, which stays the same value', () => {
  const value = ['a;=cmd', 'b;\uff1d1;@x', { ';-1': ';"=1', plain: '=1' }, -5, 'a\t=1']

  const json = guardedJson(JSON.stringify(value))

  expect(json).not.toMatch(/[;\t]["']*[=+\-@\uff1d]/)
  expect(JSON.parse(json)).toEqual(value)
})
