/**
 * The key of one item (docs/contract.md#keys-in-addresses): parses it from a path segment or from a value in a body, and builds
 * the filter for it.
 */
import { type Granted, visibility } from '../access/access.ts'
import { nested } from '../error.ts'
import { QUERY_FAILED } from '../error-codes.ts'
import { isRawNumber } from '../exact-json.ts'
import { isObject } from '../json-object.ts'
import { decodeText } from '../model/codec.ts'
import type { Collection, PrimitiveField } from '../model/model.ts'
import { and, type Filter, none } from '../query/filter.ts'
import { queryFault } from '../query/parse.ts'
import type { Operand } from '../query/placeholder.ts'
import { fieldEquals } from './names.ts'

/** A key as sent. A path segment is percent-encoded; a value is that of the only field, or an object of all fields. */
export type SentKey =
  | { readonly kind: 'segment'; readonly text: string }
  | { readonly kind: 'value'; readonly value: unknown }

/** The fields of the key in order; throws 404 for a collection whose items have no address. */
export function keyFields({ apiName, key }: Collection): readonly PrimitiveField[] {
  if (key.length > 0) return key
  throw nested('notFound', [QUERY_FAILED, `${apiName} has no key that an address can name`])
}

/** The texts of the key's fields; throws 422 for an invalid key. */
export function decodeKey(fields: readonly PrimitiveField[], sent: SentKey): readonly string[] {
  const parts = sent.kind === 'segment' ? partsOf(sent.text, fields.length) : valuesOf(sent.value, fields)
  return fields.map(({ type }, position) => {
    const part = parts[position] ?? ''
    const decoded = decodeText(type, type.name === 'bytes' ? paddedBase64(part) : part)
    if ('ok' in decoded) return decoded.ok
    throw keyFault(fields.length === 1 ? decoded.fault : `part ${position + 1} ${decoded.fault}`)
  })
}

/** A key that the caller cannot read matches nothing. */
export function keyEquals(access: Granted, fields: readonly PrimitiveField[], operands: readonly Operand[]): Filter {
  return and(
    fields.map((field, position) => {
      const visible = visibility(access, field)
      return visible === undefined ? none : fieldEquals(field, visible, operands[position] ?? '')
    }),
  )
}

/** A key of one field may contain commas; in a longer key they separate the parts. */
function partsOf(segment: string, count: number): readonly string[] {
  if (count === 1) return [unquoted(percentDecoded(segment))]
  const parts: string[] = []
  let open: string | undefined
  for (const piece of segment.split(',')) {
    const text: string = open === undefined ? percentDecoded(piece) : `${open},${percentDecoded(piece)}`
    open = text.startsWith('"') && !quoted.test(text) ? text : undefined
    if (open === undefined) parts.push(unquoted(text))
  }
  if (open !== undefined) return [unquoted(open)]
  if (parts.length === count) return parts
  throw keyFault(`must have ${count} parts separated by commas, as the primary key has fields`)
}

const quoted = /^"(?:[^"]|"")*"$/

function unquoted(text: string): string {
  if (!text.startsWith('"')) return text
  if (quoted.test(text)) return text.slice(1, -1).replaceAll('""', '"')
  throw keyFault('has a quoted part without an end: a part that begins with " ends with one, and "" inside is one')
}

function percentDecoded(text: string): string {
  if (!text.includes('%')) return text
  try {
    return decodeURIComponent(text)
  } catch {
    throw keyFault('is not valid percent-encoding of UTF-8')
  }
}

function valuesOf(value: unknown, fields: readonly PrimitiveField[]): readonly string[] {
  if (!isObject(value)) {
    if (fields.length === 1) return [textOf(value)]
    throw keyFault('must be an object of the fields of the primary key')
  }
  const names = fields.map(({ apiName }) => apiName)
  if (Object.keys(value).length !== names.length || !names.every((name) => Object.hasOwn(value, name))) {
    throw keyFault('must have the fields of the primary key and no others')
  }
  return names.map((name) => textOf(value[name]))
}

/** The values of a key by field; undefined for an object with other members. */
export function namedValues(
  fields: readonly PrimitiveField[],
  value: unknown,
): ReadonlyMap<PrimitiveField, unknown> | undefined {
  const [only, ...others] = fields
  const isNamed = isObject(value) && fields.every(({ apiName }) => Object.hasOwn(value, apiName))
  if (isNamed && Object.keys(value).length === fields.length) {
    return new Map(fields.map((field) => [field, value[field.apiName]]))
  }
  return only !== undefined && others.length === 0 ? new Map([[only, value]]) : undefined
}

function textOf(value: unknown): string {
  if (isRawNumber(value)) return value.rawJSON
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return String(value)
  throw keyFault('must hold texts and numbers')
}

/** Accepts base64 with padding, as in items, and base64url. */
function paddedBase64(text: string): string {
  const standard = text.replaceAll('-', '+').replaceAll('_', '/')
  return standard.padEnd(Math.ceil(standard.length / 4) * 4, '=')
}

function keyFault(reason: string) {
  return queryFault('key', reason)
}
