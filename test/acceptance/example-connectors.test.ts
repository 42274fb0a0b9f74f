/** The example connectors in `extensions/`, installed and asked over HTTP, each against a real server. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type ExampleServer,
  movies,
  ordersConfig,
  startFiles,
  startOrders,
  startSearchEngine,
} from '../support/servers/example-servers.ts'
import { connectExample, type ExampleSource, readAnswer } from '../support/service/connected.ts'
import { type Workspace, world } from '../support/service/world.ts'

const fresh = { headers: { 'Cache-Control': 'no-cache' } }

/** A workspace with one data source. */
async function connect(name: string, wish: ExampleSource): Promise<Workspace> {
  const workspace = await world.workspace(name, {})
  await connectExample(workspace, wish)
  return workspace
}

describe('json-api', () => {
  let server: ExampleServer
  let workspace: Workspace
  const get = async (query: string) => readAnswer(await workspace.send('GET', `/items/orders${query}`, fresh))

  beforeAll(async () => {
    server = await startOrders()
    const labels = { name: 'labels', fields: { id: 'string', status: 'string', total: 'decimal' } }
    workspace = await connect('json_api', { provider: 'json-api', config: ordersConfig(server, labels) })
  })

  afterAll(() => server.close())

  it('reads as many pages as a list needs', async () => {
    server.requests()

    const { body } = await get('?fields=id&limit=23')

    expect((body as { data: readonly unknown[] }).data).toHaveLength(23)
    expect(server.requests()).toEqual([
      'GET /orders?limit=10&offset=0',
      'GET /orders?limit=10&offset=10',
      'GET /orders?limit=3&offset=20',
    ])
  })

  it('pushes filters down, and counts', async () => {
    server.requests()

    const answer = await get('?fields=id,total&filter[status][_eq]=paid&filter[total][_gte]=200&meta=totalCount')

    expect(answer).toMatchObject({
      status: 200,
      body: { data: [{ id: 20, total: '200.50' }, { id: 22 }, { id: 24 }], meta: { totalCount: 3 } },
    })
    expect(server.requests()[0]).toMatch(/status=paid.*min_total=200/)
  })

  it('refuses what the API has no parameter for, without asking it', async () => {
    server.requests()

    const { status } = await get('?filter[note][_contains]=x')

    expect(status).toBe(422)
    expect(server.requests()).toEqual([])
  })

  it('refuses alternatives, which the API cannot serve', async () => {
    const answer = await get('?filter[_or][0][status][_eq]=open&filter[_or][1][total][_gte]=20')

    expect(answer).toMatchObject({
      status: 422,
      body: { message: 'Query failed', source: { message: 'The data source rejected the query' } },
    })
  })

  it('reads one item, and misses one', async () => {
    expect(await get('/1?fields=id,note')).toEqual({ status: 200, body: { data: { id: 1, note: 'first' } } })
    expect(await get('/999')).toMatchObject({ status: 404, body: { source: { message: 'No record found' } } })
  })

  it.each(['..', '.'])('asks no other address for the key %s', async (key) => {
    server.requests()
    const address = `/items/labels/${encodeURIComponent(JSON.stringify(key))}`

    const read = await workspace.send('GET', address, fresh)
    const changed = await workspace.patch(address, { status: 'paid' })
    const deleted = await workspace.send('DELETE', address)

    expect([read.status, changed.status, deleted.status]).toEqual([404, 422, 404])
    expect(server.requests()).toEqual([])
  })

  it('creates, changes and deletes', async () => {
    const created = await readAnswer(
      await workspace.post('/items/orders?fields=id,status', [{ status: 'open', total: '1' }]),
    )
    const [{ id }] = (created.body as { data: [{ id: number }] }).data
    const changed = await readAnswer(await workspace.patch(`/items/orders/${id}?fields=status`, { status: 'paid' }))
    const deleted = await readAnswer(await workspace.send('DELETE', `/items/orders/${id}`))

    expect(changed).toEqual({ status: 200, body: { data: { status: 'paid' } } })
    expect(deleted.status).toBe(204)
    expect((await get(`/${id}`)).status).toBe(404)
  })

  it.each([
    [
      429,
      { 'Retry-After': '30' },
      500,
      'Failed to connect to the database',
      'the external system asks to wait 30 seconds',
    ],
    [401, {}, 422, 'Invalid extension configuration', 'the external system refuses the account (401)'],
    [503, {}, 500, 'Failed to connect to the database', 'the external system answered 503'],
    [418, {}, 422, 'The data source rejected the query', 'the external system answered 418'],
  ])('tells what happened when the API answers %i', async (given, headers, status, message, own) => {
    server.next(given, headers)

    const answer = await get('?fields=id')

    expect(answer).toMatchObject({
      status,
      body: {
        message: 'Query failed',
        source: { message, source: { message: `the extension returned an error: ${own}` } },
      },
    })
  })
})

