/**
 * Applies operations to a model: returns the new model and the changes to the databases (docs/contract.md#migrations).
 * Invalid operations throw `Failed to execute the migration` > `operations[i]` > reason, before any database changes.
 */
import { ServiceError } from '../error.ts'
import { type CollectionRecord, isSystemSource, type ModelRecords, type SourceRecord } from '../model/model.ts'
import type { Parts } from '../parts.ts'
import type { ColumnDefinition, SourceChange } from '../sql/ddl/change.ts'
import type { DeclaredKey } from '../sql/declared-key.ts'
import { isLedgerName, ledgerColumns, ledgerOf } from '../sql/write/ledger-table.ts'
import { deriveApiName } from './derive.ts'
import { type CollectionDraft, type Draft, type MigrationContext, refuse } from './draft.ts'
import { addCollection, claimId, createDraft, emit, inModelAlone, recordsOf } from './edits.ts'
import { FailedMigration } from './fault.ts'
import { addColumn, createField, deleteField, updateField } from './fields.ts'
import { giveUpName, refuseGivenUp } from './given-up.ts'
import { changeHistory, endHistory } from './history.ts'
import { createIndex, deleteIndex, emitIndex } from './indexes.ts'
import {
  checkColumns,
  collectionOf,
  columnOf,
  editableCollection,
  indexDefinition,
  indexesOf,
  pairsOf,
  storageOf,
  tableOf,
  tableRef,
} from './lookups.ts'
import { createManyToMany } from './many-to-many.ts'
import { madeBy } from './named.ts'
import type { CollectionChange, DataOf, Operation } from './operation.ts'
import { orderOperations } from './order.ts'
import { createRelationPair, deleteRelationPair, removePair, updateRelationPair } from './relations.ts'

export type { SourceChange } from '../sql/ddl/change.ts'
export type { MigrationContext } from './draft.ts'

export type Applied = {
  readonly records: ModelRecords
  readonly changes: readonly SourceChange[]
  /** Keys declared for views; the caller checks that they are unique. */
  readonly declaredKeys: readonly DeclaredKey[]
  /** Database names that records lose, and names that existing records get. */
  readonly names: { readonly givenUp: readonly OwnedName[]; readonly taken: readonly OwnedName[] }
}

/** A table or column name as a key, and the id of its collection or field. */
export type OwnedName = { readonly name: string; readonly ownerId: string }

export function* applyOperations(
  records: ModelRecords,
  operations: readonly Operation[],
  context: MigrationContext,
): Parts<Applied> {
  const draft = yield* createDraft(records, context)
  const made = madeBy(operations)
  try {
    for (const [position, operation] of operations.entries()) {
      yield
      draft.operation = position
      draft.subject = undefined
      yield* applyOperation(draft, operation)
    }
    draft.subject = undefined
    for (const [id, position] of draft.touched) {
      yield
      draft.operation = position
      changeHistory(draft, id, { before: records, made })
    }
  } catch (cause) {
    if (!(cause instanceof ServiceError)) throw cause
    throw new FailedMigration(draft.operation, cause, draft.subject)
  }
  const givenUp = [...draft.givenUp].map(([name, { id }]) => ({ name, ownerId: id }))
  const taken = [...draft.taken].map(([name, ownerId]) => ({ name, ownerId }))
  const { changes, declaredKeys } = draft
  return { records: recordsOf(draft), changes, declaredKeys, names: { givenUp, taken } }
}

function* applyOperation(draft: Draft, operation: Operation): Parts<void> {
  switch (operation.kind) {
    case 'createCollection':
      yield* createCollection(draft, operation.data)
      break
    case 'updateCollection':
      yield* updateCollection(draft, operation.data)
      break
    case 'deleteCollection':
      deleteCollection(draft, operation.data)
      break
    case 'createRelationFieldPair':
      createRelationPair(draft, operation.data)
      break
    case 'updateRelationFieldPair':
      updateRelationPair(draft, operation.data)
      break
    case 'deleteRelationFieldPair':
      deleteRelationPair(draft, operation.data)
      break
    case 'createManyToManyFieldPair':
      createManyToMany(draft, operation.data)
      break
    case 'createNamespace':
      createNamespace(draft, operation.data)
      break
    case 'deleteNamespace':
      deleteNamespace(draft, operation.data)
      break
    case 'createIdempotencyLedger':
      createLedger(draft, operation.data)
      break
    case 'deleteIdempotencyLedger':
      deleteLedger(draft, operation.data)
      break
    default:
      operation satisfies never
  }
}

