/**
 * Connections to Postgres through `pg`, used by every part of the driver: sessions run in UTC, values stay in the
 * server's text form, errors become SqlFaults.
 */
import type { Duplex } from 'node:stream'
import pg from 'pg'
import { SqlFault } from '../../../core/sql/fault.ts'
import type { Statement } from '../../../core/sql/statement.ts'
import type { Received } from '../answer-bound.ts'
import { privateHostFault } from '../private-host.ts'
import { wholeMessages } from './messages.ts'

/** The parts of a server's address. */
export type PostgresAddress = {
  readonly host: string
  readonly port: number
  readonly user: string
  /** A function is called for each connection. */
  readonly password: string | (() => Promise<string>)
  readonly database: string
  /** The server's certificate is always verified, against `ca` if given. */
  readonly tls: false | { readonly ca: string | readonly string[] | undefined }
  /** Creates unconnected sockets. */
  readonly socket: () => Duplex
}

export type PostgresOptions = {
  readonly connectionString?: string
  readonly address?: PostgresAddress
  /** Returns an established connection to the server, in place of a socket. */
  readonly stream?: () => Duplex
  /** Time limit in milliseconds that the server applies to statements with a client; 0 or absent means no limit. */
  readonly timeLimit?: number
  /** False if a statement needs several round trips on its connection. */
  readonly pipeline?: boolean
  /** Whether sessions are shared by a pooler, so that settings end with a transaction. */
  readonly isPooled?: boolean
  /** Maximum connections for batches; reads use two others. */
  readonly max?: number
  /**
   * Milliseconds until a server that lets nobody in, or says nothing to a rollback, is given up, and a wait for a free
   * connection; by default 10 s.
   */
  readonly connectLimit?: number
  /** Milliseconds after which an unused connection is closed. */
  readonly idle?: number
}

/**
 * A role's or a database's own setting may cut off digits. A statement, since PgBouncer does not forward this setting;
 * it is sent first and nobody waits for it.
 */
export function showFloatsExactly(client: pg.ClientBase): void {
  client.query('set extra_float_digits = 1').catch(ignore)
}

/** Creates an unconnected client. Throws a SqlFault if the address is invalid. */
export function makeClient(options: PostgresOptions): pg.Client {
  try {
    return new GuardedClient(clientConfig(options))
  } catch (error) {
    throw postgresFault(error, unreachable)
  }
}

/**
 * A client that ends its connection where what the server sends makes `pg` throw: that happens in an event of the
 * socket, so that it would end the process.
 */
export class GuardedClient extends pg.Client {
  readonly received: Received = { bytes: 0, isOne: false }

  constructor(config?: pg.ClientConfig) {
    super(config)
    const { connection } = this as unknown as Internals
    // Statements reject when the connection breaks; without a listener the event would end the process.
    this.on('error', () => connection.stream.destroy())
    const { attachListeners } = connection
    connection.attachListeners = (stream) => attachListeners.call(connection, guarded(stream, this.received))
  }
}

/** Missing in the types: TLS replaces the stream, and what reads messages is attached to the last one. */
type Internals = { readonly connection: { readonly stream: Duplex; attachListeners(stream: Listened): void } }

type Listened = { on(event: string, listener: (chunk: Buffer) => void): unknown }

function guarded(stream: Listened, received: Received): Listened {
  return {
    on(event, listener) {
      if (event !== 'data') return stream.on(event, listener)
      const whole = wholeMessages(received)
      return stream.on(event, function (this: Duplex, chunk) {
        try {
          const messages = whole(chunk)
          if (messages !== undefined) listener(messages)
        } catch (error) {
          this.destroy(error as Error)
        }
      })
    },
  }
}

type ClientConfig = pg.ClientConfig & { readonly pipeline: boolean }

/** Milliseconds to wait for a connection. */
export const CONNECT_LIMIT = 10_000

