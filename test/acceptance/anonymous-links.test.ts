/** docs/contract.md#files: links to files leave entries of the audit log, which nobody without a credential makes without a limit. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Client } from '../support/service/client.ts'
import { type Instance, openTestEnvironment, type TestEnvironment } from '../support/service/instance.ts'

let stage: TestEnvironment
let instance: Instance
let administrator: Client
let fileId: string

const headers = { Accept: 'application/json, text/event-stream' }

beforeAll(async () => {
  stage = await openTestEnvironment()
  instance = await stage.open({ SERVICE_AUTH__LOGINS_PER_MINUTE: '4' })
  administrator = await instance.administrator()
  await idOf(administrator.post('/api/system/workspaces', { apiName: 'shop' }))
  const content = { entitlements: ['ai:mcp'], collections: { ServiceFile: { read: 'all' } } }
  const policy = await idOf(administrator.post('/api/shop/policies', { name: 'everybody', content }))
  const roles = await administrator.get('/api/shop/roles?filter[kind][_eq]=public&fields=id')
  const [{ id }] = ((await roles.json()) as { data: [{ id: string }] }).data
  expect((await administrator.patch(`/api/shop/roles/${id}`, { policies: [policy] })).status).toBe(200)
  fileId = await idOf(administrator.send('POST', '/api/shop/assets?fileName=letter.txt', { raw: 'Dear' }))
})

afterAll(() => stage?.close())

it('limits the links that an address makes without a credential, over HTTP and MCP together, and holds up nobody else', async () => {
  const call = { name: 'link_file', arguments: { id: fileId } }
  const byAgent = async () => {
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: call }
    const answer = await instance.anonymous.send('POST', '/api/shop/mcp', { body, headers })
    return ((await answer.json()) as { result: { isError?: boolean } }).result.isError ?? false
  }
  const agents = [await byAgent(), await byAgent()]
  const links = [await link(instance.anonymous), await link(instance.anonymous), await link(instance.anonymous)]

  expect(agents).toEqual([false, false])
  expect(links.map(({ status }) => status)).toEqual([200, 200, 429])
  expect(Number(links[2]?.headers.get('retry-after'))).toSatisfy((seconds) => seconds >= 1 && seconds <= 60)
  expect(await byAgent()).toBe(true)
  expect((await link(administrator)).status).toBe(200)
  expect((await instance.anonymous.get(`/api/shop/assets/${fileId}`)).status).toBe(200)
  const wrong = { credentials: { email: 'nobody@example.com', password: 'wrong' }, mode: 'json' }
  expect((await instance.anonymous.post('/api/auth/login', wrong)).status).toBe(401)
  const log = await administrator.get('/api/shop/audit-log?filter[action][_eq]=file.link.v1&fields=actorType&limit=-1')
  expect(((await log.json()) as { data: unknown[] }).data).toHaveLength(5)
})

function link(by: Client): Promise<Response> {
  return by.post(`/api/shop/assets/${fileId}/link`, { expiresIn: '5m' })
}

async function idOf(answer: Promise<Response>): Promise<string> {
  const response = await answer
  const text = await response.text()
  expect(response.status, text).toBe(201)
  return (JSON.parse(text) as { data: { id: string } }).data.id
}
