/** Migrations that the database ends in favour of others, over HTTP (docs/contract.md#writes-in-each-others-way). */
import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openPostgres } from '../../src/platform/drivers/postgres/driver.ts'
import type { SqlDriver } from '../../src/ports.ts'
import { migrate, signIn, type Workspace } from '../migration/support/client.ts'
import { plainCollection } from '../migration/support/collections.ts'
import { startPostgres, type TestPostgres } from '../support/servers/postgres.ts'
import { type InProcess, openInProcess } from '../support/service/in-process.ts'

let server: TestPostgres
let database: SqlDriver
let service: InProcess

beforeAll(async () => {
  server = await startPostgres()
  database = openPostgres({ connectionString: server.url })
  service = await openInProcess({ database, databaseUrl: server.url })
})

afterAll(async () => {
  await service?.close()
  await database?.close()
  await server?.close()
})

const schema = 'service_shop_data'

it('is 503 with the seconds after which it may be sent again, and leaves nothing', async () => {
  let retryAfter: string | null = null
  const client = await signIn(service.administrator, 'http://localhost', async (url, init) => {
    const response = await service.request(url, init)
    retryAfter = response.headers.get('Retry-After')
    return response
  })
  const shop: Workspace = await client.workspace('shop')
  const tables = ['first', 'second', 'third'].map((name) => plainCollection(shop, name, 1))
  expect((await migrate(client, shop, ...tables)).status).toBe(200)
  const renamed = tables.map(({ data: { id, operations } }) => {
    const field = operations.find(({ data }) => 'dbName' in data && data.dbName === 'field0')
    const change = { kind: 'changeDbName', data: { dbName: 'renamed' } }
    const update = { kind: 'updatePrimitiveField', data: { id: field?.data.id, operations: [change] } }
    return { kind: 'updateCollection', data: { id, operations: [update] } }
  })
  const [holder, gate] = [new pg.Client(server.url), new pg.Client(server.url)]
  await Promise.all([holder.connect(), gate.connect()])

  // The migration has the first table and waits for the second; then the holder of the third waits for the first.
  await holder.query(`set deadlock_timeout = '1h'; begin; lock table ${schema}.third in access share mode`)
  await gate.query(`begin; lock table ${schema}.second in access share mode`)
  const migrated = migrate(client, shop, ...renamed)
  await waiting('second')
  const held = holder.query(`lock table ${schema}.first in access share mode`)
  await waiting('first')
  // So it is the migration that closes the circle, and that finds it.
  await gate.query('commit')

  const { status, body } = await migrated
  expect(body).toMatchObject({
    message: expect.stringContaining('Failed to execute the migration: '),
    source: { message: 'Other writes were in the way', code: '5005' },
  })
  expect([status, retryAfter]).toEqual([503, '1'])
  await held
  await holder.query('commit')
  await Promise.all([holder.end(), gate.end()])
  expect((await migrate(client, shop, ...renamed)).status).toBe(200)
})

/** Resolves when somebody waits for the table. */
async function waiting(table: string): Promise<void> {
  const asked = {
    text: 'select 1 from pg_locks where not granted and relation = $1::regclass',
    params: [`${schema}.${table}`],
  }
  await expect.poll(() => database.query(asked)).toHaveLength(1)
}
