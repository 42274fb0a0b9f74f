/**
 * Runs the changes of a migration in databases other than the system database, outside of the transaction that saves the model.
 * Marks each source before the work; that transaction removes the mark. With transactional DDL, all changes of a source are one
 * transaction. Without it they run one by one, and an error lists the applied ones (docs/contract.md#all-or-nothing).
 */
import { nested, ServiceError } from '../../core/error.ts'
import type { SourceChange } from '../../core/migration/apply.ts'
import { ddlError } from '../../core/migration/ddl-error.ts'
import { FailedMigration, isDataFault, MIGRATION_FAILED } from '../../core/migration/fault.ts'
import { eachOf, type Parts } from '../../core/parts.ts'
import { isUnsent } from '../../core/sql/address.ts'
import type { TableRef } from '../../core/sql/ddl/change.ts'
import { compileChange } from '../../core/sql/ddl/compile-change.ts'
import type { ReadColumns } from '../../core/sql/ddl/obstacles.ts'
import type { Dialect } from '../../core/sql/dialect.ts'
import { isInDoubt, SqlFault } from '../../core/sql/fault.ts'
import { compile, type Statement } from '../../core/sql/statement.ts'
import type { SqlDriver } from '../../ports/database.ts'
import { inParts } from '../../sources/in-parts.ts'
import type { SourceDatabase } from '../../sources/provider.ts'
import { type MarkedSource, markSource, unmarkSource } from '../../store/sources.ts'
import { findObstacle } from './obstacles.ts'

/** All changes of one source, in order. */
export type SourceMigration = {
  readonly sourceId: string
  readonly provider: string
  readonly database: SourceDatabase
  readonly changes: readonly SourceChange[]
  /** True if the caller can read these columns in every row. */
  readonly isRead: (reads: readonly ReadColumns[]) => boolean
}

/** Compiles the changes of one source to statements of its dialect. */
export function* compileChanges(changes: readonly SourceChange[], dialect: Dialect): Parts<readonly Statement[]> {
  const statements: Statement[] = []
  yield* eachOf(changes, (change) => statements.push(...compileOne(change, dialect)))
  return statements
}

function compileOne({ change }: SourceChange, dialect: Dialect): readonly Statement[] {
  return compileChange(change, dialect).map((fragment) => compile(fragment, dialect))
}

/** Groups by source, in the order in which sources first occur. */
export function groupBySource(changes: readonly SourceChange[]): ReadonlyMap<string, readonly SourceChange[]> {
  const groups = new Map<string, SourceChange[]>()
  for (const change of changes) {
    const group = groups.get(change.sourceId)
    if (group === undefined) groups.set(change.sourceId, [change])
    else group.push(change)
  }
  return groups
}

/** Statements that mark the sources before the work, and unmark them once the model is saved. */
export function migrationMarks(workspaceId: string, migrations: readonly SourceMigration[]) {
  const mark = ({ sourceId, changes }: SourceMigration): MarkedSource => ({
    workspaceId,
    sourceId,
    steps: describeSteps(changes),
  })
  return {
    mark: migrations.map((migration) => markSource(mark(migration))),
    unmark: migrations.map(({ sourceId }) => unmarkSource(sourceId)),
  }
}

/** An applied change in the form that errors and the audit log use. */
export type AppliedStep = ReturnType<typeof describeStep>

/** Records what was applied in databases whose model is then not saved. */
export type RecordUnsaved = (applied: readonly AppliedStep[]) => Statement

/** A migration with applied changes that cannot be undone. */
export type HalfDone = {
  readonly applied: readonly SourceChange[]
  /** The applied changes, and those that may have been applied. */
  readonly touched: readonly SourceChange[]
  /** Statements that unmark the sources that are known to be unchanged; the others stay marked. */
  readonly unmark: readonly Statement[]
  readonly error: ServiceError
}

/**
 * Runs the changes source by source. If a change fails and nothing is changed, unmarks the sources in `system` and throws the
 * migration's error. Returns the applied changes if there are any.
 */
