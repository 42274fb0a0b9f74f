/**
 * Compares a collection with its table: returns its current fields and indexes, and the nested operations that lead
 * there.
 */
import type { Check } from '../../model/checks.ts'
import type {
  CollectionRecord,
  DefaultValue,
  IndexRecord,
  NativeType,
  PrimitiveFieldRecord,
} from '../../model/model.ts'
import type { SourceColumn, SourceIndex, SourceTable } from '../../sql/source-schema.ts'
import { isSameType } from '../conversion.ts'
import { deriveApiName, deriveIndexName } from '../derive.ts'
import { defaultFault } from '../fields.ts'
import { chooseNames, joinNames } from '../names.ts'
import type { CollectionDiff, DiffContext, SchemaOperation } from './context.ts'
/** A collection before the comparison; `names` are those of the relations that stay. */
export type KnownCollection = {
  readonly collection: CollectionRecord
  readonly fields: readonly PrimitiveFieldRecord[]
  readonly indexes: readonly IndexRecord[]
  readonly names: Set<string>
}

/** The marks of a table's record; absent if false. */
export function marksOf({
  isInherited,
  isTriggering,
}: SourceTable): Pick<CollectionRecord, 'isInherited' | 'isTriggering'> {
  return { ...(isInherited && { isInherited }), ...(isTriggering && { isTriggering }) }
}

export function diffFields(known: KnownCollection, table: SourceTable, context: DiffContext): CollectionDiff {
  const { collection, fields: before, names } = known
  const declared = declaredKey(known, table)
  const columns = new Map(table.columns.map((column) => [column.dbName, column]))
  const kept = before.flatMap((field) => {
    const column = columns.get(field.dbName)
    return column === undefined ? [] : [{ field, after: changedField(field, asDeclared(column, field, declared)) }]
  })
  const gone = before.filter(({ dbName }) => !columns.has(dbName))
  for (const { field } of kept) names.add(field.apiName)
  for (const { dbName } of before) columns.delete(dbName)
  const added = createFields(collection.id, { columns: [...columns.values()], names }, context)
  const fields = [...kept.map(({ after }) => after), ...added]
  const fieldByColumn = byColumn(fields)
  const indexes = diffIndexes(known.indexes, { collection, table, fieldByColumn, declared }, context)
  const { isReadOnly, isView, isInherited, isTriggering } = table
  const isSame =
    collection.isReadOnly === isReadOnly &&
    collection.isView === isView &&
    collection.isInherited === isInherited &&
    collection.isTriggering === isTriggering &&
    collection.isClosed === undefined
  const { isInherited: _, isClosed: __, isTriggering: ___, ...own } = collection
  return {
    collection: isSame ? collection : { ...own, isReadOnly, isView, ...marksOf(table) },
    table,
    fields,
    fieldByColumn,
    indexes: indexes.after,
    names,
    operations: [
      ...(collection.isReadOnly === isReadOnly ? [] : [{ kind: 'changeIsReadOnly', data: { isReadOnly } }]),
      ...indexes.deletions,
      ...gone.map(({ id }) => ({ kind: 'deletePrimitiveField', data: { id } })),
      ...kept.flatMap(({ field, after }) => updateField(field, after)),
      ...added.map(createField),
      ...indexes.creations,
    ],
  }
}

/** The primary key of a view, which its database does not know; undefined if one of its columns is gone. */
function declaredKey({ collection, fields, indexes }: KnownCollection, table: SourceTable): IndexRecord | undefined {
  if (!collection.isView || !table.isView) return undefined
  const columns = new Set(table.columns.map(({ dbName }) => dbName))
  const left = new Set(fields.flatMap(({ id, dbName }) => (columns.has(dbName) ? [id] : [])))
  return indexes.find(({ kind, fieldIds }) => kind === 'primary' && fieldIds.every((id) => left.has(id)))
}

function asDeclared(column: SourceColumn, { id }: PrimitiveFieldRecord, key: IndexRecord | undefined): SourceColumn {
  return key?.fieldIds.includes(id) ? { ...column, isNullable: false } : column
}

