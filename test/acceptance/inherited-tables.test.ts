/** A table of PostgreSQL that others inherit from, whose rows share keys with its own (docs/proofs.md). */
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { type SourceServers, startSourceServers } from '../support/servers/source-servers.ts'
import { people } from '../support/service/people.ts'
import { type Workspace, world } from '../support/service/world.ts'

let servers: SourceServers
let shop: Workspace

const run = (...statements: readonly string[]) => servers.postgres.run(...statements)

beforeAll(async () => {
  servers = await startSourceServers()
  await run(
    'create table countries (id int primary key)',
    'create table cities (id int primary key, name text, country_id int references countries)',
    'create table capitals (since int) inherits (cities)',
    'create table old_capitals () inherits (capitals)',
  )
  shop = await world.workspace('inherited', {})
  const { config } = servers.postgres
  const attached = await shop.post('/sources/data', { apiName: 'atlas', provider: 'postgres', config })
  const { data } = (await attached.json()) as { data: { id: string } }
  await shop.send('POST', `/schema/introspect/${data.id}`)
})

beforeEach(() =>
  run(
    'delete from cities',
    'delete from countries',
    'insert into countries values (1), (2)',
    `insert into capitals values (1, 'Bonn', 1, 1949)`,
    `insert into cities values (1, 'Ulm', 1), (2, 'Kiel', 1)`,
    `insert into old_capitals values (3, 'Trier', 1, 306), (3, 'Worms', 1, 800)`,
  ),
)

afterAll(() => servers?.close())

/** As the database has them, each with its table. */
async function rows() {
  const found = await run(`select tableoid::regclass, id, name, country_id from cities order by 1, 2, 3`)
  return found.map((row) => row.join(' '))
}

const others = ['capitals 1 Bonn 1', 'old_capitals 3 Trier 1', 'old_capitals 3 Worms 1']

it('is read with the rows of both', async () => {
  const [list, one] = [
    await shop.data('/items/cities?fields=name&filter[id][_eq]=1'),
    await shop.data('/items/cities/1'),
  ]

  expect(list).toEqual([{ name: 'Ulm' }, { name: 'Bonn' }])
  expect(one).toEqual({ id: 1, name: 'Ulm', countryId: 1 })
})

it('is changed in the one row of a key, its own before others', async () => {
  const changed = await shop.patch('/items/cities/1', { name: 'Neu-Ulm' })

  expect(await changed.json()).toEqual({ data: { id: 1, name: 'Neu-Ulm', countryId: 1 } })
  expect(await rows()).toEqual(['cities 1 Neu-Ulm 1', 'cities 2 Kiel 1', ...others])
})

it('is changed by a key that only another table has', async () => {
  await run('delete from only cities where id = 1')

  const changed = await shop.patch('/items/cities/1?fields=name,country.id', { name: 'Berlin' })

  expect(await changed.json()).toEqual({ data: { name: 'Berlin', country: { id: 1 } } })
  expect(await rows()).toEqual(['cities 2 Kiel 1', 'capitals 1 Berlin 1', ...others.slice(1)])
})

it('loses the one row of a key', async () => {
  const deleted = await shop.delete('/items/cities/1')

  expect(deleted.status).toBe(204)
  expect(await rows()).toEqual(['cities 2 Kiel 1', ...others])
})

it('is changed by a filter where rows meet it, and nowhere else', async () => {
  const changed = await shop.patch('/items/cities?filter[name][_eq]=Bonn&fields=name,country.id', {
    name: 'Berlin',
    countryId: 2,
  })

  expect(await changed.json()).toEqual({ data: [{ name: 'Berlin', country: { id: 2 } }] })
  expect(await rows()).toEqual(['cities 1 Ulm 1', 'cities 2 Kiel 1', 'capitals 1 Berlin 2', ...others.slice(1)])
})

it('is changed by a caller in rows of theirs alone', async () => {
  const own = { filter: { name: { _eq: 'Bonn' } }, fields: ['id', 'name'] }
  const clerk = await people.member(shop, {
    collections: { cities: { read: { fields: ['id', 'name'] }, update: { ...own } } },
  })

  const changed = await clerk.patch('/items/cities?filter[id][_eq]=1&filter[name][_eq]=Bonn', { id: 4 })
  const refused = await clerk.patch('/items/cities?filter[id][_eq]=1', { name: 'x' })

  expect([changed.status, refused.status]).toEqual([200, 403])
  expect(await rows()).toEqual(['cities 1 Ulm 1', 'cities 2 Kiel 1', 'capitals 4 Bonn 1', ...others.slice(1)])
})

it('gets new items with their relations', async () => {
  const made = await shop.post('/items/cities?fields=name,country.id', [
    { id: 9, name: 'Jena', country: { _create: { data: { id: 3 } } } },
  ])

  expect(await made.json()).toEqual({ data: [{ name: 'Jena', country: { id: 3 } }] })
  expect(await rows()).toContain('cities 9 Jena 3')
})

it('is changed in the model by an Administrator alone, for the change reaches the tables of others', async () => {
  const known = (await shop.data('/items/ServiceCollection?fields=id,apiName')) as { id: string; apiName: string }[]
  const idOf = (name: string) => known.find(({ apiName }) => apiName === name)?.id
  const adding = (name: string) => {
    const field = { dbName: 'more', type: { name: 'int32' }, isNullable: true, isList: false }
    const operation = { kind: 'createPrimitiveField', data: { ...field, id: crypto.randomUUID() } }
    return { operations: [{ kind: 'updateCollection', data: { id: idOf(name), operations: [operation] } }] }
  }
  const editor = await people.member(shop, {
    entitlements: ['dataModel:edit'],
    collections: { cities: { read: 'all', create: 'all', update: 'all', delete: 'all' } },
  })
  const answers = [
    await editor.post('/schema/migrate?dryRun=true', adding('cities')),
    await editor.post('/schema/migrate', adding('cities')),
    await shop.post('/schema/migrate?dryRun=true', adding('cities')),
  ]

  expect(answers.map(({ status }) => status)).toEqual([500, 500, 200])
  for (const refused of answers.slice(0, 2)) {
    expect(await refused.json()).toMatchObject({
      source: {
        source: {
          message: 'only an Administrator changes the table cities, from which others inherit',
          code: '3004',
        },
      },
    })
  }
})
