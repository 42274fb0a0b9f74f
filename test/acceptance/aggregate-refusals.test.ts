/** What aggregates refuse, and what they show to whom (docs/contract.md#aggregates). */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ExternalSystem } from '../support/servers/external-system.ts'
import { connect, relateReviews, startSystem } from '../support/service/connected.ts'
import { people } from '../support/service/people.ts'
import { type Workspace, world } from '../support/service/world.ts'

let shop: Workspace
let system: ExternalSystem

beforeAll(async () => {
  system = await startSystem()
  shop = await world.workspace(
    'grouped',
    {
      shelves: { name: 'string', secret: 'string?' },
      reviews: {
        stars: 'int32',
        day: 'date?',
        authorId: 'int32?',
        bookId: 'int32?',
        shelfId: 'int64?',
        details: 'json?',
        tags: 'string[]?',
      },
    },
    ['reviews.shelf(shelfId) -> shelves.reviews'],
  )
  await connect(shop, system)
  await relateReviews(shop)
  const [top, low] = await shop.insert('shelves', [
    { name: 'top', secret: 'x' },
    { name: 'low', secret: 'y' },
  ])
  await shop.insert('reviews', [
    { stars: 5, day: '2026-01-01', authorId: 1, shelfId: top?.id },
    { stars: 4, day: '2026-01-02', authorId: 1, shelfId: top?.id },
    { stars: 3, day: null, authorId: 2, shelfId: low?.id },
  ])
})

afterAll(() => system.close())

const names = (count: number, one: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => one(index)).join('&')

