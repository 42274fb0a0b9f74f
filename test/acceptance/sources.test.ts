/** Seed, "Data sources and connectors": SQL databases as data sources, by the providers that are built in. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startNeonGateway } from '../../src/platform/node/neon-gateway.ts'
import { people } from '../support/people.ts'
import { startPostgres } from '../support/postgres.ts'
import { type Workspace, world } from '../support/world.ts'

let shop: Workspace
let config: { readonly connectionString: string }
const close: (() => Promise<void>)[] = []

beforeAll(async () => {
  const postgres = await startPostgres()
  const gateway = await startNeonGateway(postgres.url)
  close.push(gateway.close, postgres.close)
  config = { connectionString: gateway.url }
  shop = await world.workspace('sources', {})
})

afterAll(async () => {
  for (const end of close) await end()
})

it('creates a data source and answers its id', async () => {
  const response = await shop.post('/sources/data', { apiName: 'stock', provider: 'neon', config })

  expect(response.status).toBe(200)
  expect(await response.json()).toEqual({ data: { id: expect.stringMatching(/^[0-9a-f-]{36}$/) } })
  expect(await shop.data('/items/ServiceDataSource?fields=apiName,provider&filter[apiName][_eq]=stock')).toEqual([
    { apiName: 'stock', provider: 'neon' },
  ])
})

it('answers 204 without a body to a test that passes', async () => {
  const response = await shop.post('/sources/data/test', { provider: 'neon', config, permissions: [] })

  expect(response.status).toBe(204)
  expect(await response.text()).toBe('')
})

it('refuses a grant that is not the required one, and names the required one', async () => {
  const permissions = [{ permission: 'net:example.com', reason: 'why not' }]

  const response = await shop.post('/sources/data', { apiName: 'granted', provider: 'neon', config, permissions })

  expect(response.status).toBe(422)
  expect(await response.json()).toEqual({
    message: 'Invalid extension permissions',
    code: '7001',
    meta: { permissions: [] },
  })
})

it('answers 409 where the name is taken', async () => {
  const made = { apiName: 'twice', provider: 'neon', config }
  await shop.post('/sources/data', made)

  const response = await shop.post('/sources/data', made)

  expect(response.status).toBe(409)
  expect(await response.json()).toEqual({ message: 'A data source of this name exists already' })
})

it('deletes a source', async () => {
  const made = await shop.post('/sources/data', { apiName: 'gone', provider: 'neon', config })
  const { data } = (await made.json()) as { data: { id: string } }

  const first = await shop.delete(`/sources/data/${data.id}`)
  const second = await shop.delete(`/sources/data/${data.id}`)

  expect(first.status).toBe(204)
  expect(second.status).toBe(404)
  expect(await second.json()).toEqual({ message: 'Source does not exist' })
  expect(await shop.data('/items/ServiceDataSource?fields=id&filter[apiName][_eq]=gone')).toEqual([])
})

it('does not delete the source that every workspace has', async () => {
  const response = await shop.delete(`/sources/data/${shop.sourceId}`)

  expect(response.status).toBe(409)
  expect(await response.json()).toEqual({
    message: 'The data source cannot be deleted',
    source: { message: 'it is the workspace’s own' },
  })
})

it('needs dataSource:create, dataSource:delete and extension:read', async () => {
  const reader = await people.member(shop, { entitlements: ['dataModel:edit', 'dataSource:read'] })
  const wish = { provider: 'neon', config }

  const answers = await Promise.all([
    reader.post('/sources/data', { apiName: 'mine', ...wish }),
    reader.post('/sources/data/test', wish),
    reader.post('/sources/data/introspect', wish),
    reader.delete(`/sources/data/${shop.sourceId}`),
    reader.get('/connectors/data'),
  ])

  expect(answers.map(({ status }) => status)).toEqual([403, 403, 403, 403, 403])
})

it('lists the providers, with the reason where one cannot run here', async () => {
  const connectors = (await shop.data('/connectors/data')) as { id: string; isAvailable: boolean }[]

  const available = connectors.filter(({ isAvailable }) => isAvailable).map(({ id }) => id)
  const all = ['postgres', 'mysql', 'mariadb', 'neon', 'planetscale']
  expect(connectors.map(({ id }) => id)).toEqual(expect.arrayContaining(all))
  expect(available).toEqual(expect.arrayContaining(world.platform === 'node' ? all : ['neon', 'planetscale']))
})
