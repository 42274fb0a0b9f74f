/** docs/contract.md#errors: one error body everywhere, and nothing in it that is not the caller's business. */
import { gzipSync } from 'node:zlib'
import { beforeAll, expect, it } from 'vitest'
import { type Workspace, world } from '../support/service/world.ts'

const MEBIBYTE = 1024 * 1024
let shop: Workspace

beforeAll(async () => {
  shop = await world.workspace('shop', { articles: { title: 'string' } })
})

it.each([
  ['text that is not JSON', '[{"title": ', 'is not JSON: line 1, column 12'],
  ['an empty body', '', 'is empty'],
])('answers 422 for %s', async (_, body, reason) => {
  const response = await shop.send('POST', '/items/articles', { body })

  expect(response.status).toBe(422)
  expect(await response.json()).toEqual({
    message: `Failed to read the JSON body: ${reason}`,
    source: { message: reason },
  })
})

it('answers 422 for bytes that are not UTF-8', async () => {
  const response = await fetch(`${world.url}/api/${shop.name}/items/articles`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${world.administrator.token}`, 'Content-Type': 'application/json' },
    body: new Uint8Array([0x5b, 0x22, 0xff, 0x22, 0x5d]),
  })

  expect(response.status).toBe(422)
  expect(await response.json()).toMatchObject({ source: { message: 'is not UTF-8' } })
})

it.each(['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp', ''])(
  'answers 415 for a body of the type "%s"',
  async (type) => {
    const response = await shop.send('POST', '/items/articles', {
      body: '[{"title":"Lamp"}]',
      headers: { 'Content-Type': type },
    })

    expect(response.status).toBe(415)
    expect(await response.json()).toEqual({ message: 'The body must be application/json' })
  },
)

it.each(['gzip', 'br', 'identity, gzip'])('answers 415 for a body that is packed by %s', async (encoding) => {
  const response = await fetch(`${world.url}/api/${shop.name}/items/articles`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${world.administrator.token}`,
      'Content-Type': 'application/json',
      'Content-Encoding': encoding,
    },
    body: gzipSync(JSON.stringify([{ title: 'x'.repeat(20 * MEBIBYTE) }])),
  })

  expect(response.status).toBe(415)
  expect(await response.json()).toEqual({ message: 'The body must not be compressed' })
})

it('takes a body of application/json with a charset', async () => {
  const response = await shop.send('POST', '/items/articles', {
    body: '[{"title":"Lamp"}]',
    headers: { 'Content-Type': 'application/json; charset=utf-8' },
  })

  expect(response.status).toBe(200)
})

it('answers 413 for 20 MB whose length is said', async () => {
  const response = await shop.post('/items/articles', [{ title: 'x'.repeat(20 * MEBIBYTE) }])

  expect(response.status).toBe(413)
  expect(await response.json()).toEqual({ message: 'The body is larger than 4194304 bytes' })
})

it('answers 413 for 20 MB in chunks whose length is not said, and serves the next request', async () => {
  const response = await sendChunks(Array<string>(20).fill('x'.repeat(MEBIBYTE)))
  const next = await shop.get('/items/articles?limit=1')

  expect(response.status).toBe(413)
  expect(await response.json()).toEqual({ message: 'The body is larger than 4194304 bytes' })
  expect(next.status).toBe(200)
})

it.each([
  ['PUT', '/ping', 'GET, HEAD'],
  ['GET', '/api/auth/login', 'POST'],
  ['DELETE', '/api/system/workspaces', 'GET, HEAD, POST'],
  ['PUT', '/api/somewhere/items/articles/1', 'GET, HEAD, PATCH, DELETE'],
  ['GET', '/api/somewhere/schema/migrate', 'POST'],
])('answers 405 to %s %s and says what is allowed', async (method, path, allow) => {
  const response = await world.administrator.send(method, path)

  expect(response.status).toBe(405)
  expect(response.headers.get('Allow')).toBe(allow)
  expect(await response.json()).toMatchObject({ message: expect.any(String) })
})

