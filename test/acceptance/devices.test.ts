/** docs/contract.md#devices: signing in on a device that has no browser, by a code that a session approves. */
import { describe, expect, it } from 'vitest'
import { people } from '../support/service/people.ts'
import { type Client, world } from '../support/service/world.ts'

const shop = await world.workspace('devices', { articles: { title: 'string' } })
const paths = {
  start: '/api/auth/device',
  token: '/api/auth/device/token',
  lookup: '/api/auth/device/lookup',
  decision: '/api/auth/device/decision',
  me: '/api/system/users/me',
  sessions: '/api/system/users/me/sessions',
}
const origin = new URL(world.url).origin

type Codes = { readonly deviceCode: string; readonly userCode: string }
type Tokens = { readonly accessToken: string; readonly refreshToken: string }

async function started(name = 'a test'): Promise<Codes> {
  const response = await world.anonymous.send('POST', paths.start, {
    body: { name },
    headers: { 'User-Agent': 'device/1' },
  })
  expect(response.status).toBe(200)
  return (await response.json()) as Codes
}
const take = ({ deviceCode }: Codes) => world.anonymous.post(paths.token, { deviceCode })
const decide = (client: Client, { userCode }: Codes, approve = true) =>
  client.post(paths.decision, { userCode, approve })

async function signedIn(client: Client): Promise<Tokens> {
  const codes = await started()
  expect((await decide(client, codes)).status).toBe(204)
  return (await (await take(codes)).json()) as Tokens
}

const reader = { collections: { articles: { read: 'all' } } }

describe('a device', () => {
  it('is signed in as whoever approves it, with what they hold, once', async () => {
    const ada = await people.member(shop, reader)
    const codes = await started()
    const waiting = await take(codes)
    await decide(ada.system, codes)
    const taken = await take(codes)
    const again = await take(codes)

    expect(codes).toEqual({
      deviceCode: expect.stringMatching(/^[\w-]{43}$/),
      userCode: expect.stringMatching(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/),
      verificationUri: `${world.url}/api/auth/device`,
      expires: 600,
      interval: 5,
    })
    expect([waiting.status, await waiting.json()]).toEqual([202, { interval: 5 }])
    expect(taken.status).toBe(200)
    const { accessToken, refreshToken } = (await taken.json()) as Tokens
    const device = world.bearer(accessToken)
    expect(await (await device.get(paths.me)).json()).toMatchObject({ data: { id: ada.userId } })
    expect((await device.get(`/api/${shop.name}/items/articles`)).status).toBe(200)
    expect((await device.post(`/api/${shop.name}/items/articles`, { title: 'Lamp' })).status).toBe(403)
    expect((await world.anonymous.post('/api/auth/refresh', { refreshToken })).status).toBe(200)
    expect([again.status, await again.json()]).toEqual([401, { message: 'Invalid token' }])
  })

  it('is shown to whoever decides, by a code in any spelling', async () => {
    const ada = await people.member(shop, reader)
    const codes = await started('the build machine')
    const spelled = codes.userCode.toLowerCase().replace('-', ' ')
    const shown = await ada.system.post(paths.lookup, { userCode: spelled })

    const time = expect.stringMatching(/^\d{4}-.*Z$/)
    expect(await shown.json()).toEqual({
      data: {
        name: 'the build machine',
        userAgent: 'device/1',
        ip: expect.any(String),
        createdAt: time,
        expiresAt: time,
      },
    })
  })

  it('is a session of its own: listed with its name, ended by its user', async () => {
    const ada = await people.member(shop, reader)
    const device = world.bearer((await signedIn(ada.system)).accessToken)
    const { data } = (await (await ada.system.get(paths.sessions)).json()) as { data: { id: string; name: string }[] }
    const made = data.find(({ name }) => name === 'a test')

    expect(made).toMatchObject({ userAgent: 'device/1', current: false })
    expect((await ada.system.delete(`${paths.sessions}/${made?.id}`)).status).toBe(204)
    expect((await device.get(paths.me)).status).toBe(401)
  })

  it('gets nothing where its session was ended before it took its tokens', async () => {
    const ada = await people.member(shop, reader)
    const codes = await started()
    await decide(ada.system, codes)
    await ada.system.delete(paths.sessions)

    expect((await take(codes)).status).toBe(401)
  })

  it('gets nothing where it was declined', async () => {
    const ada = await people.member(shop, reader)
    const codes = await started()
    const declined = await decide(ada.system, codes, false)
    const approved = await decide(ada.system, codes)
    const refused = await take(codes)

    expect([declined.status, approved.status]).toEqual([204, 404])
    expect([refused.status, await refused.json()]).toEqual([403, { message: 'The sign-in was declined' }])
  })

  it('that asks too often is told to wait', async () => {
    const codes = await started()
    const answers = [await take(codes), await take(codes), await take(codes)]

    expect(answers.map(({ status }) => status)).toEqual([202, 429, 429])
    expect(answers[1]?.headers.get('Retry-After')).toBe('5')
  })

  it('has one of two decisions, and one of two answers with tokens', async () => {
    const [ada, eve] = [await people.member(shop, reader), await people.member(shop, reader)]
    const codes = await started()
    const decisions = await Promise.all([ada, eve, ada, eve].map(({ system }) => decide(system, codes)))
    const taken = await Promise.all([1, 2, 3, 4].map(() => take(codes)))

    expect(decisions.map(({ status }) => status).sort()).toEqual([204, 404, 404, 404])
    expect(taken.map(({ status }) => status).sort()).toEqual([200, 401, 401, 401])
  })

  it('is unknown by another code, whatever it looks like', async () => {
    const codes = await started()
    const answers = await Promise.all(
      ['', codes.userCode, `${codes.deviceCode}x`, 'x'.repeat(200)].map((deviceCode) =>
        world.anonymous.post(paths.token, { deviceCode }),
      ),
    )

    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 401])
    expect((await world.anonymous.post(paths.token, { deviceCode: 'x'.repeat(201) })).status).toBe(422)
  })
})

