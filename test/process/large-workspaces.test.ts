/** A workspace of more tables than the server has locks for in one transaction is deleted with all that it has. */
import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { client } from '../support/service/client.ts'
import { type NodeService, startService } from '../support/service/node-service.ts'

const TABLES = 3_000

let service: NodeService
let database: pg.Client

beforeAll(async () => {
  service = await startService('large', { collections: { things: { id: 'int64 = counted' } }, keys: {}, relations: [] })
  database = new pg.Client({ connectionString: service.databaseUrl })
  await database.connect()
  for (let made = 0; made < TABLES; made += 500) {
    await database.query(
      `do $$ begin for i in ${made} .. ${made + 499} loop
         execute format('create table %I.%I (id serial primary key)', '${service.schema}', 'more_' || i);
       end loop; end $$`,
    )
  }
})

afterAll(async () => {
  await database?.end()
  await service?.close()
})

it(`is deleted with ${TABLES} tables`, async () => {
  const caller = client(service.url, { Authorization: `Bearer ${service.token}` })
  const { data } = (await (await caller.get('/api/system/workspaces?filter[apiName][_eq]=large')).json()) as {
    data: { id: string }[]
  }

  expect((await caller.delete(`/api/system/workspaces/${data[0]?.id}`)).status).toBe(204)
  const left = await database.query(`select 1 from pg_namespace where nspname like 'service_large%'`)
  expect(left.rows).toEqual([])
})
