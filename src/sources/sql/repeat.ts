/**
 * Repeats a write that was ended in favour of others. Repeated at once, those that were ended together would meet again:
 * from the second attempt on they run one after the other, by a lock of the database that replicas share (decision 074).
 */
import { SqlFault } from '../../core/sql/fault.ts'
import { around } from './around.ts'
import type { Attempt, PassingCause, RetryDeps } from './attempt.ts'

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
  const queued = { ...driver, ...around(driver, [take], release) }
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
