/** A value as text by which it is compared: one the database shows, and the same one as the service shows it. */
import { isRawNumber } from '../../../src/core/exact-json.ts'
import type { OfferedField } from './offers.ts'

type Shape = Pick<OfferedField, 'type' | 'isList'>

/** A text has no such character. */
const NULL = '\0'

/** What the service should show, from what the database says of it. */
export function expected(text: string | null | undefined, { type, isList }: Shape): string {
  if (text === null || text === undefined) return NULL
  if (isList || type === 'json') return shown(readExactly(text), { type: 'json', isList: false })
  switch (type) {
    case 'boolean':
      return String(['t', 'true', '1', '\\x01'].includes(text))
    case 'float32':
      return single(text)
    case 'float64':
      return double(text)
    case 'bytes':
      return `bytes ${text.slice(2).toLowerCase()}`
    case 'dateTime':
      return moment(text)
    case 'dateTimeWithTimezone':
      return moment(text.replace(/[+-]00(:00)?( BC)?$/, '$2'))
    case 'date':
      return day(text)
    case 'time':
      return trimmed(text)
    default:
      return text
  }
}

/** What it shows. */
export function shown(value: unknown, { type, isList }: Shape): string {
  if (value === null) return NULL
  if (value === undefined) return 'missing'
  if (isList || type === 'json') return sorted(value)
  const text = isRawNumber(value) ? value.rawJSON : String(value)
  switch (type) {
    case 'float32':
      return single(text)
    case 'float64':
      return double(text)
    case 'bytes':
      return `bytes ${Buffer.from(text, 'base64').toString('hex')}`
    case 'dateTime':
    case 'time':
      return trimmed(text)
    case 'dateTimeWithTimezone':
      return trimmed(text.replace(/Z$/, ''))
    default:
      return text
  }
}

function single(text: string): string {
  const value = Number(text)
  return Number.isFinite(value) ? String(Number(Math.fround(value).toPrecision(6))) : text
}

function double(text: string): string {
  return Number.isFinite(Number(text)) ? String(Number(text)) : text
}

function trimmed(text: string): string {
  return text.replace(/(\.\d*?)0+$/, '$1').replace(/\.$/, '')
}

function moment(text: string): string {
  return trimmed(day(text).replace(' ', 'T'))
}

/** Years of more than four digits, and before the first, have a sign and six digits at least. */
function day(text: string): string {
  const [, year, rest, era] = /^(\d+)(-.*?)( BC)?$/.exec(text) ?? []
  if (year === undefined || rest === undefined || (era === undefined && year.length === 4)) return text
  const value = era === undefined ? Number(year) : 1 - Number(year)
  return `${value < 0 ? '-' : '+'}${String(Math.abs(value)).padStart(6, '0')}${rest}`
}

/** JSON with every number and moment as a text, since lists show theirs as the service and as PostgreSQL do. */
function sorted(value: unknown): string {
  if (isRawNumber(value)) return `"${value.rawJSON}"`
  if (Array.isArray(value)) return `[${value.map(sorted)}]`
  if (typeof value === 'string')
    return JSON.stringify(/^\d{4,}-\d\d-\d\dT/.test(value) ? trimmed(value.replace(/Z$|\+00:00$/, '')) : value)
  if (typeof value !== 'object' || value === null) return `"${value}"`
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1))
  return `{${members.map(([name, one]) => `${JSON.stringify(name)}:${sorted(one)}`)}}`
}

/** JSON as the service's clients read it: numbers by their text. */
function readExactly(text: string): unknown {
  const parse = JSON.parse as (
    text: string,
    reviver: (name: string, value: unknown, at: { source?: string }) => unknown,
  ) => unknown
  const raw = JSON as unknown as { rawJSON(text: string): unknown }
  return parse(text, (_, value, { source }) =>
    typeof value === 'number' && source !== undefined ? raw.rawJSON(source) : value,
  )
}
