/** The laws of the SqlDriver port on MariaDB: those of every MySQL, and what connections of our own add to them. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { SqlFault, TOO_LARGE } from '../../src/core/sql/fault.ts'
import { mariadb } from '../../src/core/sql/mysql/dialect.ts'
import type { Statement } from '../../src/core/sql/statement.ts'
import { openMysql } from '../../src/platform/drivers/mysql.ts'
import type { SqlDriver } from '../../src/ports/database.ts'
import { startMariadb, type TestMariadb } from '../support/servers/mariadb.ts'
import { startWorkerDrivers, type WorkerDrivers } from '../support/servers/worker-drivers.ts'
import { isOverdue, mysqlDriverLaws, statement } from './sql-driver-mysql.ts'

let server: TestMariadb
let workers: WorkerDrivers
let driver: SqlDriver

beforeAll(async () => {
  server = await startMariadb()
  workers = await startWorkerDrivers('mysql')
})

afterAll(async () => {
  await workers?.close()
  await server?.close()
})

type Different = {
  timeLimit?: number
  host?: string
  port?: number
  password?: string
  database?: string
  tls?: boolean
}

const adapters = [
  { name: 'mysql2 with pools', open: (different: Different) => openMysql({ ...server, ...different }) },
  {
    name: 'mysql2 in a Worker',
    open({ timeLimit, tls: isTls = false, ...different }: Different) {
      const { host, port, user, password, database } = server
      return workers.open({ host, port, user, password, database, isTls, isPooled: false, ...different }, timeLimit)
    },
  },
  {
    name: 'mysql2 in a Worker, behind a pooler',
    open({ timeLimit, tls: isTls = false, ...different }: Different) {
      const { host, port, user, password, database } = server
      return workers.open({ host, port, user, password, database, isTls, isPooled: true, ...different }, timeLimit)
    },
  },
]

describe.each(adapters)('$name', ({ name, open }) => {
  // A database of their own for each of them.
  const database = name.replaceAll(/\W/g, '_')
  const openDriver = (different: Different = {}) => open({ database, ...different })

  beforeAll(async () => {
    const first = openMysql(server)
    await first.query(statement(`create database ${database} character set utf8mb4`))
    await first.close()
    driver = openDriver()
  })

  afterAll(() => driver?.close())

  mysqlDriverLaws({ open: (timeLimit) => openDriver({ timeLimit }), goesOnFor: 0 })

  describe('values', () => {
    it('are instants in UTC, whatever the zone of the server', async () => {
      await driver.query(statement('create table moment (at timestamp(6) null)'))
      await driver.query(statement(`insert into moment values (from_unixtime(0.5))`))

      expect(await driver.query(statement('select at, @@global.time_zone from moment'))).toEqual([
        ['1970-01-01 00:00:00.500000', '+09:00'],
      ])
    })
  })

  describe('a session', () => {
    it('refuses what does not fit instead of changing it', async () => {
      const wrong = [
        `insert into parent values (1, repeat('x', 61))`,
        `insert into parent values (2147483648, 'x')`,
        `insert into moment values ('2024-02-30')`,
        `insert into moment values ('2023-02-30')`,
      ]

      const errors = await Promise.all(wrong.map((text) => driver.query(statement(text)).catch((error) => error)))

      expect(errors.map(({ errno }) => errno)).toEqual([1406, 1264, 1292, 1292])
      expect(errors.map((error) => mariadb.explain(error)?.message)).toEqual(Array(4).fill('Value out of range'))
    })

    it('runs one statement at a time, in READ COMMITTED', async () => {
      await expect(driver.query(statement('select 1; select 2'))).rejects.toMatchObject({ state: '42000' })
      expect(await driver.query(statement('select @@tx_isolation, @@group_concat_max_len'))).toEqual([
        ['READ-COMMITTED', '1073741824'],
      ])
    })
  })

  describe('a batch', () => {
    it('answers what a statement returns', async () => {
      const answer = await driver.batch([
        statement('insert into parent (id, name) values (?, ?), (13, null) returning id', ['12', 'twelve']),
        statement('delete from parent where id = 13'),
      ])

      expect(answer).toEqual([[['12'], ['13']], []])
    })
  })

  describe('a known statement', () => {
    it('follows a table whose shape changes', async () => {
      const read = statement('select * from shifting where a = ?', ['1'])
      await driver.query(statement('create table shifting (a int)'))
      await driver.query(statement('insert into shifting values (1)'))
      await Promise.all(Array.from({ length: 8 }, () => driver.query(read)))

      await driver.query(statement(`alter table shifting add column b varchar(9) default 'new'`))

      expect(await Promise.all(Array.from({ length: 8 }, () => driver.query(read)))).toEqual(
        Array.from({ length: 8 }, () => [['1', 'new']]),
      )
    })
  })

  describe('an address', () => {
    it.each([
      ['nobody listens', { port: 1 }],
      ['no such host', { host: 'no-such-host.invalid' }],
    ])('is unreachable where %s', async (_, wrong) => {
      const other = openDriver(wrong)

      const error = await other.query(statement('select 1')).catch((error) => error)

      expect(error).toMatchObject({ name: 'SqlFault', state: '08000' })
      expect(mariadb.explain(error)?.message).toBe('Failed to connect to the database')
      await expect(other.batch([statement('select 1')])).rejects.toMatchObject({ name: 'SqlFault', state: '08000' })
      await other.close()
    })

    it('is refused with a wrong password', async () => {
      const other = openDriver({ password: 'wrong' })

      await expect(other.query(statement('select 1'))).rejects.toMatchObject({ state: '28000', errno: 1045 })
      await other.close()
    })

    it('is refused where TLS is asked for and the server has none', async () => {
      const other = openDriver({ tls: true })

      await expect(other.query(statement('select 1'))).rejects.toMatchObject({ name: 'SqlFault', state: '08000' })
      await other.close()
    })
  })

  describe('a connection that breaks', () => {
    const kill = statement('kill user tester@127.0.0.1')

    it('fails what was not answered, and the next statement connects anew', async () => {
      const other = openDriver()
      const sleeping = [
        other.query(statement('select sleep(30)')),
        other.batch([statement('select sleep(30)'), statement('select 1')]),
      ].map((answer) => answer.catch((error) => error))
      await expect.poll(() => driver.query(processes(`state = 'User sleep'`))).toEqual([['2']])

      let isOver = false
      const all = Promise.all(sleeping).finally(() => {
        isOver = true
      })

      // Reads run once more (decision 104).
      const end = () => driver.query(kill).catch(() => undefined)
      await expect.poll(() => end().then(() => isOver)).toBe(true)

      const errors = await all
      expect(errors.map((error) => mariadb.explain(error)?.message)).toEqual(
        Array(2).fill('Failed to connect to the database'),
      )
      expect(await other.query(statement('select 1'))).toEqual([['1']])
      expect(await other.batch([statement('select 2')])).toEqual([[['2']]])
      await other.close()
    })

    it('does not disturb anybody while it is idle', async () => {
      const other = openDriver()
      await Promise.all([other.query(statement('select 1')), other.batch([statement('select 1')])])

      await driver.query(kill).catch(() => undefined)
      const others = processes('id <> connection_id()')
      await expect.poll(() => driver.query(others).catch(() => undefined)).toEqual([['0']])
      await oneTurn()

      expect(await other.query(statement('select 1'))).toEqual([['1']])
      expect(await driver.query(statement('select 2'))).toEqual([['2']])
      await other.close()
    })
  })

  describe('closing', () => {
    it('waits for running statements', async () => {
      const other = openDriver()
      // Over connections that are there already, a statement runs as soon as it is asked.
      await Promise.all([other.query(statement('select 1')), other.batch([statement('select 1')])])
      const running = [
        other.query(statement(`select 'read', sleep(0.1)`)),
        other.batch([statement('select sleep(0.1)'), statement(`select 'batch'`)]),
      ]
      await oneTurn()

      await other.close()

      expect(await Promise.all(running)).toEqual([[['read', '0']], [[['0']], [['batch']]]])
    })
  })

  describe('a statement that ends before its answer', () => {
    let limited: SqlDriver
    const open = (timeLimit: number) => {
      limited = openDriver({ timeLimit })
      return limited
    }
    afterEach(() => limited.close())

    it('leaves nothing where it was to write', async () => {
      await driver.query(statement('create table if not exists ended (n int)'))
      const write = ['insert into ended values (1)', 'insert into ended select sleep(60)'].map((text) =>
        statement(text),
      )

      await expect(open(1_000).batch(write, { isWriting: true })).rejects.toSatisfy(isOverdue)

      expect(await driver.query(statement('select count(*) from ended'))).toEqual([['0']])
    })

    it('had more to answer than a caller may be given, and the next one is served', async () => {
      const large = statement(`select repeat('x', 1048576) from seq_1_to_200 where sleep(60 * (seq = 200)) = 0`)

      await expect(open(60_000).query(large, {})).rejects.toMatchObject({ state: TOO_LARGE })

      expect(await limited.query(statement('select 1'), {})).toEqual([['1']])
      await expect.poll(running).toBe(0)
    })

    const running = async () => {
      const [[count] = []] = await driver.query(
        statement(`select count(*) from information_schema.processlist where info like 'select%sleep(60)'`),
      )
      return Number(count)
    }
  })
})

describe('mysql2 with pools alone', () => {
  it('keeps a bounded number of prepared statements', async () => {
    const single = openMysql({ ...server, max: 1 })
    const count = statement(`show session status like 'Com_stmt_close'`)
    for (let turn = 0; turn < 300; turn += 1) await single.query(statement(`select ${turn}, ?`, ['x']))

    const [[, closed]] = (await single.query(count)) as [[string, string]]

    expect(Number(closed)).toBe(300 - 256)
    await single.close()
  })

  it('takes a connection string', async () => {
    const { user, password, host, port, database } = server
    const other = openMysql({ connectionString: `mariadb://${user}:${password}@${host}:${port}/${database}` })

    expect(await other.query(statement('select database()'))).toEqual([['shop']])
    await other.close()
  })
})

describe('what was planned too long ago', () => {
  const write = statement('insert into planned values (1)')

  beforeAll(async () => {
    driver = openMysql(server)
    await driver.query(statement('create table planned (n int)'))
  })

  afterAll(() => driver.close())

  it.each([
    ['is not sent', 0],
    ['is not committed', 1],
  ])('%s', async (_, looks) => {
    let left = looks
    const term = { isOver: () => left-- <= 0, renew: async () => false }

    await expect(driver.batch([write], { term, isWriting: true })).rejects.toMatchObject({ state: 'SV117' })
    expect(await driver.query(statement('select count(*) from planned'))).toEqual([['0']])
  })
})

function processes(where: string): Statement {
  return statement(`select count(*) from information_schema.processlist where user = 'tester' and ${where}`)
}

/** What has arrived on any connection by now is read. */
function oneTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

