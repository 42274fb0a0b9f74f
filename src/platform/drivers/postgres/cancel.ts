/**
 * Cancels what a Postgres connection is running, through a second connection opened for that. The protocol names the
 * connection, not the statement, so users of a shared connection must retry statements that were cancelled by mistake.
 */
import type { Duplex } from 'node:stream'
import type pg from 'pg'
import { makeClient, type PostgresOptions } from './client.ts'

/** Maximum milliseconds to wait for the server. */
const TIMEOUT = 5_000

/**
 * Resolves when the server has delivered the cancel request, so that it cannot hit a later statement, or after
 * TIMEOUT. A connection to an embedded database is destroyed instead. Never rejects.
 */
export function cancelRunning(options: PostgresOptions, running: pg.ClientBase): Promise<void> {
  const { connection, processID, secretKey } = running as unknown as Internals
  // A server that has not said how it is cancelled is left as well.
  if (options.stream !== undefined || processID === null || secretKey === null) {
    connection.stream.destroy()
    return Promise.resolve()
  }
  return new Promise((resolve) => {
    const { connection: own, host, port } = makeClient(options) as unknown as Internals
    const done = () => {
      clearTimeout(timer)
      own.stream.destroy()
      resolve()
    }
    const timer = setTimeout(done, TIMEOUT)
    const ask = () => own.cancel(processID, secretKey)
    own.on('connect', () => (own.ssl && own.sslNegotiation !== 'direct' ? own.requestSsl() : ask()))
    own.on('sslconnect', ask)
    own.on('error', done)
    own.on('end', done)
    if (host.startsWith('/')) own.connect(`${host}/.s.PGSQL.${port}`)
    else own.connect(port, host)
  })
}

/** Like `cancelRunning`, then closes the connection; for a connection that is not shared. */
export async function endWith(options: PostgresOptions, running: pg.ClientBase): Promise<void> {
  await cancelRunning(options, running)
  cutOff(running)
}

export function cutOff(client: pg.ClientBase): void {
  const { connection } = client as unknown as Internals
  connection.stream.destroy()
}

/** Missing in the types of `pg`. */
type Internals = {
  readonly connection: Connection
  readonly host: string
  readonly port: number
  readonly processID: number | null
  readonly secretKey: number | null
}

type Connection = {
  readonly stream: Duplex
  readonly ssl: unknown
  readonly sslNegotiation?: string
  on(event: 'connect' | 'sslconnect' | 'error' | 'end', listener: () => void): void
  connect(port: number | string, host?: string): void
  requestSsl(): void
  cancel(processID: number, secretKey: number): void
}
