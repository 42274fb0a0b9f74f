/** Laws of the codec: canonical texts are fixed points, integers round-trip, nothing throws, UTC agrees with Date. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Decoded } from '../../../src/core/model/codec/decoded.ts'
import { decodeJson, decodeText } from '../../../src/core/model/codec.ts'
import { type FieldType, fieldTypeSchema, type TypeName } from '../../../src/core/model/field-type.ts'
import { anyCharacter } from '../../support/data/characters.ts'
import { casesOr } from '../../support/run/cases.ts'

const type = (name: string, params?: unknown): FieldType =>
  fieldTypeSchema().parse(params ? { name, params } : { name })
const names: readonly TypeName[] = fieldTypeSchema().options.flatMap((option) =>
  'enum' in option.shape.name ? option.shape.name.options : [...option.shape.name.values],
)
const anyType = fc.oneof(
  fc.constantFrom(...names).map((name) => type(name)),
  fc.integer({ min: 1, max: 30 }).map((value) => type('string', { length: 'fixed', value })),
  fc
    .tuple(fc.integer({ min: 0, max: 10 }), fc.integer({ min: 1, max: 10 }))
    .map(([scale, whole]) => type('decimal', { precision: scale + whole, scale })),
)
const twoDigits = (max: number) => fc.integer({ min: 0, max }).map((value) => String(value).padStart(2, '0'))
const clock = fc
  .tuple(twoDigits(25), twoDigits(60), twoDigits(60), fc.stringMatching(/^(\.[0-9]{1,7})?$/))
  .map(([hour, minute, second, fraction]) => `${hour}:${minute}:${second}${fraction}`)
const calendar = fc
  .tuple(fc.integer({ min: 0, max: 9999 }), twoDigits(13), twoDigits(32))
  .map(([year, month, day]) => `${String(year).padStart(4, '0')}-${month}-${day}`)
const dateTime = fc
  .tuple(calendar, clock, fc.stringMatching(/^(Z|[+-][0-2][0-9]:[0-6][0-9])?$/))
  .map(([date, time, zone]) => `${date}T${time}${zone}`)
const plausibleText = fc.oneof(
  fc.string({ unit: anyCharacter }),
  fc.stringMatching(/^-?[0-9]{1,25}(\.[0-9]{1,12})?([eE][+-]?[0-9]{1,3})?$/),
  fc.uuid().map((id) => id.toUpperCase()),
  fc.base64String(),
  fc.json(),
  fc.constantFrom('true', 'false', 'null'),
  calendar,
  clock,
  dateTime,
)
const plausibleValue = fc.oneof(plausibleText, fc.jsonValue(), fc.anything(), fc.integer(), fc.double())
const okOf = (decoded: Decoded) => ('ok' in decoded ? decoded.ok : undefined)

it('answers a text or a reason for any text, and reads a canonical text as itself', () => {
  fc.assert(
    fc.property(anyType, plausibleText, (fieldType, text) => {
      const canonical = okOf(decodeText(fieldType, text))

      fc.pre(canonical !== undefined)
      expect(decodeText(fieldType, canonical)).toEqual({ ok: canonical })
    }),
    { numRuns: casesOr(2000), maxSkipsPerRun: 1000 },
  )
})

it('answers a text or a reason for any value, list or not', () => {
  fc.assert(
    fc.property(anyType, fc.boolean(), plausibleValue, (fieldType, isList, value) => {
      const decoded = decodeJson(fieldType, isList, value)

      expect(Object.entries(decoded)).toEqual([[expect.stringMatching(/^(ok|fault)$/), expect.any(String)]])
    }),
    { numRuns: casesOr(3000) },
  )
})

it('keeps what a JSON value says', () => {
  fc.assert(
    fc.property(
      fc.jsonValue().filter((value) => value !== null && typeof value !== 'string'),
      (value) => {
        expect(decodeJson(type('json'), false, value)).toEqual({ ok: JSON.stringify(value) })
      },
    ),
  )
})

it('keeps what a string says', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'grapheme' }).filter((text) => !text.includes('\0')),
      (text) => {
        expect(decodeJson(type('string'), false, text)).toEqual({ ok: text })
      },
    ),
  )
})

it.each([
  ['int8', -(2n ** 7n), 2n ** 7n - 1n],
  ['int16', -(2n ** 15n), 2n ** 15n - 1n],
  ['int32', -(2n ** 31n), 2n ** 31n - 1n],
  ['int64', -(2n ** 63n), 2n ** 63n - 1n],
  ['uint8', 0n, 2n ** 8n - 1n],
  ['uint16', 0n, 2n ** 16n - 1n],
  ['uint32', 0n, 2n ** 32n - 1n],
  ['uint64', 0n, 2n ** 64n - 1n],
])('round-trips every %s and refuses every other integer', (name, low, high) => {
  const span = (high - low) * 2n
  const near = fc.bigInt({ min: low - span, max: high + span })

  fc.assert(
    fc.property(near, fc.integer({ min: 0, max: 30 }), (value, zeros) => {
      const text = String(value).replace(/[0-9]+/, (digits) => '0'.repeat(zeros) + digits)

      expect(okOf(decodeText(type(name), text))).toBe(value >= low && value <= high ? String(value) : undefined)
    }),
  )
})

it('writes a decimal of any spelling with its exact value', () => {
  const spelling = fc.tuple(fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }), fc.integer({ min: 1, max: 10 }))

  fc.assert(
    fc.property(spelling, ([units, scale]) => {
      const digits = String(units < 0n ? -units : units).padStart(scale + 1, '0')
      const text = `${units < 0n ? '-' : ''}${digits.slice(0, -scale)}.${digits.slice(-scale)}`

      expect(decodeJson(type('decimal', { precision: 31, scale }), false, `${text}000`)).toEqual({ ok: text })
    }),
  )
})

it('agrees with Date on every offset', () => {
  const from = Date.UTC(1000, 0, 1)
  const to = Date.UTC(9000, 0, 1)

  fc.assert(
    fc.property(fc.integer({ min: from, max: to }), fc.integer({ min: -1439, max: 1439 }), (milliseconds, offset) => {
      const local = new Date(milliseconds + offset * 60_000).toISOString().slice(0, -1)
      const size = Math.abs(offset)
      const hours = String(Math.floor(size / 60)).padStart(2, '0')
      const zone = `${offset < 0 ? '-' : '+'}${hours}:${String(size % 60).padStart(2, '0')}`
      const utc = new Date(milliseconds).toISOString().replace(/\.?0{1,3}Z$/, 'Z')

      const decoded = okOf(decodeJson(type('dateTimeWithTimezone'), false, local + zone))

      expect(Date.parse(decoded ?? '')).toBe(milliseconds)
      expect(decoded).toBe(utc)
    }),
    { numRuns: casesOr(2000) },
  )
})

it('agrees with Date on which days exist', () => {
  fc.assert(
    fc.property(calendar, (text) => {
      const instant = new Date(`${text}T00:00:00Z`)
      const isZero = /^0000|-00/.test(text)
      const exists = !Number.isNaN(instant.getTime()) && instant.toISOString().startsWith(text)

      if (!isZero) expect('ok' in decodeJson(type('date'), false, text)).toBe(exists)
    }),
    { numRuns: casesOr(2000) },
  )
})
