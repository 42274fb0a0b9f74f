/**
 * Converts wire values (JSON bodies, query strings) to parameter texts in one canonical form, or returns a fault. Owns
 * the rules on values (docs/contract.md#values): exact or refused, never rounded, cut or guessed. A fault is a
 * predicate ("must be …", "is not …") that never repeats the value. Long, because it is one table: each type's grammar,
 * range and canonical form, in the order of the types.
 */
import { isRawNumber, parseExactJson, plainNumber } from '../exact-json.ts'
import { isObject } from '../json-object.ts'
import type { FieldType } from './field-type.ts'

/** `ok` is the text that a statement casts to the column's type. */
export type Decoded = { readonly ok: string } | Fault
type Fault = { readonly fault: string }

const MAX_LIST_LENGTH = 10_000
const MAX_JSON_DEPTH = 1_000
const MAX_COLLECTION_DEPTH = 8

/**
 * Decodes a value of a JSON body; callers handle null. A list becomes the text of a JSON array of canonical texts or
 * nulls.
 */
export function decodeJson(type: FieldType, isList: boolean, value: unknown): Decoded {
  if (!isList) return decodeScalar(type, value)
  if (!Array.isArray(value)) return notList
  if (value.length > MAX_LIST_LENGTH) return listTooLong
  const texts: (string | null)[] = []
  for (const element of value) {
    if (element === null) {
      texts.push(null)
      continue
    }
    const decoded = decodeScalar(type, element)
    if ('fault' in decoded) return { fault: `element ${texts.length} ${decoded.fault}` }
    texts.push(decoded.ok)
  }
  return { ok: JSON.stringify(texts) }
}

/** Decodes an operand of a query string, or a key in a path, by the field's type. */
export function decodeText(type: FieldType, text: string): Decoded {
  switch (type.name) {
    case 'int8':
    case 'int16':
    case 'int32':
    case 'uint8':
    case 'uint16':
    case 'uint32':
      return integerFromText(integers[type.name], text)
    case 'float32':
    case 'float64':
      return jsonNumber.test(text) ? decodeFloat(type.name, Number(text)) : decodeNamed(text, notNumber)
    case 'boolean':
      return text === 'true' || text === 'false' ? { ok: text } : notBoolean
    case 'json':
      return decodeJsonValue(jsonOrText(text))
    case 'int64':
    case 'uint64':
    case 'decimal':
    case 'string':
    case 'uuid':
    case 'date':
    case 'time':
    case 'dateTime':
    case 'dateTimeWithTimezone':
    case 'bytes':
    case 'geometry':
      return decodeScalar(type, text)
    default:
      return type satisfies never
  }
}

/** The name of a type in messages: `int32`, `string(20)`, `decimal(10, 2)`. */
export function describeType(type: FieldType): string {
  if (type.name === 'string' && type.params.length === 'fixed') return `string(${type.params.value})`
  if (type.name === 'decimal' && type.params.kind === 'constrained') {
    return `decimal(${type.params.precision}, ${type.params.scale})`
  }
  return type.name
}

function decodeScalar(type: FieldType, sent: unknown): Decoded {
  const value = type.name === 'json' || type.name === 'decimal' ? sent : plainNumber(sent)
  switch (type.name) {
    case 'string':
      return decodeString(type.params, value)
    case 'int8':
    case 'int16':
    case 'int32':
    case 'uint8':
    case 'uint16':
    case 'uint32': {
      const range = integers[type.name]
      return typeof value === 'number' ? integerFromNumber(range, value) : range.fault
    }
    case 'int64':
    case 'uint64': {
      const range = integers[type.name]
      if (typeof value === 'string') return integerFromText(range, value)
      return typeof value === 'number' ? integerFromNumber(range, value) : range.fault
    }
    case 'float32':
    case 'float64':
      return typeof value === 'number' ? decodeFloat(type.name, value) : decodeNamed(value, notNumber)
    case 'decimal':
      return decodeDecimal(type.params, value)
    case 'boolean':
      return typeof value === 'boolean' ? { ok: value ? 'true' : 'false' } : notBoolean
    case 'uuid':
      return typeof value === 'string' && uuid.test(value) ? { ok: value.toLowerCase() } : notUuid
    case 'date':
      return decodeDate(value)
    case 'time':
      return decodeTime(value)
    case 'dateTime':
      return decodeDateTime(value)
    case 'dateTimeWithTimezone':
      return decodeDateTimeWithTimezone(value)
    case 'json':
      return decodeJsonValue(value)
    case 'bytes':
      return typeof value === 'string' && value.length % 4 === 0 && base64.test(value) ? { ok: value } : notBase64
    case 'geometry':
      return isObject(value) ? decodeGeometry(JSON.stringify(value)) : notGeometry
    default:
      return type satisfies never
  }
}

