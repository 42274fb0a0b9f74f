/** Callers who leave before they are answered, and reads that take too long, over HTTP on both platforms. */
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type NodeServer, startNode } from '../../handlers/node.ts'
import { type LogLine, startWorkerd, type Workerd } from '../../scripts/workerd.ts'
import { type NeonGateway, startNeonGateway } from '../../src/platform/node/embedded/neon-gateway.ts'
import type { Observation } from '../../src/ports/observe.ts'
import type { Drawing } from '../support/data/model-sketch.ts'
import { generousLicense } from '../support/service/license.ts'
import { type NodeService, startService } from '../support/service/node-service.ts'

const library: Drawing = { collections: { notes: { id: 'int32 = counted', text: 'string?' } }, keys: {}, relations: [] }
const secret = randomBytes(32).toString('base64url')

let node: NodeService
/** Of the same database, without a limit that would end a read. */
let patient: NodeServer
let gateway: NeonGateway
let worker: Workerd
let database: pg.Client
let watcher: pg.Client
const slow = ['notes', 'notes/1', 'notes?meta=totalCount&limit=5000']
/** What `slow` was answered, on each platform, while all were kept from the table. */
const answers: Record<string, readonly unknown[]> = {}
/** What two creations under one key were answered meanwhile. */
const doubled: Record<string, readonly { readonly status: number; readonly body: unknown }[]> = {}
const told: Observation[] = []
const lines: LogLine[] = []

beforeAll(async () => {
  // What is to end within it takes a moment, and what is to exceed it is kept from its table.
  const variables = { SERVICE_SECRET: secret, SERVICE_QUERY__TIMEOUT: '10s' }
  node = await startService('library', library, variables)
  database = new pg.Client({ connectionString: node.databaseUrl })
  watcher = new pg.Client({ connectionString: node.databaseUrl })
  await Promise.all([database.connect(), watcher.connect()])
  patient = await startNode({
    environment: {
      ...(await generousLicense()),
      SERVICE_SECRET: secret,
      SERVICE_DATABASE_URL: node.databaseUrl,
      SERVICE_QUERY__TIMEOUT: '10m',
      PORT: '0',
    },
    observe: (observation) => told.push(observation),
  })
  gateway = await startNeonGateway(node.databaseUrl)
  worker = await startWorkerd({
    variables: { ...(await generousLicense()), ...variables, SERVICE_DATABASE_URL: gateway.url },
    host: '127.0.0.1',
    port: 0,
    onLog: (line) => lines.push(line),
  })
  // All at once, so that the limit is waited for once.
  const unlock = await lock()
  const platforms = Object.entries({ node: node.url, workerd: worker.url })
  const created = platforms.map(async ([platform, url]) => {
    doubled[platform] = await Promise.all([1, 2].map(() => create(`${url}${node.items}notes`, platform)))
  })
  const asked = platforms.map(async ([platform, url]) => {
    answers[platform] = await Promise.all(slow.map((path) => ask(url + node.items + path)))
  })
  await Promise.all(asked)
  await unlock()
  await Promise.all(created)
})

afterAll(async () => {
  await Promise.all([database?.end(), watcher?.end()])
  await worker?.close()
  await gateway?.close()
  await patient?.close()
  await node?.close()
})

const overdue = {
  message: 'Query failed',
  source: { message: 'The query was ended: it took longer than its time limit', code: '5004' },
}