describe('a statement that heeds its answer', () => {
  const update = statement("update heeded set title = 'b' where id = 1")

  beforeAll(async () => {
    driver = openMysql(server)
    await driver.query(statement('create table heeded (id int primary key, title varchar(9))'))
    await driver.query(statement("insert into heeded values (1, 'a')"))
  })

  afterAll(() => driver.close())

  it('is told how many rows it has found, changed or not, and not so of a list', async () => {
    const told: (number | undefined)[] = []
    const onRows: Statement['onRows'] = (_, matched) => {
      told.push(matched)
      return undefined
    }

    await driver.batch(
      [update, update, statement('select 1'), statement('delete from heeded where id = 2')].map((one) => ({
        ...one,
        onRows,
      })),
    )

    expect(told).toEqual([1, 1, undefined, 0])
  })

  it('asks again until it is content, and fails in its place', async () => {
    const asked: string[] = []
    const again = (depth: number): Statement => ({
      ...statement(`select '${depth}'`),
      onRows([row]) {
        asked.push(row?.[0] ?? '')
        if (depth === 2) throw new SqlFault('service:noRecord', { state: '45000' })
        return again(depth + 1)
      },
    })

    const failing = driver.batch([update, again(0)])

    await expect(failing).rejects.toMatchObject({ message: 'service:noRecord', position: 1 })
    expect(asked).toEqual(['0', '1', '2'])
  })
})