const notList: Fault = { fault: 'must be an array' }
const listTooLong: Fault = { fault: `must have at most ${MAX_LIST_LENGTH} elements` }
const notBoolean: Fault = { fault: 'must be true or false' }
const notUuid: Fault = { fault: 'must be a UUID' }
const notBase64: Fault = { fault: 'must be base64 text with padding' }

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
// The last symbol before the padding must have no extra bits, so that equal bytes have equal texts.
const base64 = /^[A-Za-z0-9+/]*(?:[AQgw]==|[AEIMQUYcgkosw048]=)?$/

type Params<Name extends FieldType['name']> =
  Extract<FieldType, { readonly name: Name }> extends {
    readonly params: infer P
  }
    ? P
    : never

function decodeString(params: Params<'string'>, value: unknown): Decoded {
  if (typeof value !== 'string') return notString
  const fault = characterFault(value)
  if (fault !== undefined) return fault
  if (params.length === 'fixed' && isLongerThan(params.value, value)) {
    return { fault: `must be at most ${params.value} characters long` }
  }
  return { ok: value }
}

/** Characters that some database cannot store. */
function characterFault(text: string): Fault | undefined {
  if (text.includes('\0')) return nulCharacter
  return text.isWellFormed() ? undefined : loneSurrogate
}

/** Databases count code points; JavaScript counts UTF-16 units, at most two per code point. */
function isLongerThan(limit: number, text: string): boolean {
  if (text.length <= limit) return false
  if (text.length > limit * 2) return true
  let count = 0
  for (const _ of text) count++
  return count > limit
}

const notString: Fault = { fault: 'must be a string' }
const nulCharacter: Fault = { fault: 'must not contain the character U+0000' }
const loneSurrogate: Fault = { fault: 'must not contain a lone surrogate' }

type IntegerRange = {
  /** Limits for integers that JSON numbers represent exactly. */
  readonly low: number
  readonly high: number
  /** Digits of the lowest and highest value, for texts of any length. */
  readonly lowDigits: string
  readonly highDigits: string
  readonly fault: Fault
}

const integers = {
  int8: integerRange('-128', '127'),
  int16: integerRange('-32768', '32767'),
  int32: integerRange('-2147483648', '2147483647'),
  int64: integerRange('-9223372036854775808', '9223372036854775807'),
  uint8: integerRange('0', '255'),
  uint16: integerRange('0', '65535'),
  uint32: integerRange('0', '4294967295'),
  uint64: integerRange('0', '18446744073709551615'),
}

function integerRange(low: string, high: string): IntegerRange {
  return {
    low: Number(low),
    high: Number(high),
    lowDigits: low.replace('-', ''),
    highDigits: high,
    fault: { fault: `must be an integer between ${low} and ${high}` },
  }
}

function integerFromNumber(range: IntegerRange, value: number): Decoded {
  if (!Number.isInteger(value) || value < range.low || value > range.high) return range.fault
  return Number.isSafeInteger(value) ? { ok: String(value) } : inexactNumber
}

function integerFromText(range: IntegerRange, text: string): Decoded {
  if (!integerText.test(text)) return range.fault
  const isNegative = text.startsWith('-')
  const digits = withoutLeadingZeros(isNegative ? text.slice(1) : text)
  if (digits === '0') return { ok: digits }
  const limit = isNegative ? range.lowDigits : range.highDigits
  // Digits of equal length without leading zeros compare as text.
  if (digits.length > limit.length || (digits.length === limit.length && digits > limit)) return range.fault
  return { ok: isNegative ? `-${digits}` : digits }
}

