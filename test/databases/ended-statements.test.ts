/**
 * Statements that end before their answer, for every way in which we reach a Postgres: by their time limit, and because
 * whoever asked has left. Nobody else's statement ends with them, and what serves the next one is sound.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { CANCELED, TIMED_OUT } from '../../src/core/sql/fault.ts'
import type { TcpAddress } from '../../src/platform/cloudflare/parts/tcp-address.ts'
import { openNeon } from '../../src/platform/drivers/neon.ts'
import { openPostgres } from '../../src/platform/drivers/postgres/driver.ts'
import { type NeonGateway, startNeonGateway } from '../../src/platform/node/embedded/neon-gateway.ts'
import { type EmbeddedPostgres, openEmbeddedPostgres } from '../../src/platform/node/embedded/postgres.ts'
import type { QueryContext, SqlDriver } from '../../src/ports/database.ts'
import { computedBy, engineOf } from '../support/servers/embedded-client.ts'
import { prepareEmbedded } from '../support/servers/embedded-cluster.ts'
import { expectNextServed } from '../support/servers/next-served.ts'
import { startPostgres } from '../support/servers/postgres.ts'
import { startWorkerDrivers, type WorkerDrivers } from '../support/servers/worker-drivers.ts'

let directory: string
let embedded: EmbeddedPostgres
let workers: WorkerDrivers
let server: Awaited<ReturnType<typeof startPostgres>>
let embeddedGateway: NeonGateway
let serverGateway: NeonGateway
let watcher: pg.Client

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'embedded-'))
  await prepareEmbedded(directory)
  embedded = await openEmbeddedPostgres({ directory })
  server = await startPostgres()
  embeddedGateway = await startNeonGateway(embedded)
  serverGateway = await startNeonGateway(server.url)
  workers = await startWorkerDrivers('postgres')
  watcher = new pg.Client({ connectionString: server.url })
  await watcher.connect()
})

afterAll(async () => {
  await workers?.close()
  await watcher?.end()
  await embeddedGateway?.close()
  await serverGateway?.close()
  await embedded?.close()
  await server?.close()
  await rm(directory, { recursive: true })
})

/** Takes hours, and no memory; what ends it need not wait for it to look. */
const crossed = 'generate_series(1, 100000) a, generate_series(1, 1000000) b'

/**
 * `endless` takes hours, `aWhile` some tenths of a second. A server ends sleep as it ends work, and the machine can do other things
 * meanwhile. `begun` answers what tells that an endless one has begun since.
 */
const sleeping = {
  endless: statement('select pg_sleep(100000)::text'),
  aWhile: statement(`select 'done' from pg_sleep(0.6)`),
  begun: async () => async () => (await running()) === 1,
}
/** The embedded engine has to be busy to take long. */
const working = {
  endless: statement(`select count(*)::text from ${crossed}`),
  aWhile: statement(
    `select 'done' from (select count(*) from generate_series(1, 1500) a, generate_series(1, 3000) b) t`,
  ),
  begun: async () => {
    const engine = (await engineOf(directory)) ?? 0
    const before = (await computedBy(engine)) ?? 0
    return async () => ((await computedBy(engine)) ?? 0) - before > 200
  },
}

const adapters = [
  {
    name: 'pg over TCP',
    ...sleeping,
    open: (limit: number) => openPostgres({ connectionString: server.url, timeLimit: limit }),
  },
  {
    name: 'pg over the embedded database',
    ...working,
    open: (limit: number) => openPostgres({ stream: embedded.connect, max: 4, timeLimit: limit }),
  },
  {
    name: 'Neon over the gateway to the embedded database',
    ...working,
    open: (limit: number) => openNeon({ connectionString: embeddedGateway.url, timeLimit: limit }),
  },
  {
    name: 'Neon over the gateway to Postgres',
    ...sleeping,
    open: (limit: number) => openNeon({ connectionString: serverGateway.url, timeLimit: limit }),
  },
  {
    name: 'pg in a Worker',
    ...sleeping,
    open: (limit: number) => workers.open(tcpAddress(false), limit),
  },
  {
    name: 'pg in a Worker, behind a pooler',
    ...sleeping,
    open: (limit: number) => workers.open(tcpAddress(true), limit),
  },
]

/** The server as a Worker reaches it. */
function tcpAddress(isPooled: boolean): TcpAddress {
  const { hostname: host, port, username: user, password } = new URL(server.url)
  return { host, port: Number(port), user, password, database: 'postgres', isTls: false, isPooled }
}

const somebody: QueryContext = {}

