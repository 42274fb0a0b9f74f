/** Which collections a change of the model has touched, names that go and come back included (docs/decisions/117). */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type ModelRecords, noRecords } from '../../src/core/model/model.ts'
import { openPostgres } from '../../src/platform/drivers/postgres/driver.ts'
import type { SqlDriver } from '../../src/ports/database.ts'
import { installSchema, WORKSPACE_SCHEMA_NUMBER, workspaceSchema } from '../../src/store/installation.ts'
import { areUntouched, saveModel } from '../../src/store/models.ts'
import { createCollection, field, id, migrate, workspace } from '../core/migration/build.ts'
import { startPostgres } from '../support/servers/postgres.ts'

let server: Awaited<ReturnType<typeof startPostgres>>
let database: SqlDriver
let saved: ModelRecords = noRecords
let version = 0

beforeAll(async () => {
  server = await startPostgres()
  database = openPostgres({ connectionString: server.url })
  await installSchema(database)
  const shop = `('${id('shop')}', 'shop', ${WORKSPACE_SCHEMA_NUMBER})`
  await database.batch([
    { text: `insert into service.workspace (id, api_name, schema_number) values ${shop}`, params: [] },
    ...workspaceSchema('shop'),
  ])
})

afterAll(async () => {
  await database?.close()
  await server?.close()
})

async function save(next: ModelRecords): Promise<void> {
  version += 1
  await database.batch(saveModel('shop', saved, next, version))
  saved = next
}

it('is told of a collection and of all its parts, and stays told', async () => {
  const collections = ['people', 'pay'].map((name) =>
    createCollection(name, [field(`${name}.id`, 'int64'), field(`${name}.note`, 'string')]),
  )
  const made = migrate(workspace, ...collections).records
  await save(made)
  const untouched = async (at: number) =>
    Promise.all(['people', 'pay'].map((name) => areUntouched(database, 'shop', [id(name)], at)))
  const first = version
  const renamed = (dbName: string): ModelRecords => ({
    ...saved,
    primitiveFields: saved.primitiveFields.map((one) => (one.id === id('pay.note') ? { ...one, dbName } : one)),
  })
  await save(renamed('other'))
  await save(renamed('note'))
  const there = await untouched(first)
  const second = version
  const anew = <T extends object>(records: readonly T[]) => records.map((one) => ({ ...one }))
  const ways: readonly [ModelRecords, unknown][] = [
    [{ ...saved, collections: saved.collections.filter((one) => one.id === id('people')) }, [true, false]],
    [{ ...saved, primitiveFields: anew(saved.primitiveFields) }, [false, false]],
    [{ ...saved, namespaces: anew(saved.namespaces) }, [false, false]],
    [{ ...saved, sources: anew(saved.sources) }, [false, false]],
  ]
  const found: unknown[] = []
  const before = saved
  for (const [next] of ways) {
    await save(next)
    found.push(await untouched(version - 1))
    await save(before)
  }

  expect(there).toEqual([true, false])
  expect(await areUntouched(database, 'shop', [id('people'), id('pay')], first)).toBe(false)
  expect(second).toBe(3)
  expect(found).toEqual(ways.map(([, expected]) => expected))
})
