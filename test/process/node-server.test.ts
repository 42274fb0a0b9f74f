/** What only HTTP itself can get wrong is answered like every other fault; long addresses are read, not cut off. */
import { randomBytes } from 'node:crypto'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startNode } from '../../handlers/node.ts'
import type { Drawing } from '../support/data/model-sketch.ts'
import { generousLicense } from '../support/service/license.ts'
import { type NodeService, startService } from '../support/service/node-service.ts'

const library: Drawing = {
  collections: {
    authors: { id: 'int32', name: 'string?' },
    books: { id: 'uuid', authorId: 'int32?' },
    logs: { authorId: 'int32?', line: 'string?' },
  },
  keys: { logs: [] },
  relations: ['books.author(authorId) -> authors.books', 'logs.author(authorId) -> authors.logs'],
}

/** Where Node tells of each request that arrives. */
const STARTED = 'http.server.request.start'

const secret = randomBytes(32).toString('base64url')

let service: NodeService

beforeAll(async () => {
  service = await startService('library', library, { SERVICE_SECRET: secret })
  await service.send('POST', 'authors', [{ id: 1 }])
})

afterAll(() => service?.close())

describe('an address', () => {
  it('may name a thousand values', async () => {
    const ids = Array.from(
      { length: 1_000 },
      (_, index) => `00000000-0000-0000-0000-${String(index).padStart(12, '0')}`,
    )
    const search = ids.map((id) => `filter[id][_in][]=${id}`).join('&')

    expect(await service.send('GET', `books?${search}`)).toEqual({ status: 200, body: { data: [] } })
  })

  it('that is too long for a query is refused by the query', async () => {
    const answer = await service.send('GET', `books?filter[id]=${'x'.repeat(70_000)}`)

    expect(answer).toMatchObject({
      status: 422,
      body: { message: expect.stringContaining('Failed to execute query: ') },
    })
  })

  it.each([
    ['with a backslash', '/api/library/items/books/\\'],
    ['that is none', 'http://[/'],
    ['that is too long for any', `/${'x'.repeat(300_000)}`],
  ])('%s is an invalid request', async (_what, path) => {
    const answer = await speak(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`)

    expect(answer).toMatch(/^HTTP\/1\.1 400 /)
    expect(answer).toContain('{"message":"Invalid request"}')
  })
})

it('says nothing to pages of other origins unless it is told to', async () => {
  const headers = { Origin: 'https://app.example.com', 'Access-Control-Request-Method': 'GET' }
  const answers = await Promise.all(
    ['GET', 'OPTIONS'].map((method) => fetch(`${service.url}/api/system/info`, { method, headers })),
  )

  expect(answers.map(({ status }) => status)).toEqual([200, 405])
  for (const answer of answers) {
    expect([...answer.headers.keys()].filter((name) => name.startsWith('access-control-'))).toEqual([])
  }
})

describe('what is no HTTP', () => {
  it.each([
    ['a wrong first line', 'HELLO\r\n\r\n'],
    ['what is meant for a proxy', 'CONNECT localhost:80 HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['no host', 'GET /ping HTTP/1.1\r\nConnection: close\r\n\r\n'],
    [
      'two lengths',
      'POST /api/library/items/books HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n[]',
    ],
    [
      'two lengths that differ',
      'POST /api/library/items/books HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n[]',
    ],
    ['a length below nothing', 'POST /api/library/items/books HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n[]'],
    [
      'a chunk that is longer than it says',
      'POST /api/auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n[1234]\r\n0\r\n\r\n',
    ],
  ])('is an invalid request: %s', async (_what, sent) => {
    const answer = await speak(sent)

    expect(answer).toMatch(/^HTTP\/1\.1 400 /)
    expect(answer).toContain('{"message":"Invalid request"}')
  })
})

it('what is no HTTP is answered behind the requests that came before it', async () => {
  const request = `GET ${service.items}authors/1 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${service.token}\r\n\r\n`
  const answer = await speak(`${request}${request}HELLO\r\n\r\nHELLO\r\n\r\n`)

  expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200', 'HTTP/1.1 400'])
})

describe('a body of more than 4 MiB', () => {
  const large = `[{"id":1,"name":"${'x'.repeat(5 * 2 ** 20)}"}]`

  it.each([
    ['says so', () => large],
    ['does not say so', () => new Blob([large]).stream()],
  ])('that %s is too large', async (_how, body) => {
    const response = await fetch(`${service.url}${service.items}authors`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${service.token}`, 'Content-Type': 'application/json' },
      body: body(),
      duplex: 'half',
    } as RequestInit)

    expect(response.status).toBe(413)
    expect(await response.json()).toEqual({ message: 'The body is larger than 4194304 bytes' })
    expect(await service.send('GET', 'authors/1')).toMatchObject({ status: 200 })
  })
})

