/**
 * The SqlDriver over connections to MySQL or MariaDB, wherever these come from. Statements with parameters are prepared;
 * values are never interpolated. A DDL statement commits implicitly, even in a batch.
 */
import type { Duplex } from 'node:stream'
import type { PoolConnection } from 'mysql2/promise'
import { requireTerm } from '../../../core/sql/begin/plan-term.ts'
import { SqlFault, TIMED_OUT } from '../../../core/sql/fault.ts'
import type { Statement } from '../../../core/sql/statement.ts'
import type { ConversingDriver, QueryContext, SqlRow, Statements } from '../../../ports/database.ts'
import { asOneAnswer, withinSocketBound } from '../answer-bound.ts'
import { isLost, readsAgain, untilStarted } from '../lost-connection.ts'
import { isForCaller, lendInTerm, withTimeLimit } from '../time-limit.ts'
import { mysqlFault, rowHandlerFault, unreadable } from './fault.ts'
import { receivedBy } from './guarded.ts'
import { CONNECT_LIMIT, cutOff, killRunning, type MysqlAddress } from './session.ts'

export type Sessions = {
  /** Lends a session; those for a caller have the time limit set. Taken back by `release`, or closed by `destroy`. */
  readonly take: (context: QueryContext | undefined) => Promise<PoolConnection>
  readonly close: () => Promise<void>
}

export type MysqlDriverDeps = {
  readonly sessions: Sessions
  readonly address: MysqlAddress
  /** In milliseconds, for statements with a client; 0 means no limit. */
  readonly timeLimit: number
}

export function createMysqlDriver(deps: MysqlDriverDeps): ConversingDriver {
  const { sessions, address, timeLimit } = deps
  const running = new Set<Promise<unknown>>()

  /** Ending the sessions cuts off a batch between two statements, so closing waits until nothing runs. */
  const track = async <T>(work: Promise<T>): Promise<T> => {
    running.add(work)
    try {
      return await work
    } catch (error) {
      throw mysqlFault(error)
    } finally {
      running.delete(work)
    }
  }

  /** Runs `work` on a session of its own, which is given back unless its statement was to be ended. */
  async function withSession<T>(
    context: QueryContext | undefined,
    work: (client: PoolConnection, limit: Limit) => Promise<T>,
  ): Promise<T> {
    const client = await lendInTerm(() => sessions.take(context).catch(unreadable), context)
    let isEnded = false
    const end = () => {
      isEnded = true
      void killRunning(address, client)
    }
    const bounded = <T>(part: Promise<T>) =>
      isForCaller(context) ? withinSocketBound(part, streamOf(client), end) : part
    try {
      const within: Limit['within'] = (part) => withTimeLimit(bounded(part), { context, timeLimit, end })
      // Who leaves then does not end what may be decided.
      const { isDisconnected: _, ...staying } = context ?? {}
      const ending: Limit['ending'] = (part) => withTimeLimit(part, { context: context && staying, timeLimit, end })
      return await asOneAnswer(receivedBy(client.connection), () =>
        work(client, { within, ending, hasEnded: () => isEnded }),
      )
    } finally {
      // A late kill could end the next statement on this connection.
      if (isEnded) client.destroy()
      else client.release()
    }
  }

  const transaction = (statements: Statements, context: QueryContext | undefined) =>
    untilStarted((onBegin) =>
      track(
        withSession(context, (client, limit) =>
          runTransaction(
            client,
            { statements, onBegin, connectLimit: address.connectLimit, term: context?.term },
            limit,
          ),
        ),
      ),
    )

  return readsAgain({
    async query(statement, context) {
      // A refused answer must leave nothing written, which a statement on its own does not guarantee.
      if (context?.isWriting === true) return (await transaction([statement], context))[0] ?? []
      return track(withSession(context, (client, { within }) => within(run(client, statement))))
    },
    batch: async (statements, context) => (statements.length === 0 ? [] : transaction(statements, context)),
    converse: transaction,
    async close() {
      await Promise.allSettled([...running])
      await sessions.close()
    },
  })
}

/** Missing in the types. */
function streamOf({ connection }: PoolConnection): Duplex {
  return (connection as unknown as { readonly stream: Duplex }).stream
}

type Limit = {
  /**
   * Returns the result of `work`. Throws TIMED_OUT after the time limit, CANCELED when the client has disconnected,
   * TOO_LARGE when more arrives than an answer may have.
   */
  readonly within: <T>(work: Promise<T>) => Promise<T>
  /** The same of what ends a transaction, but for clients that disconnect. */
  readonly ending: <T>(work: Promise<T>) => Promise<T>
  /** Whether a kill was sent for the statement of the connection; the kill may still reach a later one. */
  readonly hasEnded: () => boolean
}

