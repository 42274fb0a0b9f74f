import { describe, expect, it } from 'vitest'
import { diffModel } from '../../../src/core/migration/diff/diff.ts'
import { buildModel, type ModelRecords } from '../../../src/core/model/model.ts'
import {
  autoincrement,
  blog,
  constant,
  createCollection,
  field,
  id,
  index,
  type Json,
  migrate,
  onCreate,
  relation,
  workspace,
} from './build.ts'
import { column, diff, schemaOf, table, withColumn, withTable } from './schema.ts'

const data = schemaOf(blog)
const records = (one: ReturnType<typeof diff>) => buildModel(1, one.records)
const fieldOf = (after: ModelRecords, path: string) => after.primitiveFields.find((one) => one.id === id(path))
const kinds = (operations: readonly { readonly kind: string }[]) => operations.map(({ kind }) => kind)

/** The operations inside the update of one collection, or of one field. */
const inside = (operations: readonly { readonly data: object }[], name: string) =>
  operations.flatMap((operation) => {
    const found = operation.data as { id: string; operations: Json[] }
    return found.id === id(name) ? found.operations : []
  })

describe('a schema that the model knows', () => {
  it('changes nothing', () => {
    expect(diff(blog, data)).toEqual({ records: blog, operations: [] })
    expect(diff(blog, data).records).toBe(blog)
  })

  it('changes nothing, however the members of a stored type are ordered', () => {
    const type = { name: 'decimal', params: { kind: 'constrained', precision: 9, scale: 2 } }
    const priced = migrate(workspace, createCollection('prices', [field('prices.net', type)])).records
    const found = withColumn(schemaOf(priced), 'prices.net', (one) => ({
      ...one,
      type: { name: 'decimal', params: { scale: 2, precision: 9, kind: 'constrained' } },
    }))

    expect(diff(priced, found).operations).toEqual([])
  })

  it('leaves the defaults of the service alone, which no database knows', () => {
    const found = withColumn(data, 'articles.id', (one) => ({ ...one, defaultKind: 'database' }))

    expect(diff(blog, found).operations).toEqual([])
  })

  it('does not touch other sources', () => {
    const crm = migrate(
      blog,
      createCollection('leads', [field('leads.id', 'int64')], { sourceId: id('crm'), namespaceId: id('crm public') }),
    ).records

    expect(diff(crm, data).operations).toEqual([])
    expect(kinds(diff(crm, { ...data, tables: [], namespaces: [] }, id('crm')).operations)).toEqual([
      'deleteCollection',
      'deleteNamespace',
    ])
  })

  it('finds collections that name no namespace in the default one', () => {
    const crm = migrate(blog, createCollection('leads', [field('leads.id', 'int64')], { sourceId: id('crm') })).records

    expect(diff(crm, schemaOf(crm, id('crm')), id('crm')).operations).toEqual([])
  })
})

it('compares tables and relations in parts, between which other work runs', () => {
  const names = Array.from({ length: 100 }, (_, at) => `t${at}`)
  const key = (dbName: string) => ({
    ...({ dbName: `${dbName}_up`, columns: ['up'], onDelete: 'noAction', onUpdate: 'noAction' } as const),
    references: { schema: 'service_shop_data', dbName: 't0', columns: ['id'] },
  })
  const tables = names.map((dbName) => ({
    ...table(dbName, [column('id'), column('up')]),
    indexes: [{ dbName: `${dbName}_pkey`, kind: 'primary', columns: ['id'], isImplied: false } as const],
    foreignKeys: [key(dbName)],
  }))
  const context = { toApiName: (name: string) => name, newId: () => crypto.randomUUID(), workspace: 'shop' }
  const schema = { ...schemaOf(workspace), tables }
  const parts = diffModel(workspace, id('_system'), { schema, context })

  expect([...parts].length).toBeGreaterThan(3 * tables.length)
})

