/**
 * A statement that somebody waits for, ended when it has taken too long or when they have left. Each driver brings the
 * means to end it; what happened is the fault that is thrown, whatever the database said to being ended.
 */
import { ABANDONED, OVERDUE, SqlFault } from '../../core/sql/fault.ts'
import type { Asker } from '../../ports.ts'

/** Milliseconds between two looks at a statement that takes long: what ends sooner is never worth ending. */
export const LOOK = 250

export type Bounds = {
  readonly asker: Asker | undefined
  /** Milliseconds; 0 is no limit. */
  readonly timeLimit: number
  /** Milliseconds that the work has taken, where it may have waited before it began. */
  readonly elapsed?: (() => number) | undefined
  /** Called once, when the work is to end; the work has to settle soon after. */
  readonly end: () => void
}

/** What `work` answers. Throws SqlFault OVERDUE or ABANDONED where it was ended. */
export async function bounded<T>(work: Promise<T>, bounds: Bounds): Promise<T> {
  const { asker, timeLimit, elapsed, end } = bounds
  if (asker === undefined || (timeLimit === 0 && asker.hasLeft === undefined)) return work
  const begun = performance.now()
  let fault: SqlFault | undefined
  const look = () => {
    fault = endingOf(asker, { elapsed: elapsed?.() ?? performance.now() - begun, timeLimit })
    if (fault === undefined) return
    clearInterval(timer)
    end()
  }
  const timer = setInterval(look, pauseOf(asker, bounds))
  try {
    return await work
  } catch (error) {
    throw fault ?? error
  } finally {
    clearInterval(timer)
  }
}

/** Why a statement ought to end now; undefined where it may go on. */
export function endingOf(
  asker: Asker,
  { elapsed, timeLimit }: { readonly elapsed: number; readonly timeLimit: number },
): SqlFault | undefined {
  if (asker.hasLeft?.() === true) return new SqlFault('nobody waits for the answer any more', { state: ABANDONED })
  // A timer may be a little early by the clock that it is held against.
  const isLate = timeLimit > 0 && elapsed >= timeLimit - 1
  return isLate ? new SqlFault('the time limit was reached', { state: OVERDUE }) : undefined
}

function pauseOf(asker: Asker, { timeLimit, elapsed }: Bounds): number {
  if (asker.hasLeft === undefined && elapsed === undefined) return timeLimit
  return timeLimit === 0 ? LOOK : Math.min(LOOK, timeLimit)
}
