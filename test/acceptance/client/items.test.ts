/** Reads and writes of items through the client, against the served instance (packages/client). */
import { beforeAll, beforeEach, expect, it } from 'vitest'
import { type Client, createClient, ServiceError } from '../../../packages/client/src/index.ts'
import type { Workspace } from '../../support/service/world.ts'
import { world } from '../../support/service/world.ts'
import { clientOf, openShop, type Schema } from './shop.ts'

let shop: Workspace
let db: Client<Schema>

beforeAll(async () => {
  const opened = await openShop('items')
  shop = opened.shop
  db = opened.db
})

beforeEach(async () => {
  const filter = { id: { _gt: 0 } }
  await db.comments.delete({ filter }).orThrow()
  await db.articles.delete({ filter }).orThrow()
  await db.authors.delete({ filter }).orThrow()
  await db.authors
    .create([
      { id: 1, name: 'Ada', born: '1815-12-10' },
      { id: 2, name: 'Bob' },
    ])
    .orThrow()
  await db.articles
    .create([
      { id: 1, title: 'On engines', likes: 3, words: ['a', 'b'], price: '9.50', authorId: 1 },
      { id: 2, title: 'On looms', likes: 8, price: 12, authorId: 1 },
      { id: 3, title: 'Untitled', details: { size: [1, 2] } },
    ])
    .orThrow()
})

it('lists what is asked for: fields with relations, a filter, an order, a page and the count', async () => {
  const result = await db.articles.list({
    fields: ['id', { author: ['name', { articles: { fields: ['title'], sort: [{ id: 'desc' }], limit: 1 } }] }],
    filter: { _or: [{ author: { name: 'Ada' } }, { title: { _starts_with: 'Un' } }] },
    sort: [{ author: { name: 'desc nulls first' } }, { likes: 'asc' }],
    limit: 2,
    offset: 1,
    meta: ['totalCount'],
  })

  expect(result).toMatchObject({ ok: true, status: 200, meta: { totalCount: 3 } })
  expect(result.orThrow()).toEqual([
    { id: '1', author: { name: 'Ada', articles: { data: [{ title: 'On looms' }] } } },
    { id: '2', author: { name: 'Ada', articles: { data: [{ title: 'On looms' }] } } },
  ])
})

it('lists all fields where none is named, those of a relation too', async () => {
  const [plain] = await db.authors.list({ filter: { id: 2 } }).orThrow()
  const [nested] = await db.articles.list({ fields: [{ author: {} }], limit: 1 }).orThrow()

  expect(plain).toEqual({ id: '2', name: 'Bob', born: null })
  expect(nested).toEqual({ author: { id: '1', name: 'Ada', born: '1815-12-10' } })
})

it('merges what is said twice of a relation', async () => {
  const [first] = await db.articles.list({ fields: [{ author: ['id'] }, { author: ['name'] }], limit: 1 }).orThrow()

  expect(first).toEqual({ author: { id: '1', name: 'Ada' } })
})

it('asks by QUERY for what is too long for an address', async () => {
  const methods: (string | undefined)[] = []
  const noting: typeof fetch = (url, init) => {
    methods.push(init?.method)
    return fetch(url, init)
  }
  const many = Array.from({ length: 2_000 }, (_, index) => String(index))

  const found = await db.articles.list({ filter: { id: { _in: many } }, meta: ['totalCount'], fetch: noting })

  expect(methods).toEqual(['QUERY'])
  expect(found).toMatchObject({ ok: true, meta: { totalCount: 3 } })
})

it('reads an item by its key, with its tag, and nothing again that it knows', async () => {
  const read = await db.articles.get('1', { fields: ['title', '_etag'] })
  const etag = read.ok ? (read.etag ?? '') : ''
  const again = await db.articles.get('1', { fields: ['title', '_etag'], ifNoneMatch: etag })
  const other = await db.articles.get('1', { fields: ['title'], filter: { title: 'Another' } })

  expect(read.orThrow()).toEqual({ title: 'On engines', _etag: expect.stringMatching(/^[\w-]{22}$/) })
  expect(again).toMatchObject({ ok: true, status: 304, data: undefined, etag })
  expect(other).toMatchObject({ ok: false, status: 404 })
})

it.each(['', '.', '..', '"', '"quoted"', 'a/b', '1,5', 'ä €', '?x=1&y#z', '%41', 'then', 'constructor'])(
  'finds an item by the key %j',
  async (id) => {
    await db.notes.create({ id, text: id }).orThrow()

    const read = await db.notes.get(id).orThrow()
    await db.notes.delete(id).orThrow()

    expect(read).toEqual({ id, text: id })
  },
)