export async function runSourceMigrations(
  system: SqlDriver,
  migrations: readonly SourceMigration[],
): Promise<HalfDone | undefined> {
  const applied: SourceChange[] = []
  for (const [position, migration] of migrations.entries()) {
    try {
      await runMigration(migration)
      applied.push(...migration.changes)
    } catch (cause) {
      if (!(cause instanceof SqlFault)) throw cause
      const { failed, ...outcome } = await withoutNewTables(migration, outcomeOf(migration, cause))
      const untouched = migrations.slice(outcome.isUntouched ? position : position + 1)
      const unmark = untouched.map(({ sourceId }) => unmarkSource(sourceId))
      const done = [...applied, ...outcome.applied]
      if (outcome.isUntouched && done.length === 0) {
        await system.batch(unmark)
        await explain(migration, cause)
        throw failureOf(migration, { fault: cause, applied: done, failed })
      }
      const touched = outcome.isUntouched ? done : [...done, ...outcome.perhaps]
      return { applied: done, touched, unmark, error: failureOf(migration, { fault: cause, applied: done, failed }) }
    }
  }
  return undefined
}

/** Throws an error with the operation and the rows, if the data caused the fault and the rows were found. */
export async function explain(migration: Omit<SourceMigration, 'sourceId' | 'provider'>, fault: SqlFault) {
  const { database } = migration
  if (!database.dialect.ddl.lock.isTransaction || !isDataFault(ddlError(fault, database.dialect))) return
  const error = await findObstacle(migration, { isOfCatalog: false })
  if (error !== undefined) throw error
}

async function runMigration({ database: { driver, dialect }, changes }: SourceMigration): Promise<void> {
  const turn = dialect.ddl.lock
  const statements = await inParts(compileChanges(changes, dialect))
  await driver.batch([turn.take, ...statements, ...turn.release])
}

/** Drops the tables that a failed migration created; if that fails too, reports them as applied. */
async function withoutNewTables(
  { database: { driver, dialect } }: SourceMigration,
  outcome: Outcome,
): Promise<Outcome> {
  const made = outcome.applied.filter(({ change }) => change.kind === 'createTable')
  if (made.length === 0) return outcome
  const isOfMade = ({ change }: SourceChange) =>
    'table' in change && made.some((one) => 'table' in one.change && isEqualTable(one.change.table, change.table))
  const drops = made.toReversed().flatMap(({ operation, sourceId, change }) => {
    if (!('table' in change)) return []
    return compileOne({ operation, sourceId, change: { kind: 'dropTable', table: change.table } }, dialect)
  })
  try {
    await driver.batch([dialect.ddl.lock.take, ...drops, ...dialect.ddl.lock.release])
  } catch {
    return outcome
  }
  const applied = outcome.applied.filter((change) => !isOfMade(change))
  const isWhole = outcome.failed !== undefined && (outcome.isFirstStatement || isOfMade(outcome.failed))
  return { ...outcome, applied, isUntouched: outcome.isUntouched || (applied.length === 0 && isWhole) }
}

function isEqualTable(one: TableRef, other: TableRef): boolean {
  return one.schema === other.schema && one.dbName === other.dbName
}

type Outcome = {
  readonly applied: readonly SourceChange[]
  /** The change that failed, if known. */
  readonly failed: SourceChange | undefined
  /** Changes that may have been applied completely or in part, unless the database is unchanged. */
  readonly perhaps: readonly SourceChange[]
  /** True if the database is certainly unchanged. */
  readonly isUntouched: boolean
  /** True if nothing of the failed change itself can have been applied. */
  readonly isFirstStatement: boolean
}

