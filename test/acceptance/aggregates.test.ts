/** `/api/{workspace}/aggregates/{collection}` (docs/contract.md#aggregates), on every kind of database. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { SqlProvider } from '../../src/core/sql/address.ts'
import { type SourceServers, startSourceServers } from '../support/servers/source-servers.ts'
import { testedProviders } from '../support/servers/tested-providers.ts'
import { createCollection, createRelation, type Workspace, world } from '../support/service/world.ts'

let servers: SourceServers
let shop: Workspace

beforeAll(async () => {
  servers = await startSourceServers()
  shop = await world.workspace('aggregates', {})
})

afterAll(() => servers?.close())

const text = (value: unknown) => encodeURIComponent(JSON.stringify(value))

describe.each(testedProviders)('on %s', (provider: SqlProvider) => {
  const beyond = {
    code: '1001',
    source: { message: 'aggregate.all', source: { message: 'is more than a double can hold' } },
  }
  const inexact = {
    code: '1001',
    source: { message: 'aggregate.all', source: { message: 'is more than its database adds up exactly' } },
  }
  const [customers, orders] = [`${provider}_customers`, `${provider}_orders`]

  beforeAll(async () => {
    const { config } = servers[provider]
    const response = await shop.post('/sources/data', { apiName: `source_${provider}`, provider, config })
    const { data } = (await response.json()) as { data: { id: string } }
    await shop.send('POST', `/schema/introspect/${data.id}`)
    const ids = new Map<string, string>()
    await shop.migrate(
      createCollection(ids, data.id, customers, { name: 'string(40)', country: 'string?' }),
      createCollection(ids, data.id, orders, {
        status: 'string?',
        pieces: 'int32?',
        total: 'decimal(12,2)?',
        debt: 'decimal(65,0)?',
        weight: 'float64?',
        isPaid: 'boolean?',
        day: 'date?',
        createdAt: 'dateTimeWithTimezone?',
        customerId: 'int64?',
      }),
      createRelation(ids, `${orders}.customer(customerId) -> ${customers}.orders`),
    )
    const made = (await (
      await shop.post(`/items/${customers}?fields=id`, [
        { name: 'Ada', country: 'DE' },
        { name: 'Bob', country: 'FR' },
        { name: 'Cyd', country: null },
      ])
    ).json()) as { data: { id: string }[] }
    const [ada, bob, cyd] = made.data.map(({ id }) => id)
    const rows = [
      ['paid', 3, '10.50', 0.5, true, '2026-01-31', '2026-01-31T23:30:00Z', ada],
      ['paid', 2, '20.25', 1.5, false, '2026-02-01', '2026-02-01T00:30:00Z', ada],
      ['open', null, '0.05', null, null, '2026-02-28', '2026-02-28T12:00:00Z', bob],
      ['Open', 5, null, 2.25, true, null, null, cyd],
      [null, 7, '9.20', 0.25, false, '2026-11-23', '2026-11-23T08:15:42.5Z', null],
    ].map(([status, pieces, total, weight, isPaid, day, createdAt, customerId]) => {
      return { status, pieces, total, weight, isPaid, day, createdAt, customerId }
    })
    const filled = await shop.post(`/items/${orders}?fields=id`, rows)
    expect(filled.status).toBe(200)
  })

  const ask = async (query: string) => (await shop.get(`/aggregates/${orders}?${query}`)).json()

  it('works functions out over all rows, each in its form', async () => {
    const functions = [
      'aggregate[rows][count]=*',
      'aggregate[known][count]=status',
      'aggregate[distinct][countDistinct]=status',
      'aggregate[pieces][sum]=pieces',
      'aggregate[revenue][sum]=total',
      'aggregate[weight][sum]=weight',
      'aggregate[average][avg]=pieces',
      'aggregate[mean][avg]=total',
      'aggregate[first][min]=createdAt',
      'aggregate[last][max]=createdAt',
      'aggregate[cheapest][min]=total',
      'aggregate[most][max]=pieces',
    ]

    expect(await ask(functions.join('&'))).toEqual({
      data: [
        {
          group: {},
          rows: 5,
          known: 4,
          distinct: 3,
          pieces: '17',
          revenue: '40.00',
          weight: 4.5,
          average: 4.25,
          mean: 10,
          first: '2026-01-31T23:30:00Z',
          last: '2026-11-23T08:15:42.5Z',
          cheapest: '0.05',
          most: 7,
        },
      ],
    })
  })

  it('answers null for the sum of no rows, and no group of none', async () => {
    const none = 'filter[status][_eq]=none&aggregate[n][count]=*&aggregate[sum][sum]=total&aggregate[avg][avg]=pieces'

    expect(await ask(none)).toEqual({ data: [{ group: {}, n: 0, sum: null, avg: null }] })
    expect(await ask(`${none}&group[0]=status&meta=totalCount`)).toEqual({ data: [], meta: { totalCount: 0 } })
  })

  it('groups by values as they are, nulls last', async () => {
    const grouped = await ask('group[0]=status&aggregate[n][count]=*&aggregate[sum][sum]=total')
    const truths = await ask('group[0]=isPaid&aggregate[n][count]=*')

    expect(sorted(grouped)).toEqual([
      { group: { status: 'Open' }, n: 1, sum: null },
      { group: { status: 'open' }, n: 1, sum: '0.05' },
      { group: { status: 'paid' }, n: 2, sum: '30.75' },
      { group: { status: null }, n: 1, sum: '9.20' },
    ])
    expect(grouped).toMatchObject({ data: { 3: { group: { status: null } } } })
    expect(truths).toEqual({
      data: [
        { group: { isPaid: false }, n: 2 },
        { group: { isPaid: true }, n: 2 },
        { group: { isPaid: null }, n: 1 },
      ],
    })
  })

  it('groups by a field behind a relation to one', async () => {
    expect(await ask('group[0]=customer.country&aggregate[n][count]=*&aggregate[sum][sum]=total')).toEqual({
      data: [
        { group: { 'customer.country': 'DE' }, n: 2, sum: '30.75' },
        { group: { 'customer.country': 'FR' }, n: 1, sum: '0.05' },
        { group: { 'customer.country': null }, n: 2, sum: '9.20' },
      ],
    })
  })

  const units: readonly [unit: string, starts: readonly string[]][] = [
    ['year', ['2026-01-01']],
    ['quarter', ['2026-01-01', '2026-10-01']],
    ['month', ['2026-01-01', '2026-02-01', '2026-11-01']],
    ['week', ['2026-01-26', '2026-02-23', '2026-11-23']],
    ['day', ['2026-01-31', '2026-02-01', '2026-02-28', '2026-11-23']],
  ]

  it('truncates to the year, quarter, month, week and day', async () => {
    for (const [unit, starts] of units) {
      const own = (name: string) =>
        ask(`group[0][${name}][trunc]=${unit}&group[0][${name}][as]=start&filter[day][_null]=false`)

      const expected = { data: starts.map((start) => ({ group: { start } })) }
      expect.soft(await own('day'), unit).toEqual(expected)
      expect.soft(await own('createdAt'), unit).toEqual(expected)
    }
  })

  it('truncates to the hour and minute, and where the day begins elsewhere', async () => {
    const by = (options: string) =>
      ask(`group[0][createdAt][as]=at&group[0][createdAt]${options}&filter[day][_null]=false`)
    const startsOf = (answer: unknown) =>
      (answer as { data: { group: { at: string } }[] }).data.map(({ group }) => group.at)

    expect(startsOf(await by('[trunc]=hour')).at(-1)).toBe('2026-11-23T08:00:00')
    expect(startsOf(await by('[trunc]=minute')).at(-1)).toBe('2026-11-23T08:15:00')
    expect(startsOf(await by('[trunc]=day&group[0][createdAt][zone]=%2B01:00'))).toEqual([
      '2026-02-01',
      '2026-02-28',
      '2026-11-23',
    ])
    expect(startsOf(await by('[trunc]=hour&group[0][createdAt][zone]=-05:30'))[0]).toBe('2026-01-31T18:00:00')
  })

  it('knows zones by name, or says that the server does not', async () => {
    const response = await shop.get(
      `/aggregates/${orders}?group[0][createdAt][trunc]=day&group[0][createdAt][zone]=Europe/Berlin&aggregate[n][count]=*`,
    )

    const answer = await response.json()
    if (response.status === 422)
      expect(JSON.stringify(answer)).toMatch(/"4010".*use an offset such as|use an offset such as.*"4010"/)
    else expect(answer).toMatchObject({ data: [{ group: { createdAt: '2026-02-01' }, n: 2 }, {}, {}, {}] })
  })

  it('names the place of a zone that only some know', async () => {
    const zoned = '[createdAt][trunc]=day&group[0][createdAt][zone]=Canada/East-Saskatchewan'
    const response = await shop.get(`/aggregates/${orders}?group[0]${zoned}&aggregate[n][count]=*`)

    const { source } = (await response.json()) as { source: { message: string } }
    expect([response.status, source.message]).toEqual([422, 'group[0].createdAt.zone'])
  })

  it('says which sum is more than a double can hold', async () => {
    const most = { status: 'most', weight: 1.7e308 }
    await shop.insert(orders, [most, most])
    const [response, average] = await Promise.all(
      ['sum', 'avg'].map((called) =>
        shop.get(`/aggregates/${orders}?aggregate[all][${called}]=weight&filter[status][_eq]=most`),
      ),
    )
    await shop.delete(`/items/${orders}?filter[status][_eq]=most`)

    for (const answer of [response, average]) {
      expect([answer?.status, await answer?.json()]).toMatchObject([422, beyond])
    }
  })

  it('adds up long decimals exactly, or says that it cannot', async () => {
    const most = '9'.repeat(65)
    await shop.insert(
      orders,
      [`-${most}`, most, most, '1'].map((debt) => ({ status: 'most', debt })),
    )
    const asked = (called: string, filter: string) =>
      shop.get(
        `/aggregates/${orders}?aggregate[paid][sum]=total&aggregate[all][${called}]=debt&filter[status][_eq]=most${filter}`,
      )
    const [sum, average, small, one] = await Promise.all([
      asked('sum', ''),
      asked('avg', ''),
      asked('sum', '&filter[debt][_lt]=5'),
      asked('sum', '&filter[debt][_eq]=1'),
    ])
    await shop.delete(`/items/${orders}?filter[status][_eq]=most`)

    const isExact = provider === 'postgres' || provider === 'neon'
    const expected = isExact ? [200, { data: [{ all: `1${'0'.repeat(65)}` }] }] : [422, inexact]
    expect([sum.status, await sum.json()]).toMatchObject(expected)
    expect([average.status, await average.json()]).toMatchObject(
      isExact ? [200, { data: [{ all: 2.5e64 }] }] : expected,
    )
    expect([small.status, await small.json()]).toMatchObject(isExact ? [200, {}] : expected)
    expect(await one.json()).toMatchObject({ data: [{ all: '1' }] })
  })

  it('filters, sorts, pages and counts groups', async () => {
    const query = 'group[0]=status&aggregate[n][count]=*&aggregate[sum][sum]=total&meta=totalCount'
    const asked = `${query}&having[sum][_gt]=0.05&sort[0][sum][direction]=desc&limit=1`

    expect(await ask(asked)).toEqual({
      data: [{ group: { status: 'paid' }, n: 2, sum: '30.75' }],
      meta: { totalCount: 2 },
    })
    expect(await ask(`${asked}&offset=1`)).toMatchObject({ data: [{ group: { status: null } }] })
    expect(await ask(`${query}&having[_or][0][n][_gte]=2&having[_or][1][status][_eq]=Open`)).toMatchObject({
      meta: { totalCount: 2 },
    })
  })

  it('is the same by brackets, JSON texts and QUERY', async () => {
    const body = {
      aggregate: { n: { count: '*' }, sum: { sum: 'total' } },
      group: ['status', { createdAt: { trunc: 'month', zone: '+02:00', as: 'month' } }],
      filter: { pieces: { _gt: 1 } },
      having: { n: { _gte: 1 } },
      sort: [{ sum: { direction: 'desc' } }],
      limit: 3,
      meta: ['totalCount'],
    }
    const brackets =
      'aggregate[n][count]=*&aggregate[sum][sum]=total&group[0]=status&group[1][createdAt][trunc]=month' +
      '&group[1][createdAt][zone]=%2B02:00&group[1][createdAt][as]=month&filter[pieces][_gt]=1&having[n][_gte]=1' +
      '&sort[0][sum][direction]=desc&limit=3&meta=totalCount'
    const texts = (['aggregate', 'group', 'filter', 'having', 'sort'] as const).map(
      (name) => `${name}=${text(body[name])}`,
    )

    const answers = await Promise.all([
      shop.get(`/aggregates/${orders}?${brackets}`),
      shop.get(`/aggregates/${orders}?${texts.join('&')}&limit=3&meta=totalCount`),
      shop.send('QUERY', `/aggregates/${orders}`, { body }),
    ])

    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    expect(new Set(await Promise.all(answers.map((answer) => answer.text()))).size).toBe(1)
  })
})

/** Which of two texts comes first is the database's own. */
function sorted(answer: unknown): readonly unknown[] {
  const { data } = answer as { data: { group: { status: string | null } }[] }
  return data.toSorted((one, other) => ((one.group.status ?? '~') < (other.group.status ?? '~') ? -1 : 1))
}
