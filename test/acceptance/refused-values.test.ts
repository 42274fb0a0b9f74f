/** Which field a value was meant for that the database refuses (docs/contract.md#values). */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type SourceServers, startSourceServers } from '../support/servers/source-servers.ts'
import { readAnswer } from '../support/service/connected.ts'
import { type Workspace, world } from '../support/service/world.ts'

type Provider = 'neon' | 'mariadb'

const tables: Readonly<Record<Provider, readonly string[]>> = {
  neon: [
    `create type mood as enum ('sad', 'ok')`,
    `create table dogs (id int primary key, name text, mood mood, before mood, born date, seen timestamptz, home inet,
      bits bit(3), amount numeric, tags mood[])`,
  ],
  mariadb: [
    `create table cats (id int primary key, name tinytext, mood enum('sad', 'ok'), born date, seen timestamp null, home inet6, bits bit(3),
      small year)`,
  ],
}

const told = 'must be one of sad, ok'
const refusals: Readonly<
  Record<Provider, readonly (readonly [body: Readonly<Record<string, unknown>>, field: string, reason?: string])[]>
> = {
  neon: [
    [{ mood: 'bad' }, 'mood', `mood ${told}`],
    [{ name: 'x', before: 'bad', home: '10.0.0.1' }, 'before', `before ${told}`],
    [{ tags: ['ok', 'bad'], name: 'x' }, 'tags', `tags ${told}`],
    [{ mood: 'ok', home: 'nowhere' }, 'home'],
    [{ name: 'x', seen: '+294277-01-01T00:00:00Z' }, 'seen'],
    [{ name: 'x', bits: '10101' }, 'bits'],
  ],
  mariadb: [
    [{ mood: 'bad', home: '::1' }, 'mood', `mood ${told}`],
    [{ name: 'x'.repeat(300), mood: 'ok' }, 'name'],
    [{ name: 'x', home: 'nowhere' }, 'home'],
    [{ name: 'x', seen: '2200-01-01T00:00:00Z', born: '2000-01-01' }, 'seen'],
    [{ name: 'x', small: 1800, born: '2000-01-01' }, 'small'],
    [{ name: 'x', bits: '/////w==', born: '2000-01-01' }, 'bits'],
  ],
}

let servers: SourceServers
let shop: Workspace

beforeAll(async () => {
  servers = await startSourceServers()
  shop = await world.workspace('refused', {})
  for (const provider of ['neon', 'mariadb'] as const) {
    await servers[provider].run(...tables[provider])
    const { config } = servers[provider]
    const attached = await shop.post('/sources/data', { apiName: provider, provider, config })
    const { data } = (await attached.json()) as { data: { id: string } }
    await shop.send('POST', `/schema/introspect/${data.id}`)
  }
})

afterAll(() => servers?.close())

describe.each([
  ['neon', 'dogs'],
  ['mariadb', 'cats'],
] as const)('a value that %s refuses', (provider, collection) => {
  it.each(refusals[provider])('names its field: %j', async (body, field, reason) => {
    const refused = await readAnswer(await shop.post(`/items/${collection}`, [{ id: 1, ...(body as object) }]))

    const source = { message: 'Value out of range', code: '1001', meta: { fields: [field] } }
    expect(refused).toMatchObject({
      status: 422,
      body: { source: reason ? { ...source, source: { message: reason } } : source },
    })
  })
})

describe('a value of a filter that PostgreSQL refuses', () => {
  it.each([
    ['filter[mood][_eq]=bad&fields=mood,before', 'mood'],
    ['filter[before][_in][]=ok&filter[before][_in][]=bad', 'before'],
    ['filter[home][_eq]=nowhere&sort[0][mood][direction]=asc', 'home'],
  ])('names its field: %s', async (query, field) => {
    expect(await readAnswer(await shop.get(`/items/dogs?${query}`))).toMatchObject({
      status: 422,
      body: { source: { code: '1001', meta: { fields: [field] } } },
    })
  })

  it('names none where several may be meant', async () => {
    const refused = await readAnswer(await shop.get('/items/dogs?filter[mood][_eq]=bad&filter[before][_eq]=ok'))

    expect(refused).toMatchObject({ status: 422, body: { source: { code: '1001' } } })
    expect(JSON.stringify(refused)).not.toContain('fields')
  })
})

it.each(['OK', 'Ok ', '1', ' 2', '0'])(
  'a value that MariaDB would take for another of its enum is refused: %j',
  async (mood) => {
    expect(await readAnswer(await shop.post('/items/cats', [{ id: 9, mood }]))).toMatchObject({
      status: 422,
      body: { source: { message: '[0].mood', source: { message: told } } },
    })
  },
)

it('a value longer than those of its enum is told them', async () => {
  expect(await readAnswer(await shop.post('/items/dogs', [{ id: 1, mood: 'happy' }]))).toMatchObject({
    status: 422,
    body: { source: { message: '[0].mood', source: { message: told } } },
  })
})

it('a value of an enum that was added since is taken', async () => {
  await servers.neon.run(`alter type mood add value 'bad'`)

  const made = await shop.post('/items/dogs?fields=id', [{ id: 7, mood: 'bad' }])

  expect(made.status).toBe(200)
})
