/** How a cell of the console's grid shows lists and JSON: as a person reads them, and no two values alike; and how it reads JSON. */
import { expect, it } from 'vitest'
import { numberText, parseExactly } from '../../console/src/data/exact-json.ts'
import { readableOf, valuesIn } from '../../console/src/screens/grid/readable.ts'

const json = { type: 'json', isList: false }
const texts = { type: 'string', isList: true }

it.each([
  [texts, ['x', 'y z'], 'x, y z'],
  [texts, ['a, b', '', ' c', 'say "d"', 'null', null, '1'], '"a, b", "", " c", "say \\"d\\"", "null", null, 1'],
  [texts, ['<b>'], '<b>'],
  [texts, [], '[]'],
  [{ type: 'int64', isList: true }, ['9007199254740993', '-1'], '9007199254740993, -1'],
  [json, { a: [1, null], 'b c': { d: true } }, '{a: [1, null], b c: {d: true}}'],
  [json, [{ a: 1 }, 'x'], '[{a: 1}, x]'],
  [json, ['x'], '[x]'],
  [json, 'x', 'x'],
  [json, 'x, y', '"x, y"'],
  [json, ['true', true, '1.5', 1.5, '[]', []], '["true", true, "1.5", 1.5, "[]", []]'],
  [json, {}, '{}'],
  [json, { 'a: b': 'c\nd' }, '{"a: b": "c\\nd"}'],
])('%j shows %j as %s', (field, value, text) => {
  expect(readableOf(field, value)).toBe(text)
})

it.each([
  [texts, ['x', 'a, b', null]],
  [{ type: 'int64', isList: true }, ['9007199254740993', '-1']],
])('%j of %j are its values, which together are the same text', (field, value) => {
  expect(valuesIn(field, value)).toHaveLength(value.length)
  expect(valuesIn(field, value)?.join(', ')).toBe(readableOf(field, value))
})

it.each([
  [texts, []],
  [texts, [['x'], ['y']]],
  [texts, Array.from({ length: 100 }, () => 'x')],
  [json, ['x']],
  [{ type: 'string', isList: false }, 'x'],
])('%j of %j has no values to be shown one by one', (field, value) => {
  expect(valuesIn(field, value)).toBeUndefined()
})

it('keeps the digits of numbers in JSON that is typed', () => {
  const text = '{"n":12345678901234567890,"d":1.50,"i":1,"e":1e2}'
  const { n, i } = parseExactly(text) as Record<string, unknown>

  expect(JSON.stringify(parseExactly(text))).toBe(text)
  expect([numberText(n), i, numberText(i), numberText('1')]).toEqual(['12345678901234567890', 1, '1', undefined])
})

it('is cut where no cell has more room, between characters', () => {
  const shown = readableOf(texts, ['x', '📰'.repeat(1_000)])

  expect(shown).toHaveLength(400)
  expect([shown.isWellFormed(), shown.at(-1)]).toEqual([true, '…'])
  expect(readableOf(json, { a: Array.from({ length: 1_000_000 }, () => 0) })).toHaveLength(401)
})
