/**
 * Creates and deletes indexes, with the rules on primary keys and on keys that relations use. The primary key of a view exists
 * in the model alone.
 */
import { describeType } from '../model/codec.ts'
import type { IndexRecord, PrimitiveFieldRecord } from '../model/model.ts'
import { operatorsOf } from '../model/operator.ts'
import { deriveIndexName } from './derive.ts'
import { type CollectionDraft, type Draft, refuse } from './draft.ts'
import { addIndex, claimId, emit, isMade, removeIndex } from './edits.ts'
import {
  checkIndexable,
  columnNames,
  fieldOf,
  indexDefinition,
  indexesBy,
  indexesOf,
  pairsBy,
  tableOf,
  tableRef,
} from './lookups.ts'
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
  if (kind === 'primary') {
    if (indexesOf(draft, collection).some((index) => index.kind === 'primary'))
      refuse('index', `the collection ${record.apiName} has a primary key already`)
    for (const { apiName, isNullable, isList } of fields) {
      if ((isNullable && !isDeclared) || isList)
        refuse('index', `a primary key must not contain the ${isList ? 'list' : 'nullable'} field ${apiName}`)
    }
  }
  const isTaken = (name: string) =>
    draft.indexNames.has(tableRef(record, name)) || draft.tableNames.has(tableRef(record, name))
  const dbName = data.dbName ?? deriveIndexName(record.dbName, { kind, columns: columnNames(draft, fieldIds) }, isTaken)
  if (collection.indexNames.has(dbName)) {
    refuse('nameInUse', `the collection ${record.apiName} already has an index ${dbName}`)
  }
  const index = { id, collectionId: record.id, dbName, kind, fieldIds }
  addIndex(draft, collection, index)
  if (isDeclared) declareKey(draft, collection, fields)
  return index
}

/** Makes the key's fields required, because the catalog reports every column of a view as nullable. */
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
  emit(draft, collection.record.sourceId, { kind: 'createIndex', table, index: indexDefinition(draft, index) })
  keepIndexes(draft, collection, index)
}

/** Runs after an index of these fields is created, which may have dropped indexes that begin it: creates those again. */
export function keepIndexes(
  draft: Draft,
  collection: CollectionDraft,
  { dbName, fieldIds }: Pick<IndexRecord, 'dbName' | 'fieldIds'>,
): void {
  const table = tableOf(draft, collection)
  for (const other of indexesBy(draft, collection, fieldIds.slice(0, 1))) {
    if (other.kind !== 'normal' || other.dbName === dbName) continue
    if (!other.fieldIds.every((fieldId, position) => fieldIds[position] === fieldId)) continue
    if (isMade(draft, 'index', table, other.dbName)) continue
    const index = indexDefinition(draft, other)
    emit(draft, collection.record.sourceId, { kind: 'keepIndex', table, index })
  }
}

export function deleteIndex(draft: Draft, collection: CollectionDraft, { id }: DataOf<'deleteIndex'>): void {
  const index = collection.indexIds.has(id) ? draft.indexes.get(id) : undefined
  if (index === undefined) refuse('unknown', `the collection ${collection.record.apiName} has no index ${id}`)
  const definition = indexDefinition(draft, index)
  removeIndex(draft, collection, index)
  if (index.kind !== 'normal') checkRelations(draft, collection, index)
  if (isOfView(collection, index)) {
    for (const field of index.fieldIds.flatMap((fieldId) => draft.fields.get(fieldId) ?? []))
      draft.fields.set(field.id, { ...field, isNullable: true })
    return
  }
  const { sourceId } = collection.record
  emit(draft, sourceId, { kind: 'dropIndex', table: tableOf(draft, collection), index: definition })
}

/** True for a view's primary key, which no database has; a materialized view has its other indexes there. */
function isOfView({ record }: CollectionDraft, { kind }: IndexRecord): boolean {
  return record.isView && kind === 'primary'
}

/** Finds the primary key or unique index of exactly these fields, in any order. */
export function findKey(
  draft: Draft,
  collection: CollectionDraft,
  fieldIds: readonly string[],
): IndexRecord | undefined {
  return indexesBy(draft, collection, fieldIds.slice(0, 1)).find(
    (index) => index.kind !== 'normal' && index.fieldIds.length === fieldIds.length && isWithin(index, fieldIds),
  )
}

/** Returns true if no two rows can have the same values in all these fields. */
export function isUnique(draft: Draft, collection: CollectionDraft, fieldIds: readonly string[]): boolean {
  return indexesBy(draft, collection, fieldIds).some((index) => index.kind !== 'normal' && isWithin(index, fieldIds))
}

function isWithin(index: IndexRecord, fieldIds: readonly string[]): boolean {
  return index.fieldIds.every((id) => fieldIds.includes(id))
}

function checkRelations(draft: Draft, collection: CollectionDraft, { dbName, fieldIds }: IndexRecord): void {
  for (const { owner, opposite, constraint } of pairsBy(draft, collection, fieldIds)) {
    const { mappings } = constraint
    const isReferenced = owner.oppositeCollectionId === collection.record.id
    const isOwner = owner.collectionId === collection.record.id
    const hasKey =
      !isReferenced ||
      findKey(
        draft,
        collection,
        mappings.map(({ referencedFieldId }) => referencedFieldId),
      ) !== undefined
    const isSingle = !isOwner || opposite === undefined || opposite.isList
    const constrained = mappings.map(({ constrainedFieldId }) => constrainedFieldId)
    if (!hasKey || !(isSingle || isUnique(draft, collection, constrained))) {
      refuse('inUse', `the index ${dbName} is used by the relation ${owner.apiName}`)
    }
  }
}
