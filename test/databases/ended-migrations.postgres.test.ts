/** Migrations that others come before, over HTTP (docs/contract.md#writes-in-each-others-way, docs/contract.md#all-or-nothing). */
import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openPostgres } from '../../src/platform/drivers/postgres/driver.ts'
import type { SqlDriver } from '../../src/ports/database.ts'
import { introspect, migrate, signIn, type Workspace } from '../migration/support/client.ts'
import { plainCollection } from '../migration/support/collections.ts'
import { startPostgres, type TestPostgres } from '../support/servers/postgres.ts'
import { type InProcess, openInProcess } from '../support/service/in-process.ts'

let server: TestPostgres
let database: SqlDriver
let service: InProcess

beforeAll(async () => {
  server = await startPostgres()
  database = openPostgres({ connectionString: server.url })
  service = await openInProcess({
    database,
    databaseUrl: server.url,
    variables: { SERVICE_SOURCES__ALLOW_PRIVATE_HOSTS: 'true' },
  })
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

it('is recorded as failed, with what it has done elsewhere, where another holder of the lock has come first', async () => {
  const client = await signIn(service.administrator, 'http://localhost', service.request)
  const own = await client.workspace('overtaken')
  await database.query({ text: 'create database elsewhere', params: [] })
  const elsewhere = new URL('/elsewhere', server.url).href
  const wish = { apiName: 'target', provider: 'postgres', config: { connectionString: elsewhere } }
  const { body: source } = await client.send('POST', '/api/overtaken/sources/data', wish)
  const target = { ...own, sourceId: (source as { data: { id: string } }).data.id }
  expect((await introspect(client, target)).status).toBe(200)
  const gate = new pg.Client(elsewhere)
  await gate.connect()

  // The migration waits for a table of the same name, which is then given up.
  await gate.query('begin; create table made (id int)')
  const migrated = migrate(client, target, plainCollection(target, 'made', 1))
  const held = `select 1 from pg_stat_activity where datname = 'elsewhere' and wait_event_type = 'Lock'`
  await expect.poll(() => database.query({ text: held, params: [] })).toHaveLength(1)
  const later = `update service.workspace set fence = nextval('service.fence') where id = $1::uuid`
  await database.query({ text: later, params: [own.id] })
  await gate.query('rollback')

  expect(await migrated).toMatchObject({ status: 503, body: { message: expect.stringContaining('ran concurrently') } })
  await gate.end()
  const log =
    '/api/overtaken/audit-log?fields=payload&filter[action][_eq]=schema.migrate.v1&filter[outcome][_eq]=failure'
  const applied = [{ operation: 0, collection: 'made', change: 'createTable' }]
  expect((await client.send('GET', log)).body).toEqual({
    data: [{ payload: { operations: ['createCollection'], applied: expect.arrayContaining(applied) } }],
  })
})

/** Resolves when somebody waits for the table. */
async function waiting(table: string): Promise<void> {
  const asked = {
    text: 'select 1 from pg_locks where not granted and relation = $1::regclass',
    params: [`${schema}.${table}`],
  }
  await expect.poll(() => database.query(asked)).toHaveLength(1)
}