describe('what is asked', () => {
  it.each([
    { query: '', place: 'aggregate', reason: 'must be given' },
    { query: 'aggregate=x', place: 'aggregate', reason: 'must be given in brackets' },
    { query: 'aggregate[n]=x', place: 'aggregate.n', reason: 'must name one function' },
    { query: 'aggregate[n][count]=*&aggregate[n][sum]=stars', place: 'aggregate.n', reason: 'must name one function' },
    { query: 'aggregate[n][cuont]=*', place: 'aggregate.n.cuont', reason: 'did you mean count?' },
    { query: 'aggregate[n][sum]=*', place: 'aggregate.n.sum', reason: 'only count takes *' },
    { query: 'aggregate[n][sum]=shelf.name', place: 'aggregate.n.sum', reason: 'a field of the collection itself' },
    { query: 'aggregate[n][sum]=day', place: 'aggregate.n.sum', reason: 'sum is not for date' },
    { query: 'aggregate[n][max]=tags', place: 'aggregate.n.max', reason: 'max is not for lists' },
    { query: 'aggregate[n][countDistinct]=details', place: 'aggregate.n.countDistinct', reason: 'not for json' },
    { query: 'aggregate[n][count]=nothing', place: 'aggregate.n.count', reason: 'is not a field of reviews' },
    { query: 'aggregate[n][count]=shelf', place: 'aggregate.n.count', reason: 'is a relation' },
    { query: 'aggregate[group][count]=*', place: 'aggregate.group', reason: 'the member for groups' },
    { query: 'aggregate[a b][count]=*', place: 'aggregate.a b', reason: 'must be a name' },
    { query: `${names(21, (index) => `aggregate[n${index}][count]=*`)}`, place: 'aggregate', reason: 'more than 20' },
    { query: `${names(9, (index) => `group[${index}]=stars`)}`, place: 'group', reason: 'more than 8' },
    { query: 'group=stars', place: 'group', reason: 'group[0]=field' },
    { query: 'group[0]=stars&group[1]=stars', place: 'group[1]', reason: 'has the name stars of another' },
    { query: 'group[0]=stars&aggregate[stars][count]=*', place: 'aggregate.stars.count', reason: 'of another' },
    { query: 'group[0]=details', place: 'group[0].details', reason: 'cannot be grouped by' },
    { query: 'group[0]=tags', place: 'group[0].tags', reason: 'cannot be grouped by' },
    { query: 'group[0]=shelf.reviews.stars', place: 'group[0].shelf.reviews', reason: 'a to-many relation' },
    { query: 'group[0]=stars.x', place: 'group[0].stars', reason: 'is a primitive field' },
    { query: 'group[0][stars][trunc]=month', place: 'group[0].stars.trunc', reason: 'hold a date' },
    { query: 'group[0][day][trunc]=hour', place: 'group[0].day.trunc', reason: 'a date has no hour' },
    { query: 'group[0][day][trunc]=decade', place: 'group[0].day.trunc', reason: 'must be one of year' },
    { query: 'group[0][day][zone]=UTC', place: 'group[0].day.zone', reason: 'needs trunc' },
    {
      query: 'group[0][day][trunc]=day&group[0][day][zone]=UTC',
      place: 'group[0].day.zone',
      reason: 'only for dateTimeWithTimezone',
    },
    { query: 'group[0][day][as]=2', place: 'group[0].day.as', reason: 'must be a name' },
    { query: 'group[0][day][tunc]=day', place: 'group[0].day.tunc', reason: 'did you mean trunc?' },
    { query: 'group[0]=stars&having[stras][_gt]=1', place: 'having.stras', reason: 'did you mean stars?' },
    {
      query: 'group[0]=stars&having[stars][_contains]=1',
      place: 'having.stars._contains',
      reason: 'is not an operator',
    },
    {
      query: 'group[0]=stars&sort[0][day][direction]=asc',
      place: 'sort[0].day',
      reason: 'neither an aggregate nor a group',
    },
    { query: 'group[0]=stars&limit=1000000', place: 'limit', reason: 'must be at most' },
    { query: 'group[0]=stars&fields=stars', place: 'fields', reason: 'is not a parameter of this route' },
    { query: 'group[0]=stars&deep[shelf][_limit]=1', place: 'deep', reason: 'is not a parameter of this route' },
    { query: 'group[0]=author.name', place: 'group[0]', reason: 'of another data source' },
  ])('is refused with the place: $query', async ({ query, place, reason }) => {
    const response = await shop.get(`/aggregates/reviews?${query}`)

    expect(response.status).toBe(422)
    expect(await response.json()).toMatchObject({
      message: expect.stringContaining('Failed to execute query: '),
      source: { message: place, source: { message: expect.stringContaining(reason) } },
    })
  })

  it('is refused by a data connector', async () => {
    const response = await shop.get('/aggregates/authors?aggregate[n][count]=*')

    expect([response.status, await response.json()]).toEqual([422, expect.objectContaining({ code: '4010' })])
  })

  it('may be a condition on what another data source has', async () => {
    const response = await shop.get('/aggregates/reviews?aggregate[n][count]=*&filter[author][name][_eq]=Ada')

    expect(await response.json()).toEqual({ data: [{ group: {}, n: 2 }] })
  })
})

