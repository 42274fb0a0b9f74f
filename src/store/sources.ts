/** Data sources in the system database: their sealed settings, and which of them must be introspected. */
import { parseJson } from '../core/exact-json.ts'
import type { OwnedName } from '../core/migration/apply.ts'
import { NAMES_KEPT } from '../core/sql/begin/plan-term.ts'
import type { Statement } from '../core/sql/statement.ts'
import type { TableChoice } from '../core/sql/table-choice.ts'
import type { SqlDriver } from '../ports/database.ts'
import { metaSchema } from './installation.ts'
import { ident, json, param, sql, statement } from './statements.ts'

type Place = { readonly workspace: string; readonly sourceId: string }

/** For the batch that saves the source's record; runs after it. */
export function sealSource({ workspace, sourceId }: Place, sealed: string): Statement {
  return statement(sql`
    update ${ident(metaSchema(workspace), 'data_source')} set sealed_credentials = ${param(sealed)}
    where id = ${param(sourceId)}::uuid`)
}

/** Returns undefined if the source does not exist or has no sealed settings. */
export async function loadSealedSource(
  database: SqlDriver,
  { workspace, sourceId }: Place,
): Promise<string | undefined> {
  const [[sealed] = []] = await database.query(
    statement(sql`
      select sealed_credentials from ${ident(metaSchema(workspace), 'data_source')}
      where id = ${param(sourceId)}::uuid`),
  )
  return sealed ?? undefined
}

/** The tables that introspections of the source import; empty for all. */
export async function loadTableChoice(database: SqlDriver, { workspace, sourceId }: Place): Promise<TableChoice> {
  const [[text] = []] = await database.query(
    statement(sql`
      select table_choice from ${ident(metaSchema(workspace), 'data_source')} where id = ${param(sourceId)}::uuid`),
  )
  return parseJson(text ?? '{}') as TableChoice
}

export function saveTableChoice({ workspace, sourceId }: Place, choice: TableChoice): Statement {
  return statement(sql`
    update ${ident(metaSchema(workspace), 'data_source')} set table_choice = ${json(choice)}::jsonb
    where id = ${param(sourceId)}::uuid`)
}

export type MarkedSource = {
  readonly workspaceId: string
  readonly sourceId: string
  /** The planned changes, for inspection after a crash. */
  readonly steps: readonly object[]
}

/** Runs before a source is changed: from here on its database may be ahead of the model. */
export function markSource({ workspaceId, sourceId, steps }: MarkedSource): Statement {
  return statement(sql`
    insert into service.source_mark (source_id, workspace_id, steps)
    values (${param(sourceId)}::uuid, ${param(workspaceId)}::uuid, ${json(steps)}::jsonb)`)
}

/** Runs when the model and the database are known to agree. */
export function unmarkSource(sourceId: string): Statement {
  return statement(sql`delete from service.source_mark where source_id = ${param(sourceId)}::uuid`)
}

/** Returns the workspace's sources that must be introspected before their next migration. */
export async function markedSources(database: SqlDriver, workspaceId: string): Promise<ReadonlySet<string>> {
  const rows = await database.query(
    statement(sql`select source_id from service.source_mark where workspace_id = ${param(workspaceId)}::uuid`),
  )
  return new Set(rows.map(([id]) => id ?? ''))
}

/** For the batch that saves a model in which these names are others'. */
export function recordGivenUp(workspaceId: string, names: readonly OwnedName[]): readonly Statement[] {
  if (names.length === 0) return []
  const id = sql`${param(workspaceId)}::uuid`
  return [
    statement(sql`delete from service.given_up_name
      where workspace_id = ${id} and given_up_at < clock_timestamp() - interval '1 minute'`),
    statement(sql`
      insert into service.given_up_name (workspace_id, name, owner_id, given_up_at)
      select ${id}, x.name, x."ownerId", clock_timestamp()
      from jsonb_to_recordset(${json(names)}::jsonb) as x (name text, "ownerId" uuid)
      on conflict (workspace_id, name) do update set owner_id = excluded.owner_id, given_up_at = excluded.given_up_at`),
  ]
}

/** Waits until no process has a model in which any of the names is another's (docs/contract.md#migrations). */
export async function waitForNames(
  database: SqlDriver,
  workspaceId: string,
  names: readonly OwnedName[],
): Promise<void> {
  if (names.length === 0) return
  await database.query(
    statement(sql`
      select pg_sleep(greatest(0, extract(epoch from max(n.given_up_at) + ${param(`${NAMES_KEPT} milliseconds`)}::interval
        - clock_timestamp())))::text
      from service.given_up_name n
      join jsonb_to_recordset(${json(names)}::jsonb) as x (name text, "ownerId" uuid) on x.name = n.name
      where n.workspace_id = ${param(workspaceId)}::uuid and n.owner_id <> x."ownerId"`),
  )
}