it('finds an item by a key of several fields', async () => {
  type System = {
    ServiceIndexField: { key: [indexId: string, order: number]; read: { indexId: string; order: number } }
  }
  const system = createClient<System>(world.url, {
    workspace: shop.name,
    headers: { Authorization: `Bearer ${world.administrator.token}` },
  })
  const [first] = await system.ServiceIndexField.list({ limit: 1 }).orThrow()

  const read = await system.ServiceIndexField.get([first?.indexId ?? '', first?.order ?? 0]).orThrow()

  expect(read).toEqual(first)
})

it('creates one item or several, answered as they were sent, with related ones in them', async () => {
  const one = await db.articles
    .create(
      {
        id: 11,
        title: 'By Eve',
        author: { _create: { data: { id: 11, name: 'Eve' } } },
        comments: [{ _create: { data: [{ text: 'Good' }] } }],
      },
      { fields: ['title', { author: ['name'] }, { comments: ['text'] }] },
    )
    .orThrow()
  const several = await db.authors
    .create(
      [
        { id: 13, name: 'Z' },
        { id: 12, name: 'Y' },
      ],
      { fields: ['name'] },
    )
    .orThrow()
  const linked = await db.comments
    .create({ text: 'Fine', article: { _connect: { key: { id: 2n } } } }, { fields: ['articleId'] })
    .orThrow()

  expect(one).toEqual({ title: 'By Eve', author: { name: 'Eve' }, comments: { data: [{ text: 'Good' }] } })
  expect(several).toEqual([{ name: 'Z' }, { name: 'Y' }])
  expect(linked).toEqual({ articleId: '2' })
})

it('writes long integers and decimals as they are', async () => {
  const id = 2n ** 60n + 1n

  const made = await db.articles.create({ id, title: 'Long', price: '0.10' }, { fields: ['id', 'price'] }).orThrow()
  const found = await db.articles.list({ fields: ['id'], filter: { id } }).orThrow()

  expect(made).toEqual({ id: '1152921504606846977', price: '0.10' })
  expect(found).toEqual([{ id: '1152921504606846977' }])
})

it('changes an item by its key, on a condition, by what it is, and through its relations', async () => {
  const changed = await db.articles.update(
    '1',
    { title: 'New', likes: { _increment: -1 } },
    { fields: ['title', 'likes'] },
  )
  const unmet = await db.articles.update('1', { title: 'Newer' }, { filter: { likes: { _gt: 5 } } })
  const lists = await db.articles.update('1', { words: { _append: ['c'] } }, { fields: ['words'] })
  const related = await db.articles.update(
    '1',
    { author: [{ _update: { data: { born: '1816-01-01' } } }] },
    { fields: [{ author: ['born'] }] },
  )

  expect(changed.orThrow()).toEqual({ title: 'New', likes: 2 })
  expect(unmet).toMatchObject({ ok: false, status: 404 })
  expect(lists.orThrow()).toEqual({ words: ['a', 'b', 'c'] })
  expect(related.orThrow()).toEqual({ author: { born: '1816-01-01' } })
})

it('changes an item only as it was read', async () => {
  const { _etag } = await db.articles.get('1', { fields: ['_etag'] }).orThrow()

  const first = await db.articles.update('1', { title: 'First' }, { ifMatch: _etag })
  const second = await db.articles.update('1', { title: 'Second' }, { ifMatch: _etag })

  expect(first.ok).toBe(true)
  expect(second).toMatchObject({ ok: false, status: 412, error: { code: '4120' } })
})

it('changes and deletes what a filter finds, and nothing where that is too much', async () => {
  const filter = { title: { _starts_with: 'On' } }

  const refused = await db.articles.delete({ filter, max: 1 })
  const changed = await db.articles.update({ filter, max: 2 }, { likes: 1 }, { fields: ['id', 'likes'] }).orThrow()
  const gone = await db.articles.delete({ filter }, { fields: ['id'] }).orThrow()
  const rest = await db.articles.list({ fields: ['id'] }).orThrow()

  expect(refused).toMatchObject({ ok: false, status: 422, error: { code: '4013', meta: { matched: 2 } } })
  expect(changed).toEqual([
    { id: '1', likes: 1 },
    { id: '2', likes: 1 },
  ])
  expect(gone).toEqual([{ id: '1' }, { id: '2' }])
  expect(rest).toEqual([{ id: '3' }])
})