it('answers HEAD like GET without the body', async () => {
  const response = await shop.send('HEAD', '/items/articles')

  expect(response.status).toBe(200)
  expect(await response.text()).toBe('')
})

it('says at / where the documents are', async () => {
  const response = await world.anonymous.get('/')

  const { documents } = (await response.json()) as { documents: { openapi: string; page: string } }
  expect(response.status).toBe(200)
  expect((await world.administrator.get(documents.openapi)).status).toBe(200)
  expect((await world.anonymous.get(documents.page)).status).toBe(200)
})

it.each(['/api', '/api/system/nothing', '/api/auth/nothing', '/favicon.ico', '/api/system/projects/1'])(
  'answers 404 with a JSON body at %s',
  async (path) => {
    const response = await world.administrator.get(path)

    expect(response.status).toBe(404)
    expect(await response.json()).toEqual({ message: 'Not found' })
  },
)

it.each([
  ['a success', '/ping', 200],
  ['a refusal', '/api/system/api-keys', 403],
  ['an unknown address', '/nothing', 404],
  ['a bad credential', '/api/system/info?access_token=', 401],
])('has X-Request-Id on %s, another one each time', async (_, path, status) => {
  const [one, other] = [await world.anonymous.get(path), await world.anonymous.get(path)]

  expect([one.status, other.status]).toEqual([status, status])
  expect(one.headers.get('X-Request-Id')).toMatch(/^[\da-f-]{36}$/)
  expect(one.headers.get('X-Request-Id')).not.toBe(other.headers.get('X-Request-Id'))
})

it('lets no cache keep an answer', async () => {
  const [success, refusal] = [await shop.get('/items/articles'), await shop.anonymous.get('/items/articles')]

  expect(success.headers.get('Cache-Control')).toBe('no-store')
  expect(refusal.headers.get('Cache-Control')).toBe('no-store')
})

it.each([
  ['an unknown field', '/items/articles?fields=colour'],
  ['a wrong operand', '/items/articles?filter[id][_eq]=x'],
  ['a quote in every place', `/items/art'icles?fields="'&filter['"][_eq]='`],
  ['an unknown workspace', '/../nowhere/items/articles'],
  ['a missing item', '/items/articles/999'],
])('tells nothing of its inside for %s: no stack, no SQL, no file, no host', async (_, path) => {
  const response = await shop.get(path)

  const text = await response.text()
  expect(response.status).toBeGreaterThanOrEqual(400)
  expect(response.status).toBeLessThan(500)
  expect(text).not.toMatch(/select|from "|service_|\bat |\.ts|node_modules|127\.0\.0\.1|localhost|postgres/i)
})

it('refuses members that would change prototypes', async () => {
  const response = await shop.send('POST', '/items/articles', {
    body: '[{"title": "Lamp", "__proto__": {"isAdministrator": true}}]',
  })
  const query = await shop.get('/items/articles?filter[__proto__][title][_eq]=Lamp')

  expect([response.status, query.status]).toEqual([422, 422])
})

function sendChunks(chunks: readonly string[]): Promise<Response> {
  const left = chunks.map((chunk) => new TextEncoder().encode(chunk))
  const pull = (controller: ReadableStreamDefaultController<Uint8Array>) => {
    const chunk = left.pop()
    if (chunk === undefined) controller.close()
    else controller.enqueue(chunk)
  }
  // The types of a Worker's fetch do not know `duplex`, which Node wants for a body that is a stream.
  const init = {
    method: 'POST',
    headers: { Authorization: `Bearer ${world.administrator.token}`, 'Content-Type': 'application/json' },
    body: new ReadableStream({ pull }),
    duplex: 'half',
  }
  return fetch(`${world.url}/api/${shop.name}/items/articles`, init as RequestInit)
}
