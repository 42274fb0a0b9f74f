/**
 * A deployed instance of two replicas behind TLS (docs/decisions/018): a sign-in that one of them began ends at the
 * other, and counts once for both. The proxy in front of them is this test.
 */
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type NodeServer, startNode } from '../../handlers/node.ts'
import { type CraftedProvider, startCraftedProvider } from '../support/crafted-provider.ts'
import { startPostgres } from '../support/postgres.ts'

const PUBLIC = 'https://service.example.com'
const credentials = { email: 'admin@example.com', password: randomBytes(12).toString('base64url') }
/** Of the administrator, good at every replica. */
let token = ''
let postgres: Awaited<ReturnType<typeof startPostgres>>
let craft: CraftedProvider
let replicas: readonly NodeServer[]
/** The same instance as it is deployed without a word about private providers. */
let strict: NodeServer

beforeAll(async () => {
  postgres = await startPostgres()
  craft = await startCraftedProvider()
  const variables = {
    PORT: '0',
    SERVICE_DATABASE_URL: postgres.url,
    SERVICE_SECRET: randomBytes(32).toString('base64url'),
    SERVICE_ADMIN__EMAIL: credentials.email,
    SERVICE_ADMIN__PASSWORD: credentials.password,
    SERVICE_BASE_URL: PUBLIC,
  }
  const start = (more: object) => startNode({ environment: { ...variables, ...more }, observe: () => {} })
  const lenient = { SERVICE_AUTH__ALLOW_PRIVATE_PROVIDERS: 'true' }
  replicas = [await start(lenient), await start(lenient)]
  strict = await start({})
  const login = await administer(replicas[0], '/api/auth/login', { credentials, mode: 'json' })
  token = ((await login.json()) as { accessToken: string }).accessToken
  const wish = { name: 'crafted', issuer: craft.url, clientId: 'ours', clientSecret: craft.clientSecret }
  const made = await administer(replicas[0], '/api/system/providers', wish)
  const invited = await administer(replicas[0], '/api/system/workspaces', { apiName: 'shop' })
  await administer(replicas[0], '/api/shop/invitations', { email: 'guest@example.com' })
  expect([made.status, invited.status]).toEqual([201, 201])
})

afterAll(async () => {
  await Promise.all([...(replicas ?? []), ...(strict === undefined ? [] : [strict])].map((server) => server.close()))
  await craft?.close()
  await postgres?.close()
})

it('begins a sign-in at one replica and ends it at another, once for both', async () => {
  craft.answers.claims = { sub: 'guest', email: 'guest@example.com', email_verified: true }
  const left = await ask(replicas[0], `/api/auth/providers/crafted/login?redirect=${PUBLIC}/welcome`)
  const cookies = left.headers.getSetCookie()
  const [cookie = ''] = cookies.map((line) => line.split(';', 1)[0])
  const agreed = await fetch(left.headers.get('Location') ?? '', { redirect: 'manual' })
  const back = agreed.headers.get('Location') ?? ''

  const [second, third] = [await ask(replicas[1], pathOf(back), cookie), await ask(replicas[0], pathOf(back), cookie)]

  expect(cookies).toEqual([expect.stringMatching(/^__Host-service_sign_in=v1\..*; Path=\/; .*; HttpOnly; .*; Secure$/)])
  expect(back).toMatch(new RegExp(`^${PUBLIC}/api/auth/providers/crafted/callback\\?`))
  expect(second.headers.get('Location')).toBe(`${PUBLIC}/welcome`)
  expect(second.headers.getSetCookie().every((line) => line.includes('; Secure'))).toBe(true)
  expect(third.headers.get('Location')).toBe(`${PUBLIC}/welcome?error=sign_in_failed`)
})

it('takes the public address for its origin, not the one that a request was sent to', async () => {
  const own = await ask(replicas[0], `/api/auth/providers/crafted/login?redirect=${replicas[0]?.url}/welcome`)

  expect(own.status).toBe(422)
})

it('is deployed without leave to ask private addresses, for new providers and old', async () => {
  const wish = { name: 'private', clientId: 'ours', clientSecret: 'secret' }
  const asked = craft.asked.length

  const answers = await Promise.all(
    [craft.url, 'https://127.0.0.1', 'https://10.0.0.1', 'https://intranet'].map((issuer) =>
      administer(strict, '/api/system/providers', { ...wish, issuer }),
    ),
  )
  const old = await ask(strict, '/api/auth/providers/crafted/login')

  expect(answers.map(({ status }) => status)).toEqual([422, 422, 422, 422])
  expect(old.status).toBe(503)
  expect(craft.asked.slice(asked)).toEqual([])
})

function ask(server: NodeServer | undefined, path: string, cookie = ''): Promise<Response> {
  return fetch(`${server?.url}${path}`, { redirect: 'manual', headers: cookie === '' ? {} : { Cookie: cookie } })
}

function pathOf(address: string): string {
  return address.slice(PUBLIC.length)
}

async function administer(server: NodeServer | undefined, path: string, body: object): Promise<Response> {
  const headers = { 'Content-Type': 'application/json', ...(token !== '' && { Authorization: `Bearer ${token}` }) }
  return fetch(`${server?.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
}
