/** The laws of the SqlDriver port on Postgres, for every way in which we reach one. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { SqlFault } from '../../src/core/sql/fault.ts'
import type { SqlParam, Statement } from '../../src/core/sql/statement.ts'
import type { TcpAddress } from '../../src/platform/cloudflare/parts/tcp-address.ts'
import { openNeon } from '../../src/platform/drivers/neon.ts'
import { openPostgres } from '../../src/platform/drivers/postgres/driver.ts'
import { openPostgresPerRequest } from '../../src/platform/drivers/postgres/per-request.ts'
import { type NeonGateway, startNeonGateway } from '../../src/platform/node/embedded/neon-gateway.ts'
import { type EmbeddedPostgres, openEmbeddedPostgres } from '../../src/platform/node/embedded/postgres.ts'
import type { QueryContext, SqlDriver } from '../../src/ports/database.ts'
import { prepareEmbedded } from '../support/servers/embedded-cluster.ts'
import { startPostgres } from '../support/servers/postgres.ts'
import { startWorkerDrivers, type WorkerDrivers } from '../support/servers/worker-drivers.ts'

let directory: string
let embedded: EmbeddedPostgres
let workers: WorkerDrivers
let server: Awaited<ReturnType<typeof startPostgres>>
let embeddedGateway: NeonGateway
let serverGateway: NeonGateway

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'embedded-'))
  await prepareEmbedded(directory)
  embedded = await openEmbeddedPostgres({ directory })
  server = await startPostgres()
  embeddedGateway = await startNeonGateway(embedded)
  serverGateway = await startNeonGateway(server.url)
  workers = await startWorkerDrivers('postgres')
})

afterAll(async () => {
  await workers?.close()
  await embeddedGateway.close()
  await serverGateway.close()
  await embedded.close()
  await server.close()
  await rm(directory, { recursive: true })
})

const adapters = [
  { name: 'pg over TCP', open: () => openPostgres({ connectionString: server.url }) },
  { name: 'pg over the embedded database', open: () => openPostgres({ stream: embedded.connect }) },
  {
    name: 'Neon over the gateway to the embedded database',
    open: () => openNeon({ connectionString: embeddedGateway.url }),
  },
  { name: 'Neon over the gateway to Postgres', open: () => openNeon({ connectionString: serverGateway.url }) },
  { name: 'pg in a Worker', open: () => workers.open(tcpAddress(false)) },
  { name: 'pg in a Worker, behind a pooler', open: () => workers.open(tcpAddress(true)) },
]

/** The server as a Worker reaches it. */
function tcpAddress(isPooled: boolean): TcpAddress {
  const { hostname: host, port, username: user, password } = new URL(server.url)
  return { host, port: Number(port), user, password, database: 'postgres', isTls: false, isPooled }
}

