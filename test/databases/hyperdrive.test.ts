/** Data sources of a Worker through Hyperdrive bindings: only those that the operator lists, each for its workspaces. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startMariadb } from '../support/servers/mariadb.ts'
import { startPostgres } from '../support/servers/postgres.ts'
import type { Client } from '../support/service/client.ts'
import { openTestEnvironment } from '../support/service/instance.ts'

let administrator: Client
let log: () => string
const secrets: string[] = []
const closing: (() => Promise<void>)[] = []

beforeAll(async () => {
  const [postgres, mariadb] = await Promise.all([startPostgres(), startMariadb()])
  const { host, port, user, password, database } = mariadb
  secrets.push(password, new URL(postgres.url).password)
  const environment = await openTestEnvironment('workerd', {
    SHOP: postgres.url,
    TOYS: `mysql://${user}:${password}@${host}:${port}/${database}`,
    UNLISTED: postgres.url,
  })
  closing.push(environment.close, postgres.close, mariadb.close)
  const listed = [{ binding: 'SHOP', workspaces: ['shop'] }, { binding: 'TOYS' }, { binding: 'MISSING' }]
  const instance = await environment.open({
    SERVICE_SOURCES__HYPERDRIVES: JSON.stringify(listed),
    // Who may use a binding need not be allowed addresses near it.
    SERVICE_SOURCES__ALLOW_PRIVATE_HOSTS: 'false',
  })
  log = instance.log
  administrator = await instance.administrator()
  for (const apiName of ['shop', 'other']) await administrator.post('/api/system/workspaces', { apiName })
})

afterAll(async () => {
  for (const close of closing) await close()
})

it.each([
  ['postgres', 'SHOP'],
  ['mysql', 'TOYS'],
  ['mariadb', 'TOYS'],
])('migrates, writes, reads and imports through a binding: %s', async (provider, hyperdrive) => {
  const table = `${provider}_boats`
  const made = await administrator.post('/api/shop/sources/data', {
    apiName: provider,
    provider,
    config: { hyperdrive },
  })
  const { data } = (await made.json()) as { data: { id: string } }
  const id = crypto.randomUUID()
  const field = (dbName: string, type: object, rest: object = {}) => ({
    kind: 'createPrimitiveField',
    data: { id: crypto.randomUUID(), dbName, type, isNullable: false, isList: false, ...rest },
  })
  const key = field('id', { name: 'int32' })
  const operations = [
    {
      kind: 'createCollection',
      data: {
        id,
        sourceId: data.id,
        dbName: table,
        apiName: table,
        operations: [
          key,
          field('name', { name: 'string' }),
          field('built', { name: 'dateTimeWithTimezone' }),
          { kind: 'createIndex', data: { id: crypto.randomUUID(), kind: 'primary', fieldIds: [key.data.id] } },
        ],
      },
    },
  ]

  const first = await administrator.send('POST', `/api/shop/schema/introspect/${data.id}`)
  const migrated = await administrator.post('/api/shop/schema/migrate', { operations })
  const item = { id: 1, name: 'Bluenose', built: '1998-03-26T12:00:00Z' }
  const written = await administrator.post(`/api/shop/items/${table}`, [item])
  const read = await administrator.get(`/api/shop/items/${table}?filter[built][_lt]=2000-01-01T00:00:00Z`)

  expect([made.status, first.status, await migrated.text(), written.status]).toEqual([200, 200, '', 200])
  expect(await read.json()).toEqual({ data: [item] })
})

it.each([
  ['that is listed for another workspace', 'other', 'SHOP'],
  ['that is not listed', 'shop', 'UNLISTED'],
  ['that does not exist', 'shop', 'MISSING'],
  ['that is neither', 'shop', 'NOWHERE'],
  ['of another kind', 'shop', 'WORKSPACES'],
  ['inherited by every object', 'shop', 'constructor'],
])('refuses a binding %s, all in the same words', async (_, workspace, hyperdrive) => {
  const config = { hyperdrive }
  const response = await administrator.post(`/api/${workspace}/sources/data/test`, { provider: 'postgres', config })

  expect(response.status).toBe(422)
  expect(await response.json()).toEqual({
    message: expect.stringContaining('Failed to read the JSON body: '),
    source: {
      message: 'config.hyperdrive',
      source: { message: 'is not a Hyperdrive binding that this workspace may use' },
    },
  })
})

it('writes no credentials of a binding to the log', () => {
  for (const secret of secrets) expect(log()).not.toContain(secret)
})
