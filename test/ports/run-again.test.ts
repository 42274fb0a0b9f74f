/** The system database's own work, ended by a real Postgres as a deadlock. */
import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openPostgres } from '../../src/platform/drivers/postgres/driver.ts'
import { runsAgain } from '../../src/platform/drivers/run-again.ts'
import type { SqlDriver } from '../../src/ports/database.ts'
import { startPostgres, type TestPostgres } from '../support/servers/postgres.ts'

let server: TestPostgres
let plain: SqlDriver
/** Holds back whoever is to meet. */
let gate: pg.Client

beforeAll(async () => {
  server = await startPostgres()
  plain = openPostgres({ connectionString: server.url })
  gate = new pg.Client({ connectionString: server.url })
  await gate.connect()
  await plain.query(statement('create table marks (id int primary key, times int not null)'))
  await plain.query(statement('insert into marks values (1, 0), (2, 0)'))
})

afterAll(async () => {
  await gate?.end()
  await plain?.close()
  await server?.close()
})

it('is run again, so that both transactions of a deadlock are done', async () => {
  const driver = runsAgain(plain)

  const met = await meet((first, second) => driver.batch(crossing(first, second)))

  expect(met.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled'])
  expect(await plain.query(statement('select times::text from marks order by id'))).toEqual([['2'], ['2']])
})

it('what a caller asks is not: who asks has rules for that', async () => {
  const driver = runsAgain(plain)

  const met = await meet((first, second) => driver.batch(crossing(first, second), {}))

  const refused = met.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
  expect(refused).toMatchObject([{ state: '40P01' }])
})

/** Two transactions that mark the rows in opposite orders, each when the other has marked its first. */
async function meet(work: (first: number, second: number) => Promise<unknown>) {
  await gate.query('select pg_advisory_lock(1)')
  const both = Promise.allSettled([work(1, 2), work(2, 1)])
  const waiting = `select count(*)::int as count from pg_locks where locktype = 'advisory' and not granted`
  await expect.poll(async () => (await gate.query<{ count: number }>(waiting)).rows[0]?.count).toBe(2)
  await gate.query('select pg_advisory_unlock(1)')
  return both
}

function crossing(first: number, second: number) {
  const mark = (id: number) => statement(`update marks set times = times + 1 where id = ${id}`)
  return [mark(first), statement('select pg_advisory_xact_lock_shared(1)'), mark(second)]
}

function statement(text: string) {
  return { text, params: [] }
}
