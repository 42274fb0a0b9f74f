/**
 * docs/contract.md#drift: what others changed in a database is told to those who may read the model, until it is imported
 * or changed back.
 */
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Client } from '../support/service/client.ts'
import { type Instance, openTestEnvironment, type TestEnvironment } from '../support/service/instance.ts'
import { createCollection } from '../support/service/world.ts'

const MINUTE = 60_000

let stage: TestEnvironment
let replicas: readonly Instance[]
let admin: Client
let sourceId: string

beforeAll(async () => {
  stage = await openTestEnvironment()
  replicas = [await stage.open(), await stage.open()]
  admin = (await replicas[0]?.administrator()) as Client
  await admin.post('/api/system/workspaces', { apiName: 'shop' })
  sourceId = ((await data('/api/shop/items/ServiceDataSource?fields=id')) as { id: string }[])[0]?.id ?? ''
  await admin.post('/api/shop/schema/migrate', {
    operations: [createCollection(new Map(), sourceId, 'books', { title: 'string?', price: 'int32?' })],
  })
})

afterAll(() => stage?.close())

async function data(path: string): Promise<unknown> {
  return ((await (await admin.get(path)).json()) as { data: unknown }).data
}

async function drifts(): Promise<readonly { since: string; hash: string; operations: { kind: string }[] }[]> {
  return ((await data('/api/shop/schema/drift')) as { sources: [] }).sources
}

async function audited(): Promise<readonly object[]> {
  return (await data('/api/shop/audit-log?filter[action][_eq]=schema.drift.v1')) as object[]
}

/** A quarter of an hour passes at every replica. */
async function aQuarter(): Promise<void> {
  await stage.clock.advance(15 * MINUTE)
  await Promise.all(replicas.map((replica) => replica.due()))
}

const change = (statement: string) => stage.run(statement.replace('@', 'service_shop_data.books'))

it('tells nothing of what the service itself did', async () => {
  await aQuarter()

  expect(await drifts()).toEqual([])
  expect(await (await admin.get('/api/system/info')).json()).toMatchObject({ warnings: [] })
})

it('tells within the interval what was changed, once, with what an import would do', async () => {
  await aQuarter()
  await change('alter table @ add pages int')
  await stage.clock.advance(5 * MINUTE)
  await Promise.all(replicas.map((replica) => replica.due()))
  const early = await drifts()
  await aQuarter()
  await aQuarter()

  const [drift, ...others] = await drifts()
  const preview = (await (await admin.post(`/api/shop/schema/introspect/${sourceId}?dryRun=true`, {})).json()) as {
    data: { hash: string }
  }
  expect(early).toEqual([])
  expect(others).toEqual([])
  expect(drift).toMatchObject({ sourceId, hash: preview.data.hash, operations: [{ kind: 'updateCollection' }] })
  expect(await (await admin.get('/api/system/info')).json()).toMatchObject({
    warnings: [{ kind: 'schemaDrift', workspace: 'shop', sourceId, since: drift?.since }],
  })
  expect(await audited()).toMatchObject([
    {
      label: 'Data source changed outside of the service',
      actorType: 'system',
      targetId: sourceId,
      payload: { source: '_system', operations: ['updateCollection'] },
    },
  ])
})

it('ends with the import', async () => {
  const imported = await admin.post(`/api/shop/schema/introspect/${sourceId}`, {})

  expect(imported.status).toBe(200)
  expect(await drifts()).toEqual([])
  await aQuarter()
  expect(await drifts()).toEqual([])
})

it('ends where the database is changed back', async () => {
  await change('alter table @ rename column title to name')
  await aQuarter()
  const meanwhile = await drifts()
  await change('alter table @ rename column name to title')
  await aQuarter()

  expect(meanwhile).toMatchObject([{ sourceId }])
  expect(await drifts()).toEqual([])
  expect(await audited()).toHaveLength(2)
})

it('tells at once of a column that a request misses', async () => {
  await change('alter table @ drop column price')

  await admin.get('/api/shop/items/books?fields=price')

  await expect.poll(drifts).toMatchObject([{ sourceId, operations: [{ kind: 'updateCollection' }] }])
})

it('tells nothing of many-to-many fields that the model alone has', async () => {
  await stage.run('create table service_shop_data.tags (id int primary key)')
  await stage.run(`create table service_shop_data.tagged (
    book bigint references service_shop_data.books, tag int references service_shop_data.tags, primary key (book, tag))`)
  await admin.post(`/api/shop/schema/introspect/${sourceId}`, {})
  const fields = (await data(
    '/api/shop/items/ServiceSingleRelationField?fields=id,apiName,collection.apiName,oppositeRelationFieldId&limit=-1',
  )) as { id: string; apiName: string; collection: { apiName: string }; oppositeRelationFieldId: string }[]
  const tags = fields.find(({ apiName, collection }) => collection.apiName === 'books' && apiName === 'tags')
  const deleted = await admin.post('/api/shop/schema/migrate', {
    operations: [
      {
        kind: 'deleteRelationFieldPair',
        data: { firstFieldId: tags?.id, secondFieldId: tags?.oppositeRelationFieldId },
      },
    ],
  })
  await aQuarter()

  expect(deleted.status).toBe(200)
  expect(await drifts()).toEqual([])
})

it('is told to who may read the data model, and warned of to administrators', async () => {
  const anonymous = replicas[0]?.anonymous

  expect((await anonymous?.get('/api/shop/schema/drift'))?.status).toBe(403)
  expect(await (await anonymous?.get('/api/system/info'))?.json()).toEqual({ name: 'service' })
  expect((await admin.get('/api/shop/schema/drift?dryRun=true')).status).toBe(422)
  expect((await admin.send('GET', '/api/shop/schema/drift')).status).toBe(200)
})

it('is off with an interval of 0', async () => {
  const instance = await stage.open({ SERVICE_SCHEMA__DRIFT_INTERVAL: '0' })
  const id = await admin.post(`/api/shop/schema/introspect/${sourceId}`, {})
  await change('alter table @ add later int')
  await stage.clock.advance(60 * MINUTE)
  await instance.due()

  expect(id.status).toBe(200)
  expect(await drifts()).toEqual([])
})
