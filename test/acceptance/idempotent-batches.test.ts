/** Batches under an Idempotency-Key happen once, and are answered the same again (docs/contract.md#idempotency). */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { SqlProvider } from '../../src/core/sql/address.ts'
import type { ExternalSystem } from '../support/servers/external-system.ts'
import { type SourceServers, startSourceServers } from '../support/servers/source-servers.ts'
import { testedProviders } from '../support/servers/tested-providers.ts'
import { connect, startSystem } from '../support/service/connected.ts'
import { people } from '../support/service/people.ts'
import { type Client, createCollection, createRelation, type Workspace, world } from '../support/service/world.ts'

let servers: SourceServers
let shop: Workspace
let far: Workspace
let system: ExternalSystem

beforeAll(async () => {
  servers = await startSourceServers()
  system = await startSystem()
  shop = await world.workspace(
    'once_batches',
    { authors: { name: 'string' }, books: { title: 'string', text: 'string?', authorId: 'int64?' } },
    ['books.author(authorId) -> authors.books'],
  )
  far = await world.workspace('once_batches_far', {})
  await connect(far, system)
})

afterAll(async () => {
  await Promise.all([servers?.close(), system?.close()])
})

const newKey = () => crypto.randomUUID()
const coded = (code: string) => expect.objectContaining({ code })

type Told = { readonly status: number; readonly replayed: string | null; readonly body: { readonly data?: unknown[] } }

async function run(on: Client, key: string, operations: readonly unknown[]): Promise<Told> {
  const response = await on.send('POST', '/items', { body: { operations }, headers: { 'Idempotency-Key': key } })
  const replayed = response.headers.get('Idempotency-Replayed')
  return { status: response.status, replayed, body: (await response.json()) as Told['body'] }
}

const titles = (books: string, key: string) =>
  shop.data(`/items/${books}?fields=title&filter[title][_starts_with]=${key}&sort[0][title][direction]=asc`)

type Names = { readonly authors: string; readonly books: string }

/** One operation of each kind, by names that begin with `key`. */
function every(key: string, { authors, books }: Names): readonly unknown[] {
  const titled = (title: string) => ({ title: { _eq: `${key} ${title}` } })
  return [
    { kind: 'create', collection: authors, as: 'ada', data: [{ name: key }], fields: ['id', 'name'] },
    {
      kind: 'create',
      collection: books,
      as: 'made',
      data: ['one', 'two', 'three'].map((title) => ({
        title: `${key} ${title}`,
        authorId: { $ref: 'ada[0].id' },
      })),
    },
    {
      kind: 'update',
      collection: books,
      key: { $ref: 'made[0].id' },
      data: { text: 'changed' },
      fields: ['text', 'author.name'],
    },
    { kind: 'update', collection: books, filter: titled('two'), data: { text: 'also' }, fields: ['title', 'text'] },
    {
      kind: 'upsert',
      collection: books,
      conflict: { fields: ['id'], do: 'update' },
      data: [{ id: { $ref: 'made[1].id' }, title: `${key} again` }],
      fields: ['title'],
    },
    {
      kind: 'read',
      collection: books,
      filter: { title: { _starts_with: key } },
      fields: ['title', 'text'],
      sort: [{ title: {} }],
      limit: 3,
      offset: 0,
      meta: 'totalCount,cursor',
    },
    { kind: 'read', collection: books, key: { $ref: 'made[2].id' }, fields: ['title'] },
    { kind: 'delete', collection: books, filter: titled('one'), fields: ['title', 'text'] },
    { kind: 'delete', collection: books, key: { $ref: 'made[2].id' } },
  ]
}

const answered = (key: string) => [
  [{ id: expect.anything(), name: key }],
  Array(3).fill(expect.objectContaining({ text: null })),
  { text: 'changed', author: { name: key } },
  [{ title: `${key} two`, text: 'also' }],
  [{ title: `${key} again` }],
  [
    { title: `${key} again`, text: 'also' },
    { title: `${key} one`, text: 'changed' },
    { title: `${key} three`, text: null },
  ],
  { title: `${key} three` },
  [{ title: `${key} one`, text: 'changed' }],
  null,
]

const cases: readonly [string, SqlProvider | undefined, boolean][] = [
  ['the system database', undefined, true],
  ...testedProviders.flatMap((provider): [string, SqlProvider, boolean][] => [
    [`${provider} with a ledger`, provider, true],
    [`${provider} without a ledger`, provider, false],
  ]),
]

