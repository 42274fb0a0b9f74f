/**
 * Postgres over HTTP through the Neon driver, on Workers and on Node: one request per query or batch. A loopback host
 * is the gateway of platform/node/embedded/neon-gateway.ts; every other host is Neon's.
 * Time zone: a request has no session to set it in, and Neon's proxy does not forward `-c` options. Neon's default is
 * GMT, which prints like UTC; the gateway sets UTC. Roles altered to another time zone are not supported.
 */
import { NeonDbError, neon, neonConfig } from '@neondatabase/serverless'
import { isLoopback } from '../../core/loopback.ts'
import type { SqlAddress } from '../../core/sql/address.ts'
import { requireTerm } from '../../core/sql/begin/plan-term.ts'
import { SqlFault, TIMED_OUT } from '../../core/sql/fault.ts'
import type { Statement } from '../../core/sql/statement.ts'
import type { QueryContext, SqlDriver, SqlRow } from '../../ports/database.ts'
import type { Fetch } from '../fetch.ts'
import { bodyBound } from './answer-bound.ts'
import { isRead } from './lost-connection.ts'
import { limitStatement } from './neon-limit.ts'
import { privateHostFault } from './private-host.ts'
import { isForCaller, isInternal, withAbortSignal } from './time-limit.ts'

export type NeonDeps = {
  readonly connectionString: string
  readonly wayOut?: Fetch | undefined
  /** In milliseconds; 0 or absent means no limit. */
  readonly timeLimit?: number | undefined
}

/**
 * Requests go through `wayOut`, by default the platform's `fetch`. A read ends by aborting its request, which both
 * Neon's proxy and the gateway honour. A writing batch carries its time limit in a statement; a single writing
 * statement is not aborted, since that would not show whether it wrote anything.
 */
export function openNeon(deps: NeonDeps): SqlDriver {
  const { connectionString, wayOut, timeLimit = 0 } = deps
  neonConfig.fetchEndpoint = endpoint
  neonConfig.fetchFunction = fetchByOptions
  const sql = neon(connectionString, { arrayMode: true, fetchOptions: { wayOut } })
  const request = ({ text, params }: Statement) => sql.query(text, [...params], rawText)
  const limit = limitStatement(timeLimit)

  function read({ text, params }: Statement, context: QueryContext): Promise<readonly SqlRow[]> {
    return withAbortSignal((signal) => sql.query(text, [...params], { ...rawText, fetchOptions: { signal } }), {
      context,
      timeLimit,
    })
  }

  return {
    async query(statement, context) {
      try {
        await requireTerm(context?.term)
        return await (isInternal(context) || context.isWriting ? request(statement) : read(statement, context))
      } catch (error) {
        throw neonFault(error, isRead(statement, context) ? UNREACHED : IN_DOUBT)
      }
    },

    async batch(statements, context) {
      if (statements.length === 0) return []
      const isLimited = isForCaller(context) && timeLimit > 0
      const transaction = (fetchOptions?: { readonly signal: AbortSignal }) =>
        sql.transaction(
          (isLimited ? [limit, ...statements] : statements).map(request),
          fetchOptions && { fetchOptions },
        )
      try {
        await requireTerm(context?.term)
        if (context?.timeLimit !== undefined)
          return await withAbortSignal((signal) => transaction({ signal }), { context, timeLimit })
        const answers = await transaction()
        return isLimited ? answers.slice(1) : answers
      } catch (error) {
        throw neonFault(error, context?.isWriting === false ? UNREACHED : IN_DOUBT)
      }
    },

    async close() {},
  }
}

/** Returns the connection string that the driver expects. */
export function neonUrl({ host, port, user, database, auth }: SqlAddress): string {
  const password = auth.kind === 'password' ? auth.password : ''
  const name = host.includes(':') ? `[${host}]` : host
  const place = `${name}:${port}/${encodeURIComponent(database ?? '')}`
  return `postgres://${encodeURIComponent(user)}:${encodeURIComponent(password)}@${place}`
}

// Set per request: the driver ignores type parsers given to `neon`, and its own lose digits.
const rawText = { arrayMode: true, types: { getTypeParser: () => (value: string) => value } } as const

type Endpoint = (host: string, port: number | string, options?: { jwtAuth?: boolean }) => string

/** The driver's setting is global, so it decides by host instead of by instance. */
const endpoint: Endpoint = (host, port, options) => {
  if (isLoopback(host)) return `http://${host}:${port}/sql`
  const standard = neonConfig.defaults.fetchEndpoint
  return typeof standard === 'string' ? standard : standard(host, port, options)
}

/** Also global: each request carries the `fetch` of its instance in its options. */
async function fetchByOptions(url: string, { wayOut = fetch, ...init }: RequestInit & { wayOut?: Fetch }) {
  return bodyBound()(await wayOut(url, init))
}

/** SQLSTATEs of a request without an answer: nobody knows whether what it would write was done. */
const UNREACHED = '08000'
const IN_DOUBT = '08007'

function neonFault(error: unknown, unanswered: string): SqlFault {
  if (error instanceof SqlFault) return error
  const refusal = privateHostFault(error instanceof NeonDbError ? error.sourceError : error)
  if (refusal !== undefined) return refusal
  const message = error instanceof Error ? error.message : String(error)
  if (!(error instanceof NeonDbError) || !error.code) return new SqlFault(message, { state: unanswered, cause: error })
  const { code, constraint, table, column, detail, routine } = error
  return new SqlFault(message, {
    state: code === TRANSACTION_TIMEOUT ? TIMED_OUT : code,
    constraint,
    table,
    column,
    detail,
    routine,
    cause: error,
  })
}

const TRANSACTION_TIMEOUT = '25P04'
