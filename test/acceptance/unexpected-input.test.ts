/**
 * What a route does not take is refused on every route, by the table of routes: parameters, bodies, and headers that it does not
 * read though they bind a request. The probes answer whatever comes.
 */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { isDeepStrictEqual } from 'node:util'
import { expect, it } from 'vitest'
import { type BindingHeader, bindingHeaders } from '../../handlers/http/unexpected-input.ts'
import { describedRoutes } from '../../handlers/openapi/routes.ts'
import { type Client, world } from '../support/service/world.ts'

const shop = await world.workspace('strays', { articles: { title: 'string' } })
const probes = ['GET /ping', 'GET /api/system/live', 'GET /api/system/ready']
/** Providers say what they like when they send somebody back. */
const callback = 'GET /api/auth/providers/{name}/callback'
const items = ['GET', 'POST', 'PATCH', 'DELETE'].map((method) => `${method} /api/{workspace}/items/{collection}`)
const item = ['GET', 'PATCH', 'DELETE'].map((method) => `${method} /api/{workspace}/items/{collection}/{key}`)
const changes = 'GET /api/{workspace}/items/{collection}/{key}/changes'
/** A file that a browser opens by whatever link leads to it; on workerd the service is not asked. */
const page = 'GET /'
/** `/metrics` is only where a variable opens it. */
const routes = [...Object.keys(describedRoutes), ...items, ...item, changes].filter((route) => route !== 'GET /metrics')

/** Bodies that get past the schema come to the query; all others are refused either way, which proves less. */
const bodies: Readonly<Record<string, unknown>> = {
  'POST /api/{workspace}/items/{collection}': [],
  'PATCH /api/{workspace}/items/{collection}': { title: 'changed' },
  'PATCH /api/{workspace}/items/{collection}/{key}': { title: 'changed' },
  'POST /api/{workspace}/schema/migrate': { operations: [] },
}

it('every route refuses a parameter that it does not know, naming it', async () => {
  const asked = routes.filter((route) => !probes.includes(route) && route !== callback && route !== page)
  const odd = await notRefusing(
    asked,
    (route) => send(route, { search: '?surprise=1', body: bodies[route] }),
    ({ source }) => source?.message === 'surprise',
  )

  expect(odd).toEqual([])
})

it.each([
  ['link', '/assets/{id}?link=x&link=x'],
  ['link', '/assets/{id}?link=x&lin%6b=x'],
  ['download', '/assets/{id}?download&download'],
  ['preset', '/assets/{id}?preset=64&preset=64'],
  ['fileName', '/assets?fileName=a&fileName=a'],
  ['fields', '/assets/{id}/restore?fields=id&fields=id'],
])('a parameter that is given twice is refused where files are read and written: %s of %s', async (name, place) => {
  const method = place.startsWith('/assets/{id}?') ? 'GET' : 'POST'
  const raw = place.startsWith('/assets?') ? 'text' : undefined

  const response = await shop.send(method, place.replace('{id}', randomUUID()), { raw })

  expect([response.status, await response.json()]).toMatchObject([422, { source: { message: name } }])
})

it.each([
  ['token', '/api/auth/password-reset/verify?token=x&token=x'],
  ['redirect', '/api/auth/providers/none/login?redirect=/&redirect=/'],
])('a parameter that is given twice is refused without a credential: %s', async (name, path) => {
  const response = await world.anonymous.get(path)

  expect([response.status, await response.json()]).toMatchObject([422, { source: { message: name } }])
})

it('every route refuses Act-As, or of nobody', async () => {
  const odd = await notRefusing(
    [...routes, 'GET /api/nowhere'],
    (route) => send(route, { headers: { 'Act-As': `user:${crypto.randomUUID()}` }, body: bodies[route] }),
    (refusal, route) => {
      const reason = /^GET .*\/items/.test(route)
        ? 'is nobody of this workspace'
        : 'is taken by GET and QUERY of items and aggregates alone'
      return isDeepStrictEqual(refusal, refusedHeader('Act-As', reason))
    },
  )

  expect(odd).toEqual([])
})

/** Who reads which header that binds a request. */
const readers: Readonly<Record<BindingHeader, readonly string[]>> = {
  'Idempotency-Key': [
    'POST /api/{workspace}/items',
    ...[...items, ...item].filter((route) => !route.startsWith('GET')),
  ],
  'If-Match': [
    ...['PATCH', 'DELETE'].map((method) => `${method} /api/{workspace}/items/{collection}/{key}`),
    'PUT /api/{workspace}/assets/{id}',
  ],
  'If-None-Match': [
    'GET /api/{workspace}/schema',
    'GET /api/{workspace}/openapi',
    'GET /api/{workspace}/access',
    'GET /api/{workspace}/assets/{id}',
    'GET /api/system/openapi',
    'GET /api/{workspace}/items/{collection}/{key}',
    'GET /api/{workspace}/items/{collection}',
    'QUERY /api/{workspace}/items/{collection}',
  ],
}
const query = 'QUERY /api/{workspace}/items/{collection}'