function* createCollection(draft: Draft, data: DataOf<'createCollection'>): Parts<void> {
  const { id, sourceId, dbName } = data
  storageOf(draft, sourceId)
  claimId(draft, id)
  const namespaceId = namespaceFor(draft, data)
  const apiName = data.apiName ?? deriveApiName(dbName, (name) => draft.collectionNames.has(name))
  const record = {
    ...{ id, sourceId, namespaceId, dbName, apiName, isReadOnly: false, isSystem: false, isView: false },
    ...(data.hasHistory && { hasHistory: true as const }),
  }
  checkCollectionName(draft, apiName)
  const place = record.sourceId
  refuseGivenUp(draft, { place, dbName }, { id, isNew: true })
  checkTableName(draft, tableRef(record, dbName), dbName)
  const collection = addCollection(draft, record)
  const columns = []
  for (const operation of orderOperations(data.operations, () => undefined)) {
    yield
    if (operation.kind === 'createPrimitiveField')
      columns.push(columnOf(createField(draft, collection, operation.data)))
    else createIndex(draft, collection, operation.data)
  }
  checkColumns(draft, collection)
  draft.touched.set(id, draft.operation)
  const indexes = indexesOf(draft, collection)
  const key = indexes.find(({ kind }) => kind === 'primary')
  const primaryKey = key === undefined ? undefined : indexDefinition(draft, key)
  emit(draft, sourceId, { kind: 'createTable', table: tableOf(draft, collection), columns, primaryKey })
  for (const index of indexes) {
    if (index !== key) emitIndex(draft, collection, index)
  }
}

function* updateCollection(draft: Draft, data: DataOf<'updateCollection'>): Parts<void> {
  const collection = editableCollection(draft, data.id)
  for (const operation of orderOperations(data.operations, (fieldId) => draft.fields.get(fieldId))) {
    yield
    draft.subject = subjectOf(draft, collection, operation)
    inModelAlone(draft, collection, () => changeCollection(draft, collection, operation))
  }
  draft.subject = undefined
  draft.touched.set(data.id, draft.operation)
}

/** The fields that a part of an operation concerns, by their names before it. */
function subjectOf(
  { fields }: Draft,
  { record }: CollectionDraft,
  { kind, data }: CollectionChange,
): string | undefined {
  const pathOf = (name: string | undefined) => (name === undefined ? [] : [`${record.apiName}.${name}`])
  switch (kind) {
    case 'createPrimitiveField':
      return pathOf(data.apiName ?? data.dbName)[0]
    case 'updatePrimitiveField':
      return pathOf(fields.get(data.id)?.apiName)[0]
    case 'createIndex':
      return data.fieldIds.flatMap((id) => pathOf(fields.get(id)?.apiName)).join(', ') || undefined
    default:
      return undefined
  }
}

function changeCollection(draft: Draft, collection: CollectionDraft, operation: CollectionChange): void {
  switch (operation.kind) {
    case 'changeApiName':
      changeApiName(draft, collection, operation.data.apiName)
      break
    case 'changeDbName':
      changeDbName(draft, collection, operation.data.dbName)
      break
    case 'changeHasHistory': {
      const { hasHistory: _, ...record } = collection.record
      collection.record = operation.data.hasHistory ? { ...record, hasHistory: true } : record
      break
    }
    case 'createPrimitiveField':
      addColumn(draft, collection, createField(draft, collection, operation.data))
      break
    case 'updatePrimitiveField':
      updateField(draft, collection, operation.data)
      break
    case 'deletePrimitiveField':
      deleteField(draft, collection, operation.data)
      break
    case 'createIndex':
      emitIndex(draft, collection, createIndex(draft, collection, operation.data))
      break
    case 'deleteIndex':
      deleteIndex(draft, collection, operation.data)
      break
    default:
      operation satisfies never
  }
}

