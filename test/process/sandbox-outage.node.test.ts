/**
 * The sandbox process of a connector that is killed in the middle of 1,000 requests: only those in flight fail; the service
 * and its other connectors go on; the next request starts another process.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { CLIENTS, startLoad } from '../support/run/steady-load.ts'
import { type ExampleServer, ordersConfig, startOrders } from '../support/servers/example-servers.ts'
import { connectExample } from '../support/service/connected.ts'
import { type NodeService, startService } from '../support/service/node-service.ts'

let service: NodeService
let server: ExampleServer

beforeAll(async () => {
  server = await startOrders()
  service = await startService(
    'sandbox',
    { collections: {}, keys: {}, relations: [] },
    {
      SERVICE_SOURCES__ALLOW_PRIVATE_HOSTS: 'true',
      SERVICE_EXTENSIONS__PATH: join(import.meta.dirname, '../../extensions'),
    },
  )
  const post = (path: string, body: unknown) => ask('POST', `/api/sandbox${path}`, body)
  await connectExample({ post }, { provider: 'json-api', config: ordersConfig(server) })
})

afterAll(async () => {
  await service.close()
  server.close()
})

it('fails only what was in flight, and goes on with another process', async () => {
  const { answers, done } = startLoad(1_000, read)
  await expect.poll(() => answers.length, { interval: 1 }).toBeGreaterThan(100)
  const [killed = 0] = connectorProcesses()

  process.kill(killed, 'SIGKILL')
  const began = performance.now()
  await expect
    .poll(() => answers.some((one) => one.startedAt > began && one.status === 200), { interval: 1 })
    .toBe(true)
  const recovered = performance.now()
  await done

  const failed = answers.filter(({ status }) => status !== 200)
  console.log(`served again ${(recovered - began).toFixed(0)} ms after the kill, ${failed.length} of 1000 failed`)
  expect(answers).toHaveLength(1_000)
  expect(failed.length).toBeLessThanOrEqual(CLIENTS)
  for (const { status, body } of failed)
    expect({ status, body }).toMatchObject({ status: 500, body: { message: 'Query failed' } })
  expect(connectorProcesses()).not.toContain(killed)
  expect((await read()).status).toBe(200)
})

function read(): Promise<Response> {
  return ask('GET', '/api/sandbox/items/orders?fields=id&limit=1')
}

function ask(method: string, path: string, body?: unknown): Promise<Response> {
  return fetch(service.url + path, {
    method,
    headers: {
      Authorization: `Bearer ${service.token}`,
      'Cache-Control': 'no-cache',
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
}

/** The Deno processes that this one has started, each by a launcher of its own. */
function connectorProcesses(): readonly number[] {
  const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  const launchers = all.filter((name) => parentOf(name) === String(process.pid))
  return all
    .filter((name) => launchers.includes(parentOf(name)) && commandOf(name).includes('deno.isolate.js'))
    .map(Number)
}

function parentOf(pid: string): string {
  return (
    readOr(`/proc/${pid}/stat`)
      .replace(/^.*\) /s, '')
      .split(' ')[1] ?? ''
  )
}

function commandOf(pid: string): string {
  return readOr(`/proc/${pid}/cmdline`)
}

function readOr(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
