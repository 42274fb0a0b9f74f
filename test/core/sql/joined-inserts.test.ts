/** How many statements a nested write is: new items that are alike share them, where nobody can tell the difference. */
import { describe, expect, it } from 'vitest'
import { fullAccess, granted, type Viewer } from '../../../src/core/access/access.ts'
import { atOnce } from '../../../src/core/parts.ts'
import { planCreate } from '../../../src/core/plan/write.ts'
import { parseBrackets } from '../../../src/core/query/brackets.ts'
import { parseItemQuery } from '../../../src/core/query/parameters.ts'
import type { Dialect } from '../../../src/core/sql/dialect.ts'
import { mariadb, mysql } from '../../../src/core/sql/mysql/dialect.ts'
import { postgres } from '../../../src/core/sql/postgres/dialect.ts'
import { build } from '../../support/data/build.ts'
import { writeStatements } from '../../support/data/write-statements.ts'

const model = build.model(
  {
    authors: { id: 'int32', name: 'string?', parentId: 'int32?', mentorId: 'int32?' },
    posts: { id: 'int32', authorId: 'int32?', genreId: 'int32?', title: 'string?' },
    comments: { id: 'int32', postId: 'int32?' },
    genres: { id: 'int32', name: 'string?' },
  },
  [
    'posts.author(authorId) -> authors.posts',
    'posts.genre(genreId) -> genres.posts',
    'comments.post(postId) -> posts.comments',
    'authors.parent(parentId) -> authors.children',
    'authors.mentor(mentorId) -> authors.mentees',
  ],
)

/** Another text of the same meaning is another filter object. */
const filterOf = (name: string, search: string) => build.read(model, name, search).where
const everyone: Viewer = { accessTo: () => fullAccess, seesModel: true }

function viewerWith(name: string, action: 'create' | 'read', search: string): Viewer {
  const limited = granted([{ rows: filterOf(name, search), fields: 'every', validation: { kind: 'all' } }])
  return {
    accessTo: ({ apiName }, asked) => (apiName === name && asked === action ? limited : fullAccess),
    seesModel: true,
  }
}

function statements(items: readonly unknown[], { dialect = postgres as Dialect, viewer = everyone } = {}) {
  const collection = model.byName.get('authors')
  if (collection === undefined) throw new Error('a collection is missing')
  const read = { viewer, collection, access: fullAccess, limits: { default: 100, max: 1_000 }, maxRows: 100_000 }
  const generators = { uuid: () => '', now: () => '' }
  const query = () => parseItemQuery(parseBrackets(''))
  const plan = atOnce(planCreate({ viewer, collection, generators, read, query }, items, 1_000))
  return writeStatements(plan, dialect)
}

const many = <T>(count: number, item: (index: number) => T) => Array.from({ length: count }, (_, index) => item(index))
const withPosts = (data: readonly unknown[]) => [{ id: 1, posts: [{ _create: { data } }] }]

/** Of the author before the posts, and its answer after them. */
const AROUND = 2

describe('new items under one parent', () => {
  it.each([
    ['postgres', postgres, 1],
    ['mariadb', mariadb, 1],
    ['mysql', mysql, 1],
  ])('are 500 a statement on %s', (_name, dialect, each) => {
    const all = statements(withPosts(many(5_000, (id) => ({ id, title: 'x' }))), { dialect })

    expect(all).toHaveLength((10 + 1) * each + 1)
    for (const { params } of all) expect(params.length).toBeLessThan(20_000)
  })

  it('share a statement whichever members they have', () => {
    const data = many(100, (id) => (id % 2 === 0 ? { id } : { title: 'x', id }))

    const [, insert, ...others] = statements(withPosts(data))

    expect(others).toHaveLength(1)
    expect(insert?.text.match(/default/g)).toHaveLength(50)
  })

  it('share one across operations', () => {
    const posts = many(100, (id) => ({ _create: { data: [{ id }] } }))

    expect(statements([{ id: 1, posts }])).toHaveLength(AROUND + 1)
  })

  it('stand alone where others refer to them', () => {
    const data = many(100, (id) => ({ id, comments: [{ _create: { data: [{ id }, { id: id + 1_000 }] } }] }))

    expect(statements(withPosts(data))).toHaveLength(AROUND + 2 * 100)
  })

  it('stand alone where one may refer to another', () => {
    const children = (data: readonly unknown[]) => statements([{ id: 1, children: [{ _create: { data } }] }])

    expect(children(many(100, (id) => ({ id: id + 2 })))).toHaveLength(AROUND + 1)
    expect(children(many(100, (id) => ({ id: id + 2, mentorId: null })))).toHaveLength(AROUND + 1)
    expect(children(many(100, (id) => ({ id: id + 2, mentorId: id + 1 })))).toHaveLength(AROUND + 100)
  })
})

describe('new items that must meet a condition', () => {
  const data = many(100, (id) => ({ id, title: 'x' }))

  it('share the check as well', () => {
    const viewer = viewerWith('posts', 'create', 'filter[title][_eq]=x&filter[author][name][_null]=true')

    expect(statements(withPosts(data), { viewer })).toHaveLength(AROUND + 3)
  })

  it('are checked one after the other where the condition reads their own collection', () => {
    const viewer = viewerWith('posts', 'create', 'filter[author][posts][_none][title][_eq]=y')

    expect(statements(withPosts(data), { viewer })).toHaveLength(AROUND + 3 * 100)
  })

  it('have what they refer to looked for first', () => {
    const genres = many(100, (id) => ({ id, genreId: id % 5 }))

    const independent = viewerWith('genres', 'read', 'filter[name][_eq]=x')
    const dependent = viewerWith('genres', 'read', 'filter[posts][_some][title][_eq]=x')

    expect(statements(withPosts(genres), { viewer: independent })).toHaveLength(AROUND + 5 * 2 + 1)
    expect(statements(withPosts(genres), { viewer: dependent })).toHaveLength(AROUND + 5 * 2 + 5)
  })
})