describe.each(adapters)('$name', ({ open }) => {
  let driver: SqlDriver

  beforeAll(async () => {
    driver = open()
    await driver.batch([
      statement('drop table if exists child, parent'),
      statement('create table parent (id int primary key, name text constraint parent_name_key unique)'),
      statement('create table child (id int, parent int not null constraint child_parent_fkey references parent)'),
    ])
  })

  afterAll(() => driver.close())

  it('answers every value in the text form of the database, instants in UTC', async () => {
    const rows = await driver.query(
      statement(`select 9007199254740993::bigint, 12345678901234567890.123456789::numeric, 1e-7::float8, true,
        '2024-02-29 12:34:56.123456+02'::timestamptz, '2024-02-29'::date, '12:00'::time,
        '{"b": 1.0, "a": 2}'::json, '{"b": 1.0, "a": 2}'::jsonb, '\\x00ff'::bytea, null::int, '1 day'::interval`),
    )

    expect(rows).toEqual([
      [
        '9007199254740993',
        '12345678901234567890.123456789',
        '1e-07',
        't',
        '2024-02-29 10:34:56.123456+00',
        '2024-02-29',
        '12:00:00',
        '{"b": 1.0, "a": 2}',
        '{"a": 2, "b": 1.0}',
        '\\x00ff',
        null,
        '1 day',
      ],
    ])
  })

  it.each([
    ['null', null],
    ['an empty text', ''],
    ['quotes and a placeholder', `'; drop table parent; -- $1 "`],
    ['emoji and several scripts', '👩‍👩‍👧 ß 漢字 \u{10ffff}'],
    ['1 MB', 'ä'.repeat(512 * 1024)],
  ])('gives a parameter back unchanged: %s', async (_, value) => {
    expect(await driver.query(statement('select $1::text', [value]))).toEqual([[value]])
  })

  it('answers no rows where there are none', async () => {
    expect(await driver.query(statement('select 1 where false'))).toEqual([])
    expect(await driver.query(statement('update parent set name = name where false'))).toEqual([])
    expect(await driver.batch([])).toEqual([])
  })

  it('answers the rows of each statement of a batch', async () => {
    const answer = await driver.batch([
      statement('insert into parent (id, name) values ($1, $2), (11, null) returning id', ['10', 'ten']),
      statement('update parent set name = $1 where id = 11', ['eleven']),
      statement('select name from parent where id in (10, 11) order by id'),
    ])

    expect(answer).toEqual([[['10'], ['11']], [], [['ten'], ['eleven']]])
  })

  it('leaves nothing behind of a batch that failed, and says why', async () => {
    const failing = driver.batch([
      statement('insert into parent (id, name) values (20, $1)', ['twenty']),
      statement('insert into parent (id, name) values (21, $1)', ['twenty']),
      statement('insert into parent (id, name) values (22, $1)', ['never']),
    ])

    await expect(failing).rejects.toMatchObject({ state: '23505', constraint: 'parent_name_key', table: 'parent' })
    expect(await driver.query(statement('select id from parent where id between 20 and 29'))).toEqual([])
  })

  it('leaves nothing behind of hundreds of statements where the last one fails', async () => {
    const made = Array.from({ length: 250 }, (_, index) =>
      statement(`insert into parent (id) values (${1000 + index})`),
    )

    await expect(driver.batch([...made, statement('select 1/0')])).rejects.toMatchObject({ state: '22012' })

    expect(await driver.query(statement('select count(*) from parent where id >= 1000'))).toEqual([['0']])
  })

  it.each([
    ['a unique key', `insert into parent values (30, 'same'), (31, 'same')`, '23505', 'parent_name_key', undefined],
    ['a foreign key', 'insert into child values (1, 999)', '23503', 'child_parent_fkey', undefined],
    ['a null', 'insert into child values (1, null)', '23502', undefined, 'parent'],
  ])('tells what refused %s', async (_, text, state, constraint, column) => {
    const error = await driver.query(statement(text)).catch((error) => error)

    expect(error).toBeInstanceOf(SqlFault)
    expect(error).toMatchObject({ state, constraint, column })
    expect(error.cause).toBeInstanceOf(Error)
  })

  it.each([
    ['an unknown table', 'select * from nowhere', '42P01'],
    ['an unknown column', 'select nothing from parent', '42703'],
    ['bad syntax', 'selec 1', '42601'],
    ['a division by zero', 'select 1/0', '22012'],
    ['a number out of range', 'select 99999999999::int', '22003'],
    ['two statements in one', 'select 1; select 2', '42601'],
  ])('answers a fault with the SQLSTATE of %s', async (_, text, state) => {
    await expect(driver.query(statement(text))).rejects.toMatchObject({ name: 'SqlFault', state })
    await expect(driver.batch([statement(text)])).rejects.toMatchObject({ name: 'SqlFault', state })
    expect(await driver.query(statement('select 1'))).toEqual([['1']])
  })

  it('follows a table whose shape changes under a statement that is known', async () => {
    const read = statement('select * from shifting')
    await driver.query(statement('drop table if exists shifting'))
    await driver.query(statement('create table shifting (a int)'))
    await driver.query(statement('insert into shifting values (1)'))
    await Promise.all(Array.from({ length: 8 }, () => driver.query(read)))

    await driver.query(statement(`alter table shifting add column b text default 'new'`))

    expect(await Promise.all(Array.from({ length: 8 }, () => driver.query(read)))).toEqual(
      Array.from({ length: 8 }, () => [['1', 'new']]),
    )
  })

  it('answers every one of many parallel queries, failing ones among them', async () => {
    const answers = await Promise.allSettled(
      Array.from({ length: 60 }, (_, index) =>
        driver.query(statement('select 12 / $1::int, $2::text', [String(index % 4), String(index)])),
      ),
    )

    const outcomes = answers.map((answer) => (answer.status === 'fulfilled' ? answer.value : answer.reason.state))
    expect(outcomes).toEqual(
      Array.from({ length: 60 }, (_, index) =>
        index % 4 === 0 ? '22012' : [[String(12 / (index % 4)), String(index)]],
      ),
    )
  })

  it('runs many parallel batches one after the other where they touch the same row', async () => {
    await driver.query(statement('drop table if exists counter'))
    await driver.query(statement('create table counter (n int)'))
    await driver.query(statement('insert into counter values (0)'))

    await Promise.all(
      Array.from({ length: 50 }, () =>
        driver.batch([statement('update counter set n = n + 1'), statement('update counter set n = n + 1')]),
      ),
    )

    expect(await driver.query(statement('select n from counter'))).toEqual([['100']])
  })

  it('waits for running statements when it closes', async () => {
    const other = open()
    // Over connections that are there already, a statement runs as soon as it is asked.
    await Promise.all([other.query(statement('select 1')), other.batch([statement('select 1')])])
    const running = [
      other.query(statement(`select 'read', pg_sleep(0.1)::text`)),
      other.batch([statement(`select 'batch', pg_sleep(0.1)::text`)]),
    ]
    await oneTurn()

    await other.close()

    expect(await Promise.all(running)).toEqual([[['read', '']], [[['batch', '']]]])
  })
})

