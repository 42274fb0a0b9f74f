/** docs/contract.md#telemetry: anonymous telemetry, off without an address, and all of it as documented. */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { VERSION } from '../../src/services/instance/release.ts'
import { openTestEnvironment, type TestEnvironment, type Variables } from '../support/service/instance.ts'
import { world } from '../support/service/world.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const platform = world.platform === 'workerd' ? 'workers' : 'node'

let stage: TestEnvironment
let collector: Server
let url: string
let status = 204
/** Method, type and body of everything that was posted. */
const posts: (readonly [string | undefined, string | undefined, string])[] = []

beforeAll(async () => {
  stage = await openTestEnvironment()
  collector = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString()
    posts.push([request.method, request.headers['content-type'], body])
    response.writeHead(status, { Location: '/elsewhere' }).end()
  })
  collector.listen(0, '127.0.0.1')
  await once(collector, 'listening')
  url = `http://127.0.0.1:${(collector.address() as AddressInfo).port}/telemetry`
})

afterAll(async () => {
  await stage?.close()
  collector?.closeAllConnections()
  collector?.close()
})

it.each<[string, () => Variables]>([
  ['SERVICE_TELEMETRY__URL is unset', () => ({})],
  ['SERVICE_TELEMETRY__ENABLED is false', () => ({ SERVICE_TELEMETRY__ENABLED: 'false', SERVICE_TELEMETRY__URL: url })],
])('posts nothing where %s', async (_, variables) => {
  const instance = await stage.open(variables())

  await instance.due()
  await instance.close()

  expect(posts).toEqual([])
})

it('posts once a day, whatever the number of replicas, and byte for byte what is documented', async () => {
  const variables = { SERVICE_TELEMETRY__URL: url }
  const replicas = [await stage.open(variables), await stage.open(variables)]
  const admin = await replicas[0]?.administrator()
  await admin?.post('/api/system/workspaces', { apiName: 'shop' })
  const dueEverywhere = () => Promise.all(replicas.map((replica) => replica.due()))

  await dueEverywhere()
  await dueEverywhere()
  const first = posts.splice(0)
  await stage.clock.advance(DAY - HOUR)
  await dueEverywhere()
  const early = posts.splice(0)
  await stage.clock.advance(2 * HOUR)
  await dueEverywhere()
  const second = posts.splice(0)
  for (const replica of replicas) await replica.close()

  const id = await stage.run('select id from service.telemetry')
  const counts = '{"workspaces":1,"users":1,"serviceAccounts":0,"apiKeys":0,"roles":0,"policies":0,"providers":0}'
  const payload = `{"id":"${id}","version":"${VERSION}","platform":"${platform}","counts":${counts}}`
  expect(first).toEqual([['POST', 'application/json', payload]])
  expect(early).toEqual([])
  expect(second).toEqual(first)
})

it('is posted under a name that is used for nothing else', async () => {
  expect(await stage.run('select t.id = i.environment_id from service.telemetry t, service.instance i')).toBe(false)
})

it('is tried once where it fails, which is told without the address, and disturbs nothing', async () => {
  const instance = await stage.open({ SERVICE_TELEMETRY__URL: `${url}?token=secret` })
  status = 302
  await stage.clock.advance(DAY)

  await instance.due()
  await instance.due()
  const redirected = posts.splice(0)
  const ready = await instance.anonymous.get('/api/system/ready')
  await expect.poll(instance.log).toContain('Telemetry was not posted: it was answered 302')
  await instance.close()

  expect(redirected).toHaveLength(1)
  expect(ready.status).toBe(200)
  expect(instance.log()).not.toContain('token=secret')
})

it('has the payload that the documentation shows', () => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/operations.md'), 'utf8')
  const [, shown = ''] = /```json\n(\{"id":[^\n]+)\n```/.exec(page) ?? []

  expect(Object.keys(JSON.parse(shown))).toEqual(['id', 'version', 'platform', 'counts'])
  expect(Object.keys((JSON.parse(shown) as { counts: object }).counts)).toEqual(
    'workspaces users serviceAccounts apiKeys roles policies providers'.split(' '),
  )
})
