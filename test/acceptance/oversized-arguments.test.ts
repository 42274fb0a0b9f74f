/** What a caller sends is bounded in length, depth and count before anything is made of it, whichever way it comes. */
import { beforeAll, describe, expect, it } from 'vitest'
import { type Workspace, world } from '../support/service/world.ts'

let blog: Workspace

beforeAll(async () => {
  blog = await world.workspace(
    'oversized',
    { authors: { name: 'string', detail: 'json?' }, posts: { title: 'string', authorId: 'int64?' } },
    ['posts.author(authorId) -> authors.posts'],
  )
  await blog.insert('authors', [{ name: 'Ada' }])
})

const path = 'a.'.repeat(30_000)

describe('a path of 30,000 names', () => {
  const inWorkspace = ['items/authors', 'items/authors/1', 'members', 'roles', 'policies', 'invitations', 'audit-log']
  const structure = ['sources', 'namespaces', 'collections', 'fields/primitive', 'fields/single-relation', 'indexes']
  const ofSystem = ['users', 'workspaces', 'api-keys', 'service-accounts', 'audit-log', 'providers']

  it('is refused as fields of any list', async () => {
    const lists = [
      ...inWorkspace.map((list) => `/api/${blog.name}/${list}`),
      ...structure.map((list) => `/api/${blog.name}/schema/structure/${list}`),
      ...ofSystem.map((list) => `/api/system/${list}`),
    ]
    for (const list of lists) {
      const response = await world.administrator.get(`${list}?fields=${path}`)

      expect.soft(response.status, list).toBe(422)
      expect.soft(await response.json(), list).toMatchObject({
        message: expect.stringContaining('Failed to execute query: '),
        source: { message: expect.stringMatching(/^fields\./) },
        code: '4009',
      })
    }
  })

  it('is refused as what a write answers', async () => {
    const address = `/items/authors?fields=${path}`
    const answers = [
      await blog.post(address, [{ name: 'Bea' }]),
      await blog.patch(`/items/authors/1?fields=${path}`, { name: 'Ada' }),
      await blog.delete(`${address}&filter[name][_eq]=Ada`),
    ]

    expect(answers.map(({ status }) => status)).toEqual([422, 422, 422])
  })

  it('is refused as arguments of relations', async () => {
    const longest = 'a.'.repeat(99)
    const search = `fields=name&deep${`[${longest}a]`.repeat(31)}[_limit]=1`

    expect((await blog.get(`/items/authors?${search}`)).status).toBe(422)
  })
})

describe('a body of 100,000 levels', () => {
  const deep = (start: string, end: string) => start.repeat(100_000) + end.repeat(100_000)
  const lists = deep('[', ']')
  const objects = deep('{"_not":', '}').replace(':}', ':{}}')

  it.each<[string, () => string, (nested: string) => string]>([
    ['items', () => '/items/authors', (nested) => `[{"detail":${nested}}]`],
    ['nested writes', () => '/items/authors', (nested) => `[{"posts":[{"_create":${nested}}]}]`],
    ['a policy', () => '/policies', (nested) => `{"name":"deep","content":${nested}}`],
    ['a migration', () => '/schema/migrate', (nested) => `{"operations":${nested}}`],
    ['a role', () => '/roles', (nested) => `{"name":${nested}}`],
    ['a data source', () => '/sources/data', (nested) => `{"apiName":"deep","config":${nested}}`],
  ])('is refused: %s', async (_name, address, bodyOf) => {
    for (const nested of [lists, objects]) {
      const response = await blog.send('POST', address(), { body: bodyOf(nested) })

      expect([413, 422]).toContain(response.status)
      expect(JSON.stringify(await response.json())).toMatch(/is larger than|is nested deeper than 1100 levels/)
    }
  })
})

describe('bodies of many elements', () => {
  it('are refused at the first fault of a migration', async () => {
    const operations = Array.from({ length: 10_000 }, () => ({}))

    const response = await blog.post('/schema/migrate', { operations })

    expect(await response.json()).toMatchObject({
      message: expect.stringContaining('Failed to read the JSON body: '),
      source: { message: 'operations[0]' },
    })
  })

  it('are refused as the members of one operation', async () => {
    const data = { id: blog.sourceId, operations: Array.from({ length: 50_000 }, () => ({})) }

    const response = await blog.post('/schema/migrate', { operations: [{ kind: 'updateCollection', data }] })

    expect(await response.json()).toMatchObject({
      message: expect.stringContaining('Failed to read the JSON body: '),
      source: { message: 'operations[0]', source: { message: 'has more than 25000 values' } },
    })
  })

  it('are refused as a policy', async () => {
    const names = Array.from({ length: 12_000 }, (_, index) => `c${index}`)
    const collections = Object.fromEntries(names.map((name) => [name, { read: { fields: ['a', 'b'] } }]))

    const response = await blog.post('/policies', { name: 'wide', content: { collections } })

    expect(response.status).toBe(422)
    expect(JSON.stringify(await response.json())).toContain('has more than 20000 values')
  })

  it('are refused as members of one object', async () => {
    const members = Object.fromEntries(Array.from({ length: 30_000 }, (_, index) => [`m${index}`, 0]))

    for (const answer of [await blog.post('/items/authors', [members]), await callMembers(members)]) {
      expect(answer.status).toBe(422)
      expect(JSON.stringify(await answer.json())).toContain('has an object of more than 20000 members')
    }
  })

  it('are 100,000 numbers of which every digit is kept, in each body that keeps them', async () => {
    const numbers = `[${Array(100_001).fill('1e9')}]`
    const bodies = { items: 'items/authors', migration: 'schema/migrate', 'model file': 'schema/plan' }

    for (const [name, path] of Object.entries(bodies)) {
      const answer = await blog.send('POST', `/${path}`, { body: numbers })

      expect.soft(answer.status, name).toBe(422)
      expect.soft(await answer.text(), name).toContain('has more than 100000 numbers of which every digit is kept')
    }
  })

  it('are refused as filters of a policy, empty groups among them', async () => {
    const filters = [{ _and: Array.from({ length: 1_000 }, () => ({ posts: { _some: {} } })) }, { _and: manyLists }]

    for (const filter of filters) {
      const content = { collections: { authors: { read: { filter } } } }
      expect((await blog.post('/policies', { name: 'wide', content })).status).toBe(422)
    }
  })

  it('are refused as filters of nested writes', async () => {
    for (const filter of [deepFilter(200), { _and: manyLists }]) {
      const posts = [{ _delete: { filter } }]
      const response = await blog.patch('/items/authors/1', { posts })

      expect(response.status).toBe(422)
      expect(JSON.stringify(await response.json())).toContain('posts[0]._delete.filter')
    }
  })
})

