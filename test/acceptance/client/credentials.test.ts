/** Who the client says it is: keys, sessions whose tokens it keeps, sessions in cookies (packages/client). */
import { beforeAll, expect, it } from 'vitest'
import { apiKey, cookie, session, type TokenStorage } from '../../../packages/client/src/index.ts'
import { people } from '../../support/service/people.ts'
import { type Workspace, world } from '../../support/service/world.ts'
import { clientOf, openShop } from './shop.ts'

let shop: Workspace
let email: string
let password: string

beforeAll(async () => {
  const opened = await openShop('credentials')
  shop = opened.shop
  await opened.db.authors.create({ name: 'Ada' }).orThrow()
  const reader = await people.member(shop, { collections: { authors: { read: 'all' } } })
  email = reader.email
  password = reader.password
})

/** A storage that can be looked into; it may answer later, as that of an app does. */
function storageOf(held = new Map<string, string>()) {
  const storage: TokenStorage = {
    getItem: async (name) => held.get(name) ?? null,
    async setItem(name, value) {
      held.set(name, value)
    },
    removeItem(name) {
      held.delete(name)
    },
  }
  return { held, storage }
}

/** Counts how often the session is refreshed. */
function counting() {
  const refreshes: string[] = []
  const send: typeof fetch = (url, init) => {
    if (String(url).endsWith('/refresh')) refreshes.push(String(url))
    return fetch(url, init)
  }
  return { refreshes, fetch: send }
}

/** Changes what is kept of the session. */
function tamper(held: Map<string, string>, changes: object): void {
  for (const [name, text] of held) held.set(name, JSON.stringify({ ...JSON.parse(text), ...changes }))
}

const future = Date.now() + 3_600_000

it('presents an API key, and asks for another where it was refused', async () => {
  const made = await world.administrator.post('/api/system/api-keys', { name: 'client', expiresIn: '1d' })
  const { data } = (await made.json()) as { data: { key: string } }
  const keys = ['outdated', data.key]
  const wrong: string[] = []

  const fixed = await clientOf(shop, { auth: apiKey(data.key) }).authors.list({ fields: ['name'] })
  const renewed = await clientOf(shop, { auth: apiKey(() => keys.shift() ?? '') }).authors.list({ fields: ['name'] })
  const refused = await clientOf(shop, {
    auth: apiKey('outdated'),
    fetch: (url, init) => {
      wrong.push(String(url))
      return fetch(url, init)
    },
  }).authors.list()

  expect(fixed.orThrow()).toEqual([{ name: 'Ada' }])
  expect(renewed.orThrow()).toEqual([{ name: 'Ada' }])
  expect(refused).toMatchObject({ ok: false, status: 401 })
  expect(wrong).toHaveLength(1)
})

it('signs in, is somebody, and signs out', async () => {
  const { held, storage } = storageOf()
  const db = clientOf(shop, { auth: session(storage) })

  const before = await db.authors.list()
  const wrong = await db.$auth.login({ email, password: `${password}!` })
  const signedIn = await db.$auth.login({ email, password })
  const me = await db.$auth.me().orThrow()
  const found = await db.authors.list({ fields: ['name'] })
  const token = JSON.parse([...held.values()][0] ?? '{}').accessToken
  const signedOut = await db.$auth.logout()
  const after = await world.bearer(token).get(`/api/${shop.name}/items/authors`)

  expect(before).toMatchObject({ ok: false, status: 403 })
  expect(wrong).toMatchObject({ ok: false, status: 401, error: { message: 'Invalid credentials' } })
  expect(signedIn).toMatchObject({ ok: true, data: undefined })
  expect(me.email).toBe(email)
  expect(found.orThrow()).toEqual([{ name: 'Ada' }])
  expect(signedOut).toMatchObject({ ok: true, status: 204 })
  expect(held.size).toBe(0)
  expect(after.status).toBe(401)
})

it('sends a wrong password once, and refreshes nothing for it', async () => {
  const { storage } = storageOf()
  const asked: string[] = []
  const db = clientOf(shop, {
    auth: session(storage),
    fetch: (url, init) => {
      asked.push(new URL(String(url)).pathname)
      return fetch(url, init)
    },
  })
  await db.$auth.login({ email, password }).orThrow()
  const wrong = `${password}!`

  const changed = await db.$request('POST', '/api/auth/password-change', {
    body: { currentPassword: wrong, newPassword: password },
  })
  const signedIn = await db.$request('POST', '/api/auth/login', { body: { credentials: { email, password: wrong } } })

  expect(changed).toMatchObject({ ok: false, status: 401, error: { message: 'Invalid credentials' } })
  expect(signedIn).toMatchObject({ ok: false, status: 401, error: { message: 'Invalid credentials' } })
  expect(asked.slice(1)).toEqual(['/api/auth/password-change', '/api/auth/login'])
})

it.each([
  ['is refused', { accessToken: 'refused', until: future }],
  ['is over', { until: 0 }],
])('refreshes once for twenty calls of two clients whose token %s', async (_, changes) => {
  const { held, storage } = storageOf()
  const { refreshes, fetch } = counting()
  const one = clientOf(shop, { auth: session(storage), fetch })
  const other = clientOf(shop, { auth: session(storage), fetch })
  await one.$auth.login({ email, password }).orThrow()
  tamper(held, changes)

  const calls = Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? one : other).authors.list())
  const results = await Promise.all(calls)

  expect(results.map(({ status }) => status)).toEqual(calls.map(() => 200))
  expect(refreshes).toHaveLength(1)
})

