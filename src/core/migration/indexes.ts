/**
 * Creates and deletes indexes, with the rules on primary keys and on keys that relations use. The primary key of a view
 * is declared in the model alone.
 */
import { describeType } from '../model/codec.ts'
import type { IndexRecord, PrimitiveFieldRecord } from '../model/model.ts'
import { operatorsOf } from '../model/operator.ts'
import type { IndexDefinition, TableRef } from '../sql/change.ts'
import { deriveIndexName } from './derive.ts'
import {
  addIndex,
  type CollectionDraft,
  checkIndexable,
  claimId,
  columnNames,
  type Draft,
  emit,
  fieldOf,
  indexDefinition,
  indexesOf,
  pairsOf,
  refuse,
  tableOf,
  tableRef,
} from './draft.ts'
import type { DataOf } from './operation.ts'

/** Adds the index to the model only: a new table is created with its primary key. */
export function createIndex(draft: Draft, collection: CollectionDraft, data: DataOf<'createIndex'>): IndexRecord {
  const { id, kind, fieldIds } = data
  const { record } = collection
  claimId(draft, id)
  const fields = fieldIds.map((fieldId) => fieldOf(draft, collection, fieldId))
  if (new Set(fieldIds).size < fieldIds.length) refuse('index', 'an index must not name a field twice')
  const isDeclared = record.isView && kind === 'primary'
  for (const field of fields) {
    if (isDeclared) checkComparable(field)
    else checkIndexable(draft, collection, field)
  }
  const existing = indexesOf(draft, collection)
  if (kind === 'primary') {
    if (existing.some((index) => index.kind === 'primary'))
      refuse('index', `the collection ${record.apiName} has a primary key already`)
    for (const { apiName, isNullable, isList } of fields) {
      if ((isNullable && !isDeclared) || isList)
        refuse('index', `a primary key must not contain the ${isList ? 'list' : 'nullable'} field ${apiName}`)
    }
  }
  const isTaken = (name: string) =>
    draft.indexNames.has(tableRef(record, name)) || draft.tableNames.has(tableRef(record, name))
  const dbName = data.dbName ?? deriveIndexName(record.dbName, { kind, columns: columnNames(draft, fieldIds) }, isTaken)
  if (existing.some((index) => index.dbName === dbName)) {
    refuse('nameInUse', `the collection ${record.apiName} already has an index ${dbName}`)
  }
  const index = { id, collectionId: record.id, dbName, kind, fieldIds }
  addIndex(draft, collection, index)
  if (isDeclared) declareKey(draft, collection, fields)
  return index
}

/** The catalog takes every column of a view for nullable. */
function declareKey(draft: Draft, collection: CollectionDraft, fields: readonly PrimitiveFieldRecord[]): void {
  const { operation } = draft
  const { sourceId } = collection.record
  draft.declaredKeys.push({
    sourceId,
    operation,
    table: tableOf(draft, collection),
    columns: fields.map(({ dbName }) => dbName),
  })
  for (const field of fields) draft.fields.set(field.id, { ...field, isNullable: false })
}

function checkComparable({ apiName, type, isList, native }: PrimitiveFieldRecord): void {
  if (!operatorsOf(type, isList).has('_eq') || native?.isOrdered === false)
    refuse('unsupported', `values of the field ${apiName} of type ${describeType(type)} cannot be a key`)
}

export function emitIndex(draft: Draft, collection: CollectionDraft, index: IndexRecord): void {
  if (isOfView(collection, index)) return
  const table = tableOf(draft, collection)
  const definition = indexDefinition(draft, index)
  emit(draft, collection.record.sourceId, { kind: 'createIndex', table, index: definition })
  keepIndexes(draft, collection, definition)
}

/** After the change that makes an index of these columns: those of the model that begin it may be gone with it. */
export function keepIndexes(
  draft: Draft,
  collection: CollectionDraft,
  { dbName, columns }: Pick<IndexDefinition, 'dbName' | 'columns'>,
): void {
  const table = tableOf(draft, collection)
  for (const other of indexesOf(draft, collection)) {
    if (other.kind !== 'normal' || other.dbName === dbName) continue
    const index = indexDefinition(draft, other)
    if (!index.columns.every((column, position) => columns[position] === column)) continue
    if (isNew(draft, table, other.dbName)) continue
    emit(draft, collection.record.sourceId, { kind: 'keepIndex', table, index })
  }
}

/** Returns true for an index of this migration, which no database takes for one of its own. */
function isNew(draft: Draft, { schema, dbName }: TableRef, indexName: string): boolean {
  return draft.changes.some(
    ({ change }) =>
      change.kind === 'createIndex' &&
      change.index.dbName === indexName &&
      change.table.dbName === dbName &&
      change.table.schema === schema,
  )
}

export function deleteIndex(draft: Draft, collection: CollectionDraft, { id }: DataOf<'deleteIndex'>): void {
  const index = collection.indexIds.has(id) ? draft.indexes.get(id) : undefined
  if (index === undefined) refuse('unknown', `the collection ${collection.record.apiName} has no index ${id}`)
  const definition = indexDefinition(draft, index)
  draft.ids.delete(id)
  draft.indexes.delete(id)
  draft.indexNames.delete(tableRef(collection.record, index.dbName))
  collection.indexIds.delete(id)
  if (index.kind !== 'normal') checkRelations(draft, collection, index)
  if (isOfView(collection, index)) {
    for (const field of index.fieldIds.flatMap((fieldId) => draft.fields.get(fieldId) ?? []))
      draft.fields.set(field.id, { ...field, isNullable: true })
    return
  }
  const { sourceId } = collection.record
  emit(draft, sourceId, { kind: 'dropIndex', table: tableOf(draft, collection), index: definition })
}

/** A materialized view has unique indexes in its database, but no view has a primary key there. */
function isOfView({ record }: CollectionDraft, { kind }: IndexRecord): boolean {
  return record.isView && kind === 'primary'
}

/** Returns true if exactly these fields, in any order, are the primary key or a unique index. */
export function isKey(draft: Draft, collection: CollectionDraft, fieldIds: readonly string[]): boolean {
  return indexesOf(draft, collection).some(
    (index) => index.kind !== 'normal' && index.fieldIds.length === fieldIds.length && isWithin(index, fieldIds),
  )
}

/** Returns true if no two rows can have the same values in all these fields. */
export function isUnique(draft: Draft, collection: CollectionDraft, fieldIds: readonly string[]): boolean {
  return indexesOf(draft, collection).some((index) => index.kind !== 'normal' && isWithin(index, fieldIds))
}

function isWithin(index: IndexRecord, fieldIds: readonly string[]): boolean {
  return index.fieldIds.every((id) => fieldIds.includes(id))
}

function checkRelations(draft: Draft, collection: CollectionDraft, { dbName }: IndexRecord): void {
  for (const { owner, opposite, constraint } of pairsOf(draft, collection)) {
    const { mappings } = constraint
    const isReferenced = owner.oppositeCollectionId === collection.record.id
    const isOwner = owner.collectionId === collection.record.id
    const hasKey =
      !isReferenced ||
      isKey(
        draft,
        collection,
        mappings.map(({ referencedFieldId }) => referencedFieldId),
      )
    const isSingle = !isOwner || opposite === undefined || opposite.isList
    const constrained = mappings.map(({ constrainedFieldId }) => constrainedFieldId)
    if (!hasKey || !(isSingle || isUnique(draft, collection, constrained))) {
      refuse('inUse', `the index ${dbName} is used by the relation ${owner.apiName}`)
    }
  }
}