function changeApiName(draft: Draft, collection: CollectionDraft, apiName: string): void {
  if (apiName === collection.record.apiName) return
  checkCollectionName(draft, apiName)
  draft.collectionNames.delete(collection.record.apiName)
  draft.collectionNames.add(apiName)
  collection.record = { ...collection.record, apiName }
}

function changeDbName(draft: Draft, collection: CollectionDraft, dbName: string): void {
  const { record } = collection
  if (dbName === record.dbName) return
  const { id } = record
  const place = record.sourceId
  refuseGivenUp(draft, { place, dbName }, { id, isNew: false })
  giveUpName(draft, { place, dbName: record.dbName }, { id, what: whatOf(record), how: 'renamed' })
  checkTableName(draft, tableRef(record, dbName), dbName)
  emit(draft, record.sourceId, { kind: 'renameTable', table: tableOf(draft, collection), to: dbName })
  draft.tableNames.delete(tableRef(record, record.dbName))
  draft.tableNames.add(tableRef(record, dbName))
  collection.record = { ...record, dbName }
}

function deleteCollection(draft: Draft, { id }: DataOf<'deleteCollection'>): void {
  const collection = editableCollection(draft, id)
  const { record } = collection
  inModelAlone(draft, collection, () => {
    emit(draft, record.sourceId, { kind: 'dropTable', table: tableOf(draft, collection) })
  })
  for (const pair of pairsOf(draft, collection)) {
    const { owner } = pair
    if (owner.collectionId !== owner.oppositeCollectionId) {
      const related = owner.collectionId === id ? owner.oppositeCollectionId : owner.collectionId
      refuse('inUse', `the collection ${record.apiName} is related to ${collectionOf(draft, related).record.apiName}`)
    }
    removePair(draft, pair)
  }
  for (const index of indexesOf(draft, collection)) draft.indexNames.delete(tableRef(record, index.dbName))
  for (const indexId of collection.indexIds) draft.indexes.delete(indexId)
  for (const fieldId of collection.fieldIds) draft.fields.delete(fieldId)
  for (const gone of [id, ...collection.indexIds, ...collection.fieldIds]) draft.ids.delete(gone)
  const name = { place: record.sourceId, dbName: record.dbName }
  giveUpName(draft, name, { id, what: whatOf(record), how: 'deleted' })
  endHistory(draft, collection)
  draft.collections.delete(id)
  draft.dropped.add(id)
  draft.collectionNames.delete(record.apiName)
  draft.tableNames.delete(tableRef(record, record.dbName))
}

function whatOf({ apiName }: CollectionRecord): string {
  return `the collection ${apiName}`
}

function checkCollectionName(draft: Draft, apiName: string): void {
  if (draft.collectionNames.has(apiName)) refuse('nameInUse', `there is already a collection ${apiName}`)
}

function checkTableName(draft: Draft, place: string, dbName: string): void {
  if (isLedgerName(dbName)) refuse('protected', `the table ${dbName} has a name of ledgers`)
  if (draft.tableNames.has(place)) refuse('nameInUse', `there is already a table ${dbName}`)
}

function namespaceFor(draft: Draft, { sourceId, namespaceId }: DataOf<'createCollection'>): string | null {
  const id = namespaceId ?? draft.context.dataNamespaceOf(sourceId)
  if (id === null) {
    if (isSystemSource(draft.sources.get(sourceId))) refuse('namespace', 'a namespace is required')
    return null
  }
  const namespace = draft.namespaces.get(id) ?? refuse('unknown', `unknown namespace ${id}`)
  if (namespace.sourceId !== sourceId)
    refuse('namespace', `the namespace ${namespace.dbName} belongs to another source`)
  if (namespace.isSystem) refuse('protected', `the namespace ${namespace.dbName} is a system namespace`)
  return id
}