describe('where there is no database', () => {
  it.each([
    ['pg', () => openPostgres({ connectionString: 'postgres://nobody:secret@127.0.0.1:1/none' })],
    ['pg, by name', () => openPostgres({ connectionString: 'postgres://nobody:secret@no-such-host.invalid/none' })],
    ['pg, no address at all', () => openPostgres({ connectionString: 'postgres://[' })],
    ['pg in a Worker', () => workers.open({ ...tcpAddress(false), port: 1 })],
    ['pg in a Worker, by name', () => workers.open({ ...tcpAddress(false), host: 'no-such-host.invalid' })],
  ])('answers state 08000: %s', async (_, open) => {
    const driver = open()

    await expect(driver.query(statement('select 1'))).rejects.toMatchObject({ name: 'SqlFault', state: '08000' })
    await expect(driver.batch([statement('select 1')])).rejects.toMatchObject({ name: 'SqlFault', state: '08000' })
    await driver.close()
  })

  it('over HTTP nobody knows whether a write was done', async () => {
    const driver = openNeon({ connectionString: 'postgres://nobody:secret@127.0.0.1:1/none' })
    const [read, write] = [statement('select 1'), statement('delete from t')]
    const asked = [
      driver.query(read),
      driver.query(write),
      driver.query(read, { isWriting: true }),
      driver.batch([read]),
    ]

    const states = (await Promise.allSettled(asked)).map((one) => one.status === 'rejected' && one.reason.state)

    expect(states).toEqual(['08000', '08007', '08007', '08007'])
  })

  it('refuses a wrong password with its SQLSTATE', async () => {
    const wrong = (url: string) => url.replace(/:[^:@/]+@/, ':wrong@')
    const drivers = [
      openPostgres({ connectionString: wrong(server.url) }),
      openNeon({ connectionString: wrong(embeddedGateway.url) }),
      workers.open({ ...tcpAddress(false), password: 'wrong' }),
    ]

    const errors = await Promise.all(
      drivers.map((driver) => driver.query(statement('select 1')).catch((error) => error)),
    )

    expect(errors.map(({ state }) => state)).toEqual(['28P01', '28P01', '28P01'])
    await Promise.all(drivers.map((driver) => driver.close()))
  })
})