describe('a decision', () => {
  it('is not for anonymous callers, and not for keys, whatever their scope', async () => {
    const ada = await people.member(shop, reader)
    const codes = await started()
    const made = await ada.system.post('/api/system/api-keys', { name: 'key' })
    const key = world.bearer(((await made.json()) as { data: { key: string } }).data.key)
    const answers = [
      await decide(world.anonymous, codes),
      await decide(key, codes),
      await key.post(paths.lookup, { userCode: codes.userCode }),
    ]

    expect(answers.map(({ status }) => status)).toEqual([403, 403, 403])
    expect(await answers[1]?.json()).toEqual({
      message: 'A device can only be signed in by a session, not by an API key',
    })
    expect((await decide(ada.system, codes)).status).toBe(204)
  })

  it('by cookie comes from the page of the service, or is refused', async () => {
    const ada = await people.member(shop, reader)
    const codes = await started()
    const { email, password } = ada
    const login = await world.anonymous.post('/api/auth/login', { credentials: { email, password } })
    const Cookie = login.headers.getSetCookie()[0]?.split(';')[0] ?? ''
    const by = (headers: Record<string, string>) =>
      world.anonymous.send('POST', paths.decision, {
        body: { userCode: codes.userCode, approve: true },
        headers: { Cookie, ...headers },
      })
    const answers = [await by({ Origin: 'https://evil.example' }), await by({}), await by({ Origin: origin })]

    expect(answers.map(({ status }) => status)).toEqual([403, 403, 204])
  })

  it('by a session that has ended is none', async () => {
    const ada = await people.member(shop, reader)
    const codes = await started()
    const { accessToken } = await signedIn(ada.system)
    await ada.system.delete(paths.sessions)

    expect((await decide(world.bearer(accessToken), codes)).status).toBe(401)
  })

  it('cannot be guessed at: five wrong codes a minute, by whatever session', async () => {
    const ada = await people.member(shop, reader)
    const codes = await started()
    const other = world.bearer((await signedIn(ada.system)).accessToken)
    const guesses = []
    for (let guess = 0; guess < 5; guess++) {
      guesses.push((await (guess % 2 ? other : ada.system).post(paths.lookup, { userCode: 'BBBB-BBBB' })).status)
    }
    const right = await decide(other, codes)

    expect(guesses).toEqual([404, 404, 404, 404, 404])
    expect(right.status).toBe(429)
  })

  it('is in the audit log, with what it was about', async () => {
    const ada = await people.member(shop, reader)
    await signedIn(ada.system)
    await decide(ada.system, await started('another'), false)
    const path = `/api/system/audit-log?filter[actorId][_eq]=${ada.userId}&sort[0][time][direction]=asc&limit=100`
    const { data } = (await (await world.administrator.get(path)).json()) as { data: { action: string }[] }

    expect(data.filter(({ action }) => /device|login/.test(action)).slice(-3)).toMatchObject([
      {
        action: 'auth.device_approve.v1',
        targetType: 'session',
        payload: expect.objectContaining({ name: 'a test', userAgent: 'device/1' }),
      },
      {
        action: 'auth.login.v1',
        targetType: null,
        payload: { method: 'device', sessionId: expect.any(String) },
      },
      { action: 'auth.device_deny.v1', targetType: null, payload: expect.objectContaining({ name: 'another' }) },
    ])
  })
})

describe('the page', () => {
  it('is public, brings its own script and style, and lets no other run', async () => {
    const page = await world.anonymous.get(paths.start)
    const html = await page.text()
    const files = [...html.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, path = '']) => path)
    const answers = await Promise.all(files.map((path) => world.anonymous.get(path)))
    const policy = page.headers.get('Content-Security-Policy') ?? ''

    expect([page.status, page.headers.get('Content-Type')]).toEqual([200, 'text/html; charset=utf-8'])
    expect(policy.split('; ')).toEqual(
      expect.arrayContaining([
        "default-src 'none'",
        "script-src 'self'",
        "form-action 'none'",
        "frame-ancestors 'none'",
      ]),
    )
    expect(policy).not.toMatch(/unsafe|https?:|\*/)
    expect(html).not.toMatch(/<script(?![^>]*\bsrc=)|\son\w+=|\sstyle=|javascript:|https?:/i)
    expect(files).toEqual(['/api/auth/device/page.css', '/api/auth/device/page.js'])
    expect(answers.map(({ headers }) => headers.get('Content-Type')?.split(';')[0])).toEqual([
      'text/css',
      'text/javascript',
    ])
  })
})
