/** Filters on what lists and JSON values hold (docs/contract.md#filters), by callers and by policies. */
import { beforeAll, describe, expect, it } from 'vitest'
import { people } from '../support/service/people.ts'
import { type Workspace, world } from '../support/service/world.ts'

let shop: Workspace

beforeAll(async () => {
  shop = await world.workspace('inside', {
    articles: { title: 'string', tags: 'string[]?', counts: 'int32[]', details: 'json?', owners: 'uuid[]' },
  })
  await shop.insert('articles', [
    {
      title: 'a',
      tags: ['new', 'red'],
      counts: [1, 2],
      owners: [],
      details: { size: { width: 10 }, tags: ['x', { y: 1 }] },
    },
    { title: 'b', tags: [], counts: [], owners: [], details: ['x', 5] },
    { title: 'c', tags: null, counts: [2], owners: [], details: { size: { width: '10' }, sold: true } },
    { title: 'd', tags: ['red'], counts: [3], owners: [], details: null },
  ])
})

async function titles(filter: object): Promise<unknown> {
  const response = await shop.send('QUERY', '/items/articles', { body: { fields: 'title', filter } })
  expect(response.status).toBe(200)
  const { data } = (await response.json()) as { data: { title: string }[] }
  return data.map(({ title }) => title).join('')
}

describe('a filter finds lists', () => {
  it.each([
    ['with an element', { tags: { _has: 'red' } }, 'ad'],
    ['without it, but not null', { _not: { tags: { _has: 'red' } } }, 'b'],
    ['with one of several', { tags: { _has_any: ['new', 'blue'] } }, 'a'],
    ['with all of several', { tags: { _has_all: ['red', 'new'] } }, 'a'],
    ['with any of none', { tags: { _has_any: [] } }, ''],
    ['with all of none', { tags: { _has_all: [] } }, 'abd'],
    ['without elements', { tags: { _empty: true } }, 'b'],
    ['with some', { tags: { _empty: false } }, 'ad'],
    ['with a number', { counts: { _has: 2 } }, 'ac'],
  ])('%s', async (_, filter, expected) => {
    expect(await titles(filter)).toBe(expected)
  })

  it('by brackets', async () => {
    expect(
      await shop.data('/items/articles?fields=title&filter[tags][_has_any][0]=new&filter[counts][_has]=2'),
    ).toEqual([{ title: 'a' }])
  })
})

describe('a filter finds JSON', () => {
  it.each([
    ['with a part', { details: { _contains: { size: { width: 10 } } } }, 'a'],
    ['with a list that has an object', { details: { _contains: { tags: [{ y: 1 }] } } }, 'a'],
    ['a list with a scalar', { details: { _contains: 5 } }, 'b'],
    ['no list inside with a bare scalar', { details: { _contains: { tags: 'x' } } }, ''],
    ['with a member', { details: { _has_key: 'sold' } }, 'c'],
    ['no list with a text as one with a member', { details: { _has_key: 'x' } }, ''],
    ['by a number at a path', { details: { _path: ['size', 'width'], _gte: 5, _lt: 20 } }, 'a'],
    ['by a text at a path', { details: { _path: ['size', 'width'], _eq: '10' } }, 'c'],
    ['by a truth value', { details: { _path: ['sold'], _neq: false } }, 'c'],
    ['by a place in a list', { details: { _path: [1], _in: [4, 5] } }, 'b'],
    ['not at a missing place', { _not: { details: { _path: ['size', 'width'], _eq: 11 } } }, 'a'],
  ])('%s', async (_, filter, expected) => {
    expect(await titles(filter)).toBe(expected)
  })

  it('by brackets', async () => {
    const path = 'filter[details][_path][0]=size&filter[details][_path][1]=width'

    expect(await shop.data(`/items/articles?fields=title&${path}&filter[details][_eq]=10`)).toEqual([{ title: 'a' }])
    expect(await shop.data(`/items/articles?fields=title&${path}&filter[details][_eq]=%2210%22`)).toEqual([
      { title: 'c' },
    ])
  })
})

describe('a policy', () => {
  it('shows rows by what lists and JSON hold of the caller', async () => {
    const member = await people.member(shop, {
      collections: {
        articles: {
          read: {
            fields: ['title'],
            filter: {
              _or: [{ owners: { _has: '$CURRENT_USER' } }, { details: { _path: ['by'], _eq: '$CURRENT_USER' } }],
            },
          },
        },
      },
    })
    await shop.insert('articles', [
      { title: 'owned', counts: [], owners: [member.userId] },
      { title: 'written', counts: [], owners: [], details: { by: member.userId } },
      { title: 'others', counts: [], owners: [], details: { by: 'somebody' } },
    ])

    const response = await member.get('/items/articles')

    expect(await response.json()).toEqual({ data: [{ title: 'owned' }, { title: 'written' }] })
  })

  it('checks new items by them', async () => {
    const member = await people.member(shop, {
      collections: {
        articles: { create: { fields: '*', validation: { details: { _has_key: 'by' }, tags: { _has: 'new' } } } },
      },
    })
    const item = { title: 'e', counts: [], owners: [] }

    const statuses = [
      await member.post('/items/articles', [{ ...item, tags: ['new'], details: { by: 1 } }]),
      await member.post('/items/articles', [{ ...item, tags: ['old'], details: { by: 1 } }]),
      await member.post('/items/articles', [{ ...item, tags: ['new'], details: {} }]),
    ].map(({ status }) => status)

    expect(statuses).toEqual([200, 422, 422])
  })

  it('that hides a value lets no filter look into it', async () => {
    const member = await people.member(shop, {
      collections: { articles: { read: { fields: ['title'] } } },
    })
    const asked = (filter: object) => member.send('QUERY', '/items/articles', { body: { filter } })

    const answers = [
      await asked({ details: { _path: ['size'], _eq: 1 } }),
      await asked({ details: { _contains: {} } }),
      await asked({ tags: { _has: 'red' } }),
      await asked({ unknown: { _has: 'red' } }),
    ]

    expect(answers.map(({ status }) => status)).toEqual([403, 403, 403, 403])
    expect(new Set(await Promise.all(answers.map((answer) => answer.text()))).size).toBe(1)
  })
})
