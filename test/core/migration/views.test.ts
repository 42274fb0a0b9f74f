/** A view has its key and relations in the model alone. */
import { describe, expect, it } from 'vitest'
import type { ModelRecords } from '../../../src/core/model/model.ts'
import {
  blog,
  createCollection,
  deleteCollection,
  deleteIndex,
  field,
  id,
  index,
  type Json,
  migrate,
  refusal,
  relation,
  updateCollection,
} from './build.ts'
import { diff, schemaOf, withTable } from './schema.ts'

const { records: tables } = migrate(
  blog,
  createCollection('best', [
    field('best.id', 'int64', { isNullable: true }),
    field('best.authorId', 'int64', { isNullable: true }),
    field('best.title', 'string', { isNullable: true }),
    field('best.tags', 'string', { isNullable: true, isList: true }),
  ]),
)

const records: ModelRecords = {
  ...tables,
  collections: tables.collections.map((record) =>
    record.id === id('best') ? { ...record, isView: true, isReadOnly: true } : record,
  ),
}

const key = updateCollection('best', index('best_key', 'primary', ['best.id']))

describe('a view', () => {
  it('has a key, whose rows are yet to be looked at, and no change of its database', () => {
    const after = migrate(records, key)

    expect(after.changes).toEqual([])
    expect(after.declaredKeys).toMatchObject([{ operation: 0, table: { dbName: 'best' }, columns: ['id'] }])
    expect(after.records.primitiveFields.find((one) => one.id === id('best.id'))).toMatchObject({ isNullable: false })
  })

  it('loses its key again', () => {
    const after = migrate(migrate(records, key).records, updateCollection('best', deleteIndex('best_key')))

    expect(after.changes).toEqual([])
    expect(after.records.indexes).toEqual(records.indexes)
    expect(after.records.primitiveFields).toEqual(records.primitiveFields)
  })

  it('has relations at either end', () => {
    const after = migrate(
      records,
      key,
      relation('bestAuthor', ['best.authorId'], ['people.id']),
      relation('bestOf', ['articles.authorId'], ['best.id']),
    )

    expect(after.changes).toEqual([])
    expect(after.records.relationFields).toHaveLength(records.relationFields.length + 4)
  })

  it.each<[string, readonly Json[], string]>([
    ['a deletion', [deleteCollection('best')], 'the collection best is a view'],
    ['a column', [updateCollection('best', field('best.x', 'int32', { isNullable: true }))], 'is a view'],
    ['an index', [updateCollection('best', index('i', 'normal', ['best.id']))], 'is a view'],
    ['a key with a list', [updateCollection('best', index('i', 'primary', ['best.tags']))], 'cannot be a key'],
    [
      'a second key',
      [key, updateCollection('best', index('i', 'primary', ['best.title']))],
      'has a primary key already',
    ],
    [
      'a key that a relation uses',
      [key, relation('bestOf', ['articles.authorId'], ['best.id']), updateCollection('best', deleteIndex('best_key'))],
      'is used by the relation',
    ],
    ['a relation without a key', [relation('bestOf', ['articles.authorId'], ['best.id'])], 'must be its primary key'],
    ['columns that no database joins', [relation('bestAuthor', ['best.title'], ['people.id'])], 'of different types'],
    [
      'a referential action',
      [relation('bestAuthor', ['best.authorId'], ['people.id'], { onDelete: 'cascade' })],
      'must be noAction',
    ],
  ])('is refused %s', (_, operations, reason) => {
    expect(refusal(records, ...operations)).toContain(reason)
  })
})

describe('an introspection of a view', () => {
  const declared = migrate(
    records,
    key,
    relation('bestAuthor', ['best.authorId'], ['people.id']),
    relation('bestOf', ['articles.authorId'], ['best.id']),
  ).records
  /** As the catalog has it. */
  const found = withTable(schemaOf(declared), 'best', (table) => ({
    ...table,
    columns: table.columns.map((column) => ({ ...column, isNullable: true })),
    indexes: [],
    foreignKeys: [],
  }))
  const schema = withTable(found, 'articles', (table) => ({
    ...table,
    foreignKeys: table.foreignKeys.filter(({ dbName }) => dbName !== 'bestOf'),
  }))

  it('keeps its key and relations', () => {
    expect(diff(declared, schema)).toEqual({ records: declared, operations: [] })
  })

  it('keeps its key beside the indexes of a materialized view', () => {
    const indexes = [{ dbName: 'best_key', kind: 'unique', columns: ['title'], isImplied: false }] as const
    const after = diff(
      declared,
      withTable(schema, 'best', (table) => ({ ...table, indexes })),
    )

    expect(after.records.indexes.filter(({ collectionId }) => collectionId === id('best'))).toMatchObject([
      { id: id('best_key'), kind: 'primary' },
      { kind: 'unique', fieldIds: [id('best.title')] },
    ])
  })

  it('takes away what a column of it took part in', () => {
    const after = diff(
      declared,
      withTable(schema, 'best', (table) => ({
        ...table,
        columns: table.columns.filter(({ dbName }) => dbName !== 'id'),
      })),
    )

    expect(after.records.indexes.some((one) => one.id === id('best_key'))).toBe(false)
    expect(after.records.relationFields.map(({ apiName }) => apiName)).not.toContain('bestOf')
    expect(after.records.relationFields.map(({ apiName }) => apiName)).toContain('bestAuthor')
  })

  it('takes away all of it where it became a table', () => {
    const after = diff(
      declared,
      withTable(schema, 'best', (table) => ({ ...table, isView: false, isReadOnly: false })),
    )

    expect(after.records.collections.find((one) => one.id === id('best'))).toMatchObject({ isView: false })
    expect(after.records.indexes.some((one) => one.id === id('best_key'))).toBe(false)
    expect(after.records.relationFields.map(({ apiName }) => apiName)).toEqual(['author', 'authorBack'])
  })

  it('marks it where the model does not, without an operation', () => {
    const unmarked = { ...tables, collections: tables.collections.map((one) => ({ ...one, isView: false })) }
    const seen = withTable(schemaOf(unmarked), 'best', (table) => ({ ...table, isView: true }))
    const after = diff(unmarked, seen)

    expect(after.operations).toEqual([])
    expect(after.records.collections.find((one) => one.id === id('best'))).toMatchObject({ isView: true })
  })
})
