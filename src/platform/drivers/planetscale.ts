/**
 * MySQL over HTTP through PlanetScale's driver, on Workers and on Node. A query is one request without a session, with
 * the database's own settings: UTC and a strict sql_mode. A batch is a session between BEGIN and COMMIT. The driver
 * interpolates parameters, escaped for that sql_mode. A loopback host is a gateway over plain HTTP; every other host
 * uses TLS.
 */
import { Buffer } from 'node:buffer'
import { type Connection, connect, DatabaseError } from '@planetscale/database'
import { isLoopback } from '../../core/loopback.ts'
import type { SqlAddress } from '../../core/sql/address.ts'
import { requireTerm } from '../../core/sql/begin/plan-term.ts'
import { SqlFault } from '../../core/sql/fault.ts'
import type { Statement } from '../../core/sql/statement.ts'
import type { ConversingDriver, QueryContext, SqlRow, Statements } from '../../ports/database.ts'
import type { Fetch } from '../fetch.ts'
import { bodyBound, MAX_CALLER_BODY } from './answer-bound.ts'
import { namesIn, rowHandlerFault } from './mysql/fault.ts'
import { privateHostFault } from './private-host.ts'
import { isForCaller, limitOf, withAbortSignal } from './time-limit.ts'

export type HttpSourceDeps = {
  readonly address: SqlAddress
  readonly wayOut: Fetch
  /** In milliseconds; 0 or absent means no limit. */
  readonly timeLimit?: number | undefined
}

/**
 * A read passes `timeLimit` milliseconds to Vitess in a comment, and its request is aborted after that. A single
 * writing statement is not aborted, since that would not show whether it wrote anything. Rows for a client are bounded
 * more narrowly.
 */
export function openPlanetscale(deps: HttpSourceDeps): ConversingDriver {
  const { wayOut, timeLimit = 0 } = deps
  const { host, port, user, auth } = deps.address
  const password = auth.kind === 'password' ? auth.password : ''
  // A driver connection keeps a session between requests, so each unit of work gets its own.
  const name = host.includes(':') ? `[${host}]` : host
  const session = (termsOf?: () => Terms | undefined) =>
    connect({ host: name, username: user, password, fetch: fetchAt({ host: name, port, termsOf }, wayOut) })

  function read(statement: Statement, context: QueryContext): Promise<readonly SqlRow[]> {
    const send = (signal: AbortSignal) => {
      const terms = { signal, bounded: boundOf(context) }
      return run(
        session(() => terms),
        withLimit(statement, limitOf(context, timeLimit)),
      )
    }
    return withAbortSignal(send, { context, timeLimit })
  }

  /**
   * All statements share one time limit and one bound; the commit has the limit anew. What is aborted before that is rolled
   * back.
   */
  function transaction(statements: Statements, context?: QueryContext): Promise<readonly (readonly SqlRow[])[]> {
    let current: Terms | undefined
    const within = <T>(work: () => Promise<T>) => {
      const send = (signal: AbortSignal) => {
        current = { signal, bounded: boundOf(context) }
        return work()
      }
      return withAbortSignal(send, { context, timeLimit }).finally(() => {
        current = undefined
      })
    }
    const brief = <T>(work: () => Promise<T>, most = SILENCE) => {
      current = { bounded: bodyBound(MAX_CALLER_BODY), ...(most > 0 && { signal: AbortSignal.timeout(most) }) }
      return work()
    }
    return runTransaction(
      session(() => current),
      statements,
      { within, brief, timeLimit: limitOf(context, timeLimit), term: context?.term },
    )
  }

  return {
    async query(statement, context) {
      await requireTerm(context?.term)
      return context === undefined || context.isWriting ? run(session(), statement) : read(statement, context)
    },
    batch: async (statements, context) => (statements.length === 0 ? [] : transaction(statements, context)),
    converse: transaction,
    async close() {},
  }
}

/** One for all requests of the work. */
const boundOf = (context: QueryContext | undefined) => bodyBound(isForCaller(context) ? MAX_CALLER_BODY : undefined)

