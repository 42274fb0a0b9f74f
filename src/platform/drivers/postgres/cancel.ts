/**
 * Ends what a connection to Postgres is running, from outside of it: a connection made only to say so. The server names no
 * statement in that protocol, only the connection, so whoever shares one has to ask again for what was hit by mistake.
 */
import type { Duplex } from 'node:stream'
import type pg from 'pg'
import { makeClient, type PostgresOptions } from './client.ts'

/** Milliseconds after which the server is not waited for any more. */
const PATIENCE = 5_000

/**
 * Resolves when the server has passed it on, so that nothing that is sent later is ended by it; or when that took too
 * long. An embedded database's connection is ended itself. Never rejects.
 */
export function cancelRunning(options: PostgresOptions, running: pg.ClientBase): Promise<void> {
  const { connection, processID, secretKey } = running as unknown as Internals
  if (options.stream !== undefined) {
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
    const timer = setTimeout(done, PATIENCE)
    const ask = () => own.cancel(processID, secretKey)
    own.on('connect', () => (own.ssl && own.sslNegotiation !== 'direct' ? own.requestSsl() : ask()))
    own.on('sslconnect', ask)
    own.on('error', done)
    own.on('end', done)
    if (host.startsWith('/')) own.connect(`${host}/.s.PGSQL.${port}`)
    else own.connect(port, host)
  })
}

/** The same for a connection that nobody shares, which ends with its statement. */
export async function endWith(options: PostgresOptions, running: pg.ClientBase): Promise<void> {
  await cancelRunning(options, running)
  cutOff(running)
}

export function cutOff(client: pg.ClientBase): void {
  const { connection } = client as unknown as Internals
  connection.stream.destroy()
}

/** What the types of `pg` leave out. */
type Internals = {
  readonly connection: Connection
  readonly host: string
  readonly port: number
  readonly processID: number
  readonly secretKey: number
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
