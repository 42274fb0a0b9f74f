/**
 * Statements between `begin` and `commit`, sent in slices between which everything else runs. The time limit is one of the
 * whole transaction, counted from its begin: what is late is rolled back, so that to be ended always means that nothing was
 * written.
 */
import type pg from 'pg'
import { SqlFault, TIMED_OUT } from '../../../core/sql/fault.ts'
import type { Statement } from '../../../core/sql/statement.ts'
import { cancelRunning } from './cancel.ts'
import {
  holdWrites,
  ignore,
  lost,
  type PostgresOptions,
  postgresFault,
  type TextResult,
  textRequest,
} from './client.ts'
import { checkOut } from './pool.ts'

export type Transaction = {
  /** What opens it. */
  readonly begin: string
  readonly statements: readonly Statement[]
  /** Milliseconds; 0 is no limit. */
  readonly timeLimit: number
}

/** Statements that are on their way at one time: some milliseconds of work for this process. */
const SLICE = 100

/** Milliseconds that a slice has to end by itself when the time is over: an embedded database that is ended has to start again. */
const GRACE = 1_000

/** All or nothing. `options` are what the clients of `pool` were made by. */
export async function runTransaction(
  pool: pg.Pool,
  options: PostgresOptions,
  { begin, statements, timeLimit }: Transaction,
): Promise<readonly TextResult[]> {
  const client = await checkOut(pool)
  // A client that breaks while it is lent out tells its statements; without a listener it would end the process.
  client.on('error', ignore)
  // An embedded database is ended with its connection, so that nobody could tell whether a commit came before that.
  const isEmbedded = options.stream !== undefined
  let limit: Limit | undefined
  try {
    // Only the begin is waited for: without it the rest would run outside of a transaction.
    await client.query(begin)
    limit = timeLimit > 0 ? startLimit(timeLimit, () => cancelRunning(options, client)) : undefined
    const results: TextResult[] = []
    for (let start = 0; start < statements.length; start += SLICE) {
      const slice = statements.slice(start, start + SLICE)
      const isLast = start + SLICE >= statements.length
      results.push(...(await send(client, slice, isLast && !isEmbedded ? ['commit'] : [])))
      if (!isLast || isEmbedded) limit?.refuseLate()
    }
    if (isEmbedded) {
      limit?.stop()
      await client.query('commit')
    }
    return results
  } catch (error) {
    if (client.getTransactionStatus() !== 'I') await client.query('rollback').catch(ignore)
    throw isEmbedded && limit?.hasEnded() ? overdue(error) : postgresFault(error, lost)
  } finally {
    limit?.stop()
    client.off('error', ignore)
    // Anything but idle means that the transaction's end is unknown: the server rolls it back with the connection. What
    // was told to end may hear of it late, and then end what comes next.
    client.release(limit?.hasEnded() === true || client.getTransactionStatus() !== 'I')
  }
}

/**
 * In one flight. After a failure the server refuses the statements that were already sent, and the commit of a failed
 * transaction is a rollback.
 */
async function send(
  client: pg.PoolClient,
  statements: readonly Statement[],
  ending: readonly string[],
): Promise<readonly TextResult[]> {
  const write = holdWrites(client)
  const sent = statements.map((statement) => client.query<string[]>(textRequest(statement)))
  const ended = ending.map((text) => client.query(text))
  write()
  const settled = await Promise.allSettled([...sent, ...ended])
  const failed = settled.find((outcome) => outcome.status === 'rejected')
  if (failed !== undefined) throw failed.reason
  return Promise.all(sent)
}

type Limit = {
  /** Throws where the time is over. */
  readonly refuseLate: () => void
  /** Whether what runs was told to end. */
  readonly hasEnded: () => boolean
  readonly stop: () => void
}

/** What is late is noticed between two slices; where a slice does not end soon after, `end` is called until it does. */
function startLimit(timeLimit: number, end: () => Promise<void>): Limit {
  let isLate = false
  let isTold = false
  let isStopped = false
  const expire = async () => {
    if (isLate) {
      isTold = true
      await end()
    }
    isLate = true
    if (!isStopped) timer = setTimeout(expire, GRACE)
  }
  let timer = setTimeout(expire, timeLimit)
  return {
    refuseLate() {
      if (isLate) throw overdue()
    },
    hasEnded: () => isTold,
    stop() {
      isStopped = true
      clearTimeout(timer)
    },
  }
}

function overdue(cause?: unknown): SqlFault {
  return new SqlFault('the time limit was reached', { state: TIMED_OUT, cause })
}
