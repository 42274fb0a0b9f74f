/**
 * A database behind each provider: migrated, read, written and imported through the service alone
 * (docs/contract.md#data-sources).
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { SqlProvider } from '../../src/core/sql/address.ts'
import { type SourceServers, startSourceServers } from '../support/servers/source-servers.ts'
import { otherProviders, testedProviders } from '../support/servers/tested-providers.ts'
import { type Content, people } from '../support/service/people.ts'
import { createCollection, createRelation, type Operation, type Workspace, world } from '../support/service/world.ts'

let servers: SourceServers
let shop: Workspace

beforeAll(async () => {
  servers = await startSourceServers()
  shop = await world.workspace('databases', {})
})

afterAll(() => servers?.close())

/** What an Administrator's key may do in the workspace that is limited to this. */
async function scoped(
  entitlements: readonly string[],
  collections: Readonly<Record<string, readonly string[]>>,
): Promise<Pick<Workspace, 'post'>> {
  const scope = { workspaces: [shop.name], entitlements, collections }
  const made = await world.administrator.post('/api/system/api-keys', { name: randomUUID(), scope })
  const { key } = ((await made.json()) as { data: { key: string } }).data
  return { post: (path, body) => world.bearer(key).post(`/api/${shop.name}${path}`, body) }
}

async function answer(response: Response): Promise<unknown> {
  const text = await response.text()
  return { status: response.status, ...(text !== '' && { body: JSON.parse(text) as unknown }) }
}

/** A Postgres follows renames and refuses the rest by itself. */
const overMariadb: readonly SqlProvider[] = ['mysql', 'mariadb', 'planetscale']

