/** Requests of one account that are worked on at a time by a Node process (docs/contract.md#limits). */
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type NodeServer, startNode } from '../../handlers/node.ts'
import { generousLicense } from '../support/service/license.ts'
import { type NodeService, startService } from '../support/service/node-service.ts'

const secret = randomBytes(32).toString('base64url')

let service: NodeService
/** Of the same database, with two slots of an account for a collection, and three in all, for each of which one waits. */
let narrow: NodeServer
let database: pg.Client
let watcher: pg.Client
let member: string

beforeAll(async () => {
  const fields = { id: 'int32 = counted', text: 'string?' }
  const drawing = { collections: { notes: fields, pages: fields }, keys: {}, relations: [] }
  service = await startService('library', drawing, { SERVICE_SECRET: secret })
  narrow = await startNode({
    environment: {
      ...(await generousLicense()),
      SERVICE_SECRET: secret,
      SERVICE_DATABASE_URL: service.databaseUrl,
      SERVICE_QUERY__TIMEOUT: '10m',
      SERVICE_HTTP__TRUSTED_PROXIES: '127.0.0.0/8',
      PORT: '0',
    },
    observe: () => {},
    parsedRoom: 64 * 1024,
    requestSlots: { ofCollection: 2, ofAccount: 3, waiting: 1 },
  })
  database = new pg.Client({ connectionString: service.databaseUrl })
  watcher = new pg.Client({ connectionString: service.databaseUrl })
  await Promise.all([database.connect(), watcher.connect()])
  member = await service.member({
    collections: { notes: { read: 'all' }, pages: { read: 'all' }, ServiceFile: { create: 'all', read: 'all' } },
  })
})

afterAll(async () => {
  await Promise.all([database?.end(), watcher?.end()])
  await narrow?.close()
  await service?.close()
})

async function send(token: string, path: string, change?: object) {
  const response = await fetch(narrow.url + path, {
    method: change === undefined ? 'GET' : 'PATCH',
    headers: { Authorization: `Bearer ${token}`, ...(change && { 'Content-Type': 'application/json' }) },
    ...(change && { body: JSON.stringify(change) }),
  })
  return { status: response.status, body: await response.json() }
}

const notes = '/api/library/items/notes'
const pages = '/api/library/items/pages'
const access = '/api/library/access'

/** Requests of the member that wait for their tables until the function is called. */
async function held(...paths: readonly string[]) {
  await database.query(`begin; lock table "${service.schema}".notes, "${service.schema}".pages`)
  const answers = paths.map((path) => send(member, path))
  await expect.poll(lockedOut).toBe(paths.length)
  return async () => {
    await database.query('commit')
    return Promise.all(answers)
  }
}

/** Lets Public read the notes. */
async function showToAnybody(): Promise<void> {
  const ask = async (method: string, path: string, body?: object) => {
    const headers = { Authorization: `Bearer ${service.token}`, 'Content-Type': 'application/json' }
    const response = await fetch(`${narrow.url}/api/library/${path}`, { method, headers, body: JSON.stringify(body) })
    return ((await response.json()) as { readonly data: { readonly id: string } }).data
  }
  const policy = await ask('POST', 'policies', {
    name: 'of anybody',
    content: { collections: { notes: { read: 'all' } } },
  })
  const [role] = (await ask('GET', 'roles?filter[kind][_eq]=public')) as unknown as readonly { readonly id: string }[]
  await ask('PATCH', `roles/${role?.id}`, { policies: [policy.id] })
}

async function lockedOut(): Promise<number> {
  const { rows } = await watcher.query(`select count(*)::int from pg_stat_activity where wait_event_type = 'Lock'`)
  return rows[0].count
}

it.each([
  ['of a collection', [notes, notes], notes, [access]],
  ['of all', [notes, notes, pages], access, []],
])('lets the next of an account %s wait, refuses those behind it, and answers others', async (_, busy, path, free) => {
  const release = await held(...busy)
  const more = [send(member, path), send(member, path)]

  const refused = await Promise.race(more)
  const beside = await Promise.all([send(service.token, access), ...free.map((one) => send(member, one))])
  const first = await release()
  const last = await Promise.all(more)

  expect(refused).toEqual({
    status: 429,
    body: { message: 'Too many requests of this account go on at once, try again later', meta: { retryAfter: 2 } },
  })
  expect(new Set([...first, ...beside].map(({ status }) => status))).toEqual(new Set([200]))
  expect(last.map(({ status }) => status).toSorted()).toEqual([200, 429])
})

