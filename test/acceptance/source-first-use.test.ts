/** A database that is away when a source is first used: whatever asks first is answered like any later request. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { SqlProvider } from '../../src/core/sql/address.ts'
import { startNeonGateway } from '../../src/platform/node/embedded/neon-gateway.ts'
import { startMariadb, type TestMariadb } from '../support/servers/mariadb.ts'
import { startPlanetscaleGateway } from '../support/servers/planetscale-gateway.ts'
import { startPostgres, type TestPostgres } from '../support/servers/postgres.ts'
import { testedProviders } from '../support/servers/tested-providers.ts'
import { createCollection, type Workspace, world } from '../support/service/world.ts'

/** Where a provider's source leads, and the part of its configuration that is kept as a secret. */
type Target = {
  readonly server: TestPostgres | TestMariadb
  readonly secret: string
  readonly config: (secret: object) => object
}

let targets: Readonly<Record<SqlProvider, Target>>
let shop: Workspace
const close: (() => Promise<void>)[] = []

/** A source with one collection, both called by the provider; its secret is called so as well. */
async function settle(provider: SqlProvider): Promise<void> {
  await renew(provider)
  const config = targets[provider].config({ $secret: `for_${provider}` })
  const made = await shop.post('/sources/data', { apiName: `source_of_${provider}`, provider, config })
  const { data } = (await made.json()) as { data: { id: string } }
  const created = await shop.migrate(createCollection(new Map(), data.id, `of_${provider}`, { name: 'string' }))
  expect(created.status, await created.text()).toBe(200)
}

/** A source is opened anew when its secret was written, and then used by nobody before the next request. */
async function renew(provider: SqlProvider): Promise<void> {
  const value = targets[provider].secret
  expect((await shop.send('PUT', `/secrets/for_${provider}`, { body: { value } })).status).toBe(204)
}

beforeAll(async () => {
  const postgres = await startPostgres()
  const mariadb = await startMariadb()
  const gateway = await startNeonGateway(postgres.url)
  const planetscale = await startPlanetscaleGateway(mariadb)
  close.push(gateway.close, planetscale.close, postgres.close, mariadb.close)
  const { host, port, user, password, database } = mariadb
  const { password: secret, ...rest } = planetscale.config as { readonly password: string }
  const byString = (server: TestPostgres, url: string): Target => ({
    server,
    secret: url,
    config: (connectionString) => ({ connectionString }),
  })
  const byParts = (parts: object, secret: string): Target => ({
    server: mariadb,
    secret,
    config: (password) => ({ ...parts, password }),
  })
  const account = { host, port, user, database }
  targets = {
    postgres: byString(postgres, postgres.url),
    neon: byString(postgres, gateway.url),
    mysql: byParts(account, password),
    mariadb: byParts(account, password),
    planetscale: byParts(rest, secret),
  }
  shop = await world.workspace('first_use', {})
  for (const provider of testedProviders) await settle(provider)
})

afterAll(async () => {
  for (const end of close) await end()
})

const firsts = {
  'a list': (items: string) => shop.get(items),
  'an item': (items: string) => shop.get(`${items}/1`),
  'a create': (items: string) => shop.post(items, [{ name: 'one' }]),
  'a change': (items: string) => shop.patch(`${items}/1`, { name: 'two' }),
  'an end': (items: string) => shop.delete(`${items}/1`),
}

describe.each(testedProviders)('a source of %s whose database is away', (provider) => {
  it.each(Object.entries(firsts))('answers %s as its first request as it would later', async (_title, ask) => {
    const { server } = targets[provider]
    const items = `/items/of_${provider}`
    await renew(provider)
    await server.crash()
    const first = await ask(items)
    const answer = { status: first.status, body: await first.json() }
    const later = await ask(items)
    const laterAnswer = { status: later.status, body: await later.json() }
    await server.restart()
    await expect.poll(async () => (await shop.get(items)).status, { interval: 50 }).toBe(200)

    const source = { message: 'Failed to connect to the database', code: '5001' }
    expect(answer).toEqual({ status: 500, body: { message: 'Query failed', source } })
    expect(laterAnswer).toEqual(answer)
  })
})
