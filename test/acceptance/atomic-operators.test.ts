/** Operators of a change (docs/contract.md#atomic-operators): what they take, and lists. */
import { beforeAll, beforeEach, expect, it } from 'vitest'
import { type Workspace, world } from '../support/service/world.ts'

let shop: Workspace

beforeAll(async () => {
  shop = await world.workspace(
    'operators',
    {
      articles: {
        id: 'int32',
        title: 'string?',
        likes: 'int64?',
        tags: 'string[]?',
        scores: 'decimal(6,2)[]?',
        parts: 'json[]?',
        files: 'bytes[]?',
        details: 'json?',
        authorId: 'int32?',
      },
      authors: { id: 'int32', points: 'int32' },
    },
    ['articles.author(authorId) -> authors.articles'],
  )
  await shop.insert('authors', [{ id: 1, points: 5 }])
})

beforeEach(async () => {
  await shop.delete('/items/articles?filter[id][_gt]=0')
  await shop.insert('articles', [
    {
      id: 1,
      likes: '9007199254740993',
      tags: ['a', 'b', null, 'a', 'A'],
      scores: ['1.50', '2.00'],
      parts: [{ a: 1, b: [2] }, 'x', null],
      files: ['YQ==', 'Yg=='],
      authorId: 1,
    },
    { id: 2 },
  ])
})

it('appends to lists and takes out every element that is equal', async () => {
  const appended = await shop.patch('/items/articles/1?fields=tags,scores,parts,files', {
    tags: { _append: ['c', null, 'a'] },
    scores: { _append: ['1.5'] },
    parts: { _append: [{ c: 1 }] },
    files: { _append: ['Yg=='] },
  })
  const removed = await shop.patch('/items/articles/1?fields=tags,scores,parts,files', {
    tags: { _remove: ['a', null] },
    scores: { _remove: ['1.5', '7'] },
    parts: { _remove: [{ b: [2], a: 1 }, 'y'] },
    files: { _remove: ['Yg=='] },
  })

  expect(await appended.json()).toEqual({
    data: {
      tags: ['a', 'b', null, 'a', 'A', 'c', null, 'a'],
      scores: ['1.50', '2.00', '1.50'],
      parts: [{ a: 1, b: [2] }, 'x', null, { c: 1 }],
      files: ['YQ==', 'Yg==', 'Yg=='],
    },
  })
  expect(await removed.json()).toEqual({
    data: { tags: ['b', 'A', 'c'], scores: ['2.00'], parts: ['x', null, { c: 1 }], files: ['YQ=='] },
  })
})

it('changes nothing by an empty list, and leaves null as it is', async () => {
  const body = { tags: { _append: [] }, scores: { _remove: [] } }
  const full = await shop.patch('/items/articles/1?fields=tags,scores', body)
  const empty = await shop.patch('/items/articles/2?fields=tags,scores,likes', {
    tags: { _append: ['a'] },
    scores: { _remove: ['1'] },
    likes: { _increment: 1 },
  })

  expect(await full.json()).toEqual({ data: { tags: ['a', 'b', null, 'a', 'A'], scores: ['1.50', '2.00'] } })
  expect(await empty.json()).toEqual({ data: { tags: null, scores: null, likes: null } })
})

it('keeps what has several dimensions as it is', async () => {
  await shop.patch('/items/articles/1', { tags: [['a'], ['b']] })

  const answers = [
    await shop.patch('/items/articles/1', { tags: { _append: ['c'] } }),
    await shop.patch('/items/articles/1', { tags: { _remove: ['a'] } }),
    await shop.patch('/items/articles/1', { tags: { _append: [['c']] } }),
  ]

  const source = { message: 'Value out of range', code: '1001', meta: { fields: ['tags'] } }
  expect(answers.map(({ status }) => status)).toEqual([422, 422, 422])
  expect(await answers[0]?.json()).toEqual({ message: 'Query failed', source })
  expect(await shop.data('/items/articles/1?fields=tags')).toEqual({ tags: [['a'], ['b']] })
})

it('is exact beyond what a JSON number holds', async () => {
  const changed = await shop.patch('/items/articles/1?fields=likes', { likes: { _increment: '2' } })

  expect(await changed.json()).toEqual({ data: { likes: '9007199254740995' } })
})

it('is taken in a nested change', async () => {
  const changed = await shop.patch('/items/articles/1?fields=author.points', {
    author: [{ _update: { data: { points: { _increment: 2 } } } }],
  })
  const refused = await shop.patch('/items/articles/1', {
    author: [{ _update: { data: { points: { _increment: 2147483647 } } } }],
  })

  expect(await changed.json()).toEqual({ data: { author: { points: expect.any(Number) } } })
  expect(await refused.json()).toMatchObject({
    source: { message: 'Value out of range', meta: { collection: 'authors', fields: ['points'] } },
  })
})

it('is data inside of a JSON field', async () => {
  const details = { _increment: 1 }

  const changed = await shop.patch('/items/articles/1?fields=details', { details })

  expect(await changed.json()).toEqual({ data: { details } })
})

it.each([
  ['an unknown operator', { likes: { _add: 1 } }, 'likes._add'],
  ['an operator of another type', { likes: { _append: [1] } }, 'likes._append'],
  ['an operator beside others', { tags: { _append: ['a'], _remove: ['a'] } }, 'tags'],
  ['no operator', { likes: {} }, 'likes'],
  ['a text', { likes: { _increment: 'x' } }, 'likes._increment'],
  ['null', { likes: { _increment: null } }, 'likes._increment'],
  ['a fraction', { likes: { _increment: 1.5 } }, 'likes._increment'],
  ['no list', { tags: { _append: 'a' } }, 'tags._append'],
  ['an element of another type', { tags: { _remove: [1] } }, 'tags._remove'],
  ['more digits than the field has', { scores: { _append: ['1.234'] } }, 'scores._append'],
  ['a key', { id: { _increment: 1 } }, 'id'],
  ['a reference', { authorId: { _increment: 1 } }, 'authorId'],
  ['a field without operators', { title: { _append: 'a' } }, 'title'],
])('refuses %s', async (_what, body, place) => {
  const refused = await shop.patch('/items/articles/1', body)

  expect([refused.status, await refused.json()]).toMatchObject([
    422,
    { message: expect.stringContaining('Failed to execute query: '), source: { message: place } },
  ])
})

it('has no meaning in a new item', async () => {
  const created = await shop.post('/items/articles', [{ id: 3, likes: { _increment: 1 } }])
  const nested = await shop.post('/items/authors', [
    { id: 2, points: 1, articles: [{ _create: { data: [{ id: 4, tags: { _append: ['a'] } }] } }] },
  ])

  expect([created.status, nested.status]).toEqual([422, 422])
})
