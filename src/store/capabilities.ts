/**
 * The capabilities that a connector declared when the schema of its data source was imported, stored beside the model.
 */

import { deserializeCapabilities, type SourceCapabilities, serializeCapabilities } from '../core/connector/schema.ts'
import { parseJson } from '../core/exact-json.ts'
import type { Statement } from '../core/sql/statement.ts'
import type { SqlDriver } from '../ports/database.ts'
import { json, param, sql, statement } from './statements.ts'

/** `revision` is the extension's revision. */
export type ImportedCapabilities = { readonly capabilities: SourceCapabilities; readonly revision: string }

/** For the batch that saves the model. */
export function saveCapabilities(
  place: { readonly workspaceId: string; readonly sourceId: string },
  { capabilities, revision }: ImportedCapabilities,
): Statement {
  const document = json(parseJson(serializeCapabilities(capabilities)))
  return statement(sql`
    insert into service.connector_capability (workspace_id, source_id, revision, document)
    values (${param(place.workspaceId)}::uuid, ${param(place.sourceId)}::uuid, ${param(revision)}, ${document}::jsonb)
    on conflict (workspace_id, source_id) do update set revision = excluded.revision, document = excluded.document`)
}

/** For the batch that deletes the source. */
export function dropCapabilities(place: { readonly workspaceId: string; readonly sourceId: string }): Statement {
  return statement(sql`
    delete from service.connector_capability
    where workspace_id = ${param(place.workspaceId)}::uuid and source_id = ${param(place.sourceId)}::uuid`)
}

/** Returns undefined before the first import. */
export async function loadCapabilities(
  database: SqlDriver,
  place: { readonly workspaceId: string; readonly sourceId: string },
): Promise<ImportedCapabilities | undefined> {
  const [[revision, document] = []] = await database.query(
    statement(sql`
      select c.revision, c.document::text from service.connector_capability c
      where c.workspace_id = ${param(place.workspaceId)}::uuid and c.source_id = ${param(place.sourceId)}::uuid`),
  )
  if (typeof revision !== 'string' || typeof document !== 'string') return undefined
  return { revision, capabilities: deserializeCapabilities(document) }
}
