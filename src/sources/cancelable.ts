/** Stops waiting for an uninterruptible source when the client has disconnected. */
import { disconnectedError } from '../core/sql/database-error.ts'
import type { QueryContext } from '../ports/database.ts'
import { queryFailed } from './assertion-error.ts'

/** Milliseconds between two checks for a disconnect. */
const POLL_INTERVAL = 250

/** Returns the result of `call`. Throws ServiceError `abandoned` after the client disconnects; the call continues. */
export async function cancelable<T>(call: Promise<T>, context: QueryContext | undefined): Promise<T> {
  if (context?.isDisconnected === undefined) return call
  const leaving = Promise.withResolvers<never>()
  const timer = setInterval(() => {
    if (context.isDisconnected?.() === true) leaving.reject(queryFailed(disconnectedError()))
  }, POLL_INTERVAL)
  try {
    return await Promise.race([call, leaving.promise])
  } finally {
    clearInterval(timer)
  }
}
