/** docs/contract.md#items: lists, single items and writes of one collection. */
import { beforeAll, describe, expect, it } from 'vitest'
import { type Workspace, world } from '../support/service/world.ts'

describe('a list', () => {
  let shop: Workspace

  beforeAll(async () => {
    shop = await world.workspace('shop', {
      articles: { title: 'string', price: 'decimal(10,2)?', stock: 'int32', soldOn: 'date?' },
    })
    await shop.insert('articles', [
      { title: 'Lamp', price: '20.25', stock: 3, soldOn: '2026-01-31' },
      { title: 'Desk lamp', price: '35.50', stock: 0, soldOn: null },
      { title: 'Chair', price: null, stock: 7, soldOn: '2026-02-01' },
      { title: 'Table', price: '120.05', stock: 7, soldOn: '2026-03-01' },
    ])
  })

  it('has all primitive fields where none are asked for', async () => {
    const response = await shop.get('/items/articles?limit=1')

    expect(response.status).toBe(200)
    expect(response.headers.get('Content-Type')).toBe('application/json')
    expect(await response.json()).toEqual({
      data: [{ id: '1', title: 'Lamp', price: '20.25', stock: 3, soldOn: '2026-01-31' }],
    })
  })

  it('has the fields asked for and no others', async () => {
    expect(await shop.data('/items/articles?fields=title,stock&limit=1')).toEqual([{ title: 'Lamp', stock: 3 }])
  })

  it.each([
    ['_eq', 'filter[stock][_eq]=7', ['Chair', 'Table']],
    ['_neq', 'filter[stock][_neq]=7', ['Lamp', 'Desk lamp']],
    ['_contains', 'filter[title][_contains]=lamp', ['Desk lamp']],
    ['_gt', 'filter[price][_gt]=20.25', ['Desk lamp', 'Table']],
    ['_lt', 'filter[soldOn][_lt]=2026-02-01', ['Lamp']],
    ['_in', 'filter[title][_in][0]=Table&filter[title][_in][1]=Lamp', ['Lamp', 'Table']],
    ['a comparison with null, which is never true', 'filter[price][_neq]=20.25', ['Desk lamp', 'Table']],
    ['several conditions, which all must hold', 'filter[stock][_gt]=2&filter[price][_gt]=1', ['Lamp', 'Table']],
    ['_or', 'filter[_or][0][stock][_eq]=0&filter[_or][1][title][_eq]=Table', ['Desk lamp', 'Table']],
    ['_not', 'filter[_not][stock][_eq]=7', ['Lamp', 'Desk lamp']],
    ['_null', 'filter[price][_null]=true', ['Chair']],
  ])('is narrowed by %s', async (_, filter, titles) => {
    expect(await titlesOf(filter)).toEqual(titles)
  })

  it('reads each value of a question that was asked before as if it were the first', async () => {
    expect(await titlesOf('filter[stock][_gte]=7&filter[title][_eq]=Chair')).toEqual(['Chair'])
    expect(await titlesOf('filter[stock][_gte]=7&filter[title][_eq]=Table')).toEqual(['Table'])
    expect(await titlesOf('filter[stock][_gte]=9&filter[title][_eq]=Table')).toEqual([])

    const wrong = await shop.get('/items/articles?filter[stock][_gte]=seven&filter[title][_eq]=Table')
    const malformed = await shop.get('/items/articles?filter[stock][_gte]=7&filter[title][_eq]=%ZZ')
    const nul = await shop.get('/items/articles?filter[stock][_gte]=7&filter[title][_eq]=%00')

    expect(wrong.status).toBe(422)
    expect(await wrong.json()).toMatchObject({
      message: expect.stringContaining('Failed to execute query: '),
      source: {
        message: 'filter.stock._gte',
        source: { message: 'must be an integer between -2147483648 and 2147483647' },
      },
    })
    expect(malformed.status).toBe(400)
    expect(nul.status).toBe(422)
  })

  it.each([
    ['ascending, nulls last', 'sort[0][price][direction]=asc', ['Lamp', 'Desk lamp', 'Table', 'Chair']],
    ['descending, nulls first', 'sort[0][price][direction]=desc', ['Chair', 'Table', 'Desk lamp', 'Lamp']],
    [
      'by several fields',
      'sort[0][stock][direction]=desc&sort[1][title][direction]=desc',
      ['Table', 'Chair', 'Lamp', 'Desk lamp'],
    ],
    ['by the key where nothing else decides', 'sort[0][stock][direction]=asc&offset=2', ['Chair', 'Table']],
    ['by the key backwards after a descending field', 'sort[0][stock][direction]=desc&limit=2', ['Table', 'Chair']],
  ])('is sorted %s', async (_, sort, titles) => {
    expect(await titlesOf(sort)).toEqual(titles)
  })

  it('is cut by limit and offset', async () => {
    expect(await titlesOf('limit=2&offset=1')).toEqual(['Desk lamp', 'Chair'])
    expect(await titlesOf('offset=3')).toEqual(['Table'])
    expect(await titlesOf('limit=0')).toHaveLength(4)
    expect(await titlesOf('limit=-1')).toHaveLength(4)
  })

  it('tells how many items match, whatever limit and offset', async () => {
    const response = await shop.get(
      '/items/articles?fields=title&filter[stock][_gt]=2&limit=1&offset=1&meta=totalCount',
    )

    expect(await response.json()).toEqual({ data: [{ title: 'Chair' }], meta: { totalCount: 3 } })
  })

  it.each([
    ['an unknown field in fields', 'fields=title,colour', 'fields.colour'],
    ['an unknown field in filter', 'filter[colour][_eq]=red', 'filter.colour'],
    ['an unknown field in sort', 'sort[0][colour][direction]=asc', 'sort[0].colour'],
    ['an unknown operator', 'filter[stock][_foo]=1', 'filter.stock._foo'],
    ['an operand of the wrong type', 'filter[stock][_eq]=many', 'filter.stock._eq'],
    ['members below an operator', 'filter[price][_null][a]=true', 'filter.price._null'],
    ['a number out of range of its type', 'filter[stock][_eq]=2147483648', 'filter.stock._eq'],
    ['the sort syntax of others', 'sort=-title', 'sort'],
    ['an unknown parameter', 'page=2', 'page'],
    ['a limit that is no number', 'limit=all', 'limit'],
    ['a limit over the maximum', 'limit=10001', 'limit'],
    ['a nested selection on a primitive field', 'fields=title.length', 'fields.title'],
    ['a parameter given twice', 'limit=1&limit=2', 'limit'],
  ])('answers 422 for %s, naming the place', async (_, search, place) => {
    const response = await shop.get(`/items/articles?${search}`)

    expect(response.status).toBe(422)
    expect(await response.json()).toMatchObject({
      message: expect.stringContaining('Failed to execute query: '),
      source: { message: place, source: { message: expect.any(String) } },
    })
  })

  it.each([
    ['brackets that do not close', 'filter[stock][_eq=1'],
    ['an escape that is none', 'fields=%zz'],
  ])('answers 400 for %s', async (_, search) => {
    const response = await shop.get(`/items/articles?${search}`)

    expect(response.status).toBe(400)
  })

  it('of an unknown collection is 404 for whoever may read the model and 403 for everyone else', async () => {
    const known = await shop.get('/items/unknown')
    const anonymous = await shop.anonymous.get('/items/unknown')

    expect(known.status).toBe(404)
    expect(await known.json()).toEqual({
      message: expect.stringContaining('Failed to execute query: '),
      source: { message: 'collection unknown does not exist' },
    })
    expect(anonymous.status).toBe(403)
  })

  it('of a collection that exists is refused to anonymous callers in the very words of one that does not', async () => {
    const existing = await shop.anonymous.get('/items/articles?fields=colour')
    const unknown = await shop.anonymous.get('/items/unknown?fields=colour')

    expect(existing.status).toBe(403)
    expect(await existing.text()).toBe(await unknown.text())
  })

  async function titlesOf(search: string): Promise<readonly unknown[]> {
    const items = (await shop.data(`/items/articles?fields=title&${search}`)) as { title: string }[]
    return items.map(({ title }) => title)
  }
})

