/**
 * docs/contract.md#sessions: what the address that callers use makes of cookies. One instance behind several hosts,
 * without a network.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openPostgres } from '../../src/platform/drivers/postgres/driver.ts'
import type { SqlDriver } from '../../src/ports/database.ts'
import { startPostgres } from '../support/servers/postgres.ts'
import { type InProcess, openInProcess } from '../support/service/in-process.ts'

let postgres: Awaited<ReturnType<typeof startPostgres>>
let database: SqlDriver
/** Knows no address but that of the request. */
let plain: InProcess
/** Is reached at https://api.example.com, through a proxy that speaks HTTP to it. */
let behind: InProcess
let cookies: readonly string[]

beforeAll(async () => {
  postgres = await startPostgres()
  database = openPostgres({ connectionString: postgres.url })
  // Two that serve one database share the secret that its keys are sealed with.
  const shared = { SERVICE_SECRET: 'a secret that has at least 32 bytes' }
  plain = await openInProcess({ database, databaseUrl: postgres.url, variables: shared })
  const variables = {
    ...shared,
    SERVICE_BASE_URL: 'https://api.example.com/',
    SERVICE_ADMIN__EMAIL: plain.administrator.email,
    SERVICE_ADMIN__PASSWORD: plain.administrator.password,
  }
  behind = await openInProcess({ database, databaseUrl: postgres.url, variables })
  cookies = (await login(behind, 'http://10.0.0.7:8787')).map((cookie) => cookie.split(';')[0] ?? '')
})

afterAll(async () => {
  await database?.close()
  await postgres?.close()
})

describe('cookies', () => {
  it.each([
    ['https://api.example.com', 'HttpOnly; Secure; SameSite=Lax'],
    ['http://api.example.com', 'HttpOnly; Secure; SameSite=Lax'],
    ['http://192.168.1.5:8787', 'HttpOnly; Secure; SameSite=Lax'],
    ['http://127.0.0.1.example.com', 'HttpOnly; Secure; SameSite=Lax'],
    ['http://127.0.0.1:8787', 'HttpOnly; SameSite=Lax'],
    ['http://localhost:8787', 'HttpOnly; SameSite=Lax'],
    ['http://[::1]:8787', 'HttpOnly; SameSite=Lax'],
  ])('set at %s are %s', async (address, attributes) => {
    const [session, refresh] = await login(plain, address)

    expect(session).toMatch(new RegExp(`^service_session=[^;]+; Path=/api; Max-Age=604800; ${attributes}$`))
    expect(refresh).toMatch(new RegExp(`^service_refresh=[^;]+; Path=/api/auth; Max-Age=604800; ${attributes}$`))
  })

  it('are Secure behind a proxy on this machine, where SERVICE_BASE_URL says that it is public', async () => {
    const set = await login(behind, 'http://127.0.0.1:8787')

    expect(set).toEqual([expect.stringContaining('; Secure;'), expect.stringContaining('; Secure;')])
  })
})

describe('a change by cookie', () => {
  it.each([
    ['the public address', 'https://api.example.com', 201],
    ['the address of the request', 'http://10.0.0.7:8787', 201],
    ['the address of the request, where TLS ends before us', 'https://10.0.0.7:8787', 201],
    ['the public address without TLS', 'http://api.example.com', 403],
    ['a part of the public address', 'https://example.com', 403],
    ['a sibling of the public address', 'https://other.example.com', 403],
    ['the public address at another port', 'https://api.example.com:8443', 403],
    ['the public address with a path', 'https://api.example.com/', 403],
    ['nowhere', '', 403],
  ])('from %s is answered by %s: %i', async (_, origin, status) => {
    const response = await behind.request('http://10.0.0.7:8787/api/system/api-keys', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Cookie: cookies[0] ?? '', Origin: origin },
      body: JSON.stringify({ name: 'robot' }),
    })

    expect(response.status).toBe(status)
  })
})

describe('a change by cookie at the public address', () => {
  it.each([
    ['itself', 'https://api.example.com', 201],
    ['the same host without TLS', 'http://api.example.com', 403],
    ['the same host without TLS at the port of TLS', 'http://api.example.com:443', 403],
  ])('that comes from %s, %s, is answered by %i', async (_, origin, status) => {
    const response = await behind.request('http://api.example.com/api/system/api-keys', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Cookie: cookies[0] ?? '', Origin: origin },
      body: JSON.stringify({ name: 'robot' }),
    })

    expect(response.status).toBe(status)
  })
})

/** The `Set-Cookie` values of a sign-in in session mode. */
async function login({ administrator, request }: InProcess, address: string): Promise<readonly string[]> {
  const response = await request(`${address}/api/auth/login`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ credentials: administrator }),
  })
  if (response.status !== 200) throw new Error(`login answered ${response.status}: ${await response.text()}`)
  return response.headers.getSetCookie()
}
