/** Named secrets of workspaces. Only the sealed text is stored. */
import type { Statement } from '../core/sql/statement.ts'
import type { SqlDriver } from '../ports/database.ts'
import { metaSchema } from './installation.ts'
import { ident, json, milliseconds, param, sql, statement, uuids } from './statements.ts'

export type SecretRow = { readonly id: string; readonly name: string; readonly sealed: string }

/** Returns the existing secrets among `names`. */
export async function loadSecrets(
  database: SqlDriver,
  workspaceId: string,
  names: readonly string[],
): Promise<readonly SecretRow[]> {
  const rows = await database.query(
    statement(sql`
      select id, name, sealed_value from service.secret
      where workspace_id = ${param(workspaceId)}::uuid
        and name in (select jsonb_array_elements_text(${json(names)}::jsonb))`),
  )
  return rows.map(([id, name, sealed]) => ({ id: id ?? '', name: name ?? '', sealed: sealed ?? '' }))
}

/** The purpose to seal a secret's value with: it binds the text to this workspace and name. */
export function secretPurpose(workspaceId: string, name: string): string {
  return `secret:${workspaceId}:${name}`
}

export type ListedSecret = { readonly name: string; readonly createdAt: string; readonly updatedAt: string }

export async function listSecrets(database: SqlDriver, workspaceId: string): Promise<readonly ListedSecret[]> {
  const rows = await database.query(
    statement(sql`
      select name, ${milliseconds(sql`created_at`)}, ${milliseconds(sql`updated_at`)}
      from service.secret where workspace_id = ${param(workspaceId)}::uuid order by name`),
  )
  const time = (text: string | null | undefined) => new Date(Number(text)).toISOString()
  return rows.map(([name, created, updated]) => ({
    name: name ?? '',
    createdAt: time(created),
    updatedAt: time(updated),
  }))
}

/** Inserts a secret, or replaces the value of the existing secret with this name. */
export function saveSecret(workspaceId: string, { id, name, sealed }: SecretRow): Statement {
  return statement(sql`
    insert into service.secret (id, workspace_id, name, sealed_value)
    values (${param(id)}::uuid, ${param(workspaceId)}::uuid, ${param(name)}, ${param(sealed)})
    on conflict (workspace_id, name) do update
    set sealed_value = excluded.sealed_value, updated_at = clock_timestamp()`)
}

/** Fails by its foreign key if a data source uses the secret. */
export function deleteSecret(id: string): Statement {
  return statement(sql`delete from service.secret where id = ${param(id)}::uuid`)
}

/** For the batch that creates or changes the source. Fails by its foreign key if a secret was deleted. */
export function bindSecrets(
  { workspaceId, sourceId }: { readonly workspaceId: string; readonly sourceId: string },
  secretIds: readonly string[],
): Statement {
  return statement(sql`
    insert into service.source_secret (workspace_id, source_id, secret_id)
    select ${param(workspaceId)}::uuid, ${param(sourceId)}::uuid, s.id from (${uuids(secretIds)}) as s (id)`)
}

/** For the batch that changes or deletes the source: releases its secrets. */
export function unbindSecrets(sourceId: string): Statement {
  return statement(sql`delete from service.source_secret where source_id = ${param(sourceId)}::uuid`)
}

/** Returns the ids of the data sources that use a secret. */
export async function sourcesOf(database: SqlDriver, secretId: string): Promise<ReadonlySet<string>> {
  const rows = await database.query(
    statement(sql`select source_id from service.source_secret where secret_id = ${param(secretId)}::uuid`),
  )
  return new Set(rows.map(([id]) => id ?? ''))
}

/** Returns a text that changes whenever the configuration of the data source or a secret in it changes. */
export async function settingRevision(
  database: SqlDriver,
  { workspace, sourceId }: { readonly workspace: string; readonly sourceId: string },
): Promise<string> {
  const [[mark] = []] = await database.query(
    statement(sql`
      select concat_ws(' ', md5(sealed_credentials), (
        select string_agg(s.id::text || s.updated_at::text, ' ' order by s.id)
        from service.source_secret b join service.secret s on s.id = b.secret_id where b.source_id = d.id))
      from ${ident(metaSchema(workspace), 'data_source')} d where d.id = ${param(sourceId)}::uuid`),
  )
  return mark ?? ''
}
