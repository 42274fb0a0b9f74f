/**
 * Prepares the work of a migration, for every caller alike: operations → changes of databases by source, obstacles, and the
 * statements that run with the model (docs/contract.md#all-or-nothing).
 */
import { holdsEveryRow } from '../../core/access/access.ts'
import { viewerOf } from '../../core/access/merge.ts'
import type { Rights } from '../../core/access/principal.ts'
import { ServiceError } from '../../core/error.ts'
import { type Applied, applyOperations, type MigrationContext, type SourceChange } from '../../core/migration/apply.ts'
import { ddlError } from '../../core/migration/ddl-error.ts'
import { MIGRATION_FAILED as FAILED, FailedMigration, invalidOperation } from '../../core/migration/fault.ts'
import { madeBy } from '../../core/migration/named.ts'
import type { Operation } from '../../core/migration/operation.ts'
import { withApplied } from '../../core/migration/renames.ts'
import { touchedSources } from '../../core/migration/touched-sources.ts'
import type { Model, ModelRecords } from '../../core/model/model.ts'
import type { ReadColumns } from '../../core/sql/ddl/obstacles.ts'
import { type DeclaredKey, keyFault, keyQuestion, NO_KEY } from '../../core/sql/declared-key.ts'
import { SqlFault } from '../../core/sql/fault.ts'
import { systemDialect } from '../../core/sql/postgres/system-dialect.ts'
import type { Statement } from '../../core/sql/statement.ts'
import type { Ports } from '../../ports/ports.ts'
import { inParts } from '../../sources/in-parts.ts'
import type { SourceDatabase } from '../../sources/provider.ts'
import { forgetCatalogIds } from '../../store/catalog-ids.ts'
import { changesTable } from '../../store/changes.ts'
import { dataSchema } from '../../store/installation.ts'
import { markedSources, recordGivenUp, waitForNames } from '../../store/sources.ts'
import type { WorkspaceRow } from '../../store/workspaces.ts'
import type { RequestScope } from '../caller/callers.ts'
import type { ExternalChanges } from './model-changes.ts'
import { requireNoObstacles } from './obstacles.ts'
import type { OpenSources } from './open-sources.ts'
import {
  type ChangedNames,
  changedNames,
  placesOf,
  requireUnhidden,
  requireUnshared,
  stillUnshared,
} from './shared-names.ts'
import { shownStatements } from './shown-statements.ts'
import {
  compileChanges,
  describeSteps,
  explain,
  failedChange,
  groupBySource,
  migrationMarks,
  type RecordUnsaved,
  runSourceMigrations,
  type SourceMigration,
} from './source-changes.ts'
import { withMessage } from './source-errors.ts'

export type MigrationWork = {
  /** Applies operations to the model; throws the fault of the first operation that cannot be applied. Changes nothing. */
  prepare(scope: Migrating, before: Model, operations: readonly Operation[]): Promise<Work>
  /** Throws if the changes are known to fail. */
  requirePossible(workspace: WorkspaceRow, work: Work, how: { readonly isDryRun: boolean }): Promise<void>
  /**
   * Returns the statements that run in the batch that saves the model, and the changes of other databases, which run before it.
   * Waits if another collection or field had one of the names until a moment ago.
   */
  changes(
    workspace: WorkspaceRow,
    work: Work,
    unsaved: RecordUnsaved,
  ): Promise<{ readonly statements: readonly Statement[]; readonly elsewhere?: ExternalChanges }>
  /** The statements of a dry run. */
  shown(work: Work): Promise<readonly ShownStatement[]>
}

/** The rights that decide what an error may say about obstructing rows. */
export type Migrating = Pick<RequestScope, 'workspace' | 'rights'>

export type ShownStatement = { readonly sourceId: string; readonly sql: string }

type Databases = ReadonlyMap<string, SourceDatabase>

