/** Behind proxies that the configuration names, their headers say where a request comes from. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Instance, openTestEnvironment, type TestEnvironment } from '../support/service/instance.ts'

const address = 'admin@example.com'
let stage: TestEnvironment
let instance: Instance

beforeAll(async () => {
  stage = await openTestEnvironment()
  instance = await stage.open({ SERVICE_HTTP__TRUSTED_PROXIES: '127.0.0.0/8, ::1, 10.0.0.0/8' })
})

afterAll(() => stage?.close())

it('counts failures for the address that the nearest trusted proxy names, whatever stands before it', async () => {
  const failures = []
  for (let index = 1; index <= 6; index += 1) {
    failures.push(await tried('wrong', { 'X-Forwarded-For': `203.0.113.${index}, 192.0.2.1, 10.1.2.3` }))
  }
  const right = await tried('a password of some length', { 'X-Forwarded-For': '192.0.2.1' })
  const elsewhere = await tried('a password of some length', { 'X-Forwarded-For': '192.0.2.1, 198.51.100.7' })

  expect(failures).toEqual([401, 401, 401, 401, 401, 429])
  expect([right, elsewhere]).toEqual([429, 200])
})

it.each([
  [{ 'X-Forwarded-For': '192.0.2.9:4711' }, '192.0.2.9'],
  [{ Forwarded: 'for="[2001:DB8::9]:4711";proto=https' }, '2001:db8::9'],
  [{ Forwarded: 'for=192.0.2.10, for=_hidden' }, null],
  [{ 'X-Forwarded-For': '192.0.2.11', Forwarded: 'for=192.0.2.12' }, null],
  [{ 'X-Forwarded-For': `${'1'.repeat(20_000)}, 192.0.2.13` }, null],
])('records what %j says of the address: %s', async (headers, ip) => {
  const email = `${crypto.randomUUID()}@example.com`

  await tried('wrong', headers, email)

  const administrator = await instance.administrator()
  const response = await administrator.get('/api/system/audit-log?filter[action][_eq]=auth.login.v1&fields=ip,payload')
  const { data } = (await response.json()) as { data: { ip: string | null; payload: { email?: string } }[] }
  expect(data.find(({ payload }) => payload.email === email)?.ip).toBe(ip)
})

async function tried(password: string, headers: Record<string, string>, email = address): Promise<number> {
  const body = { credentials: { email, password }, mode: 'json' }
  const { status } = await instance.anonymous.send('POST', '/api/auth/login', { body, headers })
  return status
}
