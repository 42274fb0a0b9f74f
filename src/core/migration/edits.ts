/** Creates a draft of a model, and adds and removes its parts. */
import { fileRecords } from '../model/file-collection.ts'
import { byId } from '../model/lookup.ts'
import type {
  CollectionRecord,
  ConstraintRecord,
  IndexRecord,
  ModelRecords,
  PrimitiveFieldRecord,
  RelationFieldRecord,
} from '../model/model.ts'
import { fileCollectionId } from '../model/presentation.ts'
import { systemRecords } from '../model/system.ts'
import { eachOf, type Parts } from '../parts.ts'
import type { Change, TableRef } from '../sql/ddl/change.ts'
import { type CollectionDraft, type Draft, type MigrationContext, refuse } from './draft.ts'
import { collectionOf, tableRef } from './lookups.ts'

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

/** Runs `work`, which changes a collection; throws if `work` would change the database of a view. */
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

/** True if this migration creates the column or index, so that the database cannot have another one by this name. */
export function isMade(draft: Draft, what: 'index' | 'column', table: TableRef, dbName: string): boolean {
  return draft.made.has(madeName(what, table, dbName))
}

function madeName(what: 'index' | 'column', { schema, dbName: table }: TableRef, dbName: string): string {
  // No identifier contains NUL.
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

/** Removes the index from the model. */
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

/** Adds the collection of files, which is not among the records but can be the target of relations. */
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
