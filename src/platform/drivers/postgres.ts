/**
 * Postgres over TCP, or over any stream that speaks its protocol, through `pg`. Reads go as named statements through
 * two held, pipelined clients: one round trip each and no waiting for a free connection; a client that is held up by a
 * statement is replaced. Batches go through a pool.
 * Every value stays in the server's text form, in UTC; every failure is a SqlFault.
 */
import type { Duplex } from 'node:stream'
import pg from 'pg'
import { SqlFault } from '../../core/sql/fault.ts'
import type { Statement } from '../../core/sql/statement.ts'
import type { SqlDriver, SqlRow } from '../../ports.ts'
import { isPrivateHostError } from '../private-hosts.ts'
import { readText } from './text-read.ts'
import { streamText } from './text-stream.ts'

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
  /** False where sessions share their prepared statements (embedded database, some poolers). */
  readonly named?: boolean
  /** False where a statement keeps its connection over several round trips. */
  readonly pipeline?: boolean
  /** Connections for batches, beside the two for reads. */
  readonly max?: number
  /** Milliseconds after which an unused connection is ended. */
  readonly idle?: number
}

export function openPostgres(options: PostgresOptions): SqlDriver {
  const pool = openPool(options)
  const large = openPool({ ...options, max: LARGE_AT_ONCE, pipeline: false })
  const readers = openReaders(options)

  return {
    async query(statement) {
      if (!statement.isLarge) return readers.query(statement)
      try {
        return (await large.query<string[]>(textRequest(statement))).rows
      } catch (error) {
        throw postgresFault(error, lost)
      }
    },

    // A connection that is kept while a caller reads would keep all others from a database that has only one.
    ...(options.stream === undefined && {
      async stream(statement: Statement) {
        const client = await lend(large)
        try {
          return faultsOf(await streamText(client, statement))
        } catch (error) {
          throw postgresFault(error, lost)
        }
      },
    }),

    async batch(statements) {
      if (statements.length === 0) return []
      const results = await runTransaction(pool, 'begin', statements)
      return results.map((result) => result.rows)
    },

    async close() {
      await Promise.all([readers.close(), pool.end(), large.end()])
    },
  }
}

/** Large answers in memory at one time; nothing small ever waits behind one. */
const LARGE_AT_ONCE = 2

/** The same rows; what breaks while they come is a SqlFault. */
function faultsOf(rows: AsyncIterator<SqlRow>): AsyncIterator<SqlRow> {
  return {
    ...rows,
    next: () =>
      rows.next().catch((error: unknown) => {
        throw postgresFault(error, lost)
      }),
  }
}

type ClientConfig = pg.ClientConfig & { readonly pipeline: boolean }

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

/** Runs statements between `begin` and commit; all or nothing. */
export async function runTransaction(
  pool: pg.Pool,
  begin: string,
  statements: readonly Statement[],
): Promise<readonly TextResult[]> {
  const client = await lend(pool)
  // A client that breaks while it is lent out tells its statements; without a listener it would end the process.
  client.on('error', ignore)
  try {
    // Only the begin is waited for: without it the rest would run outside of a transaction. After a failure the
    // server refuses the statements that were already sent, and the commit of a failed transaction is a rollback.
    await client.query(begin)
    const write = holdWrites(client)
    const sent = statements.map((statement) => client.query<string[]>(textRequest(statement)))
    const commit = client.query('commit')
    write()
    const settled = await Promise.allSettled([...sent, commit])
    const failed = settled.find((outcome) => outcome.status === 'rejected')
    if (failed !== undefined) throw failed.reason
    return await Promise.all(sent)
  } catch (error) {
    throw postgresFault(error, lost)
  } finally {
    client.off('error', ignore)
    // Anything but idle means that the transaction's end is unknown: the server rolls it back with the connection.
    client.release(client.getTransactionStatus() !== 'I')
  }
}

async function lend(pool: pg.Pool): Promise<pg.PoolClient> {
  try {
    return await pool.connect()
  } catch (error) {
    throw postgresFault(error, unreachable)
  }
}

export type TextResult = pg.QueryArrayResult<(string | null)[]>

