import { expect, it } from 'vitest'
import { canRefer, comparableKey, spellingsOfKey } from '../../../src/core/model/far-key.ts'
import { build } from '../../support/data/build.ts'

const type = build.type
const column = (name: string) => ({ type: type(name), isList: false, native: null })
const lower = '0b9c4f1e-5d1c-4b8e-9a57-6f0a2d3c4e5f'
const upper = lower.toUpperCase()

it.each([
  ['int8', 'uint64', true],
  ['int64', 'int32', true],
  ['string(36)', 'uuid', true],
  ['uuid', 'string', true],
  ['string', 'string(9)', true],
  ['decimal', 'decimal', true],
  ['string', 'int32', false],
  ['int32', 'decimal', false],
  ['uuid', 'bytes', false],
])('a key of %s refers to one of %s: %s', (one, other, expected) => {
  expect(canRefer(column(one), column(other))).toBe(expected)
})

it('a native type refers to the same one, and an enum to none', () => {
  const inet = { ...column('string'), native: { schema: 'pg_catalog', name: 'inet', isOrdered: true } }
  const mood = { ...column('string'), native: { schema: 'public', name: 'mood', isOrdered: true, values: ['sad'] } }

  expect([canRefer(column('string'), inet), canRefer(inet, column('string')), canRefer(mood, mood)]).toEqual([
    false,
    false,
    false,
  ])
  expect(canRefer(inet, inet)).toBe(true)
})

it.each([
  ['70000', 'int32', 'int16', []],
  ['-1', 'int32', 'uint64', []],
  ['7', 'int8', 'uint64', ['7']],
  [upper, 'string', 'uuid', [lower]],
  ['none', 'string', 'uuid', []],
  [lower, 'uuid', 'string', [lower, upper]],
  ['Straße', 'string', 'string(9)', ['Straße']],
  ['2026-12-31', 'date', 'date', ['2026-12-31']],
  ['+012000-01-01', 'date', 'date', []],
  ['0000-00-00', 'date', 'date', []],
  ['2026-00-10', 'date', 'date', []],
  ['infinity', 'date', 'date', []],
  ['23:59:59.5', 'time', 'time', ['23:59:59.5']],
  ['24:00:00', 'time', 'time', []],
  ['-10:00:00', 'time', 'time', []],
  ['2026-12-31T12:00:00', 'dateTime', 'dateTime', ['2026-12-31T12:00:00']],
  ['0000-00-00T00:00:00', 'dateTime', 'dateTime', []],
  ['0001-01-01T12:00:00Z', 'dateTimeWithTimezone', 'dateTimeWithTimezone', ['0001-01-01T12:00:00Z']],
  ['-000043-03-15T12:00:00Z', 'dateTimeWithTimezone', 'dateTimeWithTimezone', []],
  ['1.50', 'decimal', 'decimal(3,1)', ['1.5']],
  ['1.55', 'decimal', 'decimal(3,1)', []],
])('%s of %s is sought in %s as %j', (text, from, to, expected) => {
  expect(spellingsOfKey(text, type(from), type(to))).toEqual(expected)
})

it('compares UUIDs without capitals, and texts with them', () => {
  expect(comparableKey(upper, type('string'), type('uuid'))).toBe(lower)
  expect(comparableKey('A', type('string'), type('string'))).toBe('A')
  expect(comparableKey(`A${lower.slice(1)}`, type('string'), type('uuid'))).not.toBe(lower)
  expect(
    ['1.50', '1.5', '10.00', '10', '0.0'].map((text) => comparableKey(text, type('decimal'), type('decimal'))),
  ).toEqual(['1.5', '1.5', '10', '10', '0'])
})
