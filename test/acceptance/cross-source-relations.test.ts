/**
 * docs/contract.md#across-sources: relations of items across data sources, and within one whose connector knows none.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ExternalSystem } from '../support/servers/external-system.ts'
import { connect, readAnswer, relateReviews, startSystem } from '../support/service/connected.ts'
import { people } from '../support/service/people.ts'
import { type Workspace, world } from '../support/service/world.ts'

let shop: Workspace
let system: ExternalSystem

beforeAll(async () => {
  system = await startSystem()
  // Reviews are rows of the database, authors and books records of the connector; a shelf holds reviews.
  shop = await world.workspace(
    'across',
    {
      shelves: { name: 'string' },
      reviews: { stars: 'int32', authorId: 'int32?', bookId: 'int32?', shelfId: 'int64?' },
    },
    ['reviews.shelf(shelfId) -> shelves.reviews'],
  )
  await connect(shop, system)
  await relateReviews(shop)
  const [top, low] = await shop.insert('shelves', [{ name: 'top' }, { name: 'low' }])
  await shop.insert('reviews', [
    { stars: 5, authorId: 1, bookId: 10, shelfId: top?.id },
    { stars: 4, authorId: 1, bookId: 11, shelfId: top?.id },
    { stars: 3, authorId: 2, bookId: null, shelfId: low?.id },
    { stars: 2, authorId: 99, bookId: 13, shelfId: low?.id },
    { stars: 1, authorId: null, bookId: null, shelfId: null },
  ])
})

afterAll(() => system.close())

const sort = 'sort[0][stars][direction]=desc'
const get = async (path: string) =>
  readAnswer(await shop.send('GET', path, { headers: { 'Cache-Control': 'no-cache' } }))
const dataOf = async (path: string) => ((await get(path)).body as { data: unknown }).data

describe('a read', () => {
  it('follows a relation from the database into a connector', async () => {
    expect(await dataOf(`/items/reviews?fields=stars,author.name,author.country&${sort}`)).toEqual([
      { stars: 5, author: { name: 'Ada', country: 'GB' } },
      { stars: 4, author: { name: 'Ada', country: 'GB' } },
      { stars: 3, author: { name: 'Grace', country: 'US' } },
      { stars: 2, author: null },
      { stars: 1, author: null },
    ])
  })

  it.each([
    ['into a connector', '/items/reviews?sort[0][author][name][direction]=asc', 'sort.author'],
    [
      'into a database',
      '/items/shelves?fields=reviews.stars&deep[reviews][_sort][0][book.title][direction]=asc',
      'sort.book',
    ],
  ])('cannot be sorted through a relation %s: 422', async (_, path, place) => {
    const { status, body } = await get(path)

    expect(status).toBe(422)
    expect(body).toMatchObject({
      source: {
        message: place,
        source: { message: 'cannot be followed to sort by the items of another data source' },
      },
      code: '4010',
    })
  })

  it.each([
    ['of a connector that declares none', '/items/books?meta=cursor', 'meta'],
    ['of such a connector behind a cursor', '/items/books?after=WzEsImFiYyIsMV0', 'after'],
    ['of another source', '/items/authors?fields=reviews.stars&deep[reviews][_meta]=cursor', 'deep.reviews._meta'],
  ])('has no cursors of lists %s: 422', async (_, path, place) => {
    const { status, body } = await get(path)

    expect([status, body]).toMatchObject([422, { source: { message: place } }])
  })

  it('asks once for all rows', async () => {
    system.queries()

    await get(`/items/reviews?fields=author.name,book.title&${sort}`)

    expect(system.queries()).toEqual([
      expect.objectContaining({
        collection: 'authors',
        filter: { field: 'id', type: 'int32', operator: 'in', value: [1, 2, 99] },
        fields: ['name', 'id'],
        limit: 3,
      }),
      expect.objectContaining({
        collection: 'books',
        filter: { field: 'id', type: 'int32', operator: 'in', value: [10, 11, 13] },
      }),
    ])
  })

  it('follows one back into the database', async () => {
    const path =
      '/items/authors?fields=name,reviews.stars&filter[id][_in][0]=1&filter[id][_in][1]=2&filter[id][_in][2]=3'

    expect(await dataOf(`${path}&sort[0][name][direction]=asc&deep[reviews][_sort][0][stars][direction]=asc`)).toEqual([
      { name: 'Ada', reviews: { data: [{ stars: 4 }, { stars: 5 }] } },
      { name: 'Edsger', reviews: { data: [] } },
      { name: 'Grace', reviews: { data: [{ stars: 3 }] } },
    ])
  })

  it('pages and filters the far rows of each parent', async () => {
    const path =
      '/items/authors/1?fields=name,reviews.stars&deep[reviews][_sort][0][stars][direction]=asc&deep[reviews][_limit]=1'

    expect(await dataOf(path)).toEqual({ name: 'Ada', reviews: { data: [{ stars: 4 }] } })
    expect(await dataOf(`${path}&deep[reviews][_offset]=1`)).toEqual({ name: 'Ada', reviews: { data: [{ stars: 5 }] } })
    expect(await dataOf(`${path}&deep[reviews][_filter][stars][_gt]=4`)).toEqual({
      name: 'Ada',
      reviews: { data: [{ stars: 5 }] },
    })
  })

  it('follows relations within a connector', async () => {
    system.queries()

    expect(await dataOf('/items/books?fields=title,author.name')).toEqual([
      { title: 'Notes', author: { name: 'Ada' } },
      { title: 'Compilers', author: { name: 'Grace' } },
      { title: 'Discipline', author: { name: 'Edsger' } },
      { title: 'Harmful', author: { name: 'Edsger' } },
      { title: 'Orphan', author: null },
    ])
    expect(system.queries()).toHaveLength(2)
    expect(await dataOf('/items/authors/3?fields=books.title')).toEqual({
      books: { data: [{ title: 'Discipline' }, { title: 'Harmful' }] },
    })
  })

  it('goes on from there, with members in the order that a database gives them', async () => {
    const data = await dataOf(
      `/items/shelves?fields=reviews.book.author.name,name,reviews.stars&sort[0][name][direction]=asc&deep[reviews][_sort][0][stars][direction]=asc`,
    )

    const review = (stars: number, author: string | null) => ({
      stars,
      book: author === null ? null : { author: { name: author } },
    })
    expect(JSON.stringify(data)).toBe(
      JSON.stringify([
        { name: 'low', reviews: { data: [review(2, 'Edsger'), review(3, null)] } },
        { name: 'top', reviews: { data: [review(4, 'Grace'), review(5, 'Ada')] } },
      ]),
    )
  })

  it('goes there and back', async () => {
    expect(await dataOf(`/items/reviews?fields=stars,author.reviews.stars&filter[stars][_eq]=3`)).toEqual([
      { stars: 3, author: { reviews: { data: [{ stars: 3 }] } } },
    ])
  })
})

describe('a filter', () => {
  const stars = async (filter: string) => {
    const { status, body } = await get(`/items/reviews?fields=stars&${sort}&${filter}`)
    return status === 200 ? (body as { data: { stars: number }[] }).data.map((row) => row.stars) : body
  }

  it.each([
    ['filter[author][name][_eq]=Ada', [5, 4]],
    ['filter[author][country][_null]=false', [5, 4, 3]],
    ['filter[_not][author][name][_eq]=Ada', [3, 2, 1]],
    ['filter[book][author][name][_eq]=Edsger', [2]],
    ['filter[_or][0][author][name][_eq]=Grace&filter[_or][1][stars][_eq]=1', [3, 1]],
  ])('%s is answered beforehand', async (filter, expected) => {
    expect(await stars(filter)).toEqual(expected)
  })

  it('is answered in the other direction too', async () => {
    const path = '/items/authors?fields=name&sort[0][name][direction]=asc'

    expect(await dataOf(`${path}&filter[reviews][_some][stars][_gt]=3`)).toEqual([{ name: 'Ada' }])
    expect(await dataOf(`${path}&filter[books][_some][authorId][_null]=false&filter[born][_lt]=1900`)).toEqual([
      { name: 'Ada' },
    ])
  })

  it('is refused where the connector cannot be asked', async () => {
    expect(await stars('filter[book][title][_eq]=Notes')).toMatchObject({
      message: expect.stringContaining('Failed to execute query: '),
      source: { message: 'filter.title._eq', source: { message: 'is not declared by the data source' } },
    })
  })
})

describe('the policies of the far collection', () => {
  const reviewer = (authors?: object) =>
    people.member(shop, { collections: { reviews: { read: 'all' }, ...(authors && { authors: { read: authors } }) } })

  it('hide rows and fields behind the relation', async () => {
    const member = await reviewer({ filter: { country: { _eq: 'US' } }, fields: ['id', 'name'] })

    const { body } = await readAnswer(await member.get(`/items/reviews?fields=stars,author&${sort}`))
    const hidden = await readAnswer(await member.get('/items/reviews?fields=author.born'))

    expect(body).toEqual({
      data: [
        { stars: 5, author: null },
        { stars: 4, author: null },
        { stars: 3, author: { id: 2, name: 'Grace' } },
        { stars: 2, author: null },
        { stars: 1, author: null },
      ],
    })
    expect(hidden.status).toBe(403)
  })

  it('hold in filters through it', async () => {
    const member = await reviewer({ filter: { country: { _eq: 'US' } }, fields: ['id', 'name'] })

    const found = await readAnswer(await member.get('/items/reviews?fields=stars&filter[author][name][_eq]=Ada'))
    const hidden = await readAnswer(await member.get('/items/reviews?fields=stars&filter[author][born][_gt]=1'))

    expect(found.body).toEqual({ data: [] })
    expect(hidden.status).toBe(403)
  })

  it('hide the relation from whoever may not read there at all', async () => {
    const member = await reviewer()

    const answers = [
      await member.get('/items/reviews?fields=author.name'),
      await member.get('/items/reviews?filter[author][name][_eq]=Ada'),
    ]

    expect(answers.map(({ status }) => status)).toEqual([403, 403])
  })

  it('may themselves look into another source', async () => {
    const member = await people.member(shop, {
      collections: { reviews: { read: { filter: { author: { country: { _eq: 'GB' } } }, fields: ['stars'] } } },
    })

    const { body } = await readAnswer(await member.get(`/items/reviews?${sort}&fields=stars`))

    expect(body).toEqual({ data: [{ stars: 5 }, { stars: 4 }] })
  })
})

describe('a write', () => {
  it('answers with related rows of another source', async () => {
    const { body } = await readAnswer(
      await shop.post('/items/reviews?fields=stars,author.name', [{ stars: 0, authorId: 2, bookId: null }]),
    )
    await shop.delete('/items/reviews?filter[stars][_eq]=0')

    expect(body).toEqual({ data: [{ stars: 0, author: { name: 'Grace' } }] })
  })

  it('that was done answers without the related rows that cannot be read', async () => {
    system.instruct('query', { do: 'plain', message: 'away' })
    const { status, body } = await readAnswer(
      await shop.post('/items/reviews?fields=stars,author.name,shelf.name', [{ stars: 0, authorId: 3 }]),
    )
    system.instruct('query', null)
    await shop.delete('/items/reviews?filter[stars][_eq]=0')

    expect(status).toBe(200)
    expect(body).toEqual({ data: [{ stars: 0, shelf: null }] })
  })

  it('under a condition compares what its own source has, also in a batch and under a key', async () => {
    const [review] = (await dataOf('/items/reviews?fields=id,_etag&filter[stars][_eq]=5')) as [
      { readonly id: string; readonly _etag: string },
    ]
    const { id, _etag } = review
    const change = { kind: 'update', collection: 'reviews', key: id, data: { stars: 5 }, ifMatch: _etag }
    const operations = [{ ...change, fields: ['stars', 'author.name'] }]
    const once = { 'Idempotency-Key': crypto.randomUUID() }

    const alone = { body: { stars: 5 }, headers: { ...once, 'If-Match': `"${_etag}"` } }
    const answers = [
      await readAnswer(await shop.send('PATCH', `/items/reviews/${id}?fields=stars,author.name`, alone)),
      await readAnswer(await shop.send('POST', '/items', { body: { operations } })),
    ]

    const shown = { stars: 5, author: { name: 'Ada' } }
    expect(answers).toEqual([
      { status: 200, body: { data: shown } },
      { status: 200, body: { data: [shown] } },
    ])
  })

  it('of items of two sources is refused, since it cannot be one transaction', async () => {
    const { status, body } = await readAnswer(
      await shop.post('/items/reviews', [{ stars: 1, author: { _create: { data: { name: 'Nested' } } } }]),
    )

    expect(status).toBe(422)
    expect(body).toMatchObject({
      message: expect.stringContaining('Failed to execute query: '),
      source: { message: 'body' },
    })
  })
})

it('survives another import of the connector’s schema', async () => {
  const [source] = (await shop.data('/items/ServiceDataSource?fields=id&filter[apiName][_eq]=library')) as {
    id: string
  }[]

  const { body } = await readAnswer(await shop.post(`/schema/introspect/${source?.id}`, undefined))

  expect(body).toEqual({ data: { operations: [], skipped: [] } })
  expect(await dataOf('/items/books?fields=author.name&limit=1')).toEqual([{ author: { name: 'Ada' } }])
})

it('looks far rows up in halves where a page of them is full', async () => {
  const many = Array.from({ length: 1_500 }, (_, index) => ({
    id: 1_000 + index,
    title: `t${index}`,
    authorId: 1 + (index % 2),
  }))
  system.records.set('books', [...(system.records.get('books') ?? []), ...many])
  system.queries()

  const path =
    '/items/authors?fields=name,books.title&filter[id][_in][0]=1&filter[id][_in][1]=2&deep[books][_limit]=800'
  const data = (await dataOf(path)) as { name: string; books: { data: unknown[] } }[]
  const asked = system.queries()
  system.records.set('books', (system.records.get('books') ?? []).slice(0, -1_500))

  expect(data.map(({ name, books }) => [name, books.data.length])).toEqual([
    ['Ada', 751],
    ['Grace', 751],
  ])
  expect(asked.map((request) => 'limit' in request && request.limit)).toEqual([100, 1_000, 800, 800])
})

it('leaves conditions on rows behind a relation to the source of those rows', async () => {
  await shop.insert(
    'shelves',
    Array.from({ length: 1_000 }, () => ({ name: 'shelf' })),
  )

  const path = '/items/authors/1?fields=name,reviews.stars&deep[reviews][_sort][0][stars][direction]=asc'

  // More shelves than a list of keys may have: the database answers this by itself.
  expect(await dataOf(`${path}&deep[reviews][_filter][_not][shelf][name][_eq]=shelf`)).toEqual({
    name: 'Ada',
    reviews: { data: [{ stars: 4 }, { stars: 5 }] },
  })
})

it('answers and writes by no model and no rights of before what has waited for another source', async () => {
  const reviews = { stars: 'int32', secret: 'int32', authorId: 'int32?', bookId: 'int32?' }
  const own = await world.workspace('waiting', { reviews })
  await connect(own, system)
  await relateReviews(own)
  await own.insert('reviews', [{ stars: 5, secret: 4711, authorId: 1 }])
  const [reader, writer] = await Promise.all([
    people.member(own, { collections: { authors: { read: 'all' }, reviews: { read: { fields: ['stars'] } } } }),
    people.member(own, {
      collections: { authors: { read: 'all' }, reviews: { read: 'all', update: 'all' } },
    }),
  ])
  const renamed = async (field: string, dbName: string) => {
    const operations = [{ kind: 'changeDbName', data: { dbName } }]
    const change = { kind: 'updatePrimitiveField', data: { id: own.ids.get(`reviews.${field}`), operations } }
    const data = { id: own.ids.get('reviews'), operations: [change] }
    return (await own.migrate({ kind: 'updateCollection', data })).status
  }

  const first = system.hold('query')
  const read = reader.get('/items/authors?fields=name,reviews.stars&limit=1')
  await first.reached
  const second = system.hold('query')
  const write = writer.patch('/items/reviews?filter[author][name][_eq]=Ada&max=9', { secret: 1 })
  await second.reached
  await own.patch(`/members/${writer.userId}`, { roles: [] })
  const statuses = [await renamed('stars', 'rating'), await renamed('secret', 'stars')]
  first.release()
  second.release()

  expect(statuses).toEqual([200, 200])
  expect(await readAnswer(await read)).toEqual({
    status: 200,
    body: { data: [{ name: 'Ada', reviews: { data: [{ stars: 5 }] } }] },
  })
  expect((await readAnswer(await write)).status).toBe(403)
  expect(await own.data('/items/reviews?fields=stars,secret')).toEqual([{ stars: 5, secret: 4711 }])
})
