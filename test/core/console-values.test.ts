/** What the console says of values whose field gets another type (console/src/screens/review), held to what the service does. */
import { expect, it } from 'vitest'
import { values } from '../../console/src/messages/en/values.ts'
import { effectsOf, outcomeOf, typeIn } from '../../console/src/screens/review/values.ts'
import { conversionOf, isSameType } from '../../src/core/migration/conversion.ts'
import { integers } from '../../src/core/model/codec/number.ts'
import { decodeText } from '../../src/core/model/codec.ts'
import type { FieldType } from '../../src/core/model/field-type.ts'
import { plainTypeNames } from '../../src/core/model/vocabulary.ts'
import { databaseError } from '../../src/core/sql/database-error.ts'

const decimal = (precision: number, scale: number): FieldType => {
  return { name: 'decimal', params: { kind: 'constrained', precision, scale } }
}
const text = (value: number): FieldType => ({ name: 'string', params: { length: 'fixed', value } })
const types: readonly FieldType[] = [
  ...plainTypeNames.map((name): FieldType => ({ name })),
  { name: 'string', params: { length: 'unlimited' } },
  text(5),
  text(20),
  { name: 'decimal', params: { kind: 'unconstrained' } },
  ...[decimal(5, 2), decimal(5, 3), decimal(12, 2), decimal(22, 2), decimal(20, 0)],
]
const pairs = types.flatMap((from) => types.map((to) => [from, to] as const))

it('has an outcome of each change of type that the service makes, and of no other', () => {
  for (const isList of [false, true]) {
    for (const [from, to] of pairs) {
      const isMade = isSameType(from, to) || conversionOf(from, to, isList) !== undefined
      expect(outcomeOf(from, to, isList) !== undefined, JSON.stringify({ from, to, isList })).toBe(isMade)
    }
  }
})

/** The largest and the smallest values of a type that has such, as the database writes them. */
function extremesOf(type: FieldType): readonly string[] {
  if (Object.hasOwn(integers, type.name)) {
    const { low, lowDigits, highDigits } = integers[type.name as keyof typeof integers]
    return [`${low < 0 ? '-' : ''}${lowDigits}`, highDigits]
  }
  if (type.name === 'string') return type.params.length === 'fixed' ? ['x'.repeat(type.params.value)] : ['x'.repeat(99)]
  if (type.name !== 'decimal') return []
  if (type.params.kind === 'unconstrained') return [`${'9'.repeat(60)}.${'9'.repeat(60)}`]
  const { precision, scale } = type.params
  const digits = '9'.repeat(precision)
  return ['', '-'].map((sign) =>
    `${sign}${digits.slice(0, precision - scale)}.${digits.slice(precision - scale)}`.replace(/\.$/, ''),
  )
}

const isBounded = ({ name }: FieldType) => Object.hasOwn(integers, name) || ['string', 'decimal'].includes(name)

it('says that every value is kept where the largest and the smallest are, and only there', () => {
  const seen = { kept: 0, written: 0, refused: 0, read: 0 }
  for (const [from, to] of pairs) {
    const outcome = outcomeOf(from, to, false)
    if (!isBounded(from) || !isBounded(to) || outcome === undefined || outcome === 'zone') continue
    const isEvery = extremesOf(from).every((value) => 'ok' in decodeText(to, value))
    seen[outcome] += 1
    expect(isEvery, JSON.stringify({ from, to, outcome })).toBe(outcome === 'kept' || outcome === 'written')
  }
  expect(Math.min(...Object.values(seen))).toBeGreaterThan(5)
})

it.each([
  ['string', 'int32', ['read']],
  ['string?', 'string', ['nulls']],
  ['string?', 'int32', ['read', 'nulls']],
  ['string', 'string?', []],
  ['string(80)', 'string(20)', ['refused']],
  ['string(20)', 'string', ['kept']],
  ['int32', 'int16', ['refused']],
  ['int16', 'int32', ['kept']],
  ['int32', 'string', ['written']],
  ['int32[]', 'string[]', ['written']],
  ['int32', 'int32[]', ['anew']],
  ['float64', 'int32', ['anew']],
  ['decimal(5,2)', 'decimal(9,3)', ['kept']],
  ['decimal(5,2)', 'decimal(5,3)', ['refused']],
  ['decimal(5,3)', 'decimal(9,2)', ['anew']],
  ['dateTime', 'dateTimeWithTimezone', ['zone']],
  [{ type: 'string', default: 'x' }, { type: 'uuid', dbName: 'y' }, ['read']],
  [{ type: 'string', default: 'x' }, 'string', []],
  ['dateTime auto', 'dateTime always', []],
  [{ to: 'authors' }, { to: 'authors?' }, []],
  ['title, size', 'unique title', []],
  [['reading'], ['reading', 'writing'], []],
])('says of a change from %j to %j what becomes of values: %j', (from, to, effects) => {
  expect(effectsOf(from, to)).toEqual(effects)
})

it('reads types as the model file writes them', () => {
  expect(typeIn('decimal(10,2)[]?')).toEqual({
    name: 'decimal',
    params: { precision: 10, scale: 2 },
    isList: true,
    isNullable: true,
  })
  expect(typeIn('unique title')).toBeUndefined()
})

it('has words for whatever keeps rows in the way of a migration', () => {
  const reasons = ['range', 'null', 'unique', 'foreignKey'] as const
  const messages = [...reasons.map((reason) => databaseError(reason).message), 'Rows are in the way']
  expect(Object.keys(values.obstacle)).toEqual(messages)
})
