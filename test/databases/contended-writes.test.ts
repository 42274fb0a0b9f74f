/** Writes that others are in the way of, as the database sees them (docs/contract.md#writes-in-each-others-way). */
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { SqlFault } from '../../src/core/sql/fault.ts'
import { openPostgres } from '../../src/platform/drivers/postgres/driver.ts'
import type { SqlDriver } from '../../src/ports/database.ts'
import { type Client, migrate, signIn, type Workspace } from '../migration/support/client.ts'
import { plainCollection } from '../migration/support/collections.ts'
import { startPostgres, type TestPostgres } from '../support/servers/postgres.ts'
import { type InProcess, openInProcess } from '../support/service/in-process.ts'

let server: TestPostgres
let database: SqlDriver
let service: InProcess
let client: Client
let shop: Workspace
/** Of the last answer. */
let retryAfter: string | null = null
/** How many of the next transactions with a marked value are ended in favour of others, and what each was made of. */
let ended = 0
const tried: (readonly string[])[] = []

const MARKED = 'in the way'
const isMarked = (params: readonly (string | null)[]) => params.some((param) => param?.includes(MARKED))

beforeAll(async () => {
  server = await startPostgres()
  database = openPostgres({ connectionString: server.url })
  const contended: SqlDriver = {
    ...database,
    query: (statement, context) =>
      isMarked(statement.params)
        ? contended.batch([statement], context).then(([rows = []]) => rows)
        : database.query(statement, context),
    async batch(statements, context) {
      const place = statements.findIndex(({ params }) => isMarked(params))
      if (place === -1) return database.batch(statements, context)
      tried.push(statements.map(({ text }) => text))
      if (ended === 0) return database.batch(statements, context)
      ended -= 1
      throw new SqlFault('deadlock detected', { state: '40P01', position: place })
    },
  }
  service = await openInProcess({ database: contended, databaseUrl: server.url })
  client = await signIn(service.administrator, 'http://localhost', async (url, init) => {
    const response = await service.request(url, init)
    retryAfter = response.headers.get('Retry-After')
    return response
  })
  shop = await client.workspace('shop')
  expect((await migrate(client, shop, plainCollection(shop, 'notes', 1))).status).toBe(200)
})

beforeEach(() => {
  tried.length = 0
})

afterAll(async () => {
  await service?.close()
  await database?.close()
  await server?.close()
})

const create = { kind: 'create', collection: 'notes', data: [{ field0: MARKED }], fields: ['field0'] }
const writes = {
  'a single write': ['/items/notes?fields=field0', [{ field0: MARKED }]],
  'a batch': ['/items', { operations: [{ kind: 'read', collection: 'notes' }, create] }],
} as const

it.each(Object.keys(writes) as (keyof typeof writes)[])('is done behind the others in the line: %s', async (name) => {
  ended = 3
  const [path, body] = writes[name]

  const { status } = await client.send('POST', `/api/shop${path}`, body)

  expect(status).toBe(200)
  const isInLine = tried.map((texts) => texts.some((text) => text.includes('pg_advisory_xact_lock(7310, 5)')))
  expect(isInLine).toEqual([false, true, true, true])
})

it.each(Object.keys(writes) as (keyof typeof writes)[])(
  'is 503 where others are always in the way: %s',
  async (name) => {
    ended = 1_000
    const [path, body] = writes[name]

    const { status, body: told } = await client.send('POST', `/api/shop${path}`, body)
    ended = 0

    expect(tried).toHaveLength(10)
    expect(status).toBe(503)
    expect(retryAfter).toBe('1')
    expect(told).toMatchObject({
      message: 'Query failed',
      source: { message: 'Other writes were in the way', code: '5005' },
    })
  },
)
