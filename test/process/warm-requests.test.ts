/**
 * What it costs to know a caller: a warm request checks no signature and asks the system database nothing but what it
 * is for. Statements are counted at the driver, signatures at the platform, and time passes only when told to.
 */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { openPostgres } from '../../src/platform/drivers/postgres/driver.ts'
import type { SqlDriver } from '../../src/ports/database.ts'
import type { Observation } from '../../src/ports/observe.ts'
import { STATE_MAX_AGE } from '../../src/ports/workspace-state.ts'
import { USE_INTERVAL } from '../../src/services/caller/key-use.ts'
import { client, migrate, signIn } from '../migration/support/client.ts'
import { plainCollection } from '../migration/support/collections.ts'
import { startPostgres } from '../support/servers/postgres.ts'
import { openInProcess } from '../support/service/in-process.ts'

const READS = 100

let postgres: Awaited<ReturnType<typeof startPostgres>>
let database: SqlDriver
let now = Date.now()
/** Texts of all statements since a test last emptied it. */
const sent: string[] = []
/** How long each statement takes, in milliseconds. */
let taken = 0
const slow: Observation[] = []
const callers = new Map<string, (query?: string) => Promise<number>>()
const checks = vi.spyOn(crypto.subtle, 'verify')

beforeAll(async () => {
  postgres = await startPostgres()
  database = openPostgres({ connectionString: postgres.url })
  const clock = { now: () => now, elapsed: () => now }
  const observe = (one: Observation) => void (one.kind === 'slow' && slow.push(one))
  const { administrator, request } = await openInProcess({
    database: noting(),
    databaseUrl: postgres.url,
    clock,
    observe,
  })
  const address = 'http://localhost'
  const signedIn = await signIn(administrator, address, request)
  const workspace = await signedIn.workspace('warm')
  await migrate(signedIn, workspace, plainCollection(workspace, 'articles'))
  const key = await signedIn.send('POST', '/api/system/api-keys', { name: 'robot' })
  const policy = await signedIn.send('POST', '/api/warm/policies', {
    name: 'reading',
    content: { collections: { articles: { read: 'all' } } },
  })
  const roles = await signedIn.send('GET', '/api/warm/roles?filter[kind][_eq]=public')
  const [open] = (roles.body as { data: { id: string }[] }).data
  const policies = [(policy.body as { data: { id: string } }).data.id]
  await signedIn.send('PATCH', `/api/warm/roles/${open?.id}`, { policies })

  const read = async ({ send }: Pick<typeof signedIn, 'send'>, query = 'limit=1') => {
    const { status } = await send('GET', `/api/warm/items/articles?${query}`)
    return status
  }
  const byKey = client(address, (key.body as { data: { key: string } }).data.key, request)
  callers.set('an API key', (query) => read(byKey, query))
  callers.set('an access token', (query) => read(signedIn, query))
  const unused = await signedIn.send('POST', '/api/system/api-keys', { name: 'unused' })
  const byUnused = client(address, (unused.body as { data: { key: string } }).data.key, request)
  callers.set('a key that was never used', (query) => read(byUnused, query))
  callers.set('nothing', (query) => read(client(address, '', request), query))
})

afterAll(async () => {
  checks.mockRestore()
  await database?.close()
  await postgres?.close()
})

describe.each(['an API key', 'an access token', 'nothing'])('a caller with %s', (name) => {
  it('costs a warm request no signature check and no statement but its own', async () => {
    const read = await warm(name)

    const statuses = new Set<number>()
    for (let count = 0; count < READS; count += 1) statuses.add(await read())

    expect([...statuses]).toEqual([200])
    expect(sent).toHaveLength(READS)
    expect(sent.filter((text) => !text.includes('"articles"'))).toEqual([])
    expect(checks).toHaveBeenCalledTimes(0)
  })

  it('costs one look at the versions when a second has passed', async () => {
    const read = await warm(name)
    now += STATE_MAX_AGE

    for (let count = 0; count < READS; count += 1) await read()

    expect(sent).toHaveLength(READS + 1)
    expect(sent.filter((text) => /access_version/.test(text))).toHaveLength(1)
    expect(checks).toHaveBeenCalledTimes(0)
  })
})