function decodeFloat(name: 'float32' | 'float64', value: number): Decoded {
  if (!Number.isFinite(value)) return floatOutOfRange
  if (name === 'float32') {
    const single = Math.fround(value)
    // PostgreSQL refuses values too small for a single as well as values too large.
    if (!Number.isFinite(single) || (single === 0 && value !== 0)) return floatOutOfRange
  }
  return { ok: Object.is(value, -0) ? '-0' : String(value) }
}

/** Values of PostgreSQL's numbers that JSON has no numbers for. */
function decodeNamed(value: unknown, fault: Fault): Decoded {
  return value === 'NaN' || value === 'Infinity' || value === '-Infinity' ? { ok: value } : fault
}

function decodeDecimal(params: Params<'decimal'>, value: unknown): Decoded {
  if (isRawNumber(value)) return decimalFromNumber(params, value.rawJSON)
  if (typeof value === 'number') {
    const text = String(value)
    if (!Number.isFinite(value)) return notDecimal
    return Number.isSafeInteger(value) || significantDigits(text) <= EXACT_DIGITS
      ? decimalFromNumber(params, text)
      : inexactNumber
  }
  return typeof value === 'string' ? decimalFromText(params, value) : notDecimal
}

/** Writes the text of a JSON number without an exponent. */
function decimalFromNumber(params: Params<'decimal'>, text: string): Decoded {
  const [mantissa = '', exponent] = text.split(/e/i)
  if (exponent === undefined) return decimalFromText(params, text)
  const shift = Number(exponent)
  if (Math.abs(shift) > MAX_EXPONENT) return /[1-9]/.test(mantissa) ? floatOutOfRange : { ok: '0' }
  const sign = mantissa.startsWith('-') ? '-' : ''
  const [whole = '', fraction = ''] = mantissa.slice(sign.length).split('.')
  const digits = `${'0'.repeat(Math.max(0, -shift))}${whole}${fraction}${'0'.repeat(Math.max(0, shift))}`
  const point = Math.max(0, -shift) + whole.length + shift
  const after = digits.slice(point)
  return decimalFromText(params, `${sign}${digits.slice(0, point) || '0'}${after === '' ? '' : `.${after}`}`)
}

/** Digits but for zeros at either end; a number read by JavaScript is exact up to 15 of them. */
function significantDigits(text: string): number {
  const [mantissa = ''] = text.split(/e/i)
  return mantissa.replace(/[-.]/g, '').replace(/^0+|0+$/g, '').length
}

const EXACT_DIGITS = 15

function decimalFromText(params: Params<'decimal'>, text: string): Decoded {
  if (!decimalText.test(text)) return decodeNamed(text, notDecimal)
  const isNegative = text.startsWith('-')
  const [wholeText = '', fractionText = ''] = (isNegative ? text.slice(1) : text).split('.')
  const before = params.kind === 'constrained' ? params.precision - params.scale : MAX_DIGITS_BEFORE
  const after = params.kind === 'constrained' ? params.scale : MAX_DIGITS_AFTER
  const whole = withoutLeadingZeros(wholeText)
  const fraction = fractionText.slice(0, after)
  // Trailing zeros beyond the scale can be dropped without rounding.
  if ((whole === '0' ? 0 : whole.length) > before || !onlyZeros.test(fractionText.slice(after))) {
    return { fault: `must have at most ${before} digits before and ${after} after the decimal point` }
  }
  const sign = isNegative && !(whole === '0' && onlyZeros.test(fraction)) ? '-' : ''
  return { ok: fraction === '' ? sign + whole : `${sign}${whole}.${fraction}` }
}

function withoutLeadingZeros(digits: string): string {
  let start = 0
  while (start < digits.length - 1 && digits.charCodeAt(start) === ZERO) start++
  return start === 0 ? digits : digits.slice(start)
}

const ZERO = 48
/** The limits of an unconstrained numeric in PostgreSQL. */
const MAX_DIGITS_BEFORE = 131_072
const MAX_DIGITS_AFTER = 16_383