async function run(on: PoolConnection, statement: Statement): Promise<readonly SqlRow[]> {
  return (await answerOf(on, statement)).rows
}

type Answer = { readonly rows: readonly SqlRow[]; readonly matched: number | undefined }

async function answerOf(on: PoolConnection, { text, params }: Statement): Promise<Answer> {
  const request = { sql: text, rowsAsArray: true }
  // Without parameters there is nothing to prepare, and DDL would evict useful prepared statements.
  const pending = params.length === 0 ? on.query(request) : on.execute({ ...request, values: [...params] })
  const [answer] = await pending.catch(unreadable)
  // The result of a write is not a list of rows.
  if (!Array.isArray(answer)) return { rows: [], matched: answer.affectedRows }
  return { rows: answer.map(rowOf), matched: undefined }
}

/** Throws where a server answers several results to one statement, which none does that keeps to the protocol. */
function rowOf(row: unknown): SqlRow {
  return Array.isArray(row) ? row.map(valueText) : unreadable(new Error('the answer has no rows'))
}

function valueText(value: unknown): string | null {
  if (value === null || typeof value === 'string') return value
  return value instanceof Uint8Array ? new TextDecoder().decode(value) : String(value)
}

type Transaction = {
  readonly statements: Statements
  readonly onBegin: () => void
  /** As of the address. */
  readonly connectLimit: number | undefined
  readonly term: QueryContext['term']
}

/**
 * The time limit covers all statements, and begins anew for the commit. A transaction that was ended before has left
 * nothing; one whose commit has no answer is a lost connection (08006), since nobody knows what became of it.
 */
async function runTransaction(
  client: PoolConnection,
  { statements, onBegin, connectLimit, term }: Transaction,
  limit: Limit,
): Promise<readonly (readonly SqlRow[])[]> {
  const answers: (readonly SqlRow[])[] = []
  const all = async () => {
    await client.query('start transaction').catch(unreadable)
    onBegin()
    for await (const statement of statements) {
      const answer = await answerOf(client, statement)
      if (statement.onRows !== undefined) await goOn(client, statement, { answer, position: answers.length })
      answers.push(answer.rows)
    }
  }
  try {
    await limit.within(all())
    if (limit.hasEnded()) throw new SqlFault('the time limit was reached', { state: TIMED_OUT })
    await requireTerm(term)
    await commit(client, limit, answers.length)
    return answers
  } catch (error) {
    await limit.ending(rollback(client, connectLimit)).catch(ignore)
    throw mysqlFault(error, answers.length)
  }
}

/** Runs the statements that `onRows` returns, one after the other. */
async function goOn(
  client: PoolConnection,
  statement: Statement,
  first: { readonly answer: Answer; readonly position: number },
): Promise<void> {
  let { answer } = first
  for (let next = nextStatement(statement); next !== undefined; next = nextStatement(next))
    answer = await answerOf(client, next)

  function nextStatement({ onRows }: Statement): Statement | undefined {
    try {
      return onRows?.(answer.rows, answer.matched)
    } catch (error) {
      throw rowHandlerFault(error, first.position)
    }
  }
}

/** `position` is that behind all statements. */
async function commit(client: PoolConnection, { ending }: Limit, position: number): Promise<void> {
  let loss: unknown
  const work = client
    .query('commit')
    .catch(unreadable)
    .catch((error: unknown) => {
      const fault = mysqlFault(error, position)
      // Also where the server has said that it ends the connection, nobody knows whether it was heard.
      if (fault instanceof SqlFault && isLost(fault))
        loss = new SqlFault(fault.message, { ...fault, state: '08006', cause: error })
      throw error
    })
  await ending(work).catch((error: unknown) => {
    throw loss ?? error
  })
}

/** Closes a connection that cannot roll back within `limit` milliseconds; the server then does it. Locks of tables and names are not part of the transaction. */
async function rollback(client: PoolConnection, limit = CONNECT_LIMIT): Promise<void> {
  const timer = setTimeout(() => cutOff(client), limit)
  try {
    await client.query('rollback')
    await client.query('unlock tables')
    await client.query('select release_all_locks()')
  } catch {
    client.destroy()
  } finally {
    clearTimeout(timer)
  }
}

const ignore = () => {}
