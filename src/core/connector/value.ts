/**
 * Checks the values of a connector's records against the declared types, and converts them to the canonical texts that
 * the core uses.
 */
import { exceedsLimits } from '../json-limits.ts'
import { MAX_JSON_DEPTH } from '../model/codec/text.ts'
import { decodeJson, describeType } from '../model/codec.ts'
import type { FieldType } from '../model/field-type.ts'

export type ValueField = { readonly type: FieldType; readonly isList: boolean; readonly isNullable: boolean }

/**
 * A record's value as canonical text (for a list: the text of a JSON array of texts), or the message of
 * docs/contract.md#breaches-of-the-protocol.
 */
export type ValueResult = { readonly text: string | null } | { readonly fault: string }

export function readValue({ type, isList, isNullable }: ValueField, value: unknown): ValueResult {
  if (value === null) return isNullable ? { text: null } : mismatch(type, value)
  if (!isList) return readScalar(type, value)
  if (!Array.isArray(value)) return { fault: 'Expected an array for a list-typed field' }
  const texts: (string | null)[] = []
  for (const element of value as readonly unknown[]) {
    const reading = element === null ? { text: null } : readScalar(type, element)
    if ('fault' in reading) return reading
    texts.push(reading.text)
  }
  return { text: JSON.stringify(texts) }
}

function readScalar(type: FieldType, value: unknown): ValueResult {
  // Any JSON value is valid in answers; only input must not be a string that encodes an object or array.
  if (type.name === 'json') {
    if (value === undefined) return mismatch(type, value)
    const excess = exceedsLimits(value, { depth: MAX_JSON_DEPTH })
    return excess === undefined ? { text: JSON.stringify(value) } : { fault: `A value of the type json ${excess}` }
  }
  const isFraction = type.name === 'decimal' && typeof value === 'number' && !Number.isInteger(value)
  const decoded = decodeJson(type, false, isFraction ? plainDigits(value) : value)
  return 'fault' in decoded ? mismatch(type, value) : { text: decoded.ok }
}

/** The shortest decimal text of a fraction; numbers that need an exponent stay numbers, which no decimal accepts. */
function plainDigits(value: number): unknown {
  const text = String(value)
  return /^-?\d+\.\d+$/.test(text) ? text : value
}

function mismatch(type: FieldType, value: unknown): ValueResult {
  return { fault: `Expected a value matching ${describeType(type)}, got a ${kindOf(value)}` }
}

export function kindOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}