describe('a connection that breaks', () => {
  const kill = statement('select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid()')

  it('fails what was not answered, and the next statement connects anew', async () => {
    const driver = openPostgres({ connectionString: server.url })
    const other = openPostgres({ connectionString: server.url })
    const sleeping = [
      driver.query(statement('select pg_sleep(30)')),
      driver.query(statement('select pg_sleep(30)')),
      driver.query(statement(`select 'queued behind the first'`)),
      driver.batch([statement('select pg_sleep(30)')]),
    ].map((answer) => answer.catch((error) => error))
    const asleep = statement(`select count(*) from pg_stat_activity where wait_event = 'PgSleep'`)
    await expect.poll(() => other.query(asleep)).toEqual([['3']])

    let isOver = false
    const all = Promise.all(sleeping).finally(() => {
      isOver = true
    })

    // Reads run once more (decision 104).
    const end = () => other.query({ ...kill, text: `${kill.text} and query like '%pg_sleep(30)%'` })
    await expect.poll(() => end().then(() => isOver)).toBe(true)

    const [first, second, queued, transaction] = await all
    // What is sent while the server closes resets the connection, and the reason that it gave can be lost by that.
    const ended = expect.stringMatching('57P01|08006')
    expect([first, second, transaction]).toMatchObject(Array(3).fill({ state: ended }))
    // Again behind the first, or on a connection of its own.
    if (queued instanceof SqlFault) expect(queued.state).toBe('08006')
    else expect(queued).toEqual([['queued behind the first']])
    expect(await driver.query(statement('select 1'))).toEqual([['1']])
    expect(await driver.batch([statement('select 2')])).toEqual([[['2']]])
    await Promise.all([driver.close(), other.close()])
  })

  it('does not disturb anybody while it is idle', async () => {
    const driver = openPostgres({ connectionString: server.url })
    const other = openPostgres({ connectionString: server.url })
    await Promise.all([driver.query(statement('select 1')), driver.batch([statement('select 1')])])

    await other.query({ ...kill, text: `${kill.text} and backend_type = 'client backend'` })
    const others = `where backend_type = 'client backend' and pid <> pg_backend_pid()`
    await expect.poll(() => other.query(statement(`select from pg_stat_activity ${others}`))).toEqual([])
    await oneTurn()

    expect(await driver.query(statement('select 1'))).toEqual([['1']])
    expect(await driver.batch([statement('select 2')])).toEqual([[['2']]])
    await Promise.all([driver.close(), other.close()])
  })
})

describe('named statements', () => {
  it('are prepared once for each text', async () => {
    const driver = openPostgres({ connectionString: server.url })
    const mine = statement('select count(*) from pg_prepared_statements where statement like $1', ['select $1::int%'])
    for (let turn = 0; turn < 5; turn += 1) await driver.query(statement('select $1::int', [String(turn)]))

    expect(await driver.query(mine)).toEqual([['1']])
    await driver.close()
  })

  it('start afresh when there are too many', async () => {
    const driver = openPostgres({ connectionString: server.url })
    for (let turn = 0; turn < 1_100; turn += 1) await driver.query(statement(`select ${turn}`))

    const [[count]] = (await driver.query(statement('select count(*) from pg_prepared_statements'))) as [[string]]
    expect(Number(count)).toBeLessThan(200)
    await driver.close()
  })
})