describe('where memory is short', () => {
  const large = 'logs?fields=line&limit=3'
  /** Has room for one of those. */
  const startSmall = async () =>
    startNode({
      environment: {
        ...(await generousLicense()),
        SERVICE_SECRET: secret,
        SERVICE_DATABASE_URL: service.databaseUrl,
        PORT: '0',
        SERVICE_FILES__STORE: 'database',
      },
      observe: () => {},
      answerRoom: 16 * 2 ** 20,
      bodyRoom: 4 * 2 ** 20,
    })
  let small: Awaited<ReturnType<typeof startSmall>>

  beforeAll(async () => {
    small = await startSmall()
    const line = 'x'.repeat(4_000_000)
    for (const authorId of [1, 1, null]) {
      expect(await service.send('POST', 'logs', [{ authorId, line }])).toMatchObject({ status: 200 })
    }
  })

  afterAll(() => small?.close())

  const ask = (path: string, init: RequestInit = {}) => {
    const headers = { Authorization: `Bearer ${service.token}`, 'Content-Type': 'application/json' }
    return fetch(small.url + service.items + path, { ...init, headers })
  }
  const hold = async () => {
    const { hostname, port } = new URL(small.url)
    const socket = connect(Number(port), hostname)
    const head = `GET ${service.items}${large} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n`
    socket.write(`${head}Authorization: Bearer ${service.token}\r\n\r\n`)
    await once(socket, 'readable')
    return socket
  }

  it('an answer that nobody takes leaves no room for another large one of a read', async () => {
    const holder = await hold()
    const refused = await ask(large)

    expect([refused.status, refused.headers.get('retry-after'), await refused.json()]).toEqual([
      503,
      '2',
      {
        message: 'The service is busy: other bodies and answers have taken its memory',
        code: '5008',
        meta: { retryAfter: 2 },
      },
    ])
    expect((await ask('logs?fields=authorId')).status).toBe(200)
    await text(holder)
    const taken = await ask(large)
    expect(taken.status).toBe(200)
    expect((await taken.text()).length).toBeGreaterThan(12_000_000)
  })

  it('an answer that nobody takes is cut off where a write has been done and needs the room', async () => {
    const holder = await hold()
    const isCut = once(holder, 'close')
    const done = await ask('logs?filter[authorId]=1&fields=line', { method: 'PATCH', body: '{"authorId":1}' })

    expect(done.status).toBe(200)
    expect((await done.text()).length).toBeGreaterThan(8_000_000)
    holder.resume()
    await isCut
  })

  it('what is sent behind an answer that nobody takes is not begun', async () => {
    const { hostname, port } = new URL(small.url)
    const socket = connect(Number(port), hostname)
    const common = `HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${service.token}\r\n`
    const body = '[{"id":88,"name":"Behind"}]'
    const entity = `Content-Type: application/json\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`
    socket.write(`GET ${service.items}${large} ${common}\r\nPOST ${service.items}authors ${common}${entity}`)
    await once(socket, 'readable')
    const made = async () => (await ask('authors?filter[name]=Behind&fields=name')).json()

    expect(await made()).toEqual({ data: [] })
    expect((await text(socket)).match(/HTTP\/1\.1 200/g)).toHaveLength(2)
    expect(await made()).toEqual({ data: [{ name: 'Behind' }] })
  })

  it('a body that does not go on is given up in favour of others', async () => {
    const { hostname, port } = new URL(small.url)
    const stalled = connect(Number(port), hostname)
    const refused = text(stalled)
    const head = `POST ${service.items}authors HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${service.token}\r\nContent-Type: application/json\r\n`
    const sent = `${head}Connection: close\r\nContent-Length: 2000000\r\n\r\n${' '.repeat(1_999_999)}`
    const begun = nextRequest()
    stalled.write(sent)
    // Until it has arrived, it goes on, and the others are given up in its favour.
    const { socket } = await begun
    await expect.poll(() => socket.bytesRead, { interval: 5 }).toBe(sent.length)

    expect((await ask('authors', { method: 'POST', body: ' '.repeat(3_000_000) })).status).toBe(422)
    // What is given up is told so at its next byte.
    stalled.write(' ')
    expect(await refused).toMatch(/^HTTP\/1\.1 503 .*\r\nRetry-After: 1\r\n.*"code":"5008"/is)
    expect((await ask('authors', { method: 'POST', body: `${' '.repeat(2_000_000)}[]` })).status).toBe(200)
  })

  it('a body in pieces of a byte each is refused, one in pieces of some is not', async () => {
    const { hostname, port } = new URL(small.url)
    const answer = async (piece: string, pieces: number) => {
      const socket = connect(Number(port), hostname)
      const head = `POST ${service.items}authors HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${service.token}\r\n`
      const chunk = `${piece.length.toString(16)}\r\n${piece}\r\n`
      socket.write(`${head}Connection: close\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`)
      socket.write(`${chunk.repeat(pieces)}2\r\n[]\r\n0\r\n\r\n`)
      return text(socket)
    }

    expect(await answer(' ', 5_000)).toMatch(/^HTTP\/1\.1 413 .*pieces of less than 8 bytes/is)
    expect(await answer(' ', 500)).toMatch(/^HTTP\/1\.1 200 /)
    expect(await answer(' '.repeat(10), 5_000)).toMatch(/^HTTP\/1\.1 200 /)
  })

  it('a file that does not go on is given up for others that wait', async () => {
    const { hostname, port } = new URL(small.url)
    const assets = `${service.items.replace(/items\/$/, 'assets')}?fileName=a.bin`
    const Authorization = `Bearer ${service.token}`
    const stalled = connect(Number(port), hostname)
    const refused = text(stalled)
    const head = `POST ${assets} HTTP/1.1\r\nHost: x\r\nAuthorization: ${Authorization}\r\nConnection: close\r\n`
    stalled.write(`${head}Content-Length: 3500000\r\n\r\n${' '.repeat(3_000_000)}`)
    // Until all of that has arrived there is room for both.
    for (let turn = 0; turn < 50 && stalled.bytesRead === 0; turn += 1) {
      const body = ' '.repeat(3_000_000)
      expect((await fetch(small.url + assets, { method: 'POST', headers: { Authorization }, body })).status).toBe(201)
    }

    expect(await refused).toMatch(/^HTTP\/1\.1 503 .*\r\nRetry-After: 1\r\n.*"code":"5008"/is)
  })
})