describe('a new table', () => {
  const tags = table(
    'article_tags',
    [
      column('id', { defaultKind: 'autoincrement' }),
      column('ARTICLE_ID', { type: { name: 'uuid' } }),
      column('made at', { defaultKind: 'database', isReadOnly: true }),
    ],
    {
      indexes: [{ dbName: 'tags_pkey', kind: 'primary', columns: ['id'], isImplied: false }],
      foreignKeys: [
        {
          dbName: 'tags_article',
          columns: ['ARTICLE_ID'],
          references: { schema: 'service_shop_data', dbName: 'articles', columns: ['id'] },
          onDelete: 'cascade',
          onUpdate: 'noAction',
        },
      ],
    },
  )
  const found = { ...data, tables: [...data.tables, tags] }

  it('comes as the operations that would make it', () => {
    const { operations } = diff(blog, found)

    expect(operations).toEqual([
      {
        kind: 'createCollection',
        data: {
          id: id('new 1'),
          sourceId: id('_system'),
          namespaceId: id('data'),
          dbName: 'article_tags',
          apiName: 'articleTags',
          operations: [
            field('', 'int64', { id: id('new 2'), dbName: 'id', apiName: 'id', defaultValue: autoincrement }),
            field('', 'uuid', { id: id('new 3'), dbName: 'ARTICLE_ID', apiName: 'articleId', defaultValue: null }),
            field('', 'int64', {
              id: id('new 4'),
              dbName: 'made at',
              apiName: 'madeAt',
              defaultValue: { source: 'connectorManaged' },
              isReadOnly: true,
            }),
            {
              kind: 'createIndex',
              data: { id: id('new 5'), dbName: 'tags_pkey', kind: 'primary', fieldIds: [id('new 2')] },
            },
          ],
        },
      },
      {
        kind: 'createRelationFieldPair',
        data: {
          kind: 'single',
          data: {
            relationName: 'tags_article',
            onDelete: 'cascade',
            onUpdate: 'noAction',
            firstField: {
              id: id('new 6'),
              apiName: 'article',
              isList: false,
              isConstrained: true,
              collectionId: id('new 1'),
              fieldIds: [id('new 3')],
            },
            secondField: {
              id: id('new 7'),
              apiName: 'articleTags',
              isList: true,
              isConstrained: false,
              collectionId: id('articles'),
              fieldIds: [id('articles.id')],
            },
          },
        },
      },
    ])
  })

  it('is in the model, beside records that are the same objects', () => {
    const after = diff(blog, found)

    const model = records(after)
    expect(model.byName.get('articleTags')?.fields.get('article')).toMatchObject({ isList: false, isNullable: false })
    expect(model.byName.get('articles')?.fields.get('articleTags')).toMatchObject({ isList: true })
    expect(after.records.collections.slice(0, 2)).toEqual(blog.collections)
    expect(after.records.collections[0]).toBe(blog.collections[0])
    expect(after.records.primitiveFields[0]).toBe(blog.primitiveFields[0])
    expect(diff(after.records, found).operations).toEqual([])
  })

  it('gets a name that nobody has', () => {
    const tables = ['Articles', 'articles ', '_articles', 'ServiceCollection', '', '2nd', 'x'.repeat(80)]
    const after = diff(blog, { ...data, tables: [...data.tables, ...tables.map((name) => table(name, []))] })

    expect(after.records.collections.slice(2).map(({ apiName }) => apiName)).toEqual([
      'Articles',
      'articles_',
      'n_articles',
      'serviceCollection',
      'n',
      'n2nd',
      'x'.repeat(63),
    ])
  })

  it('that can only be read is read-only with all its fields', () => {
    const view = table('best', [column('id', { isReadOnly: true })], { isReadOnly: true })
    const after = diff(blog, { ...data, tables: [...data.tables, view] })

    expect(after.operations).toMatchObject([
      { data: { isReadOnly: true, operations: [{ data: { dbName: 'id', isReadOnly: true } }] } },
    ])
    expect(records(after).byName.get('best')).toMatchObject({ isReadOnly: true })
  })

  it('in a new namespace brings it along, but never one that is not asked for', () => {
    const found = {
      ...data,
      namespaces: [...data.namespaces, 'service_shop_x'],
      tables: [...data.tables, table('a', [], { schema: 'service_shop_x' }), table('b', [], { schema: 'public' })],
    }

    const after = diff(blog, found)

    expect(kinds(after.operations)).toEqual(['createNamespace', 'createCollection'])
    expect(records(after).byName.get('a')?.schema).toBe('service_shop_x')
    expect(kinds(diff(after.records, data).operations)).toEqual(['deleteCollection', 'deleteNamespace'])
  })
})

