/**
 * The mutable model during a migration: records by id, and the names in use, so that every operation takes constant
 * time. It never leaves `applyOperations`, which is pure from outside.
 */
import { decodeJson, describeType } from '../model/codec.ts'
import type { FieldType } from '../model/field-type.ts'
import { fileRecords } from '../model/file-collection.ts'
import { byId } from '../model/lookup.ts'
import type {
  CollectionRecord,
  ConstraintRecord,
  IndexRecord,
  ModelRecords,
  NamespaceRecord,
  PrimitiveFieldRecord,
  ReferentialAction,
  RelationFieldRecord,
  SourceRecord,
} from '../model/model.ts'
import { fileCollectionId } from '../model/presentation.ts'
import { systemRecords } from '../model/system.ts'
import { eachOf, type Parts } from '../parts.ts'
import type { Change, ColumnDefinition, IndexDefinition, InitialValue, SourceChange, TableRef } from '../sql/change.ts'
import type { DeclaredKey } from '../sql/declared-key.ts'
import { invalidOperation, type MigrationFault } from './fault.ts'
import type { GivenUp } from './given-up.ts'

/** The properties of a database that migrations need; every `Dialect` has them. */
export type Storage = {
  readonly title: string
  readonly columnType: (type: FieldType, isList: boolean) => unknown
  readonly ddl: {
    readonly isIndexable: (type: FieldType) => boolean
    readonly columnCount: { readonly least: 0 | 1; readonly most: number }
    readonly referentialActions: ReadonlySet<ReferentialAction>
  }
}

export type MigrationContext = {
  /** Undefined where the service must not change the source's schema. */
  readonly dialectOf: (sourceId: string) => Storage | undefined
  /** The default namespace of new collections. */
  readonly dataNamespaceOf: (sourceId: string) => string | null
  /** The table of changes of a source; undefined where it has none. */
  readonly changesOf?: (sourceId: string) => TableRef | undefined
  readonly workspace: string
}

export type CollectionDraft = {
  record: CollectionRecord
  readonly fieldIds: Set<string>
  readonly indexIds: Set<string>
  readonly indexNames: Set<string>
  /** Relation fields of this collection, and those of others that refer to it. */
  readonly relationIds: Set<string>
  /** By the id of a field: the indexes that contain it, and the relations with a key that join by it, on either side. */
  readonly indexesBy: Map<string, Set<string>>
  readonly ownersBy: Map<string, Set<string>>
  /** Names of primitive and relation fields. */
  readonly fieldNames: Set<string>
  readonly columnNames: Set<string>
  /** Names of the foreign keys that this collection owns. */
  readonly constraintNames: Set<string>
}

export type Draft = {
  readonly context: MigrationContext
  readonly changes: SourceChange[]
  /** What this migration makes itself: columns and indexes, each qualified by its table. */
  readonly made: Set<string>
  readonly declaredKeys: DeclaredKey[]
  operation: number
  /** The fields that its part is about. */
  subject: string | undefined
  /** The last operation of each collection that was made, changed or deleted. */
  readonly touched: Map<string, number>
  /** Those that were deleted, whatever has their ids now. */
  readonly dropped: Set<string>
  readonly sources: Map<string, SourceRecord>
  readonly namespaces: Map<string, NamespaceRecord>
  readonly collections: Map<string, CollectionDraft>
  readonly fields: Map<string, PrimitiveFieldRecord>
  readonly relations: Map<string, RelationFieldRecord>
  /** By the id of a relation: the many-to-many fields that lead through it. */
  readonly leading: Map<string, Set<string>>
  readonly constraints: Map<string, ConstraintRecord>
  readonly indexes: Map<string, IndexRecord>
  readonly ids: Set<string>
  readonly collectionNames: Set<string>
  /** Names of tables and indexes, each qualified by `tableRef`. */
  readonly tableNames: Set<string>
  readonly indexNames: Set<string>
  /** Names of tables and columns that something of this migration gave up. */
  readonly givenUp: Map<string, GivenUp>
  /** Those that it gives to something which had another name before. */
  readonly taken: Map<string, string>
}

