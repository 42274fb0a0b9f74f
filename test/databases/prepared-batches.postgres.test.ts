/** Batches of the Postgres driver: a text that is sent again is prepared, until the server no longer accepts that. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import type { Statement } from '../../src/core/sql/statement.ts'
import { openPostgres } from '../../src/platform/drivers/postgres/driver.ts'
import type { SqlDriver } from '../../src/ports/database.ts'
import { startPostgres } from '../support/servers/postgres.ts'

const writer = { isWriting: true } as const
const statement = (text: string, ...params: readonly string[]): Statement => ({ text, params })
const insert = (id: number) =>
  statement('insert into entries (id, title) values ($1::int, $2)', String(id), `Entry ${id}`)
const all = statement('select * from entries order by id')
const prepared = statement("select count(*) from pg_prepared_statements where name like 'b%'")

let server: Awaited<ReturnType<typeof startPostgres>>
let driver: SqlDriver

beforeAll(async () => {
  server = await startPostgres()
})

beforeEach(async () => {
  driver = openPostgres({ connectionString: server.url, max: 1 })
  await driver.batch([
    statement('drop table if exists entries'),
    statement('create table entries (id int primary key, title text)'),
  ])
})

afterEach(() => driver.close())

afterAll(() => server?.close())

it('prepares what is sent a second time, in the same batch or a later one', async () => {
  const [, , first] = await driver.batch([insert(1), insert(2), prepared], writer)
  const [, second] = await driver.batch([insert(3), prepared], writer)

  expect([first, second]).toEqual([[['1']], [['2']]])
  expect((await driver.batch([all], writer))[0]).toHaveLength(3)
})

it('prepares nothing that is no request', async () => {
  for (let round = 0; round < 3; round += 1) await driver.batch([prepared])

  expect(await driver.batch([prepared])).toEqual([[['0']]])
})

it('runs a batch again whose prepared statement has become another, and once only', async () => {
  for (const id of [1, 2, 3]) await driver.batch([insert(id), all], writer)
  await driver.batch([statement('alter table entries add column views int default 7')])

  const [, rows] = await driver.batch([insert(4), all], writer)

  expect(rows).toEqual([1, 2, 3, 4].map((id) => [String(id), `Entry ${id}`, '7']))
})

it('tells the statement that has failed, leaves nothing, and goes on with what it has prepared', async () => {
  await driver.batch([insert(1), insert(2)], writer)

  const failing = driver.batch([insert(3), insert(1), insert(4)], writer)

  await expect(failing).rejects.toMatchObject({ state: '23505', position: 1 })
  expect(await driver.batch([all, insert(3), all], writer)).toMatchObject([{ length: 2 }, [], { length: 3 }])
})

it('keeps a connection only while few statements are prepared on it', async () => {
  const many = Array.from({ length: 300 }, (_, n) => statement(`select ${n}::text, $1::text`, 'x'))
  await driver.batch([...many, ...many], writer)

  expect(await driver.batch([prepared], writer)).toEqual([[['0']]])
})
