/**
 * A connector's server that dies in the middle of 1,000 requests: only those fail that were in flight or came while it
 * was away, with the message of docs/contract.md#what-the-caller-sees; other sources go on; it is served again without
 * a restart.
 */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startLoad } from '../support/run/steady-load.ts'
import { type ExampleServer, ordersConfig, startOrders } from '../support/servers/example-servers.ts'
import { connectExample } from '../support/service/connected.ts'
import { type Workspace, world } from '../support/service/world.ts'

let frail: ExampleServer
let steady: ExampleServer
let shop: Workspace
let other: Workspace

beforeAll(async () => {
  frail = await startOrders()
  steady = await startOrders()
  shop = await world.workspace('connector_outage', {})
  other = await world.workspace('connector_steady', {})
  await connectExample(shop, { provider: 'json-api', config: ordersConfig(frail) })
  await connectExample(other, { provider: 'json-api', config: ordersConfig(steady) })
})

afterAll(() => {
  frail.close()
  steady.close()
})

const fresh = { headers: { 'Cache-Control': 'no-cache' } }
const read = (workspace: Workspace) => workspace.send('GET', '/items/orders?fields=id&limit=1', fresh)

it('fails only what was in flight, and is served again by itself', async () => {
  const { answers, done } = startLoad(1_000, () => read(shop))
  const others: number[] = []

  await expect.poll(() => answers.length, { interval: 5 }).toBeGreaterThan(100)
  await frail.crash()
  await expect.poll(() => answers.some(({ status }) => status !== 200), { interval: 5 }).toBe(true)
  others.push((await read(other)).status)
  await frail.restart()
  const up = performance.now()
  await expect.poll(async () => (await read(shop)).status, { interval: 5 }).toBe(200)
  const recovered = performance.now()
  await done

  const failed = answers.filter(({ status }) => status !== 200)
  console.log(`served again ${(recovered - up).toFixed(0)} ms after it was back, ${failed.length} of 1000 failed`)
  expect(answers).toHaveLength(1_000)
  expect(failed.filter(({ startedAt }) => startedAt > recovered)).toEqual([])
  for (const { status, body } of failed) {
    expect({ status, body }).toMatchObject({
      status: 500,
      body: {
        message: 'Query failed',
        source: {
          message: 'Failed to connect to the database',
          source: { message: 'the extension returned an error: the external system cannot be reached' },
        },
      },
    })
  }
  expect(others).toEqual([200])
})
