/** What a source outside of our reach is still busy with is not waited for when nobody wants its answer any more. */
import { refusal } from '../core/sql/refusal.ts'
import type { Asker } from '../ports.ts'
import { queryFailed } from './unmet-demand.ts'

/** Milliseconds between two looks at whether the asker is still there. */
const LOOK = 250

/** The answer of `call`. Throws ServiceError `abandoned` soon after the asker has left; the call itself goes on. */
export async function waitedFor<T>(call: Promise<T>, asker: Asker | undefined): Promise<T> {
  if (asker?.hasLeft === undefined) return call
  const leaving = Promise.withResolvers<never>()
  const timer = setInterval(() => {
    if (asker.hasLeft?.() === true) leaving.reject(queryFailed(refusal('abandoned')))
  }, LOOK)
  try {
    return await Promise.race([call, leaving.promise])
  } finally {
    clearInterval(timer)
  }
}
