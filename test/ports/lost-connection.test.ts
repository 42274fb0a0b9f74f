/** docs/decisions/104: what callers see when the database ended the connections that a driver keeps, on real databases. */
import { spawnSync } from 'node:child_process'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { isInDoubt, type SqlFault } from '../../src/core/sql/fault.ts'
import { openMysql } from '../../src/platform/drivers/mysql.ts'
import { openPostgres } from '../../src/platform/drivers/postgres/driver.ts'
import type { SqlDriver } from '../../src/ports/database.ts'
import { startMariadb, type TestMariadb } from '../support/servers/mariadb.ts'
import { startPostgres, type TestPostgres } from '../support/servers/postgres.ts'

let postgres: TestPostgres
let mariadb: TestMariadb

beforeAll(async () => {
  postgres = await startPostgres()
  mariadb = await startMariadb()
})

afterAll(async () => {
  await postgres?.close()
  await mariadb?.close()
})

const dialects = [
  {
    name: 'PostgreSQL',
    open: () => openPostgres({ connectionString: postgres.url }),
    endAll: () =>
      runElsewhere(`
        const { default: pg } = await import('pg')
        const client = new pg.Client({ connectionString: ${JSON.stringify(postgres.url)} })
        await client.connect()
        const others = 'datname = current_database() and pid <> pg_backend_pid()'
        await client.query('select pg_terminate_backend(pid, 5000) from pg_stat_activity where ' + others)
        await client.end()`),
    ownEnd: 'select pg_terminate_backend(pg_backend_pid())',
    runs: { make: 'create sequence runs', count: "select nextval('runs')", read: 'select last_value::text from runs' },
  },
  {
    name: 'MariaDB',
    open: () => openMysql(mariadb),
    endAll: () =>
      runElsewhere(`
        const { createConnection } = await import('mysql2/promise')
        const { host, port, user, password, database } = ${JSON.stringify(mariadb)}
        const client = await createConnection({ host, port, user, password, database })
        const others = "id <> connection_id() and user = substring_index(current_user(), '@', 1)"
        const [found] = await client.query('select id from information_schema.processlist where ' + others)
        for (const { id } of found) await client.query('kill ' + id)
        await client.end()`),
    ownEnd: 'kill connection_id()',
    runs: {
      make: 'create sequence runs nocache',
      count: 'select nextval(runs)',
      read: 'select cast(next_not_cached_value - 1 as char) from runs',
    },
  },
]

/** While another process runs `program`, this one cannot notice that a connection of its own has ended. */
function runElsewhere(program: string): void {
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
    encoding: 'utf8',
    cwd: import.meta.dirname,
  })
  expect(status, stderr).toBe(0)
}

describe.each(dialects)('on $name, with connections that were ended unnoticed,', ({ open, endAll, ownEnd, runs }) => {
  let driver: SqlDriver

  beforeEach(async () => {
    driver = open()
    await driver.query(statement('create table marks (id int primary key)'))
    await driver.query(statement(runs.make))
  })

  afterEach(async () => {
    await driver.query(statement('drop table marks'))
    await driver.query(statement('drop sequence runs'))
    await driver.close()
  })

  const marks = () => driver.query(statement('select count(*) from marks'))

  it.each([
    { name: 'a read of a caller is answered', work: () => driver.query(statement('select 1'), {}) },
    { name: 'a read of our own is answered', work: () => driver.query(statement('select 1')) },
    { name: 'a large read is answered', work: () => driver.query({ ...statement('select 1'), isLarge: true }, {}) },
    { name: 'a streamed read is answered', work: () => firstRow(driver) },
  ])('$name', async ({ work }) => {
    await work()
    endAll()

    expect(await work()).toEqual([['1']])
  })

  it.each([
    { name: 'a transaction of our own', context: undefined },
    { name: 'a transaction of a caller', context: { isWriting: true } },
    { name: 'a transaction whose answers are heard', context: { isWriting: true, confirm: () => {} } },
  ])('$name is done, once', async ({ context }) => {
    await driver.batch([statement('insert into marks values (1)')], context)
    endAll()

    await driver.batch([statement('insert into marks values (2)')], context)

    expect(await marks()).toEqual([['2']])
  })

  it('a write of our own is refused: whether it was done is unknown', async () => {
    await marks()
    endAll()

    await expect(driver.query(statement('insert into marks values (1)'))).rejects.toMatchObject({
      state: expect.stringMatching(/^(08006|57P01)$/),
    })
  })

  it.each([
    { name: 'a transaction', context: { isWriting: true } },
    { name: 'a transaction whose answers are heard', context: { isWriting: true, confirm: () => {} } },
  ])('$name whose own statement ends the connection is not run again', async ({ context }) => {
    const batch = driver.batch([statement(runs.count), statement(ownEnd)], context)

    await expect(batch).rejects.toThrow()
    expect(await driver.query(statement(runs.read))).toEqual([['1']])
  })
})

it.each([
  { name: 'a transaction', context: { isWriting: true } },
  { name: 'a transaction whose answers are heard', context: { isWriting: true, confirm: () => {} } },
  { name: 'a transaction of our own', context: undefined },
])('on PostgreSQL, nobody knows whether $name was done whose commit ends the connection', async ({ context }) => {
  const driver = openPostgres({ connectionString: postgres.url })
  const make = [
    'create table doubts (id int)',
    `create function ended() returns trigger language plpgsql as
      'begin perform pg_terminate_backend(pg_backend_pid()); return null; end'`,
    'create constraint trigger t after insert on doubts deferrable initially deferred for each row execute function ended()',
  ]
  await driver.batch(make.map(statement))

  const fault = await driver
    .batch([statement('insert into doubts values (1)')], context)
    .catch((error: unknown) => error)

  await driver.batch([statement('drop table doubts'), statement('drop function ended')])
  await driver.close()
  expect(fault).toMatchObject({ state: expect.stringMatching(/^(57P01|08006)$/) })
  expect(isInDoubt(fault as SqlFault)).toBe(true)
})

/** A driver that streams nothing answers as a whole. */
async function firstRow(driver: SqlDriver) {
  const rows = await driver.stream?.(statement('select 1'), {})
  if (rows === undefined) return driver.query(statement('select 1'), {})
  const first = await rows.next()
  await rows.return?.()
  return [first.value]
}

function statement(text: string) {
  return { text, params: [] }
}
