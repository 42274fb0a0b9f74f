/** docs/contract.md#sessions: sessions in both modes, refreshing, signing out, and what a cookie may do. */
import { expect, it } from 'vitest'
import { people } from '../support/service/people.ts'
import { world } from '../support/service/world.ts'

const shop = await world.workspace('sessions', { articles: { title: 'string' } })
const ada = await people.memberWith(shop, [])
const origin = new URL(world.url).origin
const paths = { login: '/api/auth/login', refresh: '/api/auth/refresh', logout: '/api/auth/logout' }
const jwt = '[\\w-]+\\.[\\w-]+\\.[\\w-]+'

/** Cookies for tests that leave the session as it is. */
const page = await signIn()

type Tokens = { readonly accessToken: string; readonly refreshToken: string }

it('is in session mode where no mode is given: cookies that no script can read, and no token in the body', async () => {
  const { email, password } = ada

  const byDefault = await world.anonymous.post(paths.login, { credentials: { email, password } })
  const said = await world.anonymous.post('/api/auth/providers/local/password/login', {
    email,
    password,
    mode: 'session',
  })

  expect([byDefault.status, said.status]).toEqual([200, 200])
  expect([await byDefault.json(), await said.json()]).toEqual([{ expires: 900 }, { expires: 900 }])
  const cookies = [
    expect.stringMatching(`^service_session=${jwt}; Path=/api; Max-Age=604800; HttpOnly; SameSite=Lax$`),
    expect.stringMatching(`^service_refresh=${jwt}; Path=/api/auth; Max-Age=604800; HttpOnly; SameSite=Lax$`),
  ]
  expect(byDefault.headers.getSetCookie()).toEqual(cookies)
  expect(said.headers.getSetCookie()).toEqual(cookies)
})

it('sets no cookies in JSON mode', async () => {
  const { email, password } = ada

  const response = await world.anonymous.post(paths.login, { credentials: { email, password }, mode: 'json' })

  expect(response.headers.getSetCookie()).toEqual([])
})

it('gives a session ids of its own at every sign-in, whatever cookies the request brings', async () => {
  const planted = await signIn()

  const response = await world.anonymous.send('POST', paths.login, {
    body: { credentials: { email: ada.email, password: ada.password } },
    headers: { Cookie: `${planted.session}; ${planted.refresh}` },
  })

  const fresh = cookiesOf(response)
  expect(response.status).toBe(200)
  expect(sessionOf(fresh.session)).not.toBe(sessionOf(planted.session))
  expect(fresh.refresh).not.toBe(planted.refresh)
})

it('takes the session cookie as the credential of a request', async () => {
  const response = await world.anonymous.send('GET', '/api/system/users/me', { headers: { Cookie: page.session } })

  expect(await response.json()).toMatchObject({ data: { id: ada.userId } })
})

it.each([
  ['Origin', () => ({ Origin: origin })],
  ['Sec-Fetch-Site', () => ({ 'Sec-Fetch-Site': 'same-origin' })],
  ['both', () => ({ Origin: origin, 'Sec-Fetch-Site': 'same-origin' })],
])('lets a change by cookie through whose %s says that it comes from here', async (_, headers) => {
  const response = await changeBy(page.session, headers())

  expect(response.status).toBe(201)
})

it.each([
  ['neither Origin nor Sec-Fetch-Site', {}],
  ['another Origin', { Origin: 'https://evil.example' }],
  ['the same host at another port', { Origin: origin.replace(/\d+$/, '1') }],
  ['an opaque Origin', { Origin: 'null' }],
  ['an Origin that begins like ours', { Origin: `${origin}.evil.example` }],
  ['another site', { 'Sec-Fetch-Site': 'cross-site' }],
  ['another origin of this site', { 'Sec-Fetch-Site': 'same-site' }],
  ['no page at all', { 'Sec-Fetch-Site': 'none' }],
  ['our Origin, but another site', { Origin: origin, 'Sec-Fetch-Site': 'cross-site' }],
  ['another Origin, but this site', { Origin: 'https://evil.example', 'Sec-Fetch-Site': 'same-origin' }],
])('refuses a change by cookie with %s, and changes nothing', async (_, headers) => {
  const before = await keys()

  const refused = await changeBy(page.session, headers)

  expect(refused.status).toBe(403)
  expect(await refused.json()).toEqual({
    message: 'A change by session cookie must come from this origin (Origin, Sec-Fetch-Site)',
  })
  expect(await keys()).toEqual(before)
})

it('asks no origin of a change by header, nor of reading by cookie', async () => {
  const byHeader = await ada.system.send('POST', '/api/system/api-keys', {
    body: { name: 'mine' },
    headers: { Origin: 'https://evil.example' },
  })
  const reading = await world.anonymous.send('GET', '/api/system/api-keys', {
    headers: { Cookie: page.session, Origin: 'https://evil.example', 'Sec-Fetch-Site': 'cross-site' },
  })

  expect([byHeader.status, reading.status]).toEqual([201, 200])
})

