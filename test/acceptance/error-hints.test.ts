/** Errors say what would be right: operators that a type knows, and the nearest name, of what the caller may see only. */
import { beforeAll, describe, expect, it } from 'vitest'
import { messagesOf } from '../support/service/messages.ts'
import { type Content, people } from '../support/service/people.ts'
import { type Client, type Workspace, world } from '../support/service/world.ts'

let shop: Workspace

beforeAll(async () => {
  shop = await world.workspace(
    'hints',
    {
      authors: { name: 'string' },
      articles: {
        title: 'string',
        teaser: 'string?',
        stock: 'int32',
        raw: 'bytes?',
        info: 'json',
        authorId: 'int64?',
        at: 'dateTimeWithTimezone?',
      },
      articlets: { note: 'string' },
      secrets: { text: 'string' },
    },
    ['articles.author(authorId) -> authors.articles'],
  )
})

/** The message of an error and those of its sources, as one text. */
async function storyOf(response: Response | Promise<Response>): Promise<string> {
  return messagesOf(await (await response).json()).join(' > ')
}

describe('a query', () => {
  const text =
    '_eq, _neq, _lt, _lte, _gt, _gte, _in, _nin, _contains, _icontains, _ncontains, _nicontains, _starts_with, ' +
    '_nstarts_with, _ends_with, _nends_with'
  const ordered = '_eq, _neq, _lt, _lte, _gt, _gte, _in, _nin, _between, _nbetween'

  it.each([
    ['filter[title][_foo]=1', `filter.title._foo > is not an operator of string; allowed: ${text}`],
    ['filter[teaser][_foo]=1', `filter.teaser._foo > is not an operator of string; allowed: ${text}, _null`],
    ['filter[stock][_contains]=1', `filter.stock._contains > is not an operator of int32; allowed: ${ordered}`],
    ['filter[raw][_lt]=1', 'filter.raw._lt > is not an operator of bytes; allowed: _eq, _neq, _in, _nin, _null'],
    ['filter[stock][eq]=1', `filter.stock.eq > is not an operator; allowed: ${ordered}`],
    [
      'filter[info]=1',
      'filter.info > a filter on a JSON field needs an explicit operator: _eq, _neq, _contains, _has_key, _path',
    ],
    ['filter[_xor][0][title]=1', 'filter._xor > is not a logical operator; allowed: _and, _or, _not'],
    [
      'filter[author][articles][_all][title]=1',
      'filter.author.articles._all > is not a logical operator; allowed: _and, _or, _not, _some, _every, _none',
    ],
    ['filter[titel][_eq]=1', 'filter.titel > is not a field of articles; did you mean title?'],
    ['filter[author][nmae][_eq]=1', 'filter.author.nmae > is not a field of authors; did you mean name?'],
    ['fields=id,Title', 'fields.Title > is not a field of articles; did you mean title?'],
    ['fields=autor.name', 'fields.autor > is not a field of articles; did you mean author?'],
    ['fields=colour', 'fields.colour > is not a field of articles'],
    ['sort[0][stok][direction]=asc', 'sort[0].stok > is not a field of articles; did you mean stock?'],
    ['sort[0][author][direction]=asc', 'sort[0].author > is a relation: name a field of its items to sort by'],
    ['sort[0][author][nmae][direction]=asc', 'sort[0].author.nmae > is not a field of authors; did you mean name?'],
    [
      'sort[0][author.articles.title][direction]=asc',
      'sort[0].author.articles > is a to-many relation, whose items cannot be sorted by',
    ],
    ['sort[0][title][name][direction]=asc', 'sort[0].title > is a primitive field and has no fields to sort by'],
    [
      'sort[0][author][name][order]=asc',
      'sort[0].author.name.order > is not an option of sort; allowed: direction, nulls',
    ],
    ['sort[0][stock][order]=asc', 'sort[0].stock.order > is not an option of sort; allowed: direction, nulls'],
    ['deep[autor][_limit]=1', 'deep.autor > is not a field of articles; did you mean author?'],
    [
      'fields=author.articles.id&deep[author][articles][_limt]=1',
      'deep.author.articles._limt > is not an argument of a relation; allowed: _filter, _sort, _limit, _offset, _after, _meta, _aggregate',
    ],
    ['sort=-stock', 'sort > must be given as sort[0][stock][direction]=desc, or as one JSON text'],
    [
      'fields=id,author.articles.id&deep[author.articles][_sort]=title,-author.name',
      'deep.author.articles._sort > must be given as deep[author][articles][_sort][0][title][direction]=asc' +
        '&deep[author][articles][_sort][1][author.name][direction]=desc',
    ],
    [
      'filter[stock][_in]=1,2',
      'filter.stock._in > must be a list, such as filter[stock][_in][0]=x&filter[stock][_in][1]=y',
    ],
    ['filter={"stock":{"_in":"1,2"}}', 'filter.stock._in > must be a list, such as ["x", "y"]'],
    ['filter={"author":null}', 'filter.author > must be an object; where there is none: {"authorId":{"_null":true}}'],
    [
      'filter[_or][0][author][_null]=true',
      'filter._or[0].author._null > is not an operator of relations; where there is none: filter[_or][0][authorId][_null]=true',
    ],
    [
      'filter={"author":{"articles":null}}',
      'filter.author.articles > must be an object; where there is none: {"_not":{"articles":{}}}',
    ],
    [
      'filter[at][_gt]=2024-01-01T12:30:00+02:00',
      'filter.at._gt > has a space before its offset: in an address a + is written %2B',
    ],
    ['filter={"stock":1', 'filter > is not JSON: line 1, column 11'],
    ['fitler[title]=1', 'fitler > is not a parameter of this route; did you mean filter?'],
    [
      'page=1',
      'page > is not a parameter of this route; allowed: fields, filter, sort, limit, offset, after, before, meta, deep',
    ],
  ])('%s', async (query, told) => {
    const response = await shop.get(`/items/articles?${query}`)

    expect(response.status).toBe(422)
    expect(await storyOf(response)).toBe(`Failed to execute query > ${told}`)
  })
})