describe.each(testedProviders)('%s', (provider: SqlProvider) => {
  const isMysql = overMariadb.includes(provider)
  let sourceId: string
  const ids = new Map<string, string>()
  const [authors, books] = [`${provider}_authors`, `${provider}_books`]

  beforeAll(async () => {
    const { config } = servers[provider]
    const response = await shop.post('/sources/data', { apiName: `source_${provider}`, provider, config })
    expect(response.status).toBe(200)
    const { data } = (await response.json()) as { data: { id: string } }
    sourceId = data.id
  })

  async function introspect() {
    const response = await shop.send('POST', `/schema/introspect/${sourceId}`)
    return answer(response)
  }

  /** The alarms, once there is one: it is raised behind the answer that missed something. */
  async function drifted(): Promise<readonly object[]> {
    let own: readonly object[] = []
    const some = async () => {
      const { sources } = (await shop.data('/schema/drift')) as { sources: { sourceId: string }[] }
      own = sources.filter((source) => source.sourceId === sourceId)
      return own.length
    }
    await expect.poll(some, { interval: 100 }).toBeGreaterThan(0)
    return own
  }

  it('is migrated, and an introspection finds nothing that the model does not have', async () => {
    const first = await introspect()
    const made = await shop.migrate(
      createCollection(ids, sourceId, authors, { name: 'string(80)', born: 'date?' }),
      createCollection(ids, sourceId, books, { title: 'string', price: 'decimal(10,2)?', authorId: 'int64?' }),
      createRelation(ids, `${books}.author(authorId) -> ${authors}.books`),
    )

    expect(first).toMatchObject({ status: 200, body: { data: { operations: [{ kind: 'createNamespace' }] } } })
    expect(await answer(made)).toEqual({ status: 200 })
    expect(await introspect()).toEqual({ status: 200, body: { data: { operations: [], skipped: [] } } })
  })

  it('takes items, nested ones included, and gives them back with their relations', async () => {
    const created = await shop.post(`/items/${authors}?fields=name,books.title`, [
      {
        name: "O'Hara \\ 🦊",
        born: '1905-01-31',
        books: [{ _create: { data: [{ title: 'Butterfield 8', price: '7.50' }] } }],
      },
    ])
    const listed = await shop.get(
      `/items/${books}?fields=title,price,author.name,author.born&filter[author][name][_contains]=Hara`,
    )
    const counted = await shop.get(`/items/${books}?fields=title&meta=totalEstimate&filter[price][_gt]=7`)
    const all = await shop.get(`/items/${books}?fields=title&meta=totalEstimate`)
    const [book] = (await shop.data(`/items/${books}?fields=id`)) as { id: string }[]
    const changed = await shop.patch(`/items/${books}/${book?.id}?fields=price`, { price: '8' })
    const deleted = await shop.delete(`/items/${books}/${book?.id}`)
    const gone = await shop.get(`/items/${books}/${book?.id}`)

    expect(await answer(created)).toEqual({
      status: 200,
      body: { data: [{ name: "O'Hara \\ 🦊", books: { data: [{ title: 'Butterfield 8' }] } }] },
    })
    expect(await answer(listed)).toEqual({
      status: 200,
      body: { data: [{ title: 'Butterfield 8', price: '7.50', author: { name: "O'Hara \\ 🦊", born: '1905-01-31' } }] },
    })
    for (const estimated of [counted, all]) {
      expect(await answer(estimated)).toMatchObject({
        body: { meta: { totalEstimate: expect.toBeOneOf([expect.any(Number), null]) } },
      })
    }
    expect(await answer(changed)).toEqual({ status: 200, body: { data: { price: '8.00' } } })
    expect(deleted.status).toBe(204)
    expect(await answer(gone)).toEqual({
      status: 404,
      body: { message: 'Query failed', source: { message: 'No record found' } },
    })
  })

  it('runs a batch as one transaction, and names the operation that fails', async () => {
    const run = async (operations: readonly object[]) => answer(await shop.post('/items', { operations }))
    const create = (collection: string, data: readonly object[], as?: string) => ({
      kind: 'create',
      collection,
      data,
      ...(as && { as }),
    })
    const made = create(authors, [{ name: 'Ada' }, { name: 'Bob' }], 'made')
    const book = create(books, [{ title: 'Notes', price: '1.5', authorId: { $ref: 'made[1].id' } }], 'book')
    const filter = { title: { _in: ['Notes', 'Letters'] } }

    const kept = await run([
      { ...made, fields: ['name'] },
      { ...book, fields: ['author.name'] },
      { kind: 'update', collection: books, key: { $ref: 'book[0].id' }, data: { title: 'Letters' }, as: 'changed' },
      { kind: 'read', collection: authors, key: { $ref: 'changed.authorId' }, fields: ['name'] },
      { kind: 'read', collection: authors, filter: { name: { _eq: 'Bob' } }, limit: 1, as: 'bobs', fields: ['name'] },
      create(books, [{ title: 'Notes', authorId: { $ref: 'bobs[0].id' } }]),
      { kind: 'update', collection: books, filter, data: { price: '2' }, fields: ['title', 'price'] },
      { kind: 'read', collection: books, filter, fields: ['author.name'], meta: 'totalCount', limit: 1 },
      { kind: 'delete', collection: books, filter, fields: ['title'], as: 'gone' },
      { kind: 'read', collection: authors, key: { $ref: 'gone[1].authorId' }, fields: ['name'] },
      { kind: 'delete', collection: authors, filter: { name: { _in: ['Ada', 'Bob'] } } },
    ])
    const failing: readonly (readonly [object, number, object])[] = [
      [
        create(authors, [
          { id: '5', name: 'Cy' },
          { id: '5', name: 'Cy' },
        ]),
        422,
        { source: { code: '1002' } },
      ],
      [create(books, [{ title: 'x', authorId: '999999' }]), 422, { source: { code: '1004' } }],
      [{ kind: 'update', collection: authors, key: '999999', data: { name: 'x' } }, 404, {}],
      [{ kind: 'delete', collection: authors, key: '999999' }, 404, {}],
      [{ kind: 'read', collection: authors, key: '999999' }, 404, {}],
      [create(books, [{ title: 'x', authorId: { $ref: 'none[0].id' } }]), 422, {}],
    ]

    const bob = { author: { name: 'Bob' } }
    const changed = { title: 'Letters', price: '2.00' }
    expect(kept).toMatchObject({
      status: 200,
      body: {
        data: [
          [{ name: 'Ada' }, { name: 'Bob' }],
          [bob],
          { title: 'Letters' },
          { name: 'Bob' },
          [{ name: 'Bob' }],
          [{ title: 'Notes' }],
          [changed, { ...changed, title: 'Notes' }],
          [bob],
          [{ title: 'Letters' }, { title: 'Notes' }],
          { name: 'Bob' },
          null,
        ],
        meta: [null, null, null, null, null, null, null, { totalCount: 2 }, null, null, null],
      },
    })
    for (const [operation, status, body] of failing) {
      const none = { kind: 'read', collection: authors, filter: { name: { _eq: 'Nobody' } }, as: 'none' }

      expect(await run([made, none, operation, { kind: 'read', collection: books }])).toMatchObject({
        status,
        body: { ...body, meta: { operation: 2 } },
      })
      expect(await shop.data(`/items/${authors}?filter[name][_in][0]=Ada&filter[name][_in][1]=Bob`)).toEqual([])
    }
  })

  it('adds, changes and refers to what may be there already in one batch', async () => {
    const run = async (operations: readonly object[]) => answer(await shop.post('/items', { operations }))
    const upsert = (collection: string, action: string, data: readonly object[], as: string) => ({
      kind: 'upsert',
      collection,
      conflict: { fields: ['id'], do: action },
      data,
      as,
    })
    const made = { kind: 'create', collection: authors, data: [{ name: 'Ada' }], as: 'made', fields: ['name'] }
    const own = upsert(
      authors,
      'update',
      [
        { id: '9001', name: 'Cy' },
        { id: { $ref: 'made[0].id' }, name: 'Eve' },
      ],
      'own',
    )
    const names = { fields: ['title', 'author.name'] }
    const filter = { id: { _in: ['9001', '9002'] } }

    const kept = await run([
      made,
      { ...own, fields: ['name'] },
      {
        ...upsert(
          books,
          'ignore',
          [
            { id: '9002', title: 'Notes', authorId: { $ref: 'own[1].id' } },
            { id: '9001', title: 'Rugs', authorId: { $ref: 'own[0].id' } },
          ],
          'books',
        ),
        ...names,
      },
      { ...upsert(books, 'ignore', [{ id: '9002', title: 'Other', authorId: '9001' }], 'same'), ...names },
      {
        kind: 'update',
        collection: books,
        data: [
          { id: { $ref: 'books[1].id' }, authorId: { $ref: 'same[0].authorId' } },
          { id: '9002', title: 'Letters' },
        ],
        as: 'changed',
        ...names,
      },
      { kind: 'read', collection: authors, key: { $ref: 'changed[0].authorId' }, fields: ['name'] },
      { kind: 'delete', collection: books, filter },
      { kind: 'delete', collection: authors, filter: { name: { _in: ['Cy', 'Eve'] } } },
    ])
    const failing: readonly (readonly [object, number, object])[] = [
      [
        upsert(books, 'update', [{ id: '9001', title: 'x', authorId: '999999' }], 'x'),
        422,
        { source: { code: '1004' } },
      ],
      [
        {
          kind: 'update',
          collection: authors,
          data: [
            { id: '9001', name: 'x' },
            { id: '9009', name: 'x' },
          ],
        },
        404,
        { source: { message: 'operations[2].data[1]', source: { message: 'No record found' } } },
      ],
      [upsert(authors, 'update', [{ id: { $ref: 'none[0].id' }, name: 'x' }], 'x'), 422, {}],
    ]

    const author = (name: string) => ({ name })
    expect(kept).toEqual({
      status: 200,
      body: {
        data: [
          [{ name: 'Ada' }],
          [{ name: 'Cy' }, { name: 'Eve' }],
          [
            { title: 'Notes', author: author('Eve') },
            { title: 'Rugs', author: author('Cy') },
          ],
          [{ title: 'Notes', author: author('Eve') }],
          [
            { title: 'Rugs', author: author('Eve') },
            { title: 'Letters', author: author('Eve') },
          ],
          { name: 'Eve' },
          null,
          null,
        ],
      },
    })
    for (const [operation, status, body] of failing) {
      const none = { kind: 'read', collection: authors, filter: { name: { _eq: 'Nobody' } }, as: 'none' }

      expect(await run([{ ...own, data: [{ id: '9001', name: 'Cy' }] }, none, operation])).toMatchObject({
        status,
        body: { ...body, meta: { operation: 2 } },
      })
      expect(await shop.data(`/items/${authors}?filter[id][_eq]=9001`)).toEqual([])
    }
  })

  it('names the fields of a violated constraint', async () => {
    const [author] = (await shop.data(`/items/${authors}?fields=id&limit=1`)) as { id: string }[]

    const doubled = await shop.post(`/items/${authors}`, [{ id: author?.id, name: 'Ada' }])
    const astray = await shop.post(`/items/${books}`, [{ title: 'x', authorId: '999999' }])

    expect(await answer(doubled)).toMatchObject({
      status: 422,
      body: { source: { code: '1002', meta: { fields: ['id'] } } },
    })
    expect(await answer(astray)).toMatchObject({ status: 422, body: { source: { code: '1004' } } })
  })

  it('names the operation for which the database has something of that name', async () => {
    const { config } = servers[provider]
    const again = await shop.post('/sources/data', { apiName: `again_${provider}`, provider, config })
    const { data: source } = (await again.json()) as { data: { id: string } }
    const { kind, data } = createCollection(new Map(), source.id, authors, { name: 'string(80)' })

    const refused = await shop.migrate({ kind, data: { ...data, apiName: `again_${authors}` } })

    const source3002 = { message: 'operations[0]', source: { code: '3002' } }
    expect(await answer(refused)).toMatchObject({ status: 500, body: { source: source3002 } })
  })

  it('gives back lists of any length', async () => {
    const names = (await shop.data(`/items/${authors}?fields=name&limit=-1`)) as { name: string }[]

    expect(names).toEqual([{ name: "O'Hara \\ 🦊" }])
  })

  it('answers refusals of the database in the words of the table', async () => {
    const missing = await shop.post(`/items/${books}`, [{ title: 'Nobody’s', authorId: '404' }])
    await shop.post(`/items/${authors}`, [{ id: '77', name: 'First' }])
    const twice = await shop.post(`/items/${authors}`, [{ id: '77', name: 'Second' }])

    expect(await answer(missing)).toMatchObject({
      status: 422,
      body: { message: 'Query failed', source: { message: 'Foreign key constraint failed', code: '1004' } },
    })
    expect(await answer(twice)).toMatchObject({
      status: 422,
      body: { message: 'Query failed', source: { message: 'Unique constraint failed', code: '1002' } },
    })
  })

  const isOverTcp = provider !== 'neon' && provider !== 'planetscale'
  it.runIf(isOverTcp && world.platform === 'node')('says that its server offers no TLS', async () => {
    const { config } = servers[provider]
    const secure =
      'connectionString' in config
        ? { connectionString: `${config.connectionString}?sslmode=require` }
        : { ...config, tls: true }

    const response = await shop.post('/sources/data/test', { provider, config: secure })

    expect(response.status).toBe(422)
    expect(await response.text()).toContain('the server offers no TLS, which the configuration asks for')
  })

  it('imports what was changed behind our back, and then serves it', async () => {
    await servers[provider].run(
      `create table ${provider}_shelves (id int primary key, label varchar(20) not null)`,
      `insert into ${provider}_shelves values (1, 'top')`,
      `alter table ${provider}_authors add column note varchar(40)`,
    )

    const found = (await introspect()) as { body: { data: { operations: { kind: string }[] } } }

    expect(found.body.data.operations.map(({ kind }) => kind).sort()).toEqual(['createCollection', 'updateCollection'])
    expect(await shop.data(`/items/${provider}Shelves`)).toEqual([{ id: 1, label: 'top' }])
    expect(await introspect()).toEqual({ status: 200, body: { data: { operations: [], skipped: [] } } })
  })

  it('answers 404 where a table is gone', async () => {
    await servers[provider].run(`drop table ${provider}_shelves`)

    const response = await shop.get(`/items/${provider}Shelves`)
    await introspect()

    expect(await answer(response)).toMatchObject({
      status: 404,
      body: { message: 'Query failed', source: { message: 'Table does not exist', code: '2004' } },
    })
  })

  it('lists the statements of a dry run and changes nothing', async () => {
    const operation = createCollection(new Map(), sourceId, `${provider}_dry`, { name: 'string' })

    const response = await shop.post('/schema/migrate?dryRun=true', { operations: [operation] })

    const { data } = (await response.json()) as { data: { statements: { sourceId: string; sql: string }[] } }
    expect(data.statements).toEqual([{ sourceId, sql: expect.stringMatching(/^create table/) }])
    expect(
      await servers[provider].run(
        `select count(*) from information_schema.tables where table_name = '${provider}_dry'`,
      ),
    ).toEqual([['0']])
  })

  it('tells in a dry run what an import would do and break, and does nothing', async () => {
    const [table, view] = [`${provider}_drawers`, `${provider}_lamps`]
    await servers[provider].run(
      `create table ${table} (id int primary key, label varchar(20), size int)`,
      `create table ${view} (id int primary key)`,
    )
    await introspect()
    const before = await shop.data('/items/ServicePrimitiveField?fields=id,apiName&limit=-1')
    const collection = `${provider}Drawers`
    const content = {
      collections: { [collection]: { read: { fields: ['label'] } }, [`${provider}Lamps`]: { read: 'all' } },
    }
    const policy = await shop.post('/policies', { name: `drawers of ${provider}`, content })
    const { data: made } = (await policy.json()) as { data: { id: string } }
    const tested = { name: `label of ${provider}`, as: 'anonymous', collection, action: 'read', field: 'label' }
    const test = await shop.post('/access/tests', { ...tested, expect: { allowed: false } })
    const { data: kept } = (await test.json()) as { data: { id: string } }
    const [{ id: collectionId } = { id: '' }] = (await shop.data(
      `/items/ServiceCollection?fields=id&filter[apiName][_eq]=${collection}`,
    )) as readonly { id: string }[]
    const [saved] = await shop.insert('ServiceView', [
      { name: 'By label', collectionId, query: { sort: [{ label: { direction: 'asc' } }] }, layout: null },
    ])
    await servers[provider].run(
      `alter table ${table} drop column label`,
      `alter table ${table} add column needed int not null`,
      `drop table ${view}`,
    )

    const dry = () => shop.send('POST', `/schema/introspect/${sourceId}?dryRun=true`)
    const first = (await (await dry()).json()) as { data: { operations: { kind: string }[]; hash: string } }
    const second = (await (await dry()).json()) as { data: { hash: string } }
    const odd = await shop.send('POST', `/schema/introspect/${sourceId}?dryRun=yes`)
    const editor = await people.member(shop, { entitlements: ['dataModel:edit'] })
    const told = await answer(await editor.post(`/schema/introspect/${sourceId}?dryRun=true`, {}))
    const unchanged = await shop.data('/items/ServicePrimitiveField?fields=id,apiName&limit=-1')
    const applied = (await introspect()) as { body: { data: { operations: { kind: string }[] } } }
    const after = (await (await dry()).json()) as object

    expect(first.data).toEqual({
      operations: expect.any(Array),
      breaking: [
        { collection: `${provider}Lamps`, operation: 'deleteCollection' },
        { collection, field: 'label', operation: 'deletePrimitiveField' },
        { collection, field: 'needed', operation: 'createPrimitiveField' },
      ],
      policies: [{ id: made.id, name: `drawers of ${provider}`, fields: expect.any(Array) }],
      breaks: {
        policies: [{ id: made.id, name: `drawers of ${provider}` }],
        views: [{ id: saved?.id, name: 'By label' }],
        tests: [{ id: kept.id, name: tested.name }],
      },
      renames: [],
      skipped: [],
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      plan: expect.stringMatching(/^[0-9a-f]{24}$/),
    })
    expect((first.data as unknown as { policies: { fields: string[] }[] }).policies[0]?.fields.toSorted()).toEqual([
      `${provider}Drawers.label`,
      `${provider}Lamps`,
    ])
    expect(second.data.hash).toBe(first.data.hash)
    expect(odd.status).toBe(422)
    expect(told).toMatchObject({ body: { data: { breaks: { policies: null, tests: null } } } })
    expect(unchanged).toEqual(before)
    expect(applied.body.data.operations.map(({ kind }) => kind)).toEqual(first.data.operations.map(({ kind }) => kind))
    expect(after).toMatchObject({
      data: {
        ...{ operations: [], breaking: [], policies: [], renames: [], skipped: [], hash: first.data.hash },
        breaks: { policies: [], views: [], tests: [] },
      },
    })
    await servers[provider].run(`drop table ${table}`)
    await introspect()
  })

  it('imports what a dry run has told, and nothing where the schema or the model is another by then', async () => {
    const table = `${provider}_shelves`
    const path = `/schema/introspect/${sourceId}`
    const plan = async () => {
      const { data } = (await (await shop.post(`${path}?dryRun=true`, {})).json()) as { data: { plan: string } }
      return data.plan
    }
    const held = async (told: string) => {
      const answer = await shop.post(path, { plan: told })
      return [answer.status, ((await answer.json()) as { code?: string }).code]
    }
    await servers[provider].run(`create table ${table} (id int primary key)`)
    const first = await plan()
    await servers[provider].run(`alter table ${table} add column height int`)

    expect(await plan()).not.toBe(first)
    expect(await held(first)).toEqual([409, '4094'])
    const second = await plan()
    expect(await held(second)).toEqual([200, undefined])
    expect(await held(second)).toEqual([409, '4094'])
    expect(await held(await plan())).toEqual([200, undefined])
    await servers[provider].run(`drop table ${table}`)
    await introspect()
  })

  it('follows a rename that the database proves, and offers others', async () => {
    const isProven = !isMysql
    const [rooms, seats, chairs] = [`${provider}_rooms`, `${provider}_seats`, `${provider}_chairs`]
    const api = `${provider}Seats`
    const made = await shop.migrate(createCollection(ids, sourceId, rooms, { title: 'string(40)' }))
    await servers[provider].run(
      `create table ${seats} (id int primary key, room_id bigint,
        constraint ${seats}_room foreign key (room_id) references ${rooms} (id))`,
      `insert into ${rooms} (id, title) values (1, 'Blue')`,
      `insert into ${seats} values (7, 1)`,
    )
    await introspect()
    const content = {
      collections: {
        [rooms]: { read: { fields: ['title'], filter: { title: { _eq: 'Blue' } } } },
        [api]: { read: { fields: ['id', 'room'] } },
      },
    }
    const saved = await shop.post('/policies', { name: `rooms of ${provider}`, content })
    const { data: policy } = (await saved.json()) as { data: { id: string } }
    await servers[provider].run(
      `alter table ${rooms} rename column title to label`,
      `alter table ${seats} rename to ${chairs}`,
    )

    type Found = { data: { renames: { from: string; to: string; certain: boolean }[]; operations: { kind: string }[] } }
    const dryRun = await shop.post(`/schema/introspect/${sourceId}?dryRun=true`, {})
    const { renames } = ((await dryRun.json()) as Found).data
    const unknown = await shop.post(`/schema/introspect/${sourceId}`, { renames: [{ from: 'a', to: 'b' }] })
    const meant = renames.flatMap(({ certain, ...rename }) => (certain ? [] : [rename]))
    const editor = await people.member(shop, { entitlements: ['dataModel:edit'] })
    for (const rename of meant) {
      const taken = await editor.post(`/schema/introspect/${sourceId}`, { renames: [rename] })
      expect(await answer(taken)).toMatchObject({ status: 500, body: { source: { code: '3004' } } })
    }
    const applied = await shop.post(`/schema/introspect/${sourceId}`, { renames: meant })
    const { operations } = ((await applied.json()) as Found).data

    expect(made.status).toBe(200)
    expect(renames).toEqual([
      { from: expect.stringMatching(`${seats}$`), to: expect.stringMatching(`${chairs}$`), certain: isProven },
      { from: expect.stringMatching('rooms.title$'), to: expect.stringMatching('rooms.label$'), certain: isProven },
    ])
    expect(await answer(unknown)).toMatchObject({ status: 422, body: { source: { message: 'renames[0]' } } })
    expect(operations.map(({ kind }) => kind)).toEqual(['updateCollection', 'updateCollection'])
    expect(await shop.data(`/items/${api}?fields=id,room.title`)).toEqual([{ id: 7, room: { title: 'Blue' } }])
    expect(await shop.data(`/policies/${policy.id}`)).toMatchObject({ content })
    expect(await introspect()).toEqual({ status: 200, body: { data: { operations: [], skipped: [] } } })
    await servers[provider].run(`drop table ${chairs}`, `drop table ${rooms}`)
    await introspect()
  })

  it('takes nothing for a table that is left out, nor offers it', async () => {
    const [mine, pay] = [`${provider}_mine`, `${provider}_pay`]
    const fields = { note: 'string?' }
    await shop.migrate(createCollection(ids, sourceId, mine, fields), createCollection(ids, sourceId, pay, fields))
    const path = `/schema/introspect/${sourceId}`
    await shop.post(path, { tables: { exclude: [pay] } })

    const offered = await shop.post(`${path}?dryRun=true`, { tables: { exclude: [mine] } })

    expect(await answer(offered)).toMatchObject({
      body: {
        data: { renames: [], breaking: [{}], operations: [{ kind: 'deleteCollection' }, { kind: 'createCollection' }] },
      },
    })
    await shop.post(path, { tables: {} })
    await servers[provider].run(`drop table ${mine}`, `drop table ${pay}`)
    await introspect()
  })

  it('refers to a key of any collation by a new column', async () => {
    const [codes, uses] = [`${provider}_codes`, `${provider}_uses`]
    await servers[provider].run(
      `create table ${codes} (code varchar(20) primary key)${isMysql ? ' character set latin1 collate latin1_bin' : ''}`,
    )
    await introspect()
    const [found] = (await shop.data(
      `/items/ServicePrimitiveField?fields=id,collection.apiName&filter[collection][apiName][_eq]=${provider}Codes`,
    )) as { id: string }[]
    ids.set(`${codes}.code`, found?.id ?? '')
    const [of] = (await shop.data(`/items/ServiceCollection?fields=id&filter[apiName][_eq]=${provider}Codes`)) as {
      id: string
    }[]
    ids.set(codes, of?.id ?? '')
    const made = createCollection(ids, sourceId, uses, { codeName: 'string(20)' })
    const side = (name: string, collection: string, field: string, isConstrained: boolean) => ({
      id: randomUUID(),
      apiName: name,
      isList: !isConstrained,
      isConstrained,
      collectionId: ids.get(collection),
      fieldIds: [ids.get(field)],
    })
    const response = await shop.migrate(made, {
      kind: 'createRelationFieldPair',
      data: {
        kind: 'single',
        data: {
          relationName: `${uses}_code`,
          firstField: side('code', uses, `${uses}.codeName`, true),
          secondField: side('uses', codes, `${codes}.code`, false),
        },
      },
    })

    expect(await answer(response)).toEqual({ status: 200 })
    expect(await introspect()).toMatchObject({ body: { data: { operations: [] } } })
    await servers[provider].run(`drop table ${uses}`, `drop table ${codes}`)
    await introspect()
  })

  const dropTaken = `drop index ${provider}_taken${isMysql ? ` on ${authors}` : ''}`

  /** Fails in the database only, which has an index of that name. */
  const takenIndex = () => ({
    kind: 'updateCollection',
    data: {
      id: ids.get(authors),
      operations: [
        {
          kind: 'createIndex',
          data: {
            id: randomUUID(),
            dbName: `${provider}_taken`,
            kind: 'normal',
            fieldIds: [ids.get(`${authors}.name`)],
          },
        },
      ],
    },
  })

  it('leaves no table of a migration that failed', async () => {
    const [lists, entries] = [`${provider}_lists`, `${provider}_entries`]
    await servers[provider].run(`create index ${provider}_taken on ${authors} (born)`)
    const failed = await shop.migrate(
      createCollection(ids, sourceId, lists, { title: 'string(40)' }),
      createCollection(ids, sourceId, entries, { listId: 'int64?', note: 'string' }),
      createRelation(ids, `${entries}.list(listId) -> ${lists}.entries`),
      takenIndex(),
    )
    const { meta } = (await failed.json()) as { meta?: { applied: object[] } }
    const left = await servers[provider].run(
      `select count(*) from information_schema.tables where table_name in ('${lists}', '${entries}')`,
    )
    const next = await shop.migrate(createCollection(new Map(), sourceId, lists, { title: 'string(40)' }))
    await servers[provider].run(`drop table ${lists}`, dropTaken)
    await introspect()

    expect(failed.status).toBe(500)
    expect(meta?.applied ?? []).toEqual([])
    expect(left).toEqual([['0']])
    expect(next.status).toBe(200)
  })

  it('goes on without a column that is gone, but for requests that name it', async () => {
    const [pens, name] = [`${provider}_pens`, `${provider}Pens`]
    await servers[provider].run(
      `create table ${pens} (id int primary key, colour varchar(20), size int)`,
      `insert into ${pens} values (1, 'red', 3)`,
    )
    await introspect()
    const only = (fields: string[], filter: object) => ({ read: { fields, filter }, update: { fields } })
    const content = { collections: { [name]: only(['id', 'colour', 'size'], { colour: { _eq: 'red' } }) } }
    const saved = await shop.post('/policies', { name: `pens of ${provider}`, content })
    const { data: policy } = (await saved.json()) as { data: { id: string } }
    const reader = await people.member(shop, { collections: { [name]: only(['id'], { colour: { _eq: 'red' } }) } })
    await shop.data(`/items/${name}`)
    await servers[provider].run(`alter table ${pens} drop column colour`)
    const refused = await reader.get(`/items/${name}`)

    const read = await shop.get(`/items/${name}`)
    const others = await shop.get(`/items/${name}?fields=size&filter[size][_eq]=3`)
    const naming = await Promise.all(
      ['fields=colour', 'filter[colour][_eq]=red', 'sort[0][colour][direction]=asc'].map((query) =>
        shop.get(`/items/${name}?${query}`),
      ),
    )
    const written = await shop.patch(`/items/${name}/1`, { colour: 'blue' })
    const created = await shop.post(`/items/${name}?fields=id,size`, [{ id: 2, size: 4 }])

    expect(await answer(read)).toEqual({ status: 200, body: { data: [{ id: 1, size: 3 }] } })
    expect(await drifted()).toMatchObject([{ operations: [{ kind: 'updateCollection' }] }])
    expect(await answer(others)).toEqual({ status: 200, body: { data: [{ size: 3 }] } })
    for (const response of [...naming, written]) {
      expect([response.status, await response.text()]).toEqual([422, expect.stringContaining('colour')])
    }
    expect(await answer(created)).toEqual({ status: 200, body: { data: [{ id: 2, size: 4 }] } })
    expect([refused.status, await refused.text()]).toEqual([403, expect.not.stringContaining('colour')])

    await introspect()
    const { sources } = (await shop.data('/schema/drift')) as { sources: object[] }
    const shown = (await shop.data(`/policies/${policy.id}`)) as { content: object }
    const back = await shop.patch(`/policies/${policy.id}`, { content: shown.content })
    const still = await reader.get(`/items/${name}`)

    expect(sources).not.toContainEqual(expect.objectContaining({ sourceId }))
    expect(shown.content).toMatchObject({ collections: { [name]: { update: { fields: ['id', 'size'] } } } })
    expect(back.status).toBe(200)
    expect([still.status, await still.text()]).toEqual([403, expect.not.stringContaining('colour')])
    await servers[provider].run(`drop table ${pens}`)
    await introspect()
  })

  it('imports the chosen tables only, and keeps the choice', async () => {
    const names = ['kept', 'tmp_one', 'tmp_two'].map((name) => `${provider}_${name}`)
    await servers[provider].run(...names.map((name) => `create table ${name} (id int primary key)`))
    const choose = async (body?: object) => {
      const response = await shop.send('POST', `/schema/introspect/${sourceId}`, body && { body })
      return (await response.json()) as {
        data: { operations: { kind: string; data: { dbName: string } }[]; skipped: { table: string; reason: string }[] }
      }
    }
    const made = ({ data }: Awaited<ReturnType<typeof choose>>) =>
      data.operations.flatMap(({ kind, data: { dbName } }) => (kind === 'createCollection' ? dbName : []))
    const left = ({ data }: Awaited<ReturnType<typeof choose>>) =>
      data.skipped.map(({ table, reason }) => [table.replace(/^\w+\./, ''), reason])

    const first = await choose({ tables: { exclude: ['*_tmp_*'] } })
    const again = await choose()
    const unknown = await shop.post(`/schema/introspect/${sourceId}`, { tables: { include: ['nowhere'] } })
    const more = await choose({ tables: { include: [authors, books, '*.*_kept', '*_tmp_one'] } })
    const all = await choose({ tables: {} })

    const excluded = names.slice(1).map((name) => [name, 'is excluded'])
    expect([made(first), left(first)]).toEqual([[names[0]], excluded])
    expect([made(again), left(again)]).toEqual([[], excluded])
    expect(await answer(unknown)).toEqual({
      status: 422,
      body: {
        message: expect.stringContaining('Failed to read the JSON body: '),
        source: { message: 'tables.include[0]', source: { message: 'is not a table of this source' } },
      },
    })
    expect([made(more), left(more)]).toEqual([[names[1]], [[names[2], 'is not included']]])
    expect([made(all), left(all)]).toEqual([[names[2]], []])
    await servers[provider].run(...names.map((name) => `drop table ${name}`))
    await choose()
  })

  it('is previewed without being imported', async () => {
    const { config } = servers[provider]
    const first = await shop.post('/sources/data/introspect', { provider, config })
    const second = await shop.post('/sources/data/introspect', { provider, config })

    const body = (await first.json()) as { data: { hash: string; schema: { collections: { name: string }[] } } }
    expect(first.status).toBe(200)
    expect(body.data.hash).toMatch(/^[0-9a-f]{64}$/)
    expect(body.data.schema.collections.find(({ name }) => name === authors)).toMatchObject({
      key: ['id'],
      fields: expect.arrayContaining([
        { name: 'born', type: { name: 'date' }, isNullable: true, isList: false, isReadOnly: false },
      ]),
    })
    expect(await second.json()).toEqual(body)
  })

  it('refuses a migration that cannot succeed before it begins, and says how many rows are in the way', async () => {
    const [odd, keys, probe] = [`${provider}_odd`, `${provider}_odd_keys`, `${provider}_probe`]
    const made = await shop.migrate(
      createCollection(ids, sourceId, odd, {
        ...{ text: 'string(40)?', number: 'int64?', amount: 'decimal(12,2)?' },
        ...(!isMysql && { words: 'string[]?' }),
      }),
      createCollection(ids, sourceId, keys, { note: 'string?' }),
    )
    await shop.post(`/items/${odd}`, [
      { text: 'same', number: '3000000000', amount: '12345.00' },
      { text: 'same', number: '1', amount: '99.00' },
      { text: 'blanks        ', number: null, amount: null, ...(!isMysql && { words: ['a', 'blanks  '] }) },
    ])
    const fieldOf = (name: string) => ids.get(`${odd}.${name}`) ?? ''
    const update = (...operations: object[]) => ({ kind: 'updateCollection', data: { id: ids.get(odd), operations } })
    const change = (name: string, kind: string, data: object) =>
      update({ kind: 'updatePrimitiveField', data: { id: fieldOf(name), operations: [{ kind, data }] } })
    const type = (name: string, params?: object) => ({ type: { name, ...(params && { params }) } })
    const field = { type: { name: 'int32' }, isNullable: false, isList: false, defaultValue: null }
    const short = type('string', { length: 'fixed', value: 6 })
    const shortWords: [Operation, string, number][] = isMysql
      ? []
      : [[change('words', 'changeType', short), 'Value out of range', 1]]
    const refusals: [Operation, string, number][] = [
      [change('number', 'changeIsNullable', { isNullable: false }), 'Null constraint failed', 1],
      [
        update({
          kind: 'createPrimitiveField',
          data: { id: randomUUID(), dbName: 'needed', apiName: 'needed', ...field },
        }),
        'Null constraint failed',
        3,
      ],
      [
        update({ kind: 'createIndex', data: { id: randomUUID(), kind: 'unique', fieldIds: [fieldOf('text')] } }),
        'Unique constraint failed',
        1,
      ],
      [change('text', 'changeType', short), 'Value out of range', 1],
      ...shortWords,
      [change('text', 'changeType', type('int32')), 'Value out of range', 3],
      [change('number', 'changeType', type('int32')), 'Value out of range', 1],
      [
        change('amount', 'changeType', type('decimal', { kind: 'constrained', precision: 5, scale: 2 })),
        'Value out of range',
        1,
      ],
      [createRelation(new Map(ids), `${odd}.key(number) -> ${keys}.odds`), 'Foreign key constraint failed', 2],
    ]

    const fields = [
      'number',
      'needed',
      'text',
      'text',
      ...(isMysql ? [] : ['words']),
      'text',
      'number',
      'amount',
      'key',
    ]

    const answers: unknown[] = []
    const previews: unknown[] = []
    for (const [operation] of refusals) {
      const operations = [createCollection(new Map(), sourceId, probe, {}), operation]
      previews.push(await answer(await shop.post('/schema/migrate?dryRun=true', { operations })))
      answers.push(await answer(await shop.migrate(...operations)))
    }
    const converted = ['uuid', 'boolean', 'json', ...(isMysql ? [] : ['decimal'])].map((name) =>
      change('text', 'changeType', type(name)),
    )
    const unconverted: unknown[] = []
    for (const operation of converted) {
      const tried = await answer(await shop.post('/schema/migrate?dryRun=true', { operations: [operation] }))
      unconverted.push(tried)
      expect(await answer(await shop.migrate(operation))).toEqual(tried)
    }
    const rights = (of: object) => ({
      entitlements: ['dataModel:edit'] as const,
      collections: { [odd]: of, [keys]: { read: 'all' as const } },
    })
    const policies: string[] = []
    const editorWith = async (content: Content) => {
      policies.push(await people.policy(shop, content))
      return people.memberWith(shop, [await people.role(shop, policies.slice(-1))])
    }
    const untold: unknown[] = []
    const whole = { read: 'all', create: 'all', update: 'all', delete: 'all' }
    for (const lacking of [{ read: { filter: { id: { _gt: '0' } } } }, { create: { fields: ['id', 'text'] } }]) {
      const editor = await editorWith(rights({ ...whole, ...lacking }))
      for (const [operation, message] of refusals) {
        // A relation of one's own is made by whoever reads what it joins.
        if (message.startsWith('Foreign key') && 'create' in lacking) continue
        untold.push(await answer(await editor.post('/schema/migrate?dryRun=true', { operations: [operation] })))
        untold.push(await answer(await editor.post('/schema/migrate', { operations: [operation] })))
      }
    }
    const all = await editorWith(rights(whole))
    const told = await answer(await all.post('/schema/migrate?dryRun=true', { operations: [refusals[2]?.[0]] }))
    const left = await servers[provider].run(
      `select count(*) from information_schema.tables where table_name = '${probe}'`,
    )
    for (const id of policies) await shop.patch(`/policies/${id}`, { content: {} })
    const renamed = await shop.migrate(
      change('text', 'changeDbName', { dbName: 'moved' }),
      change('text', 'changeIsNullable', { isNullable: false }),
      update({ kind: 'createIndex', data: { id: randomUUID(), kind: 'unique', fieldIds: [fieldOf('number')] } }),
    )
    await shop.migrate(...[odd, keys].map((name) => ({ kind: 'deleteCollection', data: { id: ids.get(name) } })))

    expect(made.status).toBe(200)
    expect(answers).toEqual(
      refusals.map(([, message, rows], at) => ({
        status: 500,
        body: {
          message: `Failed to execute the migration: operations[1]: ${message}`,
          source: {
            message: 'operations[1]',
            source: { message, code: '3013', meta: { rows, field: `${odd}.${fields[at]}` } },
          },
        },
      })),
    )
    expect(previews).toEqual(answers)
    expect(unconverted).toMatchObject(
      converted.map(() => ({
        status: 500,
        body: {
          source: { source: { code: '3013', message: 'Value out of range', meta: { rows: 3, field: `${odd}.text` } } },
        },
      })),
    )
    const reason = expect.stringMatching('^needs the right to (read|create) .* in every item$')
    expect(untold).toMatchObject(
      untold.map(() => ({ status: 500, body: { source: { source: { code: '3004', message: reason } } } })),
    )
    expect(told).toMatchObject({
      body: { source: { source: { message: 'Unique constraint failed', meta: { rows: 1 } } } },
    })
    expect(left).toEqual([['0']])
    expect(await answer(renamed)).toEqual({ status: 200 })
    expect(await introspect()).toEqual({ status: 200, body: { data: { operations: [], skipped: [] } } })
  })

  it('keeps the names by which another source of the same database goes', async () => {
    const [pay, mine, lone] = ['pay', 'mine', 'lone'].map((name) => `${provider}_${name}`) as [string, string, string]
    const made = await shop.migrate(
      createCollection(ids, sourceId, pay, { name: 'string(20)?', note: 'int32?' }),
      createCollection(ids, sourceId, mine, { name: 'string(20)?', note: 'int32?' }),
      createCollection(ids, sourceId, lone, { name: 'string(20)?' }),
    )
    const other = await world.workspace(`twin${provider}`, {})
    const twins: { id: string; imported: number }[] = []
    for (const workspace of [shop, other]) {
      const body = { apiName: `twin_${provider}`, provider, config: servers[provider].config }
      const { data } = (await (await workspace.post('/sources/data', body)).json()) as { data: { id: string } }
      const imported = await workspace.post(`/schema/introspect/${data.id}`, { tables: { include: [mine] } })
      twins.push({ id: data.id, imported: imported.status })
    }
    const reading = await people.policy(shop, {
      entitlements: ['dataModel:edit'],
      collections: { [mine]: { read: { fields: ['name'] } }, [lone]: { read: { filter: { name: 'a' } } } },
    })
    const blind = await people.memberWith(shop, [await people.role(shop, [reading])])
    const editor = await scoped(
      ['dataModel:edit'],
      Object.fromEntries([pay, mine, lone].map((name) => [name, ['read', 'create', 'update', 'delete']])),
    )
    const update = (name: string, ...operations: readonly object[]) => ({
      kind: 'updateCollection',
      data: { id: ids.get(name), operations },
    })
    const toName = (dbName: string) => ({ kind: 'changeDbName', data: { dbName } })
    const field = (name: string, ...operations: readonly object[]) => ({
      kind: 'updatePrimitiveField',
      data: { id: ids.get(`${mine}.${name}`), operations },
    })
    const extraId = randomUUID()
    ids.set(`${mine}.extra`, extraId)
    const extraField = {
      ...{ id: extraId, dbName: 'extra', apiName: 'extra', type: { name: 'int32' } },
      ...{ isNullable: true, isList: false, defaultValue: null },
    }
    const extra = await shop.migrate(update(mine, { kind: 'createPrimitiveField', data: extraField }))
    const sentBy = async (who: Pick<Workspace, 'post'>, operations: readonly object[]) => {
      const dry = await who.post('/schema/migrate?dryRun=true', { operations })
      const done = await who.post('/schema/migrate', { operations })
      return [await answer(dry), await answer(done)]
    }
    const send = (...operations: readonly object[]) => sentBy(editor, operations)
    // Views, triggers and routines go by names, too, of which nobody here knows.
    const unread: unknown[] = []
    for (const operation of [
      update(lone, toName(`${lone}_2`)),
      update(mine, field('note', toName('old'))),
      update(mine, { kind: 'deletePrimitiveField', data: { id: ids.get(`${mine}.note`) } }),
      update(mine, {
        kind: 'createPrimitiveField',
        data: { ...extraField, id: randomUUID(), dbName: 'p', apiName: 'p' },
      }),
      { kind: 'deleteCollection', data: { id: ids.get(pay) } },
      { kind: 'createNamespace', data: { id: randomUUID(), sourceId, dbName: `${provider}_user` } },
    ])
      unread.push(...(await sentBy(blind, [operation])))
    // Nor does it help to take it back, which a database that fails in between would not do.
    const [there, andBack] = ['old', 'note'].map((name) => update(mine, field('note', toName(name)))) as [
      object,
      object,
    ]
    unread.push(...(await sentBy(blind, [there, andBack])))
    await shop.delete(`/policies/${reading}`)
    const refusals = [
      [update(mine, toName(`${mine}_old`)), `the table '${mine}'`],
      [{ kind: 'deleteCollection', data: { id: ids.get(mine) } }, `the table '${mine}'`],
      [update(mine, field('note', toName('old'))), `the column 'note' of the table '${mine}'`],
      [
        update(mine, { kind: 'deletePrimitiveField', data: { id: ids.get(`${mine}.name`) } }),
        `the column 'name' of the table '${mine}'`,
      ],
    ] as const
    const answers = []
    for (const [operation] of refusals) {
      const isDeletion = operation.kind === 'deleteCollection'
      answers.push(...(await send(...(isDeletion ? [] : [update(mine, field('extra', toName('alone')))]), operation)))
    }
    // What the other one's model does not go by is as free as ever.
    const own = [
      ...(await send(update(mine, field('extra', toName('alone'))))),
      ...(await send(update(lone, toName(`${lone}_2`)))),
    ]
    // An Administrator gives them up, and they are still those of the others' models.
    const away = await shop.migrate(update(mine, toName(`${mine}_away`)))
    const taken = [...(await send(update(pay, toName(mine)))), ...(await send(update(pay, toName(mine.toUpperCase()))))]
    const back = await shop.migrate(update(mine, toName(mine), field('note', toName('away'))))
    const column = await send(update(mine, field('extra', toName('note'))))
    const note = await shop.migrate(update(mine, field('note', toName('note'))))
    await shop.delete(`/sources/data/${twins[0]?.id}`)
    const still = await send(update(mine, field('note', toName('old'))))
    await other.delete(`/sources/data/${twins[1]?.id}`)
    const free = await send(update(mine, field('note', toName('old'))))

    expect([made.status, extra.status, ...twins.map(({ imported }) => imported)]).toEqual([200, 200, 200, 200])
    const refused = (what: string, at: number) => ({
      status: 500,
      body: {
        message: expect.stringContaining('Failed to execute the migration: '),
        source: {
          message: `operations[${at}]`,
          source: {
            message: `${what} has a name that another data source of the same database goes by: only an Administrator gives it to something else`,
            code: '3004',
          },
        },
      },
    })
    const needed = [
      ...[lone, mine, mine, mine, pay]
        .map((name) => `${name}.id`)
        .map((name) => `needs the right to read ${name} in every item`),
      `only an Administrator makes the schema ${provider}_user`,
      'only an Administrator changes something twice, or makes and deletes it, in one migration',
    ]
    expect(unread).toMatchObject(
      needed.flatMap((message) => Array(2).fill({ body: { source: { source: { code: '3004', message } } } })),
    )
    expect(answers).toEqual(
      refusals.flatMap(([{ kind }, what]) => Array(2).fill(refused(what, kind === 'deleteCollection' ? 0 : 1))),
    )
    expect(own).toMatchObject([{ status: 200 }, { status: 200 }, { status: 200 }, { status: 200 }])
    expect([away.status, back.status, note.status]).toEqual([200, 200, 200])
    expect([taken, column, still]).toEqual([
      [mine, mine, mine.toUpperCase(), mine.toUpperCase()].map((name) => refused(`the table '${name}'`, 0)),
      Array(2).fill(refused(`the column 'note' of the table '${mine}'`, 0)),
      Array(2).fill(refused(`the column 'note' of the table '${mine}'`, 0)),
    ])
    expect(free).toMatchObject([{ status: 200 }, { status: 200 }])
    await shop.migrate(...[pay, mine, lone].map((name) => ({ kind: 'deleteCollection', data: { id: ids.get(name) } })))
  })

  it.runIf(provider === 'postgres')('does nothing of what waited for a migration while its sender left', async () => {
    const slow = `${provider}_slow`
    await shop.migrate(createCollection(ids, sourceId, slow, { text: 'string?' }))
    const editor = await people.member(shop, {
      entitlements: ['dataModel:read', 'dataModel:edit', 'dataSource:create', 'workspace:delete'],
    })
    const { connectionString } = servers.postgres.config as { connectionString: string }
    const holder = new pg.Client({ connectionString })
    await holder.connect()
    await holder.query(`begin; lock table ${slow} in access share mode`)
    const renamed = {
      kind: 'updateCollection',
      data: { id: ids.get(slow), operations: [{ kind: 'changeDbName', data: { dbName: `${slow}_on` } }] },
    }
    const running = shop.migrate(renamed)
    await expect.poll(() => servers.postgres.run('select 1 from pg_locks where not granted')).toHaveLength(1)
    const model = { version: 1, names: {} }
    const found = await world.administrator.get(`/api/system/workspaces?filter[apiName][_eq]=${shop.name}`)
    const [own] = ((await found.json()) as { data: { id: string }[] }).data
    const { data } = (await (await editor.post('/schema/plan', { model })).json()) as { data: { plan: string } }
    const waiting = [
      editor.post('/schema/migrate', { operations: [createCollection(new Map(), sourceId, `${slow}_late`, {})] }),
      editor.send('PUT', '/secrets/late', { body: { value: 'late' } }),
      editor.post('/schema/apply', { model, plan: data.plan }),
      editor.send('POST', `/schema/introspect/${sourceId}`),
      editor.system.delete(`/api/system/workspaces/${own?.id}`),
    ]
    // Long enough for them to be known; where it is not, they are refused all the more.
    await wait(1_000)
    const left = await shop.delete(`/members/${editor.userId}`)
    await holder.query('commit')
    await holder.end()

    expect(left.status).toBe(204)
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([403, 403, 403, 403, 403])
    expect((await running).status).toBe(200)
    expect(await shop.data('/secrets')).toEqual([])
  })

  it.runIf(isMysql)('shows in a dry run what a person would run', async () => {
    const [shown, keys] = [`${provider}_shown`, `${provider}_shown_keys`]
    const created = await shop.migrate(
      createCollection(ids, sourceId, shown, { text: 'string(40)?', keyText: 'string(9)?' }),
    )
    await servers[provider].run(
      `create table ${keys} (id varchar(9) character set latin1 collate latin1_bin primary key)`,
      `alter table ${shown} modify column text varchar(40) character set utf8mb4 collate utf8mb4_bin default 'a' comment 'kept'`,
    )
    await introspect()
    const fields = (await shop.data(
      `/items/ServicePrimitiveField?fields=id,apiName,collection.id&filter[collection][dbName][_in][]=${shown}&filter[collection][dbName][_in][]=${keys}`,
    )) as { id: string; apiName: string; collection: { id: string } }[]
    for (const { id, apiName, collection } of fields) {
      const name = collection.id === ids.get(shown) ? shown : keys
      ids.set(`${name}.${apiName}`, id)
      ids.set(name, collection.id)
    }
    ids.set(`${shown}.keyId`, randomUUID())
    const operations = [
      {
        kind: 'updateCollection',
        data: {
          id: ids.get(shown),
          operations: [
            {
              kind: 'updatePrimitiveField',
              data: {
                id: ids.get(`${shown}.text`),
                operations: [
                  { kind: 'changeType', data: { type: { name: 'string', params: { length: 'fixed', value: 30 } } } },
                ],
              },
            },
            {
              kind: 'createPrimitiveField',
              data: {
                id: ids.get(`${shown}.keyId`),
                dbName: 'key_id',
                type: { name: 'string', params: { length: 'fixed', value: 9 } },
                isNullable: true,
                isList: false,
              },
            },
          ],
        },
      },
      createRelation(ids, `${shown}.key(keyId) -> ${keys}.shown`),
    ]

    const preview = await answer(await shop.post('/schema/migrate?dryRun=true', { operations }))
    const done = await answer(await shop.migrate(...operations))

    const { statements } = (preview as { body: { data: { statements: { sql: string }[] } } }).body.data
    const texts = statements.map(({ sql }) => sql.replace(/`\w+`\./, ''))
    expect(created.status).toBe(200)
    expect(done).toEqual({ status: 200 })
    expect(texts.slice(0, 3)).toEqual([
      `alter table \`${shown}\` modify column \`text\` varchar(30) character set utf8mb4 collate utf8mb4_bin null default 'a' comment 'kept'`,
      `alter table \`${shown}\` add column \`key_id\` varchar(9) character set utf8mb4 collate utf8mb4_nopad_bin null`,
      `alter table \`${shown}\` modify column \`key_id\` varchar(9) character set latin1 collate latin1_bin null`,
    ])
    expect(texts.slice(3)).toEqual([expect.stringMatching(/^alter table .* add constraint .* foreign key/)])
    await servers[provider].run(`drop table ${shown}`, `drop table ${keys}`)
    await introspect()
  })

  it.runIf(isMysql)('refuses beforehand what views, triggers, columns and checks use', async () => {
    const [used, other, view] = [`${provider}_used`, `${provider}_other`, `${provider}_view`]
    const run = servers[provider].run
    const columns = {
      title: 'string(40)',
      base: 'int64?',
      low: 'int64?',
      high: 'int64?',
      made: 'int64?',
      shown: 'int64?',
    }
    const texts = { face: 'string(9)?', asked: 'string(9)?', mood: 'string(9)?' }
    const made = await shop.migrate(
      createCollection(ids, sourceId, used, {
        ...columns,
        ...texts,
        hidden: 'int64?',
        watched: 'int64?',
        free: 'int64?',
      }),
      createCollection(ids, sourceId, other, { title: 'string(40)', free: 'int64?' }),
    )
    const [[schema] = []] = await run(`select table_schema from information_schema.tables where table_name = '${used}'`)
    const at = (name: string) => `\`${schema}\`.\`${name}\``
    await run(
      `alter table ${at(used)} drop column made, drop column shown, add column made bigint as (base + 1),
        add column shown bigint default (base * 2), add check (low < high), modify column hidden bigint invisible not null default 1,
        modify column face varchar(9) default '😀', modify column asked varchar(9) default 'é?', modify column mood enum('😀', 'b')`,
      `create view ${at(view)} as select x.title, o.free from ${at(used)} x join ${at(other)} o on o.title = x.title`,
      `create trigger ${at(`${used}_t`)} before insert on ${at(used)} for each row set new.watched = 1`,
    )
    const id = (name: string) => ids.get(`${used}.${name}`)
    const update = (...operations: object[]) => ({
      kind: 'updateCollection',
      data: { id: ids.get(used), operations },
    })
    const drop = (name: string) => update({ kind: 'deletePrimitiveField', data: { id: id(name) } })
    const change = (name: string, kind: string, data: object) =>
      update({ kind: 'updatePrimitiveField', data: { id: id(name), operations: [{ kind, data }] } })
    const rename = (name: string) => change(name, 'changeDbName', { dbName: `${name}_2` })
    const moved = { kind: 'changeDbName', data: { dbName: `${used}_2` } }
    const inViews = { code: '3005', meta: { views: [view] } }
    const refusals: [Operation, object][] = [
      [drop('title'), inViews],
      [rename('title'), inViews],
      [update(moved), inViews],
      [{ kind: 'deleteCollection', data: { id: ids.get(used) } }, inViews],
      [drop('base'), { code: '3005' }],
      [drop('low'), { code: '3005' }],
      [rename('watched'), { code: '3005' }],
      [drop('watched'), { code: '3005' }],
      [change('made', 'changeType', { type: { name: 'int32' } }), { code: '3010' }],
      [change('face', 'changeIsNullable', { isNullable: false }), { code: '3010' }],
      [change('face', 'changeType', { type: { name: 'string' } }), { code: '3010' }],
      [change('mood', 'changeIsNullable', { isNullable: false }), { code: '3010' }],
    ]

    const answers: unknown[] = []
    for (const [operation] of refusals) {
      const refused = await shop.migrate(createCollection(new Map(), sourceId, `${used}_probe`, {}), operation)
      answers.push(await answer(refused))
    }
    const allowed = [
      change('asked', 'changeIsNullable', { isNullable: false }),
      drop('made'),
      drop('shown'),
      drop('base'),
      rename('low'),
      drop('free'),
    ]
    const done = await answer(await shop.migrate(...allowed))
    await run(`drop view ${at(view)}`)
    const gone = await shop.migrate(
      ...[used, other].map((name) => ({ kind: 'deleteCollection', data: { id: ids.get(name) } })),
    )

    expect(made.status).toBe(200)
    expect(answers).toEqual(
      refusals.map(([, told]) => ({
        status: 500,
        body: expect.objectContaining({
          source: { message: 'operations[1]', source: expect.objectContaining(told) },
        }),
      })),
    )
    expect(done).toEqual({ status: 200 })
    expect(gone.status).toBe(200)
  })

  it('tells a failed migration by its operation, and goes on after an introspection', async () => {
    const column = (name: string, isNullable: boolean) => ({
      kind: 'createPrimitiveField',
      data: {
        id: randomUUID(),
        dbName: name,
        apiName: name,
        type: { name: 'int32' },
        isNullable,
        isList: false,
        defaultValue: null,
      },
    })
    const update = (...operations: object[]) => ({
      kind: 'updateCollection',
      data: { id: ids.get(authors), operations },
    })

    await servers[provider].run(`create index ${provider}_taken on ${authors} (born)`)
    const failed = await shop.migrate(update(column('pages', true)), takenIndex())
    const before = await shop.migrate(update(column('later', true)))
    const recorded = await shop.data(
      '/audit-log?fields=outcome,payload&filter[action][_eq]=schema.migrate.v1&filter[outcome][_eq]=failure',
    )
    const found = await introspect()
    const after = await shop.migrate(update(column('later', true)))
    await servers[provider].run(dropTaken)
    await introspect()

    expect(await answer(failed)).toEqual({
      status: 500,
      body: {
        message: expect.stringContaining('Failed to execute the migration: '),
        source: {
          message: 'operations[1]',
          source: { message: 'The database has something of this name already', code: '3002' },
        },
        ...(isMysql && {
          meta: {
            applied: [{ operation: 0, collection: authors, change: 'addColumn' }],
            failed: { operation: 1, collection: authors, change: 'createIndex' },
          },
        }),
      },
    })
    const refused = {
      status: 500,
      body: {
        message: expect.stringContaining('Failed to execute the migration: '),
        source: {
          message: 'operations[0]',
          source: {
            message: `introspect the data source source_${provider} first: an earlier migration of it did not end`,
            code: '3014',
          },
        },
      },
    }
    expect(await answer(before)).toEqual(isMysql ? refused : { status: 200 })
    const half = {
      outcome: 'failure',
      payload: {
        operations: ['updateCollection', 'updateCollection'],
        applied: [{ operation: 0, collection: authors, change: 'addColumn' }],
      },
    }
    const isOwn = (entry: unknown) => JSON.stringify(entry).includes(`"${authors}"`)
    expect((recorded as unknown[]).filter(isOwn)).toEqual(isMysql ? [half] : [])
    expect(found).toMatchObject({ status: 200 })
    expect((await answer(after)) as object).toMatchObject({ status: isMysql ? 200 : 500 })
    expect(await introspect()).toEqual({ status: 200, body: { data: { operations: [], skipped: [] } } })
  })

  it('closes what a migration left half done, whose renames an introspection follows', async () => {
    const [notes, links] = [`${provider}_notes`, `${provider}_links`]
    const own = new Map<string, string>()
    await shop.migrate(
      createCollection(own, sourceId, notes, { title: 'string(20)', secret: 'string(20)' }),
      createCollection(own, sourceId, links, { noteId: 'int64?' }),
      createRelation(own, `${links}.note(noteId) -> ${notes}.links`),
    )
    const [note] = await shop.insert(notes, [{ title: 'Title1', secret: 'hush' }])
    await shop.insert(links, [{ noteId: note?.id }, { noteId: null }])
    const collections = {
      [notes]: { read: { fields: ['id', 'title'] }, update: { fields: ['title'] } },
      [links]: { read: { filter: { _not: { note: { title: { _eq: 'Title1' } } } } } },
    }
    const policy = await people.policy(shop, { entitlements: ['dataModel:edit'], collections })
    const editor = await people.memberWith(shop, [await people.role(shop, [policy])])
    const stranger = await people.member(shop, {})
    const rename = (name: string, dbName: string) => ({
      kind: 'updateCollection',
      data: {
        id: own.get(notes),
        operations: [
          {
            kind: 'updatePrimitiveField',
            data: { id: own.get(`${notes}.${name}`), operations: [{ kind: 'changeDbName', data: { dbName } }] },
          },
        ],
      },
    })
    const index = { id: randomUUID(), dbName: `${notes}_taken`, kind: 'normal', fieldIds: [own.get(`${notes}.secret`)] }
    const failing = {
      kind: 'updateCollection',
      data: { id: own.get(notes), operations: [{ kind: 'createIndex', data: index }] },
    }
    const shown = async () => {
      const answers = [
        await editor.get(`/items/${notes}`),
        await editor.patch(`/items/${notes}/${note?.id}?fields=title`, { title: 'Title1' }),
        await editor.post('/items', { operations: [{ kind: 'read', collection: notes }] }),
        await editor.get(`/items/${links}?fields=id`),
        await stranger.get(`/items/${notes}`),
      ]
      return Promise.all(answers.map(async (one) => [one.status, ((await one.json()) as { data?: unknown }).data]))
    }

    const before = await shown()
    await servers[provider].run(`create index ${notes}_taken on ${notes} (title)`)
    const failed = await shop.migrate(rename('title', 'other'), failing)
    const closed = await shown()
    const told = await editor.get(`/items/${notes}`)
    const taken = isMysql ? await shop.migrate(rename('secret', 'title')) : failed
    await servers[provider].run(isMysql ? `drop index ${notes}_taken on ${notes}` : `drop index ${notes}_taken`)
    const imported = await editor.send('POST', `/schema/introspect/${sourceId}`)
    const after = await shown()
    await shop.delete(`/policies/${policy}`)

    const rows = [{ id: '1', title: 'Title1' }]
    const open = [
      [200, rows],
      [200, { title: 'Title1' }],
      [200, [rows]],
      [200, expect.any(Array)],
      [403, undefined],
    ]
    const shut = [503, 503, 503, 403, 403].map((status) => [status, undefined])
    expect(before).toEqual(open)
    expect([failed.status, taken.status]).toEqual([500, 500])
    expect(closed).toEqual(isMysql ? shut : open)
    expect(await told.json()).toEqual(
      isMysql
        ? { message: `${notes} is closed: a migration of its data source did not end; introspect the source` }
        : { data: rows },
    )
    expect(await imported.json()).toMatchObject({ data: { operations: [] } })
    expect(after).toEqual(before)
    expect(await servers[provider].run(`select ${isMysql ? 'other' : 'title'} from ${notes}`)).toEqual([['Title1']])
  })

  it('makes nothing again under an id that a policy names still, but for Administrators', async () => {
    const [emp, bonus] = [`${provider}_emp`, `${provider}_bonus`]
    const own = new Map<string, string>()
    await shop.migrate(
      createCollection(own, sourceId, emp, { name: 'string(20)', level: 'int32' }),
      createCollection(own, sourceId, bonus, { empId: 'int64?' }),
      createRelation(own, `${bonus}.emp(empId) -> ${emp}.bonuses`),
    )
    const filter = { level: { _lt: 5 }, bonuses: { _none: {} } }
    const collections = { [emp]: { read: { fields: ['name'], filter } } }
    const policy = await people.policy(shop, { entitlements: ['dataModel:edit', 'dataModel:read'], collections })
    const editor = await people.memberWith(shop, [await people.role(shop, [policy])])
    await servers[provider].run(`alter table ${emp} drop column level`, `drop table ${bonus}`)
    const imported = await editor.send('POST', `/schema/introspect/${sourceId}`)
    const again = {
      kind: 'updateCollection',
      data: {
        id: own.get(emp),
        operations: [
          {
            kind: 'createPrimitiveField',
            data: {
              ...{ id: own.get(`${emp}.level`), dbName: 'again', apiName: 'again', type: { name: 'int32' } },
              ...{ isNullable: true, isList: false, defaultValue: null },
            },
          },
        ],
      },
    }
    const table = createCollection(own, sourceId, `${bonus}_again`, { empId: 'int64?' })
    const related = createRelation(own, `${bonus}_again.emp(empId) -> ${emp}.bonusesAgain`)
    const { firstField, secondField, ...rest } = (related.data as { data: Record<string, object> }).data
    const linked = {
      kind: related.kind,
      data: {
        kind: 'single',
        data: { ...rest, firstField, secondField: { ...secondField, id: own.get(`${emp}.bonuses`) } },
      },
    }

    const refused = [
      await editor.post('/schema/migrate', { operations: [again] }),
      await editor.post('/schema/migrate', { operations: [table, linked] }),
    ]
    const allowed = await shop.migrate(again)
    await shop.delete(`/policies/${policy}`)

    expect(imported.status).toBe(200)
    for (const one of refused)
      expect(await answer(one)).toMatchObject({ status: 500, body: { source: { source: { code: '3004' } } } })
    expect(allowed.status).toBe(200)
    await servers[provider].run(`drop table ${emp}`)
    await introspect()
  })

  it('keeps what it renamed where another source of the migration failed behind it', async () => {
    const staff = `${provider}_staff`
    const own = new Map<string, string>()
    await shop.migrate(createCollection(own, sourceId, staff, { name: 'string(20)', level: 'int32' }))
    await shop.insert(staff, [
      { name: 'Ada', level: 9 },
      { name: 'Bob', level: 1 },
    ])
    const collections = { [staff]: { read: { fields: ['name'], filter: { level: { _lt: 5 } } } } }
    const policy = await people.policy(shop, { entitlements: ['dataModel:edit'], collections })
    const editor = await people.memberWith(shop, [await people.role(shop, [policy])])
    const decoy = createCollection(new Map(), shop.sourceId, `decoy_${provider}`, { text: 'string' })
    const { kind, data } = createCollection(new Map(), shop.sourceId, `decoy_${provider}`, { text: 'string' })
    const twin = { kind, data: { ...data, apiName: `twin${provider}` } }
    const change = { kind: 'changeDbName', data: { dbName: 'rank2' } }
    const rename = {
      kind: 'updateCollection',
      data: {
        id: own.get(staff),
        operations: [{ kind: 'updatePrimitiveField', data: { id: own.get(`${staff}.level`), operations: [change] } }],
      },
    }
    await editor.post('/schema/migrate', { operations: [decoy] })
    await editor.post(`/schema/introspect/${shop.sourceId}`, { tables: { exclude: ['decoy_*'] } })

    const failed = await shop.post('/schema/migrate', { operations: [rename, twin] })
    const closed = await editor.get(`/items/${staff}`)
    const imported = await editor.send('POST', `/schema/introspect/${sourceId}`)
    const after = await editor.get(`/items/${staff}`)
    await shop.delete(`/policies/${policy}`)

    expect(await answer(failed)).toMatchObject({
      status: 500,
      body: { source: { message: 'operations[1]', source: { code: '3002' } } },
    })
    expect(closed.status).toBe(503)
    expect(await answer(imported)).toMatchObject({ status: 200, body: { data: { operations: [] } } })
    expect(await after.json()).toEqual({ data: [{ name: 'Bob' }] })
    await shop.post(`/schema/introspect/${shop.sourceId}`, { tables: {} })
  })

  it('forgets its collections when it is deleted, and leaves its tables alone', async () => {
    const response = await shop.delete(`/sources/data/${sourceId}`)

    expect(response.status).toBe(204)
    expect(await answer(await shop.get(`/items/${authors}`))).toMatchObject({ status: 404 })
    expect(await answer(await shop.send('POST', `/schema/introspect/${sourceId}`))).toEqual({
      status: 404,
      body: { message: 'Source does not exist' },
    })
    expect(await servers[provider].run(`select count(*) from ${authors}`)).toEqual([['2']])
  })
})

