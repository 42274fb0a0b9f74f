/**
 * A migration: lock → apply → persist → DDL → publish. In the `_system` source model and tables change in one
 * transaction, so nothing partial is possible (docs/contract.md#all-or-nothing). Every other source is changed before
 * the model is saved.
 */
import { requireEntitlement } from '../../core/access/principal.ts'
import { ServiceError } from '../../core/error.ts'
import { applyOperations, type SourceChange } from '../../core/migration/apply.ts'
import { ddlError } from '../../core/migration/ddl-error.ts'
import { MIGRATION_FAILED as FAILED, invalidOperation, migrationFault } from '../../core/migration/fault.ts'
import { type Operation, parseMigration } from '../../core/migration/operation.ts'
import { touchedSources } from '../../core/migration/touched-sources.ts'
import type { ModelRecords } from '../../core/model/model.ts'
import { type DeclaredKey, keyFault, keyQuestion } from '../../core/sql/declared-key.ts'
import { SqlFault } from '../../core/sql/fault.ts'
import { postgres } from '../../core/sql/postgres/dialect.ts'
import type { Ports } from '../../ports.ts'
import type { SourceDatabase } from '../../sources/provider.ts'
import { dataSchema } from '../../store/installation.ts'
import { markedSources } from '../../store/sources.ts'
import type { WorkspaceRow } from '../../store/workspaces.ts'
import { recordWorkspaceEvent } from '../caller/audit.ts'
import type { RequestScope } from '../caller/callers.ts'
import { rememberIds } from './catalog-identity.ts'
import type { ModelChanges } from './model-changes.ts'
import { requireNoObstacles } from './obstacles.ts'
import type { OpenSources } from './open-sources.ts'
import { assertUnused, stillUnused } from './policy-use.ts'
import { shownStatements } from './shown-statements.ts'
import {
  compileChanges,
  explain,
  failedChange,
  groupBySource,
  migrationMarks,
  runSourceMigrations,
  type SourceMigration,
} from './source-changes.ts'
import { withMessage } from './source-errors.ts'

export type Migrations = {
  /**
   * Applies the operations of a body; 422 for a body that cannot be parsed, 500 where they cannot be applied
   * (docs/contract.md#migrations).
   */
  migrate(scope: RequestScope, body: string): Promise<void>
  /** Returns what `migrate` would run, and the resulting model; changes nothing. Throws what is known to keep it from running. */
  preview(scope: RequestScope, body: string): Promise<Preview>
}

export type Preview = {
  readonly statements: readonly { readonly sourceId: string; readonly sql: string }[]
  readonly model: ModelRecords
}

type Databases = ReadonlyMap<string, SourceDatabase>

/** The new model, and the changes of the system database and of others. */
type Work = {
  readonly records: ModelRecords
  readonly own: readonly SourceMigration[]
  readonly others: readonly SourceMigration[]
}

export type MigrationsDeps = {
  readonly ports: Pick<Ports, 'database' | 'ids'>
  readonly models: ModelChanges
  readonly openSources: Pick<OpenSources, 'open'>
}