describe('full-text-search', () => {
  let server: ExampleServer
  let workspace: Workspace
  const all = movies()
  const get = async (query: string) => readAnswer(await workspace.send('GET', `/items/movies${query}`, fresh))

  beforeAll(async () => {
    server = await startSearchEngine()
    workspace = await connect('full_text', {
      provider: 'full-text-search',
      config: {
        url: server.url,
        index: 'movies',
        key: 'id',
        fields: { id: 'int32', title: 'string', genre: 'string', year: 'int32' },
        search: ['title'],
        filter: ['genre', 'year'],
        sort: ['year', 'title', 'id'],
      },
    })
  })

  afterAll(() => server.close())

  it('finds words, with filters and order made by the engine', async () => {
    const expected = all
      .filter(({ title, year }) => /\bstar/i.test(title) && year !== null && year >= 2000)
      .sort((one, other) => (other.year ?? 0) - (one.year ?? 0) || one.id - other.id)
      .map(({ title, year }) => ({ title, year }))

    const { body } = await get(
      '?fields=title,year&filter[title][_contains]=star&filter[year][_gte]=2000&sort[0][year][direction]=desc&sort[1][id][direction]=asc',
    )

    expect(expected.length).toBeGreaterThan(5)
    expect(body).toEqual({ data: expected })
  })

  it('serves alternatives and negations', async () => {
    const expected = all.filter(({ genre, year }) => genre === 'Western' || (year !== null && year < 1930)).length

    const { body } = await get(
      '?fields=id&filter[_or][0][genre][_eq]=Western&filter[_or][1][year][_lt]=1930&limit=1000&meta=totalCount',
    )

    expect(body).toMatchObject({ meta: { totalCount: expected } })
  })

  it('refuses a page beyond the first 1,000 results', async () => {
    const answer = await get('?fields=id&limit=10&offset=995')

    expect(answer).toMatchObject({
      status: 422,
      body: {
        message: 'Query failed',
        source: {
          message: 'The data source rejected the query',
          source: {
            message:
              'the extension returned an error: only the first 1000 results of a search can be read; narrow it down',
          },
        },
      },
    })
    expect((await get('?fields=id&limit=10&offset=990')).status).toBe(200)
  })

  it('reads one document, and misses one', async () => {
    expect(await get('/1?fields=id,title')).toEqual({ status: 200, body: { data: { id: 1, title: all[0]?.title } } })
    expect((await get('/999999')).status).toBe(404)
  })
})

describe('csv-files', () => {
  let server: ExampleServer
  let workspace: Workspace
  const get = async (query: string) => readAnswer(await workspace.send('GET', `/items/${query}`, fresh))

  beforeAll(async () => {
    server = await startFiles()
    const airports = { iata: 'string', name: 'string', state: 'string', latitude: 'float64' }
    workspace = await connect('csv', {
      provider: 'csv-files',
      config: {
        baseUrl: server.url,
        files: [
          { name: 'airports', path: 'airports.csv', key: 'iata', fields: airports },
          {
            name: 'odd',
            path: 'odd.csv',
            key: 'id',
            fields: { id: 'int32', text: 'string', flag: 'boolean' },
            delimiter: ';',
          },
        ],
      },
    })
  })

  afterAll(() => server.close())

  it('filters, sorts and pages the rows of a file', async () => {
    const answer = await get(
      'airports?fields=iata,state&filter[state][_eq]=HI&filter[latitude][_lt]=20&sort[0][iata][direction]=desc&limit=2&meta=totalCount',
    )

    expect(answer).toMatchObject({
      status: 200,
      body: {
        data: [
          { iata: 'KOA', state: 'HI' },
          { iata: 'ITO', state: 'HI' },
        ],
        meta: { totalCount: 2 },
      },
    })
  })

  it('fetches a file again only when it has changed', async () => {
    await get('airports/KOA')
    server.requests()

    expect(await get('airports/KOA?fields=iata')).toEqual({ status: 200, body: { data: { iata: 'KOA' } } })
    expect(server.requests()).toEqual(['GET /airports.csv'])
  })

  it('reads quotes, delimiters and line ends inside of fields, and empty ones as null', async () => {
    expect((await get('odd?fields=id,text,flag')).body).toEqual({
      data: [
        { id: 1, text: 'a "quoted" word; and\r\nanother line', flag: true },
        { id: 2, text: null, flag: false },
      ],
    })
  })

  it('tells that a file is gone', async () => {
    server.next(404)

    expect(await get('odd')).toMatchObject({
      status: 404,
      body: { message: 'Query failed', source: { message: 'Table does not exist' } },
    })
  })

  it('cannot be written', async () => {
    const { status } = await readAnswer(await workspace.post('/items/odd', [{ id: 3 }]))

    expect(status).toBe(422)
  })
})
