/** Workspaces in the system database: look-up, creation with everything that belongs to them, deletion. */
import { parseJson } from '../core/exact-json.ts'
import { SYSTEM_SOURCE } from '../core/model/model.ts'
import { NAMES_KEPT } from '../core/sql/begin/plan-term.ts'
import type { Statement } from '../core/sql/statement.ts'
import type { SqlDriver } from '../ports/database.ts'
import {
  dataSchema,
  dropWorkspaceSchema,
  metaSchema,
  WORKSPACE_SCHEMA_NUMBER,
  workspaceSchema,
} from './installation.ts'
import { bumpAccess } from './instance.ts'
import { forgetLedger } from './ledger.ts'
import { ident, join, json, param, sql, statement, uuids } from './statements.ts'

export type WorkspaceRow = { readonly id: string; readonly apiName: string; readonly displayName: string | null }

const columns = sql`id, api_name as "apiName", display_name as "displayName"`

export async function findWorkspace(database: SqlDriver, apiName: string): Promise<WorkspaceRow | undefined> {
  return one(database, sql`where w.api_name = ${param(apiName)}`)
}

export async function findWorkspaceById(database: SqlDriver, id: string): Promise<WorkspaceRow | undefined> {
  return one(database, sql`where w.id = ${param(id)}::uuid`)
}

/** Returns the existing workspaces among these names and ids. */
export async function findWorkspaces(
  database: SqlDriver,
  wanted: { readonly names?: readonly string[]; readonly ids?: readonly string[] },
): Promise<readonly WorkspaceRow[]> {
  const { names = [], ids = [] } = wanted
  const [[text] = []] = await database.query(
    statement(sql`
      select coalesce(json_agg(row_to_json(r)), '[]')::text from (
        select ${columns} from service.workspace w
        where w.id in (${uuids(ids)}) or w.api_name in (select jsonb_array_elements_text(${json(names)}::jsonb))) r`),
  )
  return parseJson(text ?? '[]') as WorkspaceRow[]
}

/** Names and ids of all. */
export async function everyWorkspace(database: SqlDriver): Promise<readonly Pick<WorkspaceRow, 'id' | 'apiName'>[]> {
  const rows = await database.query(statement(sql`select id, api_name from service.workspace order by id`))
  return rows.map(([id, apiName]) => ({ id: id ?? '', apiName: apiName ?? '' }))
}

async function one(database: SqlDriver, where: ReturnType<typeof sql>): Promise<WorkspaceRow | undefined> {
  const [row] = await database.query(
    statement(sql`select row_to_json(r)::text from (select ${columns} from service.workspace w ${where}) r`),
  )
  return row === undefined ? undefined : (parseJson(row[0] ?? 'null') as WorkspaceRow)
}

export async function loadModelVersion(database: SqlDriver, id: string): Promise<number | undefined> {
  const [row] = await database.query(
    statement(sql`select model_version from service.workspace where id = ${param(id)}::uuid`),
  )
  return row === undefined ? undefined : Number(row[0])
}

export type NewWorkspace = {
  readonly workspace: WorkspaceRow
  readonly creatorId: string
  readonly roleIds: { readonly administrator: string; readonly public: string }
  readonly sourceId: string
  readonly namespaceIds: { readonly meta: string; readonly data: string }
}

/**
 * Builds the statements of a new workspace, for one batch: schemas, source, namespaces, built-in roles, first member.
 */
export function insertWorkspace(made: NewWorkspace): readonly Statement[] {
  const { workspace, creatorId, roleIds, sourceId, namespaceIds } = made
  const id = sql`${param(workspace.id)}::uuid`
  const meta = (name: string) => ident(metaSchema(workspace.apiName), name)
  return [
    statement(sql`
      insert into service.workspace (id, api_name, display_name, schema_number)
      values (${id}, ${param(workspace.apiName)}, ${param(workspace.displayName)},
        ${param(String(WORKSPACE_SCHEMA_NUMBER))}::int)`),
    ...workspaceSchema(workspace.apiName),
    statement(sql`
      insert into ${meta('data_source')} (id, api_name, provider)
      values (${param(sourceId)}::uuid, ${param(SYSTEM_SOURCE)}, 'postgres')`),
    statement(sql`
      insert into ${meta('namespace')} (id, source_id, db_name, is_system) values
        (${param(namespaceIds.meta)}::uuid, ${param(sourceId)}::uuid, ${param(metaSchema(workspace.apiName))}, true),
        (${param(namespaceIds.data)}::uuid, ${param(sourceId)}::uuid, ${param(dataSchema(workspace.apiName))}, false)`),
    statement(sql`
      insert into service.role (id, workspace_id, name, kind) values
        (${param(roleIds.administrator)}::uuid, ${id}, 'Administrator', 'administrator'),
        (${param(roleIds.public)}::uuid, ${id}, 'Public', 'public')`),
    statement(sql`insert into service.member (workspace_id, user_id) values (${id}, ${param(creatorId)}::uuid)`),
    statement(sql`
      insert into service.member_role (workspace_id, user_id, role_id)
      values (${id}, ${param(creatorId)}::uuid, ${param(roleIds.administrator)}::uuid)`),
  ]
}

