/**
 * Saves the ids that a database gave to the tables and columns of a migration, so that a later introspection recognizes them
 * under other names.
 */

import type { ModelRecords } from '../../core/model/model.ts'
import { catalogIdsOf, locatedCollections } from '../../core/sql/catalog-ids.ts'
import type { SqlDriver } from '../../ports/database.ts'
import { withClusterIds } from '../../sources/cluster.ts'
import type { SourceDatabase } from '../../sources/provider.ts'
import { saveCatalogIds } from '../../store/catalog-ids.ts'

export type MigratedModel = {
  readonly workspace: string
  readonly after: ModelRecords
  /** The ids of the collections and fields that the migration creates. */
  readonly made: ReadonlySet<string>
}

/** Never fails: without the ids, an introspection offers a rename instead of following it. */
export async function rememberIds(
  system: SqlDriver,
  { workspace, after, made }: MigratedModel,
  sources: readonly { readonly sourceId: string; readonly database: SourceDatabase }[],
): Promise<void> {
  const touched = new Set(after.primitiveFields.flatMap(({ id, collectionId }) => (made.has(id) ? [collectionId] : [])))
  for (const { sourceId, database } of sources) {
    const { identities } = database.catalog
    const located = locatedCollections(after, sourceId, undefined).filter(({ record }) => touched.has(record.id))
    if (identities === undefined || located.length === 0) continue
    try {
      const places = located.map(({ place: { schema, dbName } }) => ({ schema: schema === '' ? null : schema, dbName }))
      const rows = await database.driver.query(identities.statement(places))
      const found = await withClusterIds(database, identities.parse(rows))
      const statements = saveCatalogIds(workspace, new Map(), catalogIdsOf(after, sourceId, found))
      if (statements.length > 0) await system.batch(statements)
    } catch {}
  }
}
