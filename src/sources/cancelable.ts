/** What a source outside of our reach is still busy with is not waited for when nobody wants its answer any more. */
import { databaseError } from '../core/sql/database-error.ts'
import type { QueryContext } from '../ports.ts'
import { queryFailed } from './assertion-error.ts'

/** Milliseconds between two looks at whether the asker is still there. */
const POLL_INTERVAL = 250

/** The answer of `call`. Throws ServiceError `abandoned` soon after the asker has left; the call itself goes on. */
export async function cancelable<T>(call: Promise<T>, context: QueryContext | undefined): Promise<T> {
  if (context?.isDisconnected === undefined) return call
  const leaving = Promise.withResolvers<never>()
  const timer = setInterval(() => {
    if (context.isDisconnected?.() === true) leaving.reject(queryFailed(databaseError('abandoned')))
  }, POLL_INTERVAL)
  try {
    return await Promise.race([call, leaving.promise])
  } finally {
    clearInterval(timer)
  }
}
