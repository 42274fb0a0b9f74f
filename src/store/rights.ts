/**
 * The access version as an optimistic lock: a change decided on facts of one version is written only if no other change
 * of rights came first.
 */
import type { Statement } from '../core/sql/statement.ts'
import type { SqlDriver } from '../ports.ts'
import { param, sql, statement } from './statements.ts'

export async function loadAccessVersion(database: SqlDriver): Promise<number> {
  const [[version] = []] = await database.query(statement(sql`select access_version from service.instance`))
  return Number(version)
}

/** First in a batch: increments the access version, or fails the transaction if it is no longer `version`. */
export function bumpAccessFrom(version: number): Statement {
  return statement(sql`
    with turn as (
      update service.instance set access_version = access_version + 1
      where access_version = ${param(String(version))}::bigint
      returning 1)
    select 1 / count(*) from turn`)
}

/**
 * Fails the transaction if the workspace's model has another version, or is being changed; keeps it from changing until the end.
 * It waits for nobody, since the access version, which all workspaces share, is held meanwhile.
 */
export function lockModelVersion(workspaceId: string, version: number): Statement {
  return statement(sql`
    select 1 / count(*) from (
      select 1 from service.workspace
      where id = ${param(workspaceId)}::uuid and model_version = ${param(String(version))}::bigint
      for share nowait) held`)
}

/** Fails the transaction if somebody holds the row of the workspace. */
export function lockWorkspace(workspaceId: string): Statement {
  return statement(sql`
    select 1 from service.workspace where id = ${param(workspaceId)}::uuid for no key update nowait`)
}
