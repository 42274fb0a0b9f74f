/** The laws of the SqlDriver port over PlanetScale's HTTP protocol, which a gateway speaks in front of a MariaDB. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { parseSqlAddress } from '../../src/core/sql/address.ts'
import { CANCELED, SqlFault } from '../../src/core/sql/fault.ts'
import { mariadb } from '../../src/core/sql/mysql/dialect.ts'
import type { SqlParam, Statement } from '../../src/core/sql/statement.ts'
import { openPlanetscale } from '../../src/platform/drivers/planetscale.ts'
import type { SqlDriver } from '../../src/ports.ts'
import { startMariadb, type TestMariadb } from '../support/servers/mariadb.ts'
import { type PlanetscaleGateway, startPlanetscaleGateway } from '../support/servers/planetscale-gateway.ts'

let server: TestMariadb
let gateway: PlanetscaleGateway
let driver: SqlDriver

beforeAll(async () => {
  server = await startMariadb()
  gateway = await startPlanetscaleGateway(server)
  driver = openPlanetscale({ address: addressOf(gateway.config), wayOut: fetch })
  await driver.query(statement('create table parent (id int primary key, name varchar(60) unique)'))
})

afterAll(async () => {
  await gateway?.close()
  await server?.close()
})

function addressOf(config: object) {
  return parseSqlAddress('planetscale', config)
}

function statement(text: string, params: readonly SqlParam[] = []): Statement {
  return { text, params }
}

describe('values', () => {
  it('come in the text form of the database', async () => {
    const columns = `cast(9007199254740993 as signed), 12345678901234567890.123456789, true, date'2024-02-29',
      timestamp'2024-02-29 12:34:56.123456', null, ''`

    expect(await driver.query(statement(`select ${columns}`))).toEqual([
      ['9007199254740993', '12345678901234567890.123456789', '1', '2024-02-29', '2024-02-29 12:34:56.123456', null, ''],
    ])
  })

  it.each([
    ['null', null],
    ['an empty text', ''],
    ['quotes, a backslash and a placeholder', `'; drop table parent; -- ? \\' " \\`],
    ['control characters', '\b\t\n\r\u001a'],
    ['emoji and several scripts', '👩‍👩‍👧 ß 漢字 \u{10ffff}'],
    ['100 kB', 'ä'.repeat(50 * 1024)],
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
  it('answers the rows of each statement, and keeps variables between them', async () => {
    const answer = await driver.batch([
      statement('set @kept = ?', ['7']),
      statement('insert into parent (id, name) values (?, ?)', ['10', 'ten']),
      statement('select name, @kept from parent where id = 10'),
    ])

    expect(answer).toEqual([[], [], [['ten', '7']]])
  })

  it('leaves nothing behind when it fails, and says why and where', async () => {
    const failing = driver.batch([
      statement('insert into parent (id, name) values (20, ?)', ['twenty (errno 1048) (sqlstate 23000)']),
      statement('insert into parent (id, name) values (21, ?)', ['ten']),
    ])

    await expect(failing).rejects.toMatchObject({ name: 'SqlFault', state: '23000', errno: 1062, position: 1 })
    expect(await driver.query(statement('select id from parent where id between 20 and 29'))).toEqual([])
  })
})

it('costs one request for a query', async () => {
  const before = gateway.requests.length

  await driver.query(statement('select 1'))

  expect(gateway.requests.length - before).toBe(1)
})

it('tells credentials that are refused from a database that is away', async () => {
  const wrong = openPlanetscale({ address: addressOf({ ...gateway.config, password: 'wrong' }), wayOut: fetch })
  const away = openPlanetscale({ address: addressOf({ ...gateway.config, port: 9 }), wayOut: fetch })

  await expect(wrong.query(statement('select 1'))).rejects.toMatchObject({ name: 'SqlFault', state: '28000' })
  await expect(away.query(statement('select 1'))).rejects.toMatchObject({ name: 'SqlFault', state: '08000' })
})

describe('a statement that ends before its answer', () => {
  const slow = statement('select sleep(3)')
  const pause = statement('select sleep(0.1)')
  let limited: SqlDriver
  const open = (timeLimit: number) => {
    limited = openPlanetscale({ address: addressOf(gateway.config), wayOut: fetch, timeLimit })
    return limited
  }
  afterEach(() => limited.close())

  it('was over its time limit, and the next one is served', async () => {
    await expect(open(1_000).query(slow, {})).rejects.toSatisfy(isOverdue)

    expect(await limited.query(statement('select 1'), {})).toEqual([['1']])
  })

  it('was one of a batch whose time was over, of which nothing is left', async () => {
    await driver.query(statement('create or replace table step (n int)'))
    const write = [statement('insert into step values (1)'), ...Array.from({ length: 30 }, () => pause)]

    await expect(open(1_000).batch(write, { isWriting: true })).rejects.toSatisfy(isOverdue)

    expect(await limited.batch([statement('select count(*) from step')], { isWriting: true })).toEqual([[['0']]])
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
  })

  it('is none of our own', async () => {
    open(300)

    expect(await limited.query(statement('select sleep(1)'))).toEqual([['0']])
    expect(await limited.batch([statement('select sleep(1)')])).toEqual([[['0']]])
  })

  const running = async () => {
    const [[count] = []] = await driver.query(
      statement(`select count(*) from information_schema.processlist where info like 'select%sleep(3)'`),
    )
    return Number(count)
  }
})

function isOverdue(error: unknown): boolean {
  return error instanceof SqlFault && mariadb.explain(error)?.code === '5004'
}
