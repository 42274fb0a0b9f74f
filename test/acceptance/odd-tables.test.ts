/** Tables as databases have them: very wide, without columns, with names that mean something to JavaScript. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type SourceServers, startSourceServers } from '../support/servers/source-servers.ts'
import { type Workspace, world } from '../support/service/world.ts'

let servers: SourceServers

beforeAll(async () => {
  servers = await startSourceServers()
})

afterAll(() => servers?.close())

const WIDTH = 700
/** Names that mean something to JavaScript, and those that our statements have for their own rows and columns. */
const odd = [
  ...['constructor', '__proto__', 'toJSON', 'then', 'hasOwnProperty', 'valueOf', 'prototype'],
  ...['t0', 't1', 'c0', ...'abcdefghijklmnopqrstuvwxyz'],
]

const tables = (quote: (name: string) => string) => [
  `create table wide (id int primary key, ${Array.from({ length: WIDTH }, (_, index) => `c${index} int`).join()})`,
  `create table odd (id int primary key, ${odd.map((name) => `${quote(name)} varchar(20)`).join()})`,
  `create table ${quote('constructor')} (id int primary key, ${quote('then')} int, foreign key (${quote('then')}) references odd (id))`,
  'create table prices (id int primary key, exact decimal(30, 10), at decimal(30, 10) not null)',
]

/** A row is known by a unique index alone. */
const badges = [
  'create table badges (code varchar(9) not null unique, label varchar(9))',
  `insert into badges values ('a', 'one'), ('b', 'two')`,
  'create table marks (nr int not null unique, code varchar(9) not null, text varchar(9), foreign key (code) references badges (code))',
  `insert into marks values (1, 'a', 'first')`,
]

/** Two rows of the table that is referred to have the same code, which neither database forbids here. */
const shirts = [
  'insert into sizes values (1, 40)',
  'create table shirts (id int primary key, code int, foreign key (code) references sizes (code))',
  'insert into shirts values (1, 40)',
]