export function createMigrations(deps: MigrationsDeps): Migrations {
  const { ports, models, openSources } = deps
  const { database, ids } = ports
  /** The databases of the affected sources; no other source is opened. */
  async function databasesOf(
    workspace: WorkspaceRow,
    current: ModelRecords,
    operations: readonly Operation[],
  ): Promise<Databases> {
    const touched = touchedSources(current, operations)
    const databases = new Map<string, SourceDatabase>()
    for (const record of current.sources) {
      if (!touched.has(record.id)) continue
      const opened = await withMessage(FAILED, openSources.open(workspace, record))
      if (opened.database !== undefined) databases.set(record.id, await withMessage(FAILED, opened.database()))
    }
    return databases
  }

  async function prepare(
    workspace: WorkspaceRow,
    current: ModelRecords,
    operations: readonly Operation[],
  ): Promise<Work> {
    const databases = await databasesOf(workspace, current, operations)
    const { records, changes, declaredKeys } = applyOperations(current, operations, {
      workspace: workspace.apiName,
      dialectOf: (sourceId) => databases.get(sourceId)?.dialect,
      dataNamespaceOf: (sourceId) => dataNamespaceOf(workspace, current, sourceId),
    })
    for (const key of declaredKeys) await requireKey(key, databases)
    const works = [...groupBySource(changes)].map(([sourceId, own]): SourceMigration => {
      const source = databases.get(sourceId)
      if (source === undefined) throw new Error(`a change of the source ${sourceId}, which has no database`)
      return { sourceId, database: source, changes: own }
    })
    const isOwn = ({ database: { driver } }: SourceMigration) => driver === database
    return { records, own: works.filter(isOwn), others: works.filter((work) => !isOwn(work)) }
  }

  /** After an unfinished migration, the model differs from the database. */
  async function requireAgreement(workspace: WorkspaceRow, current: ModelRecords, works: readonly SourceMigration[]) {
    if (works.length === 0) return
    const marked = await markedSources(database, workspace.id)
    const work = works.find(({ sourceId }) => marked.has(sourceId))
    if (work === undefined) return
    const name = current.sources.find(({ id }) => id === work.sourceId)?.apiName
    throw migrationFault(
      work.changes[0]?.operation ?? 0,
      invalidOperation(
        'introspectFirst',
        `introspect the data source ${name} first: an earlier migration of it did not end`,
      ),
    )
  }

  async function requirePossible(
    { workspace, rights }: RequestScope,
    { current, records, own, others }: Work & { readonly current: ModelRecords },
    how: { readonly isDryRun: boolean },
  ): Promise<void> {
    await assertUnused(database, workspace.id, { before: current, after: records, rights })
    await requireAgreement(workspace, current, others)
    await requireNoObstacles([...own, ...others], how)
  }

  return {
    async migrate(scope, body) {
      const { workspace, rights } = scope
      requireEntitlement(rights, 'dataModel:edit')
      const operations = parseMigration(body)
      const payload = { operations: operations.map(({ kind }) => kind) }
      let works: readonly SourceMigration[] = []
      try {
        const migrated = await models.change(workspace, async (current) => {
          const { records, own, others } = await prepare(workspace, current, operations)
          works = own
          await requirePossible(scope, { current, records, own, others }, { isDryRun: false })
          const { mark, unmark } = migrationMarks(workspace.id, others)
          return {
            records,
            statements: [
              ...stillUnused(workspace.id, current, records),
              ...compileChanges(
                own.flatMap(({ changes }) => changes),
                postgres,
              ),
              ...unmark,
              recordWorkspaceEvent(ids, scope, { action: 'schema.migrate.v1', payload }),
            ],
            answer: { before: current, after: records, sources: [...own, ...others] },
            ...(others.length > 0 && {
              elsewhere: { announce: mark, run: () => runSourceMigrations(database, others) },
            }),
          }
        })
        const { sources, ...change } = migrated
        await rememberIds(database, { workspace: workspace.apiName, ...change }, sources)
      } catch (cause) {
        if (!(cause instanceof SqlFault)) throw cause
        for (const work of works) await explain(work, cause)
        throw refused(
          cause,
          works.flatMap(({ changes }) => changes),
        )
      }
    },

    async preview(scope, body) {
      const { workspace, rights } = scope
      requireEntitlement(rights, 'dataModel:edit')
      const operations = parseMigration(body)
      const current = await models.current(workspace)
      const { records, own, others } = await prepare(workspace, current, operations)
      await requirePossible(scope, { current, records, own, others }, { isDryRun: true })
      const statements: Preview['statements'][number][] = []
      for (const work of [...others, ...own]) {
        for (const sql of await shownStatements(work)) statements.push({ sourceId: work.sourceId, sql })
      }
      return { statements, model: records }
    },
  }
}

function dataNamespaceOf(workspace: WorkspaceRow, records: ModelRecords, sourceId: string): string | null {
  const name = dataSchema(workspace.apiName)
  return (
    records.namespaces.find((namespace) => namespace.sourceId === sourceId && namespace.dbName === name)?.id ?? null
  )
}

/** Throws 409 where rows of the view share a key, or lack a part of it. */
async function requireKey(key: DeclaredKey, databases: Databases): Promise<void> {
  const source = databases.get(key.sourceId)
  if (source === undefined) return
  const { driver, dialect } = source
  const rows = await driver.query(keyQuestion(key, dialect)).catch((cause: unknown) => {
    throw cause instanceof SqlFault ? migrationFault(key.operation, ddlError(cause, dialect)) : cause
  })
  const fault = keyFault(rows)
  if (fault !== undefined) throw migrationFault(key.operation, new ServiceError('conflict', fault, { code: '3015' }))
}

/** Maps a fault of the system database to an error of the operation that caused it. */
function refused(fault: SqlFault, changes: readonly SourceChange[]): ServiceError {
  const cause = ddlError(fault, postgres)
  const change = failedChange(changes, fault)
  if (change !== undefined) return migrationFault(change.operation, cause)
  return new ServiceError(cause.kind, FAILED, { cause })
}
