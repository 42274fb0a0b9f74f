/** What was last seen of the schemas of data sources, and which of them differ from the model. */
import { parseJson } from '../core/exact-json.ts'
import type { Statement } from '../core/sql/statement.ts'
import type { Instant } from '../ports/clock.ts'
import type { SqlDriver } from '../ports/database.ts'
import { isoTime, param, sql, statement, timestamp } from './statements.ts'
import type { WorkspaceRow } from './workspaces.ts'

/** Returns a workspace that was last looked at before `due`, the longest ago first; no other process gets it then. */
export async function claimLook(
  database: SqlDriver,
  { now, due }: { readonly now: Instant; readonly due: Instant },
): Promise<WorkspaceRow | undefined> {
  const [[text] = []] = await database.query(
    statement(sql`
      update service.workspace w set schema_looked_at = ${timestamp(now)}
      where w.id = (
        select id from service.workspace where schema_looked_at is null or schema_looked_at <= ${timestamp(due)}
        order by schema_looked_at nulls first limit 1 for update skip locked)
      returning json_build_object('id', w.id, 'apiName', w.api_name, 'displayName', w.display_name)::text`),
  )
  return text == null ? undefined : (parseJson(text) as WorkspaceRow)
}

/** `outline` is null for a source that was imported and not looked at since, or that changed while it was looked at. */
export type SeenSchema = {
  readonly outline: string | null
  readonly modelVersion: number | null
  readonly isDrifted: boolean
}

export async function loadSeenSchema(database: SqlDriver, sourceId: string): Promise<SeenSchema | undefined> {
  const [row] = await database.query(
    statement(sql`
      select outline, model_version, since is not null from service.source_drift
      where source_id = ${param(sourceId)}::uuid`),
  )
  if (row === undefined) return undefined
  const [outline = null, version, isDrifted] = row
  return { outline, modelVersion: version == null ? null : Number(version), isDrifted: isDrifted === 't' }
}

export type Look = {
  readonly workspaceId: string
  readonly sourceId: string
  readonly outline: string | null
  readonly modelVersion: number
}

export type FoundDrift = { readonly hash: string; readonly operations: readonly object[] }

/** Saves what a look has found; a drift that goes on keeps its time. */
export function saveLook(look: Look, found: FoundDrift | undefined, now: Instant): Statement {
  const { workspaceId, sourceId, outline, modelVersion } = look
  return statement(sql`
    insert into service.source_drift as d (source_id, workspace_id, outline, model_version, since, hash, operations)
    values (${param(sourceId)}::uuid, ${param(workspaceId)}::uuid, ${param(outline)},
      ${param(String(modelVersion))}::bigint, ${timestamp(found === undefined ? null : now)},
      ${param(found?.hash ?? null)}, ${param(found === undefined ? null : JSON.stringify(found.operations))}::jsonb)
    on conflict (source_id) do update set outline = excluded.outline, model_version = excluded.model_version,
      since = case when excluded.since is not null then coalesce(d.since, excluded.since) end,
      hash = excluded.hash, operations = excluded.operations`)
}

/** Runs with the import of a source: the model is what the database has. */
export function saveAgreement(workspaceId: string, sourceId: string): Statement {
  return statement(sql`
    insert into service.source_drift (source_id, workspace_id)
    values (${param(sourceId)}::uuid, ${param(workspaceId)}::uuid)
    on conflict (source_id) do update
    set outline = null, model_version = null, since = null, hash = null, operations = null`)
}

/** Runs with the deletion of a source. */
export function forgetDrift(sourceId: string): Statement {
  return statement(sql`delete from service.source_drift where source_id = ${param(sourceId)}::uuid`)
}

const since = isoTime(sql`d.since`)

/** The JSON text of the sources of a workspace that differ from its model. */
export async function loadDrifts(database: SqlDriver, workspaceId: string): Promise<string> {
  const [[text] = []] = await database.query(
    statement(sql`
      select coalesce(json_agg(json_build_object('sourceId', d.source_id, 'since', ${since}, 'hash', d.hash,
        'operations', d.operations) order by d.since, d.source_id), '[]')::text
      from service.source_drift d where d.workspace_id = ${param(workspaceId)}::uuid and d.since is not null`),
  )
  return text ?? '[]'
}

export type DriftedSource = { readonly workspace: string; readonly sourceId: string; readonly since: string }

/** The sources of all workspaces that differ from their models. */
export async function loadDriftedSources(database: SqlDriver): Promise<readonly DriftedSource[]> {
  const [[text] = []] = await database.query(
    statement(sql`
      select json_agg(json_build_object('workspace', w.api_name, 'sourceId', d.source_id, 'since', ${since})
        order by d.since, d.source_id)::text
      from service.source_drift d join service.workspace w on w.id = d.workspace_id where d.since is not null`),
  )
  return parseJson(text ?? '[]') as DriftedSource[]
}
