/**
 * Repeats a write that was ended in favour of others. Repeated at once, those that were ended together would meet again:
 * from the second attempt on they run one after the other, by a lock of the database that replicas share (decision 074).
 */
import type { Dialect } from '../../core/sql/dialect.ts'
import { SqlFault } from '../../core/sql/fault.ts'
import type { SqlDriver } from '../../ports/database.ts'
import { wrapTransactions } from './wrap-transactions.ts'

export type RetryDeps = { readonly driver: SqlDriver; readonly dialect: Dialect }

export type Attempt<T> = {
  /** Runs the write by a driver that may add statements of its own to the transaction. */
  readonly run: (driver: SqlDriver) => Promise<T>
  /** Why the write may succeed when it is repeated; undefined for a fault that is its answer. */
  readonly passing: (fault: SqlFault) => PassingCause | undefined
}

/**
 * `blocked`: ended in favour of others. `added`: others have just added what it was to add once. `perhaps`: the violated
 * index is another, which the database may have checked first.
 */
export type PassingCause = 'blocked' | 'added' | 'perhaps'

/** Attempts of a write that others are in the way of, and milliseconds after which none begins. */
const MAX_ATTEMPTS = 10
const PATIENCE = 20_000
/** A row that violates a unique index has been committed, so that the next attempt finds it, unless it is hidden or gone again. */
const MAX_ADDED = 2
/** Run again, it finds a row that others have added; a violation that remains is of another row. */
const MAX_PERHAPS = 1

/** `cause` is why the first attempt has failed. Throws the fault of the last one. */
export async function repeat<T>(
  { driver, dialect }: RetryDeps,
  { run, passing }: Attempt<T>,
  cause: PassingCause,
): Promise<T> {
  const { take, release, remaining } = dialect.writeQueue
  const queued = { ...driver, ...wrapTransactions(driver, [take], release) }
  const end = performance.now() + PATIENCE
  const failed = { blocked: 0, added: 0, perhaps: 0 }
  failed[cause] += 1
  for (;;) {
    try {
      return await run(failed.blocked > 0 ? queued : driver)
    } catch (error) {
      if (!(error instanceof SqlFault)) throw error
      const next = passing(error)
      if (next === undefined) throw error
      failed[next] += 1
      if (failed.blocked >= MAX_ATTEMPTS) throw remaining?.(error) ?? error
      if (failed.added > MAX_ADDED || failed.perhaps > MAX_PERHAPS || performance.now() > end) throw error
    }
  }
}
