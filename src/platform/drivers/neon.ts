/**
 * Postgres over HTTP through the Neon driver: one fetch for a query, one for a batch. Loads on Workers and on Node.
 * A loopback host is the gateway of platform/node/embedded/neon-gateway.ts; every other host is Neon's.
 * Time zone: a request has no session to set it in, and Neon's proxy passes no `-c` options on. Neon's own default is
 * GMT, which prints as UTC does; the gateway sets UTC. A role that was altered to another zone is not supported.
 */
import { NeonDbError, neon, neonConfig } from '@neondatabase/serverless'
import type { SqlAddress } from '../../core/sql/address.ts'
import { SqlFault, TIMED_OUT } from '../../core/sql/fault.ts'
import type { Statement } from '../../core/sql/statement.ts'
import type { QueryContext, SqlDriver, SqlRow } from '../../ports.ts'
import type { Fetch } from '../fetch.ts'
import { isPrivateHostError } from '../private-hosts.ts'
import { limitStatement } from './neon-limit.ts'
import { withTimeLimit } from './time-limit.ts'

/**
 * `wayOut` is how this database is reached; the platform's own where it is not said. A read is ended by ending its
 * request, which Neon's proxy and the gateway take as such; what writes is a batch that carries the limit with it, or one
 * statement that is let go on, since a request that was ended does not say whether anything was written.
 */
export function openNeon(connectionString: string, wayOut?: Fetch, timeLimit = 0): SqlDriver {
  neonConfig.fetchEndpoint = endpoint
  neonConfig.fetchFunction = fetchAsAsked
  const sql = neon(connectionString, { arrayMode: true, fetchOptions: { wayOut } })
  const request = ({ text, params }: Statement) => sql.query(text, [...params], rawText)
  const limit = limitStatement(timeLimit)

  async function read({ text, params }: Statement, context: QueryContext): Promise<readonly SqlRow[]> {
    const ending = new AbortController()
    const options = { ...rawText, fetchOptions: { signal: ending.signal } }
    return withTimeLimit(sql.query(text, [...params], options), { context, timeLimit, end: () => ending.abort() })
  }

  return {
    async query(statement, context) {
      try {
        return await (context === undefined || context.isWriting ? request(statement) : read(statement, context))
      } catch (error) {
        throw neonFault(error)
      }
    },

    async batch(statements, context) {
      if (statements.length === 0) return []
      const isLimited = context !== undefined && timeLimit > 0
      try {
        const answers = await sql.transaction((isLimited ? [limit, ...statements] : statements).map(request))
        return isLimited ? answers.slice(1) : answers
      } catch (error) {
        throw neonFault(error)
      }
    },

    async close() {},
  }
}

/** The connection string that the driver asks for. */
export function neonUrl({ host, port, user, database, auth }: SqlAddress): string {
  const password = auth.kind === 'password' ? auth.password : ''
  const name = host.includes(':') ? `[${host}]` : host
  const place = `${name}:${port}/${encodeURIComponent(database ?? '')}`
  return `postgres://${encodeURIComponent(user)}:${encodeURIComponent(password)}@${place}`
}

// Given with each request: the driver ignores type parsers that are given to `neon` itself, and its own lose digits.
const rawText = { arrayMode: true, types: { getTypeParser: () => (value: string) => value } } as const

type Endpoint = (host: string, port: number | string, options?: { jwtAuth?: boolean }) => string

/** The driver's setting is global, therefore it is a rule over hosts and not a choice of one instance. */
const endpoint: Endpoint = (host, port, options) => {
  if (loopback.test(host)) return `http://${host}:${port}/sql`
  const standard = neonConfig.defaults.fetchEndpoint
  return typeof standard === 'string' ? standard : standard(host, port, options)
}

const loopback = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/

/** Global as well: what an instance was given travels with the options of its requests. */
function fetchAsAsked(url: string, { wayOut = fetch, ...init }: RequestInit & { wayOut?: Fetch }) {
  return wayOut(url, init)
}

function neonFault(error: unknown): SqlFault {
  if (error instanceof SqlFault) return error
  const message = error instanceof Error ? error.message : String(error)
  if (isPrivateHostError(error) || (error instanceof NeonDbError && isPrivateHostError(error.sourceError))) {
    return new SqlFault(message, { state: '08004', cause: error })
  }
  if (!(error instanceof NeonDbError) || !error.code) return new SqlFault(message, { state: '08000', cause: error })
  const { code, constraint, table, column, routine } = error
  return new SqlFault(message, {
    state: code === TRANSACTION_TIMEOUT ? TIMED_OUT : code,
    constraint,
    table,
    column,
    routine,
    cause: error,
  })
}

const TRANSACTION_TIMEOUT = '25P04'