/** Like `diffFields`, for a table that is not in the model yet. */
export function createdFields(collection: CollectionRecord, table: SourceTable, context: DiffContext): CollectionDiff {
  const names = new Set<string>()
  const fields = createFields(collection.id, { columns: table.columns, names }, context)
  const fieldByColumn = byColumn(fields)
  const indexes = diffIndexes([], { collection, table, fieldByColumn, declared: undefined }, context)
  return {
    collection,
    table,
    fields,
    fieldByColumn,
    indexes: indexes.after,
    names,
    operations: [...fields.map(createField), ...indexes.creations],
  }
}

function byColumn(fields: readonly PrimitiveFieldRecord[]): ReadonlyMap<string, PrimitiveFieldRecord> {
  return new Map(fields.map((field) => [field.dbName, field]))
}

/** Adds the chosen names to `names`. */
function createFields(
  collectionId: string,
  { columns, names }: { readonly columns: readonly SourceColumn[]; readonly names: Set<string> },
  { toApiName, newId }: DiffContext,
): readonly PrimitiveFieldRecord[] {
  const unnamed = columns.map((column) => ({
    column,
    candidates: fieldCandidates(column.dbName, toApiName),
    rank: column.dbName,
  }))
  return [...chooseNames(unnamed, names)].map(([{ column }, apiName]) => {
    const { defaultKind, ...shape } = column
    names.add(apiName)
    return { id: newId(), collectionId, apiName, ...shape, defaultValue: databaseDefault(defaultKind) }
  })
}

/** The second candidate is closer to the column name, such as `user_id` beside `userId`. */
function fieldCandidates(dbName: string, toApiName: DiffContext['toApiName']): readonly string[] {
  const name = toApiName(dbName)
  return [name, deriveApiName(dbName, () => false), joinNames(name, 'Column')]
}

function databaseDefault(kind: SourceColumn['defaultKind']): DefaultValue | null {
  switch (kind) {
    case 'none':
      return null
    case 'database':
      return { source: 'connectorManaged' }
    case 'autoincrement':
      return { source: 'connectorManaged', isAutoincrement: true }
  }
}

function changedField(field: PrimitiveFieldRecord, column: SourceColumn): PrimitiveFieldRecord {
  const { isNullable, isList, isReadOnly, isLoose, native, checks } = column
  const type = isSameType(field.type, column.type) ? field.type : column.type
  const isSame =
    field.type === type &&
    field.isNullable === isNullable &&
    field.isList === isList &&
    field.isReadOnly === isReadOnly &&
    field.isLoose === isLoose &&
    isSameNative(field.native, native)
  const known = isSame ? field : { ...field, type, isNullable, isList, isReadOnly, isLoose, native }
  const shaped = isSameChecks(field.checks, checks) ? known : withChecks(known, checks)
  const defaultValue = defaultFor(shaped, column)
  return defaultValue === shaped.defaultValue ? shaped : { ...shaped, defaultValue }
}

function isSameNative(one: NativeType | null, other: NativeType | null): boolean {
  const parts = ({ schema, name, isOrdered, values, precision, scale, members }: NativeType) =>
    JSON.stringify([schema, name, isOrdered, values, precision, scale, members])
  return one === null || other === null ? one === other : parts(one) === parts(other)
}

/** Compares by member, because stored limits list members in any order. */
function isSameChecks(one: Checks = [], other: Checks = []): boolean {
  const parts = (checks: Checks) =>
    JSON.stringify(
      checks.map(({ name, limits }) => [name, Object.entries(limits).sort(([a], [b]) => (a < b ? -1 : 1))]),
    )
  return one === other || parts(one) === parts(other)
}

type Checks = readonly Check[]

function withChecks({ checks: _, ...field }: PrimitiveFieldRecord, checks: Checks | undefined): PrimitiveFieldRecord {
  return checks === undefined ? field : { ...field, checks }
}

/** Keeps a default that the service generates as long as it fits the field, because the database does not know it. */
function defaultFor(field: PrimitiveFieldRecord, { defaultKind }: SourceColumn): DefaultValue | null {
  const own = field.defaultValue
  if (own?.source === 'engineManaged') {
    return defaultFault(field, own) === undefined ? own : databaseDefault(defaultKind)
  }
  const isCounting = own?.isAutoincrement === true
  const kind = own === null ? 'none' : isCounting ? 'autoincrement' : 'database'
  return kind === defaultKind ? own : databaseDefault(defaultKind)
}