describe('a table that is gone', () => {
  it('takes its relations with it', () => {
    const left = withTable(data, 'people', () => undefined)
    const found = withTable(left, 'articles', (one) => ({ ...one, foreignKeys: [] }))

    const after = diff(blog, found)

    expect(after.operations).toEqual([
      {
        kind: 'deleteRelationFieldPair',
        data: { firstFieldId: id('author.first'), secondFieldId: id('author.second') },
      },
      { kind: 'deleteCollection', data: { id: id('people') } },
    ])
    expect([...records(after).byName.keys()]).toEqual(['articles'])
    expect(after.records.constraints).toEqual([])
  })

  it('takes the relations from other sources with it', () => {
    const crm = migrate(
      blog,
      createCollection('leads', [field('leads.ownerId', 'int64')], { sourceId: id('crm') }),
      relation('owner', ['leads.ownerId'], ['people.id']),
    ).records
    const found = withTable(
      withTable(data, 'articles', () => undefined),
      'people',
      () => undefined,
    )

    expect(diff(crm, data).operations).toEqual([])
    expect(kinds(diff(crm, found).operations)).toEqual([
      'deleteRelationFieldPair',
      'deleteRelationFieldPair',
      'deleteCollection',
      'deleteCollection',
    ])
  })

  it('leaves the namespace that the workspace began with', () => {
    const after = diff(blog, {
      defaultNamespace: 'public',
      knowsRelations: true,
      namespaces: [],
      tables: [],
      skipped: [],
    })

    expect(kinds(after.operations)).not.toContain('deleteNamespace')
    expect(after.records.namespaces).toEqual(blog.namespaces)
  })
})