describe.each(adapters)('$name', ({ open, endless, aWhile, begun }) => {
  let driver: SqlDriver
  afterEach(() => driver.close())

  it.each(['small', 'large'])('ends a %s read at its time limit, and serves the next', async (size) => {
    driver = open(1_000)

    await expect(driver.query({ ...endless, isLarge: size === 'large' }, somebody)).rejects.toMatchObject({
      state: TIMED_OUT,
    })

    await expectNextServed((context) => driver.query(statement(`select 'sound'`), context), [['sound']])
    await expect.poll(running).toBe(0)
  })

  it.each(['small', 'large'])('ends a %s read whose asker leaves, and serves the next', async (size) => {
    driver = open(0)
    const { asker, leave } = leaving()
    const hasBegun = await begun()

    const abandoned = driver.query({ ...endless, isLarge: size === 'large' }, asker)
    const ended = expect(abandoned).rejects.toMatchObject({ state: CANCELED })
    await expect.poll(hasBegun).toBe(true)
    leave()
    await ended

    expect(await driver.query(statement(`select 'sound'`), somebody)).toEqual([['sound']])
    await expect.poll(running).toBe(0)
  })

  it('lets work of our own take its time', async () => {
    driver = open(200)

    expect(await driver.query(aWhile)).toEqual([['done']])
    expect(await driver.batch([aWhile])).toEqual([[['done']]])
  })

  it('answers those who wait behind what is ended', async () => {
    driver = open(0)
    const { asker, leave } = leaving()
    const hasBegun = await begun()
    const abandoned = driver.query(endless, asker).catch(({ state }) => state)
    await expect.poll(hasBegun).toBe(true)
    const waiting = Array.from({ length: 10 }, (_, n) => driver.query(statement(`select '${n}'`), somebody))

    leave()

    expect(await Promise.all(waiting)).toEqual(waiting.map((_, n) => [[String(n)]]))
    expect(await abandoned).toBe(CANCELED)
  })
})

describe.each(adapters)('a batch by $name', ({ open, endless }) => {
  let own: SqlDriver
  beforeAll(async () => {
    own = open(0)
    await own.batch([statement('drop table if exists step'), statement('create table step (n int)')])
    await own.batch([statement('drop sequence if exists begun'), statement('create sequence begun')])
  })
  afterAll(() => own.close())

  it('of many short statements is ended by one limit for all of them, and leaves nothing', async () => {
    const driver = open(1_000)
    const short = statement(
      `insert into step select nextval('begun') from generate_series(1, 20000) having count(*) > 0`,
    )

    await expect(
      driver.batch(
        Array.from({ length: 4_000 }, () => short),
        { isWriting: true },
      ),
    ).rejects.toMatchObject({ state: TIMED_OUT })

    // A sequence is not taken back.
    expect(Number((await own.query(statement('select last_value::text from begun')))[0]?.[0])).toBeLessThan(4_000)
    expect(await own.query(statement('select count(*)::text from step'))).toEqual([['0']])
    await expectNextServed((context) => driver.batch([statement('select 1')], context), [[['1']]])
    await expect.poll(running).toBe(0)
    await driver.close()
  })

  it('with a statement that would never end is ended, and leaves nothing', async () => {
    const driver = open(1_000)
    const write = [statement('insert into step values (1)'), endless, statement('insert into step values (2)')]

    await expect(driver.batch(write, { isWriting: true })).rejects.toMatchObject({ state: TIMED_OUT })

    expect(await own.query(statement('select count(*)::text from step'))).toEqual([['0']])
    await driver.close()
  })

  it('of thousands of statements within its limit is written as a whole', async () => {
    const driver = open(60_000)
    const write = Array.from({ length: 2_001 }, (_, n) => statement(`insert into step values (${n}) returning n`))

    expect(await driver.batch(write, { isWriting: true })).toEqual(write.map((_, n) => [[String(n)]]))

    expect(await own.query(statement('select count(*)::text from step'))).toEqual([['2001']])
    await own.query(statement('delete from step'))
    await driver.close()
  })
})

describe.each(adapters.filter(({ name }) => !name.includes('embedded')))('a write by $name', ({ open, endless }) => {
  it('that is ended by its time limit leaves nothing', async () => {
    await watcher.query('drop table if exists note; create table note (n int)')
    const driver = open(1_000)
    const write = [statement('insert into note values (1)'), endless, statement('insert into note values (2)')]

    await expect(driver.batch(write, { isWriting: true })).rejects.toMatchObject({ state: TIMED_OUT })

    expect((await watcher.query('select n from note')).rows).toEqual([])
    const next = statement('insert into note values (3) returning n')
    await expectNextServed((context) => driver.batch([next], context), [[['3']]])
    await driver.close()
  })
})

