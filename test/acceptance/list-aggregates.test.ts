/** `deep[posts][_aggregate]` (docs/contract.md#aggregates), on every kind of database. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { SqlProvider } from '../../src/core/sql/address.ts'
import type { ExternalSystem } from '../support/servers/external-system.ts'
import { type SourceServers, startSourceServers } from '../support/servers/source-servers.ts'
import { testedProviders } from '../support/servers/tested-providers.ts'
import { connect, relateReviews, startSystem } from '../support/service/connected.ts'
import { people } from '../support/service/people.ts'
import { createCollection, createRelation, type Workspace, world } from '../support/service/world.ts'

let servers: SourceServers
let shop: Workspace

beforeAll(async () => {
  servers = await startSourceServers()
  shop = await world.workspace('aggregated', {})
})

afterAll(() => servers?.close())

const text = (value: unknown) => encodeURIComponent(JSON.stringify(value))

describe.each(testedProviders)('on %s', (provider: SqlProvider) => {
  const [customers, orders] = [`${provider}_customers`, `${provider}_orders`]
  const all = 'sort[0][name][direction]=asc'
  const ofOrders = (argument: string) => `deep[orders]${argument}`
  let ada: string

  beforeAll(async () => {
    const { config } = servers[provider]
    const response = await shop.post('/sources/data', { apiName: `source_${provider}`, provider, config })
    const { data } = (await response.json()) as { data: { id: string } }
    await shop.send('POST', `/schema/introspect/${data.id}`)
    const ids = new Map<string, string>()
    await shop.migrate(
      createCollection(ids, data.id, customers, { name: 'string(40)' }),
      createCollection(ids, data.id, orders, {
        status: 'string?',
        pieces: 'int32?',
        total: 'decimal(12,2)?',
        weight: 'float64?',
        day: 'date?',
        createdAt: 'dateTimeWithTimezone?',
        customerId: 'int64?',
      }),
      createRelation(ids, `${orders}.customer(customerId) -> ${customers}.orders`),
    )
    const made = (await (
      await shop.post(`/items/${customers}?fields=id`, [{ name: 'Ada' }, { name: 'Bob' }, { name: 'Cyd' }])
    ).json()) as { data: { id: string }[] }
    const [first, second] = made.data.map(({ id }) => id)
    ada = first ?? ''
    const rows = [
      ['paid', 3, '10.50', 0.5, '2026-01-31', '2026-01-31T23:30:00Z', first],
      ['paid', 2, '20.25', 1.5, '2026-02-01', '2026-02-01T00:30:00Z', first],
      ['open', null, '0.05', null, '2026-02-28', '2026-02-28T12:00:00.5Z', first],
      ['Open', 5, null, 2.25, null, null, second],
      [null, 7, '9.20', 0.25, '2026-11-23', null, null],
    ].map(([status, pieces, total, weight, day, createdAt, customerId]) => {
      return { status, pieces, total, weight, day, createdAt, customerId }
    })
    expect((await shop.post(`/items/${orders}?fields=id`, rows)).status).toBe(200)
  })

  const ask = async (query: string) => {
    const answer = await shop.get(`/items/${customers}?${query}`)
    return (await answer.json()) as { data: unknown }
  }

  it('works functions out over the related items of each item, each in its form', async () => {
    const functions = [
      '[rows][count]=*',
      '[known][count]=status',
      '[distinct][countDistinct]=status',
      '[pieces][sum]=pieces',
      '[revenue][sum]=total',
      '[weight][sum]=weight',
      '[average][avg]=pieces',
      '[first][min]=createdAt',
      '[last][max]=day',
      '[cheapest][min]=total',
    ].map((one) => ofOrders(`[_aggregate]${one}`))
    const none = { known: 0, distinct: 0, pieces: null, revenue: null, weight: null, average: null }

    expect(await ask(`fields=name&${all}&${functions.join('&')}`)).toEqual({
      data: [
        {
          name: 'Ada',
          orders: {
            aggregate: {
              rows: 3,
              known: 3,
              distinct: 2,
              pieces: '5',
              revenue: '30.80',
              weight: 2,
              average: 2.5,
              first: '2026-01-31T23:30:00Z',
              last: '2026-02-28',
              cheapest: '0.05',
            },
          },
        },
        {
          name: 'Bob',
          orders: {
            aggregate: {
              rows: 1,
              known: 1,
              distinct: 1,
              pieces: '5',
              revenue: null,
              weight: 2.25,
              average: 5,
              first: null,
              last: null,
              cheapest: null,
            },
          },
        },
        { name: 'Cyd', orders: { aggregate: { rows: 0, ...none, first: null, last: null, cheapest: null } } },
      ],
    })
  })

  it('stands beside a page of the items, and is over all that match its filter', async () => {
    const page = `fields=name,orders.pieces&${all}&${ofOrders('[_sort][0][day][direction]=asc')}&${ofOrders('[_limit]=1')}`
    const counted = ofOrders('[_aggregate][n][count]=*')

    const [plain, behind, filtered] = [
      await ask(`${page}&${counted}&limit=2`),
      await ask(`${page}&${counted}&limit=1&${ofOrders('[_offset]=1')}&${ofOrders('[_filter][status][_eq]=paid')}`),
      await ask(`${page}&${counted}&limit=1&${ofOrders('[_meta]=cursor')}`),
    ]

    expect(plain.data).toEqual([
      { name: 'Ada', orders: { data: [{ pieces: 3 }], aggregate: { n: 3 } } },
      { name: 'Bob', orders: { data: [{ pieces: 5 }], aggregate: { n: 1 } } },
    ])
    expect(behind.data).toEqual([{ name: 'Ada', orders: { data: [{ pieces: 2 }], aggregate: { n: 2 } } }])
    expect(filtered.data).toEqual([
      {
        name: 'Ada',
        orders: { data: [{ pieces: 3 }], meta: { next: expect.any(String), previous: null }, aggregate: { n: 3 } },
      },
    ])
  })

  it('is refused where a sum is more than a double can hold', async () => {
    const most = { status: 'most', weight: 1.7e308, customerId: ada }
    await shop.insert(orders, [most, most])
    const asked = `fields=name&${ofOrders('[_aggregate][all][sum]=weight')}&${ofOrders('[_filter][status][_eq]=most')}`
    const answer = await shop.get(`/items/${customers}?${asked}`)
    await shop.delete(`/items/${orders}?filter[status][_eq]=most`)

    expect([answer.status, await answer.json()]).toMatchObject([422, { source: { code: '1006' } }])
  })

  it('is in each form of a request the same', async () => {
    const aggregate = { n: { count: '*' }, sum: { sum: 'total' } }
    const deep = { orders: { _aggregate: aggregate, _filter: { pieces: { _gt: 1 } } } }
    const sort = [{ name: { direction: 'asc' } }]
    const brackets = ['[_aggregate][n][count]=*', '[_aggregate][sum][sum]=total', '[_filter][pieces][_gt]=1']
    const body = { fields: ['name'], sort, deep }

    const answers = [
      await shop.get(`/items/${customers}?fields=name&${all}&${brackets.map(ofOrders).join('&')}`),
      await shop.get(`/items/${customers}?fields=name&${all}&deep=${text(deep)}`),
      await shop.send('QUERY', `/items/${customers}`, { body }),
      await shop.post('/items', { operations: [{ kind: 'read', collection: customers, ...body }] }),
    ]

    const [bracketed, json, queried, batched] = await Promise.all(answers.map((answer) => answer.text()))
    expect(JSON.parse(bracketed ?? '')).toMatchObject({
      data: { length: 3, 0: { name: 'Ada', orders: { aggregate: { n: 2, sum: '30.75' } } } },
    })
    expect(json).toBe(bracketed)
    expect(queried).toBe(bracketed)
    expect(JSON.parse(batched ?? '')).toEqual({ data: [JSON.parse(bracketed ?? '').data] })
  })

  it('is in a read of one item, in what a write answers, and part of its tag', async () => {
    const query = `fields=name&${ofOrders('[_aggregate][n][count]=*')}`
    const counted = { name: 'Ada', orders: { aggregate: { n: 3 } } }
    const path = `/items/${customers}/${ada}?${query}`

    const one = await shop.get(path)
    const tag = one.headers.get('etag') ?? ''
    const unchanged = await shop.send('GET', path, { headers: { 'If-None-Match': tag } })
    const written = await shop.send('PATCH', path, { body: { name: 'Ada' }, headers: { 'If-Match': tag } })
    const stale = await shop.send('PATCH', path, { body: { name: 'Ada' }, headers: { 'If-Match': '"none"' } })
    const listed = await shop.send('PATCH', `/items/${customers}?${query}&filter[name][_eq]=Ada&max=10`, {
      body: { name: 'Ada' },
    })

    expect(await one.json()).toEqual({ data: counted })
    expect(unchanged.status).toBe(304)
    expect([written.status, await written.json()]).toEqual([200, { data: counted }])
    expect(stale.status).toBe(412)
    expect(await listed.json()).toEqual({ data: [counted] })
  })

  it('is over the caller’s own rows, and of fields as far as it sees them', async () => {
    const reader = await people.member(shop, {
      collections: { [customers]: { read: 'all' }, [orders]: { read: { filter: { pieces: { _gt: 2 } } } } },
    })
    const partly = await people.policy(shop, { collections: { [orders]: { read: { fields: ['status'] } } } })
    const rows = await people.policy(shop, {
      collections: { [customers]: { read: 'all' }, [orders]: { read: { filter: { pieces: { _gt: 2 } } } } },
    })
    const both = await people.memberWith(shop, [await people.role(shop, [partly, rows])])
    const asked = ['[n][count]=*', '[known][count]=total', '[sum][sum]=total'].map((one) =>
      ofOrders(`[_aggregate]${one}`),
    )
    const path = `/items/${customers}?fields=name&${all}&limit=1&${asked.join('&')}`

    const [own, seen] = [await reader.get(path), await both.get(path)]

    expect(await own.json()).toEqual({
      data: [{ name: 'Ada', orders: { aggregate: { n: 1, known: 1, sum: '10.50' } } }],
    })
    expect(await seen.json()).toEqual({
      data: [{ name: 'Ada', orders: { aggregate: { n: 3, known: 1, sum: '10.50' } } }],
    })
  })
})

describe('what is refused', () => {
  let blog: Workspace
  let system: ExternalSystem

  beforeAll(async () => {
    system = await startSystem()
    blog = await world.workspace(
      'listed',
      {
        shelves: { name: 'string', secret: 'string?' },
        reviews: {
          stars: 'int32',
          secret: 'string?',
          day: 'date?',
          authorId: 'int32?',
          bookId: 'int32?',
          shelfId: 'int64?',
        },
      },
      ['reviews.shelf(shelfId) -> shelves.reviews'],
    )
    await connect(blog, system)
    await relateReviews(blog)
  })

  afterAll(() => system.close())

  const counted = 'deep[reviews][_aggregate][n][count]=*'
  const many = Array.from({ length: 21 }, (_, index) => `deep[reviews][_aggregate][n${index}][count]=*`).join('&')

  it.each([
    { path: 'shelves?deep[reviews][_aggregate]=x', place: '_aggregate', reason: 'must be given in brackets' },
    { path: `shelves?deep=${text({ reviews: { _aggregate: {} } })}`, place: '_aggregate', reason: 'at least one' },
    { path: 'shelves?deep[reviews][_aggregate][n]=x', place: '_aggregate.n', reason: 'must name one function' },
    { path: 'shelves?deep[reviews][_aggregate][n][cuont]=*', place: '_aggregate.n.cuont', reason: 'mean count?' },
    { path: 'shelves?deep[reviews][_aggregate][n][sum]=*', place: '_aggregate.n.sum', reason: 'only count takes *' },
    { path: 'shelves?deep[reviews][_aggregate][n][sum]=day', place: '_aggregate.n.sum', reason: 'not for date' },
    { path: 'shelves?deep[reviews][_aggregate][n][sum]=strs', place: '_aggregate.n.sum', reason: 'mean stars?' },
    { path: 'shelves?deep[reviews][_aggregate][n][count]=shelf', place: '_aggregate.n.count', reason: 'is a relation' },
    { path: `shelves?${many}`, place: '_aggregate', reason: 'more than 20' },
    { path: `shelves?${counted}&deep[reviews][_limit]=1`, place: '_limit', reason: 'needs items of the relation' },
    { path: `shelves?${counted}&deep[reviews][_meta]=cursor`, place: '_meta', reason: 'needs items of the relation' },
    { path: `shelves?${counted}&deep[reviews][shelf][_filter][id]=1`, place: '.shelf', reason: 'is not selected' },
  ])('is named with its place: $path', async ({ path, place, reason }) => {
    const response = await blog.get(`/items/${path}`)

    expect(response.status).toBe(422)
    expect(await response.json()).toMatchObject({
      message: expect.stringContaining('Failed to execute query: '),
      source: {
        message: place.startsWith('.') ? `deep.reviews${place}` : `deep.reviews.${place}`,
        source: { message: expect.stringContaining(reason) },
      },
    })
  })

  it('has no place at a relation to one, nor at a field', async () => {
    const toOne = await blog.get('/items/reviews?fields=shelf.id&deep[shelf][_aggregate][n][count]=*')
    const unselected = await blog.get('/items/reviews?deep[shelf][_aggregate][n][count]=*')
    const field = await blog.get('/items/reviews?deep[stars][_aggregate][n][count]=*')

    const messages = await Promise.all([toOne, unselected, field].map((answer) => answer.text()))
    expect([toOne.status, unselected.status, field.status]).toEqual([422, 422, 422])
    expect(messages[0]).toContain('deep.shelf._aggregate')
    expect(messages[1]).toContain('deep.shelf._aggregate')
    expect(messages[2]).toContain('takes no arguments')
  })

  it('is what another data source would have to work out', async () => {
    const paths = [
      'authors?deep[reviews][_aggregate][n][count]=*',
      'authors?fields=id,reviews.stars&deep[reviews][_aggregate][n][count]=*',
    ]

    const answers = await Promise.all(paths.map((path) => blog.get(`/items/${path}`)))
    const batch = await blog.post('/items', {
      operations: [{ kind: 'read', collection: 'authors', deep: { reviews: { _aggregate: { n: { count: '*' } } } } }],
    })

    for (const answer of answers) {
      expect([answer.status, await answer.json()]).toEqual([
        422,
        expect.objectContaining({
          code: '4010',
          source: expect.objectContaining({ message: 'deep.reviews._aggregate' }),
        }),
      ])
    }
    expect([batch.status, await batch.json()]).toEqual([422, expect.objectContaining({ code: '4010' })])
  })

  it('is what is hidden, as what does not exist', async () => {
    const reader = await people.member(blog, {
      collections: { shelves: { read: { fields: ['id', 'reviews'] } }, reviews: { read: { fields: ['id', 'stars'] } } },
    })
    const blind = await people.member(blog, { collections: { shelves: { read: 'all' } } })
    const asked = ['secret', 'nothing'].flatMap((name) =>
      ['count', 'countDistinct', 'min'].map(
        (called) => `shelves?fields=id&deep[reviews][_aggregate][n][${called}]=${name}`,
      ),
    )

    const answers = await Promise.all([
      ...[...asked, `shelves?fields=id&deep[nothing][_aggregate][n][count]=*`].map((path) =>
        reader.get(`/items/${path}`),
      ),
      blind.get(`/items/shelves?fields=id&${counted}`),
    ])

    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([403]))
  })
})
