/** Values as people read and type them. What the API writes as a text (decimals, long integers, times) stays that text. */
import type { FieldModel } from './model.ts'
import { DATE_TIME, readableOf } from './readable.ts'

export type Value = unknown
export type Row = Readonly<Record<string, Value>>

/** How a value is typed: in one line, in several, or chosen. */
export type InputKind = 'line' | 'lines' | 'choice'

type Shape = Pick<FieldModel, 'type' | 'isList' | 'isNullable' | 'values'>
type Typed = Pick<FieldModel, 'type' | 'isList'>

export function inputKindOf({ type, isList, values }: Shape, value: Value): InputKind {
  if (isList || type === 'json') return 'lines'
  if (type === 'boolean' || values.length > 0) return 'choice'
  return type === 'string' && typeof value === 'string' && /\n|.{120}/.test(value) ? 'lines' : 'line'
}

/** What is copied; a missing value is an empty text. */
export function textOf(value: Value): string {
  if (value === null || value === undefined) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** What an input begins with. */
export function inputTextOf({ type, isList }: Typed, value: Value): string {
  if (value === null || value === undefined) return ''
  return isList || type === 'json' ? JSON.stringify(value, null, 2) : textOf(value)
}

/** Likewise in a form, which saves only what is changed: times as cells show them. */
export function formTextOf(field: Typed, value: Value): string {
  return isTime(field) ? readableOf(field, value) : inputTextOf(field, value)
}

export const isTime = ({ type, isList }: Typed) => !isList && type.startsWith('dateTime')

export type Parsed = { readonly value: Value } | { readonly wrong: WrongKind }
export type WrongKind =
  | 'required'
  | 'integer'
  | 'number'
  | 'boolean'
  | 'uuid'
  | 'date'
  | 'time'
  | 'dateTime'
  | 'zone'
  | 'json'
  | 'list'
  | 'choice'
  | 'exact'

const INTEGER = /^[+-]?\d+$/
const DECIMAL = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i
const NOT_FINITE = /^(NaN|-?Infinity)$/
const DATE = /^([+-]\d{6,}|\d{4})-\d\d-\d\d$/
const TIME = /^-?\d{2,3}:\d\d(:\d\d(\.\d{1,9})?)?$/
const ENDLESS = /^-?infinity$/
const ZONE = /(Z|[+-]\d\d:?\d\d)$/i
const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i

/** The value of what was typed. An empty text is null, but for texts and where null is not allowed. */
export function parse(field: Shape, typed: string): Parsed {
  const text = typed.trim()
  if (text === '' && (field.type !== 'string' || field.isList || field.values.length > 0))
    return field.isNullable ? { value: null } : { wrong: 'required' }
  if (field.isList || field.type === 'json') return parseJson(text, field.isList)
  if (field.values.length > 0) return field.values.includes(typed) ? { value: typed } : { wrong: 'choice' }
  return parseScalar(field.type, typed, text)
}

function parseScalar(type: string, typed: string, text: string): Parsed {
  const held = (fits: boolean, value: Value, wrong: WrongKind): Parsed => (fits ? { value } : { wrong })
  if (/^u?int(8|16|32)$/.test(type)) {
    return held(INTEGER.test(text) && Number.isSafeInteger(Number(text)), Number(text), 'integer')
  }
  switch (type) {
    case 'int64':
    case 'uint64':
      return held(INTEGER.test(text), text, 'integer')
    case 'float32':
    case 'float64':
      if (NOT_FINITE.test(text)) return { value: text }
      return held(DECIMAL.test(text) && Number.isFinite(Number(text)), Number(text), 'number')
    case 'decimal':
      return held(DECIMAL.test(text) || NOT_FINITE.test(text), text, 'number')
    case 'boolean':
      return held(/^(true|false)$/i.test(text), text.toLowerCase() === 'true', 'boolean')
    case 'uuid':
      return held(UUID.test(text), text, 'uuid')
    case 'date':
      return held(DATE.test(text) || ENDLESS.test(text), text, 'date')
    case 'time':
      return held(TIME.test(text), text, 'time')
    case 'dateTime':
      return held((DATE_TIME.test(text) && !ZONE.test(text.slice(10))) || ENDLESS.test(text), withT(text), 'dateTime')
    case 'dateTimeWithTimezone':
      return held((DATE_TIME.test(text) && ZONE.test(text.slice(10))) || ENDLESS.test(text), withT(text), 'zone')
    default:
      return { value: typed }
  }
}

const withT = (text: string) => text.replace(' ', 'T')

function parseJson(text: string, isList: boolean): Parsed {
  let value: Value
  try {
    value = JSON.parse(text)
  } catch {
    return { wrong: isList ? 'list' : 'json' }
  }
  if (isList && !Array.isArray(value)) return { wrong: 'list' }
  return isExact(value) ? { value } : { wrong: 'exact' }
}

/** Whether no number within can have lost digits on its way through the browser, which counts in 64-bit floating point. */
export function isExact(value: Value): boolean {
  if (typeof value === 'number') return digitsOf(value) <= 15
  if (typeof value !== 'object' || value === null) return true
  return Object.values(value).every(isExact)
}

/** Whether what a field has can be written back as it was read. Only JSON has numbers of any length; others come as texts. */
export function isKept({ type }: Pick<FieldModel, 'type'>, value: Value): boolean {
  return type !== 'json' || isExact(value)
}

function digitsOf(value: number): number {
  const [digits = ''] = String(Math.abs(value)).split('e')
  return digits.replace('.', '').replace(/^0+/, '').length
}

/** By a name that others have given, such as `constructor`, which every object inherits. */
export function ownOf<T>(of: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(of, name) ? of[name] : undefined
}

export function isSame(one: Value, other: Value): boolean {
  return JSON.stringify(one ?? null) === JSON.stringify(other ?? null)
}

/** Beside values of these types a shape is told, since it cannot be guessed. */
export const shapes: Readonly<Record<string, string>> = {
  date: 'YYYY-MM-DD',
  time: 'HH:MM:SS',
  dateTime: 'YYYY-MM-DDTHH:MM:SS',
  dateTimeWithTimezone: 'YYYY-MM-DDTHH:MM:SSZ',
}
