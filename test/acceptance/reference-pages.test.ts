/**
 * docs/contract.md#openapi: the reference pages, public shells from our own origin; the documents behind them need
 * credentials.
 */
import { expect, it } from 'vitest'
import { world } from '../support/service/world.ts'

it.each(['/api/system/docs', '/api/shop/docs', '/api/no_such_workspace/docs'])(
  'answers a page at %s to anybody',
  async (path) => {
    const response = await world.anonymous.get(path)
    const page = await response.text()

    expect(response.status).toBe(200)
    expect(response.headers.get('Content-Type')).toBe('text/html; charset=utf-8')
    expect(page).toContain('<title>API reference</title>')
  },
)

it('lets no script run but those of our own origin, and no other page around it', async () => {
  const response = await world.anonymous.get('/api/system/docs')
  const page = await response.text()
  const policy = response.headers.get('Content-Security-Policy') ?? ''

  expect(policy.split('; ')).toEqual(
    expect.arrayContaining(["default-src 'none'", "script-src 'self'", "connect-src 'self'", "frame-ancestors 'none'"]),
  )
  expect(policy).not.toMatch(/unsafe-eval|script-src[^;]*unsafe-inline|https?:|\*/)
  expect(page).not.toMatch(/<script(?![^>]*\bsrc=)|\son\w+=|javascript:|https?:/i)
  expect(response.headers.get('Referrer-Policy')).toBe('no-referrer')
})

it('serves every file that the page names, as what it is', async () => {
  const page = await (await world.anonymous.get('/api/system/docs')).text()
  const files = [...page.matchAll(/(?:src|href)="\.\.\/system\/docs\/([^"]+)"/g)].map(([, name = '']) => name)

  const answers = await Promise.all(files.map((name) => world.anonymous.get(`/api/system/docs/${name}`)))

  expect(files).toEqual(['swagger-ui.css', 'reference.css', 'swagger-ui-bundle.js', 'reference.js'])
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
  expect(answers.map(({ headers }) => headers.get('Content-Type')?.split(';')[0])).toEqual([
    'text/css',
    'text/css',
    'text/javascript',
    'text/javascript',
  ])
  expect(answers.map(({ headers }) => headers.get('X-Content-Type-Options'))).toEqual(Array(4).fill('nosniff'))
})

it.each(['reference.html', 'connectors.json', 'toString', '..%2f..%2fpackage.json', '%2e%2e/package.json'])(
  'serves no file %s',
  async (name) => {
    expect((await world.anonymous.get(`/api/system/docs/${name}`)).status).toBe(404)
  },
)
