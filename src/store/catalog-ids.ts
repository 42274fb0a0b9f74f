/** The ids that databases give to the tables and columns of a workspace's collections and fields. */
import type { CatalogIds } from '../core/sql/catalog-ids.ts'
import type { Statement } from '../core/sql/statement.ts'
import type { SqlDriver } from '../ports/database.ts'
import { metaSchema } from './installation.ts'
import { ident, json, param, sql, statement, uuids } from './statements.ts'

export async function loadCatalogIds(database: SqlDriver, workspace: string, sourceId: string): Promise<CatalogIds> {
  const at = (name: string) => ident(metaSchema(workspace), name)
  const rows = await database.query(
    statement(sql`
      select c.id, c.catalog_id from ${at('collection')} c
      where c.source_id = ${param(sourceId)}::uuid and c.catalog_id is not null
      union all
      select f.id, f.catalog_id from ${at('primitive_field')} f join ${at('collection')} c on c.id = f.collection_id
      where c.source_id = ${param(sourceId)}::uuid and f.catalog_id is not null`),
  )
  return new Map(rows.map(([id, catalogId]) => [id ?? '', catalogId ?? '']))
}

/** What is made again under its id is another table or column; runs after the records are saved. */
export function forgetCatalogIds(workspace: string, ids: readonly string[]): readonly Statement[] {
  if (ids.length === 0) return []
  return ['collection', 'primitive_field'].map((table) =>
    statement(sql`
      update ${ident(metaSchema(workspace), table)} set catalog_id = null where id in (${uuids(ids)})`),
  )
}

/** Writes what differs from `known`; runs after the records are saved. */
export function saveCatalogIds(workspace: string, known: CatalogIds, now: CatalogIds): readonly Statement[] {
  const changed = [...now].filter(([id, catalogId]) => known.get(id) !== catalogId)
  if (changed.length === 0) return []
  const rows = json(changed.map(([id, catalog_id]) => ({ id, catalog_id })))
  return ['collection', 'primitive_field'].map((table) =>
    statement(sql`
      update ${ident(metaSchema(workspace), table)} t set catalog_id = x.catalog_id
      from jsonb_to_recordset(${rows}::jsonb) as x (id uuid, catalog_id text) where t.id = x.id`),
  )
}