const integerText = /^-?[0-9]+$/
const decimalText = /^-?[0-9]+(?:\.[0-9]+)?$/
const jsonNumber = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/
const onlyZeros = /^0*$/

const notNumber: Fault = { fault: 'must be a number' }
const floatOutOfRange: Fault = { fault: 'is out of range' }
const inexactNumber: Fault = { fault: 'must be a string: as a JSON number it is not exact' }
const notDecimal: Fault = { fault: 'must be a decimal string or a number' }

function decodeDate(value: unknown): Decoded {
  if (typeof value !== 'string') return notDate
  if (!datePattern.test(value)) return decodeExtended(value, { time: false, zone: false }) ?? notDate
  return isCalendarDate(value) ? { ok: value } : noCalendarDate
}

/**
 * The form is HH:MM:SS with required seconds (docs/contract.md#types). PostgreSQL knows 24:00:00, and MariaDB and MySQL
 * hours up to 838 of either sign; a database refuses what it lacks.
 */
function decodeTime(value: unknown): Decoded {
  const match = typeof value === 'string' ? timePattern.exec(value) : null
  if (match === null) return notTime
  const [, sign = '', hours = '', minutes = '', fraction = ''] = match
  if (Number(hours) > MAX_HOURS || twoDigits(minutes, 1) > 59 || twoDigits(minutes, 4) > 59) return noTimeOfDay
  return fraction.length > 6 ? fractionTooLong : { ok: `${sign}${hours}${minutes}${fractionSuffix(fraction)}` }
}

const MAX_HOURS = 838

function decodeDateTime(value: unknown): Decoded {
  const match = typeof value === 'string' ? dateTimePattern.exec(value) : null
  if (match === null) return decodeExtended(value, { time: true, zone: false }) ?? notDateTime
  if (match[2] !== undefined) return hasZone
  const [text, fraction = ''] = match
  return instantFault(text, fraction) ?? { ok: text.slice(0, 19) + fractionSuffix(fraction) }
}

function decodeDateTimeWithTimezone(value: unknown): Decoded {
  const match = typeof value === 'string' ? dateTimePattern.exec(value) : null
  if (match === null) return decodeExtended(value, { time: true, zone: true }) ?? notDateTimeWithTimezone
  const [text, fraction = '', zone] = match
  if (zone === undefined) return lacksZone
  const fault = instantFault(text, fraction)
  if (fault !== undefined) return fault
  const utc = zone === 'Z' ? text.slice(0, 19) : toUtc(text, zone)
  return typeof utc === 'string' ? { ok: `${utc}${fractionSuffix(fraction)}Z` } : utc
}

/**
 * A time without end, or one of a year that has not four digits: PostgreSQL's form of ISO's signed year, where 1 BC is
 * year 0. Undefined for anything else; the calendar is left to the database.
 */
function decodeExtended(value: unknown, has: { readonly time: boolean; readonly zone: boolean }): Decoded | undefined {
  if (value === 'infinity' || value === '-infinity') return { ok: value }
  const match = typeof value === 'string' ? extendedPattern.exec(value) : null
  if (match === null) return undefined
  const [, signed = '', rest = '', time, zone, era = ''] = match
  const isCommon = signed.length === 4 && era === ''
  if (isCommon || (time !== undefined) !== has.time || (zone !== undefined) !== has.zone) return undefined
  const year = Number(signed)
  const isBefore = era !== '' || year < 1
  const shown = String(isBefore && era === '' ? 1 - year : year).padStart(4, '0')
  return { ok: `${shown}${rest}${isBefore ? ' BC' : ''}` }
}

function instantFault(text: string, fraction: string): Fault | undefined {
  if (!isCalendarDate(text)) return noCalendarDate
  if (!isTimeOfDay(text, 11)) return noTimeOfDay
  return fraction.length > 6 ? fractionTooLong : undefined
}

