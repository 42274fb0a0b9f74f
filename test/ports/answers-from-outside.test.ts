/** docs/decisions/111: what a server from outside answers ends its own connection at most, never the process. */
import type { Socket } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { parseSqlAddress } from '../../src/core/sql/address.ts'
import { openMysql } from '../../src/platform/drivers/mysql.ts'
import { openNeon } from '../../src/platform/drivers/neon.ts'
import { openPlanetscale } from '../../src/platform/drivers/planetscale.ts'
import { openPostgres } from '../../src/platform/drivers/postgres/driver.ts'
import { type Fetch, limitedFetch } from '../../src/platform/fetch.ts'
import { openS3 } from '../../src/platform/files/s3.ts'
import { openHttpMailer } from '../../src/platform/http-mailer.ts'
import { createNodeLicensing } from '../../src/platform/node/licensing.ts'
import { createNetwork, operatorFetch } from '../../src/platform/node/network/network.ts'
import { createTelemetryClient } from '../../src/platform/telemetry-client.ts'
import type { SqlDriver } from '../../src/ports/database.ts'
import {
  flood,
  type HostilePostgres,
  type HostileServer,
  message,
  startHostile,
  startHostilePostgres,
} from '../support/servers/hostile-server.ts'

const MIB = 1024 * 1024
const closing: (() => Promise<void>)[] = []
const uncaught: unknown[] = []

beforeAll(() => {
  const note = (error: unknown) => uncaught.push(error)
  process.on('uncaughtException', note).on('unhandledRejection', note)
})

beforeEach(() => {
  uncaught.length = 0
})

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
  expect(uncaught).toEqual([])
})

async function keep(starting: Promise<HostileServer>): Promise<HostileServer> {
  const server = await starting
  closing.push(server.close)
  return server
}

async function postgres(hostile: HostilePostgres, { timeLimit = 0, password = 'x' } = {}): Promise<SqlDriver> {
  const { port } = await keep(startHostilePostgres(hostile))
  const { socket } = createNetwork({ allowPrivate: true })
  const address = { host: '127.0.0.1', port, user: 'u', password, database: 'd', tls: false, socket } as const
  const driver = openPostgres({ address, timeLimit })
  closing.push(driver.close)
  return driver
}

const statement = { text: 'select 1', params: [] }

/** All the ways that a driver of Postgres asks. */
const ways: readonly { name: string; ask: (driver: SqlDriver) => Promise<unknown> }[] = [
  { name: 'a read of a caller', ask: (driver) => driver.query(statement, {}) },
  { name: 'a read of our own', ask: (driver) => driver.query(statement) },
  { name: 'a large read', ask: (driver) => driver.query({ ...statement, isLarge: true }, {}) },
  { name: 'a stream', ask: async (driver) => (await driver.stream?.(statement, {}))?.next() },
  { name: 'a transaction', ask: (driver) => driver.batch([statement, statement], { isWriting: true }) },
  {
    name: 'a heard transaction',
    ask: (driver) => driver.batch([statement], { isWriting: true, confirm: () => {} }),
  },
]

const broken = [
  { name: 'a row without content', bytes: message('D') },
  { name: 'a row with fewer columns than none', bytes: message('D', Buffer.from([0xff, 0xff])) },
  { name: 'an error without an end', bytes: message('E') },
  { name: 'an error whose last field does not end', bytes: message('E', 'Mtoo bad\0') },
  { name: 'a notice without an end', bytes: message('N', 'M') },
  { name: 'a message shorter than its length', bytes: message('Z', '', 0) },
  { name: 'a message of 1.8 GB', bytes: message('D', 'x', 1_800_000_000) },
  { name: 'a question nobody knows', bytes: message('R', Buffer.from([0, 0, 0, 99])) },
  { name: 'a type that nobody knows', bytes: message('~', 'x') },
]

describe.each(ways)('a server of Postgres: $name', ({ ask }) => {
  it.each(broken)('that is greeted with $name is a fault', async ({ bytes }) => {
    const driver = await postgres({ greeting: [bytes] })

    await expect(ask(driver)).rejects.toMatchObject({ name: 'SqlFault', state: expect.stringMatching(/^(08|54)/) })
  })

  it.each(broken)('that is answered with $name is a fault', async ({ bytes }) => {
    const driver = await postgres({ answer: (socket) => socket.write(bytes) })

    await expect(ask(driver)).rejects.toMatchObject({ name: 'SqlFault', state: expect.stringMatching(/^(08|54)/) })
  })
})

