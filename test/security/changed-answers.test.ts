/**
 * docs/decisions/111: conversations with real servers, said again with bytes changed at random, end in an answer or in a
 * fault of ours, and never end the process.
 */
import pg from 'pg'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { openMysql } from '../../src/platform/drivers/mysql.ts'
import { openNeon } from '../../src/platform/drivers/neon.ts'
import { openPlanetscale } from '../../src/platform/drivers/planetscale.ts'
import { openPostgres } from '../../src/platform/drivers/postgres/driver.ts'
import { openHttpMailer } from '../../src/platform/http-mailer.ts'
import { createLicensingClient } from '../../src/platform/licensing-client.ts'
import { type ConnectorGate, openConnectorGate } from '../../src/platform/node/connectors/gate.ts'
import { createNetwork, operatorFetch } from '../../src/platform/node/network/network.ts'
import { openProviderGate } from '../../src/platform/provider-gate.ts'
import { createTelemetryClient } from '../../src/platform/telemetry-client.ts'
import type { SqlDriver } from '../../src/ports/database.ts'
import { casesOr } from '../support/run/cases.ts'
import { startMariadb, type TestMariadb } from '../support/servers/mariadb.ts'
import { startPostgres, type TestPostgres } from '../support/servers/postgres.ts'
import { type Conversation, type Replay, record, startReplay } from '../support/servers/recorded.ts'

const { socket, fetch: wayOut } = createNetwork({ allowPrivate: true })
const uncaught: unknown[] = []
const note = (error: unknown) => void uncaught.push(error)
let postgres: TestPostgres
let mariadb: TestMariadb
let replay: Replay
let gate: ConnectorGate

beforeAll(async () => {
  process.on('uncaughtException', note).on('unhandledRejection', note)
  // Where mysql2 tells what it could not read.
  for (const method of ['error', 'trace'] as const) vi.spyOn(console, method).mockImplementation(() => {})
  postgres = await startPostgres()
  mariadb = await startMariadb()
  replay = await startReplay()
  gate = await openConnectorGate({ allowPrivate: true })
})

afterAll(async () => {
  process.off('uncaughtException', note).off('unhandledRejection', note)
  vi.restoreAllMocks()
  await replay?.close()
  await gate?.close()
  await postgres?.close()
  await mariadb?.close()
})

const text = "select 'one' as a, 2 as b, null as c union all select repeat('x', 500), 3, 'd'"
const read = { text, params: [] }
const bound = { text: 'select 1 as a where 1 < $1', params: ['2'] }
const boundThere = { text: 'select 1 as a from dual where 1 < ?', params: ['2'] }

type Way = { readonly name: string; readonly ask: (driver: SqlDriver) => Promise<unknown> }

const postgresWays: readonly Way[] = [
  { name: 'a read', ask: (driver) => driver.query(read, {}) },
  { name: 'a large read', ask: (driver) => driver.query({ ...bound, isLarge: true }, {}) },
  { name: 'a stream', ask: async (driver) => allOf(await driver.stream?.(read, {})) },
  { name: 'a transaction', ask: (driver) => driver.batch([read, bound], { isWriting: true }) },
  { name: 'a heard one', ask: (driver) => driver.batch([read, bound], { isWriting: true, confirm: () => {} }) },
  { name: 'a refusal', ask: (driver) => driver.query({ text: 'select nothing', params: [] }, {}).catch(faultsOnly) },
]

const mysqlWays: readonly Way[] = [
  { name: 'a read', ask: (driver) => driver.query(read, {}) },
  { name: 'a prepared read', ask: (driver) => driver.query(boundThere) },
  { name: 'a transaction', ask: (driver) => driver.batch([read, boundThere], { isWriting: true }) },
  { name: 'a refusal', ask: (driver) => driver.query({ text: 'select nothing', params: [] }, {}).catch(faultsOnly) },
]

async function allOf(rows: AsyncIterator<unknown> | undefined): Promise<void> {
  while ((await rows?.next())?.done === false);
}

function faultsOnly(fault: Error): string {
  if (fault.name !== 'SqlFault') throw fault
  return fault.name
}

const postgresAt = (port: number) => {
  const { username: user, password } = new URL(postgres.url)
  return openPostgres({
    address: { host: '127.0.0.1', port, user, password, database: 'postgres', tls: false, socket },
  })
}

const mysqlAt = (port: number) => openMysql({ ...mariadb, port })

/** Cases of each conversation, of which there are some twenty. */
const cases = Math.ceil(casesOr(10_000) / 20)

/** Asks through a driver, whose faults are all of its own. */
async function asked(driver: SqlDriver, ask: Way['ask']): Promise<void> {
  try {
    await ask(driver).catch(faultsOnly)
  } finally {
    await driver.close()
  }
}

it.each(postgresWays)('over TCP PostgreSQL ends nothing: $name, with a password', async ({ ask }) => {
  const said = await record(Number(new URL(postgres.url).port), (port) => asked(postgresAt(port), ask))

  await tryChanged(said, () => asked(postgresAt(replay.port), ask))
})

it.each(postgresWays)('over TCP PostgreSQL ends nothing: $name, by trust', async ({ ask }) => {
  await trustAll()
  const said = await record(Number(new URL(postgres.url).port), (port) => asked(postgresAt(port), ask))

  await tryChanged(said, () => asked(postgresAt(replay.port), ask))
})

it.each(mysqlWays)('over TCP MariaDB ends nothing: $name', async ({ ask }) => {
  const said = await record(mariadb.port, (port) => asked(mysqlAt(port), ask))

  await tryChanged(said, () => asked(mysqlAt(replay.port), ask))
})

