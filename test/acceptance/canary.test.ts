/**
 * Secrets go through every route, in good requests and bad ones, and come out nowhere: in no line of the log, no entry
 * of the audit log and no refusal. The routes are read from the handlers, so that a new one is asked as well.
 */
import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { beforeAll, expect, it } from 'vitest'
import { sqlProviders } from '../../src/core/sql/address.ts'
import { tokenIn } from '../support/service/mailed-token.ts'
import { mails } from '../support/service/mails.ts'
import { type Person, people } from '../support/service/people.ts'
import { world } from '../support/service/world.ts'

/** Every secret that was sent or handed out. */
const secrets = new Set<string>([world.administrator.password, world.administrator.token, world.setupToken])
/** What refusals said of a secret: where, and the answer. */
const leaks: string[] = []
const shop = await world.workspace('canary', { articles: { title: 'string' } })
let administrator: Person
let last: Response

beforeAll(async () => {
  administrator = await people.memberWith(shop, [await people.administratorRole(shop)])
  secret(administrator.password, administrator.token)
  await world.administrator.patch(`/api/system/users/${administrator.userId}`, { isAdministrator: true })
})

it('says no secret that is sent to any route', async () => {
  const routes = allRoutes()
  const requests = routes.flatMap(([method, path]) => misuses(method, path))

  await Promise.all(
    Array.from({ length: 6 }, async () => {
      for (let next = requests.pop(); next !== undefined; next = requests.pop()) await send(next)
    }),
  )

  expect(routes.length).toBeGreaterThan(50)
  expect(leaks).toEqual([])
})

it('says no secret of signing in, of sessions, keys and passwords', async () => {
  const person = await people.memberWith(shop, [])
  secret(person.password, person.token)
  const credentials = { email: person.email, password: person.password }
  const tokens = await handedOut(await post('/api/auth/login', { credentials, mode: 'json' }))
  const cookies = (await post('/api/auth/login', { credentials })).headers
    .getSetCookie()
    .map((cookie) => cookie.split(';', 1)[0] ?? '')
  for (const cookie of cookies) secret(cookie.slice(cookie.indexOf('=') + 1))
  const Cookie = cookies.join('; ')

  await post('/api/auth/login', { credentials: { ...credentials, password: canary() }, mode: 'json' })
  await post('/api/auth/providers/local/password/login', { ...credentials, password: canary(), mode: 'json' })
  await post('/api/auth/login', { credentials: { ...credentials, password: { text: canary() } } })
  await send({ method: 'GET', path: '/api/system/users/me', headers: { Cookie } })
  await send({ method: 'GET', path: '/api/system/users/me', headers: { Cookie, ...bearer(tokens.accessToken) } })
  await send({ method: 'GET', path: `/api/system/users/me?access_token=${tokens.accessToken}` })
  await send({ method: 'GET', path: `/api/system/users/me?x=%26&%61ccess_token=${tokens.accessToken}` })
  await send({ method: 'GET', path: `/api/system/users/me?access_token=${tokens.accessToken}`, headers: { Cookie } })
  const rotated = await handedOut(await post('/api/auth/refresh', { refreshToken: tokens.refreshToken }))
  await post('/api/auth/refresh', { refreshToken: tokens.refreshToken })
  await post('/api/auth/logout', { refreshToken: rotated.refreshToken })
  const key = await handedOut(await post('/api/system/api-keys', { name: 'canary' }, bearer(person.token)))
  await send({
    method: 'GET',
    path: `/api/${shop.name}/items/articles?access_token=${key.key}&access_token=${canary()}`,
  })
  const wish = { currentPassword: person.password, newPassword: canary() }
  await post('/api/auth/password-change', { ...wish, currentPassword: canary() }, bearer(person.token))
  await post('/api/auth/password-change', wish, bearer(person.token))
  await post('/api/auth/password-reset/request', { email: person.email })
  const text = await mails.arrived(person.email, /^Choose a new password$/)
  const token = secret(/token=([\w-]+)/.exec(text)?.[1] ?? '')
  await send({ method: 'GET', path: `/api/auth/password-reset/verify?token=${token}` })
  await send({ method: 'GET', path: `/api/auth/password-reset/verify?%74oken=${token}&token=${canary()}` })
  await post('/api/auth/password-reset/confirm', { token, password: 'short' })
  await post('/api/auth/password-reset/confirm', { token, password: canary() })
  await post('/api/auth/password-reset/confirm', { token, password: canary() })
  await post('/api/system/bootstrap', { email: people.email(), password: canary(), setupToken: canary() })
  const email = people.email()
  const invitation = await handedOut(
    await post(`/api/${shop.name}/invitations`, { email }, bearer(administrator.token)),
  )
  const mailed = secret(tokenIn(await mails.arrived(email, /^Invitation/)))
  for (const token of [invitation.token, mailed]) {
    await post('/api/auth/invitations/accept', { token })
    await post('/api/auth/invitations/accept', { token, password: canary() })
  }

  expect(leaks).toEqual([])
})

