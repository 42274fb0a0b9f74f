/** A read may bring `SERVICE_QUERY__MAX_ROWS` rows by its limits, here 100,000, by whatever way it is asked for. */
import { beforeAll, describe, expect, it } from 'vitest'
import { type Workspace, world } from '../support/service/world.ts'

let blog: Workspace

beforeAll(async () => {
  blog = await world.workspace(
    'budget',
    { authors: { name: 'string' }, posts: { title: 'string', authorId: 'int64?' } },
    ['posts.author(authorId) -> authors.posts'],
  )
  await blog.insert('authors', [{ name: 'Ada' }])
  await blog.insert('posts', [{ title: 'Notes', authorId: 1 }])
})

const threeLists = 'fields=posts.author.posts.author.posts.title'
const path = 'posts.author.posts.author.posts'

it.each([
  ['limits multiplied', `limit=1&${threeLists}`, path, 1_000_000],
  ['a page and its lists', 'limit=1001&fields=posts.title', 'posts', 100_100],
  ['the largest page by 0', 'limit=0&fields=posts.title', 'posts', 1_000_000],
  ['the largest page by -1', 'limit=-1&fields=posts.title', 'posts', 1_000_000],
  ['the largest list', 'limit=11&fields=posts.title&deep[posts][_limit]=-1', 'posts', 110_000],
  ['lists of default length', 'fields=posts.author.posts.title', 'posts.author.posts', 1_000_000],
  ['relations named by a list', 'fields[]=id&fields[]=posts.author.posts', 'posts.author.posts', 1_000_000],
])('refuses %s', async (_name, search, place, product) => {
  // Twice, because the second time a plan might have been kept.
  for (const _ of [1, 2]) {
    const response = await blog.get(`/items/authors?${search}`)

    expect(response.status).toBe(422)
    expect(await response.json()).toEqual({
      message: expect.stringContaining('Failed to execute query: '),
      code: '4014',
      meta: { path: place, product, max: 100_000 },
      source: {
        message: `fields.${place}`,
        source: { message: expect.stringContaining(`may bring ${product} items`) },
      },
    })
  }
})

it.each([
  ['a page of 1,000 with lists of 100', 'limit=1000&fields=posts.title'],
  ['the page that nobody spoke of, with lists', 'fields=name,posts.title,posts.author.name'],
  ['small pages three lists deep', `limit=1&${threeLists}&deep[posts][_limit]=10`],
  ['the largest page', 'limit=-1'],
])('answers %s', async (_name, search) => {
  expect((await blog.get(`/items/authors?${search}`)).status).toBe(200)
})

it('refuses another limit of a query that was answered before, and with other values', async () => {
  const search = 'filter[name][_eq]=Ada&fields=posts.author.posts.title'
  const answers = [
    await blog.get(`/items/authors?${search}&limit=10`),
    await blog.get(`/items/authors?${search}&limit=11`),
    await blog.get(`/items/authors?${search.replace('Ada', 'Bea')}&limit=11`),
  ]

  expect(answers.map(({ status }) => status)).toEqual([200, 422, 422])
})

it('counts what one item brings', async () => {
  expect((await blog.get('/items/authors/1?fields=posts.author.posts.title')).status).toBe(200)
  expect((await blog.get(`/items/authors/1?${threeLists}`)).status).toBe(422)
})

it('counts what a write would answer, before it writes', async () => {
  const before = await blog.data('/items/authors')
  const answers = [
    await blog.post(`/items/authors?${threeLists}`, [{ name: 'Bea' }]),
    await blog.post(
      '/items/authors?fields=posts.author.posts.title',
      Array.from({ length: 11 }, () => ({ name: 'Bea' })),
    ),
    await blog.patch(`/items/authors/1?${threeLists}`, { name: 'Bea' }),
    await blog.patch('/items/authors?filter[name][_eq]=Ada&fields=posts.title', { name: 'Bea' }),
    await blog.delete(`/items/authors/1?${threeLists}`),
    await blog.delete('/items/authors?filter[name][_eq]=Ada&fields=posts.title'),
  ]

  for (const answer of answers) {
    expect(answer.status).toBe(422)
    expect(await answer.json()).toMatchObject({ code: '4014' })
  }
  expect(await blog.data('/items/authors')).toEqual(before)
})

