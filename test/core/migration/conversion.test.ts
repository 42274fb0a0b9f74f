import { expect, it } from 'vitest'
import { conversionOf } from '../../../src/core/migration/conversion.ts'
import { fieldTypeSchema } from '../../../src/core/model/field-type.ts'

/** `string(20)`, `decimal(10,2)`, or a plain name. */
function type(text: string) {
  const [name, first, second] = text.split(/[(,)]/)
  if (first === undefined) return fieldTypeSchema().parse({ name })
  const params =
    name === 'string' ? { length: 'fixed', value: Number(first) } : { precision: Number(first), scale: Number(second) }
  return fieldTypeSchema().parse({ name, params })
}

it.each([
  ['int16', 'int64', 'assign'],
  ['int64', 'int16', 'assign'],
  ['int32', 'float64', 'assign'],
  ['int16', 'float32', 'assign'],
  ['int64', 'decimal', 'assign'],
  ['int64', 'decimal(5,2)', 'assign'],
  ['float32', 'float64', 'assign'],
  ['decimal(5,2)', 'decimal(5,3)', 'assign'],
  ['decimal(5,2)', 'decimal', 'assign'],
  ['string', 'string(20)', 'assign'],
  ['string(20)', 'string', 'assign'],
  ['date', 'dateTime', 'assign'],
  ['date', 'dateTimeWithTimezone', 'zone'],
  ['dateTime', 'dateTimeWithTimezone', 'zone'],
  ['dateTimeWithTimezone', 'dateTime', 'zone'],
  ['uuid', 'string', 'cast'],
  ['json', 'string', 'cast'],
  ['dateTime', 'string', 'cast'],
  ['string', 'int32', 'cast'],
  ['string', 'decimal', 'cast'],
  ['string', 'uuid', 'cast'],
  ['string', 'json', 'cast'],
])('keeps or fails: %s to %s (%s)', (from, to, conversion) => {
  expect(conversionOf(type(from), type(to), false)).toBe(conversion)
})

it.each([
  ['int64', 'float64'],
  ['int32', 'float32'],
  ['float64', 'float32'],
  ['float64', 'int64'],
  ['float64', 'decimal'],
  ['decimal', 'int64'],
  ['decimal', 'decimal(5,2)'],
  ['decimal(5,3)', 'decimal(9,2)'],
  ['decimal', 'float64'],
  ['dateTime', 'date'],
  ['dateTime', 'time'],
  ['string', 'float64'],
  ['string', 'decimal(5,2)'],
  ['string', 'date'],
  ['string', 'dateTimeWithTimezone'],
  ['string', 'bytes'],
  ['bytes', 'string'],
  ['int32', 'string(5)'],
  ['boolean', 'int32'],
  ['json', 'int32'],
])('would lose something: %s to %s', (from, to) => {
  expect(conversionOf(type(from), type(to), false)).toBeUndefined()
})
