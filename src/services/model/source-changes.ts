/**
 * The changes of a migration in databases other than our own: they are outside of the transaction that saves the model,
 * so their source is marked first and unmarked by that transaction. Where a database has transactions for DDL, all of
 * its changes are one; where it has none, they run one by one, and a failure tells which ones did
 * (docs/contract.md#all-or-nothing).
 */
import { nested, ServiceError } from '../../core/error.ts'
import type { SourceChange } from '../../core/migration/apply.ts'
import { ddlRefusal } from '../../core/migration/ddl-refusal.ts'
import { MIGRATION_FAILED, migrationFault } from '../../core/migration/fault.ts'
import { compileChange } from '../../core/sql/ddl.ts'
import type { Dialect } from '../../core/sql/dialect.ts'
import { SqlFault } from '../../core/sql/fault.ts'
import { compile, type Statement } from '../../core/sql/statement.ts'
import type { SqlDriver } from '../../ports.ts'
import type { SourceDatabase } from '../../sources/provider.ts'
import { type MarkedSource, markSource, unmarkSource } from '../../store/sources.ts'

/** All changes of one source, in order. */
export type SourceWork = {
  readonly sourceId: string
  readonly database: SourceDatabase
  readonly changes: readonly SourceChange[]
}

export function compileChanges(changes: readonly SourceChange[], dialect: Dialect): readonly Statement[] {
  return changes.flatMap((change) => compileOne(change, dialect))
}

function compileOne({ change }: SourceChange, dialect: Dialect): readonly Statement[] {
  return compileChange(change, dialect).map((fragment) => compile(fragment, dialect))
}

/** By source, in the order in which sources first come up. */
export function groupBySource(changes: readonly SourceChange[]): ReadonlyMap<string, readonly SourceChange[]> {
  const groups = new Map<string, SourceChange[]>()
  for (const change of changes) {
    const group = groups.get(change.sourceId)
    if (group === undefined) groups.set(change.sourceId, [change])
    else group.push(change)
  }
  return groups
}

/** The marks that go before the work, and what takes them away once the model is saved. */
export function marksOf(workspaceId: string, works: readonly SourceWork[]) {
  const mark = ({ sourceId, changes }: SourceWork): MarkedSource => ({
    workspaceId,
    sourceId,
    steps: changes.map(toldStep),
  })
  return {
    mark: works.map((work) => markSource(mark(work))),
    unmark: works.map(({ sourceId }) => unmarkSource(sourceId)),
  }
}

/**
 * Runs the changes of one source after the other. Throws what a migration answers where one fails; marks of sources that
 * are known to be as they were are taken away in `system`, the others stay.
 */
export async function runSourceWorks(system: SqlDriver, works: readonly SourceWork[]): Promise<void> {
  const applied: SourceChange[] = []
  for (const [position, work] of works.entries()) {
    try {
      await runWork(work)
      applied.push(...work.changes)
    } catch (cause) {
      if (!(cause instanceof SqlFault)) throw cause
      const outcome = outcomeOf(work, cause)
      const untouched = works.slice(outcome.isUntouched ? position : position + 1)
      await system.batch(untouched.map(({ sourceId }) => unmarkSource(sourceId)))
      throw failureOf(work, { fault: cause, applied: [...applied, ...outcome.applied], failed: outcome.failed })
    }
  }
}

async function runWork({ database: { driver, dialect }, changes }: SourceWork): Promise<void> {
  const turn = dialect.ddl.turn
  await driver.batch([turn.take, ...compileChanges(changes, dialect), ...turn.leave])
}

type Outcome = {
  readonly applied: readonly SourceChange[]
  /** The change that failed, where that is known. */
  readonly failed: SourceChange | undefined
  /** Whether the database is certainly as it was. */
  readonly isUntouched: boolean
}

function outcomeOf({ database: { dialect }, changes }: SourceWork, fault: SqlFault): Outcome {
  // What the answer was to, may have been done as well as not.
  const isLost = fault.state.startsWith('08')
  if (dialect.ddl.turn.isTransaction) {
    return { applied: [], failed: guilty(changes, fault), isUntouched: !isLost }
  }
  // Without a position nothing was sent, and the first statement only takes the turn.
  if (fault.position === undefined || fault.position === 0) return { applied: [], failed: undefined, isUntouched: true }
  let end = 1
  for (const [place, change] of changes.entries()) {
    end += compileOne(change, dialect).length
    if (fault.position >= end) continue
    return { applied: changes.slice(0, place), failed: change, isUntouched: fault.position === 1 && !isLost }
  }
  return { applied: changes, failed: undefined, isUntouched: false }
}

/** A fault that names a table, a column or a constraint is traced to the change that speaks of it. */
export function guilty(changes: readonly SourceChange[], fault: SqlFault): SourceChange | undefined {
  return [fault.constraint, fault.column, fault.table]
    .filter((name) => name !== undefined)
    .map((name) => changes.find(({ change }) => JSON.stringify(change).includes(JSON.stringify(name))))
    .find((change) => change !== undefined)
}

type Failure = {
  readonly fault: SqlFault
  readonly applied: readonly SourceChange[]
  readonly failed: SourceChange | undefined
}

function failureOf({ database: { dialect } }: SourceWork, { fault, applied, failed }: Failure): ServiceError {
  const cause = ddlRefusal(fault, dialect)
  const meta = applied.length > 0 || !dialect.ddl.turn.isTransaction ? partial(applied, failed) : undefined
  const told =
    failed === undefined ? nested(cause.kind, [MIGRATION_FAILED], { cause }) : migrationFault(failed.operation, cause)
  return meta === undefined ? told : new ServiceError(told.kind, told.message, { cause: told.cause, meta })
}

function partial(applied: readonly SourceChange[], failed: SourceChange | undefined) {
  return { applied: applied.map(toldStep), failed: failed === undefined ? null : toldStep(failed) }
}

/** No SQL: what was to be done, to which table, and by which operation. */
function toldStep({ operation, change }: SourceChange) {
  const collection = 'table' in change ? change.table.dbName : change.schema
  return { operation, collection, change: change.kind }
}
