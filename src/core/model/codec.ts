/**
 * Converts wire values (JSON bodies, query strings) to parameter texts in one canonical form, or returns a fault. Owns
 * the rules on values (docs/contract.md#values): exact or refused, never rounded, cut or guessed. Which grammar a type
 * has is decided here; the grammars are in the folder beside this file.
 */
import { plainNumber } from '../exact-json.ts'
import { isObject } from '../json-object.ts'
import { decodeDate, decodeDateTime, decodeDateTimeWithTimezone, decodeTime } from './codec/date-time.ts'
import type { Decoded, Fault } from './codec/decoded.ts'
import { decodeGeometry, notGeometry } from './codec/geometry.ts'
import {
  decodeDecimal,
  decodeFloat,
  decodeNamed,
  digitsAfterPoint,
  integerFromNumber,
  integerFromText,
  integers,
  jsonNumber,
  notNumber,
} from './codec/number.ts'
import { decodeJsonValue, decodeString, jsonOrText } from './codec/text.ts'
import type { FieldType } from './field-type.ts'
import type { ColumnShape } from './model.ts'

const MAX_LIST_LENGTH = 10_000
const MAX_DIMENSIONS = 6

/** Canonical texts of a list's elements; with several dimensions they are lists of equal lengths. */
export type ListTexts = readonly (string | null | ListTexts)[]

/** Decodes a value of a JSON body; callers handle null. A list becomes the JSON text of `ListTexts`. */
export function decodeJson(type: FieldType, isList: boolean, value: unknown): Decoded {
  if (!isList) return decodeScalar(type, value)
  if (!Array.isArray(value)) return notList
  const lengths = lengthsOf(type, value)
  if (lengths.length > MAX_DIMENSIONS) return { fault: `must have at most ${MAX_DIMENSIONS} dimensions` }
  if (lengths.reduce((all, length) => all * length) > MAX_LIST_LENGTH) return listTooLong
  const decoded = decodeList(type, value, { lengths, at: 'element ' })
  return 'fault' in decoded ? decoded : { ok: JSON.stringify(decoded.ok) }
}

/** Like `decodeJson`, and a number has no digits that its column would round. */
export function decodeValue({ type, isList, native }: ColumnShape, value: unknown): Decoded {
  const decoded = decodeJson(type, isList, value)
  const scale = native?.scale
  if (scale === undefined || 'fault' in decoded || digitsAfterPoint(decoded.ok) <= scale) return decoded
  return { fault: `must have at most ${scale} digits after the decimal point` }
}

/** From the outside in, as the first elements have them. An array of a JSON type is a value, no dimension. */
function lengthsOf(type: FieldType, list: readonly unknown[]): readonly number[] {
  const lengths = [list.length]
  if (type.name === 'json') return lengths
  for (let [inner] = list; Array.isArray(inner); [inner] = inner) lengths.push(inner.length)
  return lengths
}

/** `lengths` are those of the list and below, `at` begins the place of an element. */
function decodeList(
  type: FieldType,
  list: readonly unknown[],
  { lengths: [, ...lengths], at }: { readonly lengths: readonly number[]; readonly at: string },
): { readonly ok: ListTexts } | Fault {
  const [length] = lengths
  const texts: (string | null | ListTexts)[] = []
  for (const [index, element] of list.entries()) {
    const place = `${at}${index}`
    if (length === undefined) {
      const decoded = element === null ? { ok: null } : decodeScalar(type, element)
      if ('fault' in decoded) return { fault: `${place} ${decoded.fault}` }
      texts.push(decoded.ok)
      continue
    }
    if (length === 0) return { fault: `${place} must not be empty` }
    if (!Array.isArray(element) || element.length !== length)
      return { fault: `${place} must be an array of length ${length}, as the others` }
    const inner = decodeList(type, element, { lengths, at: `${place}.` })
    if ('fault' in inner) return inner
    texts.push(inner.ok)
  }
  return { ok: texts }
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
