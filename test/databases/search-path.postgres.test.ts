/** Whether another schema of the database has a name (docs/decisions/121). */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { postgresIdentities } from '../../src/core/sql/postgres/identities.ts'
import { openPostgres } from '../../src/platform/drivers/postgres/driver.ts'
import type { SqlDriver } from '../../src/ports.ts'
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
  ['pg_class', undefined, false],
  ['Blocked', undefined, false],
] as const)('%s in %s', async (name, schema, isElsewhere) => {
  expect((await database.query(postgresIdentities.elsewhere(name, schema))).length > 0).toBe(isElsewhere)
})