describe('one item', () => {
  let shop: Workspace

  beforeAll(async () => {
    shop = await world.workspace('shop', { articles: { title: 'string', stock: 'int32?' } })
    await shop.insert('articles', [{ title: 'Lamp', stock: 3 }])
  })

  it('is read by its key', async () => {
    const whole = await shop.get('/items/articles/1')
    const part = await shop.get('/items/articles/1?fields=title')

    expect(await whole.json()).toEqual({ data: { id: '1', title: 'Lamp', stock: 3 } })
    expect(await part.json()).toEqual({ data: { title: 'Lamp' } })
  })

  it.each([
    ['read', 'GET', undefined],
    ['changed', 'PATCH', { stock: 1 }],
    ['deleted', 'DELETE', undefined],
  ])('that does not exist cannot be %s: 404', async (_, method, body) => {
    const response = await shop.send(method, '/items/articles/99', { body })

    expect(response.status).toBe(404)
    expect(await response.json()).toEqual({ message: 'Query failed', source: { message: 'No record found' } })
  })

  it('has a key of its type', async () => {
    const response = await shop.get('/items/articles/first')

    expect(response.status).toBe(422)
    expect(await response.json()).toMatchObject({
      message: expect.stringContaining('Failed to execute query: '),
      source: { message: 'key' },
    })
  })

  it('is refused to anonymous callers in every way', async () => {
    const statuses = [
      await shop.anonymous.get('/items/articles/1'),
      await shop.anonymous.post('/items/articles', [{ title: 'Chair' }]),
      await shop.anonymous.patch('/items/articles/1', { stock: 9 }),
      await shop.anonymous.delete('/items/articles/1'),
    ].map(({ status }) => status)

    expect(statuses).toEqual([403, 403, 403, 403])
    expect(await shop.data('/items/articles')).toEqual([{ id: '1', title: 'Lamp', stock: 3 }])
  })
})