/** An offset is shorter than a day, so the date moves by one day at most. */
function toUtc(text: string, zone: string): string | Fault {
  const offsetHours = twoDigits(zone, 1)
  const offsetMinutes = twoDigits(zone, 4)
  if (offsetHours > 23 || offsetMinutes > 59) return noOffset
  const offset = offsetHours * 60 + offsetMinutes
  if (offset !== 0 && isZeroDate(text)) return noCalendarDate
  let year = yearOf(text)
  let month = twoDigits(text, 5)
  let day = twoDigits(text, 8)
  let minutes = twoDigits(text, 11) * 60 + twoDigits(text, 14) + (zone.startsWith('-') ? offset : -offset)
  if (minutes < 0) {
    minutes += DAY
    day--
    if (day === 0) {
      month--
      if (month === 0) {
        month = 12
        year--
      }
      day = daysInMonth(year, month)
    }
  } else if (minutes >= DAY) {
    minutes -= DAY
    day++
    if (day > daysInMonth(year, month)) {
      day = 1
      month++
      if (month > 12) {
        month = 1
        year++
      }
    }
  }
  if ((year < 1 && offset !== 0) || year > 9999) return yearOutOfRange
  const date = `${String(year).padStart(4, '0')}-${pad(month)}-${pad(day)}`
  return `${date}T${pad(Math.floor(minutes / 60))}:${pad(minutes % 60)}${text.slice(16, 19)}`
}

function isCalendarDate(text: string): boolean {
  const year = yearOf(text)
  const month = twoDigits(text, 5)
  const day = twoDigits(text, 8)
  // MariaDB and MySQL have dates with parts of zero; PostgreSQL refuses them.
  return month <= 12 && day <= (month === 0 ? 31 : daysInMonth(year, month))
}

/** A part of the date is zero, so that it cannot be counted from. */
function isZeroDate(text: string): boolean {
  return yearOf(text) === 0 || twoDigits(text, 5) === 0 || twoDigits(text, 8) === 0
}

function isTimeOfDay(text: string, start: number): boolean {
  return twoDigits(text, start) <= 23 && twoDigits(text, start + 3) <= 59 && twoDigits(text, start + 6) <= 59
}

function daysInMonth(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
}

/** Drops trailing zeros of a fraction, and the point if nothing remains. */
function fractionSuffix(fraction: string): string {
  let end = fraction.length
  while (end > 0 && fraction.charCodeAt(end - 1) === ZERO) end--
  return end === 0 ? '' : `.${fraction.slice(0, end)}`
}

function yearOf(text: string): number {
  return twoDigits(text, 0) * 100 + twoDigits(text, 2)
}

function twoDigits(text: string, start: number): number {
  return (text.charCodeAt(start) - ZERO) * 10 + text.charCodeAt(start + 1) - ZERO
}

function pad(value: number): string {
  return value < 10 ? `0${value}` : String(value)
}

const DAY = 24 * 60

const datePattern = /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/
const timePattern = /^(-?)([0-9]{2,3})(:[0-9]{2}:[0-9]{2})(?:\.([0-9]+))?$/
const extendedPattern =
  /^([0-9]{4}|[+-][0-9]{4,7}|[0-9]{5,7})(-[0-9]{2}-[0-9]{2}([T ][0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6})?(Z|[+-][0-9]{2}:[0-9]{2})?)?)( BC)?$/
const dateTimePattern =
  /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.([0-9]+))?(Z|[+-][0-9]{2}:[0-9]{2})?$/

const notDate: Fault = { fault: 'must be a date of the form YYYY-MM-DD' }
const notTime: Fault = { fault: 'must be a time of the form HH:MM:SS[.ffffff]' }
const notDateTime: Fault = { fault: 'must be a date and time of the form YYYY-MM-DDTHH:MM:SS[.ffffff]' }
const notDateTimeWithTimezone: Fault = {
  fault: 'must be a date and time of the form YYYY-MM-DDTHH:MM:SS[.ffffff] with Z or an offset ±HH:MM',
}
const noCalendarDate: Fault = { fault: 'is not a calendar date' }
const noTimeOfDay: Fault = { fault: 'is not a time of day' }
const noOffset: Fault = { fault: 'has an offset of a day or more' }
const fractionTooLong: Fault = { fault: 'must have at most 6 fraction digits' }
const hasZone: Fault = { fault: 'must not have a time zone' }
const lacksZone: Fault = { fault: 'must have a time zone, Z or ±HH:MM' }
const yearOutOfRange: Fault = { fault: 'is outside the years 0001 to 9999 in UTC' }