const unasked = [
  { name: 'a description', bytes: message('T', Buffer.from([0, 0])) },
  { name: 'a suspended portal', bytes: message('s') },
  { name: 'a copy in', bytes: message('G', Buffer.from([0, 0, 0])) },
  { name: 'data to copy', bytes: message('d', 'x') },
]

describe('the text read', () => {
  it.each(unasked)('ends its connection for $name that nobody asked for', async ({ bytes }) => {
    const driver = await postgres({ answer: (socket) => socket.write(Buffer.concat([message('2'), bytes])) })

    await expect(driver.query(statement, {})).rejects.toMatchObject({ state: '08006' })
  })
})

describe('what a server of Postgres sends without end', () => {
  const row = message('D', Buffer.concat([Buffer.from([0, 1]), lengthOf(MIB), Buffer.alloc(MIB, 'x')]))
  const noise = message('D', Buffer.from([0, 0]))
  const described = message('T', `\0\x01a${'\0'.repeat(19)}`)

  it.each([
    { name: 'rows of 1 MB', chunk: row, least: 60 * MIB, most: 140 * MIB },
    { name: 'empty rows', chunk: Buffer.concat(Array.from({ length: 10_000 }, () => noise)), least: 0, most: 16 * MIB },
  ])('is refused: $name', async ({ chunk, least, most }) => {
    const sockets: Socket[] = []
    const driver = await postgres({
      answer(socket) {
        sockets.push(socket)
        socket.write(Buffer.concat([message('2'), described]))
        flood(socket, chunk)
      },
    })

    await expect(driver.query({ ...statement, isLarge: true })).rejects.toMatchObject({ state: '54000' })

    // What was written and not read is in buffers of the system.
    expect(Math.max(...sockets.map(({ bytesWritten }) => bytesWritten))).toBeLessThan(most)
    expect(Math.max(...sockets.map(({ bytesWritten }) => bytesWritten))).toBeGreaterThan(least)
  })

  it('is not refused where it lies in many answers of one connection', async () => {
    const small = message('D', Buffer.concat([Buffer.from([0, 1]), lengthOf(MIB), Buffer.alloc(MIB, 'x')]))
    const driver = await postgres({
      answer(socket, isParsed) {
        const begin = isParsed ? [message('1'), message('2')] : [message('2')]
        socket.write(Buffer.concat([...begin, small, message('C', 'SELECT 1\0'), message('Z', 'I')]))
      },
    })

    for (let read = 0; read < 100; read += 1) expect(await driver.query(statement, {})).toHaveLength(1)
  })

  it('is refused where it lies in the answers of one batch', async () => {
    const driver = await postgres({
      answer: (socket) =>
        socket.write(
          Buffer.concat([message('1'), message('2'), described, row, message('C', 'SELECT 1\0'), message('Z', 'T')]),
        ),
    })

    await expect(driver.batch(Array(100).fill(statement))).rejects.toMatchObject({ state: '54000' })
  })
})