describe('a column', () => {
  it.each<[string, Partial<Parameters<typeof column>[1]> & object, Json[]]>([
    [
      'type',
      { type: { name: 'string', params: { length: 'fixed', value: 9 } } },
      [{ kind: 'changeType', data: { type: { name: 'string', params: { length: 'fixed', value: 9 } } } }],
    ],
    ['null', { isNullable: true }, [{ kind: 'changeIsNullable', data: { isNullable: true } }]],
    ['list', { isList: true }, [{ kind: 'changeIsList', data: { isList: true } }]],
    ['generated', { isReadOnly: true }, [{ kind: 'changeIsReadOnly', data: { isReadOnly: true } }]],
    [
      'default',
      { defaultKind: 'database' },
      [{ kind: 'changeDefaultValue', data: { defaultValue: { source: 'connectorManaged' } } }],
    ],
  ])('changes under its id: %s', (_name, change, operations) => {
    const found = withColumn(data, 'articles.title', (one) => ({ ...one, ...change }))

    const after = diff(blog, found)

    expect(after.operations).toEqual([
      {
        kind: 'updateCollection',
        data: {
          id: id('articles'),
          operations: [{ kind: 'updatePrimitiveField', data: { id: id('articles.title'), operations } }],
        },
      },
    ])
    expect(diff(after.records, found).operations).toEqual([])
  })

  it('that is new comes after the others, with a name of its own', () => {
    const found = withTable(data, 'articles', (one) => ({ ...one, columns: [column('author'), ...one.columns] }))

    const after = diff(blog, found)

    expect(inside(after.operations, 'articles')).toMatchObject([
      { kind: 'createPrimitiveField', data: { dbName: 'author', apiName: 'authorColumn' } },
    ])
    expect(after.records.primitiveFields.at(-1)).toMatchObject({ dbName: 'author' })
  })

  it('that is gone is deleted with its index and its relation', () => {
    const found = withTable(data, 'articles', (one) => ({
      ...one,
      columns: one.columns.filter(({ dbName }) => dbName === 'id'),
      indexes: one.indexes.filter(({ kind }) => kind === 'primary'),
      foreignKeys: [],
    }))

    const { operations } = diff(blog, found)

    expect(kinds(operations)).toEqual(['deleteRelationFieldPair', 'updateCollection'])
    expect(kinds(inside(operations, 'articles') as { kind: string }[])).toEqual([
      'deleteIndex',
      'deletePrimitiveField',
      'deletePrimitiveField',
    ])
  })

  it('keeps a default of the service only while it can hold it', () => {
    const counted = migrate(
      workspace,
      createCollection('a', [
        field('a.n', 'int32', { defaultValue: constant(5) }),
        field('a.u', 'uuid', { defaultValue: onCreate({ kind: 'uuid' }) }),
      ]),
    ).records
    const text = { name: 'string', params: { length: 'unlimited' } } as const
    const found = withTable(schemaOf(counted), 'a', (one) => ({
      ...one,
      columns: one.columns.map((column) => ({ ...column, type: text })),
    }))

    const { records: after } = diff(counted, found)

    expect(fieldOf(after, 'a.n')).toMatchObject({ defaultValue: null })
    expect(fieldOf(after, 'a.u')).toMatchObject({ defaultValue: onCreate({ kind: 'uuid' }) })
  })

  it('that may be null makes its relation nullable', () => {
    const after = diff(
      blog,
      withColumn(data, 'articles.authorId', (one) => ({ ...one, isNullable: false })),
    )

    expect(records(after).byName.get('articles')?.fields.get('author')).toMatchObject({ isNullable: false })
  })
})

describe('an index', () => {
  const withIndexes = (change: Parameters<typeof withTable>[2]) => diff(blog, withTable(data, 'articles', change))

  it('that has changed is deleted and created under its id', () => {
    const { operations } = withIndexes((one) => ({
      ...one,
      indexes: one.indexes.map((found) =>
        found.kind === 'normal' ? { ...found, kind: 'unique', columns: ['title', 'authorId'] } : found,
      ),
    }))

    expect(inside(operations, 'articles')).toEqual([
      { kind: 'deleteIndex', data: { id: id('articles_title') } },
      index('articles_title', 'unique', ['articles.title', 'articles.authorId']),
    ])
  })

  it('that is the primary key is found under any name, and without one', () => {
    const renamed = withIndexes((one) => ({
      ...one,
      indexes: one.indexes.map((found) => (found.kind === 'primary' ? { ...found, dbName: 'pk' } : found)),
    }))
    const nameless = withIndexes((one) => ({
      ...one,
      indexes: one.indexes.map((found) => (found.kind === 'primary' ? { ...found, dbName: undefined } : found)),
    }))

    expect(inside(renamed.operations, 'articles')).toEqual([
      { kind: 'deleteIndex', data: { id: id('articles_pkey') } },
      index('articles_pkey', 'primary', ['articles.id'], { dbName: 'pk' }),
    ])
    expect(nameless.operations).toEqual([])
  })

  it('that the database made for a foreign key is no change', () => {
    const implied = { dbName: 'author', kind: 'normal', columns: ['authorId'], isImplied: true } as const

    expect(withIndexes((one) => ({ ...one, indexes: [...one.indexes, implied] })).operations).toEqual([])
  })
})