export function setDisplayName(id: string, displayName: string | null): Statement {
  return statement(sql`
    update service.workspace set display_name = ${param(displayName)} where id = ${param(id)}::uuid`)
}

/** Returns false for a workspace that is deleted, or of which its deletion may have dropped some tables already. */
export async function isThere(database: SqlDriver, id: string): Promise<boolean> {
  const rows = await database.query(
    statement(sql`
      select 1 from service.workspace w where w.id = ${param(id)}::uuid
        and not exists (select 1 from service.deleted_workspace d where d.id = w.id)`),
  )
  return rows.length > 0
}

/** Before `deleteWorkspace`, which may take several transactions: whoever misses a table learns by it where that went. */
export function beginDeletion(id: string): Statement {
  return statement(sql`
    insert into service.deleted_workspace (id) values (${param(id)}::uuid) on conflict do nothing`)
}

/** Tables that one transaction drops: the server has room for some thousand locks of all transactions together. */
const MOST_DROPPED = 500

function tablesOf(schemas: readonly string[], offset = 0): Statement {
  return statement(sql`
    select schemaname::text, tablename::text from pg_catalog.pg_tables
    where schemaname in (select value from json_array_elements_text(${param(JSON.stringify(schemas))}::json))
    offset ${param(String(offset))}::int`)
}

/** Of more tables than one transaction drops, all but so many; whoever is interrupted asks again. */
async function dropMany(database: SqlDriver, schemas: readonly string[]): Promise<void> {
  const tables = await database.query(tablesOf(schemas, MOST_DROPPED))
  const drops = tables.map(([schema, name]) =>
    statement(sql`drop table if exists ${ident(schema ?? '', name ?? '')} cascade`),
  )
  while (drops.length > 0) await database.batch(drops.splice(0, MOST_DROPPED))
}

/**
 * Waits until no process takes a workspace of this name for the one that had it (docs/contract.md#migrations). Behind `bumpAccess`
 * in the batch of a new workspace it also waits for a deletion that is not committed yet; before it, it holds up nobody.
 */
export function waitForName(apiName: string): Statement {
  return statement(sql`
    select pg_sleep(greatest(0, extract(epoch from max(given_up_at) + ${param(`${NAMES_KEPT} milliseconds`)}::interval
      - clock_timestamp())))::text
    from service.given_up_workspace where api_name = ${param(apiName)}`)
}

function recordName(apiName: string): readonly Statement[] {
  return [
    statement(sql`delete from service.given_up_workspace where given_up_at < clock_timestamp() - interval '1 minute'`),
    statement(sql`insert into service.given_up_workspace values (${param(apiName)}, clock_timestamp())
      on conflict (api_name) do update set given_up_at = excluded.given_up_at`),
  ]
}

/** What a read of one of these tables holds up, before what others wait for is held. */
async function lockTables(database: SqlDriver, schemas: readonly string[]): Promise<readonly Statement[]> {
  const tables = await database.query(tablesOf(schemas))
  if (tables.length === 0) return []
  const names = join(tables.map(([schema, name]) => ident(schema ?? '', name ?? '')))
  return [statement(sql`lock table ${names} in access exclusive mode`)]
}

/**
 * The access version is incremented before the row of the workspace is locked, as in every change of rights, and after its tables
 * are, which may be read for long.
 */
export async function deleteWorkspace(database: SqlDriver, workspace: WorkspaceRow, audit: Statement): Promise<void> {
  const at = (name: string) => ident(metaSchema(workspace.apiName), name)
  const namespaces = await database.query(
    statement(sql`
      select n.db_name from ${at('namespace')} n join ${at('data_source')} s on s.id = n.source_id
      where s.api_name = ${param(SYSTEM_SOURCE)} and not n.is_system`),
  )
  const schemas = [dataSchema(workspace.apiName), ...namespaces.flatMap(([name]) => name ?? [])]
  await dropMany(database, schemas)
  await database.batch([
    ...(await lockTables(database, [metaSchema(workspace.apiName), ...schemas])),
    bumpAccess,
    statement(sql`delete from service.workspace where id = ${param(workspace.id)}::uuid`),
    beginDeletion(workspace.id),
    forgetLedger(workspace.id),
    ...dropWorkspaceSchema(
      workspace.apiName,
      namespaces.flatMap(([name]) => name ?? []),
    ),
    audit,
    ...recordName(workspace.apiName),
  ])
}
