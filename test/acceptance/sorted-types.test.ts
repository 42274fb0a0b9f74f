/** Sorts by columns of PostgreSQL whose types are shown as JSON, in the order that the database has for them. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type SourceServers, startSourceServers } from '../support/servers/source-servers.ts'
import { type Workspace, world } from '../support/service/world.ts'

/** JSON has the shorter name first, so the order of each is another one there. */
const statements = [
  'create extension hstore',
  'create type size as (width int, at text)',
  'create type loose as (width int, of json)',
  'create table parts (id int primary key, labels hstore, size size, loose loose)',
  `insert into parts values
    (1, 'b=>1', '(1,c)', '(1,"[2]")'), (2, 'a=>2,c=>1', '(2,a)', '(2,"[1]")'), (3, 'aa=>0', '(1,d)', null),
    (4, '', '(10,)', '(1,"[1]")'), (5, null, null, null), (6, 'b=>NULL', '(,b)', '(0,)')`,
]

let servers: SourceServers
let shop: Workspace

beforeAll(async () => {
  servers = await startSourceServers()
  const { config, run } = servers.postgres
  await run(...statements)
  shop = await world.workspace('sorted_types', {})
  const made = await shop.post('/sources/data', { apiName: 'shop', provider: 'postgres', config })
  const { data } = (await made.json()) as { data: { id: string } }
  expect((await shop.send('POST', `/schema/introspect/${data.id}`)).status).toBe(200)
})

afterAll(() => servers?.close())

it.each(['labels', 'size'])('sorts by %s as the database does', async (name) => {
  for (const direction of ['asc', 'desc']) {
    const found = await shop.data(
      `/items/parts?fields=id&sort[0][${name}][direction]=${direction}&sort[1][id][direction]=asc`,
    )
    const [[wanted] = []] = await servers.postgres.run(
      `select json_agg(json_build_object('id', id) order by ${name} ${direction}, id)::text from parts`,
    )

    expect(JSON.stringify(found)).toBe(JSON.stringify(JSON.parse(wanted ?? '')))
  }
})

it('sorts by a composite type with a member that has no order', async () => {
  expect(await shop.data('/items/parts?fields=id&sort[0][loose][direction]=asc&limit=1')).toHaveLength(1)
})