it.each(otherProviders)('%s: an item is created, read, changed and deleted', async (provider) => {
  const ids = new Map<string, string>()
  const name = `${provider}_notes`
  const { config } = servers[provider]
  const made = await shop.post('/sources/data', { apiName: `source_${provider}`, provider, config })
  const { data } = (await made.json()) as { data: { id: string } }
  expect(await answer(await shop.migrate(createCollection(ids, data.id, name, { text: 'string?' })))).toEqual({
    status: 200,
  })

  const created = await answer(await shop.post(`/items/${name}?fields=id,text`, [{ text: "O'Hara \\ 🦊" }]))
  const changed = await answer(await shop.patch(`/items/${name}/1?fields=text`, { text: null }))
  const listed = await answer(await shop.get(`/items/${name}?fields=id,text`))
  const deleted = await shop.delete(`/items/${name}/1`)

  expect(created).toEqual({ status: 200, body: { data: [{ id: '1', text: "O'Hara \\ 🦊" }] } })
  expect(changed).toEqual({ status: 200, body: { data: { text: null } } })
  expect(listed).toEqual({ status: 200, body: { data: [{ id: '1', text: null }] } })
  expect(deleted.status).toBe(204)
  expect(await answer(await shop.get(`/items/${name}`))).toEqual({ status: 200, body: { data: [] } })
})