describe('pg over TCP', () => {
  let driver: SqlDriver
  afterEach(() => driver.close())

  it('ends a statement only for the one who left: what is hit by mistake is asked again', async () => {
    driver = openPostgres({ connectionString: server.url, timeLimit: 30_000 })
    await watcher.query('drop table if exists hit; create table hit (n int)')

    // They end about when they are told to, so that many a message comes when the next statement runs on the connection.
    for (let round = 0; round < 12; round += 1) {
      const gone = Array.from({ length: 2 }, (_, n) =>
        driver
          .query(sleep(0.24 + 0.03 * ((round + n) % 5)), { isDisconnected: () => true })
          .catch(({ state }) => state),
      )
      const staying = Array.from({ length: 4 }, (_, n) =>
        driver.query(statement(`insert into hit select ${round * 4 + n} from pg_sleep(0.1) returning n`), {
          isDisconnected: () => false,
          isWriting: true,
        }),
      )
      expect(await Promise.all(staying)).toEqual(staying.map((_, n) => [[String(round * 4 + n)]]))
      for (const end of await Promise.all(gone)) expect([CANCELED, [['']]]).toContainEqual(end)
    }

    const { rows } = await watcher.query('select count(*)::int, count(distinct n)::int as distinct from hit')
    expect(rows).toEqual([{ count: 48, distinct: 48 }])
  })

  it('asks again for what another was ended for', async () => {
    driver = openPostgres({ connectionString: server.url })
    const { asker, leave } = leaving()
    const abandoned = [1, 2].map(() => driver.query(sleeping.endless, asker).catch(({ state }) => state))
    leave()
    expect(await Promise.all(abandoned)).toEqual([CANCELED, CANCELED])
    await watcher.query('select pg_advisory_lock(7)')
    const answer = driver.query(statement(`select 'mine' from pg_advisory_xact_lock_shared(7)`), somebody)
    await expect.poll(waitsSince).not.toBe('')
    const first = await waitsSince()

    await watcher.query(`select pg_cancel_backend(pid) from pg_stat_activity where wait_event_type = 'Lock'`)

    await expect.poll(async () => ['', first].includes(await waitsSince())).toBe(false)
    await watcher.query('select pg_advisory_unlock(7)')
    expect(await answer).toEqual([['mine']])
  })

  it('streams nothing more to one who has left', async () => {
    driver = openPostgres({ connectionString: server.url })
    const { asker, leave } = leaving()
    const rows = await driver.stream?.(statement(`select 1 union all select count(*) from ${crossed}`), asker)
    expect(await rows?.next()).toEqual({ done: false, value: ['1'] })

    const next = expect(rows?.next()).rejects.toMatchObject({ state: CANCELED })
    leave()
    await next

    await expect.poll(running).toBe(0)
  })

  it('leaves plans as they are: a prepared statement that was ended answers the next time', async () => {
    driver = openPostgres({ connectionString: server.url })
    const sleepFor = (seconds: string) => ({ text: 'select $1 from pg_sleep($1::float)', params: [seconds] })
    const { asker, leave } = leaving()
    const abandoned = driver.query(sleepFor('60'), asker).catch(({ state }) => state)
    leave()

    expect(await abandoned).toBe(CANCELED)
    expect(await driver.query(sleepFor('0'), somebody)).toEqual([['0']])
  })
})

it('an embedded database keeps what was committed when a statement is ended, and its process goes on meanwhile', async () => {
  const driver = openPostgres({ stream: embedded.connect, max: 4 })
  await driver.batch([statement('drop table if exists kept'), statement(`create table kept as select 'kept' as text`)])
  const { asker, leave } = leaving()
  const engine = await engineOf(directory)
  const before = (await computedBy(engine ?? 0)) ?? 0

  const ended = expect(driver.query(working.endless, asker)).rejects.toMatchObject({ state: CANCELED })
  // In the same process nothing of this would have a turn: the statement never ends by itself.
  await expect.poll(async () => ((await computedBy(engine ?? 0)) ?? 0) - before).toBeGreaterThan(200)
  leave()
  await ended

  expect(await driver.query(statement('select text from kept'), somebody)).toEqual([['kept']])
  await driver.close()
})

/** Since when somebody waits for what the watcher has; empty while nobody does. */
async function waitsSince(): Promise<string> {
  const { rows } = await watcher.query(
    `select query_start::text as since from pg_stat_activity where wait_event_type = 'Lock'`,
  )
  return rows[0]?.since ?? ''
}

function sleep(seconds: number) {
  return statement(`select pg_sleep(${seconds})`)
}

function statement(text: string) {
  return { text, params: [] }
}

function leaving() {
  let isDisconnected = false
  return {
    asker: { isDisconnected: () => isDisconnected },
    leave: () => {
      isDisconnected = true
    },
  }
}

/** Statements that the server runs for others than the test. */
async function running(): Promise<number> {
  const { rows } = await watcher.query(
    `select count(*)::int from pg_stat_activity
      where state = 'active' and backend_type = 'client backend' and pid <> pg_backend_pid()`,
  )
  return rows[0].count
}
