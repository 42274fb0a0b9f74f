/** docs/contract.md#relations: relations in reads. */
import { beforeAll, expect, it } from 'vitest'
import { type Workspace, world } from '../support/service/world.ts'

let blog: Workspace

beforeAll(async () => {
  blog = await world.workspace(
    'blog',
    {
      authors: { name: 'string' },
      posts: { title: 'string', likes: 'int32', authorId: 'int64?' },
      comments: { text: 'string', postId: 'int64' },
    },
    ['posts.author(authorId) -> authors.posts', 'comments.post(postId) -> posts.comments'],
  )
  await blog.insert('authors', [{ name: 'Ada' }, { name: 'Brook' }])
  await blog.insert('posts', [
    { title: 'First', likes: 5, authorId: '1' },
    { title: 'Second', likes: 9, authorId: '1' },
    { title: 'Third', likes: 1, authorId: '1' },
    { title: 'Nobody wrote this', likes: 0 },
  ])
  await blog.insert('comments', [
    { text: 'Good', postId: '2' },
    { text: 'Better', postId: '2' },
  ])
})

it('reads a to-one relation as an object or null', async () => {
  expect(await blog.data('/items/posts?fields=title,author.name&filter[id][_in][0]=1&filter[id][_in][1]=4')).toEqual([
    { title: 'First', author: { name: 'Ada' } },
    { title: 'Nobody wrote this', author: null },
  ])
})

it('reads a to-many relation as an object with data', async () => {
  expect(await blog.data('/items/authors?fields=name,posts.title')).toEqual([
    { name: 'Ada', posts: { data: [{ title: 'First' }, { title: 'Second' }, { title: 'Third' }] } },
    { name: 'Brook', posts: { data: [] } },
  ])
})

it('takes a relation without further names for all its primitive fields', async () => {
  expect(await blog.data('/items/posts/1?fields=author')).toEqual({ author: { id: '1', name: 'Ada' } })
  expect(await blog.data('/items/posts/1?fields=author.*')).toEqual({ author: { id: '1', name: 'Ada' } })
})

it('cuts, sorts and narrows a to-many relation for each parent by deep', async () => {
  const deep = 'deep[posts][_sort][0][likes][direction]=desc&deep[posts][_limit]=2'

  expect(await blog.data(`/items/authors/1?fields=posts.title&${deep}`)).toEqual({
    posts: { data: [{ title: 'Second' }, { title: 'First' }] },
  })
  expect(await blog.data(`/items/authors/1?fields=posts.title&${deep}&deep[posts][_offset]=1`)).toEqual({
    posts: { data: [{ title: 'First' }, { title: 'Third' }] },
  })
  expect(await blog.data('/items/authors/1?fields=posts.title&deep[posts][_filter][likes][_gt]=4')).toEqual({
    posts: { data: [{ title: 'First' }, { title: 'Second' }] },
  })
})

it.each([
  ['nested brackets', 'sort[0][author][name][direction]=desc&sort[1][likes][direction]=asc'],
  ['dotted names', 'sort[0][author.name][direction]=desc&sort[1][likes][direction]=asc'],
  ['a JSON text', 'sort=[{"author":{"name":{"direction":"desc"}}},{"likes":{}}]'],
])('sorts by a field of a to-one relation, a missing one as null, written in %s', async (_, sort) => {
  expect(await blog.data(`/items/posts?fields=title&${sort}`)).toEqual([
    { title: 'Nobody wrote this' },
    { title: 'Third' },
    { title: 'First' },
    { title: 'Second' },
  ])
})

it('sorts through several relations, in deep and by QUERY too', async () => {
  const sort = [{ 'post.author': { name: { nulls: 'first' } } }, { post: { likes: {} } }, { text: {} }]
  const nested = `fields=posts.title&deep[posts][_sort][0][author][name]={}&deep[posts][_sort][1][likes][direction]=asc`

  const answer = await blog.send('QUERY', '/items/comments', { body: { fields: ['text'], sort } })
  const emptyOptions = await blog.get(`/items/authors/1?${nested}`)
  const posts = await blog.data(
    `/items/authors/1?fields=posts.title&deep={"posts":{"_sort":[{"author.name":{}},{"likes":{}}]}}`,
  )

  expect(await answer.json()).toEqual({ data: [{ text: 'Better' }, { text: 'Good' }] })
  expect(emptyOptions.status).toBe(422)
  expect(posts).toEqual({ posts: { data: [{ title: 'Third' }, { title: 'First' }, { title: 'Second' }] } })
})

it.each(['deep[posts.comments][_limit]=1', 'deep[posts][comments][_limit]=1'])(
  'reads relations of relations, with arguments written as %s',
  async (deep) => {
    const search = `fields=posts.title,posts.comments.text&deep[posts][_filter][id][_eq]=2&${deep}`

    expect(await blog.data(`/items/authors/1?${search}`)).toEqual({
      posts: { data: [{ title: 'Second', comments: { data: [{ text: 'Good' }] } }] },
    })
  },
)

it.each([
  ['a to-one relation', 'posts', 'filter[author][name][_eq]=Ada', ['1', '2', '3']],
  ['an absent to-one relation, which does not match', 'posts', 'filter[author][name][_neq]=Ada', []],
  ['some of a to-many relation', 'authors', 'filter[posts][_some][likes][_gt]=8', ['1']],
  ['none of a to-many relation', 'authors', 'filter[posts][_none][likes][_gt]=8', ['2']],
  ['every one of a to-many relation', 'authors', 'filter[posts][_every][likes][_gt]=0', ['1', '2']],
  ['a relation of a relation', 'authors', 'filter[posts][comments][text][_eq]=Better', ['1']],
])('narrows a list by %s', async (_, collection, filter, ids) => {
  const items = (await blog.data(`/items/${collection}?fields=id&${filter}`)) as { id: string }[]

  expect(items.map(({ id }) => id)).toEqual(ids)
})

it.each([
  ['arguments of a relation that is not selected', 'fields=name&deep[posts][_limit]=1', 'deep.posts'],
  ['arguments of a primitive field', 'fields=name&deep[name][_limit]=1', 'deep.name'],
  ['a count of a relation', 'fields=posts.title&deep[posts][_meta]=totalCount', 'deep.posts._meta'],
  ['an unknown field of a relation', 'fields=posts.colour', 'fields.posts.colour'],
  [
    'relations nested deeper than 8',
    `fields=${'posts.author.'.repeat(5)}name`,
    expect.stringContaining('fields.posts'),
  ],
])('answers 422 for %s, naming the place', async (_, search, place) => {
  const response = await blog.get(`/items/authors?${search}`)

  expect(response.status).toBe(422)
  expect(await response.json()).toMatchObject({
    message: expect.stringContaining('Failed to execute query: '),
    source: { message: place },
  })
})

it('refuses to delete what is still referenced', async () => {
  const response = await blog.delete('/items/authors/1')

  expect(response.status).toBe(422)
  expect(await response.json()).toMatchObject({
    message: 'Query failed',
    source: { message: 'Foreign key constraint failed' },
  })
})
