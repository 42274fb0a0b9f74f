/** The system database is installed once, whoever else does it, and belongs to releases that know its schema. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openPostgres } from '../../src/platform/drivers/postgres/driver.ts'
import type { SqlDriver } from '../../src/ports/database.ts'
import { installSchema, WORKSPACE_SCHEMA_NUMBER } from '../../src/store/installation.ts'
import { batchUnderLock, freshFence, givenFence, keepLock, reserveLock, takeLock } from '../../src/store/model-lock.ts'
import { startPostgres } from '../support/servers/postgres.ts'

let postgres: Awaited<ReturnType<typeof startPostgres>>
let drivers: readonly SqlDriver[] = []

beforeAll(async () => {
  postgres = await startPostgres()
  drivers = Array.from({ length: 3 }, () => openPostgres({ connectionString: postgres.url }))
})

afterAll(async () => {
  await Promise.all(drivers.map((driver) => driver.close()))
  await postgres?.close()
})

const ask = async (text: string) => (await drivers[0]?.query({ text, params: [] })) ?? []

it('is installed once by processes that start together', async () => {
  await Promise.all(drivers.map(installSchema))

  expect(await ask('select number from service.migration')).toEqual([['1']])
  expect(await ask('select count(*) from service.instance')).toEqual([['1']])
})

it('brings workspaces forward that are behind', async () => {
  await ask(`insert into service.workspace (id, api_name, schema_number) values ('${randomUUID()}', 'late', 0)`)

  await Promise.all(drivers.map(installSchema))

  expect(await ask('select schema_number from service.workspace')).toEqual([[String(WORKSPACE_SCHEMA_NUMBER)]])
  expect(await ask('select count(*) from service_late_meta.collection')).toEqual([['0']])
})

it('takes a model only over the version that was read, and from no holder of the lock whom another one has followed', async () => {
  const workspaceId = randomUUID()
  const values = `'${workspaceId}', 'locked', ${WORKSPACE_SCHEMA_NUMBER}`
  await ask(`insert into service.workspace (id, api_name, schema_number) values (${values})`)
  const [[before] = []] = await ask(`select model_version from service.workspace where id = '${workspaceId}'`)
  const take = (later: number, fence = freshFence) =>
    batchUnderLock(drivers[0] as SqlDriver, [takeLock({ workspaceId, version: Number(before) + later }, fence)])

  expect([await take(0), await take(0), await take(1, givenFence(0)), await take(1)]).toEqual([
    true,
    false,
    false,
    true,
  ])
})

it('is changed elsewhere by the last holder of the lock alone, and saved by who reserved it last', async () => {
  const workspaceId = randomUUID()
  const values = `'${workspaceId}', 'reserved', ${WORKSPACE_SCHEMA_NUMBER}`
  await ask(`insert into service.workspace (id, api_name, schema_number) values (${values})`)
  const [[version] = []] = await ask(`select model_version from service.workspace where id = '${workspaceId}'`)
  const read = { workspaceId, version: Number(version) }
  const attempts = [
    reserveLock(read, givenFence(5)),
    // Who lost the lock meanwhile neither begins nor saves.
    reserveLock(read, givenFence(4)),
    keepLock(read, givenFence(4)),
    reserveLock(read, givenFence(6)),
    keepLock(read, givenFence(5)),
    keepLock(read, givenFence(6)),
    // Its version is another by now.
    reserveLock(read, givenFence(7)),
  ]

  const done: boolean[] = []
  for (const one of attempts) done.push(await batchUnderLock(drivers[0] as SqlDriver, [one]))

  expect(done).toEqual([true, false, false, true, false, true, false])
})

it('is left alone where a newer release has migrated it', async () => {
  await ask('insert into service.migration (number) values (1000)')

  await expect(installSchema(drivers[0] as SqlDriver)).rejects.toThrow(
    'The system database is at schema 1000, this release knows 1: it was migrated by a newer release',
  )
})
