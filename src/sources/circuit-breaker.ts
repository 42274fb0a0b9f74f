/** A driver that fails fast while its database is known to be unreachable, and detects by itself when it is back. */
import { afterEvent, type Breaker, closedBreaker, isRefusing } from '../core/sql/breaker.ts'
import { SqlFault } from '../core/sql/fault.ts'
import { type Clock, elapsedOf } from '../ports/clock.ts'
import type { SqlDriver } from '../ports/database.ts'

export function withCircuitBreaker(driver: SqlDriver, clock: Clock): SqlDriver {
  const { converse, confirms } = driver
  const now = elapsedOf(clock)
  let breaker: Breaker = closedBreaker

  async function guarded<T>(work: () => Promise<T>): Promise<T> {
    if (isRefusing(breaker, now()))
      throw new SqlFault('the database was unreachable moments ago', { state: UNREACHABLE })
    breaker = afterEvent(breaker, 'started', now())
    try {
      const answer = await work()
      if (breaker !== closedBreaker) breaker = afterEvent(breaker, 'reached', now())
      return answer
    } catch (error) {
      const isUnreachable = error instanceof SqlFault && error.state === UNREACHABLE
      breaker = afterEvent(breaker, isUnreachable ? 'unreachable' : 'reached', now())
      throw error
    }
  }

  return {
    query: (statement, context) => guarded(() => driver.query(statement, context)),
    batch: (statements, context) => guarded(() => driver.batch(statements, context)),
    ...(converse && { converse: (statements, context) => guarded(() => converse(statements, context)) }),
    ...(confirms && { confirms }),
    close: () => driver.close(),
  }
}

const UNREACHABLE = '08000'