describe.each(['node', 'workerd'])('on %s', (platform) => {
  const url = () => (platform === 'node' ? node.url : worker.url)
  const authorization = () => ({ Authorization: `Bearer ${node.token}` })
  const get = (signal?: AbortSignal, at = url()) =>
    fetch(`${at}${node.items}notes`, { headers: authorization(), ...(signal && { signal }) })

  it.each(slow.map((path, index) => [path, index] as const))(
    'a read over the time limit is 503: %s',
    async (_, index) => {
      expect(answers[platform]?.[index]).toEqual({ status: 503, body: overdue })
      expect((await get()).status).toBe(200)
    },
  )

  it('a creation under a key that is held up lets its double wait for 5 seconds', () => {
    const [early, late] = (doubled[platform] ?? []).toSorted((one, other) => other.status - one.status)

    expect(early?.body).toMatchObject(early?.status === 503 ? overdue : { code: '4091' })
    expect([early, late]).toContainEqual({ status: 409, body: expect.objectContaining({ code: '4091' }) })
  })

  // Before a local workerd stands a proxy, which does not pass it on that somebody has left.
  if (platform === 'node')
    it('a caller who leaves ends the read', async () => {
      told.length = 0
      const unlock = await lock()
      const leaving = new AbortController()
      const answer = get(leaving.signal, patient.url).catch(() => 'left')
      await expect.poll(waiting).toBe(1)

      leaving.abort()
      expect(await answer).toBe('left')
      await expect.poll(waiting).toBe(0)

      await unlock()
      await expect.poll(() => requests('GET')).toBe(1)
      expect((await get(undefined, patient.url)).status).toBe(200)
      expect(faults()).toEqual([])
    })

  it.each([
    ['announced', 'Content-Length: 1000\r\n\r\n{"text":'],
    ['in chunks', 'Transfer-Encoding: chunked\r\n\r\n8\r\n{"text":\r\n'],
  ])('a body that breaks off is no fault of ours: %s', async (_, rest) => {
    const at = platform === 'node' ? patient.url : url()
    const { hostname, port } = new URL(at)
    const [broken, whole] = [requests('POST'), requests('GET')]
    const socket = connect(Number(port), hostname)
    await once(socket, 'connect')
    const head = `POST ${node.items}notes HTTP/1.1\r\nHost: ${hostname}:${port}\r\nAuthorization: Bearer ${node.token}\r\n`
    socket.write(`${head}Expect: 100-continue\r\nContent-Type: application/json\r\n${rest}`)
    // It asks for the body that is on its way.
    expect(String(await once(socket, 'data'))).toMatch(/^HTTP\/1\.1 100 /)
    socket.resetAndDestroy()
    await expect.poll(() => requests('POST')).toBe(broken + 1)

    expect((await get(undefined, at)).status).toBe(200)
    // What is logged comes in order: with this line all that went before it is there.
    await expect.poll(() => requests('GET')).toBe(whole + 1)
    expect(faults()).toEqual([])
  })

  /** How many requests are logged, by the one whom callers leave. */
  const requests = (method: string) =>
    platform === 'node'
      ? told.filter((observation) => observation.kind === 'request' && observation.method === method).length
      : lines.filter(({ message }) => message.includes(`"kind":"request"`) && message.includes(`"method":"${method}"`))
          .length

  const faults = () =>
    platform === 'node'
      ? [...node.faults, ...told.filter(({ kind }) => kind !== 'request' && kind !== 'slow')]
      : lines.filter(({ level, message }) => level === 'error' || /"kind":"fault"|"status":500/.test(message))
})

async function ask(url: string) {
  const response = await fetch(url, { headers: { Authorization: `Bearer ${node.token}` } })
  return { status: response.status, body: await response.json() }
}

async function create(url: string, key: string) {
  const headers = { Authorization: `Bearer ${node.token}`, 'Content-Type': 'application/json', 'Idempotency-Key': key }
  const response = await fetch(url, { method: 'POST', headers, body: '[{"text":"a"}]' })
  return { status: response.status, body: await response.json() }
}

/** Keeps all from the table. */
async function lock(): Promise<() => Promise<unknown>> {
  await database.query(`begin; lock table "${node.schema}".notes`)
  return () => database.query('commit')
}

async function waiting(): Promise<number> {
  const { rows } = await watcher.query(`select count(*)::int from pg_stat_activity where wait_event_type = 'Lock'`)
  return rows[0].count
}
