/**
 * Neon's HTTP interface on loopback, in front of the embedded database or a Postgres server: `POST /sql` as the
 * unmodified Neon driver sends it. A local Worker reaches its database this way. The driver's WebSocket interface (/v2)
 * is not implemented, since platform/drivers/neon.ts uses HTTP only. Requests without the password are refused.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import pg from 'pg'
import * as z from 'zod'
import { jsonIn } from '../../../core/json-object.ts'
import { SqlFault } from '../../../core/sql/fault.ts'
import { limitOf } from '../../drivers/neon-limit.ts'
import { runAlone } from '../../drivers/postgres/alone.ts'
import { lost, type PostgresOptions, postgresFault, type TextResult } from '../../drivers/postgres/client.ts'
import { checkOut, openPool } from '../../drivers/postgres/pool.ts'
import { askOnce, runTransaction } from '../../drivers/postgres/transaction.ts'

export type NeonGateway = {
  readonly url: string
  /** Also ends connections on which a client has yet to send something, or waits for an answer: it would keep them for minutes. */
  readonly close: () => Promise<void>
}

export type NeonGatewayOptions = {
  /** Port to listen on; by default any free port. */
  readonly port?: number
  /** Password for the connection string; by default random. */
  readonly password?: string
}

export async function startNeonGateway(
  database: { readonly connect: () => Duplex } | string,
  { port = 0, password = randomBytes(24).toString('base64url') }: NeonGatewayOptions = {},
): Promise<NeonGateway> {
  const connections =
    typeof database === 'string' ? { connectionString: database } : { stream: database.connect, max: 4 }
  const pool = openPool(connections)
  const server = createServer((request, response) => {
    const isDisconnected = () => response.destroyed
    respond({ pool, connections }, { password, isDisconnected }, request).then(
      (answer) => send(response, answer),
      () => response.destroy(),
    )
  })
  // Longer than a client keeps an idle connection, so that none is closed while a request is being sent.
  server.keepAliveTimeout = 120_000
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address() as AddressInfo

  return {
    url: `postgres://service:${password}@127.0.0.1:${address.port}/postgres`,
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
      await pool.end()
    },
  }
}

type Answer = { readonly status: number; readonly body: unknown }

type Database = { readonly pool: pg.Pool; readonly connections: PostgresOptions }
type Terms = { readonly password: string; readonly isDisconnected: () => boolean }

async function respond(
  { pool, connections }: Database,
  { password, isDisconnected }: Terms,
  request: IncomingMessage,
): Promise<Answer> {
  if (request.method !== 'POST' || request.url !== '/sql') return { status: 404, body: { message: 'Not found' } }
  if (!knowsPassword(request, password)) return refusal('28P01', 'password authentication failed')
  const text = await readBody(request)
  if (text === undefined) return { status: 413, body: { message: 'The request is too large' } }
  const body = parseBody(text)
  if (body === undefined) return refusal('08P01', 'not a request of the Neon driver')

  try {
    if ('queries' in body) {
      const statements = body.queries.map(statement)
      const transaction = { begin: begin(request), statements, timeLimit: limitOf(statements), ask: askOnce }
      const results = await runTransaction(() => checkOut(pool), connections, transaction)
      return { status: 200, body: { results: results.map(render) } }
    }
    const single = { statement: statement(body), context: isRead(body) ? { isDisconnected } : undefined, timeLimit: 0 }
    return { status: 200, body: render(await runAlone(await checkOut(pool), connections, single)) }
  } catch (error) {
    return sqlError(error)
  }
}

function knowsPassword(request: IncomingMessage, password: string): boolean {
  const given = String(request.headers['neon-connection-string'])
  if (!URL.canParse(given)) return false
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(decodeURIComponent(new URL(given).password)), digest(password))
}

const maxBody = 64 * 1024 * 1024

async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    size += chunk.length
    if (size > maxBody) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

const queryBody = z.object({ query: z.string(), params: z.array(z.string().nullable()).default([]) })
const requestBody = z.union([z.object({ queries: z.array(queryBody) }), queryBody])

function parseBody(text: string): z.output<typeof requestBody> | undefined {
  return requestBody.safeParse(jsonIn(text)).data
}

function statement({ query, params }: z.output<typeof queryBody>) {
  return { text: query, params }
}

/** A statement that may write continues when its request is aborted. */
function isRead({ query }: z.output<typeof queryBody>): boolean {
  return /^\s*select\b/i.test(query)
}

/** Isolation level and mode come from headers; only words of this list reach the statement. */
function begin({ headers }: IncomingMessage): string {
  const level = levels[String(headers['neon-batch-isolation-level'])]
  const modes = [
    level && `isolation level ${level}`,
    headers['neon-batch-read-only'] === 'true' && 'read only',
    headers['neon-batch-deferrable'] === 'true' && 'deferrable',
  ]
  return ['begin', ...modes.filter(Boolean)].join(' ')
}

const levels: Readonly<Record<string, string>> = {
  ReadUncommitted: 'read uncommitted',
  ReadCommitted: 'read committed',
  RepeatableRead: 'repeatable read',
  Serializable: 'serializable',
}

function render({ command, rowCount, fields, rows }: TextResult) {
  return { command, rowCount, rowAsArray: true, rows, fields }
}

/** The driver reads the SQLSTATE only from responses with status 400. */
function sqlError(error: unknown): Answer {
  const fault = postgresFault(error, lost)
  const source = fault instanceof SqlFault && fault.cause instanceof pg.DatabaseError ? fault.cause : undefined
  const { severity, detail, hint, position, where, schema, table, column, dataType, constraint, routine } = source ?? {}
  const details = { severity, detail, hint, position, where, schema, table, column, dataType, constraint, routine }
  return { status: 400, body: { message: fault.message, code: fault.state, ...details } }
}

function refusal(code: string, message: string): Answer {
  return { status: 400, body: { message, code } }
}

function send(response: ServerResponse, { status, body }: Answer): void {
  // The rest of a refused body is not read, so the connection closes after the response.
  if (status === 413) response.setHeader('connection', 'close')
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}
