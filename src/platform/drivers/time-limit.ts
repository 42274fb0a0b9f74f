/**
 * A statement that somebody waits for, ended when it has taken too long or when they have left. Each driver brings the
 * means to end it; what happened is the fault that is thrown, whatever the database said to being ended.
 */
import { CANCELED, SqlFault, TIMED_OUT } from '../../core/sql/fault.ts'
import type { QueryContext } from '../../ports.ts'

/** Milliseconds between two looks at a statement that takes long: what ends sooner is never worth ending. */
export const POLL_INTERVAL = 250

export type TimeLimit = {
  readonly context: QueryContext | undefined
  /** Milliseconds; 0 is no limit. */
  readonly timeLimit: number
  /** Milliseconds that the work has taken, where it may have waited before it began. */
  readonly elapsed?: (() => number) | undefined
  /** Called once, when the work is to end; the work has to settle soon after. */
  readonly end: () => void
}

/** What `work` answers. Throws SqlFault OVERDUE or ABANDONED where it was ended. */
export async function withTimeLimit<T>(work: Promise<T>, bounds: TimeLimit): Promise<T> {
  const { context, timeLimit, elapsed, end } = bounds
  if (context === undefined || (timeLimit === 0 && context.isDisconnected === undefined)) return work
  const begun = performance.now()
  let fault: SqlFault | undefined
  const look = () => {
    fault = abortReason(context, { elapsed: elapsed?.() ?? performance.now() - begun, timeLimit })
    if (fault === undefined) return
    clearInterval(timer)
    end()
  }
  const timer = setInterval(look, pauseOf(context, bounds))
  try {
    return await work
  } catch (error) {
    throw fault ?? error
  } finally {
    clearInterval(timer)
  }
}

/** Why a statement ought to end now; undefined where it may go on. */
export function abortReason(
  context: QueryContext,
  { elapsed, timeLimit }: { readonly elapsed: number; readonly timeLimit: number },
): SqlFault | undefined {
  if (context.isDisconnected?.() === true)
    return new SqlFault('nobody waits for the answer any more', { state: CANCELED })
  // A timer may be a little early by the clock that it is held against.
  const isLate = timeLimit > 0 && elapsed >= timeLimit - 1
  return isLate ? new SqlFault('the time limit was reached', { state: TIMED_OUT }) : undefined
}

function pauseOf(context: QueryContext, { timeLimit, elapsed }: TimeLimit): number {
  if (context.isDisconnected === undefined && elapsed === undefined) return timeLimit
  return timeLimit === 0 ? POLL_INTERVAL : Math.min(POLL_INTERVAL, timeLimit)
}
