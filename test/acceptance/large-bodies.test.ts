/**
 * Whoever is refused while they are still sending gets the answer to read: a connection that ends early would be taken for
 * broken. Spoken on the socket, since clients differ in whether they read before they have sent everything.
 */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startWorkerd, type Workerd } from '../../scripts/workerd.ts'
import { type Workspace, world } from '../support/service/world.ts'

const MEBIBYTE = 1024 * 1024
const piece = Buffer.alloc(MEBIBYTE / 4, 'x')

/** The instance as clients meet it. Workers have a proxy before them, which takes in what the Worker does not read. */
let url = world.url
let replica: Workerd | undefined

beforeAll(async () => {
  if (world.platform === 'node') return
  replica = await startWorkerd({ variables: world.variables, host: '127.0.0.1', port: 0, onLog: () => {} })
  url = replica.url
})

afterAll(() => replica?.close())

let shop: Workspace
const workspace = async () => {
  shop ??= await world.workspace('large_bodies', { articles: { title: 'string' } })
  return shop
}

type Upload = {
  readonly path: string
  readonly headers: readonly string[]
  readonly pieces: number
  /** Milliseconds between pieces, so that the whole takes longer than a moment. */
  readonly delay: number
  readonly isChunked: boolean
}

/** Sends all of a body without reading, then reads. Rejects where the connection ends before everything was sent. */
async function send({ path, headers, pieces, delay, isChunked }: Upload): Promise<string> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  socket.pause()
  const length = isChunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${pieces * piece.length}`
  const head = [`POST ${path} HTTP/1.1`, `Host: ${hostname}:${port}`, length, ...headers]
  await write(socket, `${head.join('\r\n')}\r\n\r\n`)
  for (let sent = 0; sent < pieces; sent += 1) {
    if (isChunked) await write(socket, `${piece.length.toString(16)}\r\n`)
    await write(socket, piece)
    if (isChunked) await write(socket, '\r\n')
    await pause(delay)
  }
  if (isChunked) await write(socket, '0\r\n\r\n')
  let answer = ''
  socket.setEncoding('utf8').on('data', (said: string) => {
    answer += said
  })
  socket.resume()
  await expect.poll(() => answer).toMatch(/^HTTP\/1\.1 [\s\S]*\r\n\r\n[\s\S]*\}/)
  socket.destroy()
  return answer
}

function write(socket: Socket, data: string | Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once('error', reject)
    socket.write(data, (error) => {
      socket.off('error', reject)
      if (error) reject(error)
      else resolve()
    })
  })
}

const json = 'Content-Type: application/json'
const bearer = () => `Authorization: Bearer ${world.administrator.token}`

it.each([
  ['24 MiB at once, their length said', 96, 0, false],
  ['24 MiB at once, in chunks', 96, 0, true],
  ['6 MiB slowly, their length said', 24, 100, false],
  ['6 MiB slowly, in chunks', 24, 100, true],
])('answers 413 to somebody who sends %s', async (_what, pieces, delay, isChunked) => {
  const { name } = await workspace()
  const headers = [json, bearer()]

  const answer = await send({ path: `/api/${name}/items/articles`, headers, pieces, delay, isChunked })

  expect(answer).toMatch(/^HTTP\/1\.1 413 /)
  expect(answer).toContain('The body is larger than 4194304 bytes')
})

it('answers 413 to somebody who wants no further answer on the connection', async () => {
  const { name } = await workspace()
  const headers = [json, bearer(), 'Connection: close']

  const answer = await send({ path: `/api/${name}/items/articles`, headers, pieces: 24, delay: 60, isChunked: false })

  expect(answer).toMatch(/^HTTP\/1\.1 413 /)
})

it.each([
  ['a bad token', 401, () => [json, 'Authorization: Bearer nonsense'], 'Invalid token'],
  ['a path that leads nowhere', 404, () => [json, bearer()], 'Workspace does not exist'],
  ['another content type', 415, () => ['Content-Type: text/plain', bearer()], 'must be application/json'],
  ['a larger migration than allowed', 413, () => [json, bearer()], 'larger than 1048576 bytes'],
])('lets somebody with %s read why, too: %i', async (what, status, headers, told) => {
  const { name } = await workspace()
  const found = what.includes('nowhere') ? 'nowhere' : name
  const path = what.includes('migration') ? `/api/${name}/schema/migrate` : `/api/${found}/items/articles`

  const answer = await send({ path, headers: headers(), pieces: 24, delay: 60, isChunked: false })

  expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
  expect(answer).toContain(told)
})

it('answers 413 to somebody who asks before sending, by Expect: 100-continue, whether asked for the body or not', async () => {
  const { name } = await workspace()
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  const head = [
    `POST /api/${name}/items/articles HTTP/1.1`,
    `Host: ${hostname}:${port}`,
    json,
    bearer(),
    'Content-Length: 6291456',
    'Expect: 100-continue',
  ]
  socket.write(`${head.join('\r\n')}\r\n\r\n`)
  let answer = ''
  socket.setEncoding('utf8').on('data', (said: string) => {
    answer += said
    if (said.startsWith('HTTP/1.1 100 ')) for (let sent = 0; sent < 24; sent += 1) socket.write(piece)
  })

  await expect.poll(() => answer).toMatch(/HTTP\/1\.1 413 [\s\S]*larger than 4194304 bytes/)
  socket.destroy()
})

it.each([
  ['items', 413, bearer],
  ['schema/migrate', 413, bearer],
  ['items/articles', 401, () => 'Authorization: Bearer nonsense'],
])('ends the connection of somebody who never ends a body: %s, %i', async (route, status, authorization) => {
  const { name } = await workspace()

  const { answer, sent } = await sendForEver(`/api/${name}/${route}`, [json, authorization()])

  expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
  expect(sent).toBeLessThan(AT_MOST)
})

/** Far more than is taken in, and sent within a second or two. */
const AT_MOST = 1024 * MEBIBYTE

/** Sends chunks, and reads meanwhile, until the connection ends or more has been taken in than may be. */
async function sendForEver(path: string, headers: readonly string[]) {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  let answer = ''
  let sent = 0
  socket.setEncoding('utf8').on('data', (said: string) => {
    answer += said
  })
  const head = [`POST ${path} HTTP/1.1`, `Host: ${hostname}:${port}`, 'Transfer-Encoding: chunked', ...headers]
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.write(`${head.join('\r\n')}\r\n\r\n`)
  const chunk = Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n')])
  while (!socket.destroyed && sent < AT_MOST) {
    await write(socket, chunk).catch(() => {})
    sent += piece.length
  }
  socket.destroy()
  return { answer, sent }
}

it.each([
  ['a host of two words', 'GET /ping HTTP/1.1\r\nHost: a b'],
  ['a host with a name of somebody', 'GET /ping HTTP/1.1\r\nHost: a@b'],
  ['a host with a path', 'GET /ping HTTP/1.1\r\nHost: a/b'],
  ['a port above all', 'GET /ping HTTP/1.1\r\nHost: a:99999'],
  ['no path', 'GET * HTTP/1.1\r\nHost: a'],
  ['no path of OPTIONS', 'OPTIONS * HTTP/1.1\r\nHost: a'],
])('answers 400 in its own form to a request with %s', async (_what, head) => {
  const answer = await speak(`${head}\r\nConnection: close\r\n\r\n`)

  expect(answer).toMatch(/^HTTP\/1\.1 400 [\s\S]*{"message":"Invalid request"}/)
})

it.each([
  ['GET', 'a length', 'Content-Length: 2\r\n\r\n{}'],
  ['GET', 'no bytes', 'Content-Length: 0\r\n\r\n'],
  ['GET', 'chunks', 'Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n'],
  ['HEAD', 'a length', 'Content-Length: 2\r\n\r\n{}'],
])('answers a %s with a body of %s as one without', async (method, _what, rest) => {
  expect(await speak(`${method} /ping HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${rest}`)).toMatch(/^HTTP\/1\.1 200 /)
})

/** Bytes as they are, and whatever comes back until the server hangs up. */
async function speak(sent: string): Promise<string> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.write(sent)
  return text(socket)
}

it('serves the next request of a connection whose last one was refused', async () => {
  const { name } = await workspace()

  const articles = `${url}/api/${name}/items/articles`
  const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${world.administrator.token}` }

  const refused = await fetch(articles, {
    method: 'POST',
    headers,
    body: JSON.stringify([{ title: 'x'.repeat(20 * MEBIBYTE) }]),
  })
  await refused.text()

  expect(refused.status).toBe(413)
  expect((await fetch(articles, { headers })).status).toBe(200)
})
