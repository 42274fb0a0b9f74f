/**
 * Numbered migrations of the system database: each is applied once, in its own transaction, under a lock that all
 * processes and isolates share. Also creates the schemas of a workspace.
 */

import { ServiceError } from '../core/error.ts'
import { takeAdvisoryLock } from '../core/sql/postgres/advisory-locks.ts'
import { postgres } from '../core/sql/postgres/dialect.ts'
import type { Statement } from '../core/sql/statement.ts'
import type { SqlDriver } from '../ports/database.ts'
import { isDuplicate, isUnmet } from './failed-batch.ts'
import instance from './schema/instance.ts'
import workspace from './schema/workspace.ts'
import { ident, param, sql, statement } from './statements.ts'

/** Ordered by number. A released migration is never edited. */
const migrations: readonly (readonly [number, string])[] = [[1, instance]]
const workspaceMigrations: readonly string[] = [workspace]

/** The schema number of an up-to-date workspace. */
export const WORKSPACE_SCHEMA_NUMBER = workspaceMigrations.length

/**
 * Migrates the system database to the newest schema; safe for concurrent processes. Throws SqlFault, and ServiceError
 * `failed` if the database is newer than this release.
 */
export async function installSchema(database: SqlDriver): Promise<void> {
  const applied = await appliedNumbers(database)
  const [highest, known] = [Math.max(0, ...applied), Math.max(...migrations.map(([number]) => number))]
  if (highest > known) {
    throw new ServiceError(
      'failed',
      `The system database is at schema ${highest}, this release knows ${known}: it was migrated by a newer release`,
    )
  }
  for (const [number, script] of migrations) {
    if (!applied.has(number)) await applyOnce(database, number, script)
  }
  await upgradeWorkspaces(database)
}

/** Builds the statements that create the two schemas of a new workspace. */
export function workspaceSchema(name: string): readonly Statement[] {
  return workspaceMigrations.flatMap((script) => workspaceScript(script, name))
}

/** Drops both schemas with everything in them, and the namespaces that were made beside them. */
export function dropWorkspaceSchema(workspace: string, namespaces: readonly string[]): readonly Statement[] {
  const beside = namespaces.filter((name) => name !== dataSchema(workspace))
  return [
    ...split(`drop schema ${names(workspace).meta} cascade;\ndrop schema ${names(workspace).data} cascade;\n`),
    ...beside.map((name) => statement(sql`drop schema if exists ${ident(name)} cascade`)),
  ]
}

async function appliedNumbers(database: SqlDriver): Promise<ReadonlySet<number>> {
  const [[exists] = []] = await database.query(statement(sql`select to_regclass('service.migration')`))
  if (exists === null || exists === undefined) return new Set()
  const rows = await database.query(statement(sql`select number from service.migration`))
  return new Set(rows.map(([number]) => Number(number)))
}

async function applyOnce(database: SqlDriver, number: number, script: string): Promise<void> {
  const record = statement(sql`insert into service.migration (number) values (${param(String(number))}::int)`)
  const preparation = number === 1 ? split(foundation) : []
  try {
    await database.batch([takeAdvisoryLock('ownSchema'), ...preparation, record, ...split(script)])
  } catch (error) {
    // The previous lock holder has applied it.
    const isApplied = isDuplicate(error) && (await appliedNumbers(database)).has(number)
    if (!isApplied) throw error
  }
}

const foundation = `
create schema if not exists service;
create table if not exists service.migration (
  number integer primary key,
  applied_at timestamptz not null default now()
);
`

async function upgradeWorkspaces(database: SqlDriver): Promise<void> {
  const latest = param(String(WORKSPACE_SCHEMA_NUMBER))
  const behind = await database.query(
    statement(sql`select w.api_name, w.schema_number from service.workspace w where w.schema_number < ${latest}::int`),
  )
  for (const [name, number] of behind) {
    const scripts = workspaceMigrations.slice(Number(number)).flatMap((script) => workspaceScript(script, name ?? ''))
    // Divides by zero where another process has done it since.
    const mark = statement(sql`with done as (
        update service.workspace set schema_number = ${latest}::int
        where api_name = ${param(name ?? null)} and schema_number = ${param(number ?? null)}::int returning 1)
      select 1 / count(*) from done`)
    try {
      await database.batch([takeAdvisoryLock('ownSchema'), mark, ...scripts])
    } catch (error) {
      if (!isUnmet(error)) throw error
    }
  }
}

function workspaceScript(script: string, workspace: string): readonly Statement[] {
  const { meta, data } = names(workspace)
  return split(script.replaceAll('{meta}', meta).replaceAll('{data}', data))
}

function names(workspace: string): { readonly meta: string; readonly data: string } {
  return { meta: postgres.quote(metaSchema(workspace)), data: postgres.quote(dataSchema(workspace)) }
}

/** Name of the schema with a workspace's model. */
export function metaSchema(workspace: string): string {
  return `service_${workspace}_meta`
}

/** Name of the schema with a workspace's own collections. */
export function dataSchema(workspace: string): string {
  return `service_${workspace}_data`
}

/** In these scripts a semicolon at the end of a line always ends a statement, and nothing else does. */
function split(script: string): readonly Statement[] {
  return script
    .split(/;\s*\n/)
    .map((text) => text.trim())
    .filter((text) => text !== '')
    .map((text) => ({ text, params: [] }))
}
