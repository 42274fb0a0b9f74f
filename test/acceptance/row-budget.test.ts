/** A read may bring 100,000 rows by its limits (SERVICE_QUERY__MAX_ROWS), by whatever way it is asked for. */
import { beforeAll, expect, it } from 'vitest'
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
      message: 'Failed to execute query',
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
  const response = await blog.send('POST', '/mcp', {
    body: {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'list_items', arguments: { collection: 'authors', limit: 1, fields: [`${path}.title`] } },
    },
    headers: { Accept: 'application/json, text/event-stream' },
  })

  expect(await response.json()).toMatchObject({
    result: {
      isError: true,
      structuredContent: {
        error: { code: '4014', meta: { path, product: 1_000_000 }, source: { message: `fields.${path}` } },
      },
    },
  })
})