/** The model before and after, and the changes of the system database and of others. */
export type Work = {
  readonly before: Model
  readonly records: ModelRecords
  readonly own: readonly SourceMigration[]
  readonly others: readonly SourceMigration[]
  readonly names: Applied['names']
  /** Names in databases that other sources share. */
  readonly changedNames: readonly ChangedNames[]
  /** The ids of the collections and fields that are created; some may have existed before. */
  readonly made: ReadonlySet<string>
  /** The context in which the operations were applied. */
  readonly context: MigrationContext
}

export type MigrationWorkDeps = {
  readonly ports: Pick<Ports, 'database'>
  readonly openSources: Pick<OpenSources, 'open'>
}

export function createMigrationWork(deps: MigrationWorkDeps): MigrationWork {
  const { ports, openSources } = deps
  const { database } = ports
  /** The databases of the affected sources; no other source is opened. */
  async function databasesOf(
    workspace: WorkspaceRow,
    current: ModelRecords,
    operations: readonly Operation[],
  ): Promise<Databases> {
    const touched = await inParts(touchedSources(current, operations))
    const databases = new Map<string, SourceDatabase>()
    for (const record of current.sources) {
      if (!touched.has(record.id)) continue
      const opened = await withMessage(FAILED, openSources.open(workspace, record))
      if (opened.database !== undefined) databases.set(record.id, await withMessage(FAILED, opened.database()))
    }
    return databases
  }

  async function prepare(
    { workspace, rights }: Migrating,
    before: Model,
    operations: readonly Operation[],
  ): Promise<Work> {
    const { records: current } = before
    const databases = await databasesOf(workspace, current, operations)
    const context: MigrationContext = {
      workspace: workspace.apiName,
      dialectOf: (sourceId) => databases.get(sourceId)?.dialect,
      dataNamespaceOf: (sourceId) => dataNamespaceOf(workspace, current, sourceId),
      changesOf: (sourceId) => changesTable(workspace.apiName, before.sources.get(sourceId)),
    }
    const { records, changes, declaredKeys, names } = await inParts(applyOperations(current, operations, context))
    const reader = { rights, before }
    for (const key of declaredKeys) await requireKey(key, databases, reader)
    const works = [...groupBySource(changes)].map(([sourceId, own]): SourceMigration => {
      const source = databases.get(sourceId)
      if (source === undefined) throw new Error(`a change of the source ${sourceId}, which has no database`)
      return {
        sourceId,
        provider: current.sources.find(({ id }) => id === sourceId)?.provider ?? '',
        database: source,
        changes: own,
        isRead: (reads) => readsAll({ sourceId, reads }, reader),
      }
    })
    const isOwn = ({ database: { place } }: SourceMigration) => place === undefined
    await requireUnhidden(
      works.filter((work) => !isOwn(work)),
      rights,
    )
    return {
      before,
      records,
      own: works.filter(isOwn),
      others: works.filter((work) => !isOwn(work)),
      names,
      changedNames: await changedNames(database, works, rights),
      made: madeBy(operations),
      context,
    }
  }

  /** After an unfinished migration, the model differs from the database. */
  async function requireAgreement(workspace: WorkspaceRow, current: ModelRecords, works: readonly SourceMigration[]) {
    if (works.length === 0) return
    const marked = await markedSources(database, workspace.id)
    const work = works.find(({ sourceId }) => marked.has(sourceId))
    if (work === undefined) return
    const name = current.sources.find(({ id }) => id === work.sourceId)?.apiName
    throw new FailedMigration(
      work.changes[0]?.operation ?? 0,
      invalidOperation(
        'introspectFirst',
        `introspect the data source ${name} first: an earlier migration of it did not end`,
      ),
    )
  }

  return {
    prepare,

    async requirePossible(workspace, { before, own, others, changedNames }, how) {
      await requireUnshared(database, changedNames)
      await requireAgreement(workspace, before.records, others)
      await requireNoObstacles([...own, ...others], how)
    },

    async changes(workspace, { before, own, others, names, changedNames, made }, unsaved) {
      const { records: current } = before
      await waitForNames(database, workspace.id, names.taken)
      const givenUp = recordGivenUp(workspace.id, names.givenUp)
      const again = [...current.collections, ...current.primitiveFields].filter(({ id }) => made.has(id))
      const forget = forgetCatalogIds(
        workspace.apiName,
        again.map(({ id }) => id),
      )
      const { mark, unmark } = migrationMarks(workspace.id, others)
      const changes = own.flatMap((work) => work.changes)
      const elsewhere = others.flatMap((work) => work.changes)
      return {
        statements: [
          ...stillUnshared(changedNames),
          ...forget,
          ...(await inParts(compileChanges(changes, systemDialect))),
          ...unmark,
          ...(await placesOf(workspace.id, [...own, ...others])),
          // Last, because the names still belong to others while the batch runs.
          ...givenUp,
        ],
        ...(others.length > 0 && {
          elsewhere: {
            announce: mark,
            run: async () => {
              const half = await runSourceMigrations(database, others)
              if (half === undefined) return undefined
              const { applied, unmark, error } = half
              const statements = [...givenUp, ...unmark, unsaved(describeSteps(applied))]
              return { records: withApplied(current, half), statements, error }
            },
            unsaved: {
              records: withApplied(current, { applied: elsewhere, touched: elsewhere }),
              statements: [...givenUp, unsaved(describeSteps(elsewhere))],
            },
          },
        }),
      }
    },

    async shown({ own, others }) {
      const statements: ShownStatement[] = []
      for (const work of [...others, ...own]) {
        for (const sql of await shownStatements(work)) statements.push({ sourceId: work.sourceId, sql })
      }
      return statements
    },
  }
}

