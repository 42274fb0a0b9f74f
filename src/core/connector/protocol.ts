/**
 * The messages of the connector protocol: the request of `query`, and the valid answers of query, preflight and
 * testConnection (docs/contract.md#breaches-of-the-protocol). Checks run after the handler has returned, so a write
 * already made stays.
 */

import { ServiceError } from '../error.ts'
import { isObject } from '../json-object.ts'
import { shortName, truncate } from '../message-text.ts'
import type { PrimitiveField } from '../model/model.ts'
import type { ComparedType, ConnectorOperation } from '../model/vocabulary.ts'
import { mayBeEqual } from '../query/text-order.ts'
import { invalidResponse, MAX_MESSAGE } from './fault.ts'
import { MOST_PERMISSIONS, type Permission, permissionSchema } from './permission.ts'
import { invalidAnswer } from './schema.ts'
import { kindOf, readValue } from './value.ts'

export type ConnectorFilter =
  | { readonly and: readonly ConnectorFilter[] }
  | { readonly or: readonly ConnectorFilter[] }
  | { readonly not: ConnectorFilter }
  | ({ readonly field: string; readonly operator: string; readonly value: unknown } & Typed)

/** The type of the field where values compare otherwise than their JSON does. */
export type Typed = { readonly type?: ComparedType }

export type QueryRequest = {
  readonly operation: ConnectorOperation
  readonly collection: string
  readonly namespace?: string
  readonly fields: readonly string[]
  readonly filter?: ConnectorFilter
  readonly sort?: readonly (Typed & {
    readonly field: string
    readonly direction: 'asc' | 'desc'
    readonly nulls?: 'first' | 'last'
  })[]
  readonly limit?: number
  readonly offset?: number
  readonly after?: Readonly<Record<string, unknown>>
  readonly count?: true
  readonly key?: Readonly<Record<string, unknown>>
  readonly data?: unknown
  readonly unchanged?: Readonly<Record<string, unknown>>
  readonly idempotencyKey?: string
}

/** Names a field that is compared or sorted by, and its type where a comparison has to know it. */
export function typed({ dbName, type: { name } }: PrimitiveField): { readonly field: string } & Typed {
  switch (name) {
    case 'string':
    case 'boolean':
    case 'bytes':
    case 'geometry':
      return { field: dbName }
    case 'int8':
    case 'int16':
    case 'int32':
    case 'int64':
    case 'uint8':
    case 'uint16':
    case 'uint32':
    case 'uint64':
    case 'float32':
    case 'float64':
    case 'decimal':
    case 'json':
    case 'uuid':
    case 'date':
    case 'time':
    case 'dateTime':
    case 'dateTimeWithTimezone':
      return { field: dbName, type: name }
    default:
      return name satisfies never
  }
}

/** The values of a key, as canonical texts. */
export type Key = readonly { readonly field: PrimitiveField; readonly text: string }[]

/** Canonical texts by field name. */
export type ConnectorRecord = ReadonlyMap<string, string | null>

export type QueryAnswer = { readonly records: readonly ConnectorRecord[]; readonly count: number | undefined }

/**
 * Parses the answer to `request`, whose selected fields are `fields`. A look-up by key that finds nothing returns no
 * record; one that finds the record of another key than `key` is a fault.
 */
export function parseQueryAnswer(
  request: QueryRequest,
  fields: readonly PrimitiveField[],
  value: unknown,
  key: Key = [],
): QueryAnswer {
  const answer = readAnswer(request, fields, value)
  for (const record of answer.records) requireKey(key, record)
  return answer
}

function requireKey(key: Key, record: ConnectorRecord): void {
  const other = key.find(({ field, text }) => !mayBeEqual(field, record.get(field.dbName) ?? '', text))
  if (other === undefined) return
  throw invalidAnswer('query', `record has another ${other.field.dbName} than was asked for`)
}

function readAnswer(request: QueryRequest, fields: readonly PrimitiveField[], value: unknown): QueryAnswer {
  if (isKeyed(request.operation)) {
    const { record } = membersOf('query', value, { required: ['record'], optional: [] })
    return { records: record === null ? [] : [readRecord(fields, record, 'record')], count: undefined }
  }
  const { records, count } = membersOf('query', value, { required: ['records'], optional: ['count'] })
  if (!Array.isArray(records)) throw invalidAnswer('query', `records is a ${kindOf(records)}, expected an array`)
  if (count !== undefined && !(Number.isSafeInteger(count) && Number(count) >= 0)) {
    throw invalidAnswer('query', 'count is not a number of items')
  }
  if (request.count === true && count === undefined) throw invalidAnswer('query', 'missing field count')
  const expected = request.operation === 'createMany' && Array.isArray(request.data) ? request.data.length : undefined
  if (expected !== undefined && records.length !== expected) {
    throw invalidAnswer('query', `${records.length} records for ${expected} created items`)
  }
  if (request.limit !== undefined && records.length > request.limit) {
    throw invalidAnswer('query', `${records.length} records, expected ${request.limit} at most`)
  }
  return {
    records: records.map((record, index) => readRecord(fields, record, `records[${index}]`)),
    count: count === undefined ? undefined : Number(count),
  }
}