it.each(['an API key', 'nothing'])(
  'costs one look at its rights and one at the model, whoever else waits behind a change of both, with %s',
  async (name) => {
    const read = await warm(name)
    await database.batch([
      { text: 'update service.instance set access_version = access_version + 1', params: [] },
      { text: 'update service.workspace set model_version = model_version + 1', params: [] },
    ])
    now += STATE_MAX_AGE

    const statuses = await Promise.all(Array.from({ length: READS }, read))

    expect(new Set(statuses)).toEqual(new Set([200]))
    expect(sent.filter((text) => /^select w.model_version, data_source/.test(text))).toHaveLength(1)
    expect(sent.filter((text) => /service\.policy/.test(text))).toHaveLength(1)
  },
)

it('writes down the use of a key once a minute', async () => {
  const read = await warm('an API key')
  now += USE_INTERVAL

  for (let count = 0; count < READS; count += 1) await read()
  now += USE_INTERVAL - 1
  await read()

  expect(sent.filter((text) => /last_used_at/.test(text))).toHaveLength(1)
  expect(sent.filter((text) => /access_version/.test(text))).toHaveLength(2)
  expect(checks).toHaveBeenCalledTimes(0)
})

it('is planned by the database only when it is new', async () => {
  const read = await warm('an API key', 'filter[id][_gt]=0&limit=1')
  for (let count = 0; count < READS; count += 1) await read()

  const [prepared] = await database.query({
    text: `select custom_plans::text, (generic_plans > custom_plans)::text from pg_prepared_statements where statement = $1`,
    params: [sent[0] ?? ''],
  })

  // As many as it takes to see that planning for each value finds nothing better.
  expect(prepared).toEqual(['5', 'true'])
})

/** How that caller reads, once there is nothing new about it. */
async function warm(name: string, query?: string): Promise<() => Promise<number>> {
  const caller = callers.get(name)
  if (caller === undefined) throw new Error(`there is no caller with ${name}`)
  const read = () => caller(query)
  for (let count = 0; count < 3; count += 1) await read()
  sent.length = 0
  checks.mockClear()
  return read
}

it('is told apart in the log where it took longer than SERVICE_LOG__SLOW, without values', async () => {
  slow.length = 0
  for (const milliseconds of [1_000, 1_001]) {
    const read = await warm('an access token', 'filter[id][_eq]=4711')
    taken = milliseconds
    await read()
    taken = 0
  }

  const [line, ...others] = slow
  expect(others).toEqual([])
  expect(line).toEqual({
    kind: 'slow',
    requestId: expect.any(String),
    method: 'GET',
    route: '/api/:workspace/items/:collection',
    collection: 'articles',
    milliseconds: 1_001,
    auth: expect.any(Number),
    plan: expect.any(Number),
    source: expect.any(Number),
  })
})

it('reads the rights of a credential once for all who come at once, however long the database takes', async () => {
  const read = callers.get('a key that was never used')
  sent.length = 0
  // Versions are older than they may be once the rights are there.
  taken = STATE_MAX_AGE
  const statuses = await Promise.all(Array.from({ length: 20 }, () => read?.()))
  taken = 0

  const counted = (part: string) => sent.filter((text) => text.includes(part)).length
  expect(counted('service_account_owner_id')).toBe(1)
  expect(counted('i.access_version')).toBeLessThan(5)
  expect(new Set(statuses)).toEqual(new Set([200]))
})

function noting(): SqlDriver {
  return {
    ...database,
    query(statement) {
      sent.push(statement.text)
      now += taken
      return database.query(statement)
    },
    batch(statements) {
      sent.push(...statements.map(({ text }) => text))
      return database.batch(statements)
    },
  }
}

// The last one, since it cannot be undone.
it('ends with its token, however warm it is', async () => {
  const [byKey, byToken] = [await warm('an API key'), await warm('an access token')]
  now += 15 * 60_000

  expect([await byToken(), await byKey()]).toEqual([401, 200])
})
