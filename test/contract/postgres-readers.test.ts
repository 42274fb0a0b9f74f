/** The held connections of the Postgres driver: a statement that takes its time, or waits for a lock, is waited for alone. */
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { openPostgres } from '../../src/platform/drivers/postgres.ts'
import type { SqlDriver } from '../../src/ports.ts'
import { startPostgres } from '../support/postgres.ts'

let server: Awaited<ReturnType<typeof startPostgres>>
let other: pg.Client
let driver: SqlDriver

beforeAll(async () => {
  server = await startPostgres()
  other = new pg.Client({ connectionString: server.url })
  await other.connect()
  await other.query('create table counters (id int primary key, n int); insert into counters values (1, 0), (2, 0)')
})

beforeEach(() => {
  driver = openPostgres({ connectionString: server.url })
})

afterEach(() => driver.close())

afterAll(async () => {
  await other?.end()
  await server?.close()
})

it('answers others while two statements take their time', async () => {
  const slow = [1, 2].map((number) => driver.query(statement(`select ${number}, pg_sleep(3)`)))
  await wait(400)

  const start = performance.now()
  const quick = await Promise.all(Array.from({ length: 40 }, (_, n) => driver.query(statement(`select ${n}::text`))))

  expect(quick.map(([row]) => row)).toEqual(Array.from({ length: 40 }, (_, n) => [String(n)]))
  expect(performance.now() - start).toBeLessThan(1_500)
  expect((await Promise.all(slow)).map(([row]) => row?.[0])).toEqual(['1', '2'])
})

it('answers others while statements wait for a lock', async () => {
  await other.query('begin; update counters set n = n + 1')
  const blocked = [1, 2].map((id) =>
    driver.query(statement(`update counters set n = n + 1 where id = ${id} returning n`)),
  )
  await wait(400)

  const [row] = await driver.query(statement('select sum(n)::text from counters'))
  await other.query('commit')

  expect(row).toEqual(['0'])
  expect(await Promise.all(blocked)).toEqual([[['2']], [['2']]])
})

it('opens no more than eight further connections for them', async () => {
  const slow: Promise<unknown>[] = []
  for (let count = 0; count < 14; count += 1) {
    slow.push(driver.query(statement('select pg_sleep(1)')))
    await wait(140)
  }

  expect(await connections()).toBeLessThanOrEqual(10)
  await Promise.all(slow)
})

it('leaves none of them open', async () => {
  const closing = openPostgres({ connectionString: server.url })
  const slow = closing.query(statement('select pg_sleep(0.6)::text'))
  await wait(300)
  await Promise.all(Array.from({ length: 4 }, () => closing.query(statement('select 1'))))

  await closing.close()

  expect(await slow).toEqual([['']])
  await wait(100)
  expect(await connections()).toBe(0)
})

function statement(text: string) {
  return { text, params: [] }
}

async function connections(): Promise<number> {
  const { rows } = await other.query(
    `select count(*)::int from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()`,
  )
  return rows[0].count
}
