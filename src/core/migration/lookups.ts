/** Look-ups in the draft of a model, which refuse operations on unknown or protected parts. */
import { decodeJson, describeType } from '../model/codec.ts'
import type {
  CollectionRecord,
  ConstraintRecord,
  IndexRecord,
  PrimitiveFieldRecord,
  RelationFieldRecord,
} from '../model/model.ts'
import { fileCollectionId } from '../model/presentation.ts'
import type { ColumnDefinition, IndexDefinition, InitialValue, TableRef } from '../sql/ddl/change.ts'
import { type CollectionDraft, type Draft, refuse, type Storage } from './draft.ts'

/** Qualifies a database name by source and schema. */
export function tableRef({ sourceId, namespaceId }: CollectionRecord, dbName: string): string {
  return `${sourceId} ${namespaceId} ${dbName}`
}

export function collectionOf(draft: Draft, id: string): CollectionDraft {
  return draft.collections.get(id) ?? refuse('unknown', `unknown collection ${id}`)
}

/** Returns a collection that migrations may change (a view only in the model); throws for others. */
export function editableCollection(draft: Draft, id: string): CollectionDraft {
  const collection = unprotectedCollection(draft, id)
  storageOf(draft, collection.record.sourceId)
  return collection
}

/** Returns a collection that may be the target of relations, including the collection of files; throws for others. */
export function relatableCollection(draft: Draft, id: string): CollectionDraft {
  return id === fileCollectionId ? collectionOf(draft, id) : unprotectedCollection(draft, id)
}

/** Returns a collection that may have relations, and may change if its source supports that; throws for others. */
export function unprotectedCollection(draft: Draft, id: string): CollectionDraft {
  const collection = collectionOf(draft, id)
  const { apiName, isSystem, isReadOnly, isView } = collection.record
  if (isSystem) refuse('protected', `the collection ${apiName} is a system collection`)
  if (isReadOnly && !isView) refuse('protected', `the collection ${apiName} is read-only`)
  return collection
}

export function storageOf(draft: Draft, sourceId: string): Storage {
  const source = draft.sources.get(sourceId) ?? refuse('unknown', `unknown source ${sourceId}`)
  return (
    draft.context.dialectOf(sourceId) ??
    refuse('unsupported', `the source ${source.apiName} does not support migrations`)
  )
}

/** Checks the number of columns against the database's limits; the database checks those outside of the model. */
export function checkColumns(
  draft: Draft,
  { record: { apiName, sourceId }, fieldIds: { size } }: CollectionDraft,
): void {
  const { title, ddl } = storageOf(draft, sourceId)
  const { least, most } = ddl.columnCount
  if (size < least) refuse('unsupported', `${title} has no tables without columns: give ${apiName} another field first`)
  if (size > most) refuse('unsupported', `${title} has no tables of more than ${most} columns: ${apiName} has ${size}`)
}

/** Checks that an index, or a foreign key (which some databases index), may contain the field. */
export function checkIndexable(
  draft: Draft,
  { record }: CollectionDraft,
  { apiName, type }: PrimitiveFieldRecord,
): void {
  const { title, ddl } = storageOf(draft, record.sourceId)
  if (ddl.isIndexable(type)) return
  const remedy = type.name === 'string' ? '; give it a shorter fixed length' : ''
  refuse('unsupported', `${title} cannot index the field ${apiName} of type ${describeType(type)}${remedy}`)
}

export function fieldOf(draft: Draft, collection: CollectionDraft, id: string): PrimitiveFieldRecord {
  const field = collection.fieldIds.has(id) ? draft.fields.get(id) : undefined
  return field ?? refuse('unknown', `the collection ${collection.record.apiName} has no field ${id}`)
}

export function tableOf(draft: Draft, { record }: CollectionDraft): TableRef {
  const schema = record.namespaceId === null ? undefined : draft.namespaces.get(record.namespaceId)?.dbName
  return { schema, dbName: record.dbName }
}

export function columnOf(field: PrimitiveFieldRecord): ColumnDefinition {
  const { dbName, type, isList, isNullable, defaultValue } = field
  const isAutoincrement = defaultValue?.source === 'connectorManaged' && defaultValue.isAutoincrement === true
  const value = initialOf(field)
  const isHeld =
    (field.native === null || (field.native.values !== undefined && !isList)) &&
    (value?.kind !== 'static' || value.text.length <= MAX_DEFAULT_LENGTH)
  return { dbName, type, isList, isNullable, isAutoincrement, initial: isHeld ? value : undefined }
}

/** Maximum characters of a default in every database: an expression of MariaDB has at most 65,535 bytes, eight for each. */
const MAX_DEFAULT_LENGTH = 4_000

/** The value that the service generates for a new item. */
export function initialOf({ type, isList, defaultValue }: PrimitiveFieldRecord): InitialValue | undefined {
  const onCreate = defaultValue?.source === 'engineManaged' ? defaultValue.onCreate : undefined
  if (onCreate?.kind !== 'static') return onCreate
  if (onCreate.valueEncoded === null) return undefined
  const decoded = decodeJson(type, isList, onCreate.valueEncoded)
  return 'ok' in decoded ? { kind: 'static', text: decoded.ok } : undefined
}

export function columnNames(draft: Draft, fieldIds: readonly string[]): readonly string[] {
  return fieldIds.flatMap((id) => draft.fields.get(id)?.dbName ?? [])
}

export function indexDefinition(draft: Draft, { dbName, kind, fieldIds }: IndexRecord): IndexDefinition {
  return { dbName, kind, columns: columnNames(draft, fieldIds) }
}

export function indexesOf(draft: Draft, collection: CollectionDraft): readonly IndexRecord[] {
  return [...collection.indexIds].flatMap((id) => draft.indexes.get(id) ?? [])
}

/** The indexes of the collection that contain any of the fields. */
export function indexesBy(
  draft: Draft,
  collection: CollectionDraft,
  fieldIds: readonly string[],
): readonly IndexRecord[] {
  const ids = new Set(fieldIds.flatMap((fieldId) => [...(collection.indexesBy.get(fieldId) ?? [])]))
  return [...ids].flatMap((id) => draft.indexes.get(id) ?? [])
}

/** A relation, seen from the side that owns the foreign key. */
export type Pair = {
  readonly owner: RelationFieldRecord
  readonly opposite: RelationFieldRecord | undefined
  readonly constraint: ConstraintRecord
}

/** Returns every relation that uses a field of the collection, on either side. */
export function pairsOf(draft: Draft, collection: CollectionDraft): readonly Pair[] {
  return pairsOwnedBy(draft, collection.relationIds)
}

/** Returns the relations that join by any of these fields of the collection, on either side. */
export function pairsBy(draft: Draft, collection: CollectionDraft, fieldIds: readonly string[]): readonly Pair[] {
  return pairsOwnedBy(draft, new Set(fieldIds.flatMap((fieldId) => [...(collection.ownersBy.get(fieldId) ?? [])])))
}

function pairsOwnedBy(draft: Draft, ids: ReadonlySet<string>): readonly Pair[] {
  return [...ids].flatMap((id) => {
    const owner = draft.relations.get(id)
    const constraint = draft.constraints.get(owner?.constraintId ?? '')
    if (owner === undefined || constraint === undefined) return []
    return { owner, constraint, opposite: draft.relations.get(owner.oppositeRelationFieldId ?? '') }
  })
}