describe('a length that is a lie', () => {
  const head = `POST /api/library/items/authors HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n`

  it('and too small makes no second request of the rest', async () => {
    const body = '[{"id":77}]'
    const rest = 'DELETE /api/library/items/authors/1 HTTP/1.1\r\nHost: x\r\n\r\n'
    const answer = await speak(
      `${head}Authorization: Bearer ${service.token}\r\nContent-Length: 2\r\n\r\n[]${body}${rest}`,
    )

    expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 400'])
    expect(await service.send('GET', 'authors/77')).toMatchObject({ status: 404 })
    expect(await service.send('GET', 'authors?fields=id&sort[0][id][direction]=asc&limit=1')).toEqual({
      status: 200,
      body: { data: [{ id: 1 }] },
    })
  })

  it('and too large changes nothing, whenever the connection ends', async () => {
    const { hostname, port } = new URL(service.url)
    const socket = connect(Number(port), hostname)
    socket.end(`${head}Authorization: Bearer ${service.token}\r\nContent-Length: 999\r\n\r\n[{"id":78}]`)
    await text(socket)

    expect(await service.send('GET', 'authors/78')).toMatchObject({ status: 404 })
  })
})

describe('a message', () => {
  it('names no half of a character', async () => {
    expect(await service.send('POST', 'authors', [{ id: 2, '\ud800': 1 }])).toMatchObject({
      body: { source: { message: '[0].\ufffd' } },
    })
    expect(await service.send('POST', 'authors', [{ id: 2, [`${'x'.repeat(99)}😀`]: 1 }])).toMatchObject({
      body: { source: { message: `[0].${'x'.repeat(99)}\ufffd…` } },
    })
  })

  it('is never empty', async () => {
    const body = { books: [{ _disconnect: {} }] }

    expect(await service.send('PATCH', 'authors?filter[id]=1', body)).toMatchObject({
      status: 422,
      body: { source: { message: 'body', source: { message: 'cannot hold relations: it may change many items' } } },
    })
  })
})

it.each(['_delete', '_disconnect'])(
  'rows without a key cannot be written through a relation: %s',
  async (operation) => {
    const { status, body } = await service.send('PATCH', 'authors/1', { logs: [{ [operation]: {} }] })

    expect(status).toBe(422)
    expect(JSON.stringify(body)).toContain('logs has neither a primary key nor a unique index of required fields')
  },
)

/** The next one of any server of this process. */
function nextRequest(): Promise<IncomingMessage> {
  return new Promise((resolve) => {
    subscribe(STARTED, function heard(message) {
      unsubscribe(STARTED, heard)
      resolve((message as { readonly request: IncomingMessage }).request)
    })
  })
}

/** Bytes as they are, and whatever comes back until the server hangs up. */
async function speak(sent: string): Promise<string> {
  const { hostname, port } = new URL(service.url)
  const socket = connect(Number(port), hostname)
  socket.write(sent)
  return text(socket)
}
