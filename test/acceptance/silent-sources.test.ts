/** docs/contract.md#data-sources: a database that stops answering holds no request, and no other workspace. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startMariadb, type TestMariadb } from '../support/servers/mariadb.ts'
import { startPostgres, type TestPostgres } from '../support/servers/postgres.ts'
import { type SilentProxy, startSilentProxy } from '../support/servers/silent-proxy.ts'
import type { Client } from '../support/service/client.ts'
import { type Instance, openTestEnvironment, type TestEnvironment } from '../support/service/instance.ts'
import { createCollection } from '../support/service/world.ts'

let stage: TestEnvironment
let instance: Instance
let admin: Client
let postgres: TestPostgres
let mariadb: TestMariadb
const ways = new Map<string, { readonly proxy: SilentProxy; readonly config: object }>()

beforeAll(async () => {
  stage = await openTestEnvironment()
  postgres = await startPostgres()
  mariadb = await startMariadb()
  const { hostname, port, username, password } = new URL(postgres.url)
  await open('postgres', { host: hostname, port: Number(port), user: username, password, database: 'postgres' })
  const { host, user, database } = mariadb
  await open('mariadb', { host, port: mariadb.port, user, password: mariadb.password, database })
  instance = await stage.open({ SERVICE_QUERY__TIMEOUT: '2s', SERVICE_SOURCES__ALLOW_PRIVATE_HOSTS: 'true' })
  admin = await instance.administrator()
  await admin.post('/api/system/workspaces', { apiName: 'shop' })
})

afterAll(async () => {
  for (const { proxy } of ways.values()) await proxy.close()
  await stage?.close()
  await postgres?.close()
  await mariadb?.close()
})

type Server = { readonly host: string; readonly port: number; readonly [name: string]: unknown }

async function open(provider: string, server: Server): Promise<void> {
  const proxy = await startSilentProxy(server)
  ways.set(provider, { proxy, config: { ...server, host: '127.0.0.1', port: proxy.port } })
}

function wayTo(provider: string) {
  const way = ways.get(provider)
  if (way === undefined) throw new Error(`no way to ${provider}`)
  return way
}

async function answer(asked: Promise<Response>): Promise<unknown> {
  const response = await asked
  const text = await response.text()
  return { status: response.status, body: innermost(text === '' ? {} : JSON.parse(text)) }
}

type Body = { readonly source?: Body }

/** The last cause of an error, which has its code. */
function innermost(body: Body): Body {
  return body.source === undefined ? body : innermost(body.source)
}

const overdue = {
  status: 503,
  body: { code: '5004', message: 'The query was ended: it took longer than its time limit' },
}

/** Text that is in whatever is asked of the catalog. */
describe.each([
  { provider: 'postgres', catalog: 'pg_namespace' },
  { provider: 'mariadb', catalog: 'information_schema' },
])('a source of $provider that stops answering', ({ provider, catalog }) => {
  it('ends the test, the preview and the introspection, and is asked again', async () => {
    const { proxy, config } = wayTo(provider)
    const made = await admin.post('/api/shop/sources/data', { apiName: provider, provider, config })
    expect(made.status).toBe(200)
    const { data } = (await made.json()) as { data: { id: string } }
    const introspect = () => answer(admin.post(`/api/shop/schema/introspect/${data.id}`, {}))

    proxy.silenceAt('select 1', catalog)
    const answers = await Promise.all([
      answer(admin.post('/api/shop/sources/data/test', { provider, config })),
      answer(admin.post('/api/shop/sources/data/introspect', { provider, config })),
      introspect(),
    ])
    await expect.poll(() => proxy.silent(), { timeout: 60_000 }).toBe(0)
    proxy.silenceAt()

    expect(answers).toMatchObject([overdue, overdue, overdue])
    // A machine that is busy may need several.
    await expect.poll(introspect, { timeout: 60_000 }).toMatchObject({ status: 200 })
  })
})

it('closes what a migration touched whose commit got no answer, until an introspection tells what became of it', async () => {
  const { proxy, config } = wayTo('postgres')
  const made = await admin.post('/api/shop/sources/data', { apiName: 'losing', provider: 'postgres', config })
  const { data } = (await made.json()) as { data: { id: string } }
  const ids = new Map<string, string>()
  const migrate = (...operations: readonly object[]) => answer(admin.post('/api/shop/schema/migrate', { operations }))
  const read = (name: string) => answer(admin.get(`/api/shop/items/${name}?fields=title`))
  await migrate(
    ...['losing_notes', 'losing_links'].map((name) =>
      createCollection(ids, data.id, name, { id: 'int64', title: 'string', secret: 'string' }),
    ),
  )
  const rename = (name: string, dbName: string) => ({
    kind: 'updatePrimitiveField',
    data: { id: ids.get(`losing_notes.${name}`), operations: [{ kind: 'changeDbName', data: { dbName } }] },
  })

  proxy.loseAnswer('COMMIT\0')
  const lost = await migrate({
    kind: 'updateCollection',
    data: { id: ids.get('losing_notes'), operations: [rename('title', 'other'), rename('secret', 'hidden')] },
  })
  proxy.loseAnswer()
  const closed = [await read('losing_notes'), await read('losing_links')]
  const imported = await answer(admin.post(`/api/shop/schema/introspect/${data.id}`, {}))
  const opened = await read('losing_notes')

  expect(lost).toEqual({ status: 500, body: { message: 'Failed to connect to the database' } })
  const message = 'losing_notes is closed: a migration of its data source did not end; introspect the source'
  expect(closed).toEqual([
    { status: 503, body: { message } },
    { status: 200, body: { data: [] } },
  ])
  expect(imported).toMatchObject({ status: 200 })
  expect(opened).toEqual({ status: 200, body: { data: [] } })
})
