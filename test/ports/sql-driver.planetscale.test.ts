/**
 * The laws of the SqlDriver port over PlanetScale's HTTP protocol, which a gateway speaks in front of a MariaDB: those of
 * every MySQL, and what the protocol adds to them.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseSqlAddress } from '../../src/core/sql/address.ts'
import { SqlFault } from '../../src/core/sql/fault.ts'
import type { SqlParam, Statement } from '../../src/core/sql/statement.ts'
import { openPlanetscale } from '../../src/platform/drivers/planetscale.ts'
import type { ConversingDriver } from '../../src/ports/database.ts'
import { startMariadb, type TestMariadb } from '../support/servers/mariadb.ts'
import { type PlanetscaleGateway, startPlanetscaleGateway } from '../support/servers/planetscale-gateway.ts'
import { mysqlDriverLaws, statement } from './sql-driver-mysql.ts'

let server: TestMariadb
let gateway: PlanetscaleGateway
let driver: ConversingDriver

beforeAll(async () => {
  server = await startMariadb()
  gateway = await startPlanetscaleGateway(server)
  driver = openPlanetscale({ address: addressOf(gateway.config), wayOut: fetch })
})

afterAll(async () => {
  await gateway?.close()
  await server?.close()
})

function addressOf(config: object) {
  return parseSqlAddress('planetscale', config)
}

describe('laws of every MySQL', () => {
  mysqlDriverLaws({
    open: (timeLimit) => openPlanetscale({ address: addressOf(gateway.config), wayOut: fetch, timeLimit }),
    // A request that is given up ends nothing behind the gateway.
    goesOnFor: 3,
  })
})

it('says which statement of a batch failed', async () => {
  const failing = driver.batch([statement('select 1'), statement('selec 1'), statement('select 1')])

  await expect(failing).rejects.toMatchObject({ name: 'SqlFault', errno: 1064, position: 1 })
})

describe('a conversation', () => {
  const count = statement('select count(*) from parent where id between 30 and 39')
  const insert = (id: number) => statement(`insert into parent (id) values (${id})`)
  const failure = Object.assign(new Error('service:forbidden'), { name: 'SqlFault', state: '45000' })

  it('makes each statement when the one before was answered', async () => {
    const seen: (string | null)[] = []
    function* talk(): Generator<Statement, void> {
      yield insert(30)
      yield { ...count, onRows: ([row]) => void seen.push(row?.[0] ?? null) }
      yield statement('select ?', [`seen ${seen}`])
    }

    expect(await driver.converse(talk(), { isWriting: true })).toEqual([[], [['1']], [['seen 1']]])
  })

  it('runs what a statement makes of its answer before the next one', async () => {
    const asking = { ...statement(`select 'insert into parent (id) values (31)'`), onRows: next }

    const answer = await driver.batch([asking, statement('select id from parent where id = 31')])

    expect(answer[1]).toEqual([['31']])
  })

  it('leaves nothing behind where a statement refuses its answer, and says why and where', async () => {
    const refusing = { ...count, onRows: refuse }

    const failing = driver.batch([insert(32), refusing, insert(33)])

    await expect(failing).rejects.toSatisfy((error) => error instanceof SqlFault)
    await expect(failing).rejects.toMatchObject({ message: 'service:forbidden', state: '45000', position: 1 })
    expect(await driver.query(statement('select id from parent where id in (32, 33)'))).toEqual([])
  })

  it('leaves nothing behind where the next statement cannot be made', async () => {
    const impossible = new RangeError('too large')
    function* talk(): Generator<Statement, void> {
      yield insert(34)
      throw impossible
    }

    await expect(driver.converse(talk(), { isWriting: true })).rejects.toBe(impossible)

    expect(await driver.query(statement('select id from parent where id = 34'))).toEqual([])
  })

  it('tells a lost commit, of which nobody knows what became', async () => {
    const losing: typeof fetch = async (url, init) => {
      const response = await fetch(url, init)
      if (!String(init?.body).includes('COMMIT')) return response
      await response.arrayBuffer()
      throw new TypeError('the connection was lost')
    }
    const lost = openPlanetscale({ address: addressOf(gateway.config), wayOut: losing })

    const failing = lost.batch([insert(35)], { isWriting: true })

    await expect(failing).rejects.toMatchObject({ name: 'SqlFault', state: '08000' })
    expect(await driver.query(statement('select id from parent where id = 35'))).toEqual([['35']])
  })

  function next([row]: readonly (readonly SqlParam[])[]) {
    return statement(row?.[0] ?? '')
  }

  // As of another copy of the class, which a part of the Worker has.
  function refuse(): never {
    throw failure
  }
})

describe('the gateway', () => {
  it.each([
    'set @kept = (select 1)',
    'set @kept := 1',
    'select @kept',
    "set time_zone = if(1 = 1, @@time_zone, 'none')",
    "select * from json_table('[1]', '$[*]' columns (e int path '$')) x",
    'create trigger t before insert on parent for each row set new.id = 1',
    'create procedure p() select 1',
    'call p()',
    "signal sqlstate '45000'",
    'lock tables parent write',
    "select 1, get_lock('one', 0)",
    "select get_lock('one', 0) from parent",
    'insert into parent (id) values (90) returning id',
    'create database other',
    'select 1; select 2',
  ])('refuses what Vitess refuses: %s', async (text) => {
    await expect(driver.query(statement(text))).rejects.toMatchObject({ errno: 1235 })
  })

  it.each([
    "select get_lock(concat('a', md5(ifnull(database(), ''))), 0)",
    "select 'json_table(@x) := 1; call p()', `id` from parent where id = -1 /* set @a = 1 */",
    'select @@auto_increment_increment, last_insert_id()',
  ])('passes on what it does not: %s', async (text) => {
    await expect(driver.query(statement(text))).resolves.toBeDefined()
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
