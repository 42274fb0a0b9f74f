/** docs/contract.md#drift: a look that begins before a migration and ends after it takes neither schema for the other. */
import { afterAll, beforeAll, expect, it } from 'vitest'
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
/** Runs once, after the next digest of a catalog was read. */
let meanwhile: (() => Promise<unknown>) | undefined

beforeAll(async () => {
  server = await startPostgres()
  database = openPostgres({ connectionString: server.url })
  const interrupted: SqlDriver = {
    ...database,
    async batch(statements, context) {
      const rows = await database.batch(statements, context)
      const work = statements.some(({ text }) => isDigest(text)) ? meanwhile : undefined
      if (work !== undefined) meanwhile = undefined
      await work?.()
      return rows
    },
  }
  service = await openInProcess({
    database: interrupted,
    databaseUrl: server.url,
    variables: { SERVICE_SOURCES__ALLOW_PRIVATE_HOSTS: 'true' },
  })
  client = await signIn(service.administrator, 'http://localhost', service.request)
  shop = await client.workspace('shop')
})

afterAll(async () => {
  await service?.close()
  await database?.close()
  await server?.close()
})

/** The digest without the rows. */
function isDigest(text: string): boolean {
  return text.includes('hashtextextended') && !text.includes("'kind', 'column'")
}

const look = () => service.services.drift.look({ ...shop, displayName: null }, shop.sourceId)

async function drifts(): Promise<readonly object[]> {
  const { body } = await client.send('GET', '/api/shop/schema/drift')
  return (body as { data: { sources: object[] } }).data.sources
}

it('takes the schema of collections without a namespace for no change of others', async () => {
  await database.query({ text: 'create database attached', params: [] })
  const config = { connectionString: server.url.replace(/\/postgres$/, '/attached') }
  const source = { apiName: 'attached', provider: 'postgres', config }
  const { body } = await client.send('POST', '/api/shop/sources/data', source)
  const attached = { ...shop, sourceId: (body as { data: { id: string } }).data.id }
  await migrate(client, shop, plainCollection(attached, 'notes'))
  await service.services.drift.look({ ...shop, displayName: null }, attached.sourceId)
  const preview = await client.send('POST', `/api/shop/schema/introspect/${attached.sourceId}?dryRun=true`)

  expect(await drifts()).toEqual([])
  expect(preview.body).toMatchObject({ data: { operations: [{ kind: 'createNamespace' }] } })
})

it('notices what takes a migration back that ran while it looked', async () => {
  meanwhile = () => migrate(client, shop, plainCollection(shop, 'books'))
  await look()
  const during = await drifts()

  await database.query({ text: 'drop table service_shop_data.books', params: [] })
  await look()

  expect([meanwhile, during]).toEqual([undefined, []])
  expect(await drifts()).toMatchObject([{ operations: [{ kind: 'deleteCollection' }] }])
})

it('notices what takes a change of others back that came while it looked', async () => {
  await database.query({ text: 'create table service_shop_data.books (id int primary key)', params: [] })
  await client.send('POST', `/api/shop/schema/introspect/${shop.sourceId}`)
  await database.query({ text: 'alter table service_shop_data.books rename to novels', params: [] })
  meanwhile = () => database.query({ text: 'alter table service_shop_data.novels rename to books', params: [] })
  await look()
  const during = await drifts()

  await database.query({ text: 'alter table service_shop_data.books rename to novels', params: [] })
  await look()

  expect([meanwhile, during]).toEqual([undefined, []])
  expect(await drifts()).toHaveLength(1)
})