it('answers a refresh with a new bare pair, whose tokens count', async () => {
  const first = await tokensOf()

  const response = await refresh(first.refreshToken)

  const second = (await response.json()) as Tokens
  const me = await world.bearer(second.accessToken).get('/api/system/users/me')
  const again = await refresh(second.refreshToken)
  expect(response.status).toBe(200)
  expect(second).toEqual({
    expires: 900,
    accessToken: expect.stringMatching(`^${jwt}$`),
    refreshToken: expect.stringMatching(`^${jwt}$`),
  })
  expect(second.refreshToken).not.toBe(first.refreshToken)
  expect(response.headers.getSetCookie()).toEqual([])
  expect([me.status, again.status]).toEqual([200, 200])
})

it('refreshes by cookie, and sets both cookies again', async () => {
  const before = await signIn()

  const response = await byCookie(paths.refresh, before.refresh)

  const after = cookiesOf(response)
  const me = await world.anonymous.send('GET', '/api/system/users/me', { headers: { Cookie: after.session } })
  expect(response.status).toBe(200)
  expect(await response.json()).toEqual({ expires: 900 })
  expect(after.refresh).not.toBe(before.refresh)
  expect(sessionOf(after.session)).toBe(sessionOf(before.session))
  expect(me.status).toBe(200)
})

it('ends the whole session when a refresh token is used again, and records it once', async () => {
  const first = await tokensOf()
  const second = (await (await refresh(first.refreshToken)).json()) as Tokens

  const reused = [await refresh(first.refreshToken), await refresh(first.refreshToken)]
  const after = [
    await refresh(second.refreshToken),
    await world.bearer(second.accessToken).get('/api/system/users/me'),
    await world.bearer(second.accessToken).get(`/api/${shop.name}/items/articles`),
  ]
  const other = await ada.system.get('/api/system/users/me')

  expect([...reused, ...after].map(({ status }) => status)).toEqual([401, 401, 401, 401, 401])
  expect(await reused[0]?.json()).toEqual({ message: 'Invalid token' })
  expect(other.status).toBe(200)
  expect(await recorded(first, 'auth.refresh.v1')).toMatchObject([
    { outcome: 'success', label: 'Tokens refreshed', ip: expect.any(String) },
    { outcome: 'failure', actorEmail: ada.email, payload: { reason: 'reuse' } },
  ])
})

it('lets one of fifty uses of one refresh token at the same time win, and takes the others for reuse', async () => {
  const first = await tokensOf()
  const { refreshToken } = first

  const responses = await Promise.all(Array.from({ length: 50 }, () => refresh(refreshToken)))

  const [winner, ...others] = responses.toSorted((one, other) => one.status - other.status)
  const won = (await winner?.json()) as Tokens
  const after = [await refresh(won.refreshToken), await world.bearer(won.accessToken).get('/api/system/users/me')]
  expect(winner?.status).toBe(200)
  expect(others.map(({ status }) => status)).toEqual(others.map(() => 401))
  expect(after.map(({ status }) => status)).toEqual([401, 401])
  expect(await recorded(first, 'auth.refresh.v1')).toEqual([
    expect.objectContaining({ outcome: 'success' }),
    expect.objectContaining({ outcome: 'failure' }),
  ])
})

it('ends a session by its refresh token: no token of it counts from the next request on', async () => {
  const tokens = await tokensOf()
  const { accessToken, refreshToken } = tokens
  const items = `/api/${shop.name}/items/articles`
  const before = await world.bearer(accessToken).get(items)

  const logout = await world.anonymous.post(paths.logout, { refreshToken })
  const after = [
    await world.bearer(accessToken).get(items),
    await world.bearer(accessToken).get('/api/system/users/me'),
    await refresh(refreshToken),
  ]
  const other = await ada.system.get('/api/system/users/me')

  expect(before.status).toBe(403)
  expect(logout.status).toBe(204)
  expect(after.map(({ status }) => status)).toEqual([401, 401, 401])
  expect(other.status).toBe(200)
  expect(await recorded(tokens, 'auth.logout.v1')).toMatchObject([
    { outcome: 'success', label: 'Sign-out', actorEmail: ada.email, ip: expect.any(String) },
  ])
})

it('is ended only once, also by a token that was used before', async () => {
  const tokens = await tokensOf()
  const { refreshToken } = tokens
  await refresh(refreshToken)

  const answers = [
    await world.anonymous.post(paths.logout, { refreshToken }),
    await world.anonymous.post(paths.logout, { refreshToken }),
  ]

  expect(answers.map(({ status }) => status)).toEqual([204, 204])
  expect(await recorded(tokens, 'auth.logout.v1')).toHaveLength(1)
})