describe('a write', () => {
  let shop: Workspace

  beforeAll(async () => {
    shop = await world.workspace('shop', {
      articles: { title: 'string', stock: 'int32?', details: 'json?' },
      codes: { id: 'string(8)', text: 'string?' },
    })
  })

  it('creates items and answers them in the order sent', async () => {
    const titles = ['Zebra', 'Apple', 'Mango', 'Berry']

    const response = await shop.post(
      '/items/articles?fields=title',
      titles.map((title) => ({ title })),
    )

    expect(response.status).toBe(200)
    expect(await response.json()).toEqual({ data: titles.map((title) => ({ title })) })
  })

  it('creates nothing from an empty array', async () => {
    const response = await shop.post('/items/articles', [])

    expect(response.status).toBe(200)
    expect(await response.json()).toEqual({ data: [] })
  })

  it('stores all members whatever fields come back', async () => {
    const response = await shop.post('/items/articles?fields=id', [{ title: 'Box', stock: 4, details: { w: 1 } }])

    const { data } = (await response.json()) as { data: [{ id: string }] }
    expect(data).toEqual([{ id: expect.any(String) }])
    expect(await shop.data(`/items/articles/${data[0].id}?fields=title,stock,details`)).toEqual({
      title: 'Box',
      stock: 4,
      details: { w: 1 },
    })
  })

  it.each([
    ['one object', {}, 'body'],
    ['an item that is none', [1], '[0]'],
    ['an unknown field', [{ title: 'x' }, { title: 'x', colour: 'red' }], '[1].colour'],
    ['a missing required field', [{ title: 'x' }, {}], '[1].title'],
    ['null for a required field', [{ title: null }], '[0].title'],
    ['a number for a string', [{ title: 1 }], '[0].title'],
    ['a string for a number', [{ title: 'x', stock: 'many' }], '[0].stock'],
    ['a number out of range of its type', [{ title: 'x', stock: 2_147_483_648 }], '[0].stock'],
  ])('answers 422 for %s, naming the place', async (_, body, place) => {
    const response = await shop.post('/items/articles', body)

    expect(response.status).toBe(422)
    expect(await response.json()).toMatchObject({
      message: expect.stringContaining('Failed to execute query: '),
      source: { message: place },
    })
  })

  it('keeps JSON written as text for the text that it is', async () => {
    const text = await shop.post('/items/articles', [{ title: 'x', details: '{"w":1}' }])

    expect(await text.json()).toMatchObject({ data: [{ details: '{"w":1}' }] })
  })

  it('leaves nothing behind when one of its items fails', async () => {
    await shop.insert('codes', [{ id: 'taken' }])

    const response = await shop.post('/items/codes', [{ id: 'new' }, { id: 'taken' }])

    expect(response.status).toBe(422)
    expect(await response.json()).toMatchObject({
      message: 'Query failed',
      source: { message: 'Unique constraint failed' },
    })
    expect(await shop.data('/items/codes')).toEqual([{ id: 'taken', text: null }])
  })

  it('changes the members sent and no others', async () => {
    const [item] = await shop.insert('articles', [{ title: 'Old', stock: 1 }])

    const response = await shop.patch(`/items/articles/${item?.id}?fields=title,stock`, { title: 'New' })

    expect(response.status).toBe(200)
    expect(await response.json()).toEqual({ data: { title: 'New', stock: 1 } })
  })

  it('answers a changed item with all its primitive fields', async () => {
    const [item] = await shop.insert('articles', [{ title: 'Old', stock: 1 }])

    const response = await shop.patch(`/items/articles/${item?.id}`, { stock: null })

    expect(await response.json()).toEqual({ data: { id: item?.id, title: 'Old', stock: null, details: null } })
  })

  it('deletes an item: 204 with no body, or 200 with the item where fields are asked for', async () => {
    const [one, other] = await shop.insert('articles', [{ title: 'One' }, { title: 'Other' }])

    const silent = await shop.delete(`/items/articles/${one?.id}`)
    const telling = await shop.delete(`/items/articles/${other?.id}?fields=title`)
    const gone = await shop.get(`/items/articles/${one?.id}`)

    expect([silent.status, await silent.text()]).toEqual([204, ''])
    expect([telling.status, await telling.json()]).toEqual([200, { data: { title: 'Other' } }])
    expect(gone.status).toBe(404)
  })

  it('changes and deletes by a filter', async () => {
    await shop.insert('codes', [{ id: 'a1' }, { id: 'a2' }, { id: 'b1' }])

    const changed = await shop.patch('/items/codes?filter[id][_starts_with]=a&fields=text', { text: 'many' })
    const deleted = await shop.delete('/items/codes?filter[id][_in][0]=a1&filter[id][_in][1]=b1&fields=id')

    expect(await changed.json()).toEqual({ data: [{ text: 'many' }, { text: 'many' }] })
    expect(await deleted.json()).toEqual({ data: expect.arrayContaining([{ id: 'a1' }, { id: 'b1' }]) })
    expect(await shop.data('/items/codes?filter[id][_starts_with]=a')).toEqual([{ id: 'a2', text: 'many' }])
  })

  it('of many is refused without a filter', async () => {
    const changed = await shop.patch('/items/codes', { text: 'all' })
    const deleted = await shop.delete('/items/codes')

    expect([changed.status, deleted.status]).toEqual([422, 422])
  })

  it('of a system collection is 403', async () => {
    const response = await shop.post('/items/ServiceCollection', [{ apiName: 'sneaky' }])

    expect(response.status).toBe(403)
  })
})

