/**
 * docs/contract.md#connectors: what a connector tries to get out of its sandbox while the service serves it; all of its
 * ways at `test/security`.
 */
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { ExternalSystem } from '../support/servers/external-system.ts'
import { type RunningUpstream, startUpstream } from '../support/servers/upstream.ts'
import { connect, connectExample, readAnswer, startSystem } from '../support/service/connected.ts'
import { type Workspace, world } from '../support/service/world.ts'

let shop: Workspace
let system: ExternalSystem
let upstream: RunningUpstream

beforeAll(async () => {
  system = await startSystem()
  upstream = await startUpstream()
  shop = await world.workspace('captive', {})
  const { granted, forbidden } = upstream
  await connectExample(shop, { provider: 'captive', config: { granted, forbidden } })
  await connect(shop, system)
})

afterAll(async () => {
  await upstream.close()
  await system.close()
})

const fresh = { 'Cache-Control': 'no-cache' }
const attempt = (name: string) => shop.get(`/items/attempts/${encodeURIComponent(name)}?fields=name,escaped`)

it.each([
  'chain of redirects',
  'redirect to another spelling',
  'IPv4-mapped IPv6',
  'WebSocket',
  'raw connection',
  'HTTP by the module of Node',
  'import of data that makes a request',
  'file of our process',
  'secret in the environment',
  'command',
  'signal to the service',
  'bindings of the Worker',
  'gate of another grant',
  'stained prototypes',
  'request after the answer',
])('does not get out, and harms no other source: %s', async (name) => {
  const answer = await readAnswer(await attempt(name))
  const other = await readAnswer(await shop.send('GET', '/items/authors/1?fields=name', { headers: fresh }))

  expect(answer).toEqual({ status: 200, body: { data: { name, escaped: null } } })
  expect(other).toEqual({ status: 200, body: { data: { name: 'Ada' } } })
})

it('has reached nothing', async () => {
  const reached = await fetch(`http://127.0.0.1:${upstream.granted}/reached`)

  expect(await reached.text()).toBe('0')
})

it('would be found out if it did', async () => {
  const { granted } = upstream
  const free = await world.workspace('freed', {})
  await connectExample(free, { provider: 'captive', config: { granted, forbidden: granted } })

  const answer = await readAnswer(
    await free.get(`/items/attempts/${encodeURIComponent('redirect 302')}?fields=escaped`),
  )

  expect(answer).toEqual({ status: 200, body: { data: { escaped: 'hello' } } })
})
