/** Integers by their ranges, floats, and decimals by their digits: the grammar of each, and its canonical text. */

import type { ServiceError } from '../../error.ts'
import { isRawNumber, withPlainNumbers } from '../../exact-json.ts'
import { shortName } from '../../message-text.ts'
import { withoutTrailing } from '../../trailing.ts'
import type { Decoded, Fault, Params } from './decoded.ts'

type IntegerRange = {
  /** Limits for integers that JSON numbers represent exactly. */
  readonly low: number
  readonly high: number
  /** Digits of the lowest and highest value, for texts of any length. */
  readonly lowDigits: string
  readonly highDigits: string
  readonly fault: Fault
}

export const integers = {
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

export function integerFromNumber(range: IntegerRange, value: number): Decoded {
  if (!Number.isInteger(value) || value < range.low || value > range.high) return range.fault
  return Number.isSafeInteger(value) ? { ok: String(value) } : inexactNumber
}

export function integerFromText(range: IntegerRange, text: string): Decoded {
  if (!integerText.test(text)) return range.fault
  const isNegative = text.startsWith('-')
  const digits = withoutLeadingZeros(isNegative ? text.slice(1) : text)
  if (digits === '0') return { ok: digits }
  const limit = isNegative ? range.lowDigits : range.highDigits
  // Digits of equal length without leading zeros compare as text.
  if (digits.length > limit.length || (digits.length === limit.length && digits > limit)) return range.fault
  return { ok: isNegative ? `-${digits}` : digits }
}

export function decodeFloat(name: 'float32' | 'float64', value: number): Decoded {
  if (!Number.isFinite(value)) return floatOutOfRange
  if (name === 'float32') {
    const single = Math.fround(value)
    // PostgreSQL refuses values too small for a single as well as values too large.
    if (!Number.isFinite(single) || (single === 0 && value !== 0)) return floatOutOfRange
  }
  return { ok: Object.is(value, -0) ? '-0' : String(value) }
}

/** Of a number as JavaScript writes it, also with an exponent. */
export function digitsAfterPoint(text: string): number {
  const [mantissa = '', exponent = '0'] = text.split('e')
  return (mantissa.split('.')[1]?.length ?? 0) - Number(exponent)
}

/** Values of PostgreSQL's numbers that JSON has no numbers for. */
export function decodeNamed(value: unknown, fault: Fault): Decoded {
  return value === 'NaN' || value === 'Infinity' || value === '-Infinity' ? { ok: value } : fault
}

export function decodeDecimal(params: Params<'decimal'>, value: unknown): Decoded {
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
  return withoutTrailing(mantissa.replace(/[-.]/g, '').replace(/^0+/, ''), '0').length
}

/** Whether JavaScript writes the number as which it reads this one in the same digits, wherever their point is. */
function isKept(text: string): boolean {
  return scaled(String(Number(text))) === scaled(text)
}

/** The digits of a number without zeros at either end, and the power of ten behind them; of 0 none. */
function scaled(text: string): string {
  const [mantissa = '', exponent = '0'] = text.split(/e/i)
  const [whole = '', fraction = ''] = mantissa.split('.')
  const all = `${whole}${fraction}`
  const digits = withoutTrailing(all, '0')
  const power = Number(exponent) - fraction.length + all.length - digits.length
  const significant = digits.replace(/^(-?)0+/, '$1')
  return significant === '' || significant === '-' ? '' : `${significant}e${power}`
}

const EXACT_DIGITS = 15

/** All digits are written out, by PostgreSQL in JSON as well, so that a few bytes would become gigabytes. */
const MAX_EXPONENT = 1_000

export function hasLargeExponent(number: string): boolean {
  const at = number.search(/e/i)
  return at !== -1 && Math.abs(Number(number.slice(at + 1))) > MAX_EXPONENT
}

function decimalFromText(params: Params<'decimal'>, text: string): Decoded {
  if (!decimalText.test(text)) return decodeNamed(text, notDecimal)
  const isNegative = text.startsWith('-')
  const [wholeText = '', fractionText = ''] = (isNegative ? text.slice(1) : text).split('.')
  const before = params.kind === 'constrained' ? params.precision - params.scale : MAX_DIGITS_BEFORE
  const after = params.kind === 'constrained' ? params.scale : MAX_DIGITS_AFTER
  const whole = withoutLeadingZeros(wholeText)
  const fraction = fractionText.slice(0, Math.max(after, 0))
  // A scale below zero rounds whole digits, one above the precision leaves only the last of the fraction.
  const rounded = after < 0 && whole !== '0' ? whole.slice(after) : ''
  const left = before < 0 ? fraction.slice(0, -before) : ''
  if (!onlyZeros.test(rounded + left))
    return {
      fault: after < 0 ? `must be a multiple of 1${'0'.repeat(-after)}` : `must begin with 0.${'0'.repeat(-before)}`,
    }
  // Trailing zeros beyond the scale can be dropped without rounding.
  if (
    (whole === '0' ? 0 : whole.length) > Math.max(before, 0) ||
    !onlyZeros.test(fractionText.slice(fraction.length))
  ) {
    return {
      fault: `must have at most ${Math.max(before, 0)} digits before and ${Math.max(after, 0)} after the decimal point`,
    }
  }
  const sign = isNegative && !(whole === '0' && onlyZeros.test(fraction)) ? '-' : ''
  return { ok: fraction === '' ? sign + whole : `${sign}${whole}.${fraction}` }
}

function withoutLeadingZeros(digits: string): string {
  let start = 0
  while (start < digits.length - 1 && digits.charCodeAt(start) === ZERO) start++
  return start === 0 ? digits : digits.slice(start)
}

export const ZERO = 48

/** The limits of an unconstrained numeric in PostgreSQL. */
const MAX_DIGITS_BEFORE = 131_072
const MAX_DIGITS_AFTER = 16_383
const integerText = /^-?[0-9]+$/
const decimalText = /^-?[0-9]+(?:\.[0-9]+)?$/
export const jsonNumber = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/
const onlyZeros = /^0*$/
export const notNumber: Fault = { fault: 'must be a number' }
const floatOutOfRange: Fault = { fault: 'is out of range' }
const inexactNumber: Fault = { fault: 'must be a string: as a JSON number it is not exact' }
const notDecimal: Fault = { fault: 'must be a decimal string or a number' }

/** The first number in a JSON value that JavaScript would round, and where it stands below `path`. */
export function changedNumber(
  value: unknown,
  path: readonly PropertyKey[] = [],
): { readonly path: readonly PropertyKey[]; readonly number: string } | undefined {
  if (isRawNumber(value)) return isKept(value.rawJSON) ? undefined : { path, number: shortName(value.rawJSON) }
  if (typeof value !== 'object' || value === null) return undefined
  for (const [name, one] of Object.entries(value)) {
    const changed = changedNumber(one, [...path, Array.isArray(value) ? Number(name) : name])
    if (changed !== undefined) return changed
  }
  return undefined
}

/** A JSON value with its numbers as JavaScript reads them. Throws what `faultAt` makes of the place of one that it would round. */
export function keptNumbers(
  value: unknown,
  faultAt: (path: readonly PropertyKey[], reason: string) => ServiceError,
): unknown {
  const changed = changedNumber(value)
  if (changed === undefined) return withPlainNumbers(value)
  throw faultAt(changed.path, `is a number that would be rounded: ${changed.number}`)
}
