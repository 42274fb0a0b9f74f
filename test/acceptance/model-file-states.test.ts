/** docs/contract.md#the-model-as-a-file: what others did to a database meanwhile, and an apply that did not end, are noticed. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Client } from '../support/service/client.ts'
import { openTestEnvironment, type TestEnvironment } from '../support/service/instance.ts'

let stage: TestEnvironment
let admin: Client
let sourceId: string

beforeAll(async () => {
  stage = await openTestEnvironment()
  const variables = { SERVICE_SOURCES__ALLOW_PRIVATE_HOSTS: 'true' }
  admin = await (await stage.open(variables)).administrator()
  await admin.post('/api/system/workspaces', { apiName: 'shop' })
  const sources = await admin.get('/api/shop/items/ServiceDataSource?fields=id')
  sourceId = ((await sources.json()) as { data: { id: string }[] }).data[0]?.id ?? ''
})

afterAll(() => stage?.close())

const fileOf = (...fields: readonly string[]) => ({
  version: 1,
  collections: {
    books: { fields: { id: 'int64 auto', ...Object.fromEntries(fields.map((name) => [name, 'string?'])) } },
  },
})

async function planOf(model: object): Promise<string> {
  const response = await admin.post('/api/shop/schema/plan', { model })
  const text = await response.text()
  expect(response.status, text).toBe(200)
  return (JSON.parse(text) as { data: { plan: string } }).data.plan
}

const apply = (model: object, plan: string) => admin.post('/api/shop/schema/apply', { model, plan })

it('is refused where others have changed the database since the plan', async () => {
  const first = fileOf('title')
  await apply(first, await planOf(first))
  const next = fileOf('title', 'pages')
  const plan = await planOf(next)
  await stage.run('alter table service_shop_data.books add colour text')

  const refused = await apply(next, plan)
  const anew = await apply(next, await planOf(next))

  expect(refused.status).toBe(409)
  expect(await refused.json()).toEqual({ message: 'The plan is out of date', code: '4094', meta: { moved: ['drift'] } })
  expect(anew.status).toBe(200)
})

it('waits for an introspection where an earlier change of the source did not end', async () => {
  const model = fileOf('title', 'pages', 'more')
  const plan = await planOf(model)
  await stage.run(
    `insert into service.source_mark (source_id, workspace_id, steps)
     select '${sourceId}', id, '[]' from service.workspace`,
  )

  const [planned, applied] = [await admin.post('/api/shop/schema/plan', { model }), await apply(model, plan)]
  await admin.post(`/api/shop/schema/introspect/${sourceId}`, {})
  const after = await apply(model, await planOf(model))

  expect([planned.status, applied.status, after.status]).toEqual([409, 409, 422])
  expect(await planned.json()).toEqual({
    message: 'Introspect the source first',
    code: '4095',
    meta: { sources: ['_system'] },
  })
  expect(await after.json()).toMatchObject({ code: '4222', meta: { destructive: [{ path: 'books.colour', rows: 0 }] } })
})

it('is refused names by which a source of the same database goes, but for Administrators', async () => {
  const made = await admin.post('/api/system/api-keys', { name: 'editor', scope: { entitlements: ['dataModel:edit'] } })
  const { data: key } = (await made.json()) as { data: { key: string } }
  const editor = { headers: { Authorization: `Bearer ${key.key}` } }
  const { hostname: host, port, username: user, password, pathname } = new URL(stage.databaseUrl)
  const config = { host, port: Number(port), user, password, database: pathname.slice(1), tls: false }
  const attached = await admin.post('/api/shop/sources/data', { apiName: 'twin', provider: 'postgres', config })
  const { data: twin } = (await attached.json()) as { data: { id: string } }
  const tables = { include: ['service_shop_data.books'] }
  const imported = await admin.post(`/api/shop/schema/introspect/${twin.id}`, { tables })
  type Named = { id: string; sourceId: string }
  const collections = await admin.get('/api/shop/items/ServiceCollection?fields=id,sourceId&filter[dbName][_eq]=books')
  const books = ((await collections.json()) as { data: Named[] }).data
  const refusals = []
  for (const { id } of books) {
    const operations = [{ kind: 'changeDbName', data: { dbName: 'tomes' } }]
    const body = { operations: [{ kind: 'updateCollection', data: { id, operations } }] }
    refusals.push(await admin.send('POST', '/api/shop/schema/migrate', { body, ...editor }))
  }

  expect([imported.status, books.length, ...refusals.map(({ status }) => status)]).toEqual([200, 2, 500, 500])
  for (const refused of refusals) expect(await refused.json()).toMatchObject({ source: { source: { code: '3004' } } })
})
