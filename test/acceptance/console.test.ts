/** The console as it is served (docs/contract.md#the-console): its page, its files, and who is answered by which. */
import { expect, it } from 'vitest'
import { world } from '../support/service/world.ts'

/** What browsers send. */
const browser = { Accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' }

const get = (path: string, headers: Readonly<Record<string, string>> = browser, method = 'GET') =>
  fetch(`${world.url}${path}`, { method, headers })

const filesOf = (page: string) => [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path = '']) => path)

it.each([
  ['/'],
  ['/?theme=dark'],
  ['/-/components'],
  ['/shop/items/articles'],
  ['/shop/items/files/a.name.js'],
  ['/shop/%D8%B9%D8%B1%D8%A8%D9%8A'],
])('shows a browser the page at %s', async (path) => {
  const response = await get(path)

  expect(response.status).toBe(200)
  expect(Object.fromEntries(response.headers)).toMatchObject({
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-cache',
    'content-security-policy':
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; media-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    vary: expect.stringContaining('Accept'),
  })
  expect(response.headers.getSetCookie()).toEqual([])
  expect(await response.text()).toMatch(/^<!doctype html>/)
})

it('has nothing inline in the page, and nothing of another origin', async () => {
  const page = await (await get('/')).text()

  expect(page).not.toMatch(/<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)|<base/)
  expect(filesOf(page).filter((path) => !/^\/-\/assets\/\w+-[\w-]{8,}\.(js|css|svg)$/.test(path))).toEqual([])
})

it('says of a page that a browser still has that it is the same', async () => {
  const page = await get('/')

  const again = await get('/somewhere', { ...browser, 'If-None-Match': page.headers.get('ETag') ?? '' })

  expect(again.status).toBe(304)
  expect(again.headers.get('Content-Security-Policy')).toBe(page.headers.get('Content-Security-Policy'))
})

it('serves the files of the page, to be kept for ever', async () => {
  const files = filesOf(await (await get('/')).text())
  const responses = await Promise.all(files.map((path) => get(path, { Accept: '*/*', 'Accept-Encoding': 'identity' })))

  expect(files.length).toBeGreaterThanOrEqual(2)
  expect(responses.map((response) => [response.status, response.headers.get('Cache-Control')])).toEqual(
    files.map(() => [200, 'public, max-age=31536000, immutable']),
  )
  expect(responses.map(({ headers }) => headers.get('X-Content-Type-Options'))).toEqual(files.map(() => 'nosniff'))
  expect(responses.map(({ headers }) => headers.get('ETag'))).toEqual(files.map(() => expect.stringMatching(/^"/)))
})

it('answers 304 for a file that a browser has', async () => {
  const [path = ''] = filesOf(await (await get('/')).text())
  const first = await get(path, {})

  const again = await get(path, { 'If-None-Match': first.headers.get('ETag') ?? '' })

  expect(again.status).toBe(304)
})

it.runIf(world.platform === 'node').each(['br', 'gzip'])('compresses files by %s on Node', async (coding) => {
  const path = filesOf(await (await get('/')).text()).find((name) => name.endsWith('.js')) ?? ''
  const plain = await get(path, { 'Accept-Encoding': 'identity' })

  const response = await get(path, { 'Accept-Encoding': coding })

  expect(response.headers.get('Content-Encoding')).toBe(coding)
  expect(response.headers.get('Vary')).toBe('Accept-Encoding')
  expect(response.headers.get('ETag')).not.toBe(plain.headers.get('ETag'))
  expect(await response.text()).toBe(await plain.text())
})

it.each([
  ['/-/assets/index-00000000.js', { Accept: '*/*' }],
  ['/-/assets/index-00000000.js', browser],
  ['/assets/index-00000000.js', browser],
  ['/index-00000000.css', { Accept: 'text/css,*/*;q=0.1' }],
  ['/favicon.ico', browser],
  ['/-/assets/../../package.json', browser],
  ['/-/assets/%2e%2e%2findex.html', browser],
])('answers 404 and no page at %s', async (path, headers) => {
  const response = await get(path, headers)

  expect(response.status).toBe(404)
  expect(await response.text()).not.toContain('<!doctype')
})

it.each(['/console.html', '/connectors.json', '/transliteration.json', '/system-openapi.json', '/reference.js'])(
  'has no file at %s',
  async (path) => {
    expect((await get(path, { Accept: '*/*' })).status).toBe(404)
    expect((await get(path)).status).toBe(404)
  },
)

it('answers programs at / as before', async () => {
  const responses = await Promise.all([
    get('/', {}),
    get('/', { Accept: 'application/json' }),
    get('/', { Accept: '*/*' }),
  ])

  expect(responses.map(({ status }) => status)).toEqual([200, 200, 200])
  expect(await Promise.all(responses.map((response) => response.json()))).toEqual(
    responses.map(() => expect.objectContaining({ info: '/api/system/info' })),
  )
  expect(responses.map(({ headers }) => headers.get('Vary'))).toEqual(responses.map(() => 'Accept'))
})

it.each(['/api/system/info', '/api/nothing', '/api', '/ping'])(
  'answers JSON to browsers as well at %s',
  async (path) => {
    const response = await get(path)

    expect(response.headers.get('Content-Type')).toBe('application/json')
  },
)

it.each([
  ['no method but GET and HEAD', 'POST', browser],
  ['no text/html', 'GET', { Accept: 'text/html;q=0, application/json' }],
])('shows no page with %s', async (_, method, headers) => {
  const response = await get('/shop/items/articles', headers, method)

  expect(response.status).toBe(404)
  expect(await response.json()).toEqual({ message: 'Not found' })
})

it('answers HEAD like GET without the page', async () => {
  const response = await get('/shop/items/articles', browser, 'HEAD')

  expect(response.status).toBe(200)
  expect(response.headers.get('Content-Type')).toBe('text/html; charset=utf-8')
  expect(await response.text()).toBe('')
})
