/**
 * Numbered migrations of the system database: each is applied once, in its own transaction, under a lock that all
 * processes and isolates share. Also creates the schemas of a workspace.
 */

import { ServiceError } from '../core/error.ts'
import { takeAdvisoryLock } from '../core/sql/postgres/advisory-locks.ts'
import { postgres } from '../core/sql/postgres/dialect.ts'
import type { Statement } from '../core/sql/statement.ts'
import type { SqlDriver } from '../ports.ts'
import { isDuplicate } from './failed-batch.ts'
import installation from './schema/001-installation.ts'
import access from './schema/002-access.ts'
import serviceAccounts from './schema/003-service-accounts.ts'
import passwords from './schema/004-passwords.ts'
import providers from './schema/005-providers.ts'
import sources from './schema/006-sources.ts'
import license from './schema/007-license.ts'
import telemetry from './schema/008-telemetry.ts'
import connectors from './schema/009-connectors.ts'
import sessionProviders from './schema/010-session-providers.ts'
import proof from './schema/011-proof.ts'
import keyScopes from './schema/012-key-scopes.ts'
import secrets from './schema/013-secrets.ts'
import drift from './schema/014-drift.ts'
import ledger from './schema/015-ledger.ts'
import sessionClients from './schema/016-session-clients.ts'
import deviceSignIns from './schema/017-device-sign-ins.ts'
import signInLinks from './schema/018-sign-in-links.ts'
import givenUpNames from './schema/019-given-up-names.ts'
import workspaceModel from './schema/workspace-001-model.ts'
import looseTexts from './schema/workspace-002-loose-texts.ts'
import exactTexts from './schema/workspace-003-exact-texts.ts'
import nativeTypes from './schema/workspace-004-native-types.ts'
import tableChoice from './schema/workspace-005-table-choice.ts'
import manyToMany from './schema/workspace-006-many-to-many.ts'
import catalogIds from './schema/workspace-007-catalog-ids.ts'
import views from './schema/workspace-008-views.ts'
import checks from './schema/workspace-009-checks.ts'
import inherited from './schema/workspace-010-inherited.ts'
import sourceLedger from './schema/workspace-011-ledger.ts'
import presentation from './schema/workspace-012-presentation.ts'
import viewRoles from './schema/workspace-013-view-roles.ts'
import closed from './schema/workspace-014-closed.ts'
import triggers from './schema/workspace-015-triggers.ts'
import { param, sql, statement } from './statements.ts'

/** Ordered by number. A released migration is never edited. */
const migrations: readonly (readonly [number, string])[] = [
  [1, installation],
  [2, access],
  [3, serviceAccounts],
  [4, passwords],
  [5, providers],
  [6, sources],
  [7, license],
  [8, telemetry],
  [9, connectors],
  [10, sessionProviders],
  [11, proof],
  [12, keyScopes],
  [13, secrets],
  [14, drift],
  [15, ledger],
  [16, sessionClients],
  [17, deviceSignIns],
  [18, signInLinks],
  [19, givenUpNames],
]
const workspaceMigrations: readonly string[] = [
  workspaceModel,
  looseTexts,
  exactTexts,
  nativeTypes,
  tableChoice,
  manyToMany,
  catalogIds,
  views,
  checks,
  inherited,
  sourceLedger,
  presentation,
  viewRoles,
  closed,
  triggers,
]

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
export function workspaceSchema(workspace: string): readonly Statement[] {
  return workspaceMigrations.flatMap((script) => workspaceScript(script, workspace))
}

/** Drops both schemas with everything in them. */
export function dropWorkspaceSchema(workspace: string): readonly Statement[] {
  return split(`drop schema ${names(workspace).meta} cascade;\ndrop schema ${names(workspace).data} cascade;\n`)
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
    const mark = statement(
      sql`update service.workspace set schema_number = ${latest}::int where api_name = ${param(name ?? null)}`,
    )
    await database.batch([takeAdvisoryLock('ownSchema'), ...scripts, mark])
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
