/**
 * Ends a statement when it exceeds its time limit or its client disconnects. Each driver supplies the way to end it;
 * the error says why it was ended, whatever the database reported.
 */

import { requireTerm } from '../../core/sql/begin/plan-term.ts'
import { CANCELED, SqlFault, TIMED_OUT } from '../../core/sql/fault.ts'
import type { QueryContext } from '../../ports/database.ts'

/** Milliseconds between two checks of a running statement; shorter statements are never ended early. */
export const POLL_INTERVAL = 250

/**
 * Returns what `lend` brings, if the plan may be used then still: it may have waited for long. Throws SqlFault OUTDATED, and gives
 * back what was lent.
 */
export async function lendInTerm<C extends { release(): void }>(
  lend: () => Promise<C>,
  context: Pick<QueryContext, 'term'> | undefined,
): Promise<C> {
  const connection = await lend()
  try {
    if (context?.term?.isOver()) await requireTerm(context.term)
    return connection
  } catch (error) {
    connection.release()
    throw error
  }
}

/**
 * Returns the result of a write on a connection of its own. Once its term is over it is looked at while it runs, since it may
 * wait for a row that somebody holds; `cancel` asks the server to end it. Throws SqlFault OUTDATED in place of the server's
 * word that it has done so, and whatever else the write ends with, also a success that came first.
 */
export async function whileInTerm<T>(work: Promise<T>, term: QueryContext['term'], cancel: () => void): Promise<T> {
  if (term === undefined) return work
  let outdated: unknown
  const look = looksAt(term, (fault) => {
    outdated = fault
    cancel()
  })
  const timer = setInterval(look, POLL_INTERVAL)
  try {
    return await work
  } catch (error) {
    throw outdated !== undefined && isEnded(error) ? outdated : error
  } finally {
    clearInterval(timer)
  }
}

/**
 * Returns what is called at every check of a running statement: once its term is over it is looked at, by one look at a time. Calls
 * `onOutdated` with SqlFault OUTDATED where its plan may not be used any more, once.
 */
export function looksAt(term: QueryContext['term'], onOutdated: (fault: SqlFault) => void): () => void {
  let isLooking = false
  return () => {
    if (isLooking || term?.isOver() !== true) return
    isLooking = true
    requireTerm(term).then(() => {
      isLooking = false
    }, onOutdated)
  }
}

/** Whether the server says that it has ended the statement. */
function isEnded(error: unknown): boolean {
  return error instanceof SqlFault && error.state === TIMED_OUT
}

export type TimeLimit = {
  readonly context: QueryContext | undefined
  /** In milliseconds; 0 means no limit. */
  readonly timeLimit: number
  /** Returns the milliseconds since the work began, if it may have waited before. */
  readonly elapsed?: (() => number) | undefined
  /** Called once to end the work, which must settle soon after. */
  readonly end: () => void
}

/** Milliseconds that a statement may take, where the driver's limit is `timeLimit`; 0 means no limit. */
export function limitOf(context: QueryContext | undefined, timeLimit: number): number {
  return isInternal(context) ? 0 : (context.timeLimit ?? timeLimit)
}

/** Whether it is work of the service itself. */
export function isInternal(context: QueryContext | undefined): context is undefined | { readonly isInternal: true } {
  return context === undefined || context.isInternal === true
}

/** Whether a caller waits for the statement, so that the limits of requests hold for it and for its session. */
export function isForCaller(context: QueryContext | undefined): context is QueryContext {
  return !isInternal(context) && context.timeLimit === undefined
}

/** Returns the result of `work`. Throws SqlFault TIMED_OUT or CANCELED if the work was ended. */
export async function withTimeLimit<T>(work: Promise<T>, bounds: TimeLimit): Promise<T> {
  const { context, elapsed, end } = bounds
  const timeLimit = limitOf(context, bounds.timeLimit)
  if (context === undefined || (timeLimit === 0 && context.isDisconnected === undefined)) return work
  const startedAt = performance.now()
  let fault: SqlFault | undefined
  const check = () => {
    fault = abortReason(context, { elapsed: elapsed?.() ?? performance.now() - startedAt, timeLimit })
    if (fault === undefined) return
    clearInterval(timer)
    end()
  }
  const timer = setInterval(check, pauseOf(context, { timeLimit, elapsed }))
  try {
    return await work
  } catch (error) {
    throw fault ?? error
  } finally {
    clearInterval(timer)
  }
}

/** Like `withTimeLimit`, for work by HTTP: ends it by the signal that `send` passes to its requests. */
export function withAbortSignal<T>(
  send: (signal: AbortSignal) => Promise<T>,
  bounds: Pick<TimeLimit, 'context' | 'timeLimit'>,
): Promise<T> {
  const controller = new AbortController()
  return withTimeLimit(send(controller.signal), { ...bounds, end: () => controller.abort() })
}

/** Returns why a statement must end now; undefined if it may continue. */
export function abortReason(
  context: QueryContext,
  { elapsed, timeLimit }: { readonly elapsed: number; readonly timeLimit: number },
): SqlFault | undefined {
  if (context.isDisconnected?.() === true) return new SqlFault('the client has disconnected', { state: CANCELED })
  // Timers may fire slightly early by this clock.
  const isLate = timeLimit > 0 && elapsed >= timeLimit - 1
  return isLate ? new SqlFault('the time limit was reached', { state: TIMED_OUT }) : undefined
}

function pauseOf(context: QueryContext, { timeLimit, elapsed }: Pick<TimeLimit, 'timeLimit' | 'elapsed'>): number {
  if (context.isDisconnected === undefined && elapsed === undefined) return timeLimit
  return timeLimit === 0 ? POLL_INTERVAL : Math.min(POLL_INTERVAL, timeLimit)
}
