/**
 * Retries a write that lost against concurrent writes, such as in a deadlock. From the second attempt on, retries run one after
 * the other under a database lock that replicas share (decision 074); together, they would collide again.
 */
import type { Dialect } from '../../core/sql/dialect.ts'
import { SqlFault } from '../../core/sql/fault.ts'
import type { SqlDriver } from '../../ports/database.ts'
import { wrapTransactions } from './wrap-transactions.ts'

export type RetryDeps = { readonly driver: SqlDriver; readonly dialect: Dialect }

export type Attempt<T> = {
  /** Runs the write by a driver that may add statements of its own to the transaction. */
  readonly run: (driver: SqlDriver) => Promise<T>
  /** Why a retry may succeed; undefined for a permanent fault. */
  readonly passing: (fault: SqlFault) => PassingCause | undefined
}

/**
 * `blocked`: a concurrent write won. `added`: a concurrent write has just added the same row. `perhaps`: another unique index
 * is violated, which the database may have checked first.
 */
export type PassingCause = 'blocked' | 'added' | 'perhaps'

/** Maximum attempts of a blocked write, and milliseconds after which no attempt begins. */
const MAX_ATTEMPTS = 10
const PATIENCE = 20_000
/** The row that violates a unique index is committed, so the next attempt finds it, unless the row is hidden or deleted again. */
const MAX_ADDED = 2
/** A retry finds a row that others have added; if the violation remains, it is by a different row. */
const MAX_PERHAPS = 1

/** `cause` is why the first attempt failed. Throws the fault of the last attempt. */
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
