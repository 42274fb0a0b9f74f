/**
 * MySQL and MariaDB over TCP through mysql2. Statements with parameters are prepared once per connection; values are
 * never interpolated. Sessions are set up for the dialect (core/sql/mysql/dialect.ts), with READ COMMITTED as in
 * Postgres. A DDL statement commits implicitly, even in a batch.
 */

import type { Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { createConnection, createPool, type Pool, type PoolConnection, type PoolOptions } from 'mysql2/promise'
import { SqlFault, TIMED_OUT } from '../../core/sql/fault.ts'
import type { Statement } from '../../core/sql/statement.ts'
import type { QueryContext, SqlDriver, SqlRow } from '../../ports.ts'
import { privateHostFault } from './private-host.ts'
import { withTimeLimit } from './time-limit.ts'

export type MysqlAddress = {
  readonly host: string
  readonly port?: number
  readonly user: string
  /** A function is called before work that may open a new connection. */
  readonly password: string | (() => Promise<string>)
  readonly database?: string | undefined
  /** The server's certificate is always verified, against `ca` if given. */
  readonly tls?: boolean | { readonly ca: string | readonly string[] | undefined }
  /** Creates unconnected sockets for connections. */
  readonly socket?: () => Socket
}

/** A connection string begins with `mysql://` or `mariadb://`; `?tls=true` or `?ssl-mode=REQUIRED` enables TLS. */
export type MysqlOptions = (MysqlAddress | { readonly connectionString: string }) & {
  readonly max?: number
  /** Time limit in milliseconds for statements with a client; 0 or absent means no limit. */
  readonly timeLimit?: number
}

export function openMysql(options: MysqlOptions): SqlDriver {
  const address = 'connectionString' in options ? parseAddress(options.connectionString) : options
  const { max, timeLimit = 0 } = options
  const limited = openPool(address, { max, timeLimit })
  const unlimited = openPool(address, { max, timeLimit: 0 })
  const running = new Set<Promise<unknown>>()

  /** Ending the pool cuts off a batch between two statements, so closing waits until nothing runs. */
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

  /** Runs `work` on a connection of its own, which returns to the pool unless it was told to end its statement. */
  async function withConnection<T>(
    context: QueryContext | undefined,
    work: (client: PoolConnection, limit: Limit) => Promise<T>,
  ): Promise<T> {
    const { pool, renew } = context === undefined ? unlimited : limited
    const client = await renew(() => pool.getConnection())
    let isEnded = false
    const end = () => {
      isEnded = true
      void kill(address, client)
    }
    try {
      const within: Limit['within'] = (part) => withTimeLimit(part, { context, timeLimit, end })
      return await work(client, { within, hasEnded: () => isEnded })
    } finally {
      // A late kill could end the next statement on this connection.
      if (isEnded) client.destroy()
      else client.release()
    }
  }

  return {
    query: (statement, context) =>
      track(withConnection(context, (client, { within }) => within(run(client, statement)))),
    batch: async (statements, context) =>
      statements.length === 0
        ? []
        : track(withConnection(context, (client, limit) => runTransaction(client, statements, limit))),
    async close() {
      await Promise.allSettled([...running])
      await Promise.all([limited.pool.end(), unlimited.pool.end()])
    },
  }
}

type Limit = {
  /** Returns the result of `work`. Throws TIMED_OUT after the time limit, CANCELED when the client has disconnected. */
  readonly within: <T>(work: Promise<T>) => Promise<T>
  /** Whether the connection was told to end its statement; the kill may still reach a later one. */
  readonly hasEnded: () => boolean
}

/**
 * Kills the running statement of a connection from a new connection, since the pool's may all be busy; finally cuts the
 * connection off. Never rejects.
 */
async function kill(address: MysqlAddress, { threadId, connection: running }: PoolConnection): Promise<void> {
  try {
    const password = typeof address.password === 'string' ? address.password : await address.password()
    const client = await createConnection({ ...settings, ...connection({ ...address, password }) })
    await client.query(`kill query ${Number(threadId)}`)
    await client.end()
    await wait(GRACE, undefined, { ref: false })
  } catch {
    // The server cannot be reached, so cutting off the connection must do.
  }
  running.destroy()
}

/** Milliseconds that a killed statement has to end. */
const GRACE = 2_000

type Limits = { readonly max: number | undefined; readonly timeLimit: number }

function openPool(address: MysqlAddress, { max = 10, timeLimit }: Limits) {
  const pool = createPool({ ...settings, ...connection(address), connectionLimit: max, maxIdle: max })
  // Queued first on a new connection, before the statement that opened it.
  pool.pool.on('connection', (session) => {
    for (const text of sessionSetup(timeLimit)) {
      session.query(text, (error) => {
        if (error) session.destroy()
      })
    }
  })
  return { pool, renew: renewal(pool, address) }
}

const settings: PoolOptions = {
  charset: 'UTF8MB4_BIN',
  // Keeps values as text that would lose precision as JavaScript values.
  supportBigNumbers: true,
  bigNumberStrings: true,
  dateStrings: true,
  jsonStrings: true,
  maxPreparedStatements: 256,
  connectTimeout: 10_000,
  idleTimeout: 60_000,
  enableKeepAlive: true,
}

/** MySQL and MariaDB name and measure the limit differently; each ignores the other's as a comment. */
const sessionSetup = (timeLimit: number) => [
  `set time_zone = '+00:00', group_concat_max_len = 1073741824,
    sql_mode = 'STRICT_ALL_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_AUTO_VALUE_ON_ZERO,NO_ENGINE_SUBSTITUTION'
    ${timeLimit > 0 ? `/*!50708 , max_execution_time = ${timeLimit} */ /*M! , max_statement_time = ${timeLimit / 1_000} */` : ''}`,
  'set session transaction isolation level read committed',
]

function connection({ host, port = 3306, user, password, database, tls, socket }: MysqlAddress): PoolOptions {
  const ca = typeof tls === 'object' && tls.ca !== undefined ? { ca: [tls.ca].flat() } : {}
  const ssl = tls ? { ssl: { minVersion: 'TLSv1.2', rejectUnauthorized: true, verifyIdentity: true, ...ca } } : {}
  return {
    host,
    port,
    user,
    // IAM tokens are sent in plain text, so TLS is required for them.
    ...(typeof password === 'string' ? { password } : { enableCleartextPlugin: Boolean(tls) }),
    ...(database !== undefined && { database }),
    ...(socket !== undefined && { stream: () => connected(socket(), port, host) }),
    ...ssl,
  }
}

function connected(socket: Socket, port: number, host: string): Socket {
  return socket.setNoDelay(true).setKeepAlive(true, 10_000).connect(port, host)
}

/** Milliseconds that a token is reused for new connections; servers accept one for some minutes. */
const TOKEN_AGE = 60_000

/** Renews the password in the pool's settings before new connections, since the settings cannot hold a function. */
function renewal({ pool }: Pool, { password }: MysqlAddress): <T>(work: () => Promise<T>) => Promise<T> {
  if (typeof password === 'string') return (work) => work()
  // Missing in the types.
  const { connectionConfig } = (pool as unknown as { config: { connectionConfig: { password: string } } }).config
  let expires = 0
  return async (work) => {
    if (expires < Date.now()) {
      connectionConfig.password = await password()
      expires = Date.now() + TOKEN_AGE
    }
    return work()
  }
}

function parseAddress(connectionString: string): MysqlAddress {
  const url = URL.parse(connectionString)
  if (url === null || !/^(mysql|mariadb):$/.test(url.protocol)) {
    throw new SqlFault('the connection string is not an address of MySQL or MariaDB', { state: '08000' })
  }
  const { searchParams } = url
  const mode = searchParams.get('ssl-mode') ?? searchParams.get('sslmode')
  const database = decodeURIComponent(url.pathname.slice(1))
  return {
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: url.port === '' ? 3306 : Number(url.port),
    user: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
    ...(database !== '' && { database }),
    tls: searchParams.get('tls') === 'true' || (mode !== null && !/^(disabled?|preferred)$/i.test(mode)),
  }
}

async function run(on: PoolConnection, { text, params }: Statement): Promise<readonly SqlRow[]> {
  const request = { sql: text, rowsAsArray: true }
  // Without parameters there is nothing to prepare, and DDL would evict useful prepared statements.
  const [answer] = params.length === 0 ? await on.query(request) : await on.execute({ ...request, values: [...params] })
  // The result of a write is not a list of rows.
  return Array.isArray(answer) ? answer.map((row: unknown) => (row as unknown[]).map(valueText)) : []
}

function valueText(value: unknown): string | null {
  if (value === null || typeof value === 'string') return value
  return value instanceof Uint8Array ? new TextDecoder().decode(value) : String(value)
}

/** The time limit covers all statements. An ended transaction never reached its commit, so nothing of it remains. */
async function runTransaction(
  client: PoolConnection,
  statements: readonly Statement[],
  { within, hasEnded }: Limit,
): Promise<readonly (readonly SqlRow[])[]> {
  const answers: (readonly SqlRow[])[] = []
  const all = async () => {
    for (const statement of statements) answers.push(await run(client, statement))
  }
  try {
    await client.query('start transaction')
    await within(all())
    if (hasEnded()) throw new SqlFault('the time limit was reached', { state: TIMED_OUT })
    await client.query('commit')
    return answers
  } catch (error) {
    await rollback(client)
    throw mysqlFault(error, answers.length)
  }
}

/** Closes a connection that cannot roll back; the server then does it. Named locks are not part of the transaction. */
async function rollback(client: PoolConnection): Promise<void> {
  try {
    await client.query('rollback')
    await client.query('select release_all_locks()')
  } catch {
    client.destroy()
  }
}

type DriverError = Error & {
  readonly code?: string
  readonly errno?: number
  readonly sqlState?: string
  readonly fatal?: boolean
}

function mysqlFault(error: unknown, position?: number): unknown {
  if (!(error instanceof Error) || error instanceof SqlFault) return error
  const refusal = privateHostFault(error)
  if (refusal !== undefined) return refusal
  const place = position === undefined ? {} : { position }
  const { message, code, errno, sqlState, fatal }: DriverError = error
  if (sqlState !== undefined && errno !== undefined) {
    const constraint = message.match(/for key '([^']+)'$|CONSTRAINT `([^`]+)`/)
    const column = message.match(/(?:column|field) '([^']+)'/i)
    return new SqlFault(message, {
      state: sqlState,
      errno,
      cause: error,
      ...place,
      ...(constraint !== null && { constraint: constraint[1] ?? constraint[2] }),
      ...(column !== null && { column: column[1] }),
    })
  }
  if (code !== undefined && lost.has(code)) return new SqlFault(message, { state: '08006', cause: error, ...place })
  return code !== undefined || fatal === true
    ? new SqlFault(message, { state: '08000', cause: error, ...place })
    : error
}

const lost = new Set(['PROTOCOL_CONNECTION_LOST', 'ECONNRESET', 'EPIPE'])