it('signs out by cookie, and makes the browser forget both', async () => {
  const { session, refresh: cookie } = await signIn()

  const response = await byCookie(paths.logout, `${session}; ${cookie}`)
  const after = await world.anonymous.send('GET', '/api/system/users/me', { headers: { Cookie: session } })

  expect(response.status).toBe(204)
  expect(response.headers.getSetCookie()).toEqual([
    'service_session=; Path=/api; Max-Age=0; HttpOnly; SameSite=Lax',
    'service_refresh=; Path=/api/auth; Max-Age=0; HttpOnly; SameSite=Lax',
  ])
  expect(after.status).toBe(401)
})

it.each([paths.refresh, paths.logout])('takes exactly one token at %s', async (path) => {
  const { refreshToken } = await tokensOf()
  const { refresh: cookie } = page
  const headers = { Cookie: cookie, Origin: origin }

  const both = await world.anonymous.send('POST', path, { body: { refreshToken }, headers })
  const twice = await byCookie(path, `${cookie}; ${cookie}`)
  const none = await world.anonymous.post(path, {})
  const unknown = await world.anonymous.post(path, { refreshToken, mode: 'json' })

  expect([both.status, twice.status, none.status, unknown.status]).toEqual([400, 400, 422, 422])
  expect(await both.json()).toEqual({ message: 'Invalid request' })
  expect(await none.json()).toMatchObject({ source: { message: 'refreshToken' } })
})

it.each([paths.refresh, paths.logout])('answers 401 at %s for what is no refresh token', async (path) => {
  const { accessToken } = await tokensOf()

  const answers = await Promise.all(
    ['', 'nonsense', accessToken, 'x'.repeat(10_000)].map((refreshToken) =>
      world.anonymous.post(path, { refreshToken }),
    ),
  )
  const stale = await byCookie(path, 'service_refresh=nonsense')

  expect([...answers, stale].map(({ status }) => status)).toEqual([401, 401, 401, 401, 401])
  expect(await answers[0]?.json()).toEqual({ message: 'Invalid token' })
  expect(stale.headers.getSetCookie()).toHaveLength(2)
})

it.each([paths.refresh, paths.logout])('refuses %s by cookie from elsewhere', async (path) => {
  const { refresh: cookie } = await signIn()

  const refused = await world.anonymous.send('POST', path, { body: {}, headers: { Cookie: cookie } })
  const after = await byCookie(paths.refresh, cookie)

  expect([refused.status, after.status]).toEqual([403, 200])
})

it('gives no new tokens to a suspended account', async () => {
  const person = await people.memberWith(shop, [])
  const { refreshToken } = await tokensOf(person)
  await world.administrator.patch(`/api/system/users/${person.userId}`, { status: 'suspended' })

  const suspended = await refresh(refreshToken)
  await world.administrator.patch(`/api/system/users/${person.userId}`, { status: 'active' })
  const afterwards = await refresh(refreshToken)

  expect([suspended.status, afterwards.status]).toEqual([401, 401])
})

function refresh(refreshToken: string): Promise<Response> {
  return world.anonymous.post(paths.refresh, { refreshToken })
}

/** Sends `{}` from a page of ours. */
function byCookie(path: string, cookie: string): Promise<Response> {
  return world.anonymous.send('POST', path, { body: {}, headers: { Cookie: cookie, Origin: origin } })
}

function changeBy(cookie: string, headers: Record<string, string>): Promise<Response> {
  return world.anonymous.send('POST', '/api/system/api-keys', {
    body: { name: 'mine' },
    headers: { Cookie: cookie, ...headers },
  })
}

async function tokensOf({ email, password } = ada): Promise<Tokens> {
  const response = await world.anonymous.post(paths.login, { credentials: { email, password }, mode: 'json' })
  return (await response.json()) as Tokens
}

/** The cookies of a new session, as a browser sends them back. */
async function signIn({ email, password } = ada) {
  return cookiesOf(await world.anonymous.post(paths.login, { credentials: { email, password } }))
}

function cookiesOf(response: Response): { readonly session: string; readonly refresh: string } {
  const [session = '', refreshing = ''] = response.headers.getSetCookie().map((cookie) => cookie.split(';')[0] ?? '')
  return { session, refresh: refreshing }
}

async function keys(): Promise<unknown> {
  const response = await world.anonymous.send('GET', '/api/system/api-keys', { headers: { Cookie: page.session } })
  return response.json()
}

function sessionOf(token: string): string {
  const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as { sid: string }
  return claims.sid
}

/** What the audit log says of a session, oldest first. */
async function recorded({ accessToken }: Tokens, action: string): Promise<readonly object[]> {
  const query = `filter[actorId][_eq]=${ada.userId}&filter[action][_eq]=${action}&sort[0][time][direction]=asc`
  const response = await world.administrator.get(`/api/system/audit-log?${query}`)
  const { data } = (await response.json()) as { data: { payload: { sessionId: string } }[] }
  return data.filter(({ payload }) => payload.sessionId === sessionOf(accessToken))
}