function createNamespace(draft: Draft, { id, sourceId, dbName }: DataOf<'createNamespace'>): void {
  storageOf(draft, sourceId)
  claimId(draft, id)
  if (isSystemSource(draft.sources.get(sourceId))) checkSystemSchema(dbName, draft.context.workspace)
  for (const namespace of draft.namespaces.values()) {
    if (namespace.sourceId === sourceId && namespace.dbName === dbName)
      refuse('nameInUse', `there is already a namespace ${dbName}`)
  }
  draft.namespaces.set(id, { id, sourceId, dbName, isSystem: false })
  emit(draft, sourceId, { kind: 'createSchema', schema: dbName })
}

/**
 * Prevents two workspaces from claiming the same schema: `service_a_b_data` starts like the names of workspace `a`, but belongs
 * to workspace `a_b`. The last underscore therefore ends the workspace's name.
 */
function checkSystemSchema(dbName: string, workspace: string): void {
  const prefix = `service_${workspace}_`
  if (!dbName.startsWith(prefix) || dbName === prefix)
    refuse('namespace', `the name of the namespace must begin with ${prefix}`)
  if (/_(meta|data)$/.test(dbName)) refuse('namespace', 'the name of the namespace must not end in _meta or _data')
  if (dbName.slice(prefix.length).includes('_')) {
    refuse('namespace', `the name of the namespace must have no _ behind ${prefix}`)
  }
}

function deleteNamespace(draft: Draft, { id }: DataOf<'deleteNamespace'>): void {
  const namespace = draft.namespaces.get(id) ?? refuse('unknown', `unknown namespace ${id}`)
  const { sourceId, dbName, isSystem } = namespace
  storageOf(draft, sourceId)
  if (isSystem) refuse('protected', `the namespace ${dbName} is a system namespace`)
  if (draft.context.dataNamespaceOf(sourceId) === id)
    refuse('protected', `the namespace ${dbName} is the default of its source`)
  for (const { record } of draft.collections.values()) {
    if (record.namespaceId === id) refuse('inUse', `the namespace ${dbName} holds the collection ${record.apiName}`)
  }
  draft.ids.delete(id)
  draft.namespaces.delete(id)
  emit(draft, sourceId, { kind: 'dropSchema', schema: dbName })
}

/** Creates the ledger of a source (docs/contract.md#idempotency): a table that is no collection. */
function createLedger(draft: Draft, { sourceId }: DataOf<'createIdempotencyLedger'>): void {
  const source = databaseOf(draft, sourceId)
  if (source.ledgerSchema !== undefined) refuse('nameInUse', `the source ${source.apiName} has a ledger`)
  const namespaceId = draft.context.dataNamespaceOf(sourceId)
  const ledgerSchema = (namespaceId === null ? undefined : draft.namespaces.get(namespaceId)?.dbName) ?? ''
  const made = { ...source, ledgerSchema }
  const table = ledgerOf({ id: sourceId, ledgerSchema })
  draft.sources.set(sourceId, made)
  const columns = ledgerColumns.map(
    ({ dbName, type, isNullable }): ColumnDefinition => ({
      ...{ dbName, type, isNullable },
      isList: false,
      isAutoincrement: false,
      initial: undefined,
    }),
  )
  const primaryKey = { dbName: table.key, kind: 'primary', columns: ['scope'] } as const
  emit(draft, sourceId, { kind: 'createTable', table, columns, primaryKey })
  const index = { dbName: `${table.dbName}_expiry`, kind: 'normal', columns: ['expires_at'] } as const
  emit(draft, sourceId, { kind: 'createIndex', table, index })
}

function deleteLedger(draft: Draft, { sourceId }: DataOf<'deleteIdempotencyLedger'>): void {
  const { ledgerSchema: schema, ...source } = databaseOf(draft, sourceId)
  const ledgerSchema = schema ?? refuse('unknown', `the source ${source.apiName} has no ledger`)
  draft.sources.set(sourceId, source)
  emit(draft, sourceId, { kind: 'dropTable', table: ledgerOf({ id: sourceId, ledgerSchema }) })
}

function databaseOf(draft: Draft, sourceId: string): SourceRecord {
  storageOf(draft, sourceId)
  const source = draft.sources.get(sourceId) ?? refuse('unknown', `unknown source ${sourceId}`)
  if (isSystemSource(source)) refuse('protected', 'the system database has a ledger, which stays')
  return source
}
