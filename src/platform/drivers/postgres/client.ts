/**
 * Connections to Postgres through `pg`, as every part of the driver needs them: sessions in UTC, every value in the
 * server's own text form, every failure a SqlFault.
 */
import type { Duplex } from 'node:stream'
import pg from 'pg'
import { SqlFault } from '../../../core/sql/fault.ts'
import type { Statement } from '../../../core/sql/statement.ts'
import { isPrivateHostError } from '../../private-hosts.ts'

/** A server by its parts. */
export type PostgresAddress = {
  readonly host: string
  readonly port: number
  readonly user: string
  /** A function is asked for each connection. */
  readonly password: string | (() => Promise<string>)
  readonly database: string
  /** The server's certificate is always checked, against `ca` where it is given. */
  readonly tls: false | { readonly ca: string | readonly string[] | undefined }
  /** Makes the sockets that are then connected. */
  readonly socket: () => Duplex
}

export type PostgresOptions = {
  readonly connectionString?: string
  readonly address?: PostgresAddress
  /** Makes a connection that already leads to the server, instead of a socket. */
  readonly stream?: () => Duplex
  /** Milliseconds after which the server ends a statement that somebody waits for; 0, or none, is no limit. */
  readonly timeLimit?: number
  /** False where a statement keeps its connection over several round trips. */
  readonly pipeline?: boolean
  /** Connections for batches, beside the two for reads. */
  readonly max?: number
  /** Milliseconds after which an unused connection is ended. */
  readonly idle?: number
}

/** A pool whose sessions run in UTC and whose idle clients may break without ending the process. */
export function openPool(options: PostgresOptions): pg.Pool {
  const pool = new pg.Pool({
    ...clientConfig(options),
    max: options.max ?? 10,
    idleTimeoutMillis: options.idle ?? idle,
  })
  pool.on('error', ignore)
  return pool
}

/** Not yet connected. Throws a SqlFault where the address makes no sense. */
export function makeClient(options: PostgresOptions): pg.Client {
  try {
    return new pg.Client(clientConfig(options))
  } catch (error) {
    throw postgresFault(error, unreachable)
  }
}

type ClientConfig = pg.ClientConfig & { readonly pipeline: boolean }

function clientConfig({
  connectionString,
  address,
  stream,
  timeLimit,
  pipeline = true,
}: PostgresOptions): ClientConfig {
  const common = {
    types: rawText,
    connectionTimeoutMillis: 10_000,
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
  return { host, port, user, password, database, ssl, stream: socket, options }
}

// Text forms depend on these. Exactly the ones that PgBouncer passes on, too; a time limit it does not, see `withoutLimit`.
const session = '-c TimeZone=UTC -c DateStyle=ISO -c IntervalStyle=postgres -c client_encoding=UTF8'

/** `pg` lets the options of a connection string replace ours, so ours are added to them, last and therefore winning. */
function withSession(connectionString = '', settings = session): pg.ClientConfig {
  if (!URL.canParse(connectionString)) return { connectionString, options: settings }
  const url = new URL(connectionString)
  const given = url.searchParams.get('options')
  url.searchParams.set('options', given === null ? settings : `${given} ${settings}`)
  return { connectionString: url.toString() }
}

/** Keeps what is asked from being written until the answered function is called. */
export function holdWrites(client: pg.ClientBase): () => void {
  // Not in the types: the connection's stream, which TLS may have replaced since it was opened.
  const { stream } = (client as unknown as { connection: { stream: Duplex } }).connection
  stream.cork()
  return () => stream.uncork()
}

export type TextResult = pg.QueryArrayResult<(string | null)[]>

/** One prepared execution, whatever the parameters; rows as arrays of the server's own text. */
export function textRequest({ text, params }: Statement): pg.QueryArrayConfig {
  // queryMode is missing in the types. Without it a text without parameters could hold several statements.
  return { text, values: params, rowMode: 'array', queryMode: 'extended' } as unknown as pg.QueryArrayConfig
}

/**
 * The same connections without a limit of their own, where a pooler in between has refused to pass one on; undefined where
 * that is not what was refused. Whoever is served ends late statements in another way.
 */
export function withoutLimit(options: PostgresOptions, { state, message }: SqlFault): PostgresOptions | undefined {
  const isRefused = options.timeLimit && state === '08P01' && message.includes('statement_timeout')
  return isRefused ? { ...options, timeLimit: 0 } : undefined
}

export function postgresFault(error: unknown, fallback: string): SqlFault {
  if (error instanceof SqlFault) return error
  if (error instanceof pg.DatabaseError && error.code !== undefined) {
    const { message, code, constraint, table, column, routine } = error
    return new SqlFault(message, { state: code, constraint, table, column, routine, cause: error })
  }
  if (isPrivateHostError(error)) return new SqlFault('the address is not allowed', { state: '08004', cause: error })
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const message = (error instanceof Error && error.message) || code || 'connection failed'
  return new SqlFault(message, { state: fallback, cause: error })
}

/** The database could not be reached, or the connection broke before the answer. */
export const unreachable = '08000'
export const lost = '08006'

/** Milliseconds. */
export const idle = 300_000
export const ignore = () => {}
const rawText = { getTypeParser: () => (value: string) => value } as unknown as pg.CustomTypesConfig