describe('a JSON field', () => {
  let shop: Workspace

  beforeAll(async () => {
    shop = await world.workspace('shop', { articles: { metadata: 'json?' } })
    await shop.insert('articles', [{ metadata: 2 }, { metadata: { a: 1 } }])
  })

  it('is filtered by an explicit operator', async () => {
    expect(await shop.data('/items/articles?fields=id&filter[metadata][_eq]=2')).toEqual([{ id: '1' }])
    expect(await shop.data('/items/articles?fields=id&filter[metadata][_neq]=2')).toEqual([{ id: '2' }])
  })

  it.each(['filter[metadata]=2', 'filter[metadata][a]=1'])('is not filtered by a bare value: %s', async (search) => {
    const response = await shop.get(`/items/articles?${search}`)

    expect(response.status).toBe(422)
    expect(await response.json()).toMatchObject({ source: { message: expect.stringMatching(/^filter\.metadata/) } })
  })
})

describe('values', () => {
  it('come back as they were sent, in their wire form', async () => {
    const shop = await world.workspace('shop', {
      samples: {
        text: 'string',
        yes: 'boolean',
        big: 'int64',
        exact: 'decimal',
        rough: 'float64',
        key: 'uuid',
        day: 'date',
        hour: 'time',
        local: 'dateTime',
        instant: 'dateTimeWithTimezone',
        tree: 'json',
        raw: 'bytes',
        list: 'string[]',
      },
    })
    const values = {
      text: `O'Brien said "1 < 2" \\ über 🚀`,
      yes: true,
      big: '9223372036854775807',
      exact: '12345678901234567890.123456789',
      rough: 0.1,
      key: '0190c1d2-5e1f-7a3b-8c4d-1234567890ab',
      day: '2024-02-29',
      hour: '23:59:59.5',
      local: '2026-11-21T03:04:05.25',
      instant: '2026-11-21T03:04:05Z',
      tree: { nested: [1, null, { deep: 'value' }] },
      raw: 'AP8Q',
      list: ['a', '', 'with "quotes", and {braces}'],
    }

    const [item] = await shop.insert('samples', [values])

    expect(item).toEqual({ id: '1', ...values })
  })
})
