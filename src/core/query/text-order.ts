/**
 * Orders values by their canonical texts as PostgreSQL does, for rows that no database can compare. NaN is the largest number
 * and equal to itself.
 */
import { parseJson } from '../exact-json.ts'
import { canonicalJson } from '../json-object.ts'
import type { TypeName } from '../model/field-type.ts'
import type { PrimitiveField } from '../model/model.ts'

/** Compares canonical texts by their values: negative, zero or positive. */
export function compareTexts({ type }: Pick<PrimitiveField, 'type'>, one: string, other: string): number {
  switch (type.name) {
    case 'float32':
      return numberOrder(Math.fround(Number(one)), Math.fround(Number(other)))
    case 'float64':
      return numberOrder(Number(one), Number(other))
    case 'int8':
    case 'int16':
    case 'int32':
    case 'int64':
    case 'uint8':
    case 'uint16':
    case 'uint32':
    case 'uint64':
    case 'decimal':
      return decimalOrder(one, other)
    case 'json':
      return textOrder(canonicalJson(parseJson(one)), canonicalJson(parseJson(other)))
    case 'date':
    case 'dateTime':
    case 'dateTimeWithTimezone':
      return isCommon(one) && isCommon(other)
        ? textOrder(one.replace('Z', ''), other.replace('Z', ''))
        : momentOrder(momentOf(one), momentOf(other))
    case 'time':
      return momentOrder(timeOf(one), timeOf(other))
    case 'string':
    case 'uuid':
    case 'boolean':
    case 'bytes':
    case 'geometry':
      return textOrder(one, other)
    default:
      return type satisfies never
  }
}

/** True if the database may treat both texts as the same value of the field. */
export function mayBeEqual(field: PrimitiveField, one: string, other: string): boolean {
  const { isList, isLoose, native, type } = field
  const isExact = !isList && !isLoose && (native === null || native.values !== undefined) && exact[type.name]
  return !isExact || compareTexts(field, one, other) === 0
}

/** Types for which `compareTexts` finds all equal values; not floats, which are rounded, and timestamps. */
const exact: Readonly<Record<TypeName, boolean>> = {
  int8: true,
  int16: true,
  int32: true,
  int64: true,
  uint8: true,
  uint16: true,
  uint32: true,
  uint64: true,
  decimal: true,
  string: true,
  uuid: true,
  boolean: true,
  date: true,
  float32: false,
  float64: false,
  time: false,
  dateTime: false,
  dateTimeWithTimezone: false,
  json: false,
  bytes: false,
  geometry: false,
}

/** Orders by code points, like UTF-8; JavaScript compares code units, and so puts characters beyond U+FFFF before U+E000. */
export function textOrder(one: string, other: string): number {
  if (one === other) return 0
  let at = 0
  while (at < one.length && one.charCodeAt(at) === other.charCodeAt(at)) at += 1
  return rankAt(one, at) - rankAt(other, at)
}

/** The end of a string has the lowest rank. */
function rankAt(text: string, at: number): number {
  if (at >= text.length) return -1
  const unit = text.charCodeAt(at)
  return unit >= 0xd800 && unit < 0xe000 ? unit + 0x10000 : unit
}

function numberOrder(one: number, other: number): number {
  if (Number.isNaN(one) || Number.isNaN(other)) return Number(Number.isNaN(one)) - Number(Number.isNaN(other))
  return one < other ? -1 : one > other ? 1 : 0
}

/** Compares the digits as strings, padded to equal length before and after the decimal point. */
function decimalOrder(one: string, other: string): number {
  if (isNamed(one) || isNamed(other)) return numberOrder(sizeOf(one), sizeOf(other))
  const [first, second] = [partsOf(one), partsOf(other)]
  const whole = Math.max(first.whole.length, second.whole.length)
  const fraction = Math.max(first.fraction.length, second.fraction.length)
  const padded = (parts: DecimalParts) => parts.whole.padStart(whole, '0') + parts.fraction.padEnd(fraction, '0')
  const [left, right] = [padded(first), padded(second)]
  if (first.isNegative !== second.isNegative) {
    const isZero = /^0*$/.test(left) && /^0*$/.test(right)
    return isZero ? 0 : first.isNegative ? -1 : 1
  }
  return first.isNegative ? textOrder(right, left) : textOrder(left, right)
}

/** `NaN`, `Infinity`, `-Infinity`. */
function isNamed(text: string): boolean {
  return text.endsWith('N') || text.endsWith('y')
}

/** Compared with a named number, all other numbers are equal, also those too large for JavaScript. */
function sizeOf(text: string): number {
  return isNamed(text) ? Number(text) : 0
}

type DecimalParts = { readonly isNegative: boolean; readonly whole: string; readonly fraction: string }

function partsOf(text: string): DecimalParts {
  const isNegative = text.startsWith('-')
  const [whole = '', fraction = ''] = (isNegative ? text.slice(1) : text).split('.')
  return { isNegative, whole, fraction }
}

/** True if the year has four digits and is not BC, so that the texts compare as strings. */
function isCommon(text: string): boolean {
  return text[4] === '-' && !text.endsWith('BC')
}

/** Seconds and microseconds. */
type Moment = readonly [number, number]

function momentOrder([one, first]: Moment, [other, second]: Moment): number {
  return numberOrder(one, other) || numberOrder(first, second)
}

const momentPattern =
  /^(\d{4,7})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d):(\d\d)(?:\.(\d{1,6}))?(?:Z|([+-])(\d\d):(\d\d))?)?( BC)?$/

function momentOf(text: string): Moment {
  const [, years, month, day, hours = 0, minutes = 0, seconds = 0, fraction = '', sign, offHours, offMinutes, era] =
    momentPattern.exec(text) ?? []
  if (years === undefined) return [text.startsWith('-') ? -Infinity : Infinity, 0]
  const days = dayOf(era === undefined ? Number(years) : 1 - Number(years), Number(month), Number(day))
  const offset = sign === undefined ? 0 : Number(`${sign}1`) * (Number(offHours) * 60 + Number(offMinutes))
  const minute = days * 1_440 + Number(hours) * 60 + Number(minutes) - offset
  return [minute * 60 + Number(seconds), Number(fraction.padEnd(6, '0'))]
}

/** Days of the Gregorian calendar with years that begin in March, so that leap days end a year. */
function dayOf(year: number, month: number, day: number): number {
  const from = month < 3 ? year - 1 : year
  const leaps = Math.floor(from / 4) - Math.floor(from / 100) + Math.floor(from / 400)
  return from * 365 + leaps + Math.floor((((month + 9) % 12) * 153 + 2) / 5) + day
}

function timeOf(text: string): Moment {
  const [, sign, hours, minutes, seconds, fraction = ''] = /^(-?)(\d+):(\d\d):(\d\d)(?:\.(\d+))?$/.exec(text) ?? []
  const size = Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds)
  const micros = Number(fraction.padEnd(6, '0'))
  return sign === '-' ? [-size, -micros] : [size, micros]
}
