/**
 * A deployed instance of two replicas behind TLS (docs/decisions/018): a sign-in that one of them began ends at the
 * other, and counts once for both. The proxy in front of them is this test.
 */
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type NodeServer, startNode } from '../../handlers/node.ts'
import { type CraftedProvider, startCraftedProvider } from '../support/servers/crafted-provider.ts'
import { startPostgres } from '../support/servers/postgres.ts'
import { offlineLicense, unlimited } from '../support/service/license.ts'

const PUBLIC = 'https://service.example.com'
const credentials = { email: 'admin@example.com', password: randomBytes(12).toString('base64url') }
/** Of the administrator, good at every replica. */
let token = ''
let postgres: Awaited<ReturnType<typeof startPostgres>>
let craft: CraftedProvider
let replicas: readonly NodeServer[]
/** The same instance as it is deployed without a word about private providers, and strict about sign-ins. */
let strict: NodeServer

beforeAll(async () => {
  postgres = await startPostgres()
  craft = await startCraftedProvider()
  const { entitlements } = unlimited()
  const variables = {
    PORT: '0',
    SERVICE_DATABASE_URL: postgres.url,
    SERVICE_SECRET: randomBytes(32).toString('base64url'),
    SERVICE_ADMIN__EMAIL: credentials.email,
    SERVICE_ADMIN__PASSWORD: credentials.password,
    SERVICE_BASE_URL: PUBLIC,
    ...(await offlineLicense({ entitlements: { ...entitlements, seats: { limit: 2, kind: 'hard' } } })),
  }

  const start = (more: object) => startNode({ environment: { ...variables, ...more }, observe: () => {} })
  const lenient = { SERVICE_AUTH__ALLOW_PRIVATE_PROVIDERS: 'true' }
  replicas = [await start(lenient), await start(lenient)]
  strict = await start({ SERVICE_AUTH__LOGINS_PER_MINUTE: '3' })
  const login = await administer(replicas[0], '/api/auth/login', { credentials, mode: 'json' })
  token = ((await login.json()) as { accessToken: string }).accessToken
  const made = await administer(replicas[0], '/api/system/providers', { ...wish(), name: 'crafted' })
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
  const { back, cookie, line } = await leave('crafted')

  const [second, third] = [await ask(replicas[1], back, cookie), await ask(replicas[0], back, cookie)]

  expect(line).toMatch(/^__Host-service_sign_in=v1\..*; Path=\/; .*; HttpOnly; .*; Secure$/)
  expect(back).toMatch(/^\/api\/auth\/providers\/crafted\/callback\?/)
  expect(second.headers.get('Location')).toBe(`${PUBLIC}/welcome`)
  expect(second.headers.getSetCookie().every((cookie) => cookie.includes('; Secure'))).toBe(true)
  expect(third.headers.get('Location')).toBe(`${PUBLIC}/welcome?error=sign_in_failed`)
})

it.each([{ clientId: 'another' }, { clientSecret: 'another' }, { issuer: 'new' }, { enabled: false }])(
  'lets nobody in by what a provider says that has been changed meanwhile: %j',
  async (change) => {
    craft.reset()
    craft.answers.claims = { sub: 'guest', email: 'guest@example.com', email_verified: true }
    const name = `changing${randomBytes(4).toString('hex')}`
    await administer(replicas[0], '/api/system/providers', { ...wish(), name })
    const { back, cookie } = await leave(name)
    let changed: Response | undefined
    craft.answers.sign = async (claims) => {
      const sent = 'issuer' in change ? { issuer: craft.newIssuer(), clientSecret: 'another' } : change
      changed = await administer(replicas[1], `/api/system/providers/${name}`, sent, 'PATCH')
      return craft.sign(claims)
    }

    const response = await ask(replicas[0], back, cookie)
    craft.reset()

    expect(changed?.status).toBe(200)
    expect(response.headers.get('Location')).toBe(`${PUBLIC}/welcome?error=sign_in_failed`)
    expect(response.headers.getSetCookie().filter((line) => line.includes('session'))).toEqual([])
  },
)

it('lets nobody join for whom the license has no seat', async () => {
  const role = await administer(replicas[0], '/api/shop/roles', { name: 'Readers' })
  const autoJoin = { workspace: 'shop', roleId: ((await role.json()) as { data: { id: string } }).data.id }
  await administer(replicas[0], '/api/system/providers', { ...wish(), name: 'joining', autoJoin })
  craft.answers.claims = { sub: 'third', email: 'third@example.com', email_verified: true }
  const { back, cookie } = await leave('joining')

  const response = await ask(replicas[0], back, cookie)

  expect(response.headers.get('Location')).toBe(`${PUBLIC}/welcome?error=not_allowed`)
})

it('takes the public address for its origin, not the one that a request was sent to', async () => {
  const own = await ask(replicas[0], `/api/auth/providers/crafted/login?redirect=${replicas[0]?.url}/welcome`)

  expect(own.status).toBe(422)
})

it('is deployed without leave to ask private addresses, for new providers and old', async () => {
  const asked = craft.requests.length

  const answers = await Promise.all(
    [craft.url, 'https://127.0.0.1', 'https://10.0.0.1', 'https://intranet'].map((issuer) =>
      administer(strict, '/api/system/providers', { ...wish(), name: 'private', issuer }),
    ),
  )
  const old = await ask(strict, '/api/auth/providers/crafted/login')

  expect(answers.map(({ status }) => status)).toEqual([422, 422, 422, 422])
  expect(old.status).toBe(503)
  expect(craft.requests.slice(asked)).toEqual([])
})

it('lets people of one address come back only so often', async () => {
  const path = '/api/auth/providers/crafted/callback?code=x&state=y'

  const answers = [await ask(strict, path), await ask(strict, path), await ask(strict, path), await ask(strict, path)]

  expect(answers.at(-1)?.status).toBe(429)
  expect(answers.at(-1)?.headers.get('Retry-After')).toMatch(/^\d+$/)
})

function ask(server: NodeServer | undefined, path: string, cookie = ''): Promise<Response> {
  return fetch(`${server?.url}${path}`, { redirect: 'manual', headers: cookie === '' ? {} : { Cookie: cookie } })
}

/** As far as the provider sends the browser back: path and query of the callback, and the cookie to come with. */
async function leave(provider: string): Promise<{ back: string; cookie: string; line: string }> {
  const left = await ask(replicas[0], `/api/auth/providers/${provider}/login?redirect=${PUBLIC}/welcome`)
  const [line = ''] = left.headers.getSetCookie()
  const [cookie = ''] = line.split(';', 1)
  const agreed = await fetch(left.headers.get('Location') ?? '', { redirect: 'manual' })
  return { back: agreed.headers.get('Location')?.slice(PUBLIC.length) ?? '', cookie, line }
}

function wish(): object {
  return { issuer: craft.url, clientId: 'ours', clientSecret: craft.clientSecret }
}

async function administer(
  server: NodeServer | undefined,
  path: string,
  body: object,
  method = 'POST',
): Promise<Response> {
  const headers = { 'Content-Type': 'application/json', ...(token !== '' && { Authorization: `Bearer ${token}` }) }
  return fetch(`${server?.url}${path}`, { method, headers, body: JSON.stringify(body) })
}