const address = { host: '127.0.0.1', user: 'u', database: 'd', tls: { kind: 'off' }, auth: password('x') } as const

it.each([
  {
    name: 'Neon',
    body: { fields: [{ name: 'a', dataTypeID: 25 }], rows: [['x'], [null]], command: 'SELECT', rowCount: 2 },
    open: (port: number) => openNeon({ connectionString: `postgres://u:p@127.0.0.1:${port}/d`, wayOut }),
  },
  {
    name: 'PlanetScale',
    body: {
      session: { id: '' },
      result: { fields: [{ name: 'a', type: 'VARCHAR', charset: 45 }], rows: [{ lengths: ['1'], values: 'eA==' }] },
    },
    open: (port: number) => openPlanetscale({ address: { ...address, port, provider: 'planetscale' }, wayOut }),
  },
])('over HTTP $name ends nothing', async ({ body, open }) => {
  await tryChanged(overHttp(body), () => asked(open(replay.port), (driver) => driver.query(read, {})))
})

it('an upstream of a connector ends nothing', async () => {
  const { port, pass } = gate.admit([`127.0.0.1:${replay.port}`])
  const upstream = encodeURIComponent(`http://127.0.0.1:${replay.port}/`)

  await tryChanged(overHttp({ some: 'answer' }), async () => {
    const answer = await fetch(`http://127.0.0.1:${port}/${pass}/${upstream}`, { redirect: 'manual' }).catch(
      () => undefined,
    )
    await answer?.text().catch(() => '')
  })
})

const sentOut: readonly { readonly name: string; readonly send: (url: string) => Promise<unknown> }[] = [
  {
    name: 'the licensing service',
    send: (url) => createLicensingClient({ pause: async () => {}, wayOut: operatorFetch }).post(url, {}),
  },
  { name: 'a sign-in provider', send: (url) => openProviderGate({ allowPrivate: true, wayOut }).fetch(url, {}) },
  {
    name: 'a provider of models',
    send: async (url) => (await openProviderGate({ allowPrivate: true, wayOut }).stream(url, {}, 1_000)).text(),
  },
  {
    name: 'mail by HTTP',
    send: (url) =>
      openHttpMailer({ url: new URL(url), from: 'a@example.com', wayOut: operatorFetch }).send({
        to: 'b@example.com',
        subject: 'a',
        text: 'b',
      }),
  },
  {
    name: 'telemetry',
    send: (url) => createTelemetryClient({ platform: 'node', wayOut: operatorFetch }).post(url, '{}'),
  },
]

it.each(sentOut)('over HTTP $name ends nothing', async ({ send }) => {
  await tryChanged(overHttp({ status: 'valid' }), () => send(`http://127.0.0.1:${replay.port}/`).catch(() => {}))
})

function password(value: string) {
  return { kind: 'password', password: value } as const
}

function overHttp(body: object): readonly Conversation[] {
  const content = JSON.stringify(body)
  const head = ['HTTP/1.1 200 OK', 'Content-Type: application/json', `Content-Length: ${content.length}`, 'X-Note: a']
  return [[{ after: 1, bytes: Buffer.from(`${head.join('\r\n')}\r\n\r\n${content}`) }]]
}

/** The server believes everybody, so that the same is said each time. */
async function trustAll(): Promise<void> {
  const client = new pg.Client({ connectionString: postgres.url })
  await client.connect()
  const { rows } = await client.query('show hba_file')
  await client.query(`copy (select 'host all all all trust') to '${rows[0].hba_file}'`)
  await client.query('select pg_reload_conf()')
  await client.end()
  const url = new URL(postgres.url)
  url.password = 'wrong'
  await expect
    .poll(async () => {
      const other = new pg.Client({ connectionString: url.href })
      return other.connect().then(
        () => other.end().then(() => true),
        () => false,
      )
    })
    .toBe(true)
}

/** One number after the other from that of the run (mulberry32). */
function createDraw(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below)
  }
}

/** Says each time something else than what was recorded. */
async function tryChanged(said: readonly Conversation[], ask: () => Promise<unknown>): Promise<void> {
  const [first = []] = said
  const draw = createDraw(Number(process.env.SERVICE_TEST_SEED))
  expect(first.length).toBeGreaterThan(0)
  for (let tried = 0; tried < cases; tried += 1) {
    const turn = draw(first.length)
    const changed = change(first[turn]?.bytes ?? Buffer.alloc(0), draw)
    replay.say(said, { turn, bytes: changed })
    await ask()
    if (uncaught.length > 0)
      expect.fail(`${changed.toString('base64')} in turn ${turn}: ${(uncaught.splice(0)[0] as Error)?.stack}`)
  }
}

const ODD_BYTES = [0x00, 0x01, 0x7f, 0x80, 0xff, 0x0a, 0x44, 0x54, 0x45]

/** With some bytes changed, left out, or said twice. */
function change(said: Buffer, draw: (below: number) => number): Buffer {
  const bytes = [...said]
  for (let changes = 1 + draw(3); changes > 0; changes -= 1) {
    const at = draw(bytes.length)
    const kind = draw(8)
    if (kind === 0) bytes.splice(at, 1 + draw(8))
    else if (kind === 1) bytes.splice(at, 0, ...bytes.slice(at, at + 1 + draw(8)))
    else bytes[at] = kind < 5 ? draw(256) : (ODD_BYTES[draw(ODD_BYTES.length)] ?? 0)
  }
  return Buffer.from(bytes)
}
