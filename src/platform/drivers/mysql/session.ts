/**
 * One connection to MySQL or MariaDB through mysql2: how it is opened and set up for the dialect
 * (core/sql/mysql/dialect.ts), with READ COMMITTED as in Postgres, and how a running statement is killed.
 */
import type { Duplex } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import { type Connection, type ConnectionOptions, createConnection, type PoolConnection } from 'mysql2/promise'
import './guarded.ts'

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
  readonly socket?: () => MysqlSocket
  /**
   * Milliseconds until a server that says nothing, also to a rollback, or stops before it has let us in, is given up, and a wait for a free
   * connection; by default 10 s.
   */
  readonly connectLimit?: number
  /** False where the platform does not run code made of text, by which rows are parsed faster. */
  readonly canCompile?: boolean
}

/** A stream that connects on demand, such as a socket of `node:net`. */
export type MysqlSocket = Duplex & {
  setNoDelay(on: boolean): MysqlSocket
  setKeepAlive(on: boolean, delay: number): MysqlSocket
  connect(port: number, host: string): MysqlSocket
}

/**
 * Kills the running statement of a connection from a new connection, since the pool's may all be busy; finally cuts the
 * connection off, as it does where the server says nothing. Never rejects.
 */
export async function killRunning(address: MysqlAddress, running: PoolConnection): Promise<void> {
  const { connectLimit = CONNECT_LIMIT } = address
  const timer = setTimeout(() => cutOff(running), connectLimit)
  await kill(address, running)
  clearTimeout(timer)
  cutOff(running)
}

async function kill(address: MysqlAddress, { threadId }: PoolConnection): Promise<void> {
  try {
    const { connectLimit = CONNECT_LIMIT } = address
    const password = typeof address.password === 'string' ? address.password : await address.password()
    const client = await createConnection(connectionOptions({ ...address, password }))
    const timer = setTimeout(() => cutOff(client), connectLimit)
    await client.query(`kill query ${Number(threadId)}`).finally(() => clearTimeout(timer))
    await client.end()
    await wait(GRACE, undefined, { ref: false })
  } catch {
    // The server cannot be reached, so cutting off the connection must do.
  }
}

/** Closes a connection without a goodbye: its statements reject, whatever the server does. */
export function cutOff(client: Connection): void {
  // Missing in the types.
  const { connection } = client as unknown as {
    readonly connection: { readonly stream: Duplex; readonly destroy: () => void }
  }
  connection.stream.destroy(new Error('the connection was cut off'))
  connection.destroy()
}

/** Milliseconds that a killed statement has to end. */
const GRACE = 2_000

/** See `connectLimit`; also for the one word of a connection that kills. */
export const CONNECT_LIMIT = 10_000

const settings: ConnectionOptions = {
  charset: 'UTF8MB4_BIN',
  // Keeps values as text that would lose precision as JavaScript values.
  supportBigNumbers: true,
  bigNumberStrings: true,
  dateStrings: true,
  jsonStrings: true,
  maxPreparedStatements: 256,
  enableKeepAlive: true,
}

/** MySQL and MariaDB name and measure the limit differently; each ignores the other's as a comment. */
export const sessionSetup = (timeLimit: number) => [
  `set time_zone = '+00:00', group_concat_max_len = 1073741824,
    sql_mode = 'STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_AUTO_VALUE_ON_ZERO,NO_ENGINE_SUBSTITUTION'
    ${timeLimit > 0 ? `/*!50708 , max_execution_time = ${timeLimit} */ /*M! , max_statement_time = ${timeLimit / 1_000} */` : ''}`,
  'set session transaction isolation level read committed',
]

/** Everything but a password that is a function. */
export function connectionOptions({
  host,
  port = 3306,
  user,
  password,
  database,
  tls,
  socket,
  connectLimit = CONNECT_LIMIT,
  canCompile = true,
}: MysqlAddress): ConnectionOptions {
  const ca = typeof tls === 'object' && tls.ca !== undefined ? { ca: [tls.ca].flat() } : {}
  const ssl = tls ? { ssl: { minVersion: 'TLSv1.2', rejectUnauthorized: true, verifyIdentity: true, ...ca } } : {}
  return {
    ...settings,
    connectTimeout: connectLimit,
    disableEval: !canCompile,
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

function connected(socket: MysqlSocket, port: number, host: string): MysqlSocket {
  return socket.setNoDelay(true).setKeepAlive(true, 10_000).connect(port, host)
}