/** One prepared execution, whatever the parameters; rows as arrays of the server's own text. */
export function textRequest({ text, params }: Statement): pg.QueryArrayConfig {
  // queryMode is missing in the types. Without it a text without parameters could hold several statements.
  return { text, values: params, rowMode: 'array', queryMode: 'extended' } as unknown as pg.QueryArrayConfig
}

export function postgresFault(error: unknown, fallback: string): SqlFault {
  if (error instanceof SqlFault) return error
  if (error instanceof pg.DatabaseError && error.code !== undefined) {
    const { message, code, constraint, table, column } = error
    return new SqlFault(message, { state: code, constraint, table, column, cause: error })
  }
  if (isPrivateHostError(error)) return new SqlFault('the address is not allowed', { state: '08004', cause: error })
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const message = (error instanceof Error && error.message) || code || 'connection failed'
  return new SqlFault(message, { state: fallback, cause: error })
}

/** The database could not be reached, or the connection broke before the answer. */
export const unreachable = '08000'
export const lost = '08006'

const idle = 300_000
const ignore = () => {}
const rawText = { getTypeParser: () => (value: string) => value } as unknown as pg.CustomTypesConfig

/** Held clients, opened when needed, replaced when lost. */
function openReaders({ named = true, ...options }: PostgresOptions) {
  const readers: (Reader | undefined)[] = [undefined, undefined]
  /** Replaced, but still waiting for answers. */
  const leaving = new Set<Reader>()
  const names = new Map<string, string>()
  let issued = 0
  let closed = false

  const query = (statement: Statement): Promise<readonly SqlRow[]> =>
    ask(statement, named ? nameOf(statement.text) : undefined)

  const ask = async (statement: Statement, name: string | undefined): Promise<readonly SqlRow[]> => {
    const reader = take()
    try {
      if (!reader.ready) await reader.connecting
      return await send(reader, statement, name)
    } catch (error) {
      const fault = postgresFault(error, lost)
      if (name === undefined || !isStale(fault)) throw fault
      // It was refused before it ran: another shape of the table, or a preparation that failed just before.
      if (names.get(statement.text) === name) forget()
    } finally {
      giveBack(reader)
    }
    return ask(statement, undefined)
  }

  const take = (): Reader => {
    if (closed) throw new SqlFault('the driver is closed', { state: '08003' })
    const reader = pick()
    if (reader.load === 0) reader.moved = performance.now()
    reader.load += 1
    reader.timer.refresh()
    return reader
  }

  const giveBack = (reader: Reader) => {
    reader.load -= 1
    reader.moved = performance.now()
    if (!reader.retired || reader.load > 0) return
    leaving.delete(reader)
    void end(reader)
  }

  const pick = (): Reader => {
    let best: Reader | undefined
    for (let slot = 0; slot < readers.length; slot += 1) {
      if (named && leaving.size < maxLeaving && isStuck(readers[slot])) retire(slot)
      const reader = readers[slot]
      // A second connection is opened only for what would have to queue behind the first.
      if (reader === undefined) {
        if (best?.load !== 0) best = open(slot)
      } else if (best === undefined || reader.load < best.load) best = reader
    }
    return best ?? open(0)
  }

  const open = (slot: number): Reader => {
    const client = makeClient(options)
    const drop = () => {
      clearTimeout(reader.timer)
      if (readers[slot] === reader) readers[slot] = undefined
    }
    client.on('error', drop)
    client.on('end', drop)
    const connecting = client.connect().then(
      () => {
        reader.ready = true
      },
      (error) => {
        drop()
        throw postgresFault(error, unreachable)
      },
    )
    connecting.catch(ignore)
    const timer = setTimeout(() => (reader.load === 0 ? retire(slot) : timer.refresh()), options.idle ?? idle).unref()
    const state = { ready: false, retired: false, isHolding: false, load: 0, moved: 0 }
    const reader: Reader = { client, connecting, timer, ...state }
    readers[slot] = reader
    return reader
  }

  const retire = (slot: number) => {
    const reader = readers[slot]
    readers[slot] = undefined
    if (reader === undefined) return
    reader.retired = true
    if (reader.load === 0) void end(reader)
    else leaving.add(reader)
  }

  /** A name lives as long as its statement's place on the server: when there are too many, both start afresh. */
  const nameOf = (text: string): string => {
    const known = names.get(text)
    if (known !== undefined) return known
    if (names.size >= maxNames) forget()
    issued += 1
    const name = `s${issued}`
    names.set(text, name)
    return name
  }

  const forget = () => {
    names.clear()
    readers.forEach((_, slot) => {
      retire(slot)
    })
  }

  const close = async () => {
    closed = true
    await Promise.all([...readers, ...leaving].map((reader) => reader && end(reader)))
  }

  return { query, close }
}