it('parses no body while it waits', async () => {
  const release = await held(notes, notes)
  const query = async () => {
    const headers = { Authorization: `Bearer ${member}`, 'Content-Type': 'application/json' }
    const { status } = await fetch(narrow.url + notes, { method: 'QUERY', headers, body: '{' })
    return status
  }
  const more = [query(), query()]

  const refused = await Promise.race(more)
  await release()

  expect(refused).toBe(429)
  expect((await Promise.all(more)).toSorted()).toEqual([422, 429])
})

it('parses a heavy body of a caller once the one before is worked off, and light ones meanwhile', async () => {
  await database.query(`begin; lock table "${service.schema}".pages`)
  const send = async (path: string, body: string, token = service.token) => {
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }
    return (await fetch(narrow.url + path, { method: 'POST', headers, body })).status
  }
  const items = JSON.stringify(Array.from({ length: 1000 }, () => ({ text: 'a'.repeat(100) })))
  const first = send(pages, items)
  await expect.poll(lockedOut).toBe(1)
  let isParsed = false
  const second = send(notes, `${items}}`).finally(() => {
    isParsed = true
  })

  const light = await Promise.all([send('/api/library/items', '[}'), send('/api/library/items', '[}')])
  // However heavy the first, it leaves room for those of another.
  const others = await send('/api/library/items', `${items}}`, member)
  const before = isParsed
  await database.query('commit')

  expect([light, others, before, await first, await second]).toEqual([[422, 422], 422, false, 200, 422])
})

it('counts the addresses of an IPv6 network of 64 bits as one, where there is no account', async () => {
  await showToAnybody()
  const release = await held(pages)
  const visit = (address: string) =>
    fetch(`${narrow.url}${notes}`, { headers: { 'X-Forwarded-For': address } }).then(({ status }) => status)
  const visits = ['2001:db8::1', '2001:db8::2', '2001:db8::3', '2001:db8::4'].map(visit)

  const refused = await Promise.race(visits)
  const elsewhere = visit('2001:db8:0:1::1')
  await expect.poll(lockedOut).toBe(4)
  await release()

  expect(refused).toBe(429)
  expect(await elsewhere).toBe(200)
  expect((await Promise.all(visits)).toSorted()).toEqual([200, 200, 200, 429])
})

it('counts what needs no body and has one', async () => {
  const release = await held(notes, notes)
  const erase = async () => {
    const headers = { Authorization: `Bearer ${member}`, 'Content-Type': 'application/json' }
    return (await fetch(`${narrow.url}${notes}?filter[id][_eq]=0`, { method: 'DELETE', headers, body: '{}' })).status
  }
  const more = [erase(), erase()]

  const refused = await Promise.race(more)
  await release()

  expect(refused).toBe(429)
  expect((await Promise.all(more)).toSorted()).toEqual([403, 429])
})

it('works on no file that was sent before it has a slot', async () => {
  const release = await held(notes, notes, pages)
  const upload = async () => {
    const headers = { Authorization: `Bearer ${member}` }
    const address = `${narrow.url}/api/library/assets?fileName=note.txt`
    return (await fetch(address, { method: 'POST', headers, body: 'a note' })).status
  }
  const more = [upload(), upload()]

  const refused = await Promise.race(more)
  await release()

  expect(refused).toBe(429)
  expect((await Promise.all(more)).toSorted()).toEqual([201, 429])
})

it('counts no request whose body has not arrived', async () => {
  const { hostname, port } = new URL(narrow.url)
  const head = `QUERY ${notes} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nAuthorization: Bearer ${service.token}\r\n`
  const sockets = await Promise.all(
    [1, 2, 3].map(async () => {
      const socket = connect(Number(port), hostname)
      socket.write(`${head}Expect: 100-continue\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{`)
      // It asks for the body that is on its way.
      expect(String(await once(socket, 'data'))).toMatch(/^HTTP\/1\.1 100 /)
      return socket
    }),
  )

  const statuses = await Promise.all([1, 2].map(async () => (await send(service.token, notes)).status))

  expect(statuses).toEqual([200, 200])
  for (const socket of sockets) socket.destroy()
})

it('counts a request that waited with the rights of when its turn comes', async () => {
  const { body } = await send(service.token, '/api/library/policies')
  const [policy] = (body as { data: readonly { id: string; name: string }[] }).data.filter(({ name }) =>
    name.includes('@'),
  )
  const release = await held(notes, notes)
  const late = send(member, notes)

  const changed = await send(service.token, `/api/library/policies/${policy?.id}`, {
    content: { collections: {} },
  })
  await release()

  expect(changed.status).toBe(200)
  expect((await late).status).toBe(403)
})