/** Throws the error of the operation whose statement the system database refused; rethrows other causes unchanged. */
export async function throwExplained(cause: unknown, works: readonly SourceMigration[]): Promise<never> {
  if (!(cause instanceof SqlFault)) throw cause
  for (const work of works) await explain(work, cause)
  throw refused(
    cause,
    works.flatMap(({ changes }) => changes),
  )
}

type Reader = { readonly rights: Rights; readonly before: Model }

/** True if the caller can read these columns in every row of their tables. */
function readsAll(
  { sourceId, reads }: { readonly sourceId: string; readonly reads: readonly ReadColumns[] },
  { rights, before }: Reader,
): boolean {
  if (rights.kind === 'all') return true
  const viewer = viewerOf(rights, before)
  return reads.every(({ table, columns }) => {
    const collection = [...before.collections.values()].find(
      (one) => one.sourceId === sourceId && one.schema === table.schema && one.dbName === table.dbName,
    )
    const fields = columns.map((name) => collection?.primitives.find(({ dbName }) => dbName === name))
    return collection !== undefined && holdsEveryRow(viewer, 'read', collection, fields)
  })
}

function dataNamespaceOf(workspace: WorkspaceRow, records: ModelRecords, sourceId: string): string | null {
  const name = dataSchema(workspace.apiName)
  return (
    records.namespaces.find((namespace) => namespace.sourceId === sourceId && namespace.dbName === name)?.id ?? null
  )
}

/** Throws 409 if rows of the view have the same key or an incomplete key. */
async function requireKey(key: DeclaredKey, databases: Databases, reader: Reader): Promise<void> {
  const source = databases.get(key.sourceId)
  if (source === undefined) return
  const { driver, dialect } = source
  const rows = await driver.query(keyQuestion(key, dialect)).catch((cause: unknown) => {
    throw cause instanceof SqlFault ? new FailedMigration(key.operation, ddlError(cause, dialect)) : cause
  })
  const fault = keyFault(rows)
  if (fault === undefined) return
  const message = readsAll({ sourceId: key.sourceId, reads: [key] }, reader) ? fault : NO_KEY
  throw new FailedMigration(key.operation, new ServiceError('conflict', message, { code: '3015' }))
}

/** Maps a fault of the system database to an error of the operation that caused it. */
function refused(fault: SqlFault, changes: readonly SourceChange[]): ServiceError {
  const cause = ddlError(fault, systemDialect)
  const change = failedChange(changes, fault)
  if (change !== undefined) return new FailedMigration(change.operation, cause, change.subject)
  return new ServiceError(cause.kind, FAILED, { cause })
}