export function* createDraft(records: ModelRecords, context: MigrationContext): Parts<Draft> {
  const draft: Draft = {
    context,
    changes: [],
    made: new Set(),
    declaredKeys: [],
    operation: 0,
    subject: undefined,
    touched: new Map(),
    dropped: new Set(),
    sources: byId(records.sources),
    namespaces: byId(records.namespaces),
    collections: new Map(),
    fields: byId(records.primitiveFields),
    relations: byId(records.relationFields),
    leading: new Map(),
    constraints: byId(records.constraints),
    indexes: byId(records.indexes),
    ids: new Set(),
    collectionNames: new Set(),
    tableNames: new Set(),
    indexNames: new Set(),
    givenUp: new Map(),
    taken: new Map(),
  }
  reserveBuiltIn(draft)
  addFiles(draft, fileRecords(records))
  yield* eachOf(records.collections, (record) => addCollection(draft, record))
  yield* eachOf(records.primitiveFields, (record) => addField(draft, collectionOf(draft, record.collectionId), record))
  yield* eachOf(records.indexes, (record) => addIndex(draft, collectionOf(draft, record.collectionId), record))
  yield* eachOf(records.relationFields, (record) => addRelation(draft, record))
  for (const { id } of [...records.sources, ...records.namespaces]) draft.ids.add(id)
  return draft
}

export function recordsOf(draft: Draft): ModelRecords {
  const isOwn = ({ collectionId }: { readonly collectionId: string }) => collectionId !== fileCollectionId
  return {
    sources: [...draft.sources.values()],
    namespaces: [...draft.namespaces.values()],
    collections: [...draft.collections.values()].flatMap(({ record }) => (record.isSystem ? [] : [record])),
    primitiveFields: [...draft.fields.values()].filter(isOwn),
    relationFields: [...draft.relations.values()],
    constraints: [...draft.constraints.values()],
    indexes: [...draft.indexes.values()].filter(isOwn),
  }
}

/** Throws the innermost error of a migration that its author can correct. */
export function refuse(fault: MigrationFault, reason: string): never {
  throw invalidOperation(fault, reason)
}

/** `work` changes a collection; throws if it would change the database of a view. */
export function inModelAlone(draft: Draft, { record }: CollectionDraft, work: () => void): void {
  const before = draft.changes.length
  work()
  if (!record.isView || draft.changes.length === before) return
  refuse('protected', `the collection ${record.apiName} is a view: it gets names, a primary key and relations only`)
}

export function emit(draft: Draft, sourceId: string, change: Change): void {
  const { operation, subject } = draft
  draft.changes.push({ sourceId, operation, ...(subject !== undefined && { subject }), change })
  if (change.kind === 'createIndex') draft.made.add(madeName('index', change.table, change.index.dbName))
  if (change.kind === 'addColumn') draft.made.add(madeName('column', change.table, change.column.dbName))
  if (change.kind !== 'createTable') return
  for (const { dbName } of change.columns) draft.made.add(madeName('column', change.table, dbName))
}

/** Whether the column or index is of this migration: no database has one of its own by this name then. */
export function isMade(draft: Draft, what: 'index' | 'column', table: TableRef, dbName: string): boolean {
  return draft.made.has(madeName(what, table, dbName))
}

function madeName(what: 'index' | 'column', { schema, dbName: table }: TableRef, dbName: string): string {
  // No identifier has this character.
  return [what, schema, table, dbName].join('\0')
}

export function claimId(draft: Draft, id: string): void {
  if (draft.ids.has(id)) refuse('idInUse', `the id ${id} is in use`)
  draft.ids.add(id)
}

export function addCollection(draft: Draft, record: CollectionRecord): CollectionDraft {
  const collection: CollectionDraft = {
    record,
    fieldIds: new Set(),
    indexIds: new Set(),
    indexNames: new Set(),
    relationIds: new Set(),
    indexesBy: new Map(),
    ownersBy: new Map(),
    fieldNames: new Set(),
    columnNames: new Set(),
    constraintNames: new Set(),
  }
  draft.ids.add(record.id)
  draft.collections.set(record.id, collection)
  draft.collectionNames.add(record.apiName)
  draft.tableNames.add(tableRef(record, record.dbName))
  return collection
}

export function addField(draft: Draft, collection: CollectionDraft, record: PrimitiveFieldRecord): void {
  draft.ids.add(record.id)
  draft.fields.set(record.id, record)
  collection.fieldIds.add(record.id)
  collection.fieldNames.add(record.apiName)
  collection.columnNames.add(record.dbName)
}

export function addIndex(draft: Draft, collection: CollectionDraft, record: IndexRecord): void {
  draft.ids.add(record.id)
  draft.indexes.set(record.id, record)
  draft.indexNames.add(tableRef(collection.record, record.dbName))
  collection.indexIds.add(record.id)
  collection.indexNames.add(record.dbName)
  for (const fieldId of record.fieldIds) addUse(collection.indexesBy, fieldId, record.id)
}

