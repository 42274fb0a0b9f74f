/** Dates and times: their forms, the calendar, and times with an offset as UTC. */
import type { Decoded, Fault } from './decoded.ts'
import { ZERO } from './number.ts'

export function decodeDate(value: unknown): Decoded {
  if (typeof value !== 'string') return notDate
  if (!datePattern.test(value)) return decodeExtended(value, { time: false, zone: false }) ?? notDate
  return isCalendarDate(value) ? { ok: value } : noCalendarDate
}

/**
 * The form is HH:MM:SS; a time without seconds has none (docs/contract.md#types). PostgreSQL knows 24:00:00, and MariaDB and MySQL
 * hours up to 838 of either sign; a database refuses what it lacks.
 */
export function decodeTime(value: unknown): Decoded {
  const match = matched(timePattern, value)
  if (match === null) return notTime
  const [, sign = '', hours = '', minutes = '', fraction = ''] = match
  if (Number(hours) > MAX_HOURS || twoDigits(minutes, 1) > 59 || twoDigits(minutes, 4) > 59) return noTimeOfDay
  return fraction.length > 6 ? fractionTooLong : { ok: `${sign}${hours}${minutes}${fractionSuffix(fraction)}` }
}

const MAX_HOURS = 838

export function decodeDateTime(value: unknown): Decoded {
  const match = matched(dateTimePattern, value)
  if (match === null) return decodeExtended(value, { time: true, zone: false }) ?? notDateTime
  if (match[2] !== undefined) return hasZone
  const [text, fraction = ''] = match
  return instantFault(text, fraction) ?? { ok: text.slice(0, 19) + fractionSuffix(fraction) }
}

export function decodeDateTimeWithTimezone(value: unknown): Decoded {
  const match = matched(dateTimePattern, value)
  if (match === null) return decodeExtended(value, { time: true, zone: true }) ?? zonedFault(value)
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

/** `12:30` and `2024-01-01T12:30Z` match with the seconds that they mean. */
function matched(pattern: RegExp, value: unknown): RegExpExecArray | null {
  if (typeof value !== 'string') return null
  return pattern.exec(value) ?? pattern.exec(value.replace(untilMinutes, '$1:00$2'))
}

/** A `+` that an address has as it is stands for a space. */
function zonedFault(value: unknown): Fault {
  const isSpaced =
    typeof value === 'string' && value.includes(' ') && matched(dateTimePattern, value.replace(' ', '+')) !== null
  return isSpaced ? plusAsSpace : notDateTimeWithTimezone
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
const untilMinutes = /^((?:[0-9]{4}-[0-9]{2}-[0-9]{2}T|-?[0-9]?)[0-9]{2}:[0-9]{2})(Z|[+-][0-9]{2}:[0-9]{2})?$/
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

const plusAsSpace: Fault = { fault: 'has a space before its offset: in an address a + is written %2B' }
const noCalendarDate: Fault = { fault: 'is not a calendar date' }
const noTimeOfDay: Fault = { fault: 'is not a time of day' }
const noOffset: Fault = { fault: 'has an offset of a day or more' }
const fractionTooLong: Fault = { fault: 'must have at most 6 fraction digits' }
const hasZone: Fault = { fault: 'must not have a time zone' }
const lacksZone: Fault = { fault: 'must have a time zone, Z or ±HH:MM' }
const yearOutOfRange: Fault = { fault: 'is outside the years 0001 to 9999 in UTC' }
