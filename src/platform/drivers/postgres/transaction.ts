/**
 * Runs statements between `begin` and `commit`, sent in slices so that other work can run in between. The time limit
 * covers the whole transaction from its begin; a late one is rolled back, so an ended transaction never wrote anything.
 */
import type pg from 'pg'
import { requireTerm } from '../../../core/sql/begin/plan-term.ts'
import { SqlFault, TIMED_OUT } from '../../../core/sql/fault.ts'
import type { Statement } from '../../../core/sql/statement.ts'
import type { QueryContext, SqlRow } from '../../../ports/database.ts'
import { asOneAnswer } from '../answer-bound.ts'
import { isLost } from '../lost-connection.ts'
import { isInternal, limitOf, POLL_INTERVAL } from '../time-limit.ts'
import { cancelRunning, cutOff } from './cancel.ts'
import {
  holdWrites,
  lost,
  type PostgresOptions,
  postgresFault,
  receivedBy,
  type TextResult,
  textRequest,
} from './client.ts'
import { isFull, type NameOf } from './prepared.ts'
import { readText } from './text-read.ts'

export type Transaction<Result> = {
  /** The statement that opens the transaction. */
  readonly begin: string
  readonly statements: readonly Statement[]
  /** In milliseconds; 0 means no limit. */
  readonly timeLimit: number
  readonly ask: Ask<Result>
  /** Whether the statements write nothing. */
  readonly isReading?: boolean
  /** Whether nobody waits for them any longer. */
  readonly isLeft?: (() => boolean) | undefined
  /** Called when the server has begun it. */
  readonly onBegin?: (() => void) | undefined
  /** Looked at before the commit. */
  readonly term?: QueryContext['term']
}

/** Sends a statement, and returns what it answers. */
export type Ask<Result> = (client: pg.PoolClient, statement: Statement) => Promise<Result>

/** What the server says of a statement that is not kept prepared. */
export const askOnce: Ask<TextResult> = (client, statement) => client.query<string[]>(textRequest(statement))

/** `nameOf` has names for statements that stay prepared on the connection. */
function askingBy(nameOf: NameOf | undefined): Ask<readonly SqlRow[]> {
  return (client, statement) => {
    const name = nameOf?.(statement.text)
    return name === undefined ? askOnce(client, statement).then(({ rows }) => rows) : readText(client, name, statement)
  }
}

/** Statements sent at a time: some milliseconds of work for this process. */
export const SLICE = 100

/** Milliseconds that a slice may run on after the time limit, since ending an embedded database restarts it. */
const GRACE = 1_000

/** Milliseconds that a cancelled slice has before its connection is cut off. */
const GIVEN_UP = 10_000

/** Runs a batch; with a client the time limit of `options` applies. */
export async function runBatch(
  lend: () => Promise<pg.PoolClient>,
  options: PostgresOptions,
  {
    statements,
    context,
    nameOf,
    onBegin,
  }: {
    readonly statements: readonly Statement[]
    readonly context: QueryContext | undefined
    readonly nameOf?: NameOf | undefined
    /** Called when the server has begun it. */
    readonly onBegin?: () => void
  },
): Promise<readonly (readonly SqlRow[])[]> {
  if (statements.length === 0) return []
  const timeLimit = limitOf(context, options.timeLimit ?? 0)
  // One message, so that the limit costs no round trip; it ends with the transaction.
  const settings = [
    ...(options.isPooled ? pooledSettings : []),
    ...(timeLimit > 0 ? [`statement_timeout = ${timeLimit}`] : []),
  ]
  const begin = ['begin', ...settings.map((setting) => `set local ${setting}`)].join('; ')
  const isReading = !isInternal(context) && context.isWriting !== true
  return runTransaction(lend, options, {
    begin,
    statements,
    timeLimit,
    ask: askingBy(nameOf),
    isReading,
    isLeft: leavingOf(options, context),
    onBegin,
    term: context?.term,
  })
}

/** Those of a session on which text forms depend (client.ts). */
const pooledSettings = [
  ...["timezone = 'UTC'", "datestyle = 'ISO'", "intervalstyle = 'postgres'"],
  'extra_float_digits = 1',
]

