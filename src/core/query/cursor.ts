/**
 * Cursors: a position in an order, as base64url of the JSON `[1, digest of the order, value of each term…]`. They are not
 * signed, because they contain no more than a filter that the caller may write (docs/contract.md#keyset-pages).
 */
import type { ServiceError } from '../error.ts'
import { isRawNumber, parseExactJson } from '../exact-json.ts'
import { oversizedJson } from '../json-limits.ts'
import { decodeJson } from '../model/codec.ts'
import type { FieldType } from '../model/field-type.ts'
import { type Cursor, queryFault } from './parse.ts'

/** The version of the format, with which every cursor begins. */
const VERSION = 1
const DIGEST = /^[0-9a-z]{1,11}$/
/** Maximum number of values: more than a sort and any key have, plus version and digest. */
const MAX_VALUES = 102
const bounds = { depth: 2, members: 0, values: MAX_VALUES, containers: MAX_VALUES }

/** Undefined for a text that is not a cursor. */
export function readCursor(text: string): Cursor | undefined {
  if (!/^[A-Za-z0-9_-]+$/.test(text)) return undefined
  try {
    const json = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytesOf(text))
    // A body may contain a cursor of megabytes, and parsing takes a microsecond for each number.
    if (oversizedJson(json, bounds) !== undefined) return undefined
    const sent = parseExactJson(json)
    const [version, digest, ...values]: readonly unknown[] = Array.isArray(sent) ? sent : []
    return version === VERSION && typeof digest === 'string' && DIGEST.test(digest) ? { digest, values } : undefined
  } catch {
    return undefined
  }
}

function bytesOf(text: string): Uint8Array {
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'))
  const bytes = new Uint8Array(binary.length)
  for (let index = 0; index < binary.length; index += 1) bytes[index] = binary.charCodeAt(index)
  return bytes
}

/** Encodes JSON text that a database has rendered as a cursor. */
export function writeCursor(json: string): string {
  const bytes = new TextEncoder().encode(json)
  const binary = Array.from(bytes, (byte) => String.fromCharCode(byte)).join('')
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

/** The beginning of the JSON text of every cursor of an order. */
export function cursorHead(digest: string): string {
  return `[${VERSION},${JSON.stringify(digest)},`
}

/** Which values of a cursor are null, as digits: the statement depends on it. */
export function nullPattern({ values }: Cursor): string {
  return values.map((value) => (value === null ? '0' : '1')).join('')
}

/** The database text of one value of a cursor; throws 422 for a value that does not fit its type. */
export function readValue(
  { values }: Cursor,
  { type, at, path }: { readonly type: FieldType; readonly at: number; readonly path: string },
): string {
  const value = values[at]
  if (type.name === 'string' && typeof value === 'object') {
    throw queryFault(path, 'stands at a text of more than 250 characters, which this database does not sort by', '4010')
  }
  const text = textOf(type, value)
  if (text === undefined) throw notACursor(path)
  return text
}

export function notACursor(place: string): ServiceError {
  return queryFault(place, 'is not a cursor of this list')
}

/**
 * The database text of a cursor's value; undefined if the value does not fit its type. A number is accepted for types that a
 * database sorts by number but shows differently, such as `tinyint(1)` and enums.
 */
function textOf(type: FieldType, value: unknown): string | undefined {
  const isByNumber = type.name === 'boolean' || type.name === 'string'
  if (isByNumber && typeof value === 'number') return Number.isSafeInteger(value) ? String(value) : undefined
  if (isByNumber && isRawNumber(value)) return undefined
  const decoded = decodeJson(type, false, value)
  return 'fault' in decoded ? undefined : decoded.ok
}

/** The cursor value of a text that is too long for its database to sort by completely. */
export const TOO_LONG = '{}'

/** Distinguishes orders; not collision-resistant, because a wrong cursor gains nothing. */
export function digestOf(text: string): string {
  let low = 0xdeadbeef
  let high = 0x41c6ce57
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index)
    low = Math.imul(low ^ code, 2_654_435_761)
    high = Math.imul(high ^ code, 1_597_334_677)
  }
  low = Math.imul(low ^ (low >>> 16), 2_246_822_507) ^ Math.imul(high ^ (high >>> 13), 3_266_489_909)
  high = Math.imul(high ^ (high >>> 16), 2_246_822_507) ^ Math.imul(low ^ (low >>> 13), 3_266_489_909)
  return (4_294_967_296 * (2_097_151 & high) + (low >>> 0)).toString(36)
}