describe('arguments over MCP', () => {
  it.each<[string, string, string]>([
    ['a path of 30,000 names', JSON.stringify({ fields: path }), 'fields'],
    ['a list with such a path', JSON.stringify({ fields: [path] }), 'fields'],
    ['100,000 fields', JSON.stringify({ fields: Array(100_000).fill(0) }), 'fields'],
    ['a filter 200 deep', JSON.stringify({ filter: deepFilter(200) }), 'filter'],
    ['70 lists of 1,000', JSON.stringify({ filter: { _or: manyInLists() } }), 'filter'],
    ['200 empty groups', JSON.stringify({ filter: { _or: Array(201).fill({}) } }), 'filter'],
    ['100,000 sorts', JSON.stringify({ sort: Array(100_000).fill({}) }), 'sort'],
    ['arguments 40 deep', JSON.stringify({ deep: deepArguments(40) }), 'deep'],
    ['arguments by a path of names', JSON.stringify({ fields: 'name', deep: { ['a.'.repeat(99)]: {} } }), 'deep.a.a.'],
    ['filters of arguments', JSON.stringify({ deep: { posts: { _filter: deepFilter(200) } } }), 'deep'],
    ['a long text', JSON.stringify({ filter: { name: { _eq: 'x'.repeat(70_000) } } }), 'filter'],
    ['a forbidden name', '{"filter":{"constructor":{"name":{"_eq":"a"}}}}', 'filter.constructor'],
  ])('are bounded as over HTTP: %s', async (_name, args, place) => {
    const answer = await callTool('list_items', args)

    expect(answer).toMatchObject({
      status: 200,
      result: { isError: true, structuredContent: { error: { source: { message: expect.stringContaining(place) } } } },
    })
    expect(JSON.stringify(answer)).not.toContain('Internal error')
  })

  it('are refused where they are nested 200,000 deep', async () => {
    const answer = await callTool('list_items', `{"filter":${'{"_not":'.repeat(200_000)}{}${'}'.repeat(200_000)}}`)

    expect(answer.status).toBe(422)
  })

  it('are refused where there are 100,000 items', async () => {
    const answer = await callTool('create_items', JSON.stringify({ data: Array(100_000).fill(0) }))

    expect(JSON.stringify(answer)).toContain('has more than 10000 elements')
  })

  it('have 100,000 numbers of which every digit is kept, in all calls of a request together', async () => {
    const data = `[${Array(60_000).fill('1e9')}]`
    const calls = [1, 2].map((id) => {
      const params = { name: 'create_items', arguments: { collection: 'authors', data } }
      return { jsonrpc: '2.0', id, method: 'tools/call', params }
    })

    const headers = { Accept: 'application/json, text/event-stream' }
    const response = await blog.send('POST', '/mcp', { body: calls, headers })
    const answers = (await response.json()) as readonly unknown[]

    expect(answers.map((one) => JSON.stringify(one))).toEqual([
      expect.stringContaining('has more than 10000 elements'),
      expect.stringContaining('has more than 100000 numbers of which every digit is kept'),
    ])
  })

  it('are counted before they are read, where they are no items', async () => {
    const answer = await callTool('list_items', JSON.stringify({ filter: `{"id":{"_in":[${Array(30_000).fill(1)}]}}` }))

    expect(JSON.stringify(answer)).toContain('has more than 20000 values')
  })
})

const manyLists = Array.from({ length: 60 }, () => ({ name: { _in: Array(100).fill('a') } }))

function manyInLists(): readonly unknown[] {
  return Array.from({ length: 70 }, () => ({ name: { _in: Array(1_000).fill('a') } }))
}

function deepFilter(levels: number): unknown {
  return JSON.parse(`${'{"_not":'.repeat(levels)}{"title":"a"}${'}'.repeat(levels)}`)
}

function deepArguments(levels: number): unknown {
  return JSON.parse(`${'{"posts":'.repeat(levels)}{"_limit":1}${'}'.repeat(levels)}`)
}

function callMembers(members: object): Promise<Response> {
  const params = { name: 'list_items', arguments: members }
  return blog.post('/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params })
}

async function callTool(name: string, args: string): Promise<{ readonly status: number }> {
  const sent = args.replace('{', '{"collection":"authors",')
  const response = await blog.send('POST', '/mcp', {
    body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${name}","arguments":${sent}}}`,
    headers: { Accept: 'application/json, text/event-stream' },
  })
  return { status: response.status, ...((await response.json()) as object) }
}