it('deletes an item by its key, and answers it where fields are asked for', async () => {
  const silent = await db.articles.delete('3')
  const shown = await db.articles.delete('2', { fields: ['title'] })

  expect(silent).toMatchObject({ ok: true, status: 204, data: undefined })
  expect(shown.orThrow()).toEqual({ title: 'On looms' })
})

it('does once what is sent again under a key', async () => {
  const create = (id: number, idempotencyKey: string | true) =>
    db.authors.create({ id, name: 'Once' }, { idempotencyKey })

  const first = await create(21, 'make-once').orThrow()
  const again = await create(21, 'make-once')
  await create(22, true).orThrow()
  await create(23, true).orThrow()

  expect(again.orThrow()).toEqual(first)
  expect(again.ok && again.headers.get('Idempotency-Replayed')).toBe('true')
  expect(await db.authors.list({ filter: { name: 'Once' } }).orThrow()).toHaveLength(3)
})

it('sends nothing until it is awaited, and then once', async () => {
  const call = db.authors.create({ id: 31, name: 'Lazy' })
  const before = await db.authors.list({ filter: { name: 'Lazy' } }).orThrow()

  const [one, other] = await Promise.all([call, call.orThrow()])

  expect(before).toEqual([])
  expect(one.orThrow()).toBe(other)
  expect(await db.authors.list({ filter: { name: 'Lazy' } }).orThrow()).toHaveLength(1)
})

it('answers what failed as a value, which orThrow throws', async () => {
  const call = clientOf(shop).articles.list({ fields: ['titel' as 'title'] })

  const result = await call

  expect(result).toMatchObject({
    ok: false,
    status: 422,
    error: {
      status: 422,
      code: '4009',
      messages: ['Failed to execute query', 'fields.titel', 'is not a field of articles; did you mean title?'],
      message: 'Failed to execute query > fields.titel > is not a field of articles; did you mean title?',
      requestId: expect.stringMatching(/./),
    },
  })
  await expect(call.orThrow()).rejects.toBeInstanceOf(ServiceError)
  expect(() => result.orThrow()).toThrow(ServiceError)
})

it('refuses a condition on undefined and a key that is missing, since they would mean something else', async () => {
  const missing = undefined as unknown as string
  const nested = { comments: { filter: { text: missing } } }

  await expect(db.articles.delete({ filter: { title: { _eq: missing } } }).orThrow()).rejects.toThrow(
    new TypeError('_eq is undefined'),
  )
  await expect(db.articles.list({ fields: [nested] }).orThrow()).rejects.toThrow(new TypeError('text is undefined'))
  await expect(db.articles.get(missing).orThrow()).rejects.toThrow(new TypeError('The key is undefined'))
  for (const lost of [Number.NaN, Number.POSITIVE_INFINITY, new Date(Number.NaN)]) {
    const sent = lost as unknown as number
    const which = { filter: { id: { _eq: sent } } }
    await expect(db.articles.delete(which).orThrow()).rejects.toThrow(new TypeError(`_eq is ${lost}`))
    await expect(db.articles.list(which).orThrow()).rejects.toThrow(new TypeError(`_eq is ${lost}`))
    await expect(db.articles.create([{ id: sent, title: 'x' }]).orThrow()).rejects.toThrow(
      new TypeError(`id is ${lost}`),
    )
  }
})

it('leaves it to the service to refuse what it does not know', async () => {
  const query = { fields: ['id'], limt: 3 } as const

  const result = await db.articles.list(query as { fields: readonly ['id'] })

  expect(result).toMatchObject({ ok: false, status: 422, error: { messages: expect.arrayContaining(['limt']) } })
})

it('asks any other address, and answers its body as it is', async () => {
  const below = await db.$request<{ data: object[] }>('GET', 'items/authors', { query: { fields: ['id'], limit: 1 } })
  const above = await db.$request<{ name: string }>('GET', '/api/system/info').orThrow()
  const posted = await db.$request('POST', 'schema/migrate', { body: { operations: [] } })
  const missing = await db.$request('GET', '/api/system/nothing')

  expect(below.orThrow()).toEqual({ data: [{ id: '1' }] })
  expect(above.name).toEqual(expect.any(String))
  expect(posted.status).toBe(200)
  expect(missing).toMatchObject({ ok: false, status: 404 })
})
