/** Finds the table of each collection, and the database's own ids of tables and columns. */
import type { CollectionRecord, ModelRecords } from '../model/model.ts'
import type { IdentifiedTables } from './introspect.ts'
import type { SourceTable } from './source-schema.ts'

/** By the ids of collections and fields. Empty if the database has no ids. */
export type CatalogIds = ReadonlyMap<string, string>

/** Qualifies the tables' ids with their cluster, because another cluster may use the same ids. */
export function inCluster<Table extends Pick<SourceTable, 'identity'>>(
  tables: readonly Table[],
  cluster: string,
): readonly Table[] {
  if (cluster === '') return tables
  return tables.map((table) => {
    const { identity } = table
    return identity === undefined ? table : { ...table, identity: { ...identity, id: `${cluster}.${identity.id}` } }
  })
}

/** The cluster of a table's id; empty if unknown. */
export function clusterOf(id: string): string {
  return id.slice(0, Math.max(id.indexOf('.'), 0))
}

type Place = { readonly schema: string; readonly dbName: string }

export function keyOf({ schema, dbName }: Place): string {
  return JSON.stringify([schema, dbName])
}

/** A collection and the place of its table, which may be gone. */
export type LocatedCollection = { readonly record: CollectionRecord; readonly place: Place }

export function locatedCollections(
  { collections, namespaces }: Pick<ModelRecords, 'collections' | 'namespaces'>,
  sourceId: string,
  defaultSchema: string | undefined,
): readonly LocatedCollection[] {
  const names = new Map(namespaces.map(({ id, dbName }) => [id, dbName]))
  return collections
    .filter((record) => record.sourceId === sourceId && !record.isSystem)
    .map((record) => {
      const { namespaceId, dbName } = record
      const schema = (namespaceId === null ? defaultSchema : names.get(namespaceId)) ?? ''
      return { record, place: { schema, dbName } }
    })
}

export function catalogIdsOf(
  records: ModelRecords,
  sourceId: string,
  { defaultNamespace, tables }: IdentifiedTables,
): CatalogIds {
  const byPlace = new Map(tables.map((table) => [keyOf(table), table]))
  const fields = Map.groupBy(records.primitiveFields, ({ collectionId }) => collectionId)
  const ids = new Map<string, string>()
  for (const { record, place } of locatedCollections(records, sourceId, defaultNamespace)) {
    const table = byPlace.get(keyOf(place))
    if (table?.identity === undefined) continue
    const { id, columns } = table.identity
    ids.set(record.id, id)
    const byName = new Map(table.columns.map(({ dbName }, at) => [dbName, columns[at]]))
    for (const field of fields.get(record.id) ?? []) {
      const column = byName.get(field.dbName)
      if (column !== undefined) ids.set(field.id, column)
    }
  }
  return ids
}