describe.each(cases)('a batch under a key in %s', (name, provider, hasLedger) => {
  const prefix = provider === undefined ? '' : `${provider}${hasLedger ? '_l' : ''}_`
  const names: Names = { authors: `${prefix}authors`, books: `${prefix}books` }
  const { authors, books } = names

  beforeAll(async () => {
    if (provider === undefined) return
    const ids = new Map<string, string>()
    const { config } = servers[provider]
    const made = await shop.post('/sources/data', { apiName: `${prefix}source`, provider, config })
    const { data } = (await made.json()) as { data: { id: string } }
    const migrated = await shop.migrate(
      createCollection(ids, data.id, authors, { name: 'string' }),
      createCollection(ids, data.id, books, { title: 'string', text: 'string?', authorId: 'int64?' }),
      createRelation(ids, `${books}.author(authorId) -> ${authors}.books`),
      ...(hasLedger ? [{ kind: 'createIdempotencyLedger', data: { sourceId: data.id } }] : []),
    )
    expect([made.status, migrated.status, await migrated.text()], name).toEqual([200, 200, ''])
  })

  it('is done once, and answered the same again', async () => {
    const key = newKey()

    const first = await run(shop, key, every(key, names))
    const again = await run(shop, key, every(key, names))

    expect(first).toMatchObject({ status: 200, replayed: null, body: { data: answered(key) } })
    expect(first.body).toMatchObject({
      meta: [null, null, null, null, null, { totalCount: 3, next: null, previous: null }, null, null, null],
    })
    expect(again).toEqual({ ...first, replayed: 'true' })
    expect(await titles(books, key)).toEqual([{ title: `${key} again` }])
  })

  // Without a ledger a claim decides, by which single writes of each provider race, too.
  if (hasLedger) {
    it('is one batch where it is sent by many at once', async () => {
      const key = newKey()

      const answers = await Promise.all(Array.from({ length: 20 }, () => run(shop, key, every(key, names))))

      expect(new Set(answers.map(({ status, body }) => JSON.stringify([status, body]))).size).toBe(1)
      expect(answers.filter(({ replayed }) => replayed === null)).toHaveLength(1)
      expect(answers[0]).toMatchObject({ status: 200 })
      expect(await titles(books, key)).toHaveLength(1)
    })
  }

  it('leaves no key where an operation fails, and tells which', async () => {
    const key = newKey()
    const made = { kind: 'create', collection: books, data: [{ title: key }] }

    const missing = await run(shop, key, [made, { kind: 'update', collection: books, key: '987654321', data: {} }])
    const refused = await run(shop, key, [made, { ...made, data: [{ title: key, authorId: '987654321' }] }])
    const done = await run(shop, key, [made])

    expect([missing.status, missing.body]).toEqual([404, expect.objectContaining({ meta: { operation: 1 } })])
    expect([refused.status, refused.body]).toEqual([
      422,
      expect.objectContaining({ meta: expect.objectContaining({ operation: 1 }) }),
    ])
    expect([done.status, done.replayed]).toEqual([200, null])
    expect(await titles(books, key)).toHaveLength(1)
  })

  it('reads the items of a long answer again, and lists once more', async () => {
    const key = newKey()
    const text = 'x'.repeat(3_000)
    const pages = Array.from({ length: 30 }, (_, index) => ({ title: `${key} ${index}`, text: `${index} ${text}` }))
    const operations = [
      { kind: 'create', collection: books, data: pages, fields: ['title', 'text'] },
      {
        kind: 'read',
        collection: books,
        filter: { title: { _eq: `${key} 7` } },
        fields: ['title'],
        meta: 'totalCount',
      },
      { kind: 'delete', collection: books, filter: { title: { _eq: `${key} 8` } }, fields: ['title'] },
    ]

    const first = await run(shop, key, operations)
    const again = await run(shop, key, operations)

    const [created, ...others] = first.body.data ?? []
    expect(again).toEqual({
      ...first,
      replayed: 'true',
      body: { ...first.body, data: [(created as unknown[]).filter((_, index) => index !== 8), ...others] },
    })
    expect(others).toEqual([[{ title: `${key} 7` }], [{ title: `${key} 8` }]])
  })

  it('has of rows that decide who reads them what the caller may read now', async () => {
    const key = newKey()
    const open = { filter: { text: { _eq: 'open' } } }
    const rights = { read: open, create: 'all', update: 'all', delete: 'all' }
    const member = await people.member(shop, { collections: { [books]: rights } })
    const operations = [
      {
        kind: 'create',
        collection: books,
        as: 'made',
        data: ['one', 'two', 'three'].map((title) => ({ title: `${key} ${title}`, text: 'open' })),
        fields: ['title'],
      },
      { kind: 'update', collection: books, key: { $ref: 'made[0].id' }, data: { text: 'open' }, fields: ['title'] },
      { kind: 'read', collection: books, key: { $ref: 'made[1].id' }, fields: ['title'] },
      {
        kind: 'read',
        collection: books,
        filter: { title: { _starts_with: key } },
        fields: ['title'],
        sort: [{ title: {} }],
        meta: 'totalCount',
      },
      { kind: 'delete', collection: books, key: { $ref: 'made[2].id' }, fields: ['title'] },
    ]
    const titled = (title: string) => ({ title: `${key} ${title}` })

    const first = await run(member, key, operations)
    const same = await run(member, key, operations)
    await shop.patch(`/items/${books}?filter[title][_eq]=${key} two`, { text: 'closed' })
    const hidden = await run(member, key, operations)
    await shop.delete(`/items/${books}?filter[title][_starts_with]=${key}`)
    const gone = await run(member, key, operations)

    expect(first).toMatchObject({ status: 200, replayed: null })
    expect(first.body.data).toEqual([
      [titled('one'), titled('two'), titled('three')],
      titled('one'),
      titled('two'),
      [titled('one'), titled('three'), titled('two')],
      titled('three'),
    ])
    expect(same).toMatchObject({ status: 200, replayed: 'true' })
    expect(same.body.data).toEqual([
      [titled('one'), titled('two')],
      titled('one'),
      titled('two'),
      [titled('one'), titled('two')],
      titled('three'),
    ])
    expect(hidden.body).toEqual({
      data: [[titled('one'), { title: null }], titled('one'), null, [titled('one')], titled('three')],
      meta: [null, null, null, { totalCount: 1 }, null],
    })
    expect(gone.body).toEqual({
      data: [[], null, null, [], titled('three')],
      meta: [null, null, null, { totalCount: 0 }, null],
    })
  })
})