it('says no secret of providers and data sources', async () => {
  const by = bearer(administrator.token)
  const endpoints = { authorizationEndpoint: 'https://id.example/a', tokenEndpoint: 'https://id.example/t' }
  const provider = { name: `p${randomUUID().slice(0, 8)}`, ...endpoints, userinfoEndpoint: 'https://id.example/u' }
  const path = `/api/system/providers/${provider.name}`
  await post('/api/system/providers', { ...provider, clientId: 'client', clientSecret: canary() }, by)
  await post('/api/system/providers', { ...provider, clientId: 'client', clientSecret: canary() }, by)
  await send({ method: 'PATCH', path, body: { clientSecret: `${canary()}\u0000` }, headers: by })
  await send({ method: 'GET', path, headers: by })
  await send({
    method: 'GET',
    path: `/api/auth/providers/${provider.name}/callback?code=${canary()}&state=${canary()}`,
  })
  await send({ method: 'DELETE', path, headers: by })
  const at = { host: '127.0.0.1', port: 1, database: 'nowhere', user: 'nobody' }
  const settings = sqlProviders.flatMap((name) => [
    { provider: name, config: { ...at, password: canary() } },
    { provider: name, config: { ...at, password: [canary()] } },
    { provider: name, config: { connectionString: `postgres://nobody:${canary()}@127.0.0.1:1/nowhere` } },
    { provider: name, config: { connectionString: `nonsense ${canary()}` } },
    {
      provider: name,
      config: { ...at, auth: { kind: 'aws-iam', region: 'x', accessKeyId: 'x', secretAccessKey: canary() } },
    },
    { provider: name, config: { ...at, tls: { ca: canary() }, password: canary() } },
  ])
  for (const setting of settings) {
    await post(`/api/${shop.name}/sources/data/test`, setting, by)
    await post(`/api/${shop.name}/sources/data/introspect`, setting, by)
    const created = await post(
      `/api/${shop.name}/sources/data`,
      { apiName: `s${randomUUID().slice(0, 8)}`, ...setting },
      by,
    )
    if (!created.ok) continue
    const { data } = (await created.json()) as { data: { id: string } }
    await post(`/api/${shop.name}/schema/introspect/${data.id}`, {}, by)
    await send({ method: 'DELETE', path: `/api/${shop.name}/sources/data/${data.id}`, headers: by })
  }

  expect(leaks).toEqual([])
})

it('has written none of them to the log', async () => {
  await send({ method: 'GET', path: '/ping' })
  const id = last.headers.get('X-Request-Id') ?? ''
  await expect.poll(() => readFile(world.logFile, 'utf8')).toContain(id)

  expect(found(await readFile(world.logFile, 'utf8'))).toEqual([])
})

it('has written none of them to the audit log', async () => {
  const pages: string[] = []
  for (let offset = 0; pages.at(-1) !== '{"data":[]}'; offset += 10_000) {
    const response = await world.administrator.get(`/api/system/audit-log?limit=10000&offset=${offset}`)
    pages.push(await response.text())
  }

  expect(pages[0]).toContain(administrator.email)
  expect(found(pages.join('\n'))).toEqual([])
})

type Sending = {
  readonly method: string
  readonly path: string
  readonly headers?: Record<string, string>
  readonly body?: unknown
}

