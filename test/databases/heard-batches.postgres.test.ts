/** Batches of the Postgres driver whose answers are heard before they are committed (decision 101). */
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import type { Statement } from '../../src/core/sql/statement.ts'
import { openPostgres } from '../../src/platform/drivers/postgres/driver.ts'
import type { QueryContext, SqlDriver, SqlRow } from '../../src/ports/database.ts'
import { startPostgres } from '../support/servers/postgres.ts'

const statement = (text: string, ...params: readonly string[]): Statement => ({ text, params })
const insert = (id: number) =>
  statement('insert into entries (id, title) values ($1::int, $2) returning id::text', String(id), `Entry ${id}`)
const all = statement('select id::text from entries order by id')
const accepted: QueryContext = { isWriting: true, confirm: () => {} }

let server: Awaited<ReturnType<typeof startPostgres>>
let driver: SqlDriver

beforeAll(async () => {
  server = await startPostgres()
})

beforeEach(async () => {
  // One connection, so that the next batch meets what the one before has left on it.
  driver = openPostgres({ connectionString: server.url, max: 1, timeLimit: 30_000 })
  await driver.batch([
    statement('drop table if exists entries'),
    statement('create table entries (id int primary key, title text, other int unique deferrable initially deferred)'),
  ])
})

afterEach(() => driver.close())

afterAll(() => server?.close())

it('is committed when its answers are accepted', async () => {
  const heard: (readonly (readonly SqlRow[])[])[] = []

  const answers = await driver.batch([insert(1), all], { isWriting: true, confirm: (rows) => void heard.push(rows) })

  expect(answers).toEqual([[['1']], [['1']]])
  expect(heard).toEqual([answers])
  expect(await driver.query(all)).toEqual([['1']])
})

it('leaves nothing where they are refused, and goes on with the connection', async () => {
  const refusing: QueryContext = {
    isWriting: true,
    confirm() {
      throw new Error('refused')
    },
  }

  await expect(driver.batch([insert(1), insert(2)], refusing)).rejects.toThrow('refused')

  expect(await driver.query(all)).toEqual([])
  expect(await driver.batch([insert(1), all], accepted)).toEqual([[['1']], [['1']]])
})

it('tells the statement that has failed, runs none behind it, and goes on with what it has prepared', async () => {
  await driver.batch([insert(1), insert(2), all], accepted)

  const failing = driver.batch([insert(3), insert(1), insert(4), statement('select 1 / $1::int', '1')], accepted)

  await expect(failing).rejects.toMatchObject({ state: '23505', position: 1 })
  expect(await driver.batch([all, insert(3), all, statement('select 1 / $1::int', '1')], accepted)).toMatchObject([
    { length: 2 },
    { length: 1 },
    { length: 3 },
    [['1']],
  ])
})

it('is refused for what comes before the statement that has failed', async () => {
  const demanding: QueryContext = {
    isWriting: true,
    confirm([first]) {
      if (first?.length === 0) throw new Error('nothing found')
    },
  }
  const missing = statement('update entries set title = $1 where id = 9 returning id::text', 'None')

  await expect(driver.batch([missing, insert(1), insert(1)], demanding)).rejects.toThrow('nothing found')
  await expect(driver.batch([insert(1), insert(1), missing], demanding)).rejects.toMatchObject({ position: 1 })
  expect(await driver.query(all)).toEqual([])
})

it('tells the statement that cannot be read', async () => {
  for (const _ of [1, 2]) {
    const failing = driver.batch([insert(1), statement('selec 1'), insert(2)], accepted)
    await expect(failing).rejects.toMatchObject({ state: '42601', position: 1 })
  }
  expect(await driver.batch([insert(1), insert(2)], accepted)).toHaveLength(2)
})

it('leaves nothing where the commit itself fails', async () => {
  const taken = (id: number) => statement('insert into entries (id, other) values ($1::int, 1)', String(id))

  await expect(driver.batch([taken(1), taken(2)], accepted)).rejects.toMatchObject({ state: '23505' })

  expect(await driver.batch([all], accepted)).toEqual([[]])
})

it('runs again without what was prepared, once that has become another', async () => {
  const whole = statement('select * from entries order by id')
  for (const id of [1, 2, 3]) await driver.batch([insert(id), whole], accepted)
  await driver.batch([statement('alter table entries add column views int default 7')])

  const [, rows] = await driver.batch([insert(4), whole], accepted)

  expect(rows).toEqual([1, 2, 3, 4].map((id) => [String(id), `Entry ${id}`, null, '7']))
})

it('ends a batch whose answers are too large together, and leaves nothing', async () => {
  const large = statement("select repeat('x', $1::int)", String(9 * 1024 * 1024))

  await expect(driver.batch([insert(1), large, large], accepted)).rejects.toMatchObject({ state: '54000', position: 2 })

  expect(await driver.batch([all], accepted)).toEqual([[]])
})

it('runs more statements than are sent at once in one transaction', async () => {
  const many = Array.from({ length: 250 }, (_, index) => insert(index))

  await expect(driver.batch([...many, insert(7)], accepted)).rejects.toMatchObject({ state: '23505', position: 250 })
  expect(await driver.query(all)).toEqual([])

  expect(await driver.batch(many, accepted)).toHaveLength(250)
  expect(await driver.query(all)).toHaveLength(250)
})

it('runs without names where the server has forgotten them, that of the beginning included', async () => {
  await driver.batch([insert(1)], accepted)
  await driver.batch([insert(2)], accepted)
  await driver.batch([statement('deallocate all')])

  await driver.batch([insert(3)], accepted)

  expect(await driver.query(all)).toEqual([['1'], ['2'], ['3']])
})

it('has the time limit of the driver', async () => {
  const impatient = openPostgres({ connectionString: server.url, max: 1, timeLimit: 3_000 })

  const failing = impatient.batch([insert(1), statement('select pg_sleep(60)')], accepted)

  await expect(failing).rejects.toMatchObject({ state: '57014', position: 1 })
  expect(await driver.query(all)).toEqual([])
  await impatient.close()
})
