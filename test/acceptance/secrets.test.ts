/** Named secrets: what stands for a secret in a configuration, who may write one, and that a value never comes out again. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openPostgres } from '../../src/platform/drivers/postgres/driver.ts'
import { startNeonGateway } from '../../src/platform/node/embedded/neon-gateway.ts'
import { startPostgres } from '../support/servers/postgres.ts'
import { people } from '../support/service/people.ts'
import { type Workspace, world } from '../support/service/world.ts'

let shop: Workspace
let gateways: readonly { readonly url: string; close(): Promise<void> }[]
let postgres: Awaited<ReturnType<typeof startPostgres>>

beforeAll(async () => {
  postgres = await startPostgres()
  const driver = openPostgres({ connectionString: postgres.url })
  await driver.query({ text: 'create table crates (id integer primary key)', params: [] })
  await driver.query({ text: 'insert into crates values (7)', params: [] })
  await driver.close()
  gateways = [await startNeonGateway(postgres.url), await startNeonGateway(postgres.url)]
  shop = await world.workspace('named_secrets', {})
})

afterAll(async () => {
  await gateways[1]?.close()
  await postgres.close()
})

const put = (name: string, value: unknown) => shop.send('PUT', `/secrets/${name}`, { body: { value } })
const config = { connectionString: { $secret: 'dsn' } }

it('is written, stands in a configuration, is rotated, and is deleted when nothing uses it', async () => {
  const [first, second] = gateways
  expect((await put('dsn', first?.url)).status).toBe(204)
  const wish = { provider: 'neon', config }
  expect((await shop.post('/sources/data/test', wish)).status).toBe(204)
  expect((await shop.post('/sources/data/introspect', wish)).status).toBe(200)
  const created = await shop.post('/sources/data', { apiName: 'crates', ...wish })
  const { data } = (await created.json()) as { data: { id: string } }
  expect((await shop.post(`/schema/introspect/${data.id}`, undefined)).status).toBe(200)
  expect(await shop.data('/items/crates?fields=id')).toEqual([{ id: 7 }])

  const refused = await put('dsn', 'postgres://canary-user:canary-password@127.0.0.1:1/none')
  expect(refused.status).toBe(422)
  const text = await refused.text()
  expect(JSON.parse(text)).toMatchObject({
    message: expect.stringMatching(/^A data source that uses the secret fails its test with this value: crates: /),
    source: { message: 'crates' },
  })
  expect(text).not.toContain('canary')
  const maker = await people.member(shop, { entitlements: ['dataSource:create'] })
  const untold = await maker.send('PUT', '/secrets/dsn', { body: { value: 'postgres://a:b@127.0.0.1:1/none' } })
  expect([untold.status, await untold.text()]).toEqual([422, expect.not.stringContaining('crates')])
  const attempts = '/audit-log?fields=outcome,payload&filter[action][_eq]=secret.update.v1'
  const failed = { outcome: 'failure', payload: { name: 'dsn' } }
  expect(await shop.data(attempts)).toEqual([failed, failed])
  expect(await (await maker.delete('/secrets/dsn')).json()).toMatchObject({
    message: 'The secret cannot be deleted: a data source uses it',
  })
  expect(await shop.data('/items/crates?fields=id')).toEqual([{ id: 7 }])

  expect((await put('dsn', second?.url)).status).toBe(204)
  await first?.close()
  expect(await shop.data('/items/crates?fields=id')).toEqual([{ id: 7 }])

  const inUse = await shop.delete('/secrets/dsn')
  expect(inUse.status).toBe(409)
  expect(await inUse.json()).toMatchObject({ source: { message: 'used by crates' } })
  expect((await shop.delete(`/sources/data/${data.id}`)).status).toBe(204)
  expect((await shop.delete('/secrets/dsn')).status).toBe(204)
  expect((await shop.delete('/secrets/dsn')).status).toBe(404)
  const answer = await shop.get('/audit-log?fields=action,payload,targetType&limit=100')
  const log = await answer.text()
  for (const action of ['secret.create.v1', 'secret.update.v1', 'secret.delete.v1']) expect(log).toContain(action)
  expect(log).toContain('{"name": "dsn"}')
  // Its host is a part of the secret, also where the data source is tested, looked at and created.
  expect(log).not.toContain(new URL(second?.url ?? '').hostname)
})

it('is not saved for whom the right is taken while a data source is tested with it', async () => {
  const gateway = await startNeonGateway(postgres.url)
  const held = await startHeldWay(gateway.url)
  await put('late', gateway.url)
  const wish = { provider: 'neon', config: { connectionString: { $secret: 'late' } } }
  const created = await shop.post('/sources/data', { apiName: 'late_crates', ...wish })
  const { data } = (await created.json()) as { data: { id: string } }
  const maker = await people.member(shop, { entitlements: ['dataSource:create'] })

  const writing = maker.send('PUT', '/secrets/late', { body: { value: held.url } })
  await held.asked
  const taken = await shop.patch(`/members/${maker.userId}`, { roles: [] })
  held.release()

  expect([taken.status, (await writing).status]).toEqual([200, 403])
  const log = '/audit-log?fields=action&filter[payload][_contains][name]=late'
  expect(await shop.data(log)).toEqual([{ action: 'secret.create.v1' }])
  expect((await shop.delete(`/sources/data/${data.id}`)).status).toBe(204)
  expect((await shop.delete('/secrets/late')).status).toBe(204)
  await Promise.all([held.close(), gateway.close()])
})

it('shows nothing of a data source to whom the right is taken while it is looked at', async () => {
  const gateway = await startNeonGateway(postgres.url)
  const held = await startHeldWay(gateway.url)
  const maker = await people.member(shop, { entitlements: ['dataSource:create'] })

  const wish = { provider: 'neon', config: { connectionString: held.url } }
  const looking = maker.post('/sources/data/introspect', wish)
  await held.asked
  const taken = await shop.patch(`/members/${maker.userId}`, { roles: [] })
  held.release()

  expect([taken.status, (await looking).status]).toEqual([200, 403])
  await Promise.all([held.close(), gateway.close()])
})

it('is listed with names and times, never with a value', async () => {
  await put('canary_one', 'canary-value-1')
  await put('canary_one', 'canary-value-2')

  const answer = await shop.get('/secrets')
  const text = await answer.text()

  expect(text).not.toContain('canary-value')
  const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
  expect(JSON.parse(text)).toEqual({ data: [{ name: 'canary_one', createdAt: time, updatedAt: time }] })
})

it('has to be there where a configuration names it', async () => {
  const wish = { provider: 'neon', config: { connectionString: { $secret: 'nobody' } } }
  for (const path of ['/sources/data/test', '/sources/data/introspect', '/sources/data']) {
    const response = await shop.post(path, path === '/sources/data' ? { apiName: 'none', ...wish } : wish)
    expect(response.status).toBe(422)
    expect(await response.text()).toContain('config.connectionString')
  }
})

it('is nothing but an object of exactly one member with a text', async () => {
  for (const other of [{ $secret: 'canary_one', more: 1 }, { $secret: 5 }, { $secrets: 'canary_one' }]) {
    const response = await shop.post('/sources/data/test', { provider: 'neon', config: { connectionString: other } })
    expect(response.status).toBe(422)
    expect(await response.text()).toContain('must be given')
  }
})

it.each(['A', '1a', 'a-b', 'a'.repeat(41), '%00', 'a%2Fb'])('cannot be called %s', async (name) => {
  expect((await put(name, 'value')).status).toBeGreaterThanOrEqual(404)
  expect((await put(name, 'value')).status).toBeLessThanOrEqual(422)
})

it('has a value that is a text, and nothing else', async () => {
  for (const body of [{}, { value: '' }, { value: 5 }, { value: null }, { value: 'x', more: 1 }, []]) {
    expect((await shop.send('PUT', '/secrets/strict', { body })).status).toBe(422)
  }
})

it('is the business of those who may create data sources', async () => {
  const maker = await people.member(shop, { entitlements: ['dataSource:create'] })
  const other = await people.member(shop, { entitlements: ['dataSource:read', 'dataSource:delete', 'dataModel:edit'] })
  const send = (person: typeof maker) => [
    person.get('/secrets'),
    person.send('PUT', '/secrets/shared', { body: { value: 'v' } }),
    person.delete('/secrets/shared'),
  ]

  const allowed: number[] = []
  for (const one of send(maker)) allowed.push((await one).status)
  const refused: number[] = []
  for (const one of send(other)) refused.push((await one).status)

  expect(allowed[0]).toBe(200)
  expect(refused).toEqual([403, 403, 403])
})

it('is of one workspace', async () => {
  const elsewhere = await world.workspace('named_secrets_too', {})
  await put('own', 'canary-own')

  expect(await (await elsewhere.get('/secrets')).json()).toEqual({ data: [] })
  expect((await elsewhere.delete('/secrets/own')).status).toBe(404)
  const wish = { provider: 'neon', config: { connectionString: { $secret: 'own' } } }
  expect((await elsewhere.post('/sources/data/test', wish)).status).toBe(422)
})

/** A way to a gateway on which nothing passes before it is released; `asked` is there with its first connection. */
async function startHeldWay(to: string) {
  const target = new URL(to)
  const asked = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  const way = createServer((client) => {
    asked.resolve()
    client.on('error', () => {})
    void released.promise.then(() => {
      const gateway = connect(Number(target.port), target.hostname)
      gateway.on('error', () => client.destroy())
      client.on('close', () => gateway.destroy())
      client.pipe(gateway).pipe(client)
    })
  })
  await once(way.listen(0, '127.0.0.1'), 'listening')
  const url = new URL(to)
  url.port = String((way.address() as AddressInfo).port)
  return {
    url: url.href,
    asked: asked.promise,
    release: released.resolve,
    close: () => new Promise<void>((done) => void way.close(() => done())),
  }
}