export function isKeyed(operation: ConnectorOperation): boolean {
  return operation === 'readOne' || operation === 'updateOne' || operation === 'deleteOne'
}

/** Only the selected fields are read; other members of a record are ignored. */
function readRecord(fields: readonly PrimitiveField[], record: unknown, path: string): ConnectorRecord {
  if (!isObject(record)) throw invalidAnswer('query', `${path} is a ${kindOf(record)}, expected an object`)
  const missing = fields.filter(({ dbName }) => record[dbName] === undefined).map(({ dbName }) => dbName)
  if (missing.length > 0) throw invalidResponse(`Missing selected field ${missing.join(', ')}`)
  return new Map(
    fields.map((field) => {
      const reading = readValue(field, record[field.dbName])
      if ('text' in reading) return [field.dbName, reading.text]
      throw invalidResponse('The extension returned a record that does not match its declared schema', reading.fault)
    }),
  )
}

export type PreflightAnswer =
  | { readonly kind: 'permissions'; readonly permissions: readonly Permission[] }
  /** An unreadable target, or a blank reason. */
  | { readonly kind: 'unreadable'; readonly error: ServiceError }

/** Throws `Invalid extension response` for an answer of another shape. */
export function parsePreflight(value: unknown): PreflightAnswer {
  const { permissions } = membersOf('preflight', value, { required: ['permissions'], optional: [] })
  if (!Array.isArray(permissions)) {
    throw invalidAnswer('preflight', `permissions is a ${kindOf(permissions)}, expected an array`)
  }
  if (permissions.length > MOST_PERMISSIONS) {
    throw invalidAnswer('preflight', `${permissions.length} permissions, expected ${MOST_PERMISSIONS} at most`)
  }
  const read: Permission[] = []
  for (const [index, item] of (permissions as readonly unknown[]).entries()) {
    const path = `permissions[${index}]`
    if (!isObject(item)) throw invalidAnswer('preflight', `${path} is a ${kindOf(item)}, expected an object`)
    const result = permissionSchema().safeParse(item)
    if (result.success) {
      read.push(result.data)
      continue
    }
    const [issue] = result.error.issues
    if (issue?.code === 'unrecognized_keys') {
      throw invalidAnswer('preflight', `unknown field ${issue.keys[0]}, expected permission or reason in ${path}`)
    }
    const detail = `${path}.${issue?.path.join('.')} ${issue?.message}`
    return { kind: 'unreadable', error: invalidAnswer('preflight', detail) }
  }
  return { kind: 'permissions', permissions: read }
}

export function asynchronousPreflight(): ServiceError {
  return invalidResponse('preflight must answer synchronously')
}

/** Returns undefined for a working connection. Throws for an answer of another shape than `{ok, message?}`. */
export function parseConnectionTest(value: unknown): ServiceError | undefined {
  const { ok, message } = membersOf('testConnection', value, { required: ['ok'], optional: ['message'] })
  if (typeof ok !== 'boolean') throw invalidAnswer('testConnection', `ok is a ${kindOf(ok)}, expected a boolean`)
  if (message !== undefined && typeof message !== 'string') {
    throw invalidAnswer('testConnection', `message is a ${kindOf(message)}, expected a string`)
  }
  if (ok) return undefined
  const reason =
    message === undefined ? 'the extension reports that the connection failed' : truncate(message, MAX_MESSAGE)
  return new ServiceError('invalid', message === undefined ? reason : `the extension returned an error: ${reason}`)
}

/** Checks the names of the handlers that `setup` returned; null where it returned no object. */
export function missingHandlers(names: readonly string[] | null): ServiceError | undefined {
  if (names === null) return invalidResponse('setup did not return a handler object')
  const missing = ['introspect', 'query'].filter((name) => !names.includes(name))
  return missing.length === 0 ? undefined : invalidResponse(`the connector returned no ${missing.join(', ')} handler`)
}

type Members = { readonly required: readonly string[]; readonly optional: readonly string[] }

function membersOf(handler: string, value: unknown, { required, optional }: Members): Record<string, unknown> {
  if (value === undefined || value === null) throw invalidResponse(`${handler} returned no value`)
  if (!isObject(value)) throw invalidAnswer(handler, `a ${kindOf(value)}, expected an object`)
  const known = [...required, ...optional]
  const unexpected = Object.keys(value).find((name) => !known.includes(name))
  if (unexpected !== undefined) {
    throw invalidAnswer(handler, `unknown field ${shortName(unexpected)}, expected ${known.join(' or ')}`)
  }
  const missing = required.find((name) => value[name] === undefined)
  if (missing !== undefined) throw invalidAnswer(handler, `missing field ${missing}`)
  return value
}