/** Sends it, and notes where a refusal says what was secret. */
async function send({ method, path, headers, body }: Sending): Promise<Response> {
  last = await world.anonymous.send(method, path, { body, headers: headers ?? {} })
  const response = last.clone()
  if (!last.ok) {
    const text = `${JSON.stringify([...last.headers])} ${await last.text()}`
    leaks.push(...found(text).map((one) => `${method} ${path} says ${one}: ${text}`))
  }
  return response
}

function post(path: string, body: unknown, headers?: Record<string, string>): Promise<Response> {
  return send({ method: 'POST', path, body, ...(headers && { headers }) })
}

/** The secrets that stand in `text`. */
function found(text: string): readonly string[] {
  return [...secrets].filter((one) => text.includes(one))
}

function secret(...texts: readonly string[]): string {
  for (const text of texts) if (text !== '') secrets.add(text)
  return texts[0] ?? ''
}

/** A secret that nobody else has. */
function canary(): string {
  return secret(`canary-${randomUUID()}`)
}

function bearer(token: string | undefined): Record<string, string> {
  return { Authorization: `Bearer ${token}` }
}

/** The secrets of a good answer. */
async function handedOut(response: Response): Promise<Record<string, string>> {
  const body = (await response.json()) as Record<string, string> & { readonly data?: Record<string, string> }
  const members = body.data ?? body
  for (const name of ['accessToken', 'refreshToken', 'key', 'token']) secret(members[name] ?? '')
  return members
}

/** Methods and paths of all that the handlers mount. */
function allRoutes(): readonly (readonly [string, string])[] {
  const places: Readonly<Record<string, string>> = { workspace: shop.name, collection: 'articles', key: '1' }
  const addressOf = (path: string) => path.replaceAll(/:(\w+)/g, (_, name: string) => places[name] ?? randomUUID())
  const texts = readdirSync('handlers', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => readFileSync(`handlers/${name}`, 'utf8'))
  const mounted = texts
    .flatMap((file) => file.split(/\bmount\(/).slice(1))
    .flatMap((text) => {
      const path = /^\s*\w+,\s*'([^']+)'/.exec(text)?.[1]
      if (path === undefined) return []
      return [...text.matchAll(/\b(GET|POST|PUT|PATCH|DELETE):/g)].map(
        ([, method = '']) => [method, addressOf(path)] as const,
      )
    })
  // A family is listed and created at its path, and its members are below it (handlers/http/resource.ts).
  const families = texts
    .flatMap((file) => file.split(/\bmountResource\(/).slice(1))
    .flatMap((text) => /^app, \{\s*path: '([^']+)'/.exec(text)?.[1] ?? [])
    .flatMap((path) => [
      ...['GET', 'POST'].map((method) => [method, addressOf(path)] as const),
      ...['GET', 'PATCH', 'DELETE'].map((method) => [method, addressOf(`${path}/:id`)] as const),
    ])
  return [...mounted, ...families]
}

/** Secrets in all places of a request where somebody may put one. */
function misuses(method: string, path: string): readonly Sending[] {
  const by = bearer(administrator.token)
  const inUrl: readonly Sending[] = [
    { method, path: `${path}?access_token=${canary()}` },
    { method, path: `${path}?a?access_token=${canary()}&access%5Ftoken=${canary()}` },
    { method, path: `${path}?password=${canary()}&token=${canary()}&refreshToken=${canary()}`, headers: by },
    { method, path, headers: bearer(canary()) },
    { method, path, headers: { Authorization: `Basic ${canary()}` } },
    { method, path, headers: { Cookie: `service_session=${canary()}; service_refresh=${canary()}` } },
  ]
  if (method === 'GET') return inUrl
  const all = {
    password: canary(),
    token: canary(),
    refreshToken: canary(),
    setupToken: canary(),
    config: { password: canary() },
  }
  const inBody: readonly unknown[] = [
    all,
    [all],
    canary(),
    `{"password": "${canary()}`,
    { credentials: { email: canary(), password: 1 }, mode: canary() },
    { email: { password: canary() }, name: { secret: canary() }, currentPassword: [canary()], newPassword: canary() },
  ]
  return [
    ...inUrl.slice(0, 3).map((one) => ({ ...one, body: all })),
    ...inBody.map((body) => ({ method, path, headers: by, body })),
    { method, path, headers: { ...by, 'Content-Type': 'text/plain' }, body: canary() },
  ]
}
