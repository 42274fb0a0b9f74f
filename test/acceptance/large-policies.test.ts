/** Filters of many policies stand in a statement for each time that their collection is named: what that multiplies to is bounded. */
import { beforeAll, expect, it } from 'vitest'
import { type Workspace, world } from '../support/service/world.ts'

let blog: Workspace

beforeAll(async () => {
  blog = await world.workspace(
    'largepolicies',
    { authors: { name: 'string' }, posts: { title: 'string', authorId: 'int64?' } },
    ['posts.author(authorId) -> authors.posts'],
  )
  await blog.insert('authors', [{ name: 'Ada' }])
  const conditions = (field: string, policy: number) =>
    Array.from({ length: 100 }, (_, index) => ({ [field]: { _in: [`${policy}-${index}`, 'Ada'] } }))
  const policies: string[] = []
  for (let policy = 0; policy < 45; policy += 1) {
    const read = (field: string) => ({ read: { fields: '*', filter: { _or: conditions(field, policy) } } })
    const body = { name: `many ${policy}`, content: { collections: { authors: read('name'), posts: read('title') } } }
    const made = (await (await blog.send('POST', '/policies', { body })).json()) as { data: { id: string } }
    policies.push(made.data.id)
  }
  const roles = (await (await blog.get('/roles?fields=id,kind')).json()) as { data: { id: string; kind: string }[] }
  const everybody = roles.data.find(({ kind }) => kind === 'public')
  expect((await blog.send('PATCH', `/roles/${everybody?.id}`, { body: { policies } })).status).toBe(200)
})

it('answers what names few collections', async () => {
  const response = await blog.anonymous.get('/items/authors?fields=name,posts.title')

  expect(response.status).toBe(200)
  expect(await response.json()).toEqual({ data: [{ name: 'Ada', posts: { data: [] } }] })
})

it.each([
  ['in a filter', 'filter[posts][_some][author][posts][_some][author][posts][_none][title]=x'],
  ['in a path', 'limit=1&fields=posts.author.posts.author.posts.title&deep[posts][_limit]=2'],
])('refuses what names them many times: %s', async (_name, search) => {
  const response = await blog.anonymous.get(`/items/authors?${search}`)

  expect(response.status).toBe(422)
  expect(await response.json()).toMatchObject({
    code: '4009',
    source: { message: 'query', source: { message: expect.stringContaining('is too large') } },
  })
})
