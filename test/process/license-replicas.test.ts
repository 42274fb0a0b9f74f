/**
 * docs/contract.md#licensing: replicas share one activation, and one of them revalidates for all. Two Node processes'
 * worth of servers and a Worker on one system database, all by one clock.
 */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type LicensingLine, openLicensingLine } from '../support/servers/licensing.ts'
import type { Client } from '../support/service/client.ts'
import { type Instance, openTestEnvironment, type TestEnvironment } from '../support/service/instance.ts'

const DAY = 86_400_000
const INTERVAL = DAY
const ACTIVATION = 'POST /activations'
const VALIDATION = 'POST /activations/*/validate'

let stage: TestEnvironment
let line: LicensingLine
let key: string
let instances: readonly Instance[]
let clients: readonly Client[]

beforeAll(async () => {
  stage = await openTestEnvironment('node')
  line = await openLicensingLine(stage.clock.now)
  key = (await line.issue({ revalidate: INTERVAL / 1_000 })).key
  const variables = line.variables(key)
  // The schema of an empty system database is made by one of them; the license is what they meet at.
  await (await stage.open()).close()
  instances = await Promise.all([stage.open(variables), stage.open(variables), stage.open(variables, 'workerd')])
  clients = await Promise.all(instances.map((instance) => instance.administrator()))
  await clients[0]?.post('/api/system/workspaces', { apiName: 'shop' })
})

afterAll(async () => {
  await stage?.close()
  await line?.close()
})

it('activates once when all start at once', () => {
  expect(line.requests.filter((request) => request === ACTIVATION)).toHaveLength(1)
  expect(line.server.registry.find(key)?.activations).toHaveLength(1)
  // Each start has had an answer: the activation, a validation of its own, or one that it waited for.
  expect(line.requests.length).toBeLessThanOrEqual(instances.length)
})

it('revalidates once per interval, whoever is woken first', async () => {
  // To the place within the interval that the environment id gives them all.
  const [activation] = line.server.registry.find(key)?.activations ?? []
  const place = Number.parseInt(activation?.environmentId.slice(-12) ?? '', 16) % INTERVAL
  const now = stage.clock.now()
  await stage.clock.advance(2 * INTERVAL + place - (now % INTERVAL))
  await everyoneIsWoken()
  const counts: number[] = []

  for (let round = 0; round < 3; round += 1) {
    line.requests.length = 0
    const before = await outcomes()
    await stage.clock.advance(INTERVAL)
    await everyoneIsWoken()
    await everyoneIsWoken()
    counts.push((await outcomes()) - before)
    // One that is not answered in time is sent again.
    expect(new Set(line.requests)).toEqual(new Set([VALIDATION]))
  }

  expect(counts).toEqual([1, 1, 1])
})

it('tells all replicas of what one has heard', async () => {
  await line.sell(`/licenses/${key}/suspend`)
  const before = await Promise.all(clients.map(items))
  await clients[0]?.post('/api/system/license/refresh', {})

  await expect.poll(() => Promise.all(clients.map(items))).toEqual([402, 402, 402])
  await line.sell(`/licenses/${key}/resume`)
  await clients[2]?.post('/api/system/license/refresh', {})
  await expect.poll(() => Promise.all(clients.map(items))).toEqual([200, 200, 200])
  expect(before).toEqual([200, 200, 200])
})

it('goes on after a holder of the lease that died', async () => {
  line.requests.length = 0
  // What a process leaves behind that was killed while it asked; its lease has run out since.
  await stage.run(
    `update service.license set lease_id = gen_random_uuid(), lease_until = clock_timestamp() - interval '1 second'`,
  )

  const answer = await clients[1]?.post('/api/system/license/refresh', {})

  expect(answer?.status).toBe(200)
  expect(line.requests).toEqual([VALIDATION])
})

async function everyoneIsWoken(): Promise<void> {
  await Promise.all(instances.map((instance) => instance.due()))
}

/** How many answers of the licensing service were stored so far. */
async function outcomes(): Promise<number> {
  return Number(await stage.run('select license_version from service.instance'))
}

async function items(client: Client): Promise<number> {
  return (await client.get('/api/shop/items/ServiceCollection')).status
}
