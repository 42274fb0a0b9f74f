/** docs/contract.md#drift: a source that answers nothing holds up no look at another one, and is not asked again meanwhile. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openPostgres } from '../../src/platform/drivers/postgres/driver.ts'
import type { SqlDriver } from '../../src/ports/database.ts'
import { type Client, signIn, type Workspace } from '../migration/support/client.ts'
import { startPostgres, type TestPostgres } from '../support/servers/postgres.ts'
import { type SilentProxy, startSilentProxy } from '../support/servers/silent-proxy.ts'
import { type InProcess, openInProcess } from '../support/service/in-process.ts'

/** In milliseconds; only what hangs takes longer. */
const LONG = { timeout: 60_000 }

let server: TestPostgres
let proxy: SilentProxy
let database: SqlDriver
let service: InProcess
let client: Client
let now = Date.now()

beforeAll(async () => {
  server = await startPostgres()
  const { hostname: host, port } = new URL(server.url)
  proxy = await startSilentProxy({ host, port: Number(port) })
  database = openPostgres({ connectionString: server.url })
  service = await openInProcess({
    database,
    databaseUrl: server.url,
    clock: { now: () => now },
    // Nothing ends a look here but an answer.
    variables: { SERVICE_SOURCES__ALLOW_PRIVATE_HOSTS: 'true', SERVICE_QUERY__TIMEOUT: '1h' },
  })
  client = await signIn(service.administrator, 'http://localhost', service.request)
})

afterAll(async () => {
  await proxy?.close()
  await service?.close()
  await database?.close()
  await server?.close()
})

/** A source of the workspace that has been imported. */
async function attach(shop: Workspace): Promise<string> {
  const { username: user, password } = new URL(server.url)
  await database.query({ text: 'create database attached', params: [] })
  const config = { host: '127.0.0.1', port: proxy.port, user, password, database: 'attached' }
  const { body } = await client.send('POST', '/api/shop/sources/data', {
    apiName: 'attached',
    provider: 'postgres',
    config,
  })
  const { id } = (body as { data: { id: string } }).data
  expect((await client.send('POST', `/api/${shop.apiName}/schema/introspect/${id}`)).status).toBe(200)
  return id
}

it('looks at the other workspaces, and at a silent source once', async () => {
  const shop = await client.workspace('shop')
  const id = await attach(shop)
  const other = await client.workspace('shop_b')
  await client.send('POST', `/api/shop_b/schema/introspect/${other.sourceId}`)
  const { drift } = service.services
  await drift.run()
  await database.query({ text: 'create table service_shop_b_data.books (id int primary key)', params: [] })
  proxy.silenceAt('pg_namespace')
  now += 20 * 60_000

  const running = drift.run()
  await expect.poll(() => proxy.silent(), LONG).toBe(1)
  await expect.poll(() => drift.warnings(), LONG).toMatchObject([{ workspace: 'shop_b' }])
  await drift.look({ ...shop, displayName: null }, id)
  now += 20 * 60_000
  await drift.run()
  const silent = proxy.silent()
  proxy.silenceAt()
  await proxy.close()
  await running

  expect(silent).toBe(1)
})
