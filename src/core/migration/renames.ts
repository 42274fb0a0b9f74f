/**
 * Finds tables and columns that were renamed outside of the service, and renames their records before the comparison, so that
 * ids, API names, policies and relations stay. A rename is certain if the database's own ids prove it; otherwise it is only
 * offered.
 */
import { describeType } from '../model/codec.ts'
import type {
  CollectionRecord,
  ModelRecords,
  NamespaceRecord,
  PrimitiveFieldRecord,
  SourceRecord,
} from '../model/model.ts'
import type { Parts } from '../parts.ts'
import { type CatalogIds, clusterOf, keyOf, type LocatedCollection, locatedCollections } from '../sql/catalog-ids.ts'
import type { Change, SourceChange, TableRef } from '../sql/ddl/change.ts'
import type { SourceSchema, SourceTable } from '../sql/source-schema.ts'
import { tableName } from '../sql/table-choice.ts'
import { ledgerOf } from '../sql/write/ledger-table.ts'
import type { SchemaOperation } from './diff/context.ts'
import { findMoves } from './moves.ts'

/** Tables are `schema.table`, columns `schema.table.column`. */
export type RenamedFrom = { readonly from: string; readonly to: string }
export type Rename = RenamedFrom & { readonly certain: boolean }

export type RenameDiff = {
  readonly records: ModelRecords
  readonly operations: readonly SchemaOperation[]
  readonly renames: readonly Rename[]
  /** True if an unproven rename was followed. */
  readonly followsUncertain: boolean
}

export type RenameSearch = {
  /** The imported tables. */
  readonly schema: SourceSchema
  /** All tables of the database: an excluded table is not gone, and nothing replaces it. */
  readonly whole: SourceSchema
  /** The database's ids when the source was last seen. */
  readonly known: CatalogIds
  /** Returns true for an uncertain rename that the request accepts. */
  readonly isAccepted: (rename: Rename) => boolean
  readonly newId: () => string
}

export function* followRenames(records: ModelRecords, sourceId: string, search: RenameSearch): Parts<RenameDiff> {
  const { schema, whole, isAccepted } = search
  const own = locatedCollections(records, sourceId, schema.defaultNamespace)
  const tables = new Map(schema.tables.map((table) => [keyOf(table), table]))
  const chosen = new Set(tables.keys())
  const all = new Map(whole.tables.map((table) => [keyOf(table), table]))
  const known: CatalogIds = isRestored(own, all, search.known) ? new Map() : search.known
  const fields = Map.groupBy(records.primitiveFields, ({ collectionId }) => collectionId)
  yield
  const namespaces = namespaceFinder(records, sourceId, search)
  const renames: Rename[] = []
  let followsUncertain = false
  const isFollowed = (rename: Rename) => {
    renames.push(rename)
    const isChosen = !rename.certain && isAccepted(rename)
    followsUncertain ||= isChosen
    return rename.certain || isChosen
  }
  const collections = new Map<string, CollectionRecord>()
  const columns = new Map<string, PrimitiveFieldRecord>()
  const operations: SchemaOperation[] = []

  for (const move of findMoves({
    known: own.map((one) => ({ record: one, name: keyOf(one.place), dbId: known.get(one.record.id) })),
    found: whole.tables.map((table) => ({ item: table, name: keyOf(table), dbId: table.identity?.id })),
    isOffered: (table) => chosen.has(keyOf(table)),
    kindOf: ({ record }) => columnsText(fields.get(record.id) ?? []),
    kindOfFound: ({ columns }) => columnsText(columns),
  })) {
    const { record, place } = move.record
    if (move.kind === 'replaced') collections.set(record.id, { ...record, dbName: NOWHERE })
    else if (!chosen.has(keyOf(move.item))) tables.delete(keyOf(place))
    else if (isFollowed({ from: tableName(place), to: tableName(move.item), certain: move.certain })) {
      const { schema: to, dbName } = move.item
      const namespaceId = to === place.schema ? record.namespaceId : namespaces.idOf(to)
      collections.set(record.id, { ...record, dbName, namespaceId })
      tables.set(keyOf(place), move.item)
    } else tables.delete(keyOf(place))
  }

  for (const { record, place } of own) {
    yield
    const moved = collections.get(record.id)
    const table = moved?.dbName === NOWHERE ? undefined : tables.get(keyOf(place))
    if (table === undefined) continue
    const isSame = isSameTable(record, table, { known, fields: fields.get(record.id) ?? [] })
    const changes: SchemaOperation[] = moved === undefined ? [] : movedTable(record, moved)
    for (const move of findMoves({
      known: (fields.get(record.id) ?? []).map((field) => ({
        record: field,
        name: field.dbName,
        dbId: isSame ? known.get(field.id) : undefined,
      })),
      found: table.columns.map((column, at) => ({
        item: column,
        name: column.dbName,
        dbId: isSame ? table.identity?.columns[at] : undefined,
      })),
      kindOf: typeText,
      kindOfFound: typeText,
    })) {
      const { record: field } = move
      if (move.kind === 'replaced') columns.set(field.id, { ...field, dbName: NOWHERE })
      else {
        const { dbName } = move.item
        const [from, to] = [`${tableName(place)}.${field.dbName}`, `${tableName(table)}.${dbName}`]
        if (!isFollowed({ from, to, certain: move.certain })) continue
        columns.set(field.id, { ...field, dbName })
        const change = { kind: 'changeDbName', data: { dbName } }
        changes.push({ kind: 'updatePrimitiveField', data: { id: field.id, operations: [change] } })
      }
    }
    if (changes.length > 0) operations.push({ kind: 'updateCollection', data: { id: record.id, operations: changes } })
  }
  if (collections.size + columns.size === 0) return { records, operations, renames, followsUncertain }
  return {
    renames,
    followsUncertain,
    operations: [...namespaces.operations, ...operations],
    records: {
      ...records,
      namespaces: [...records.namespaces, ...namespaces.added],
      collections: records.collections.map((one) => collections.get(one.id) ?? one),
      primitiveFields: records.primitiveFields.map((one) => columns.get(one.id) ?? one),
    },
  }
}