describe('a network', () => {
  /** How many connections are open to a server that answers each request with this. */
  async function openAfter(answer: string, times: number): Promise<number> {
    const sockets = new Set<Socket>()
    const { port } = await keep(
      startHostile((socket) => {
        sockets.add(socket)
        socket.on('close', () => sockets.delete(socket)).on('data', () => socket.write(answer))
      }),
    )
    const network = createNetwork({ allowPrivate: true })
    for (let time = 0; time < times; time += 1) {
      await network.fetch(`http://127.0.0.1:${port}/`).catch(() => {})
      // Its connection is given back, or closed, in another turn.
      await new Promise((resolve) => setImmediate(resolve))
    }
    await expect.poll(() => sockets.size).toBeLessThan(times)
    const open = sockets.size
    network.close()
    return open
  }

  it.each(['204 No Content', '304 Not Modified', '205 Reset Content', '999 What'])(
    'keeps no connection for an answer without a body: %s',
    async (line) => {
      expect(await openAfter(`HTTP/1.1 ${line}\r\nContent-Length: 0\r\n\r\n`, 20)).toBeLessThan(3)
    },
  )

  it('closes an idle connection before the server does that says how long it keeps one', async () => {
    const ended = Promise.withResolvers<void>()
    const { port } = await keep(
      startHostile((socket) => {
        socket.on('end', ended.resolve)
        socket.on('data', () => socket.write('HTTP/1.1 200 OK\r\nKeep-Alive: timeout=2\r\nContent-Length: 2\r\n\r\nhi'))
      }),
    )
    const network = createNetwork({ allowPrivate: true })
    await (await network.fetch(`http://127.0.0.1:${port}/`)).text()

    // The server never closes it.
    await ended.promise
    network.close()
  })

  it('ends a request at its time, also where garbage was collected meanwhile', async () => {
    let arrived = 0
    const { port } = await keep(startHostile((socket) => socket.on('data', () => (arrived += 1))))
    const { fetch: send } = createNetwork({ allowPrivate: true })
    const limits = { timeLimit: 1_000, wayOut: send }
    const asked = Promise.allSettled(
      Array.from({ length: 20 }, () => limitedFetch(`http://127.0.0.1:${port}/`, {}, limits)),
    )
    await expect.poll(() => arrived).toBe(20)
    setFlagsFromString('--expose-gc')
    runInNewContext('gc')()

    expect((await asked).filter(({ status }) => status === 'fulfilled')).toEqual([])
  })

  it('gives up a request that gets no answer, also where nobody ends it', async () => {
    const { port } = await keep(startHostile(() => {}))
    const { fetch: send } = createNetwork({ allowPrivate: true, patience: 100 })

    await expect(send(`http://127.0.0.1:${port}/`, { method: 'POST', body: 'a' })).rejects.toThrow('no answer')
  })
})

function bucketAt(endpoint: string) {
  const bucket = { endpoint, bucket: 'b', region: 'auto', accessKeyId: 'a', secretAccessKey: 's' }
  return openS3({ ...bucket, wayOut: operatorFetch })
}

describe('an answer over HTTP of more codings than the platform’s fetch takes, which is cut', () => {
  const codings = `Content-Encoding: ${Array(6).fill('gzip').join(', ')}`
  const ways: readonly (readonly [string, (url: string) => Promise<unknown>])[] = [
    ['a network that may reach private hosts', (url) => createNetwork({ allowPrivate: true }).fetch(url)],
    [
      'the licensing service',
      (url) => createNodeLicensing({ clock: { now: () => Date.now() } }).ports.client.post(url, {}),
    ],
    ['telemetry', (url) => createTelemetryClient({ platform: 'node', wayOut: operatorFetch }).post(url, '{}')],
    [
      'mail by HTTP',
      (url) =>
        openHttpMailer({ url: new URL(url), from: 'a@example.com', wayOut: operatorFetch }).send({
          to: '',
          subject: '',
          text: '',
        }),
    ],
    ['a bucket', (url) => bucketAt(url).parts('key')],
  ]

  it.each(ways)('ends nothing but itself: %s', async (_name, send) => {
    let cut = 0
    const { port } = await keep(
      startHostile((socket) =>
        socket.once('data', () => {
          socket.write(`HTTP/1.1 200 OK\r\n${codings}\r\nContent-Length: 50\r\n\r\nhello`, () => socket.destroy())
          socket.once('close', () => {
            cut += 1
          })
        }),
      ),
    )
    await send(`http://127.0.0.1:${port}/`).catch(() => {})
    await expect.poll(() => cut).toBeGreaterThan(0)
    // What is left of the connection has its turns of the event loop.
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve))
  })
})

