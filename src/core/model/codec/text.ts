/** Strings, and JSON values with the strings in them: no character that some database cannot store. */
import { isRawNumber, parseExactJson } from '../../exact-json.ts'
import type { Decoded, Fault, Params } from './decoded.ts'
import { hasLargeExponent } from './number.ts'

export function decodeString(params: Params<'string'>, value: unknown): Decoded {
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

export function decodeJsonValue(value: unknown): Decoded {
  return jsonFault(value, 0) ?? { ok: JSON.stringify(value) }
}

export function jsonOrText(text: string): unknown {
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
  if (isRawNumber(value)) {
    const { rawJSON: number } = value
    return number.length > LONGEST_NUMBER || hasLargeExponent(number) ? infiniteNumber : undefined
  }
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

/** Characters of a number in JSON: PostgreSQL's has at most 16,383 digits behind the point, and an exponent makes a thousand more. */
const LONGEST_NUMBER = 15_000
/** Levels of a JSON value. */
export const MAX_JSON_DEPTH = 1_000
const infiniteNumber: Fault = { fault: 'must not contain a number out of range' }
const notJson: Fault = { fault: 'must be a JSON value' }
const jsonTooDeep: Fault = { fault: `must not be nested deeper than ${MAX_JSON_DEPTH} levels` }
