/**
 * docs/contract.md#other-origins: CORS as configured, never with credentials for everybody, and what every answer tells
 * browsers.
 */
import { expect, it } from 'vitest'
import { world } from '../support/service/world.ts'

const allowed = 'https://app.example.com'

function ask(method: string, headers: Record<string, string>) {
  return fetch(`${world.url}/api/system/info`, { method, headers })
}

function corsOf({ headers }: Response) {
  return Object.fromEntries([...headers].filter(([name]) => name.startsWith('access-control-') || name === 'vary'))
}

it('lets a page of a configured origin read an answer, with its cookies', async () => {
  expect(corsOf(await ask('GET', { Origin: allowed }))).toEqual({
    'access-control-allow-origin': allowed,
    'access-control-allow-credentials': 'true',
    'access-control-expose-headers':
      'Accept-Query, ETag, Idempotency-Replayed, Link, Retry-After, Server-Timing, X-Request-Id',
    vary: 'Origin',
  })
})

it.each([
  ['another', 'https://evil.example.com'],
  ['one that only begins the same', 'https://app.example.com.evil.example'],
  ['the same at another port', 'https://app.example.com:8443'],
  ['the same without TLS', 'http://app.example.com'],
  ['none', 'null'],
])('lets no page of %s origin read it', async (_, origin) => {
  expect(corsOf(await ask('GET', { Origin: origin }))).toEqual({ vary: 'Origin' })
})

it('tells no cache that an answer is for all origins', async () => {
  expect(corsOf(await ask('GET', {}))).toEqual({ vary: 'Origin' })
})

it('says beforehand what a page may send', async () => {
  const response = await ask('OPTIONS', { Origin: allowed, 'Access-Control-Request-Method': 'PATCH' })

  expect(response.status).toBe(204)
  expect(corsOf(response)).toMatchObject({
    'access-control-allow-origin': allowed,
    'access-control-allow-methods': 'GET, HEAD, QUERY, POST, PUT, PATCH, DELETE',
    'access-control-allow-headers': expect.stringContaining('Authorization'),
    'access-control-max-age': '600',
  })
})

it('lets a page read what was wrong', async () => {
  const response = await fetch(`${world.url}/api/nowhere/items/things`, { headers: { Origin: allowed } })

  expect(response.status).toBe(404)
  expect(response.headers.get('Access-Control-Allow-Origin')).toBe(allowed)
})

it('knows no OPTIONS otherwise', async () => {
  expect((await ask('OPTIONS', { Origin: allowed })).status).toBe(405)
})

it('tells browsers to guess nothing, to keep nothing and to hand nothing to other pages', async () => {
  const { headers } = await ask('GET', {})

  expect(headers.get('X-Content-Type-Options')).toBe('nosniff')
  expect(headers.get('Cross-Origin-Resource-Policy')).toBe('same-origin')
  expect(headers.get('Cache-Control')).toBe('no-store')
})

it('says how long signing in, planning and the source took', async () => {
  const { headers } = await ask('GET', {})

  expect(headers.get('Server-Timing')).toMatch(/^auth;dur=[\d.]+, plan;dur=[\d.]+, source;dur=[\d.]+$/)
})
