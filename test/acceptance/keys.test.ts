/** Items by the keys that databases have: of several fields, empty, of dots, binary (docs/contract.md#keys-in-addresses). */
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type SourceServers, startSourceServers } from '../support/servers/source-servers.ts'
import { type Workspace, world } from '../support/service/world.ts'

let servers: SourceServers

beforeAll(async () => {
  servers = await startSourceServers()
})

afterAll(() => servers?.close())

const tables = (bytes: string) => [
  'create table shelf (room varchar(20) not null, place int not null, label varchar(40), primary key (room, place))',
  'create table book (id int primary key, room varchar(20), place int, foreign key (room, place) references shelf (room, place))',
  'create table culture (code varchar(20) primary key, name varchar(40))',
  `create table blob_key (code ${bytes} primary key, name varchar(40))`,
  `create table blob_part (code ${bytes} not null, at date not null, name varchar(40), primary key (code, at))`,
]

describe.each([
  [
    'postgres',
    [
      ...tables('bytea'),
      'create table tagged (tags text[] primary key, name text)',
      'create domain words as text[]',
      'create table worded (tags words primary key, name text)',
      'create table labels (id int primary key, label text[] references tagged)',
      'create type pair as (a int, b text)',
      'create table pairs (tags pair primary key, name text)',
    ],
  ],
  ['mariadb', tables('varbinary(20)')],
] as const)('on %s', (provider, statements) => {
  let shop: Workspace

  beforeAll(async () => {
    const { config, run } = servers[provider]
    await run(...statements)
    shop = await world.workspace(`keys_${provider}`, {})
    const made = await shop.post('/sources/data', { apiName: 'shop', provider, config })
    const { data } = (await made.json()) as { data: { id: string } }
    expect((await shop.send('POST', `/schema/introspect/${data.id}`)).status).toBe(200)
  })

  async function answer(response: Response): Promise<unknown> {
    const text = await response.text()
    return text === '' ? response.status : [response.status, (JSON.parse(text) as { data?: unknown }).data]
  }

  /** The only relation of a collection. */
  async function relationOf(collection: string): Promise<string> {
    const { components } = (await (await shop.get('/openapi')).json()) as Document
    const { properties = {} } = components.schemas[`${collection}CollectionOutput`] ?? {}
    const columns = ['id', 'room', 'place', 'label']
    return Object.keys(properties).find((name) => !columns.includes(name)) ?? ''
  }

  const keysOfTwo: readonly [key: string, room: string, place: number][] = [
    ['hall,1', 'hall', 1],
    ['a%2Cb,2', 'a,b', 2],
    ['%22a,%22%22b%22,3', 'a,"b', 3],
    ['%22%22,4', '', 4],
    [',5', '', 5],
    ['a%25%2Fb%3F,-6', 'a%/b?', -6],
    ['%22..%22,7', '..', 7],
    ['Ä%20ö,8', 'Ä ö', 8],
  ]

  it('reads, changes and deletes the item of a key of two fields', async () => {
    for (const [key, room, place] of keysOfTwo) {
      await shop.insert('shelf', [{ room, place, label: 'old' }])
      const path = `/items/shelf/${key}`

      expect.soft(await answer(await shop.get(path)), key).toEqual([200, { room, place, label: 'old' }])
      const changed = await shop.patch(path, { label: 'new' })
      expect.soft(await answer(changed), key).toEqual([200, { room, place, label: 'new' }])
      expect.soft(await answer(await shop.delete(path)), key).toEqual(204)
      expect.soft((await shop.get(path)).status, key).toBe(404)
    }
  })

  const wrongKeys: readonly [key: string, reason: string][] = [
    ['hall', 'must have 2 parts separated by commas, as the primary key has fields'],
    ['hall%2C1', 'must have 2 parts'],
    ['hall,1,2', 'must have 2 parts'],
    ['hall,one', 'part 2 must be an integer between'],
    ['%22hall,1', 'has a quoted part without an end'],
    ['%ff,1', 'is not valid percent-encoding of UTF-8'],
  ]

  it('refuses a key that is none, and says why', async () => {
    for (const [key, reason] of wrongKeys) {
      const response = await shop.get(`/items/shelf/${key}`)

      expect.soft(response.status, key).toBe(422)
      expect.soft(await response.text(), key).toContain(reason)
    }
  })

  const keysOfOne: readonly [key: string, code: string][] = [
    ['%22%22', ''],
    ['%22..%22', '..'],
    ['%22.%22', '.'],
    ['%22%22%22%22', '"'],
    ['%22say%20%22%22hi%22%22%22', 'say "hi"'],
    ['de,DE', 'de,DE'],
    ['a%22b', 'a"b'],
    ['a%2Fb', 'a/b'],
    ['100%25', '100%'],
  ]

  it('reads, changes and deletes the item of a key of one field', async () => {
    for (const [key, code] of keysOfOne) {
      await shop.insert('culture', [{ code, name: 'old' }])
      const path = `/items/culture/${key}`

      expect.soft(await answer(await shop.get(path)), key).toEqual([200, { code, name: 'old' }])
      const changed = await shop.patch(`${path}?fields=name`, { name: 'new' })
      expect.soft(await answer(changed), key).toEqual([200, { name: 'new' }])
      expect.soft(await answer(await shop.delete(`${path}?fields=code`)), key).toEqual([200, { code }])
    }
  })

  it('takes keys of several fields in a batch, with references in them, and names what is wrong with one', async () => {
    const shelf = { collection: 'shelf' }
    const run = (...operations: object[]) => shop.post('/items', { operations })
    const label = { fields: ['label'] }

    const done = await run(
      {
        kind: 'create',
        ...shelf,
        as: 'made',
        data: [
          { room: 'b', place: 1 },
          { room: 'b', place: 2 },
        ],
        ...label,
      },
      { kind: 'update', ...shelf, key: { room: 'b', place: 1 }, data: { label: 'one' }, ...label },
      {
        kind: 'update',
        ...shelf,
        key: { place: { $ref: 'made[1].place' }, room: 'b' },
        data: { label: 'two' },
        ...label,
      },
      { kind: 'read', ...shelf, key: { room: { $ref: 'made[0].room' }, place: { $ref: 'made[1].place' } }, ...label },
      { kind: 'delete', ...shelf, key: { room: { $ref: 'made[1].room' }, place: 1 } },
      { kind: 'delete', ...shelf, key: { room: 'b', place: 2 } },
    )
    const wrong = [{ room: 'b' }, { room: 'b', place: 1, label: 'x' }, { room: 'b', place: 'x' }, 'b,1', ['b', 1], 1]
    const refused = await Promise.all(wrong.map((key) => run({ kind: 'read', ...shelf, key })))
    const missing = await run({ kind: 'read', ...shelf }, { kind: 'delete', ...shelf, key: { room: 'b', place: 9 } })

    expect([done.status, await done.json()]).toEqual([
      200,
      { data: [[{ label: null }, { label: null }], { label: 'one' }, { label: 'two' }, { label: 'two' }, null, null] },
    ])
    for (const response of refused) {
      const { source } = (await response.json()) as { source: { message: string } }
      expect([response.status, source.message]).toEqual([422, expect.stringMatching(/^operations\[0\]\.key/)])
    }
    expect([missing.status, await missing.json()]).toMatchObject([404, { meta: { operation: 1 } }])
  })

  it('takes a binary key as it is read, and as base64url', async () => {
    const code = '+/7/Pw=='
    await shop.insert('blobKey', [{ code, name: 'bits' }])
    await shop.insert('blobPart', [{ code, at: '2024-02-29', name: 'part' }])

    for (const key of [encodeURIComponent(code), '-_7_Pw', '-_7_Pw==', '%2B%2F7%2FPw']) {
      expect(await answer(await shop.get(`/items/blobKey/${key}?fields=name`))).toEqual([200, { name: 'bits' }])
      expect(await answer(await shop.get(`/items/blobPart/${key},2024-02-29`))).toEqual([
        200,
        { code, at: '2024-02-29', name: 'part' },
      ])
    }
    expect((await shop.get('/items/blobKey/-_7_P')).status).toBe(422)
    expect(await answer(await shop.delete('/items/blobKey/-_7_Pw'))).toBe(204)
  })

  it('connects by the fields of a key, and follows relations of two columns', async () => {
    await shop.insert('shelf', [
      { room: 'attic', place: 1, label: 'A' },
      { room: 'attic', place: 2, label: 'B' },
    ])
    const relation = await relationOf('book')
    const opposite = await relationOf('shelf')
    const made = await shop.post(`/items/book?fields=id,${relation}.label`, [
      { id: 1, [relation]: { _connect: { key: { room: 'attic', place: 1 } } } },
    ])
    const moved = await shop.patch(`/items/book/1?fields=${relation}.label`, {
      [relation]: [{ _connect: { key: { room: 'attic', place: 2 } } }],
    })

    expect(await answer(made)).toEqual([200, [{ id: 1, [relation]: { label: 'A' } }]])
    expect(await answer(moved)).toEqual([200, { [relation]: { label: 'B' } }])
    expect(await answer(await shop.get(`/items/shelf/attic,2?fields=label,${opposite}.id`))).toEqual([
      200,
      { label: 'B', [opposite]: { data: [{ id: 1 }] } },
    ])
  })

  it('are objects of their fields to agents', async () => {
    await shop.insert('shelf', [{ room: 'cellar, "left"', place: 1, label: 'old' }])
    const key = { place: 1, room: 'cellar, "left"' }
    const agent = await connect()
    const call = (name: string, more: object) =>
      agent.callTool({ name, arguments: { collection: 'shelf', key, ...more } })
    const schema = await agent.callTool({ name: 'read_schema', arguments: { collection: 'shelf' } })
    const changed = await call('update_item', { data: { label: 'new' }, fields: 'label' })
    const half = await call('delete_item', { key: { room: 'hall' } })
    const text = await call('delete_item', { key: 'hall,1' })
    const deleted = await call('delete_item', {})
    await agent.close()

    expect(schema.structuredContent).toMatchObject({ data: { collections: [{ key: ['room', 'place'] }] } })
    expect(changed.structuredContent).toEqual({ data: { label: 'new' } })
    expect(JSON.stringify(half)).toContain('must have the fields of the primary key and no others')
    expect(JSON.stringify(text)).toContain('must be an object of the fields of the primary key')
    expect(deleted.structuredContent).toEqual({ data: { deleted: true } })
  })

  async function connect(): Promise<Client> {
    const agent = new Client({ name: 'test', version: '1' })
    const requestInit = { headers: { Authorization: `Bearer ${world.administrator.token}` } }
    const url = new URL(`${world.url}/api/${shop.name}/mcp`)
    await agent.connect(new StreamableHTTPClientTransport(url, { requestInit }) as Transport)
    return agent
  }

  if (provider === 'postgres')
    it('offers no address where a part of the key is a list', async () => {
      const { paths } = (await (await shop.get('/openapi')).json()) as Document
      await shop.insert('tagged', [{ tags: ['a'], name: 'x' }])

      expect(paths[`/api/${shop.name}/items/tagged`]).toBeDefined()
      expect(paths[`/api/${shop.name}/items/tagged/{key}`]).toBeUndefined()
      expect((await shop.get('/items/tagged/a')).status).toBe(404)
      expect(await answer(await shop.patch('/items/tagged?filter[name][_eq]=x&fields=tags', { name: 'y' }))).toEqual([
        200,
        [{ tags: ['a'] }],
      ])
    })

  if (provider === 'postgres')
    it('neither follows nor finds rows by a key that is a list or a composite value', async () => {
      for (const [name, tags] of [
        ['tagged', ['b']],
        ['worded', ['b']],
        ['pairs', { a: 1, b: 'x' }],
      ] as const) {
        await shop.insert(name, [{ tags }])
        const first = await shop.get(`/items/${name}?limit=1&meta=cursor`)
        const upsert = await shop.post(`/items/${name}?conflict[fields]=tags&conflict[do]=update`, [{ tags }])
        expect([first.status, upsert.status], name).toEqual([422, 422])
      }
      const relation = await relationOf('labels')
      const connected = await shop.post('/items/labels', [
        { id: 1, [relation]: { _connect: { key: { tags: ['b'] } } } },
      ])

      expect(connected.status).toBe(422)
      expect(await connected.text()).toContain('tagged has no key that a request can name')
    })

  it('tells of them in OpenAPI', async () => {
    const document = (await (await shop.get('/openapi')).json()) as Document
    const path = document.paths[`/api/${shop.name}/items/shelf/{key}`]

    expect(Object.keys(path ?? {})).toEqual(['parameters', 'get', 'patch', 'delete'])
    expect(path?.parameters).toMatchObject([
      {
        name: 'key',
        in: 'path',
        style: 'simple',
        explode: false,
        description: expect.stringContaining('room,place'),
        schema: { type: 'array', minItems: 2, maxItems: 2, prefixItems: [{ type: 'string' }, { type: 'integer' }] },
      },
    ])
  })
})

type Document = {
  readonly paths: Readonly<Record<string, { readonly parameters?: unknown }>>
  readonly components: {
    readonly schemas: Readonly<Record<string, { readonly properties?: Readonly<Record<string, unknown>> }>>
  }
}