function outcomeOf({ database: { dialect }, changes, provider }: SourceMigration, fault: SqlFault): Outcome {
  // The connection was lost: the statement may or may not have run.
  const isLost = isInDoubt(fault)
  if (dialect.ddl.lock.isTransaction) {
    const isUntouched = !isLost || isUnsent(fault, provider)
    const failed = failedChange(changes, fault)
    return { applied: [], failed, perhaps: changes, isUntouched, isFirstStatement: false }
  }
  // Without a position nothing was sent, and the first statement only takes the lock.
  if (fault.position === undefined || fault.position === 0) {
    return { applied: [], failed: undefined, perhaps: [], isUntouched: true, isFirstStatement: true }
  }
  let end = 1
  for (const [place, change] of changes.entries()) {
    const start = end
    end += compileOne(change, dialect).length
    if (fault.position >= end) continue
    const isFirstStatement = fault.position === start && !isLost
    return {
      applied: changes.slice(0, place),
      failed: change,
      perhaps: [change],
      isUntouched: isFirstStatement && start === 1,
      isFirstStatement,
    }
  }
  return { applied: changes, failed: undefined, perhaps: [], isUntouched: false, isFirstStatement: false }
}

/**
 * Finds the change that caused a fault: the only change, or the first that contains the table, column or constraint of the
 * fault, or all quoted names of its message. Otherwise (PostgreSQL for objects in use) searches the words of message and
 * detail: only changes that can fail so and name the table count, and the first with the most matches wins.
 */
export function failedChange(changes: readonly SourceChange[], fault: SqlFault): SourceChange | undefined {
  if (changes.length === 1) return changes[0]
  const { constraint, column, table, message } = fault
  const single = [constraint, column, table].flatMap((name) => (name === undefined ? [] : [[name]]))
  const quoted = [...message.matchAll(/"([^"]+)"/g)].map(([, name = '']) => name)
  return (
    [...single, ...(quoted.length === 0 ? [] : [quoted])]
      .map((names) => changes.find(({ change }) => names.every((name) => hasName(change, name))))
      .find((change) => change !== undefined) ?? mostNamed(changes, fault)
  )
}

function mostNamed(changes: readonly SourceChange[], { state, message, detail }: SqlFault): SourceChange | undefined {
  const words = new Set(`${message} ${detail ?? ''}`.match(/[\p{L}\p{N}_$]+/gu))
  const rank = ({ change }: SourceChange) => {
    if (!('table' in change) || !words.has(change.table.dbName)) return 0
    if ((state === IN_USE) !== (change.kind.startsWith('drop') || change.kind === 'changeColumnType')) return 0
    return 'column' in change && typeof change.column === 'string' && words.has(change.column) ? 2 : 1
  }
  const most = Math.max(...changes.map(rank))
  return most > 0 ? changes.find((change) => rank(change) === most) : undefined
}

/** SQLSTATE of an object that others depend on. */
const IN_USE = '2BP01'

function hasName(change: SourceChange['change'], name: string): boolean {
  return JSON.stringify(change).includes(JSON.stringify(name))
}

type Failure = {
  readonly fault: SqlFault
  readonly applied: readonly SourceChange[]
  readonly failed: SourceChange | undefined
}

function failureOf({ database: { dialect } }: SourceMigration, { fault, applied, failed }: Failure): ServiceError {
  const cause = ddlError(fault, dialect)
  const meta = applied.length > 0 || !dialect.ddl.lock.isTransaction ? partial(applied, failed) : undefined
  const error =
    failed === undefined
      ? nested(cause.kind, [MIGRATION_FAILED], { cause })
      : new FailedMigration(failed.operation, cause, failed.subject)
  return meta === undefined ? error : new ServiceError(error.kind, error.message, { cause: error.cause, meta })
}

function partial(applied: readonly SourceChange[], failed: SourceChange | undefined) {
  return { applied: describeSteps(applied), failed: failed === undefined ? null : describeStep(failed) }
}

export function describeSteps(changes: readonly SourceChange[]): readonly AppliedStep[] {
  return changes.map(describeStep)
}

/** Describes a change without its SQL. */
function describeStep({ operation, change }: SourceChange) {
  const collection = 'table' in change ? change.table.dbName : change.schema
  return { operation, collection, change: change.kind }
}