/**
 * The model after a migration that ended halfway and cannot be undone. Applied renames are kept, a source has its current
 * ledger, and the touched collections are closed, because their columns may differ from the model.
 */
export function withApplied(
  records: ModelRecords,
  { applied, touched }: { readonly applied: readonly SourceChange[]; readonly touched: readonly SourceChange[] },
): ModelRecords {
  const schemas = new Map(records.namespaces.map(({ id, dbName }) => [id, dbName]))
  const place = (sourceId: string, { schema, dbName }: TableRef) => JSON.stringify([sourceId, schema, dbName])
  const collections = new Map(
    records.collections.map((record) => {
      const schema = record.namespaceId === null ? undefined : schemas.get(record.namespaceId)
      return [place(record.sourceId, { schema, dbName: record.dbName }), record]
    }),
  )
  const columns = new Map(
    records.primitiveFields.map((field) => [JSON.stringify([field.collectionId, field.dbName]), field]),
  )
  const changed = new Map<string, CollectionRecord | PrimitiveFieldRecord>()
  const done = new Set(applied)
  let { sources } = records
  for (const one of touched) {
    if (!('table' in one.change)) continue
    const { sourceId, change } = one
    if (done.has(one))
      sources = sources.map((source) => (source.id === sourceId ? afterLedger(source, change) : source))
    const key = place(sourceId, change.table)
    const record = collections.get(key)
    if (record === undefined) continue
    const closed = { ...record, isClosed: true } as const
    const moved = change.kind === 'renameTable' && done.has(one) ? { ...closed, dbName: change.to } : closed
    collections.delete(key)
    collections.set(place(sourceId, { ...change.table, dbName: moved.dbName }), moved)
    changed.set(moved.id, moved)
    if (change.kind !== 'renameColumn' || !done.has(one)) continue
    const field = columns.get(JSON.stringify([record.id, change.column]))
    if (field === undefined) continue
    const renamed = { ...field, dbName: change.to }
    columns.delete(JSON.stringify([record.id, change.column]))
    columns.set(JSON.stringify([record.id, change.to]), renamed)
    changed.set(field.id, renamed)
  }
  const now = <T extends { readonly id: string }>(record: T): T => (changed.get(record.id) as T | undefined) ?? record
  return {
    ...records,
    sources,
    collections: records.collections.map(now),
    primitiveFields: records.primitiveFields.map(now),
  }
}