describe('the embedded database', () => {
  it('is neither taken by the reads of one workspace, nor by their plans whose terms are looked at', async () => {
    const driver = openPostgres({ stream: embedded.connect, max: 4 })
    const done: string[] = []
    const read = (name: string, context?: QueryContext) =>
      driver.query(statement('select pg_sleep(0.02)::text'), context).then(() => done.push(name))
    const term = { isOver: () => true, renew: () => driver.query(statement('select 1')).then(() => true) }
    try {
      const many = Array.from({ length: 20 }, (_, at) =>
        read('of many', { share: 'one', ...(at % 2 === 1 && { term }) }),
      )
      await Promise.all([read('of another', { share: 'two' }), read('of the service')])

      expect(done.filter((name) => name === 'of many').length).toBeLessThan(5)
      await Promise.all(many)
    } finally {
      await driver.close()
    }
  })
})

describe('the Neon driver', () => {
  it('costs one fetch for a query and one for a batch', async () => {
    const fetched: string[] = []
    const driver = openNeon({
      connectionString: embeddedGateway.url,
      wayOut: (url, init) => {
        fetched.push(url)
        return fetch(url, init)
      },
    })

    await driver.query(statement('select 1'))
    await driver.batch([statement('select 1'), statement('select 2'), statement('select 3')])

    const { port } = new URL(embeddedGateway.url)
    expect(fetched).toEqual([`http://127.0.0.1:${port}/sql`, `http://127.0.0.1:${port}/sql`])
  })

  it('sends every other host to Neon', async () => {
    const fetched: string[] = []
    const offline = (url: string) => {
      fetched.push(url)
      return Promise.reject(new TypeError('offline'))
    }

    const query = openNeon({
      connectionString: 'postgres://user:secret@ep-1.eu.aws.neon.tech/db',
      wayOut: offline,
    }).query(statement('select 1'))

    await expect(query).rejects.toMatchObject({ name: 'SqlFault', state: '08000' })
    expect(fetched).toEqual(['https://api.eu.aws.neon.tech/sql'])
  })
})

describe('the gateway', () => {
  const post = (url: string, body: string, headers: Record<string, string> = {}) => {
    const { host } = new URL(url)
    return fetch(`http://${host}/sql`, { method: 'POST', body, headers: { 'Neon-Connection-String': url, ...headers } })
  }

  it('runs a batch in the isolation and mode of its headers', async () => {
    const queries = ['transaction_isolation', 'transaction_read_only'].map((name) => ({ query: `show ${name}` }))

    const response = await post(embeddedGateway.url, JSON.stringify({ queries }), {
      'Neon-Batch-Isolation-Level': 'Serializable',
      'Neon-Batch-Read-Only': 'true',
    })

    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({
      results: [
        { command: 'SHOW', rowAsArray: true, rows: [['serializable']], fields: [{ dataTypeID: 25 }] },
        { command: 'SHOW', rows: [['on']] },
      ],
    })
  })

  it.each([
    ['what is not JSON', '{', 400],
    ['what is not a request of the driver', '{"sql":"select 1"}', 400],
    ['more than 64 MiB', ' '.repeat(64 * 1024 * 1024 + 1), 413],
  ])('refuses %s', async (_, body, status) => {
    const response = await post(embeddedGateway.url, body)

    expect(response.status).toBe(status)
    expect(await response.json()).toMatchObject({ message: expect.any(String) })
  })
})

