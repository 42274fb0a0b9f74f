/** docs/operators.md as a table: the operators of each type, nullability aside. */
import { expect, it } from 'vitest'
import { type FieldType, fieldTypeSchema } from '../../../src/core/model/field-type.ts'
import { operatorsOf } from '../../../src/core/model/operator.ts'
import { operators } from '../../../src/core/model/vocabulary.ts'

const type = (name: string): FieldType => fieldTypeSchema().parse({ name })
const ordered = '_eq _neq _lt _lte _gt _gte _in _nin _between _nbetween'
const text =
  '_eq _neq _lt _lte _gt _gte _in _nin _contains _icontains _ncontains _nicontains _starts_with _nstarts_with _ends_with _nends_with'

it.each([
  ['int8', ordered],
  ['int16', ordered],
  ['int32', ordered],
  ['int64', ordered],
  ['uint8', ordered],
  ['uint16', ordered],
  ['uint32', ordered],
  ['uint64', ordered],
  ['float32', ordered],
  ['float64', ordered],
  ['decimal', ordered],
  ['date', ordered],
  ['time', ordered],
  ['dateTime', ordered],
  ['dateTimeWithTimezone', ordered],
  ['string', text],
  ['uuid', '_eq _neq _in _nin'],
  ['boolean', '_eq _neq'],
  ['json', '_eq _neq _contains _has_key _path'],
  ['bytes', '_eq _neq _in _nin'],
  ['geometry', ''],
])('%s has %s', (name, expected) => {
  expect([...operatorsOf(type(name), false)].join(' ')).toBe(expected)
})

it.each([
  ['string', '_has _has_any _has_all _empty'],
  ['int32', '_has _has_any _has_all _empty'],
  ['json', '_has _has_any _has_all _empty'],
  ['bytes', '_has _has_any _has_all _empty'],
  ['geometry', ''],
])('a list of %s has %s', (name, expected) => {
  expect([...operatorsOf(type(name), true)].join(' ')).toBe(expected)
})

it('knows twenty-five operators', () => {
  expect(new Set(operators).size).toBe(25)
})
