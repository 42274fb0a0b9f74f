/**
 * The system database, whose own work is run again when the database ends it as a deadlock: whatever was to be one
 * transaction has left nothing then. So no request fails because a workspace was deleted meanwhile, whose tables take locks
 * that readers wait for. What a caller asks of items has a context, and rules of its own (decision 074).
 */
import { SqlFault } from '../../core/sql/fault.ts'
import { pause } from '../../ports/clock.ts'
import type { SqlDriver } from '../../ports/database.ts'
import { isInternal } from './time-limit.ts'

export function runsAgain(driver: SqlDriver): SqlDriver {
  return {
    ...driver,
    query: (statement, context) =>
      isInternal(context) ? again(() => driver.query(statement, context)) : driver.query(statement, context),
    batch: (statements, context) =>
      isInternal(context) ? again(() => driver.batch(statements, context)) : driver.batch(statements, context),
  }
}

const MAX_ATTEMPTS = 5
/** Milliseconds before the second attempt; each pause is up to twice as long as the last. */
const PAUSE = 20

async function again<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work()
    } catch (error) {
      if (!isDeadlock(error) || attempt === MAX_ATTEMPTS) throw error
    }
    // At random, so that those who met do not meet again.
    await pause(PAUSE * 2 ** attempt * Math.random())
  }
}

function isDeadlock(error: unknown): boolean {
  return error instanceof SqlFault && error.state === '40P01'
}