describe('what a server sends over HTTP without end', () => {
  const drivers = [
    {
      name: 'Neon',
      open: (wayOut: Fetch) => openNeon({ connectionString: 'postgres://u:x@db.example.com/d', wayOut }),
    },
    {
      name: 'PlanetScale',
      open: (wayOut: Fetch) =>
        openPlanetscale({
          address: parseSqlAddress('planetscale', { host: 'db.example.com', user: 'u', password: 'x' }),
          wayOut,
        }),
    },
  ]
  const asked = [
    { name: 'a read of a caller', ask: (driver: SqlDriver) => driver.query(statement, {}) },
    { name: 'a write of a caller', ask: (driver: SqlDriver) => driver.query(statement, { isWriting: true }) },
    {
      name: 'a question about the catalog',
      ask: (driver: SqlDriver) => driver.query(statement, { timeLimit: 60_000 }),
    },
    { name: 'a transaction of our own', ask: (driver: SqlDriver) => driver.batch([statement]) },
  ]
  const chunks = [
    { what: 'texts', chunk: Buffer.alloc(MIB, 'x'), most: 200 * MIB },
    { what: 'empty rows', chunk: Buffer.from('[],'.repeat(10_000)), most: 10 * MIB },
  ]

  /** That each way is bounded is told by rows, which weigh more than they have; how much a text may have, by one of each bound. */
  const cases = asked.flatMap((way, index) =>
    chunks
      .filter(({ what }) => what === 'empty rows' || index === 0 || index === asked.length - 1)
      .map((sent) => ({ way, sent })),
  )

  it.each(drivers.flatMap((driver) => cases.map((one) => ({ driver, ...one }))))(
    'is refused: $driver.name, $way.name, $sent.what',
    async ({ driver, way, sent: { chunk, most } }) => {
      let sent = 0
      const driven = driver.open(async () => {
        const pull = (controller: ReadableStreamDefaultController) => {
          sent += chunk.length
          controller.enqueue(chunk)
        }
        return new Response(new ReadableStream({ pull }))
      })

      await expect(way.ask(driven)).rejects.toMatchObject({ name: 'SqlFault', state: '54000' })

      expect(sent).toBeLessThan(most)
    },
  )
})

it('shows nothing of the memory where a field is longer than its row', async () => {
  const sent = 40_000
  const cut = message('D', Buffer.concat([Buffer.from([0, 1]), lengthOf(1_000_000), Buffer.alloc(sent, 'x')]))
  const driver = await postgres({
    answer(socket) {
      socket.write(Buffer.concat([message('2'), cut.subarray(0, sent / 4)]))
      const rest = [cut.subarray(sent / 4), message('C', 'SELECT 1\0'), message('Z', 'I')]
      setTimeout(() => socket.write(Buffer.concat(rest)), 10)
    },
  })

  const answer = await driver.query(statement, {}).catch((fault: Error) => fault.name)

  expect(JSON.stringify(answer).length).toBeLessThan(sent + 100)
})

it('leaves a late server of Postgres that has not said how it is cancelled', async () => {
  const driver = await postgres(
    { greeting: [message('R', Buffer.alloc(4)), message('Z', 'I')], answer: () => {} },
    { timeLimit: 50 },
  )

  await expect(driver.query({ ...statement, isLarge: true }, {})).rejects.toMatchObject({ name: 'SqlFault' })
})

it('sends an empty password, and not what the environment has for such a host', async () => {
  const received: Buffer[] = []
  const { port } = await keep(
    startHostile((socket) => {
      socket.once('data', () => socket.write(message('R', Buffer.from([0, 0, 0, 3]))))
      socket.on('data', (chunk) => {
        received.push(chunk)
        if (chunk[0] === 0x70) socket.destroy()
      })
    }),
  )
  const { socket } = createNetwork({ allowPrivate: true })
  const address = { host: '127.0.0.1', port, user: 'u', password: '', database: 'd', tls: false, socket } as const
  const driver = openPostgres({ address })
  closing.push(driver.close)

  process.env.PGPASSWORD = 'of the service'
  const asking = driver.query({ ...statement, isLarge: true }).catch((fault: Error) => fault.name)
  expect(await asking).toBe('SqlFault')
  delete process.env.PGPASSWORD

  expect(received.at(-1)).toEqual(message('p', '\0'))
})

describe('a server of MySQL', () => {
  async function mysql(serve: (socket: Socket) => void): Promise<SqlDriver> {
    const { port } = await keep(startHostile(serve))
    const driver = openMysql({ host: '127.0.0.1', port, user: 'u', password: 'x', timeLimit: 100 })
    closing.push(driver.close)
    return driver
  }

  it.each([
    { name: 'packets of 16 MB that never end', chunk: Buffer.alloc(16_777_219, 0xff) },
    { name: 'greetings without end', chunk: packets(1_000, '\n8.0.0\0') },
  ])('is refused: $name', async ({ chunk }) => {
    const sockets: Socket[] = []
    const driver = await mysql((socket) => {
      sockets.push(socket)
      flood(socket, chunk)
    })

    await expect(driver.query(statement)).rejects.toMatchObject({ name: 'SqlFault' })

    expect(Math.max(...sockets.map(({ bytesWritten }) => bytesWritten))).toBeLessThan(200 * MIB)
  })
})

