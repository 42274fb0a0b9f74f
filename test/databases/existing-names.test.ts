/**
 * docs/contract.md#api-names: names that were there before the rule keep working; only created and edited ones are
 * checked.
 */
import pg from 'pg'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import type { Drawing } from '../support/data/model-sketch.ts'
import { type NodeService, startService } from '../support/service/node-service.ts'

const drawing: Drawing = { collections: { books: { id: 'int32', title: 'string?' } }, keys: {}, relations: [] }
const old = '2-old.book/s'

let service: NodeService

beforeAll(async () => {
  service = await startService('library', drawing)
  const database = new pg.Client(service.databaseUrl)
  await database.connect()
  await database.query(`update service_library_meta.collection set api_name = $1 where api_name = 'books'`, [old])
  await database.query(
    `update service_library_meta.primitive_field set api_name = '1st-title' where api_name = 'title'`,
  )
  await database.query(`update service.workspace set model_version = model_version + 1`)
  await database.end()
  const isKnown = async () => expect((await service.send('GET', encodeURIComponent(old))).status).toBe(200)
  await vi.waitFor(isKnown, { timeout: 60_000, interval: 50 })
})

afterAll(() => service?.close())

it('keeps working under a name that the rule refuses', async () => {
  const path = encodeURIComponent(old)

  expect(await service.send('POST', path, [{ id: 1, '1st-title': 'Ada' }])).toMatchObject({ status: 200 })
  expect(await service.send('GET', `${path}?fields=1st-title&filter[1st-title][_eq]=Ada`)).toEqual({
    status: 200,
    body: { data: [{ '1st-title': 'Ada' }] },
  })
})

it('is migrated as long as the name itself is left alone', async () => {
  const id = await idOf()
  const renamed = (apiName: string) => [{ kind: 'changeApiName', data: { apiName } }]

  expect((await migrate(id, [{ kind: 'changeDbName', data: { dbName: 'volumes' } }])).status).toBe(200)
  expect((await migrate(id, renamed('3rd'))).status).toBe(422)
  expect((await migrate(id, renamed('volumes'))).status).toBe(200)
})

async function idOf(): Promise<string> {
  const search = `ServiceCollection?fields=id&filter[apiName][_eq]=${encodeURIComponent(old)}`
  const { body } = await service.send('GET', search)
  return (body as { data: { id: string }[] }).data[0]?.id ?? ''
}

function migrate(id: string, operations: readonly object[]): Promise<Response> {
  return fetch(`${service.url}/api/library/schema/migrate`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${service.token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ operations: [{ kind: 'updateCollection', data: { id, operations } }] }),
  })
}