describe('a foreign key', () => {
  const withKeys = (change: Parameters<typeof withTable>[2]) => diff(blog, withTable(data, 'articles', change))

  it('with other actions is updated', () => {
    const { operations, records: after } = withKeys((one) => ({
      ...one,
      foreignKeys: one.foreignKeys.map((key) => ({ ...key, onDelete: 'setNull' })),
    }))

    expect(operations).toEqual([
      {
        kind: 'updateRelationFieldPair',
        data: {
          firstFieldId: id('author.first'),
          secondFieldId: id('author.second'),
          operations: [{ kind: 'changeReferentialActions', data: { onDelete: 'setNull', onUpdate: 'noAction' } }],
        },
      },
    ])
    expect(after.relationFields).toEqual(blog.relationFields)
  })

  it('that points elsewhere is another relation, and may have the old name', () => {
    const { operations, records: after } = withKeys((one) => ({
      ...one,
      foreignKeys: one.foreignKeys.map((key) => ({ ...key, references: { ...key.references, columns: ['email'] } })),
    }))

    expect(kinds(operations)).toEqual(['deleteRelationFieldPair', 'createRelationFieldPair'])
    expect(after.relationFields.map(({ id: fieldId, apiName }) => [fieldId, apiName])).toEqual([
      [id('new 1'), 'author'],
      [id('new 2'), 'articles'],
    ])
  })

  it('that is gone takes the relation with it', () => {
    expect(kinds(withKeys((one) => ({ ...one, foreignKeys: [] })).operations)).toEqual(['deleteRelationFieldPair'])
  })

  it('is taken off and put back under its ids where its fields change their type', () => {
    const text = { name: 'string', params: { length: 'unlimited' } } as const
    const one = withColumn(data, 'articles.authorId', (found) => ({ ...found, type: text }))
    const both = withColumn(one, 'people.id', (found) => ({ ...found, type: text, defaultKind: 'none' }))

    const { operations, records: after } = diff(blog, both)

    expect(kinds(operations)).toEqual([
      'deleteRelationFieldPair',
      'updateCollection',
      'updateCollection',
      'createRelationFieldPair',
    ])
    expect(after.relationFields).toEqual(blog.relationFields)
  })

  it('whose columns are unique is to one, and a list again when they are not', () => {
    const unique = { dbName: 'one_article', kind: 'unique', columns: ['authorId'], isImplied: false } as const
    const single = withTable(schemaOf(blog), 'articles', (one) => ({ ...one, indexes: [...one.indexes, unique] }))
    const imported = diff(workspace, single).records
    const opposite = () => imported.relationFields.find(({ constraintId }) => constraintId === null)

    const after = diff(imported, data)

    expect(opposite()).toMatchObject({ isList: false, isNullable: true })
    expect(kinds(after.operations)).toEqual(['deleteRelationFieldPair', 'updateCollection', 'createRelationFieldPair'])
    expect(after.records.relationFields.find(({ id: fieldId }) => fieldId === opposite()?.id)).toMatchObject({
      isList: true,
      isNullable: false,
    })
    expect(diff(blog, single).records.relationFields).toEqual(blog.relationFields)
  })

  it('of several columns, to its own table, and twice to another, gets names that tell them apart', () => {
    const place = { schema: 'service_shop_data', dbName: 'people' }
    const key = (dbName: string, columns: readonly string[], target: string, referenced: readonly string[]) => ({
      dbName,
      columns,
      references: { ...place, dbName: target, columns: referenced },
      onDelete: 'noAction' as const,
      onUpdate: 'noAction' as const,
    })
    const stays = table('stays', [column('id'), column('guestId'), column('hostId'), column('a'), column('b')], {
      foreignKeys: [
        key('k1', ['guestId'], 'people', ['id']),
        key('k2', ['hostId'], 'people', ['id']),
        key('k3', ['a', 'b'], 'stays', ['b', 'a']),
        key('k4', ['id'], 'nowhere', ['id']),
      ],
    })

    const model = records(diff(blog, { ...data, tables: [...data.tables, stays] }))

    expect(model.byName.get('stays')?.relations.map(({ apiName }) => apiName)).toEqual([
      'guest',
      'host',
      'stays',
      'staysByStays',
    ])
    expect(model.byName.get('people')?.relations.map(({ apiName }) => apiName)).toEqual([
      'authorBack',
      'staysByGuest',
      'staysByHost',
    ])
  })
})
