/** Whether another schema of the database has a name (docs/decisions/121). */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { postgresIdentities } from '../../src/core/sql/postgres/identities.ts'
import { openPostgres } from '../../src/platform/drivers/postgres/driver.ts'
import type { SqlDriver } from '../../src/ports/database.ts'
import { startPostgres } from '../support/servers/postgres.ts'

let postgres: Awaited<ReturnType<typeof startPostgres>>
let database: SqlDriver

beforeAll(async () => {
  postgres = await startPostgres()
  const first = openPostgres({ connectionString: postgres.url })
  for (const text of [
    'create schema app',
    'create schema aside',
    'create table public.blocked (id int)',
    'create view app.shown as select 1 as id',
    'create table aside.lone (id int)',
    `create type aside.mood as enum ('good')`,
    `do $$ begin execute format('alter database %I set search_path = app, public', current_database()); end $$`,
  ])
    await first.query({ text, params: [] })
  await first.close()
  database = openPostgres({ connectionString: postgres.url })
})

afterAll(async () => {
  await database?.close()
  await postgres?.close()
})

it.each([
  ['blocked', 'app', true],
  ['blocked', undefined, true],
  ['blocked', 'aside', true],
  ['blocked', 'public', false],
  ['shown', 'public', true],
  ['shown', undefined, false],
  ['lone', undefined, true],
  ['lone', 'aside', false],
  ['mood', undefined, true],
  ['pg_class', undefined, false],
  ['Blocked', undefined, false],
] as const)('%s in %s', async (name, schema, isElsewhere) => {
  const found = await database.query(postgresIdentities.elsewhere(['nowhere', name], schema))
  expect(found).toEqual(isElsewhere ? [[name]] : [])
})

it.each([
  ['orders', 'no'],
  ['o'.repeat(63), 'no'],
  ['orders', 'n'.repeat(63)],
  ['größe'.repeat(9), 'größe'.repeat(9)],
  ['o'.repeat(30), 'n'.repeat(40)],
])('knows the sequence of %s.%s', async (table, column) => {
  const asked = `select pg_get_serial_sequence('aside."${table}"', '${column}')`
  await database.query({ text: `create table aside."${table}" ("${column}" serial)`, params: [] })
  const [[sequence] = []] = await database.query({ text: asked, params: [] })

  expect(sequence?.replaceAll('"', '')).toBe(`aside.${postgresIdentities.sequence(table, column)}`)
  await database.query({ text: `drop table aside."${table}"`, params: [] })
})
