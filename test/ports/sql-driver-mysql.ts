/** The laws of the SqlDriver port that hold for every way in which we reach a MySQL or a MariaDB. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { CANCELED, SqlFault } from '../../src/core/sql/fault.ts'
import { mariadb } from '../../src/core/sql/mysql/dialect.ts'
import type { SqlParam, Statement } from '../../src/core/sql/statement.ts'
import type { SqlDriver } from '../../src/ports/database.ts'
import { expectNextServed } from '../support/servers/next-served.ts'

export type MysqlAdapter = {
  /** A driver of a database without tables; `timeLimit` in milliseconds, 0 for none. */
  readonly open: (timeLimit: number) => SqlDriver
  /** How long the server may go on with a statement that was ended, in seconds: 0 where it is ended there, too. */
  readonly goesOnFor: number
}

export function statement(text: string, params: readonly SqlParam[] = []): Statement {
  return { text, params }
}

export function isOverdue(error: unknown): boolean {
  return error instanceof SqlFault && mariadb.explain(error)?.code === '5004'
}

export function mysqlDriverLaws({ open, goesOnFor }: MysqlAdapter): void {
  let driver: SqlDriver

  beforeAll(async () => {
    driver = open(0)
    const tables = [
      'create table parent (id int primary key, name varchar(60), constraint parent_name_key unique (name))',
      `create table child (id int, parent int not null, n tinyint check (n <> 13),
        constraint child_parent_fkey foreign key (parent) references parent (id))`,
      'create table counter (n int)',
      'insert into counter values (0)',
      'create table step (n int)',
    ]
    for (const table of tables) await driver.query(statement(table))
  })

  afterAll(() => driver?.close())

  describe('values', () => {
    const columns = `cast(9007199254740993 as signed), cast(18446744073709551615 as unsigned),
    12345678901234567890.123456789, cast(0.1 as double), true, timestamp'2024-02-29 12:34:56.123456',
    date'2024-02-29', time'12:00:00', cast('0a' as char), '', null`
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
      '',
      null,
    ]

    it('come in the text form of the database, with parameters or without', async () => {
      expect(await driver.query(statement(`select ${columns}`))).toEqual([texts])
      expect(await driver.query(statement(`select ${columns}, ?`, ['x']))).toEqual([[...texts, 'x']])
    })

    it.each([
      ['null', null],
      ['an empty text', ''],
      ['quotes, a backslash and a placeholder', `'; drop table parent; -- ? \\' " \\`],
      ['control characters', '\b\t\n\r\u001a'],
      ['emoji and several scripts', '👩‍👩‍👧 ß 漢字 \u{10ffff}'],
      ['1 MB', 'ä'.repeat(512 * 1024)],
    ])('give a parameter back unchanged: %s', async (_, value) => {
      expect(await driver.query(statement('select ?, ? as x', [value, '?']))).toEqual([[value, '?']])
    })

    it('are no rows where there are none', async () => {
      expect(await driver.query(statement('select 1 from dual where false'))).toEqual([])
      expect(await driver.query(statement('update parent set name = name where false'))).toEqual([])
      expect(await driver.batch([])).toEqual([])
    })
  })

  describe('a batch', () => {
    it('answers the rows of each statement, and sees its own changes', async () => {
      const answer = await driver.batch([
        statement('insert into parent (id, name) values (?, ?), (11, null)', ['10', 'ten']),
        statement('update parent set name = ? where id = 11', ['eleven']),
        statement('select name from parent where id in (10, 11) order by id'),
      ])

      expect(answer).toEqual([[], [], [['ten'], ['eleven']]])
    })

    it('leaves nothing behind when it fails, and says why', async () => {
      const failing = driver.batch([
        statement('insert into parent (id, name) values (20, ?)', ['twenty (errno 1048) (sqlstate 23000)']),
        statement('insert into parent (id, name) values (21, ?)', ['ten']),
      ])

      await expect(failing).rejects.toMatchObject({ state: '23000', errno: 1062, constraint: 'parent_name_key' })
      expect(await driver.query(statement('select id from parent where id between 20 and 29'))).toEqual([])
    })

    it('waits for another one that touches the same row', async () => {
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

  describe('a statement that ends before its answer', () => {
    const slow = statement(`select sleep(${goesOnFor || 60})`)
    let limited: SqlDriver
    const limitedTo = (timeLimit: number) => {
      limited = open(timeLimit)
      return limited
    }
    afterEach(() => limited.close())

    it('was over its time limit, and the next one is served', async () => {
      await expect(limitedTo(1_000).query(slow, {})).rejects.toSatisfy(isOverdue)

      await expectNextServed((context) => limited.query(statement('select 1'), context), [['1']])
      await expect.poll(running).toBe(0)
    })

    it('is not waited for any more, and the next one is served', async () => {
      let isDisconnected = false
      const ended = expect(limitedTo(0).query(slow, { isDisconnected: () => isDisconnected })).rejects.toMatchObject({
        state: CANCELED,
      })
      await expect.poll(running).toBe(1)

      isDisconnected = true
      await ended

      expect(await limited.query(statement('select 1'), {})).toEqual([['1']])
      await expect.poll(running).toBe(0)
    })

    it('was one of many in a transaction that has one limit for all of them, and leaves nothing', async () => {
      const pause = statement('select sleep(0.1)')
      const write = [statement('insert into step values (1)'), ...Array.from({ length: 30 }, () => pause)]

      await expect(limitedTo(1_000).batch(write, { isWriting: true })).rejects.toSatisfy(isOverdue)

      expect(await driver.query(statement('select count(*) from step'))).toEqual([['0']])
      const next = [statement('select 1')]
      await expectNextServed((context) => limited.batch(next, context), [[['1']]], { isWriting: true })
    })

    it('is none of our own', async () => {
      limitedTo(300)

      expect(await limited.query(statement('select sleep(1)'))).toEqual([['0']])
      expect(await limited.batch([statement('select sleep(1)')])).toEqual([[['0']]])
    })

    const running = async () => {
      const [[count] = []] = await driver.query(
        statement(
          `select count(*) from information_schema.processlist where info like 'select sleep(${goesOnFor || 60})%'`,
        ),
      )
      return Number(count)
    }
  })
}
