/** The laws of the SqlDriver port on MariaDB, for every way in which we reach one. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { CANCELED, SqlFault, TOO_LARGE } from '../../src/core/sql/fault.ts'
import { mariadb } from '../../src/core/sql/mysql/dialect.ts'
import type { SqlParam, Statement } from '../../src/core/sql/statement.ts'
import { openMysql } from '../../src/platform/drivers/mysql.ts'
import type { SqlDriver } from '../../src/ports.ts'
import { startMariadb, type TestMariadb } from '../support/servers/mariadb.ts'
import { startWorkerDrivers, type WorkerDrivers } from '../support/servers/worker-drivers.ts'

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
    await driver.batch([
      statement('create table parent (id int primary key, name varchar(20), constraint parent_name_key unique (name))'),
      statement(`create table child (id int, parent int not null, n tinyint check (n <> 13),
        constraint child_parent_fkey foreign key (parent) references parent (id))`),
    ])
  })

  afterAll(() => driver?.close())

  describe('values', () => {
    const columns = `cast(9007199254740993 as signed), cast(18446744073709551615 as unsigned),
    12345678901234567890.123456789, cast(0.1 as double), true, timestamp'2024-02-29 12:34:56.123456',
    date'2024-02-29', time'12:00:00', cast('0a' as char), null`
    const texts = [
      '9007199254740993',
      '18446744073709551615',
      '12345678901234567890.123456789',
      '0.1',
      '1',
      '2024-02-29 12:34:56.123456',
      '2024-02-29',
      '12:00:00',
      '0a',
      null,
    ]

    it('come in the text form of the database, prepared or not', async () => {
      expect(await driver.query(statement(`select ${columns}`))).toEqual([texts])
      expect(await driver.query(statement(`select ${columns}, ?`, ['x']))).toEqual([[...texts, 'x']])
    })

    it('are instants in UTC, whatever the zone of the server', async () => {
      await driver.query(statement('create table moment (at timestamp(6) null)'))
      await driver.query(statement(`insert into moment values (from_unixtime(0.5))`))

      expect(await driver.query(statement('select at, @@global.time_zone from moment'))).toEqual([
        ['1970-01-01 00:00:00.500000', '+09:00'],
      ])
    })

    it.each([
      ['null', null],
      ['an empty text', ''],
      ['quotes, a backslash and a placeholder', `'; drop table parent; -- ? \\' "`],
      ['emoji and several scripts', '👩‍👩‍👧 ß 漢字 \u{10ffff}'],
      ['1 MB', 'ä'.repeat(512 * 1024)],
    ])('give a parameter back unchanged: %s', async (_, value) => {
      expect(await driver.query(statement('select ?', [value]))).toEqual([[value]])
    })

    it('are no rows where there are none', async () => {
      expect(await driver.query(statement('select 1 from dual where false'))).toEqual([])
      expect(await driver.query(statement('update parent set name = name where false'))).toEqual([])
      expect(await driver.batch([])).toEqual([])
    })
  })

  describe('a session', () => {
    it('refuses what does not fit instead of changing it', async () => {
      const wrong = [
        `insert into parent values (1, repeat('x', 21))`,
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
    it('answers the rows of each statement', async () => {
      const answer = await driver.batch([
        statement('insert into parent (id, name) values (?, ?), (11, null) returning id', ['10', 'ten']),
        statement('update parent set name = ? where id = 11', ['eleven']),
        statement('select name from parent where id in (10, 11) order by id'),
      ])

      expect(answer).toEqual([[['10'], ['11']], [], [['ten'], ['eleven']]])
    })

    it('leaves nothing behind when it fails, and says why', async () => {
      const failing = driver.batch([
        statement('insert into parent (id, name) values (20, ?)', ['twenty']),
        statement('insert into parent (id, name) values (21, ?)', ['twenty']),
      ])

      await expect(failing).rejects.toMatchObject({ state: '23000', errno: 1062, constraint: 'parent_name_key' })
      expect(await driver.query(statement('select id from parent where id between 20 and 29'))).toEqual([])
    })

    it('waits for another one that touches the same row', async () => {
      await driver.query(statement('create table counter (n int)'))
      await driver.query(statement('insert into counter values (0)'))

      await Promise.all(
        Array.from({ length: 50 }, () =>
          driver.batch([statement('update counter set n = n + 1'), statement('update counter set n = n + 1')]),
        ),
      )

      expect(await driver.query(statement('select n from counter'))).toEqual([['100']])
    })
  })

  describe('a refusal', () => {
    it.each([
      ['a unique key', `insert into parent values (30, 'same'), (31, 'same')`, 1062, 'Unique constraint failed'],
      ['a missing parent', 'insert into child values (1, 999, 0)', 1452, 'Foreign key constraint failed'],
      ['a null', 'insert into child values (1, null, 0)', 1048, 'Null constraint failed'],
      ['a missing value', 'insert into child (id) values (1)', 1364, 'Null constraint failed'],
      ['a check', `insert into child values (1, 1, 13)`, 4025, 'Check constraint failed'],
      ['an unknown table', 'select * from nowhere', 1146, 'Table does not exist'],
      ['an unknown column', 'select nothing from parent', 1054, 'Table does not exist'],
      ['bad syntax', 'selec 1', 1064, undefined],
    ])('tells of %s', async (_, text, errno, message) => {
      const error = await driver.query(statement(text)).catch((error) => error)

      expect(error).toBeInstanceOf(SqlFault)
      expect(error).toMatchObject({ errno })
      expect(error.cause).toBeInstanceOf(Error)
      expect(mariadb.explain(error)?.message).toBe(message)
    })

    it('names the constraint of a foreign key and the column of a null', async () => {
      const errors = await Promise.all(
        ['insert into child values (1, 999, 0)', 'insert into child values (1, null, 0)'].map((text) =>
          driver.query(statement(text)).catch((error) => error),
        ),
      )

      expect(errors).toMatchObject([{ constraint: 'child_parent_fkey' }, { column: 'parent' }])
    })

    it('is told of a parent that still has children', async () => {
      await driver.batch([
        statement(`insert into parent values (40, 'forty')`),
        statement('insert into child values (1, 40, 0)'),
      ])

      const error = await driver.query(statement('delete from parent where id = 40')).catch((error) => error)

      expect(mariadb.explain(error)?.message).toBe('Foreign key constraint failed')
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

      await driver.query(kill).catch(() => undefined)

      const errors = await Promise.all(sleeping)
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
    const slow = statement('select sleep(60)')
    let limited: SqlDriver
    const open = (timeLimit: number) => {
      limited = openDriver({ timeLimit })
      return limited
    }
    afterEach(() => limited.close())

    it('was over its time limit, and the next one is served', async () => {
      await expect(open(1_000).query(slow, {})).rejects.toSatisfy(isOverdue)

      expect(await limited.query(statement('select 1'), {})).toEqual([['1']])
      await expect.poll(running).toBe(0)
    })

    it('is not waited for any more, and the next one is served', async () => {
      let isDisconnected = false
      const ended = expect(open(0).query(slow, { isDisconnected: () => isDisconnected })).rejects.toMatchObject({
        state: CANCELED,
      })
      await expect.poll(running).toBe(1)

      isDisconnected = true
      await ended

      expect(await limited.query(statement('select 1'), {})).toEqual([['1']])
      await expect.poll(running).toBe(0)
    })

    it('leaves nothing where it was to write', async () => {
      await driver.query(statement('create table if not exists ended (n int)'))
      const write = ['insert into ended values (1)', 'insert into ended select sleep(60)'].map((text) =>
        statement(text),
      )

      await expect(open(1_000).batch(write, { isWriting: true })).rejects.toSatisfy(isOverdue)

      expect(await driver.query(statement('select count(*) from ended'))).toEqual([['0']])
    })

    it('was one of many in a transaction that has one limit for all of them', async () => {
      await driver.query(statement('create table if not exists step (n int)'))
      const write = [
        statement('insert into step values (1)'),
        ...Array.from({ length: 30 }, () => statement('select sleep(0.1)')),
      ]

      await expect(open(1_000).batch(write, { isWriting: true })).rejects.toSatisfy(isOverdue)

      expect(await driver.query(statement('select count(*) from step'))).toEqual([['0']])
      expect(await limited.batch([statement('select 1')], { isWriting: true })).toEqual([[['1']]])
    })

    it('had more to answer than a caller may be given, and the next one is served', async () => {
      const large = statement(`select repeat('x', 1048576) from seq_1_to_200 where sleep(60 * (seq = 200)) = 0`)

      await expect(open(60_000).query(large, {})).rejects.toMatchObject({ state: TOO_LARGE })

      expect(await limited.query(statement('select 1'), {})).toEqual([['1']])
      await expect.poll(running).toBe(0)
    })

    it('is none of our own', async () => {
      open(300)

      expect(await limited.query(statement('select sleep(1)'))).toEqual([['0']])
      expect(await limited.batch([statement('select sleep(1)')])).toEqual([[['0']]])
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

function processes(where: string): Statement {
  return statement(`select count(*) from information_schema.processlist where user = 'tester' and ${where}`)
}

/** What has arrived on any connection by now is read. */
function oneTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

function statement(text: string, params: readonly SqlParam[] = []): Statement {
  return { text, params }
}

function isOverdue(error: unknown): boolean {
  return error instanceof SqlFault && mariadb.explain(error)?.code === '5004'
}