describe.each([
  [
    'postgres',
    [
      ...tables((name) => `"${name}"`),
      'create table nothing ()',
      'create table sizes (id int primary key, code int unique)',
      'create table old_sizes () inherits (sizes)',
      'insert into old_sizes values (1, 40)',
      ...shirts,
      ...badges,
    ],
  ],
  [
    'mariadb',
    [
      ...tables((name) => `\`${name}\``),
      'create table sizes (id int primary key, code int, key (code))',
      'insert into sizes values (2, 40)',
      ...shirts,
      ...badges,
    ],
  ],
] as const)('on %s', (provider, statements) => {
  let shop: Workspace

  beforeAll(async () => {
    const { config, run } = servers[provider]
    await run(...statements)
    shop = await world.workspace(`odd_${provider}`, {})
    const made = await shop.post('/sources/data', { apiName: 'shop', provider, config })
    const { data } = (await made.json()) as { data: { id: string } }
    expect((await shop.send('POST', `/schema/introspect/${data.id}`)).status).toBe(200)
  })

  async function answer(response: Response): Promise<unknown> {
    const text = await response.text()
    return text === '' ? response.status : [response.status, (JSON.parse(text) as { data?: unknown }).data ?? text]
  }

  it('reads and writes all columns of a table that has more than can be selected by name', async () => {
    const row = Object.fromEntries(Array.from({ length: WIDTH }, (_, index) => [`c${index}`, index]))
    const made = await shop.post('/items/wide', [{ id: 1, ...row }])
    const changed = await shop.patch('/items/wide/1', { c0: -1 })

    expect(await answer(made)).toEqual([200, [{ id: 1, ...row }]])
    expect(await answer(changed)).toEqual([200, { id: 1, ...row, c0: -1 }])
    expect(await answer(await shop.get('/items/wide'))).toEqual([200, [{ id: 1, ...row, c0: -1 }]])
    expect(await answer(await shop.get('/items/wide/1'))).toEqual([200, { id: 1, ...row, c0: -1 }])
    const [tagged] = (await shop.data('/items/wide?fields=*,_etag')) as { _etag: string }[]
    expect(tagged).toEqual({ id: 1, ...row, c0: -1, _etag: expect.any(String) })
    const names = Object.keys(row).slice(0, 201)
    expect((await shop.get(`/items/wide?fields=${names.join()}`)).status).toBe(422)
    expect((await shop.get('/openapi')).status).toBe(200)
  })

  it('writes rows that have a unique index in place of a primary key, with their relations', async () => {
    const changed = await shop.patch(
      '/items/badges?filter[label][_eq]=one&fields=code,label,marks.text&deep[marks][_limit]=5',
      {
        label: 'eins',
      },
    )
    const renamed = await shop.patch('/items/badges?filter[label][_eq]=two', { code: 'z' })
    const made = await shop.post('/items/badges?fields=code,marks.text', [
      { code: 'd', label: 'four', marks: [{ _create: { data: [{ nr: 2, text: 'second' }] } }] },
    ])
    const deleted = await shop.delete('/items/marks?filter[nr][_eq]=2')

    expect(await answer(changed)).toEqual([200, [{ code: 'a', label: 'eins', marks: { data: [{ text: 'first' }] } }]])
    expect(await answer(renamed)).toEqual([200, [{ code: 'z', label: 'two' }]])
    expect(await answer(made)).toEqual([200, [{ code: 'd', marks: { data: [{ text: 'second' }] } }]])
    expect(deleted.status).toBe(204)
    expect(await shop.data('/items/badges?sort[0][code][direction]=asc')).toEqual([
      { code: 'a', label: 'eins' },
      { code: 'd', label: 'four' },
      { code: 'z', label: 'two' },
    ])
  })

  it('shows one of the rows that a foreign key refers to where its columns repeat', async () => {
    const shirt = await shop.data('/items/shirts/1?fields=id,codeSizes.code')

    expect(shirt).toEqual({ id: 1, codeSizes: { code: 40 } })
  })

  if (provider === 'postgres')
    it('answers one of the rows that a key finds in a table and in those that inherit it', async () => {
      const changed = await shop.patch('/items/sizes/1', { code: 40 })

      expect(await answer(changed)).toEqual([200, { id: 1, code: 40 }])
    })

  if (provider === 'postgres')
    it('serves a table without columns', async () => {
      const made = await shop.post('/items/nothing', [{}, {}])

      expect(await answer(made)).toEqual([200, [{}, {}]])
      expect(await answer(await shop.get('/items/nothing?meta=totalCount'))).toEqual([200, [{}, {}]])
    })

  it('serves columns with names that objects of JavaScript have', async () => {
    const [, names] = (await answer(await shop.get('/items/odd?limit=1'))) as [number, unknown]
    expect(names).toEqual([])
    const [item] = await shop.insert('odd', [{ id: 1 }])
    const columns = Object.keys(item ?? {}).filter((name) => name !== 'id')
    expect(columns.length).toBe(odd.length)

    const row = JSON.parse(`{${columns.map((name) => `"${name}":"of ${name}"`).join()}}`) as object
    expect(await answer(await shop.patch('/items/odd/1', row))).toEqual([200, { id: 1, ...row }])
    for (const name of columns) {
      const value = `of ${name}`
      const search = `fields=${name}&filter[${name}][_eq]=${value}&sort[0][${name}][direction]=desc`
      expect(await answer(await shop.get(`/items/odd?${search}`))).toEqual([200, [{ [name]: value }]])
      expect(await answer(await shop.get(`/items/odd?filter={"${name}":{"_in":["${value}"]}}&fields=id`))).toEqual([
        200,
        [{ id: 1 }],
      ])
      const content = { collections: { odd: { read: { fields: [name], filter: { [name]: { _eq: value } } } } } }
      expect((await shop.post('/policies', { name: `of ${name}`, content })).status).toBe(201)
    }
    const link = Object.fromEntries([
      ['id', 1],
      ['then', 1],
    ]) as object
    const far = { thenOdd: Object.fromEntries([['then', 'of then']]) as object }
    expect(await answer(await shop.post('/items/constructor?fields=*,thenOdd.then', [link]))).toEqual([
      200,
      [{ ...link, ...far }],
    ])
    expect((await shop.delete('/items/constructor/1')).status).toBe(204)
  })

  it.each([
    ['0.1', '0.1000000000'],
    ['-12345678901234567890.0123456789', '-12345678901234567890.0123456789'],
    ['1234567890123456789', '1234567890123456789.0000000000'],
    ['0.1234567891', '0.1234567891'],
    ['1.5e3', '1500.0000000000'],
    ['25E-1', '2.5000000000'],
    ['-0.0', '0.0000000000'],
    ['3.00', '3.0000000000'],
    ['0.12345678900000000', '0.1234567890'],
  ])('takes the JSON number %s for a decimal, and keeps it exactly', async (sent, kept) => {
    await shop.delete('/items/prices?filter[id][_gt]=0')
    const send = (method: string, path: string, body: string) =>
      shop.send(method, path, { body, headers: { 'Content-Type': 'application/json' } })
    const made = await send('POST', '/items/prices', `[{"id": 1, "exact": ${sent}, "at": ${sent}}]`)
    const changed = await send('PATCH', '/items/prices/1?fields=exact', `{"exact": ${sent}}`)

    expect(await answer(made)).toEqual([200, [{ id: 1, exact: kept, at: kept }]])
    expect(await answer(changed)).toEqual([200, { exact: kept }])
    const filter = `{"exact":{"_eq":${sent}}}`
    expect(await answer(await shop.get(`/items/prices?fields=id&filter=${filter}`))).toEqual([200, [{ id: 1 }]])
  })

  it.each(['0.12345678901', '1e400', '1e20', '123456789012345678901'])(
    'refuses the JSON number %s, which a decimal does not hold',
    async (sent) => {
      const response = await shop.send('POST', '/items/prices', {
        body: `[{"id": 1, "at": ${sent}}]`,
        headers: { 'Content-Type': 'application/json' },
      })

      expect([response.status, await response.text()]).toEqual([422, expect.stringContaining('at')])
    },
  )
})
