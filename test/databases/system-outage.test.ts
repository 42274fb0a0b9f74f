/**
 * docs/contract.md#errors: a system database that goes away while a request runs is 503, whichever statement of it comes behind,
 * and the log has its own words.
 */
import { createServer } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openPostgres } from '../../src/platform/drivers/postgres/driver.ts'
import { openPostgresPerRequest } from '../../src/platform/drivers/postgres/per-request.ts'
import type { SqlDriver } from '../../src/ports/database.ts'
import type { Observation } from '../../src/ports/observe.ts'
import { type Client, migrate, signIn, type Workspace } from '../migration/support/client.ts'
import { plainCollection } from '../migration/support/collections.ts'
import { startPostgres, type TestPostgres } from '../support/servers/postgres.ts'
import { type InProcess, openInProcess } from '../support/service/in-process.ts'

let server: TestPostgres
let database: SqlDriver
let service: InProcess
let client: Client
let shop: Workspace
const faults: unknown[] = []
/** Statements and batches until all are sent where nobody answers. */
let left = Number.POSITIVE_INFINITY
let away: SqlDriver
let count = 0

function current(): SqlDriver {
  left -= 1
  return left >= 0 ? database : away
}

beforeAll(async () => {
  server = await startPostgres()
  database = openPostgres({ connectionString: server.url })
  const interrupted: SqlDriver = {
    ...database,
    query: (statement, context) => current().query(statement, context),
    batch: (statements, context) => current().batch(statements, context),
    ...(database.stream !== undefined && {
      stream: (statement, context) => (current() as Required<SqlDriver>).stream(statement, context),
    }),
  }
  service = await openInProcess({
    database: interrupted,
    databaseUrl: server.url,
    observe: (observation: Observation) => {
      if (observation.kind === 'fault') faults.push(observation.error)
    },
  })
  client = await signIn(service.administrator, 'http://localhost', service.request)
  shop = await client.workspace('shop')
  await migrate(client, shop, plainCollection(shop, 'notes'))
  for (const request of requests) await send(request)
})

afterAll(async () => {
  await service?.close()
  await database?.close()
  await server?.close()
})

const requests: readonly (readonly [method: string, path: string, body?: unknown])[] = [
  ['GET', '/api/shop/items/notes'],
  ['GET', '/api/shop/items/notes?meta=totalCount'],
  ['GET', '/api/shop/items/notes/1'],
  ['POST', '/api/shop/items/notes', [{}]],
  ['PATCH', '/api/shop/items/notes/1', { field0: 'new' }],
  ['POST', '/api/shop/items', { operations: [{ kind: 'read', collection: 'notes' }] }],
  ['QUERY', '/api/shop/aggregates/notes', { aggregate: { n: { count: '*' } } }],
  ['GET', '/api/shop/schema/model'],
  ['POST', '/api/shop/schema/plan', { model: { version: 1, collections: {} } }],
  ['POST', '/api/shop/schema/migrate'],
  ['POST', '/api/shop/schema/introspect/SOURCE'],
  ['POST', '/api/shop/assets?fileName=file', { bytes: true }],
  ['GET', '/api/shop/items/ServiceCollection'],
  ['GET', '/api/system/users'],
]

function send([method, path, body]: (typeof requests)[number]) {
  const sent = path.endsWith('/migrate') ? { operations: [plainCollection(shop, `books${count++}`)] } : body
  return client.send(method, path.replace('SOURCE', shop.sourceId), sent)
}

async function closedPort(): Promise<number> {
  const listener = createServer()
  const port = await new Promise<number>((done) => {
    listener.listen(0, '127.0.0.1', () => done((listener.address() as { port: number }).port))
  })
  await new Promise((done) => listener.close(done))
  return port
}

const refusing = async () => `postgres://nobody@127.0.0.1:${await closedPort()}/nothing`
const unresolved = async () => 'postgres://nobody@database.invalid/nothing'

describe.each([
  ['that refuses connections', refusing, openPostgres],
  ['whose name is not resolved', unresolved, openPostgres],
  ['that refuses connections of a request, as those of Workers', refusing, openPostgresPerRequest],
])('a database %s', (_, address, open) => {
  beforeAll(async () => {
    away = open({ connectionString: await address(), request: () => undefined })
  })

  afterAll(() => away?.close())

  it.each(requests)('is 503 to %s %s', async (method, path, body) => {
    for (let before = 0; ; before += 1) {
      faults.length = 0
      left = before
      const answer = await send([String(method), String(path), body])
      left = Number.POSITIVE_INFINITY
      if (answer.status < 300) return expect(before).toBeGreaterThan(0)
      const text = JSON.stringify(answer.body)
      expect(answer.status, text).toBe(503)
      expect(text).toMatch(/The (?:system database|store of files) cannot be reached"/)
      expect(faults).not.toEqual([])
    }
  })
})