it('counts lists of the data model', async () => {
  const fields = 'collection.primitiveFields.collection.primitiveFields.id'
  const response = await blog.get(`/schema/structure/fields/primitive?limit=-1&fields=${fields}`)

  expect(await response.json()).toMatchObject({ code: '4014' })
})

it('tells an agent the path and the product', async () => {
  const asked = { collection: 'authors', limit: 1, fields: [`${path}.title`] }

  expect(await callTool('list_items', asked)).toMatchObject({
    isError: true,
    structuredContent: {
      error: { code: '4014', meta: { path, product: 1_000_000 }, source: { message: `fields.${path}` } },
    },
  })
})

describe('aggregates of lists', () => {
  const aggregates = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`n${index}`, { count: '*' }]))
  const sent = { fields: ['name'], limit: 51, deep: { posts: { _aggregate: aggregates } } }
  const json = encodeURIComponent(JSON.stringify(sent.deep))
  const brackets = Object.keys(aggregates).map((name) => `deep[posts][_aggregate][${name}][count]=*`)
  const refusal = {
    message: expect.stringContaining('Failed to execute query: '),
    code: '4014',
    meta: { path: 'posts', product: 102_000, max: 100_000 },
    source: {
      message: 'deep.posts._aggregate',
      source: { message: expect.stringContaining('counts as 102000 items (51 × 20 × 100); a read may bring 100000') },
    },
  }

  it('count as lists of usual length, in every form of a request', async () => {
    const answers = [
      await blog.get(`/items/authors?fields=name&limit=51&${brackets.join('&')}`),
      await blog.get(`/items/authors?fields=name&limit=51&deep=${json}`),
      await blog.send('QUERY', '/items/authors', { body: sent }),
    ]
    const batch = await blog.post('/items', {
      operations: [
        { kind: 'create', collection: 'authors', data: [{ name: 'Bea' }] },
        { kind: 'read', collection: 'authors', ...sent },
      ],
    })
    const called = await callTool('list_items', { collection: 'authors', ...sent })

    for (const answer of answers) expect([answer.status, await answer.json()]).toEqual([422, refusal])
    expect([batch.status, await batch.json()]).toEqual([
      422,
      {
        ...refusal,
        meta: { ...refusal.meta, operation: 1 },
        source: { ...refusal.source, message: 'operations[1].deep.posts._aggregate' },
      },
    ])
    expect(called).toMatchObject({ isError: true, structuredContent: { error: refusal } })
    expect(await blog.data('/items/authors')).toEqual([{ id: '1', name: 'Ada' }])
  })

  it.each([
    ['as many as fit', `limit=50&fields=name&deep=${json}`, 200],
    ['one of each of a thousand', 'limit=1000&fields=name&deep[posts][_aggregate][n][count]=*', 200],
    ['one beside a list', 'limit=501&fields=posts.title&deep[posts][_aggregate][n][count]=*', 422],
    ['one behind lists', 'limit=11&fields=posts.author.id&deep[posts.author.posts][_aggregate][n][count]=*', 422],
    [
      'one behind shorter lists',
      'limit=10&fields=posts.author.id&deep[posts.author.posts][_aggregate][n][count]=*',
      200,
    ],
  ])('%s: %s answers %i', async (_name, search, status) => {
    expect((await blog.get(`/items/authors?${search}`)).status).toBe(status)
  })

  it('count in what a write answers, before it writes', async () => {
    const answer = await blog.patch(`/items/authors?filter[name][_eq]=Ada&${brackets[0]}`, { name: 'Bea' })

    expect([answer.status, await answer.json()]).toEqual([
      422,
      expect.objectContaining({ code: '4014', meta: { path: 'posts', product: 1_000_000, max: 100_000 } }),
    ])
  })
})