describe('the key of a batch', () => {
  const names: Names = { authors: 'authors', books: 'books' }
  const { authors, books } = names

  it('belongs to one body', async () => {
    const key = newKey()
    await run(shop, key, every(key, names))

    const other = await run(shop, key, every(key, names).slice(1))
    const alone = await shop.send('POST', `/items/${authors}`, {
      body: [{ name: key }],
      headers: { 'Idempotency-Key': key },
    })

    expect([other.status, alone.status, await alone.json()]).toEqual([422, 422, coded('4221')])
    expect(await titles(books, key)).toHaveLength(1)
  })

  it('is not shown to a caller whose rights on it are others by now', async () => {
    const key = newKey()
    const mayWrite = { read: 'all', create: 'all', update: 'all' }
    const collections = { [books]: mayWrite, [authors]: { read: 'all' } }
    const policy = await people.policy(shop, { collections })
    const member = await people.memberWith(shop, [await people.role(shop, [policy])])
    const operations = [
      { kind: 'create', collection: books, data: [{ title: key }], fields: ['title'] },
      { kind: 'read', collection: authors, fields: ['id'], limit: 1 },
    ]

    const first = await run(member, key, operations)
    const content = { collections: { ...collections, [authors]: { read: { filter: { name: { _neq: 'x' } } } } } }
    await shop.patch(`/policies/${policy}`, { content })
    await expect.poll(async () => (await run(member, key, operations)).status).toBe(409)
    const again = await run(member, key, operations)

    expect(first).toMatchObject({ status: 200 })
    expect(again).toMatchObject({ replayed: null, body: coded('4092') })
    expect(await titles(books, key)).toHaveLength(1)
  })
})

describe('a connector', () => {
  const operations = (name: string) => [{ kind: 'create', collection: 'authors', data: [{ name }] }]

  it('is asked once for a batch of one operation', async () => {
    const key = newKey()
    system.queries()

    const answers = await Promise.all(Array.from({ length: 5 }, () => run(far, key, operations(key))))
    const missing = { kind: 'update', collection: 'authors', key: '987654321', data: { name: 'x' } }
    const undone = [await run(far, `${key}!`, [missing]), await run(far, `${key}!`, [missing])]

    expect(answers.map(({ status }) => status)).toEqual(Array(5).fill(200))
    expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1)
    expect(system.queries().filter(({ operation }) => operation === 'createMany')).toHaveLength(1)
    expect(undone.map(({ status }) => status)).toEqual([404, 404])
  })

  it('whose answer was lost is not asked again', async () => {
    const key = newKey()
    system.instruct('query', { do: 'plain' })

    const first = await run(far, key, operations(key))
    system.instruct('query', null)
    const again = await run(far, key, operations(key))

    expect(first.status).toBe(500)
    expect(again).toMatchObject({ status: 409, replayed: null, body: coded('4093') })
  })
})