/** The settings of `pg` for clients. */
export function clientConfig({
  connectionString,
  address,
  stream,
  timeLimit,
  pipeline = true,
  connectLimit = CONNECT_LIMIT,
}: PostgresOptions): ClientConfig {
  const common = {
    types: rawText,
    connectionTimeoutMillis: connectLimit,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
  }
  if (stream !== undefined) return { ...common, stream, ssl: false, options: session, pipeline }
  const settings = timeLimit ? `${session} -c statement_timeout=${timeLimit}` : session
  const target = address === undefined ? withSession(connectionString, settings) : addressed(address, settings)
  return { ...common, ...target, pipeline }
}

function addressed(
  { host, port, user, password, database, tls, socket }: PostgresAddress,
  options: string,
): pg.ClientConfig {
  const ca = tls && tls.ca !== undefined ? { ca: [tls.ca].flat() } : {}
  const ssl = tls && { minVersion: 'TLSv1.2' as const, rejectUnauthorized: true, ...ca }
  // In place of an empty text `pg` would take what the environment or a file of the service has for such a host.
  const given = typeof password === 'string' ? () => password : password
  return { host, port, user, password: given, database, ssl, stream: socket, options }
}

// Text forms depend on these settings. PgBouncer forwards exactly these, but no time limit (see `withoutLimit`).
const session = '-c TimeZone=UTC -c DateStyle=ISO -c IntervalStyle=postgres -c client_encoding=UTF8'

/** Appends our options to those of a connection string, which would replace them; the last value of a setting wins. */
function withSession(connectionString = '', settings = session): pg.ClientConfig {
  if (!URL.canParse(connectionString)) return { connectionString, options: settings }
  const url = new URL(connectionString)
  const given = url.searchParams.get('options')
  url.searchParams.set('options', given === null ? settings : `${given} ${settings}`)
  return { connectionString: url.toString() }
}

/** Buffers writes of the client until the returned function is called. */
export function holdWrites(client: pg.ClientBase): () => void {
  const socket = socketOf(client)
  socket.cork()
  return () => socket.uncork()
}

/** Missing in the types: the connection's current stream; TLS may have replaced the first one. */
export function socketOf(client: pg.ClientBase): Duplex {
  return (client as unknown as { connection: { stream: Duplex } }).connection.stream
}

/** What a client that `openPool` or `makeClient` has made receives. */
export const receivedBy = (client: pg.ClientBase): Received => (client as GuardedClient).received

export type TextResult = pg.QueryArrayResult<(string | null)[]>

/** One prepared execution with any parameters; rows are arrays of the server's text. */
export function textRequest({ text, params }: Statement): pg.QueryArrayConfig {
  // `queryMode` is missing in the types. Without it, a text without parameters could hold several statements.
  return { text, values: params, rowMode: 'array', queryMode: 'extended' } as unknown as pg.QueryArrayConfig
}

/**
 * Returns options without a time limit if a pooler refused to forward it; undefined for any other error. Late
 * statements are then cancelled instead.
 */
export function withoutLimit(options: PostgresOptions, { state, message }: SqlFault): PostgresOptions | undefined {
  const isRefused = options.timeLimit && state === '08P01' && message.includes('statement_timeout')
  return isRefused ? { ...options, timeLimit: 0 } : undefined
}

export function postgresFault(error: unknown, fallback: string): SqlFault {
  if (error instanceof SqlFault) return error
  if (error instanceof pg.DatabaseError && error.code !== undefined) {
    const { message, code, constraint, table, column, detail, routine } = error
    return new SqlFault(message, { state: code, constraint, table, column, detail, routine, cause: error })
  }
  const refusal = privateHostFault(error)
  if (refusal !== undefined) return refusal
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const message = (error instanceof Error && error.message) || code || 'connection failed'
  return new SqlFault(message, { state: fallback, cause: error })
}

/** SQLSTATEs: the database is unreachable; the connection broke before the answer. */
export const unreachable = '08000'
export const lost = '08006'

/** In milliseconds. */
export const idle = 300_000
export const ignore = () => {}
const rawText = { getTypeParser: () => (value: string) => value } as unknown as pg.CustomTypesConfig
