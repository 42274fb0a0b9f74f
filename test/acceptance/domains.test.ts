/** Columns of PostgreSQL whose type is made of others: domains, filtered, sorted and walked as their base, and composite types. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openPostgres } from '../../src/platform/drivers/postgres/driver.ts'
import { startPostgres, type TestPostgres } from '../support/servers/postgres.ts'
import { type Workspace, world } from '../support/service/world.ts'

/** A base, and two values of it as they are sent. */
const bases: readonly (readonly [base: string, one: string | number | boolean, other: string | number | boolean])[] = [
  ['int', 1, 2],
  ['bigint', '1', '2'],
  ['numeric', '1.5', '2'],
  ['numeric(10,2)', '1.50', '2.00'],
  ['float8', 1.5, 2],
  ['text', 'a', 'b'],
  ['varchar(5)', 'a', 'b'],
  ['boolean', true, false],
  ['uuid', '00000000-0000-4000-8000-000000000001', '00000000-0000-4000-8000-000000000002'],
  ['date', '2026-01-01', '2026-01-02'],
  ['time', '01:00:00', '02:00:00'],
  ['timestamptz', '2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z'],
  ['bytea', 'YQ==', 'Yg=='],
  ['mood', 'glad', 'sad'],
  ['inet', '10.0.0.1', '10.0.0.2'],
]

let server: TestPostgres
let shop: Workspace

beforeAll(async () => {
  server = await startPostgres()
  const driver = openPostgres({ connectionString: server.url })
  const run = (text: string) => driver.query({ text, params: [] })
  await run(`create type mood as enum ('glad', 'sad')`)
  for (const [index, [base]] of bases.entries()) {
    await run(`create domain d${index} as ${base}`)
    await run(`create domain dd${index} as d${index}`)
    await run(`create table t${index} (id int primary key, one dd${index}, list d${index}[], deep dd${index}[])`)
  }
  await run('create domain positive as int check (value > 0)')
  await run('create type withd as (d positive)')
  await run('create table vio (id int primary key, ps positive, c withd, l positive[])')
  await run('create type pair as (a int, b text)')
  await run('create table pairs (id int primary key, p pair)')
  await run('create domain document as json')
  await run('create domain entry as pair')
  await run('create table parts (id int primary key, p pair[], e entry[], j json[], d document[], b jsonb[])')
  await run(`insert into pairs values (1, null), (2, row(null, null)), (3, row(1, null)), (4, row(1, 'a'))`)
  await driver.close()
  shop = await world.workspace('domains', {})
  const made = await shop.post('/sources/data', {
    apiName: 'pg',
    provider: 'postgres',
    config: { connectionString: server.url },
  })
  const { data } = (await made.json()) as { data: { id: string } }
  expect((await shop.send('POST', `/schema/introspect/${data.id}`)).status).toBe(200)
})

afterAll(() => server?.close())

const ids = async (path: string) => ((await shop.data(path)) as { id: number }[]).map(({ id }) => id)
const filter = (tree: object) => `filter=${encodeURIComponent(JSON.stringify(tree))}`

it.each(bases.map(([base, ...values], index) => [base, index, values] as const))(
  'over %s',
  async (base, index, values) => {
    const [one, other] = values
    const items = `/items/t${index}`
    await shop.insert(`t${index}`, [
      { id: 1, one, list: [one], deep: [one] },
      { id: 2, one: other, list: [one, other], deep: [other] },
      { id: 3, one: null, list: null, deep: [] },
    ])

    for (const name of ['list', 'deep'] as const) {
      const both = name === 'list' ? [1, 2] : [1]
      expect(await ids(`${items}?${filter({ [name]: { _has: one } })}`), name).toEqual(both)
      expect(await ids(`${items}?${filter({ [name]: { _has_any: [one, other] } })}`), name).toEqual([1, 2])
      expect(await ids(`${items}?${filter({ [name]: { _has_all: [one, other] } })}`), name).toEqual(
        name === 'list' ? [2] : [],
      )
    }
    expect(await ids(`${items}?${filter({ one: { _eq: one } })}`)).toEqual([1])

    // Bytes have no order.
    if (base === 'bytea') return
    const walk = `${items}?fields=id,one&limit=1&meta=cursor&sort[0][one][direction]=asc`
    const seen: number[] = []
    let after = ''
    for (let page = 0; page < 4; page += 1) {
      const response = await shop.get(`${walk}${after}`)
      const { data, meta } = (await response.json()) as { data: { id: number }[]; meta: { next: string | null } }
      expect(response.status).toBe(200)
      seen.push(...data.map(({ id }) => id))
      if (meta.next === null) break
      after = `&after=${meta.next}`
    }
    expect(seen.toSorted()).toEqual([1, 2, 3])
  },
)

it('a composite value is null where there is none, whatever its members are', async () => {
  const found = (condition: object | null) => ids(`/items/pairs?${filter({ p: condition })}`)

  for (const isNull of [{ _null: true }, { _eq: null }]) expect(await found(isNull)).toEqual([1])
  for (const isThere of [{ _null: false }, { _neq: null }]) expect(await found(isThere)).toEqual([2, 3, 4])
})

it.each(['p', 'e', 'j', 'd', 'b'])(
  'lists of composite values and of JSON are found by what they have: %s',
  async (name) => {
    const [one, other] = [
      { a: 1, b: 'x "y" \\' },
      { a: 2, b: null },
    ]
    await shop.delete('/items/parts?filter[id][_gt]=0')
    await shop.insert('parts', [
      { id: 1, [name]: [one] },
      { id: 2, [name]: [one, other] },
      { id: 3, [name]: null },
    ])
    const found = (condition: object) => ids(`/items/parts?${filter({ [name]: condition })}`)

    expect(await found({ _has: one })).toEqual([1, 2])
    expect(await found({ _has: { a: 1, b: 'y' } })).toEqual([])
    expect(await found({ _has_any: [other, { a: 3, b: null }] })).toEqual([2])
    expect(await found({ _has_all: [one, other] })).toEqual([2])
    expect(await found({ _has_all: [] })).toEqual([1, 2])
    expect(await found({ _empty: false })).toEqual([1, 2])
    const left = await shop.patch(`/items/parts/2?fields=${name}`, { [name]: { _remove: [one] } })
    expect([left.status, await left.json()]).toEqual([200, { data: { [name]: [other] } }])
  },
)

it.each([
  [{ ps: -4 }, ['ps']],
  [{ c: { d: -4 } }, undefined],
  [{ l: [1, -4] }, undefined],
  [{ ps: 1, c: { d: -4 } }, undefined],
])('a check of a domain names a field only where it is the one: %j', async (values, fields) => {
  const response = await shop.post('/items/vio', [{ id: 1, ...values }])

  const { source } = (await response.json()) as { source: object }
  const told = fields && { meta: { fields }, source: { message: 'ps must be above 0' } }
  expect([response.status, source]).toEqual([422, { message: 'Check constraint failed', code: '1005', ...told }])
})
