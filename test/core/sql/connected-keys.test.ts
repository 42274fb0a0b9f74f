/** How many statements `_connect` is: keys that one column holds are found together, and none of them may be missing. */
import { describe, expect, it } from 'vitest'
import { fullAccess, granted, type Viewer } from '../../../src/core/access/access.ts'
import { buildModel } from '../../../src/core/model/model.ts'
import { atOnce } from '../../../src/core/parts.ts'
import { planCreate } from '../../../src/core/plan/write.ts'
import { parseBrackets } from '../../../src/core/query/brackets.ts'
import { parseItemQuery } from '../../../src/core/query/parameters.ts'
import type { Dialect } from '../../../src/core/sql/dialect.ts'
import { mariadb, mysql } from '../../../src/core/sql/mysql/dialect.ts'
import { postgres } from '../../../src/core/sql/postgres/dialect.ts'
import { build } from '../../support/data/build.ts'
import { withManyToMany } from '../../support/data/many-to-many.ts'
import { rowsOfOnes, writeStatements } from '../../support/data/write-statements.ts'

const model = build.model(
  { authors: { id: 'int32', name: 'string?' }, posts: { id: 'int32', authorId: 'int32?', title: 'string?' } },
  ['posts.author(authorId) -> authors.posts'],
)
const native = { schema: 'public', name: 'citext', isOrdered: true }
const named = buildModel(1, {
  ...model.records,
  primitiveFields: model.records.primitiveFields.map((field) =>
    field.id === 'posts.id' ? { ...field, type: build.type('string'), native } : field,
  ),
})
const tagged = withManyToMany(
  build.model({ authors: { id: 'int32' }, tags: { id: 'int32' }, links: { authorId: 'int32', tagId: 'int32' } }, [
    'links.author(authorId) -> authors.links',
    'links.tag(tagId) -> tags.links',
  ]),
  {
    junction: 'links',
    key: ['authorId', 'tagId'],
    sides: [
      { of: 'authors', name: 'posts', near: 'links', back: 'author' },
      { of: 'tags', name: 'authors', near: 'links', back: 'tag' },
    ],
  },
)

const pairs = build.model({ authors: { id: 'int32' }, posts: { day: 'int32', place: 'int32', authorId: 'int32?' } }, [
  'posts.author(authorId) -> authors.posts',
])
const keyedByPairs = buildModel(1, {
  ...pairs.records,
  indexes: pairs.records.indexes.map((index) =>
    index.collectionId === 'posts' ? { ...index, fieldIds: ['posts.day', 'posts.place'] } : index,
  ),
})
const everyone: Viewer = { accessTo: () => fullAccess, seesModel: true }
const ofDrafts: Viewer = {
  seesModel: true,
  accessTo: ({ apiName }, action) => {
    const rows = build.read(model, 'posts', 'filter[title][_eq]=draft').where
    return apiName === 'posts' && action === 'update'
      ? granted([{ rows, fields: 'every', validation: rows }])
      : fullAccess
  },
}

function connecting(keys: readonly unknown[], { dialect = postgres as Dialect, viewer = everyone, of = model } = {}) {
  const collection = of.byName.get('authors')
  if (collection === undefined) throw new Error('a collection is missing')
  const read = { viewer, collection, access: fullAccess, limits: { default: 100, max: 1_000 }, maxRows: 100_000 }
  const generators = { uuid: () => '', now: () => '' }
  const query = () => parseItemQuery(parseBrackets(''))
  const items = [{ id: 1, posts: [{ _connect: { keys } }] }]
  const plan = atOnce(planCreate({ viewer, collection, generators, read, query }, items, 1_000))
  // Lists of keys are filled up to usual sizes by their last one.
  return writeStatements(plan, dialect, ({ params }) => rowsOfOnes(new Set(params).size))
}

const ids = (count: number) => Array.from({ length: count }, (_, id) => ({ id }))
const single = connecting([{ id: 1 }]).length

describe('10,000 keys', () => {
  it.each([
    ['postgres', postgres, 4],
    // What is found is named in two statements.
    ['mariadb', mariadb, 5],
    ['mysql', mysql, 5],
  ])('are ten finds on %s', (_name, dialect, each) => {
    const around = connecting([], { dialect }).length

    expect(connecting(ids(10_000), { dialect })).toHaveLength(around + 10 * each)
  })

  it('are ten finds also where policies decide, which check all of them', () => {
    const around = connecting([], { viewer: ofDrafts }).length
    const each = connecting([{ id: 1 }], { viewer: ofDrafts }).length - around

    expect(connecting(ids(10_000), { viewer: ofDrafts })).toHaveLength(around + 10 * each)
  })

  it('are one find each where the database may take two texts for one key', () => {
    const around = connecting([], { of: named }).length
    const each = connecting([{ id: 'a' }], { of: named }).length - around

    expect(connecting([{ id: 'a' }, { id: 'A' }], { of: named })).toHaveLength(around + 2 * each)
  })

  it.each([
    ['postgres', postgres, 2, 1],
    ['mariadb', mariadb, 1, 2],
    ['mysql', mysql, 1, 2],
  ])('of a many-to-many field are ten finds and twenty inserts on %s', (_name, dialect, find, insert) => {
    const around = connecting([], { dialect, of: tagged }).length

    expect(connecting(ids(10_000), { dialect, of: tagged })).toHaveLength(around + 10 * find + 20 * insert)
  })

  it('are one find and one insert also where policies look at the links', () => {
    const viewer: Viewer = {
      seesModel: true,
      accessTo: ({ apiName }, action) => {
        const rows = build.read(tagged, 'links', 'filter[tagId][_gt]=0').where
        const isLinking = apiName === 'links' && action === 'create'
        return isLinking ? granted([{ rows, fields: 'every', validation: rows }]) : fullAccess
      },
    }
    const around = connecting([], { viewer, of: tagged }).length
    const [one, hundred] = [1, 100].map((count) => connecting(ids(count), { viewer, of: tagged }).length - around)

    expect([one, hundred]).toEqual([5, 5])
  })

  it('of two columns are twenty finds', () => {
    const around = connecting([], { of: keyedByPairs }).length
    const key = (day: number) => ({ day, place: 1 })
    const each = connecting([key(1)], { of: keyedByPairs }).length - around

    const keys = Array.from({ length: 10_000 }, (_, day) => key(day))

    expect(connecting(keys, { of: keyedByPairs })).toHaveLength(around + 20 * each)
  })

  it('are one where all are the same', () => {
    expect(connecting(Array.from({ length: 10_000 }, () => ({ id: 1 })))).toHaveLength(single)
  })
})

it('an error names the key', () => {
  expect(() => connecting([{ id: 1 }, { id: 2 }, { title: 'x' }])).toThrow(
    expect.objectContaining({ cause: expect.objectContaining({ message: '[0].posts[0]._connect.keys[2]' }) }),
  )
})