/** The source after a change that may have created or dropped its ledger. */
function afterLedger(source: SourceRecord, change: Change): SourceRecord {
  if (change.kind !== 'createTable' && change.kind !== 'dropTable') return source
  const { table } = change
  if (table.dbName !== ledgerOf({ id: source.id, ledgerSchema: '' }).dbName) return source
  return withLedger(source, change.kind === 'createTable' ? (table.schema ?? '') : undefined)
}

/** The source with its ledger in this schema (empty for the default schema), or without a ledger for undefined. */
export function withLedger({ ledgerSchema: _, ...source }: SourceRecord, schema: string | undefined): SourceRecord {
  return schema === undefined ? source : { ...source, ledgerSchema: schema }
}

/** No table or column has this name, so the comparison treats the record as gone. */
const NOWHERE = ''

/**
 * True if the database was restored, so that its ids prove nothing: every table has another id, or the ids are of another
 * cluster. A cluster assigns each id once, so within the same cluster a known id under another name is a rename.
 */
function isRestored(
  own: readonly LocatedCollection[],
  tables: ReadonlyMap<string, SourceTable>,
  known: CatalogIds,
): boolean {
  const [now] = [...tables.values()].flatMap(({ identity }) => (identity === undefined ? [] : clusterOf(identity.id)))
  const isElsewhere = own.some(({ record }) => {
    const before = known.get(record.id)
    return before !== undefined && now !== undefined && clusterOf(before) !== now
  })
  if (isElsewhere) return true
  const ids = new Set([...tables.values()].map(({ identity }) => identity?.id))
  const isKept = own.flatMap(({ record, place }) => {
    const [before, now] = [known.get(record.id), tables.get(keyOf(place))?.identity?.id]
    if (before === undefined || now === undefined) return []
    return [clusterOf(before) === '' ? before === now : ids.has(before)]
  })
  return isKept.length > 1 && !isKept.includes(true)
}

/**
 * Returns true if the database's ids prove that the table is the same. A database numbers columns upwards and uses no number
 * twice, so an unknown number below the known ones belongs to another table, which a restore has given the same id.
 */
function isSameTable(
  { id }: CollectionRecord,
  { identity }: SourceTable,
  { known, fields }: { readonly known: CatalogIds; readonly fields: readonly PrimitiveFieldRecord[] },
): boolean {
  if (identity === undefined || known.get(id) !== identity.id) return false
  const numbers = new Set(fields.flatMap((field) => known.get(field.id) ?? []).map(Number))
  const highest = Math.max(0, ...numbers)
  return identity.columns.map(Number).every((number) => numbers.has(number) || number > highest)
}

function columnsText(columns: readonly { readonly dbName: string }[]): string {
  return JSON.stringify(columns.map(({ dbName }) => dbName).sort())
}

function typeText({ type, isList }: Pick<PrimitiveFieldRecord, 'type' | 'isList'>): string {
  return `${describeType(type)}${isList ? '[]' : ''}`
}

function movedTable(before: CollectionRecord, { dbName, namespaceId }: CollectionRecord): SchemaOperation[] {
  return [
    ...(before.dbName === dbName ? [] : [{ kind: 'changeDbName', data: { dbName } }]),
    ...(before.namespaceId === namespaceId ? [] : [{ kind: 'changeNamespace', data: { namespaceId } }]),
  ]
}

/** Finds namespaces by name, and adds those that are not in the model yet. */
function namespaceFinder({ namespaces }: ModelRecords, sourceId: string, { newId }: RenameSearch) {
  const own = namespaces.filter((one) => one.sourceId === sourceId && !one.isSystem)
  const added: NamespaceRecord[] = []
  const operations: SchemaOperation[] = []
  const idOf = (dbName: string): string => {
    const found = [...own, ...added].find((one) => one.dbName === dbName)
    if (found !== undefined) return found.id
    const data = { id: newId(), sourceId, dbName }
    added.push({ ...data, isSystem: false })
    operations.push({ kind: 'createNamespace', data })
    return data.id
  }
  return { idOf, added, operations }
}