describe('what was planned too long ago', () => {
  const insert = statement('insert into plan values (1)')
  let driver: SqlDriver

  beforeAll(async () => {
    driver = openPostgres({ connectionString: server.url })
    await driver.query(statement('create table plan (n int)'))
  })

  afterEach(async () => expect(await driver.query(statement('select count(*) from plan'))).toEqual([['0']]))
  afterAll(() => driver?.close())

  it('is not sent', async () => {
    const context = { term: outdated(), isWriting: true }

    await expect(driver.query(insert, context)).rejects.toMatchObject({ state: 'SV117' })
    await expect(driver.batch([insert, insert], context)).rejects.toMatchObject({ state: 'SV117' })
  })

  it.each([
    ['connections that last', () => openPostgres({ connectionString: server.url })],
    ['a pooler', () => openPostgres({ connectionString: server.url, isPooled: true })],
    [
      'connections of a request',
      () => openPostgresPerRequest({ connectionString: server.url, request: () => undefined }),
    ],
  ])('is not committed over %s', async (_, open) => {
    const other = open()
    try {
      const context = { term: outdated(1), isWriting: true }
      await expect(other.batch([insert, insert], context)).rejects.toMatchObject({ state: 'SV117' })
    } finally {
      await other.close()
    }
  })

  it.each([
    ['connections that last', () => openPostgres({ connectionString: server.url }), {}],
    ['a connection to itself', () => openPostgres({ connectionString: server.url }), { isLarge: true }],
    [
      'connections of a request',
      () => openPostgresPerRequest({ connectionString: server.url, request: () => undefined }),
      {},
    ],
  ])('is ended over %s where it waits for a row that somebody holds', async (_, open, how) => {
    await driver.query(statement('create table if not exists held as select 1 n'))
    const holder = new pg.Client({ connectionString: server.url })
    const other = open()
    try {
      await holder.connect()
      await holder.query('begin; select n from held for update')
      const write = { ...statement('update held set n = 2'), ...how }
      let isOver = false
      const term = { isOver: () => isOver, renew: async () => false }
      const waiting = expect(other.query(write, { term, isWriting: true })).rejects.toMatchObject({ state: 'SV117' })
      const blocked = statement(`select count(*) from pg_stat_activity where wait_event_type = 'Lock'`)
      await expect.poll(() => driver.query(blocked)).toEqual([['1']])
      isOver = true

      await waiting
      await holder.query('commit')
      expect(await driver.query(statement('select n from held'))).toEqual([['1']])
    } finally {
      await holder.end()
      await other.close()
    }
  })

  it('is sent where nothing has changed, once that is known', async () => {
    let looks = 0
    const term = {
      isOver: () => looks === 0,
      async renew() {
        looks += 1
        return true
      },
    }

    expect(await driver.query(statement('select 1'), { term, isWriting: true })).toEqual([['1']])
    expect(looks).toBe(1)
  })

  it('is looked at when its connection is there, and not before', async () => {
    const narrow = openPostgres({ connectionString: server.url, max: 1 })
    try {
      let isOver = false
      const term = { isOver: () => isOver, renew: async () => false }
      const holder = narrow.batch([statement('select pg_sleep(0.3)::text'), statement('select 1')])
      const waiting = narrow.batch([insert], { term, isWriting: true })
      isOver = true

      await expect(waiting).rejects.toMatchObject({ state: 'SV117' })
      await holder
    } finally {
      await narrow.close()
    }
  })

  it('waits behind no other statement, and is looked at when it has waited for a connection of its own', async () => {
    const busy = openPostgres({ connectionString: server.url })
    const clients = 10
    try {
      const running = Array.from({ length: clients }, () =>
        busy.query(statement('select pg_sleep(0.3)::text'), { term: outdated(9), isWriting: true }),
      )
      const waiting = busy.query(insert, { term: outdated(1), isWriting: true })

      await expect(waiting).rejects.toMatchObject({ state: 'SV117' })
      await Promise.all(running)
    } finally {
      await busy.close()
    }
  })
})

/** A term that is over behind so many looks, and cannot be renewed. */
function outdated(looks = 0) {
  let left = looks
  return { isOver: () => left-- <= 0, renew: async () => false }
}

/** What has arrived on any connection by now is read. */
function oneTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

function statement(text: string, params: readonly SqlParam[] = []): Statement {
  return { text, params }
}