/** What `mysql2` met in conversations that were changed at random (test/security/changed-answers.test.ts). */
describe('an answer of a server of MySQL', () => {
  const done = packet(1, [0, 0, 0, 2, 0, 0, 0])
  const column = [3, ...Buffer.from('def'), 0, 0, 0, 1, 0x61, 0, 0x0c, 0x3f, 0, 1, 0, 0, 0, 3, 0x81, 0, 0, 0, 0]
  const end = [0xfe, 0, 0, 2, 0]
  const fields = [packet(1, [1]), packet(2, column)]

  it.each([
    {
      name: 'a number as long as no packet',
      said: [...fields, packet(3, end), packet(4, [0xfe, 0, 0, 0, 0, 0, 0, 1, 0, 0x31]), packet(5, end)],
    },
    {
      name: 'rows out of order',
      said: [...fields, packet(3, end), ...Array<Buffer>(100).fill(packet(0, [1, 0x31])), packet(5, end)],
    },
    { name: 'another packet where columns end', said: [...fields, packet(3, [1, 0x31])] },
    { name: 'a packet without content', said: [packet(1, [])] },
    {
      name: 'several results',
      said: [...fields, packet(3, end), packet(4, [1, 0x31]), packet(5, [0xfe, 0, 0, 0x0a, 0]), done],
    },
  ])('is a fault of the statement: $name', async ({ said }) => {
    const driver = await greeted((socket, text) => {
      socket.write(text === 'select 1' ? Buffer.concat(said) : done)
    })

    await expect(driver.query(statement)).rejects.toMatchObject({ name: 'SqlFault', state: '08006' })
  })

  it('is refused where it lies in the answers of one batch', async () => {
    // A row of a text of 1 MiB, with its length before it.
    const row = Buffer.concat([Buffer.from([0xfd, 0, 0, 0x10]), Buffer.alloc(MIB, 'x')])
    const head = Buffer.from([row.length & 0xff, (row.length >> 8) & 0xff, row.length >> 16, 4])
    const rows = Buffer.concat([...fields, packet(3, end), head, row, packet(5, end)])
    const driver = await greeted((socket, text) => socket.write(text === 'select 1' ? rows : done))

    await expect(driver.batch(Array(100).fill(statement))).rejects.toMatchObject({ state: '54000' })
  })

  /** A driver of a server that believes everybody and answers each text. */
  async function greeted(answer: (socket: Socket, text: string) => unknown): Promise<SqlDriver> {
    const capabilities = [0x00, 0xa2, 45, 2, 0, 0x08, 0x00]
    const greeting = [10, ...Buffer.from('8.0.0\0'), 1, 0, 0, 0, ...Buffer.alloc(8, 0x61), 0, ...capabilities]
    const { port } = await keep(
      startHostile((socket) => {
        let isGreeted = false
        socket.write(packet(0, [...greeting, 21, ...Buffer.alloc(10), ...Buffer.alloc(12, 0x61), 0]))
        socket.on('data', (chunk) => {
          if (isGreeted) answer(socket, chunk.toString('latin1', 5))
          else socket.write(packet(2, [0, 0, 0, 2, 0, 0, 0]))
          isGreeted = true
        })
      }),
    )
    const driver = openMysql({ host: '127.0.0.1', port, user: 'u', password: 'x' })
    closing.push(driver.close)
    return driver
  }
})

function packet(sequence: number, content: readonly number[]): Buffer {
  return Buffer.from([content.length, 0, 0, sequence, ...content])
}

function lengthOf(bytes: number): Buffer {
  const length = Buffer.alloc(4)
  length.writeInt32BE(bytes)
  return length
}

function packets(count: number, text: string): Buffer {
  const content = Buffer.from(text)
  return Buffer.concat(Array.from({ length: count }, () => [Buffer.from([content.length, 0, 0, 0]), content]).flat())
}
