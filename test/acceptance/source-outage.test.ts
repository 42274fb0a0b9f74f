/**
 * A database that dies in the middle of 1,000 requests: only those fail that were in flight or came while it was away,
 * each with the message of docs/contract.md#what-the-caller-sees; the service and its other sources go on; it recovers
 * without a restart.
 */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startNeonGateway } from '../../src/platform/node/embedded/neon-gateway.ts'
import { startMariadb, type TestMariadb } from '../support/servers/mariadb.ts'
import { startPlanetscaleGateway } from '../support/servers/planetscale-gateway.ts'
import { startPostgres, type TestPostgres } from '../support/servers/postgres.ts'
import { createCollection, type Workspace, world } from '../support/service/world.ts'

let server: TestPostgres
let mariadb: TestMariadb
let shop: Workspace
const close: (() => Promise<void>)[] = []

beforeAll(async () => {
  server = await startPostgres()
  mariadb = await startMariadb()
  const gateway = await startNeonGateway(server.url)
  const planetscale = await startPlanetscaleGateway(mariadb)
  close.push(gateway.close, planetscale.close, server.close, mariadb.close)
  shop = await world.workspace('outage', { anchors: { name: 'string' } })
  const isNode = world.platform === 'node'
  const { host, port, user, password, database } = mariadb
  await settle('sails', isNode ? 'postgres' : 'neon', { connectionString: isNode ? server.url : gateway.url })
  const account = { host, port, user, password, database }
  await settle('oars', isNode ? 'mariadb' : 'planetscale', isNode ? account : planetscale.config)
  await shop.insert('sails', [{ name: 'jib' }])
  await shop.insert('oars', [{ name: 'left' }])
  await shop.insert('anchors', [{ name: 'kedge' }])
})

afterAll(async () => {
  for (const end of close) await end()
})

/** A source with one collection of that name. */
async function settle(collection: string, provider: string, config: object): Promise<void> {
  const made = await shop.post('/sources/data', { apiName: `source_of_${collection}`, provider, config })
  const { data } = (await made.json()) as { data: { id: string } }
  const created = await shop.migrate(createCollection(new Map(), data.id, collection, { name: 'string' }))
  expect(created.status).toBe(200)
}

const unreachable = {
  message: 'Query failed',
  source: { message: 'Failed to connect to the database', code: '5001' },
}

it('fails only what was in flight, and recovers by itself', async () => {
  const answers: { readonly status: number; readonly body: unknown; readonly began: number }[] = []
  const others: number[] = []
  let down = Number.POSITIVE_INFINITY
  let up = Number.POSITIVE_INFINITY
  let left = 1_000
  const client = async () => {
    while (left > 0) {
      left -= 1
      const began = performance.now()
      const response = await shop.get('/items/sails?fields=name')
      answers.push({ status: response.status, body: await response.json(), began })
      if (left % 10 === 0) others.push((await shop.get('/items/anchors?fields=name')).status)
    }
  }

  const clients = Promise.all(Array.from({ length: 10 }, client))
  await expect.poll(() => answers.length, { interval: 5 }).toBeGreaterThan(200)
  down = performance.now()
  await server.crash()
  await server.restart()
  up = performance.now()
  await expect.poll(async () => (await shop.get('/items/sails')).status, { interval: 20 }).toBe(200)
  const recovered = performance.now()
  await clients

  const failed = answers.filter(({ status }) => status !== 200)
  console.log(
    `down for ${(up - down).toFixed(0)} ms, served again ${(recovered - up).toFixed(0)} ms later, ${failed.length} of ${answers.length} failed`,
  )
  expect(answers).toHaveLength(1_000)
  expect(failed.filter(({ began }) => began > recovered)).toEqual([])
  expect(new Set(failed.map(({ status }) => status))).toEqual(new Set(failed.length === 0 ? [] : [500]))
  for (const { body } of failed) expect(body).toEqual(unreachable)
  expect(new Set(others)).toEqual(new Set([200]))
})

it.each([
  ['PostgreSQL', 'sails', () => server],
  ['MariaDB', 'oars', () => mariadb],
])('answers while %s is away, and serves again when it is back', async (_title, collection, frail) => {
  await frail().crash()
  const answers: { readonly status: number; readonly body: unknown }[] = []
  for (let index = 0; index < 12; index += 1) {
    const response = await shop.get(`/items/${collection}`)
    answers.push({ status: response.status, body: await response.json() })
  }
  const other = await shop.get('/items/anchors?fields=name')
  await frail().restart()

  expect(answers).toEqual(answers.map(() => ({ status: 500, body: unreachable })))
  expect(other.status).toBe(200)
  const status = async () => (await shop.get(`/items/${collection}`)).status
  await expect.poll(status, { interval: 50 }).toBe(200)
})
