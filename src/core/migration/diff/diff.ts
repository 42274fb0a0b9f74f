/**
 * Compares the model with the schema of a database: returns the model that matches it, and the operations of a
 * migration that lead there (docs/contract.md#introspection). Everything is matched by database name, so that ids, API
 * names and the service's own defaults are kept; an unchanged record stays the same object.
 *
 * Changes that no migration can request are reported as operations too: `changeIsList`, `changeIsReadOnly`, and the
 * members `isReadOnly` and `isView` of creations.
 */
import {
  type CollectionRecord,
  isSystemSource,
  type ModelRecords,
  type NamespaceRecord,
  type RelationFieldRecord,
} from '../../model/model.ts'
import { eachOf, type Parts } from '../../parts.ts'
import { NO_NAMESPACE, type SourceSchema, type SourceTable } from '../../sql/source-schema.ts'
import type { Pair } from '../lookups.ts'
import { dataSchemaOf, nameCollections } from './collection-names.ts'
import type { CollectionDiff, DiffContext, SchemaOperation, TableMatch } from './context.ts'
import { createdFields, diffFields, type KnownCollection, marksOf } from './fields.ts'
import { diffRelations, inOrder, matchRelations } from './relations.ts'

export type SchemaDiff = { readonly records: ModelRecords; readonly operations: readonly SchemaOperation[] }

export function* diffModel(
  records: ModelRecords,
  sourceId: string,
  { schema, context }: { readonly schema: SourceSchema; readonly context: DiffContext },
): Parts<SchemaDiff> {
  const namespaces = diffNamespaces(records, sourceId, { schema, context })
  const tables = matchTables(records, sourceId, { schema, namespaces: namespaces.after })
  yield
  const relations = yield* matchRelations(records, tables)
  yield
  const known = knownCollections(records, relations.gone)
  const kept: CollectionDiff[] = []
  yield* eachOf(tables.kept, ({ collection, table }) => kept.push(diffFields(known(collection), table, context)))
  const goneIds = new Set(tables.gone.map(({ id }) => id))
  const collectionNames = nameCollections(records, sourceId, { tables, schema, context })
  yield
  const added = yield* addCollections(sourceId, { tables, names: collectionNames, context })
  const collections = [...kept, ...added]
  const linked = yield* diffRelations(records, relations, { collections, context })
  yield

  const operations: readonly SchemaOperation[] = [
    ...linked.unlinking,
    ...tables.gone.map(({ id }) => ({ kind: 'deleteCollection', data: { id } })),
    ...namespaces.gone.map(({ id }) => ({ kind: 'deleteNamespace', data: { id } })),
    ...namespaces.added.map(({ id, dbName }) => ({ kind: 'createNamespace', data: { id, sourceId, dbName } })),
    ...kept.flatMap(updateCollection),
    ...added.map(createCollection),
    ...linked.linking,
  ]
  const before = new Set<object>([...records.collections, ...records.primitiveFields])
  // No operation describes a change of `isView`, `isInherited`, `isTriggering`, `isLoose`, `native` or `checks`.
  yield
  const isKnown = collections.every(({ collection, fields }) => [collection, ...fields].every((one) => before.has(one)))
  if (operations.length === 0 && isKnown) return { records, operations }
  const isOthers = (id: string) => !goneIds.has(id) && !tables.ids.has(id)
  const after = <T extends { readonly id: string }>(
    before: readonly T[],
    collectionId: (record: T) => string,
    now: readonly T[],
  ) => inOrder(before, [...before.filter((record) => isOthers(collectionId(record))), ...now])
  return {
    operations,
    records: {
      sources: records.sources,
      namespaces: [...records.namespaces.filter(({ id }) => !namespaces.goneIds.has(id)), ...namespaces.added],
      collections: after(
        records.collections,
        ({ id }) => id,
        collections.map(({ collection }) => collection),
      ),
      primitiveFields: after(
        records.primitiveFields,
        ({ collectionId }) => collectionId,
        collections.flatMap(({ fields }) => fields),
      ),
      relationFields: linked.relationFields,
      constraints: linked.constraints,
      indexes: after(
        records.indexes,
        ({ collectionId }) => collectionId,
        collections.flatMap(({ indexes }) => indexes),
      ),
    },
  }
}

type Found = { readonly schema: SourceSchema; readonly context: DiffContext }

type NamespaceDiff = {
  readonly after: ReadonlyMap<string, NamespaceRecord>
  readonly added: readonly NamespaceRecord[]
  readonly gone: readonly NamespaceRecord[]
  readonly goneIds: ReadonlySet<string>
}

