/**
 * PlanetScale's HTTP interface on loopback, in front of a MariaDB: `POST /psdb.v1alpha1.Database/Execute` as the
 * unmodified driver sends it. A session is a connection that is kept by its id from BEGIN until its COMMIT or ROLLBACK.
 * It refuses what Vitess refuses.
 */
import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Connection, createConnection, createPool } from 'mysql2/promise'
import { parseSqlAddress } from '../../../src/core/sql/address.ts'
import { openPlanetscale } from '../../../src/platform/drivers/planetscale.ts'
import { startMariadb, type TestMariadb } from './mariadb.ts'
import { type Refusal, vitessRefusal } from './vitess.ts'

export type PlanetscaleGateway = {
  /** The configuration of a data source that leads here. */
  readonly config: object
  /** Paths of the requests so far. */
  readonly requests: readonly string[]
  /** Messages of the refusals so far. */
  readonly refusals: readonly string[]
  close(): Promise<void>
}

type Body = { readonly query: string; readonly session: { readonly id: string } | null }

export async function startPlanetscaleGateway(
  server: Pick<TestMariadb, 'host' | 'port' | 'user' | 'password'> & { readonly database?: string },
  { foreignKeys = 'allowed' }: { readonly foreignKeys?: 'allowed' | 'forbidden' } = {},
): Promise<PlanetscaleGateway> {
  const { host, port, user, password, database } = server
  const account = { host, port, user, password, ...(database !== undefined && { database }), ...settings }
  const pool = createPool({ ...account, connectionLimit: 4 })
  pool.pool.on('connection', (session) => session.query(sessionSetup, () => {}))
  const sessions = new Map<string, Connection>()
  const requests: string[] = []
  const refusals: string[] = []
  const secret = randomBytes(12).toString('hex')

  const begin = async () => {
    const connection = await createConnection(account)
    await connection.query(sessionSetup)
    connection.on('error', () => {})
    const id = randomUUID()
    sessions.set(id, connection)
    return { id, connection }
  }

  const execute = async ({ query, session }: Body): Promise<object> => {
    const known = session === null ? undefined : sessions.get(session.id)
    const isBegin = /^begin$/i.test(query)
    const { id, connection } =
      known && session ? { id: session.id, connection: known } : isBegin ? await begin() : shared
    const refusal = vitessRefusal(query, foreignKeys)
    if (refusal !== undefined) {
      refusals.push(refusal.message)
      return { session: { id }, error: errorBody(refusal) }
    }
    try {
      const [answer, fields] = await connection.query({ sql: query, rowsAsArray: true })
      if (/^(commit|rollback)$/i.test(query) && id !== '') {
        sessions.delete(id)
        await (connection as Connection).end()
      }
      const rows = Array.isArray(answer) ? (answer as (Buffer | null)[][]).map(packed) : []
      const columns = (fields ?? []).map(({ name }) => ({ name, type: 'VARCHAR', charset: 45 }))
      return { session: { id }, result: { fields: columns, rows }, timing: 0 }
    } catch (error) {
      const { errno = 0, sqlState = 'HY000', message } = error as Error & { errno?: number; sqlState?: string }
      if (errno === 0) throw error
      return { session: { id }, error: errorBody({ errno, state: sqlState, message }) }
    }
  }
  const shared = { id: '', connection: pool }

  const http = createServer((request, response) => {
    requests.push(request.url ?? '')
    answer(request).then(
      ({ status, body }) => {
        response.writeHead(status, { 'content-type': 'application/json' })
        response.end(JSON.stringify(body))
      },
      () => response.destroy(),
    )
  })
  const answer = async (request: IncomingMessage): Promise<{ status: number; body: object }> => {
    const expected = `Basic ${Buffer.from(`${user}:${secret}`).toString('base64')}`
    if (request.headers.authorization !== expected) {
      return { status: 401, body: { error: { code: 'UNAUTHENTICATED', message: 'invalid credentials' } } }
    }
    if (request.url !== '/psdb.v1alpha1.Database/Execute') return { status: 404, body: {} }
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    return { status: 200, body: await execute(JSON.parse(Buffer.concat(chunks).toString()) as Body) }
  }
  http.keepAliveTimeout = 120_000
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')

  return {
    config: {
      host: '127.0.0.1',
      port: (http.address() as AddressInfo).port,
      user,
      password: secret,
      ...(database !== undefined && { database }),
    },
    requests,
    refusals,
    async close() {
      http.closeAllConnections()
      http.close()
      for (const session of sessions.values()) session.destroy()
      await pool.end()
    },
  }
}

/** A MariaDB of its own, reached through its gateway alone. */
export async function openBehindPlanetscale() {
  const server = await startMariadb()
  const gateway = await startPlanetscaleGateway(server)
  const driver = openPlanetscale({ address: parseSqlAddress('planetscale', gateway.config), wayOut: fetch })
  return { server, driver, close: () => gateway.close().then(() => server.close()) }
}

function errorBody({ message, errno, state }: Refusal) {
  const prefix = 'target: shop.-.primary: vttablet: rpc error: code = Unknown desc ='
  return { code: 'UNKNOWN', message: `${prefix} ${message} (errno ${errno}) (sqlstate ${state}) (CallerID: test)` }
}

/** What comes back stays in bytes. */
const settings = {
  charset: 'UTF8MB4_BIN',
  supportBigNumbers: true,
  bigNumberStrings: true,
  dateStrings: true,
  jsonStrings: true,
  typeCast: (field: { buffer(): Buffer | null }) => field.buffer(),
}

/** A database of PlanetScale runs in UTC and in a strict mode where a backslash escapes. */
const sessionSetup = `set time_zone = '+00:00', group_concat_max_len = 1073741824, sql_mode =
  'STRICT_ALL_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION'`

function packed(values: readonly (Buffer | null)[]): { lengths: string[]; values: string } {
  const lengths = values.map((value) => String(value === null ? -1 : value.length))
  const bytes = Buffer.concat(values.filter((value) => value !== null))
  return { lengths, values: bytes.toString('base64') }
}
