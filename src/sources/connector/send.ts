/** The single request of a write: its inputs, and the rows that it returns. */
import { keyValues } from '../../core/connector/by-key.ts'
import type { ConnectorFilter, Key, QueryRequest } from '../../core/connector/protocol.ts'
import { type DeclaredCollection, pushFilter, requireOperation } from '../../core/connector/push-down.ts'
import type { Collection, PrimitiveField } from '../../core/model/model.ts'
import type { Selection } from '../../core/plan/plan.ts'
import { projectedFields } from '../../core/plan/project-row.ts'
import type { Row } from '../../core/query/evaluate.ts'
import { all, type Filter } from '../../core/query/filter.ts'
import { requireTerm } from '../../core/sql/begin/plan-term.ts'
import type { ReadOptions } from '../source.ts'
import { address, type ConnectorSourceDeps, distinct, rowOf } from './read.ts'

/** Values by the connector's own field names. */
export type Data = Readonly<Record<string, unknown>>

/** The idempotency key is sent if the collection declares support for it. */
export type Sending = ConnectorSourceDeps & Pick<ReadOptions, 'idempotencyKey' | 'onSend' | 'term'>

/** The items of a write: one by its key, or all that match a filter. */
export type Target =
  | { readonly kind: 'key'; readonly key: Key; readonly unchanged?: Data | undefined }
  | { readonly kind: 'filter'; readonly filter: Filter }
  /** Previously read rows, by their keys. */
  | { readonly kind: 'found'; readonly filter: ConnectorFilter }

export type Write =
  | { readonly kind: 'create'; readonly rows: readonly Data[] }
  | { readonly kind: 'update'; readonly target: Target; readonly data: Data }
  | { readonly kind: 'delete'; readonly target: Target }

/** Sends the one request of a write and returns the written rows. */
export async function send(
  { ask, capabilities, idempotencyKey, onSend, term }: Sending,
  collection: Collection,
  selection: Selection,
  write: Write,
): Promise<readonly Row[]> {
  const declared: DeclaredCollection = { collection, capabilities: await capabilities(collection) }
  const key = keyAfter(write)
  const fields = distinct([...projectedFields(selection), ...key.map(({ field }) => field)])
  const request = requestOf(declared, fields, write)
  if (request === undefined) return []
  const isPassedOn = idempotencyKey !== undefined && declared.capabilities.idempotent
  if (term?.isOver()) await requireTerm(term)
  onSend?.()
  const { records } = await ask(isPassedOn ? { ...request, idempotencyKey } : request, fields, { key })
  return records.map(rowOf)
}

/** The key values that the written row must have; empty for several rows. */
function keyAfter(write: Write): Key {
  if (write.kind === 'create' || write.target.kind !== 'key') return []
  const assigned = write.kind === 'update' ? write.data : {}
  return write.target.key.filter(({ field }) => !(field.dbName in assigned))
}

/** Returns undefined if nothing can match. */
function requestOf(
  declared: DeclaredCollection,
  fields: readonly PrimitiveField[],
  write: Write,
): QueryRequest | undefined {
  const base = address(declared.collection, fields)
  if (write.kind === 'create') {
    return { ...base, operation: requireOperation(declared, 'createMany'), data: write.rows }
  }
  const { kind, target } = write
  const data = kind === 'update' ? { data: write.data } : {}
  if (target.kind === 'key') {
    const operation = requireOperation(declared, kind === 'update' ? 'updateOne' : 'deleteOne')
    const { unchanged } = target
    return { ...base, operation, key: keyValues(target.key), ...data, ...(unchanged !== undefined && { unchanged }) }
  }
  const operation = requireOperation(declared, kind === 'update' ? 'updateMany' : 'deleteMany')
  if (target.kind === 'found') return { ...base, operation, filter: target.filter, ...data }
  const pushed = pushFilter(declared, target.filter)
  if (pushed.kind === 'nothing') return undefined
  return { ...base, operation, ...(pushed.kind === 'filter' && { filter: pushed.filter }), ...data }
}

export function selected(fields: readonly PrimitiveField[]): Selection {
  return fields.map((field) => ({ kind: 'field', name: field.dbName, field, visible: all }))
}
