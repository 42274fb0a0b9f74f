/** What the ids of a database prove of renames, and what they do not. */

import { describe, expect, it } from 'vitest'
import { followRenames, withApplied } from '../../../src/core/migration/renames.ts'
import { atOnce } from '../../../src/core/parts.ts'
import { build } from '../../support/data/build.ts'
import { blog, migrate, toDbName, updateCollection, updateField } from './build.ts'

const { records } = build.model({ staff: { id: 'int32', name: 'string', title: 'string', salary: 'string' } })

/** `name#id`, in the order of the table. */
function found(columns: string, table = '16385') {
  const read = columns.split(' ').map((part) => part.split('#'))
  return {
    defaultNamespace: undefined,
    knowsRelations: true,
    skipped: [],
    namespaces: [],
    tables: [
      {
        schema: '',
        dbName: 'staff',
        isReadOnly: false,
        isView: false,
        columns: read.map(([dbName = '']) => ({
          dbName,
          type: build.type(dbName === 'id' ? 'int32' : 'string'),
          isNullable: false,
          isList: false,
          isReadOnly: false,
          isLoose: false,
          native: null,
          defaultKind: 'none' as const,
        })),
        indexes: [],
        foreignKeys: [],
        identity: { id: table, columns: read.map(([, id = '']) => id) },
      },
    ],
  }
}

/** The second column was dropped before the first import. */
const known = new Map([
  ['staff', '16385'],
  ['staff.id', '1'],
  ['staff.name', '3'],
  ['staff.title', '4'],
  ['staff.salary', '5'],
])

const renames = (schema: ReturnType<typeof found>) =>
  atOnce(followRenames(records, 'main', { schema, whole: schema, known, isAccepted: () => false, newId: () => '' }))
    .renames

describe('a rename of columns', () => {
  it.each([
    ['is followed by their ids', 'id#1 name#3 pay#5 title#4', [['staff.salary', 'staff.pay', true]]],
    ['beside a new one', 'id#1 name#3 title#4 pay#5 x#6', [['staff.salary', 'staff.pay', true]]],
    ['is none after a restore under the same id, which numbers them anew', 'id#1 name#2 title#3 salary#4', []],
    ['is only offered there', 'id#1 name#2 title#3 pay#4', [['staff.salary', 'staff.pay', false]]],
  ])('%s', (_, columns, expected) => {
    expect(renames(found(columns)).map(({ from, to, certain }) => [from, to, certain])).toEqual(expected)
  })

  it('is proven by the ids of one cluster only: another gives the same to something else', () => {
    const swapped = 'id#1 name#3 title#5 salary#4'
    const renamed = 'id#1 name#3 pay#5 title#4'

    expect(renames(found(swapped)).map(({ certain }) => certain)).toEqual([true, true])
    expect(renames(found(swapped, '7301.16385'))).toEqual([])
    expect(renames(found(renamed, '7301.16385'))).toEqual([{ from: 'staff.salary', to: 'staff.pay', certain: false }])
  })
})

it('of a migration that ended half way have their new names, and what it touched is closed', () => {
  const { changes } = migrate(
    blog,
    updateCollection('articles', toDbName('posts')),
    updateCollection('articles', updateField('articles.title', toDbName('headline'))),
    updateCollection('people', updateField('people.id', toDbName('number'))),
  )

  const { collections, primitiveFields } = withApplied(blog, { applied: changes.slice(0, 2), touched: changes })

  const names = new Map(blog.primitiveFields.map(({ id, dbName }) => [id, dbName]))
  expect(collections.map(({ apiName, dbName, isClosed }) => [apiName, dbName, isClosed])).toEqual(
    expect.arrayContaining([
      ['articles', 'posts', true],
      ['people', 'people', true],
    ]),
  )
  expect(primitiveFields.flatMap(({ id, dbName }) => (names.get(id) === dbName ? [] : [dbName]))).toEqual(['headline'])
})

describe('two tables that exchanged their names', () => {
  const both = build.model({ open: { id: 'int32' }, closed: { id: 'int32' } })
  const [staff] = found('id#1').tables
  const swapped = (cluster: string) => {
    const ids = { open: `${cluster}16385`, closed: `${cluster}16386` }
    const table = (dbName: string, id: string) => ({ ...staff, dbName, identity: { id, columns: ['1'] } })
    const schema = { ...found('id#1'), tables: [table('open', ids.closed), table('closed', ids.open)] } as ReturnType<
      typeof found
    >
    const search = { schema, whole: schema, known: new Map(Object.entries(ids)), isAccepted: () => false }
    return atOnce(followRenames(both.records, 'main', { ...search, newId: () => '' })).renames
  }

  it('are followed where the cluster is known, also if no other table keeps its name', () => {
    expect(swapped('7.')).toEqual([
      { from: 'open', to: 'closed', certain: true },
      { from: 'closed', to: 'open', certain: true },
    ])
  })

  it('may be those of a restore where it is not', () => {
    expect(swapped('')).toEqual([])
  })
})