/** Runs all statements or none, on a client that `lend` connects. `options` are those that it is created with. */
export async function runTransaction<Result>(
  lend: () => Promise<pg.PoolClient>,
  options: PostgresOptions,
  { begin, statements, timeLimit, ask, isReading, isLeft, onBegin, term }: Transaction<Result>,
): Promise<readonly Result[]> {
  const client = await lend()
  // An embedded database is ended by ending its connection, which would not show whether a commit came before.
  const isEmbedded = options.stream !== undefined
  // Whoever held an embedded database while they look would wait for themselves.
  const commitsLater = isEmbedded || term !== undefined
  let limit: Limit | undefined
  let isOver = false
  let hasStarted = false
  try {
    limit = startLimit({ timeLimit, isLeft }, options, client)
    // Awaited alone: without it the rest would run outside a transaction.
    await client.query(begin)
    hasStarted = true
    onBegin?.()
    const results: Result[] = []
    await asOneAnswer(receivedBy(client), async () => {
      for (let start = 0; start < statements.length; start += SLICE) {
        const slice = statements.slice(start, start + SLICE)
        const isLast = start + SLICE >= statements.length
        const ending = isLast && !commitsLater ? ['commit'] : []
        results.push(...(await send(client, { statements: slice, start, ask }, ending)))
        if (!isLast || commitsLater) limit?.refuseLate()
      }
    })
    if (isEmbedded) limit?.stop()
    else await requireTerm(term)
    if (commitsLater) await client.query('commit')
    return results
  } catch (error) {
    isOver = isLost(postgresFault(error, lost))
    if (client.getTransactionStatus() !== 'I') await rollBack(client, options)
    // Without an answer to what carried the commit nobody knows whether it was heard.
    const isNothingLeft = isEmbedded || (isOver && (!hasStarted || isReading))
    throw isNothingLeft && limit?.hasEnded() ? overdue(error) : postgresFault(error, lost)
  } finally {
    limit?.stop()
    // Unless idle, the outcome of the transaction is unknown; the server rolls it back when the connection closes. A
    // late cancel request could also end the next statement on this connection.
    client.release(isOver || limit?.hasEnded() === true || client.getTransactionStatus() !== 'I' || isFull(client))
  }
}

/**
 * Sends all at once. After an error the server refuses the statements already sent, and the commit of a failed
 * transaction is a rollback.
 */
async function send<Result>(
  client: pg.PoolClient,
  { statements, start, ask }: Pick<Transaction<Result>, 'statements' | 'ask'> & { readonly start: number },
  ending: readonly string[],
): Promise<readonly Result[]> {
  const write = holdWrites(client)
  const sent = statements.map((statement) => ask(client, statement))
  const ended = ending.map((text) => client.query(text))
  write()
  const settled = await Promise.allSettled([...sent, ...ended])
  const index = settled.findIndex(({ status }) => status === 'rejected')
  const failed = settled[index]
  if (failed?.status === 'rejected') {
    throw index < statements.length ? atPosition(failed.reason, start + index) : failed.reason
  }
  return Promise.all(sent)
}

/** The fault of a statement of the batch. */
export function atPosition(error: unknown, position: number): SqlFault {
  const fault = postgresFault(error, lost)
  return new SqlFault(fault.message, { ...fault, cause: fault.cause, position })
}

/** Cuts off a connection whose server says nothing to it; the server then does it. Returns whether it is done. */
export async function rollBack(client: pg.ClientBase, { connectLimit = GIVEN_UP }: PostgresOptions): Promise<boolean> {
  const timer = setTimeout(() => cutOff(client), connectLimit)
  try {
    await client.query('rollback')
    return true
  } catch {
    return false
  } finally {
    clearTimeout(timer)
  }
}

type Limit = {
  /** Throws if the time is over. */
  readonly refuseLate: () => void
  /** Whether the running statement was canceled. */
  readonly hasEnded: () => boolean
  readonly stop: () => void
}

type Bounds = { readonly timeLimit: number; readonly isLeft: (() => boolean) | undefined }

/**
 * Detects lateness between two slices; if a slice does not end soon after the limit, or nobody waits for it any longer, cancels what
 * runs until it does, and cuts off the connection to a server that ignores the cancellation. Undefined where there is nothing to look for.
 */
export function startLimit(
  { timeLimit, isLeft }: Bounds,
  options: PostgresOptions,
  client: pg.ClientBase,
): Limit | undefined {
  if (timeLimit === 0 && isLeft === undefined) return undefined
  let isLate = false
  let endedAt: number | undefined
  let isStopped = false
  const expire = async () => {
    if (isLate) {
      endedAt ??= performance.now()
      if (performance.now() - endedAt > GIVEN_UP) cutOff(client)
      else await cancelRunning(options, client)
    }
    isLate = true
    if (!isStopped) timer = setTimeout(expire, GRACE)
  }
  let timer = timeLimit > 0 ? setTimeout(expire, timeLimit) : undefined
  const looking = isLeft && setInterval(() => isLeft() && leave(), POLL_INTERVAL)
  const leave = () => {
    clearInterval(looking)
    clearTimeout(timer)
    isLate = true
    void expire()
  }
  return {
    refuseLate() {
      if (isLate) throw overdue()
    },
    hasEnded: () => endedAt !== undefined,
    stop() {
      isStopped = true
      clearInterval(looking)
      clearTimeout(timer)
    },
  }
}

/**
 * Says that the caller has gone, of statements that write nothing. Not of an embedded database, which would be ended as a whole.
 */
export function leavingOf({ stream }: PostgresOptions, context: QueryContext | undefined): (() => boolean) | undefined {
  if (stream !== undefined || context?.isWriting === true) return undefined
  const isDisconnected = context?.isDisconnected
  return isDisconnected && (() => isDisconnected())
}

export function overdue(cause?: unknown): SqlFault {
  return new SqlFault('the time limit was reached', { state: TIMED_OUT, cause })
}
