/** One small request whose answer would be tens of megabytes is refused: copying it would keep everybody else waiting. */
import { beforeAll, expect, it } from 'vitest'
import { type Workspace, world } from '../support/service/world.ts'

const MEBIBYTE = 1024 * 1024

let blog: Workspace

beforeAll(async () => {
  blog = await world.workspace(
    'largeanswers',
    { authors: { name: 'string' }, posts: { title: 'string', authorId: 'int64?' } },
    ['posts.author(authorId) -> authors.posts'],
  )
  await blog.insert('authors', [{ name: 'x'.repeat(MEBIBYTE) }])
  await blog.insert(
    'posts',
    Array.from({ length: 20 }, (_, index) => ({ title: `Post ${index}`, authorId: 1 })),
  )
})

const refusal = { message: 'The answer is too large: ask for fewer items or fields', code: '1006' }

it.each([
  ['a page', 'posts?fields=author.name'],
  ['a page that is counted', 'posts?fields=author.name&meta=totalCount'],
  ['a page of any length', 'posts?fields=author.name&limit=-1'],
  ['one item', 'authors/1?fields=posts.author.name'],
])('refuses more than 16 MiB: %s', async (_name, asked) => {
  const response = await blog.get(`/items/${asked}`)

  expect(response.status).toBe(422)
  expect(await response.json()).toEqual({ message: 'Query failed', source: refusal })
})

it('answers less', async () => {
  const response = await blog.get('/items/posts?fields=author.name&limit=10')

  expect(response.status).toBe(200)
  expect((await response.text()).length).toBeGreaterThan(10 * MEBIBYTE)
})

it('refuses more than 4 MiB by MCP, which sends it twice', async () => {
  const list = async (limit: number) => {
    const response = await world.administrator.send('POST', `/api/${blog.name}/mcp`, {
      body: {
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'list_items', arguments: { collection: 'posts', fields: ['author.name'], limit } },
      },
      headers: { Accept: 'application/json, text/event-stream' },
    })
    return (await response.json()) as { result: { structuredContent: { data?: unknown[]; error?: unknown } } }
  }

  expect((await list(5)).result.structuredContent.error).toEqual(refusal)
  expect((await list(3)).result.structuredContent.data).toHaveLength(3)
})