/** The two initial namespaces of a workspace stay, even if their schemas are gone. */
function diffNamespaces(records: ModelRecords, sourceId: string, { schema, context }: Found): NamespaceDiff {
  const isOurs = isSystemSource(records.sources.find(({ id }) => id === sourceId))
  const dataSchema = dataSchemaOf(context)
  const own = records.namespaces.filter((namespace) => namespace.sourceId === sourceId)
  const known = new Set(own.map(({ dbName }) => dbName))
  const existing = new Set(schema.namespaces)
  const added = schema.namespaces
    .filter((dbName) => !known.has(dbName))
    .map((dbName) => ({ id: context.newId(), sourceId, dbName, isSystem: false }))
  const gone = own.filter(
    ({ dbName, isSystem }) => !isSystem && !existing.has(dbName) && !(isOurs && dbName === dataSchema),
  )
  const goneIds = new Set(gone.map(({ id }) => id))
  const after = [...own.filter(({ id, isSystem }) => !isSystem && !goneIds.has(id)), ...added]
  return { after: new Map(after.map((namespace) => [namespace.dbName, namespace])), added, gone, goneIds }
}

function matchTables(
  records: ModelRecords,
  sourceId: string,
  { schema, namespaces }: { readonly schema: SourceSchema; readonly namespaces: NamespaceDiff['after'] },
): TableMatch {
  const names = new Map([...namespaces.values()].map(({ id, dbName }) => [id, dbName]))
  const tables = new Map(
    schema.tables.flatMap((table) =>
      namespaces.has(table.schema) || table.schema === NO_NAMESPACE
        ? [[JSON.stringify([table.schema, table.dbName]), table] as const]
        : [],
    ),
  )
  const kept: TableMatch['kept'][number][] = []
  const gone: CollectionRecord[] = []
  for (const collection of records.collections) {
    if (collection.sourceId !== sourceId || collection.isSystem) continue
    const { namespaceId, dbName } = collection
    const place = namespaceId === null ? schema.defaultNamespace : names.get(namespaceId)
    const key = JSON.stringify([place, dbName])
    const table = tables.get(key)
    if (table === undefined) gone.push(collection)
    else kept.push({ collection, table })
    tables.delete(key)
  }
  const added = [...tables.values()].map((table) => ({
    table,
    namespaceId: namespaces.get(table.schema)?.id ?? null,
  }))
  const { knowsRelations } = schema
  return { kept, added, gone, knowsRelations, ids: new Set(kept.map(({ collection }) => collection.id)) }
}

/** The model's fields and indexes of each collection, without the pairs in `gone`. */
function knownCollections(
  records: ModelRecords,
  gone: readonly Pair[],
): (collection: CollectionRecord) => KnownCollection {
  const freed = new Set(gone.flatMap(({ owner, opposite }) => [owner.id, opposite?.id]))
  const isFreed = ({ id, through }: RelationFieldRecord) =>
    freed.has(id) || freed.has(through?.nearId) || freed.has(through?.farId)
  const byCollection = ({ collectionId }: { readonly collectionId: string }) => collectionId
  const fields = Map.groupBy(records.primitiveFields, byCollection)
  const indexes = Map.groupBy(records.indexes, byCollection)
  const relations = Map.groupBy(
    records.relationFields.filter((field) => !isFreed(field)),
    byCollection,
  )
  return (collection) => ({
    collection,
    fields: fields.get(collection.id) ?? [],
    indexes: indexes.get(collection.id) ?? [],
    names: new Set(relations.get(collection.id)?.map(({ apiName }) => apiName)),
  })
}

function* addCollections(
  sourceId: string,
  {
    tables,
    names,
    context,
  }: {
    readonly tables: TableMatch
    readonly names: ReadonlyMap<SourceTable, string>
    readonly context: DiffContext
  },
): Parts<readonly CollectionDiff[]> {
  const added: CollectionDiff[] = []
  yield* eachOf(tables.added, ({ table, namespaceId }) => {
    const { dbName, isReadOnly, isView } = table
    const apiName = names.get(table) ?? ''
    const marks = { isReadOnly, isSystem: false, isView, ...marksOf(table) }
    const record = { id: context.newId(), sourceId, namespaceId, dbName, apiName, ...marks }
    added.push(createdFields(record, table, context))
  })
  return added
}

function updateCollection({ collection, operations }: CollectionDiff): readonly SchemaOperation[] {
  return operations.length === 0 ? [] : [{ kind: 'updateCollection', data: { id: collection.id, operations } }]
}

function createCollection({ collection, operations }: CollectionDiff): SchemaOperation {
  const { id, sourceId, namespaceId, dbName, apiName, isReadOnly, isView } = collection
  const marks = { ...(isReadOnly && { isReadOnly }), ...(isView && { isView }) }
  const data = { id, sourceId, namespaceId, dbName, apiName, operations, ...marks }
  return { kind: 'createCollection', data }
}

export type { SchemaOperation } from './context.ts'