describe('a write', () => {
  const forward = '_connect, _create, _update, _disconnect, _delete'

  it.each([
    [{ titel: 'x' }, 'titel > is not a field of articles; did you mean title?'],
    [{ author: [{ _link: {} }] }, `author[0]._link > is not an operation of this relation here; allowed: ${forward}`],
    [{ author: [{ _connect: { keys: {} } }] }, 'author[0]._connect.keys > is not allowed here; did you mean key?'],
    [{ author: [{ _update: { set: {} } }] }, 'author[0]._update.set > is not allowed here; allowed: data, filter'],
  ])('%j', async (body, told) => {
    const response = await shop.patch('/items/articles/1', body)

    expect(response.status).toBe(422)
    expect(await storyOf(response)).toBe(`Failed to execute query > ${told}`)
  })

  it.each([
    ['POST', '/roles', { name: 'x', policys: [] }, 'unknown field policys; did you mean policies?'],
    [
      'POST',
      '/policies',
      { name: 'x', content: { entitlments: [] } },
      'unknown field entitlments; did you mean entitlements?',
    ],
    [
      'POST',
      '/policies',
      { name: 'x', content: { collections: { articles: { raed: 'all' } } } },
      'unknown field raed; did you mean read?',
    ],
    [
      'POST',
      '/policies',
      { name: 'x', content: { collections: { article: { read: 'all' } } } },
      'is not a collection; did you mean articles?',
    ],
    [
      'POST',
      '/policies',
      { name: 'x', content: { collections: { articles: { read: { fields: ['titel'] } } } } },
      'is not a field of articles; did you mean title?',
    ],
    [
      'POST',
      '/policies',
      { name: 'x', content: { collections: { articles: { read: 'everything' } } } },
      'content.collections.articles.read > must be all, or an object of fields, filter',
    ],
    [
      'POST',
      '/policies',
      { name: 'x', content: { collections: { articles: 'read' } } },
      'content.collections.articles > must be an object of read, create, update, delete',
    ],
    [
      'POST',
      '/invitations',
      { email: 'a@example.com', workspace_roles: [{ id: 1 }] },
      'workspace_roles[0] > must be of type string',
    ],
    [
      'POST',
      '/sources/data',
      { apiName: 'x', provider: 'postgresql' },
      'provider > is not a data connector that is installed; did you mean postgres?',
    ],
    [
      'POST',
      '/sources/data',
      { apiName: 'x', provider: 'postgres', permissions: ['net:a.example'] },
      'permissions[0] > must be of type object, of permission, reason',
    ],
    ['POST', '/schema/migrate', { operations: [], operation: [] }, 'unknown field operation; did you mean operations?'],
    [
      'POST',
      '/schema/migrate',
      { operations: [{ kind: 'deleteCollection', data: { id: crypto.randomUUID(), ids: 1 } }] },
      'unknown field ids; did you mean id?',
    ],
  ])('%s %s %j', async (method, path, body, told) => {
    const response = await shop.send(method, path, { body })

    expect(response.status).toBe(422)
    expect((await storyOf(response)).endsWith(` > ${told}`)).toBe(true)
  })
})