function send(reader: Reader, statement: Statement, name: string | undefined): Promise<readonly SqlRow[]> {
  writeTogether(reader)
  if (name !== undefined) return readText(reader.client, { name, ...statement })
  return reader.client.query<string[]>(textRequest(statement)).then(({ rows }) => rows)
}

/** Statements of one turn of the event loop leave in one write: each write of its own costs more than its statement. */
function writeTogether(reader: Reader): void {
  if (reader.isHolding) return
  const write = holdWrites(reader.client)
  reader.isHolding = true
  setImmediate(() => {
    reader.isHolding = false
    write()
  })
}

/** Keeps what is asked from being written until the answered function is called. */
function holdWrites(client: pg.ClientBase): () => void {
  // Not in the types: the connection's stream, which TLS may have replaced since it was opened.
  const { stream } = (client as unknown as { connection: { stream: Duplex } }).connection
  stream.cork()
  return () => stream.uncork()
}

type Reader = {
  readonly client: pg.Client
  readonly connecting: Promise<void>
  readonly timer: NodeJS.Timeout
  ready: boolean
  retired: boolean
  /** What was asked in this turn of the event loop waits to be written. */
  isHolding: boolean
  /** Statements that wait for an answer. */
  load: number
  /** When it last gave an answer, or began to be asked. */
  moved: number
}

/** Milliseconds without an answer after which nobody else has to wait behind a statement, and how often at a time. */
const stuck = 250
const maxLeaving = 8

function isStuck(reader: Reader | undefined): boolean {
  return reader?.ready === true && reader.load > 0 && performance.now() - reader.moved > stuck
}

const maxNames = 1_000

/** Ends after the answers that are still on their way; a client that never connected has nothing to end. */
async function end({ client, connecting, timer }: Reader): Promise<void> {
  clearTimeout(timer)
  await connecting.then(() => client.end()).catch(ignore)
}

/** The server no longer accepts a prepared statement of this name. */
function isStale({ state, message }: SqlFault): boolean {
  return state === '26000' || state === '42P05' || (state === '0A000' && message.includes('cached plan'))
}

function makeClient(options: PostgresOptions): pg.Client {
  try {
    return new pg.Client(clientConfig(options))
  } catch (error) {
    throw postgresFault(error, unreachable)
  }
}

function clientConfig({ connectionString, address, stream, pipeline = true }: PostgresOptions): ClientConfig {
  const common = {
    types: rawText,
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
  }
  if (stream !== undefined) return { ...common, stream, ssl: false, options: session, pipeline }
  const target = address === undefined ? withSession(connectionString) : addressed(address)
  return { ...common, ...target, pipeline }
}

function addressed({ host, port, user, password, database, tls, socket }: PostgresAddress): pg.ClientConfig {
  const ca = tls && tls.ca !== undefined ? { ca: [tls.ca].flat() } : {}
  const ssl = tls && { minVersion: 'TLSv1.2' as const, rejectUnauthorized: true, ...ca }
  return { host, port, user, password, database, ssl, stream: socket, options: session }
}

// Text forms depend on these. Exactly the ones that PgBouncer passes on, too.
const session = '-c TimeZone=UTC -c DateStyle=ISO -c IntervalStyle=postgres -c client_encoding=UTF8'

/** `pg` lets the options of a connection string replace ours, so ours are added to them, last and therefore winning. */
function withSession(connectionString = ''): pg.ClientConfig {
  if (!URL.canParse(connectionString)) return { connectionString, options: session }
  const url = new URL(connectionString)
  const given = url.searchParams.get('options')
  url.searchParams.set('options', given === null ? session : `${given} ${session}`)
  return { connectionString: url.toString() }
}
