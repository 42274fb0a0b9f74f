/**
 * Reads through a connector: many rows by a filter, or one by key. Refuses undeclared operations and operators.
 */
import { bindFilter, keyFilter, keyFromFilter, keyValues } from '../../core/connector/by-key.ts'
import type { ConnectorRecord, Key, QueryAnswer, QueryRequest } from '../../core/connector/protocol.ts'
import {
  allOf,
  type DeclaredCollection,
  pushFilter,
  pushKeys,
  pushOrder,
  requireOperation,
} from '../../core/connector/push-down.ts'
import type { Capabilities } from '../../core/connector/schema.ts'
import type { Collection, PrimitiveField } from '../../core/model/model.ts'
import type { ReadPlan, Selection } from '../../core/plan/plan.ts'
import { projectedFields } from '../../core/plan/project-row.ts'
import { evaluate, filterFields, type Row } from '../../core/query/evaluate.ts'
import type { Filter } from '../../core/query/filter.ts'
import { queryFault } from '../../core/query/parse.ts'
import type { Bindings } from '../../core/query/placeholder.ts'
import type { TagOf } from '../../ports/ports.ts'
import type { ReadOptions } from '../source.ts'
import { cursorFields, pushWalk } from './walk.ts'

/**
 * Calls the connector and parses its answer, in which every record must have `key`. Throws ServiceError `Query failed`, or the
 * reason why the connector cannot be called.
 */
export type Ask = (
  request: QueryRequest,
  fields: readonly PrimitiveField[],
  options?: ReadOptions & { readonly key?: Key },
) => Promise<QueryAnswer>

export type ConnectorSourceDeps = {
  readonly ask: Ask
  /** Returns what a collection declares; throws if the source does not know it. */
  readonly capabilities: (collection: Collection) => Promise<Capabilities>
  readonly tagOf: TagOf
}

/** Selects rows by a filter whose operands are all known. */
export type ConnectorRead = {
  readonly collection: Collection
  readonly where: Filter
  readonly selection: Selection
  readonly page?: ReadPlan['page']
  readonly count?: boolean
  /** Limits the rows to those with one of these field values; set for internal look-ups. */
  readonly keys?: ReadPlan['keys']
}

export type ConnectorReads = {
  many(
    wanted: ConnectorRead,
    options?: ReadOptions,
  ): Promise<{ readonly rows: readonly Row[]; readonly count: number | undefined }>
  /** Reads by the key in the filter and checks the rest of the filter; without a key, reads all its rows. */
  byKey(wanted: ConnectorRead, options?: ReadOptions): Promise<readonly Row[]>
}

/** Maximum rows; the same limit applies to the answer of a single write. */
const MAX_ROWS = 10_000

/** Creates the reads of a connector-backed source. */
export function createConnectorReads(deps: ConnectorSourceDeps): ConnectorReads {
  const { ask, capabilities } = deps

  async function many(wanted: ConnectorRead, options?: ReadOptions) {
    const { collection, selection, page, keys, count = false } = wanted
    const declared: DeclaredCollection = { collection, capabilities: await capabilities(collection) }
    requireOperation(declared, 'readMany')
    const pushed = pushFilter(declared, wanted.where)
    const offset = page?.offset ?? 0
    const { sort, after, limit } = pushPage(declared, page)
    const { capabilities: offered } = declared
    if (count && !offered.count) throw queryFault('meta', 'totalCount is not declared by the data source', '4010')
    if (offset > 0 && !offered.offset) throw queryFault('offset', 'is not declared by the data source', '4010')
    if (pushed.kind === 'nothing') return { rows: [], count: count ? 0 : undefined }
    const filters = [
      ...(keys === undefined ? [] : [pushKeys(declared, keys.field, keys.values)]),
      ...(pushed.kind === 'filter' ? [pushed.filter] : []),
    ]
    const fields = [...projectedFields(selection), ...cursorFields(page)]
    const filter = allOf(filters)
    const request: QueryRequest = {
      ...address(collection, fields),
      operation: 'readMany',
      ...(filter !== undefined && { filter }),
      ...(sort !== undefined && { sort }),
      limit,
      ...(offset > 0 && { offset }),
      ...(after !== undefined && { after }),
      ...(count && { count: true }),
    }
    const answer = await ask(request, distinct(fields), options)
    return { rows: answer.records.map(rowOf), count: count ? answer.count : undefined }
  }

  return {
    many,
    async byKey(wanted, options) {
      const { collection, selection, where } = wanted
      const named = keyFromFilter(collection, where)
      if (named === undefined) return (await many(wanted, options)).rows
      const declared: DeclaredCollection = { collection, capabilities: await capabilities(collection) }
      const operation = requireOperation(declared, 'readOne', 'readMany')
      const fields = [...projectedFields(selection), ...filterFields(named.rest), ...collection.primaryKey]
      const base = { ...address(collection, fields), operation }
      const request: QueryRequest =
        operation === 'readOne'
          ? { ...base, key: keyValues(named.key) }
          : { ...base, filter: keyFilter(named.key), limit: 1 }
      const { records } = await ask(request, distinct(fields), { ...options, key: named.key })
      return records.map(rowOf).filter((row) => evaluate(named.rest, row) === true)
    },
  }
}

/** Sort and limit of a page; with cursors, the limit is one row more than the page. */
function pushPage(declared: DeclaredCollection, page: ReadPlan['page']): ReturnType<typeof pushWalk> {
  if (page?.walk !== undefined) return pushWalk(declared, page, page.walk)
  return { sort: page && pushOrder(declared, page.order), limit: page?.limit ?? MAX_ROWS }
}

/** Binds the conditions under which each field is visible. */
export function bindSelection(selection: Selection, bindings: Bindings): Selection {
  return selection.map((selected) => {
    const visible = bindFilter(selected.visible, bindings)
    if (selected.kind !== 'tag') return { ...selected, visible }
    const shown = selected.shown.map((one) => ({ ...one, visible: bindFilter(one.visible, bindings) }))
    return { ...selected, visible, shown }
  })
}

/** Builds the members of a request that address the collection. */
export function address(collection: Collection, fields: readonly PrimitiveField[]) {
  return {
    collection: collection.dbName,
    ...(collection.schema !== undefined && { namespace: collection.schema }),
    fields: distinct(fields).map(({ dbName }) => dbName),
  }
}

/** Returns the fields without duplicates. */
export function distinct(fields: readonly PrimitiveField[]): readonly PrimitiveField[] {
  return [...new Map(fields.map((field) => [field.id, field])).values()]
}

/** Reads a record's values by field, null if absent. */
export function rowOf(record: ConnectorRecord): Row {
  return ({ dbName }) => record.get(dbName) ?? null
}