describe('an error', () => {
  it('says in its message all that is nested', async () => {
    const response = await shop.get('/items/articles?filter[titel]=1')

    expect(await response.json()).toEqual({
      message: 'Failed to execute query: filter.titel: is not a field of articles; did you mean title?',
      code: '4009',
      source: { message: 'filter.titel', source: { message: 'is not a field of articles; did you mean title?' } },
    })
  })

  it.each([
    ['GET', '/items/articles'],
    ['GET', '/roles'],
  ])('says that no credential was sent: %s %s', async (method, path) => {
    const [response, bad] = [await shop.anonymous.send(method, path), await people.member(shop, {})]

    expect(response.status).toBe(403)
    expect((await storyOf(response)).endsWith(' > no credential was sent')).toBe(true)
    expect(await storyOf(bad.send(method, path))).not.toContain('credential')
  })

  it('says that the item would leave what its caller may update', async () => {
    const created = await shop.post('/items/articles', [{ title: 'Maps', stock: 1, info: {} }])
    const { id } = ((await created.json()) as { data: [{ id: string }] }).data[0]
    const content = (filter: object): Content => ({ collections: { articles: { read: 'all', update: { filter } } } })
    const owner = await people.member(shop, content({ stock: { _lt: 5 } }))
    const other = await people.member(shop, content({ stock: { _gt: 5 } }))
    const leaving = 'update on articles > the item would leave what you may update'

    for (const one of [
      owner.patch(`/items/articles/${id}`, { stock: 7 }),
      owner.patch(`/items/articles?filter[id][_eq]=${id}`, { stock: 7 }),
    ]) {
      expect((await one).status).toBe(403)
      expect(await storyOf(one)).toBe(`You are not allowed to do this > ${leaving}`)
    }
    expect(await storyOf(other.patch(`/items/articles/${id}`, { stock: 7 }))).toBe(
      'You are not allowed to do this > update on articles',
    )
  })
})

describe('the nearest name', () => {
  const everything = ['read', 'create', 'update', 'delete']
  const ask = (client: Client, name: string) => [
    client.get(`/items/${name}`),
    client.get(`/items/${name}/1`),
    client.post(`/items/${name}`, [{}]),
    client.patch(`/items/${name}/1`, {}),
    client.delete(`/items/${name}/1`),
  ]
  const askOf = (client: Client, field: string) => [
    client.get(`/items/articles?fields=${field}`),
    client.get(`/items/articles?filter[${field}][_eq]=1`),
    client.get(`/items/articles?fields=id&sort[0][${field}][direction]=asc`),
    client.get(`/items/articles?fields=${field}.id`),
    client.get(`/items/articles?filter[${field}][id][_eq]=1`),
    client.get(`/items/articles?deep[${field}][_limit]=1`),
    client.post('/items/articles', [{ [field]: 1 }]),
    client.patch('/items/articles/1', { [field]: 1 }),
    client.patch('/items/articles?filter[id][_eq]=1', { [field]: 1 }),
  ]
  const answers = async (asked: readonly Promise<Response>[]) =>
    Promise.all(asked.map(async (one) => ({ status: (await one).status, text: await (await one).text() })))

  it('of a collection', async () => {
    for (const one of ask(shop, 'articels')) {
      expect((await one).status).toBe(404)
      expect(await storyOf(one)).toBe(
        'Failed to execute query > collection articels does not exist; did you mean articles?',
      )
    }
  })

  it('is one that this caller may read', async () => {
    const reader = await people.member(shop, {
      entitlements: ['dataModel:read'],
      collections: { articles: { read: { fields: ['id', 'stock'] }, update: { fields: ['stock', 'teaser'] } } },
    })

    expect(await storyOf(reader.get('/items/secret'))).not.toContain('secrets')
    expect(await storyOf(reader.get('/items/articlet'))).toContain('did you mean articles?')
    expect(await storyOf(reader.get('/items/articles?fields=titel'))).not.toContain('title')
    expect(await storyOf(reader.get('/items/articles?fields=stok'))).toContain('did you mean stock?')
    expect(await storyOf(reader.patch('/items/articles/1', { teasr: 'x' }))).not.toContain('teaser')
    expect(await storyOf(reader.patch('/items/articles/1', { stok: 1 }))).toContain('did you mean stock?')
  })

  it.each([
    ['reads', {}],
    ['reads policies', { entitlements: ['workspaceMembers:read'] }],
  ])('is none for somebody who %s but not the model: hidden and missing answer alike', async (_who, more) => {
    const content: Content = {
      ...more,
      collections: {
        articles: Object.fromEntries(
          everything.map((action) => [action, action === 'delete' ? {} : { fields: ['id', 'stock', 'author'] }]),
        ),
      },
    }
    const reader = await people.member(shop, content)

    const collections = [await answers(ask(reader, 'secrets')), await answers(ask(reader, 'secretz'))]
    expect(collections[0]).toEqual(collections[1])
    expect(collections[0]?.every(({ status }) => status === 403)).toBe(true)
    // A relation whose far end is hidden is hidden too.
    for (const [hidden, missing] of [
      ['title', 'titel'],
      ['author', 'autor'],
    ] as const) {
      const fields = [await answers(askOf(reader, hidden)), await answers(askOf(reader, missing))]
      const without = fields.map((told, which) =>
        told.map(({ status, text: body }) => ({ status, text: body.replaceAll(which === 0 ? hidden : missing, '…') })),
      )
      const comparable = hidden === 'author' ? without.map((told) => told.slice(0, 6)) : without
      expect(comparable[0]).toEqual(comparable[1])
      expect(comparable[0]?.every(({ status }) => status === 403)).toBe(true)
    }
  })
})