it('takes what another one has stored meanwhile instead of refreshing', async () => {
  const { held, storage } = storageOf()
  const { refreshes, fetch } = counting()
  const db = clientOf(shop, { auth: session(storage), fetch })
  await db.$auth.login({ email, password }).orThrow()
  const valid = new Map(held)
  tamper(held, { accessToken: 'refused', until: future })
  const late: typeof fetch = async (url, init) => {
    const response = await fetch(url, init)
    for (const [name, text] of valid) held.set(name, text)
    return response
  }

  const result = await db.authors.list({ fetch: late })

  expect(result.status).toBe(200)
  expect(refreshes).toEqual([])
})

it('takes what another one has refreshed while it waited for its turn', async () => {
  const tokens = (accessToken: string, until: number) => JSON.stringify({ accessToken, refreshToken: '-', until })
  const read = [tokens('over', 0), tokens('new', future)]
  const { refreshes, fetch } = counting()
  const auth = session({ getItem: () => read.shift() ?? null, setItem() {}, removeItem() {} })

  expect(await auth.headers({ url: world.url, fetch, refused: false })).toEqual({ Authorization: 'Bearer new' })
  expect(refreshes).toEqual([])
})

it('forgets a session only where its refresh is refused', async () => {
  const { held, storage } = storageOf()
  const db = clientOf(shop, { auth: session(storage), retries: 0 })
  await db.$auth.login({ email, password }).orThrow()
  tamper(held, { until: 0 })
  const away: typeof fetch = () => Promise.reject(new Error('away'))
  const failing: typeof fetch = async () => new Response('{}', { status: 500 })

  const unreachable = await db.authors.list({ fetch: away })
  const broken = await db.authors.list({ fetch: failing })
  const kept = held.size
  tamper(held, { refreshToken: 'used up' })
  const refused = await db.authors.list()

  expect(unreachable).toMatchObject({ ok: false, status: 0, error: { code: 'network' } })
  expect(broken).toMatchObject({ ok: false, status: 500 })
  expect(kept).toBe(1)
  expect(held.size).toBe(0)
  expect(refused).toMatchObject({ ok: false, status: 403 })
})

it('keeps a session in cookies that it does not see, and refreshes it once', async () => {
  const jar = new Map<string, string>()
  const refreshes: string[] = []
  const browser: typeof fetch = async (url, init) => {
    if (String(url).endsWith('/refresh')) refreshes.push(String(url))
    const headers = new Headers(init?.headers)
    headers.set('Origin', new URL(String(url)).origin)
    headers.set('Cookie', [...jar].map(([name, value]) => `${name}=${value}`).join('; '))
    const { credentials, ...rest } = (init ?? {}) as RequestInit & { credentials?: string }
    expect(credentials).toBe('include')
    const response = await fetch(url, { ...rest, headers })
    for (const text of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(text) ?? []
      if (value === '') jar.delete(name)
      else jar.set(name, value)
    }
    return response
  }
  const db = clientOf(shop, { auth: cookie(), fetch: browser })

  jar.set('service_session', 'refused')
  const nobody = await db.$auth.me()
  await db.$auth.login({ email, password }).orThrow()
  const found = await db.authors.list({ fields: ['name'] })
  jar.set('service_session', 'refused')
  const again = await Promise.all([db.authors.list(), db.authors.list()])
  const out = await db.$auth.logout()
  const after = await db.authors.list()

  expect(nobody.status).toBe(401)
  expect(found.orThrow()).toEqual([{ name: 'Ada' }])
  expect(again.map(({ status }) => status)).toEqual([200, 200])
  expect(refreshes).toHaveLength(2)
  expect(out.status).toBe(204)
  expect(after.status).toBe(403)
})

it('refreshes a session in cookies no second time for what was sent before', async () => {
  let refreshes = 0
  const refreshing: typeof fetch = async () => {
    refreshes += 1
    return Response.json({ expires: 900 })
  }
  const auth = cookie()
  const ask = { url: 'http://127.0.0.1:9', fetch: refreshing }
  const sent = (await auth.headers({ ...ask, refused: false })) ?? {}

  const first = await auth.headers({ ...ask, refused: true, sent })
  const late = await auth.headers({ ...ask, refused: true, sent })

  expect(refreshes).toBe(1)
  expect(late).toBe(first)
})

it('tells the providers, and where to send the browser', async () => {
  const db = clientOf(shop, {})

  const providers = await db.$auth.providers().orThrow()
  const address = new URL(db.$auth.providerUrl('corporate', `${world.url}/?page=1&x`))

  expect(Array.isArray(providers)).toBe(true)
  expect(address.pathname).toBe('/api/auth/providers/corporate/login')
  expect(address.searchParams.get('redirect')).toBe(`${world.url}/?page=1&x`)
})

it('refuses to sign in without a place for the session', () => {
  expect(() => clientOf(shop, {}).$auth.login({ email, password })).toThrow('auth: session() or cookie()')
})