function withLimit({ text, ...statement }: Statement, timeLimit: number): Statement {
  const limited = timeLimit === 0 ? text : text.replace(/^\s*select\b/i, `$& /*vt+ QUERY_TIMEOUT_MS=${timeLimit} */`)
  return { ...statement, text: limited }
}

/** What holds for a request at the time it is sent. */
type Terms = {
  readonly signal?: AbortSignal
  readonly bounded: (response: Response) => Response
}

type Place = {
  readonly host: string
  readonly port: number
  readonly termsOf: (() => Terms | undefined) | undefined
}

function fetchAt({ host, port, termsOf }: Place, fetcher: Fetch): Fetch {
  return async (url, { method, body, headers } = {}) => {
    const { pathname } = new URL(url)
    const terms = termsOf?.()
    const address = isLoopback(host) ? `http://${host}:${port}${pathname}` : url
    const response = await fetcher(address, {
      redirect: 'manual',
      ...(terms?.signal && { signal: terms.signal }),
      ...(method && { method }),
      ...(body && { body }),
      ...(headers && { headers }),
    })
    return (terms?.bounded ?? bodyBound())(response)
  }
}

async function run(connection: Connection, { text, params }: Statement): Promise<readonly SqlRow[]> {
  try {
    const { rows } = await connection.execute(text, [...params], { as: 'array', cast: (_, value) => decoded(value) })
    return rows as unknown as readonly SqlRow[]
  } catch (error) {
    throw planetscaleFault(error)
  }
}

/** The driver returns the bytes of a value as one character each. */
function decoded(value: string | null): string | null {
  return value === null ? null : Buffer.from(value, 'latin1').toString()
}

type Bounds = {
  /** Runs the statements within the time limit, or as long as they take. */
  readonly within: <T>(work: () => Promise<T>) => Promise<T>
  /** Runs what ends the transaction, for `most` milliseconds (0: as long as it takes), or those of what only cleans up. */
  readonly brief: <T>(work: () => Promise<T>, most?: number) => Promise<T>
  /** In milliseconds; 0 means no limit. */
  readonly timeLimit: number
  readonly term: QueryContext['term']
}

/** Milliseconds until a server that says nothing to a rollback is left. */
const SILENCE = 5_000

async function runTransaction(
  connection: Connection,
  statements: Statements,
  { within, brief, timeLimit, term }: Bounds,
): Promise<readonly (readonly SqlRow[])[]> {
  const answers: (readonly SqlRow[])[] = []
  let hasStarted = false
  try {
    await requireTerm(term)
    await within(async () => {
      await run(connection, statement('BEGIN'))
      hasStarted = true
      for await (const statement of statements) {
        const rows = await run(connection, statement)
        let next = statement.onRows?.(rows)
        while (next !== undefined) {
          const answer = await run(connection, next)
          next = next.onRows?.(answer)
        }
        answers.push(rows)
      }
    })
    await requireTerm(term)
    await brief(() => run(connection, statement('COMMIT')), timeLimit)
    return answers
  } catch (error) {
    // If the rollback fails, the transaction is rolled back when its session ends.
    await brief(async () => {
      await connection.execute('ROLLBACK').catch(() => {})
      await connection.execute('select release_all_locks()').catch(() => {})
    })
    throw hasStarted ? rowHandlerFault(error, answers.length) : error
  }
}

function statement(text: string): Statement {
  return { text, params: [] }
}

/** The error number and SQLSTATE are only in the message. */
function planetscaleFault(error: unknown): SqlFault {
  if (error instanceof SqlFault) return error
  const refusal = privateHostFault(error)
  if (refusal !== undefined) return refusal
  const message = error instanceof Error ? error.message : String(error)
  if (!(error instanceof DatabaseError)) return new SqlFault(message, { state: '08000', cause: error })
  const [, reason = '', errno, state] = /^(.*?) \(errno (\d+)\) \(sqlstate (\w{5})\)/s.exec(message) ?? []
  if (errno !== undefined && state !== undefined) {
    return new SqlFault(message, { state, errno: Number(errno), cause: error, ...namesIn(reason) })
  }
  return new SqlFault(message, { state: refused.has(error.status) ? '28000' : '08000', cause: error })
}

/** Statuses for an unknown or refused user or password. */
const refused: ReadonlySet<number> = new Set([401, 403])