/** Takes the index out of the model. */
export function removeIndex(draft: Draft, collection: CollectionDraft, record: IndexRecord): void {
  draft.ids.delete(record.id)
  draft.indexes.delete(record.id)
  draft.indexNames.delete(tableRef(collection.record, record.dbName))
  collection.indexIds.delete(record.id)
  collection.indexNames.delete(record.dbName)
  for (const fieldId of record.fieldIds) collection.indexesBy.get(fieldId)?.delete(record.id)
}

function addUse(uses: Map<string, Set<string>>, fieldId: string, id: string): void {
  const ids = uses.get(fieldId) ?? new Set()
  uses.set(fieldId, ids.add(id))
}

export function addRelation(draft: Draft, record: RelationFieldRecord): void {
  draft.ids.add(record.id)
  draft.relations.set(record.id, record)
  const collection = collectionOf(draft, record.collectionId)
  collection.relationIds.add(record.id)
  collection.fieldNames.add(record.apiName)
  collection.constraintNames.add(draft.constraints.get(record.constraintId ?? '')?.dbName ?? '')
  const opposite = collectionOf(draft, record.oppositeCollectionId)
  opposite.relationIds.add(record.id)
  for (const id of linksOf(record)) addUse(draft.leading, id, record.id)
  for (const { constrainedFieldId, referencedFieldId } of mappingsOf(draft, record)) {
    addUse(collection.ownersBy, constrainedFieldId, record.id)
    addUse(opposite.ownersBy, referencedFieldId, record.id)
  }
}

export function removeRelation(draft: Draft, record: RelationFieldRecord): void {
  draft.ids.delete(record.id)
  draft.relations.delete(record.id)
  const collection = collectionOf(draft, record.collectionId)
  collection.relationIds.delete(record.id)
  collection.fieldNames.delete(record.apiName)
  collection.constraintNames.delete(draft.constraints.get(record.constraintId ?? '')?.dbName ?? '')
  const opposite = collectionOf(draft, record.oppositeCollectionId)
  opposite.relationIds.delete(record.id)
  for (const id of linksOf(record)) draft.leading.get(id)?.delete(record.id)
  for (const { constrainedFieldId, referencedFieldId } of mappingsOf(draft, record)) {
    collection.ownersBy.get(constrainedFieldId)?.delete(record.id)
    opposite.ownersBy.get(referencedFieldId)?.delete(record.id)
  }
}

function linksOf({ through }: RelationFieldRecord): readonly string[] {
  return through === undefined ? [] : [through.nearId, through.farId]
}

function mappingsOf(draft: Draft, { constraintId }: RelationFieldRecord): ConstraintRecord['mappings'] {
  return draft.constraints.get(constraintId ?? '')?.mappings ?? []
}

/** Qualifies a database name by source and schema. */
export function tableRef({ sourceId, namespaceId }: CollectionRecord, dbName: string): string {
  return `${sourceId} ${namespaceId} ${dbName}`
}

export function collectionOf(draft: Draft, id: string): CollectionDraft {
  return draft.collections.get(id) ?? refuse('unknown', `unknown collection ${id}`)
}

/** Returns a collection that migrations may change, in the model alone if it is a view; throws for others. */
export function editableCollection(draft: Draft, id: string): CollectionDraft {
  const collection = unprotectedCollection(draft, id)
  storageOf(draft, collection.record.sourceId)
  return collection
}

/** Returns a collection to which relations may lead: that of files, too. Throws for others. */
export function relatableCollection(draft: Draft, id: string): CollectionDraft {
  return id === fileCollectionId ? collectionOf(draft, id) : unprotectedCollection(draft, id)
}

/** Returns a collection that may have relations, and be changed where its source can; throws for others. */
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

/** Checks that the table has as many columns as its database takes; of those that it does not know the database tells itself. */
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

/** Characters of a default that every database holds: an expression of MariaDB has at most 65,535 bytes, eight for each. */
const MAX_DEFAULT_LENGTH = 4_000

/** What the service gives a new item without a value. */
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

/** The collection of files is no record either, but what relations lead to. */
function addFiles(draft: Draft, { collections, primitiveFields, indexes }: ModelRecords): void {
  for (const record of collections) addCollection(draft, record)
  for (const record of primitiveFields) addField(draft, collectionOf(draft, record.collectionId), record)
  for (const record of indexes) addIndex(draft, collectionOf(draft, record.collectionId), record)
}

/** System collections are not among the records, but their names and ids are reserved. */
function reserveBuiltIn(draft: Draft): void {
  const { collections, primitiveFields, relationFields, constraints, indexes } = systemRecords('', '')
  for (const { apiName } of collections) draft.collectionNames.add(apiName)
  for (const records of [collections, primitiveFields, relationFields, constraints, indexes]) {
    for (const { id } of records) draft.ids.add(id)
  }
}