function decodeJsonValue(value: unknown): Decoded {
  return jsonFault(value, 0) ?? { ok: JSON.stringify(value) }
}

function jsonOrText(text: string): unknown {
  try {
    return parseExactJson(text)
  } catch {
    return text
  }
}

function jsonFault(value: unknown, depth: number): Fault | undefined {
  if (typeof value === 'string') return characterFault(value)
  // JSON.parse reads 1e400 as infinity, which would be written as null.
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : infiniteNumber
  if (value === null || typeof value === 'boolean') return undefined
  if (typeof value !== 'object') return notJson
  if (isRawNumber(value)) return hasLargeExponent(value.rawJSON) ? infiniteNumber : undefined
  if (depth === MAX_JSON_DEPTH) return jsonTooDeep
  if (Array.isArray(value)) {
    for (const element of value) {
      const fault = jsonFault(element, depth + 1)
      if (fault !== undefined) return fault
    }
    return undefined
  }
  for (const [key, member] of Object.entries(value)) {
    const fault = characterFault(key) ?? jsonFault(member, depth + 1)
    if (fault !== undefined) return fault
  }
  return undefined
}

/** All digits are written out, by PostgreSQL in JSON as well, so that a few bytes would become gigabytes. */
const MAX_EXPONENT = 1_000

function hasLargeExponent(number: string): boolean {
  const at = number.search(/e/i)
  return at !== -1 && Math.abs(Number(number.slice(at + 1))) > MAX_EXPONENT
}

/** Numbers that were kept as texts are numbers here. */
function decodeGeometry(text: string): Decoded {
  return isGeometry(JSON.parse(text), 0) ? { ok: text } : notGeometry
}

/** RFC 7946 without foreign members: databases treat them (`crs`) differently. */
function isGeometry(value: unknown, depth: number): boolean {
  if (!isObject(value)) return false
  const members = new Map<string, unknown>(Object.entries(value))
  if (members.size !== 2) return false
  const coordinates = members.get('coordinates')
  switch (members.get('type')) {
    case 'Point':
      return isPosition(coordinates)
    case 'MultiPoint':
      return isArrayOf(coordinates, isPosition)
    case 'LineString':
      return isLine(coordinates)
    case 'MultiLineString':
      return isArrayOf(coordinates, isLine)
    case 'Polygon':
      return isPolygon(coordinates)
    case 'MultiPolygon':
      return isArrayOf(coordinates, isPolygon)
    case 'GeometryCollection':
      if (depth === MAX_COLLECTION_DEPTH) return false
      return isArrayOf(members.get('geometries'), (geometry) => isGeometry(geometry, depth + 1))
    default:
      return false
  }
}

function isPolygon(value: unknown): boolean {
  return isArrayOf(value, isRing)
}

function isRing(value: unknown): boolean {
  if (!isLine(value) || value.length < 4) return false
  const first = value[0]
  const last = value[value.length - 1]
  return first?.length === last?.length && first?.every((number, index) => number === last?.[index]) === true
}

function isLine(value: unknown): value is readonly Position[] {
  return isArrayOf(value, isPosition) && value.length >= 2
}

type Position = readonly number[]

function isPosition(value: unknown): value is Position {
  return isArrayOf(value, Number.isFinite) && (value.length === 2 || value.length === 3)
}

function isArrayOf(value: unknown, isElement: (element: unknown) => boolean): value is readonly unknown[] {
  return Array.isArray(value) && value.every((element) => isElement(element))
}

const infiniteNumber: Fault = { fault: 'must not contain a number out of range' }
const notJson: Fault = { fault: 'must be a JSON value' }
const jsonTooDeep: Fault = { fault: `must not be nested deeper than ${MAX_JSON_DEPTH} levels` }
const notGeometry: Fault = { fault: 'must be a GeoJSON geometry: an object of type and coordinates or geometries' }