describe('of numbers as long, large and small as they are stored', () => {
  const long = (whole: string, zeros: number) => `${whole}${'0'.repeat(zeros)}`

  beforeAll(async () => {
    const lengths = await world.workspace('lengths', {
      lengths: { kind: 'string', exact: 'decimal?', double: 'float64?' },
    })
    await lengths.insert('lengths', [
      { kind: 'small', exact: long('0.', 16_000).concat('2'), double: 5e-324 },
      { kind: 'small', exact: '0', double: 0 },
      { kind: 'small', exact: '0', double: 0 },
      { kind: 'smallest', exact: long('0.', 323).concat('5'), double: 5e-324 },
      { kind: 'precise', exact: `-0.${'3'.repeat(16_000)}`, double: -1.5e-323 },
      { kind: 'large', exact: long('1', 16_000), double: 1 },
      { kind: 'largest', exact: '9'.repeat(131_072), double: 1 },
      { kind: 'largest', exact: '9'.repeat(131_072), double: 1 },
    ])
    ask = async (kind, called) => {
      const query = `aggregate[n][count]=*&aggregate[exact][${called}]=exact&aggregate[double][${called}]=double`
      const answer = await lengths.get(`/aggregates/lengths?${query}&filter[kind][_eq]=${kind}`)
      return [answer.status, await answer.json()]
    }
  })

  let ask: (kind: string, called: 'sum' | 'avg' | 'min' | 'max') => Promise<readonly [number, unknown]>

  it('rounds an average to a double, also to none but 0', async () => {
    expect(await ask('small', 'avg')).toMatchObject([200, { data: [{ exact: 0, double: 0 }] }])
    expect(await ask('smallest', 'avg')).toMatchObject([200, { data: [{ exact: 5e-324, double: 5e-324 }] }])
    expect(await ask('precise', 'avg')).toMatchObject([200, { data: [{ exact: -1 / 3, double: -1.5e-323 }] }])
  })

  it('has any sum and extreme that the database holds', async () => {
    for (const called of ['sum', 'max'] as const) {
      const small = long('0.', 16_000).concat('2')
      expect(await ask('small', called)).toMatchObject([200, { data: [{ exact: small }] }])
      expect(await ask('large', called)).toMatchObject([200, { data: [{ exact: long('1', 16_000) }] }])
    }
  })

  it.each([
    ['large', 'avg', 'is more than a double can hold'],
    ['largest', 'avg', 'is more than its database adds up exactly'],
    ['largest', 'sum', 'is more than its database adds up exactly'],
  ] as const)('says of which it has none: %s, %s', async (kind, called, message) => {
    const source = { message: 'aggregate.exact', source: { message } }

    expect(await ask(kind, called)).toMatchObject([422, { code: '1001', source }])
  })
})

describe('a caller', () => {
  const read = { filter: { stars: { _gte: 4 } } }

  it('counts the rows that it reads, and in them what it sees', async () => {
    const reader = await people.member(shop, {
      collections: {
        reviews: { read },
        shelves: { read: { fields: ['id', 'name'], filter: { name: { _neq: 'low' } } } },
      },
    })
    const more = await people.policy(shop, { collections: { reviews: { read: { fields: ['stars'] } } } })
    const some = await people.policy(shop, { collections: { reviews: { read } } })
    const both = await people.memberWith(shop, [await people.role(shop, [more, some])])
    const query = 'aggregate[n][count]=*&aggregate[days][count]=day&aggregate[sum][sum]=stars'

    const answers = [
      await reader.get(`/aggregates/reviews?${query}`),
      await both.get(`/aggregates/reviews?${query}`),
      await reader.get('/aggregates/reviews?group[0]=shelf.name&aggregate[n][count]=*'),
    ]

    expect(await Promise.all(answers.map((answer) => answer.json()))).toEqual([
      { data: [{ group: {}, n: 2, days: 2, sum: '9' }] },
      { data: [{ group: {}, n: 3, days: 2, sum: '12' }] },
      { data: [{ group: { 'shelf.name': 'top' }, n: 2 }] },
    ])
  })

  it('is refused what is hidden as what does not exist', async () => {
    const reader = await people.member(shop, {
      collections: { reviews: { read: 'all' }, shelves: { read: { fields: ['id', 'name'] } } },
    })
    const asked = ['secret', 'nothing'].flatMap((name) => [
      `/aggregates/shelves?aggregate[n][count]=${name}`,
      `/aggregates/shelves?aggregate[n][max]=${name}`,
      `/aggregates/shelves?group[0]=${name}`,
      `/aggregates/shelves?aggregate[n][count]=*&filter[${name}][_eq]=x`,
      `/aggregates/reviews?group[0]=shelf.${name}`,
    ])

    const answers = await Promise.all(
      [...asked, '/aggregates/nothing?aggregate[n][count]=*'].map((path) => reader.get(path)),
    )

    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([403]))
  })

  it('without any right is refused', async () => {
    const member = await people.memberWith(shop, [])

    expect((await member.get('/aggregates/reviews?aggregate[n][count]=*')).status).toBe(403)
    expect((await shop.anonymous.get('/aggregates/reviews?aggregate[n][count]=*')).status).toBe(403)
  })
})