function createField(field: PrimitiveFieldRecord): SchemaOperation {
  const { collectionId: _, isReadOnly, isLoose: __, native: ___, checks: ____, ...data } = field
  return { kind: 'createPrimitiveField', data: { ...data, ...(isReadOnly && { isReadOnly }) } }
}

function updateField(before: PrimitiveFieldRecord, after: PrimitiveFieldRecord): readonly SchemaOperation[] {
  if (before === after) return []
  const { id, type, isList, isNullable, isReadOnly, defaultValue } = after
  const operations = [
    ...(before.type === type ? [] : [{ kind: 'changeType', data: { type } }]),
    ...(before.isList === isList ? [] : [{ kind: 'changeIsList', data: { isList } }]),
    ...(before.isNullable === isNullable ? [] : [{ kind: 'changeIsNullable', data: { isNullable } }]),
    ...(before.isReadOnly === isReadOnly ? [] : [{ kind: 'changeIsReadOnly', data: { isReadOnly } }]),
    ...(before.defaultValue === defaultValue ? [] : [{ kind: 'changeDefaultValue', data: { defaultValue } }]),
  ]
  // `isLoose`, `native` and `checks` are omitted: no migration operation changes them.
  return operations.length === 0 ? [] : [{ kind: 'updatePrimitiveField', data: { id, operations } }]
}

type IndexDiff = {
  readonly after: readonly IndexRecord[]
  readonly deletions: readonly SchemaOperation[]
  readonly creations: readonly SchemaOperation[]
}

/** A changed index is deleted and created again with its old id (docs/contract.md#migrations). */
function diffIndexes(
  before: readonly IndexRecord[],
  {
    collection,
    table,
    fieldByColumn,
    declared,
  }: {
    readonly collection: CollectionRecord
    readonly table: SourceTable
    readonly fieldByColumn: ReadonlyMap<string, PrimitiveFieldRecord>
    readonly declared: IndexRecord | undefined
  },
  { newId }: DiffContext,
): IndexDiff {
  const found = matchIndexes(
    before.filter((record) => record !== declared),
    table.indexes,
  )
  const indexed = found.map(({ index, record }): IndexRecord => {
    const { kind, columns } = index
    const dbName = index.dbName ?? record?.dbName ?? deriveIndexName(table.dbName, { kind, columns }, () => false)
    const fieldIds = columns.flatMap((column) => fieldByColumn.get(column)?.id ?? [])
    if (record === undefined) return { id: newId(), collectionId: collection.id, dbName, kind, fieldIds }
    const isSame = record.dbName === dbName && record.kind === kind && isEqual(record.fieldIds, fieldIds)
    return isSame ? record : { ...record, dbName, kind, fieldIds }
  })
  const after = declared === undefined ? indexed : [declared, ...indexed]
  const left = before.filter((record) => !after.includes(record))
  const made = after.filter((record) => !before.includes(record))
  return {
    after,
    deletions: left.map(({ id }) => ({ kind: 'deleteIndex', data: { id } })),
    creations: made.map(({ collectionId: _, ...data }) => ({ kind: 'createIndex', data })),
  }
}

/** Matches by name; a primary key matches under any name. */
function matchIndexes(
  before: readonly IndexRecord[],
  indexes: readonly SourceIndex[],
): readonly { readonly index: SourceIndex; readonly record: IndexRecord | undefined }[] {
  const byName = new Map(before.map((record) => [record.dbName, record]))
  const names = new Set(indexes.map(({ dbName }) => dbName))
  return indexes.flatMap((index) => {
    const primary = index.kind === 'primary' ? before.find(({ kind }) => kind === 'primary') : undefined
    const isFree = primary !== undefined && (index.dbName === undefined || !names.has(primary.dbName))
    const record = byName.get(index.dbName ?? '') ?? (isFree ? primary : undefined)
    return record === undefined && index.isImplied ? [] : [{ index, record }]
  })
}

function isEqual(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((id, position) => id === other[position])
}