it.each(bindingHeaders)('every route that does not read %s refuses it', async (header) => {
  const asked = [...routes, query].filter(
    (route) => !probes.includes(route) && route !== page && !readers[header].includes(route),
  )
  const odd = await notRefusing(
    asked,
    (route) => send(route, { headers: { [header]: '"AAAAAAAAAAAAAAAAAAAAAA"' }, body: bodies[route] }),
    (refusal) => isDeepStrictEqual(refusal, refusedHeader(header, 'is not read by this route')),
  )

  expect(odd).toEqual([])
})

it('every route refuses a part of a body, whether it takes one or not', async () => {
  const asked = [...routes, query].filter((route) => !route.startsWith('GET '))
  const odd = await notRefusing(
    asked,
    (route) => send(route, { headers: { 'Content-Range': 'bytes 1-2/4' }, body: bodies[route] ?? {} }),
    (refusal) =>
      isDeepStrictEqual(refusal, refusedHeader('Content-Range', 'is taken by no route: a body counts as a whole')),
    400,
  )

  expect(odd).toEqual([])
})

const bodiless = [...routes, ...items, ...item].filter(
  (route) => route.startsWith('DELETE ') || /introspect\/\{source\}$|license\/refresh$/.test(route),
)

it('every route without a body refuses one that says something', async () => {
  const odd = await notRefusing(
    [...new Set(bodiless)],
    (route) => send(route, { body: { surprise: 1 } }),
    ({ source }) => source?.message.includes('unknown field surprise') === true,
  )

  expect(odd).toEqual([])
})

it.each([
  ['says how long it is', { 'Content-Length': '2' }],
  ['does not', { 'Transfer-Encoding': 'chunked' }],
])('GET refuses any body, where that %s', async (_, headers) => {
  const credential = { Authorization: `Bearer ${world.administrator.token}` }
  const sending = request(`${world.url}/api/${shop.name}/items/articles`, { headers: { ...credential, ...headers } })
  const answered = once(sending, 'response') as Promise<[IncomingMessage]>
  sending.end('{}')
  const [response] = await answered

  expect(response.statusCode).toBe(422)
  expect(await text(response)).toContain('Failed to read the request: body: must be empty')
})

it.each(probes)('%s answers whatever credential comes with it', async (route) => {
  const requests: { search?: string; headers?: Record<string, string> }[] = [
    { headers: { Authorization: 'Bearer nonsense' } },
    { headers: { Authorization: 'Basic bm9ib2R5' } },
    { headers: { Cookie: 'service_session=' } },
    { headers: { Cookie: 'service_session=one; service_session=two', Authorization: 'Bearer three' } },
    { search: '?access_token=' },
    { search: '?access_token=one&access_token=two' },
    { search: '?at=1732284512&a[[=' },
  ]

  const answers = await Promise.all(requests.map((request) => send(route, request, world.anonymous)))

  expect(answers.map(({ status }) => status)).toEqual(requests.map(() => 200))
})

type Refusal = { readonly source?: { readonly message: string } }

/** The routes that answer anything but `status` for that reason, each with what it answers. */
async function notRefusing(
  asked: readonly string[],
  ask: (route: string) => Promise<Response>,
  isRight: (refusal: Refusal, route: string) => boolean,
  status = 422,
): Promise<readonly string[]> {
  expect(asked.length).toBeGreaterThan(0)
  const odd: string[] = []
  for (const route of asked) {
    const response = await ask(route)
    const text = await response.text()
    if (response.status !== status || !isRight(JSON.parse(text) as Refusal, route)) {
      odd.push(`${route}: ${response.status} ${text}`)
    }
  }
  return odd
}

function refusedHeader(header: string, reason: string): unknown {
  return {
    message: `Failed to read the headers: ${header}: ${reason}`,
    source: { message: header, source: { message: reason } },
  }
}

type Sent = { readonly search?: string; readonly headers?: Record<string, string>; readonly body?: unknown }

function send(
  route: string,
  { search = '', headers, body }: Sent,
  by: Client = world.administrator,
): Promise<Response> {
  const [method = '', path = ''] = route.split(' ')
  const address = path
    .replace('{workspace}', shop.name)
    .replace('{collection}', 'articles')
    .replace('{key}', '1')
    .replace('{file}', 'reference.js')
    .replace(/\{\w+\}/g, crypto.randomUUID())
  const isSent = body !== undefined || method === 'POST' || method === 'PATCH'
  return by.send(method, address + search, {
    ...(headers !== undefined && { headers }),
    ...(isSent && { body: body ?? {} }),
  })
}