describe('a batch', () => {
  const read = (limit: number) => ({ kind: 'read', collection: 'authors', fields: ['id'], limit })

  it('has one budget for all that it reads', async () => {
    const ten = Array.from({ length: 10 }, () => read(-1))
    const within = await blog.post('/items', { operations: ten })
    const beyond = await blog.post('/items', { operations: [...ten, read(1)] })
    const lists = { ...read(600), fields: ['posts.id'] }
    const nested = await blog.post('/items', { operations: [lists, lists] })

    expect([within.status, beyond.status, nested.status]).toEqual([200, 422, 422])
    expect(await beyond.json()).toEqual({
      message: expect.stringContaining('Failed to execute query: '),
      code: '4014',
      meta: { path: '', product: 1, max: 100_000, operation: 10 },
      source: {
        message: 'operations[10].limit',
        source: {
          message:
            'may bring 1 items, with the operations before it even more; a read may bring 100000, so ask for smaller limits',
        },
      },
    })
    expect(await nested.json()).toMatchObject({ meta: { path: 'posts', product: 60_000, operation: 1 } })
  })

  it('counts what its writes answer', async () => {
    const write = { kind: 'update', collection: 'authors', key: '1', data: { name: 'Ada' }, fields: [`${path}.id`] }
    const deep = { 'posts.author.posts': { _limit: 6 } }
    const single = await blog.post('/items', { operations: [{ ...write, deep }] })
    const twice = await blog.post('/items', {
      operations: [
        { ...write, deep },
        { ...write, deep },
      ],
    })

    expect([single.status, twice.status]).toEqual([200, 422])
    expect(await twice.json()).toMatchObject({ code: '4014', meta: { operation: 1, product: 60_000 } })
  })

  it('counts them for an agent, too', async () => {
    const operations = Array.from({ length: 11 }, () => read(0))

    expect(await callTool('batch_items', { operations })).toMatchObject({
      isError: true,
      structuredContent: { error: { code: '4014', meta: { operation: 10 } } },
    })
  })
})

it('gives the calls of an MCP array one budget, whatever they are', async () => {
  const page = [{ collection: 'authors', limit: 0 }, 'list_items'] as const
  const half = [{ collection: 'authors', limit: 500, fields: ['posts.title'] }, 'list_items'] as const
  const batch = [
    { operations: [{ kind: 'read', collection: 'authors', limit: 501, fields: ['posts.title'] }] },
    'batch_items',
  ] as const
  const tooMuch = [{ collection: 'authors', limit: 600, fields: ['posts.title'] }, 'list_items'] as const
  const written = [
    { collection: 'posts', data: [{ title: 'x', authorId: '1' }], fields: ['author.posts.title'] },
    'create_items',
  ] as const
  const groups = [
    { collection: 'authors', aggregate: { n: { count: '*' } }, group: ['name'], limit: 0 },
    'aggregate_items',
  ] as const
  // Twice, because the second time plans are kept.
  for (const _ of [1, 2]) {
    expect(await callTools(half, half)).toEqual([undefined, undefined])
    expect(await callTools(half, half, half)).toEqual([undefined, undefined, '4014'])
    expect(await callTools(half, batch)).toEqual([undefined, '4014'])
    expect(await callTools(batch, half)).toEqual([undefined, '4014'])
    // What is refused counts for nothing.
    expect(await callTools(half, half, half, page)).toEqual([undefined, undefined, '4014', '4014'])
    expect(await callTools(half, tooMuch, half)).toEqual([undefined, '4014', undefined])
    expect(await callTools(written, half, half)).toEqual([undefined, undefined, '4014'])
    expect(await callTools(half, half, written)).toEqual([undefined, undefined, '4014'])
    expect(await callTools(...Array.from({ length: 11 }, () => page))).toEqual([...Array(10).fill(undefined), '4014'])
    expect(await callTools(...Array.from({ length: 11 }, () => groups))).toEqual([...Array(10).fill(undefined), '4014'])
  }
})

type ToolCall = readonly [args: object, name: string]

/** The code of each call's error. */
async function callTools(...calls: readonly ToolCall[]): Promise<readonly (string | undefined)[]> {
  const body = calls.map(([args, name], id) => ({
    jsonrpc: '2.0',
    id,
    method: 'tools/call',
    params: { name, arguments: args },
  }))
  const response = await blog.send('POST', '/mcp', { body, headers: { Accept: 'application/json, text/event-stream' } })
  const results = (await response.json()) as { result: { structuredContent: { error?: { code: string } } } }[]
  return results.map(({ result }) => result.structuredContent.error?.code)
}

async function callTool(name: string, args: unknown): Promise<unknown> {
  const response = await blog.send('POST', '/mcp', {
    body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } },
    headers: { Accept: 'application/json, text/event-stream' },
  })
  return ((await response.json()) as { result: unknown }).result
}
