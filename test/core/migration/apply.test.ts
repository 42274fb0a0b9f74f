import { describe, expect, it } from 'vitest'
import { applyOperations } from '../../../src/core/migration/apply.ts'
import { parseMigration } from '../../../src/core/migration/operation.ts'
import { buildModel, type ModelRecords } from '../../../src/core/model/model.ts'
import { atOnce } from '../../../src/core/parts.ts'
import type { Change } from '../../../src/core/sql/ddl/change.ts'
import { mariadb } from '../../../src/core/sql/mysql/dialect.ts'
import { postgres } from '../../../src/core/sql/postgres/dialect.ts'
import {
  autoincrement,
  blog,
  constant,
  context,
  createCollection,
  deleteCollection,
  deleteField,
  deleteIndex,
  field,
  id,
  index,
  type Json,
  messagesOf,
  migrate,
  onCreate,
  refusal,
  relation,
  toApiName,
  toDbName,
  toDefault,
  toNullable,
  toType,
  updateCollection,
  updateField,
  workspace,
} from './build.ts'

const exactNumber = (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON
const JSON_NUMBER = exactNumber('750727362669608961')

const data = 'service_shop_data'
const articles = { schema: data, dbName: 'articles' }
const people = { schema: data, dbName: 'people' }
const changesOf = (records: typeof blog, ...operations: readonly Json[]): readonly Change[] =>
  migrate(records, ...operations).changes.map(({ change }) => change)
const fieldOf = (records: typeof blog, name: string) => records.primitiveFields.find((record) => record.id === id(name))
const relationOf = (records: typeof blog, name: string) =>
  records.relationFields.find((record) => record.id === id(name))
const column = (dbName: string, name: string, more: Json = {}) => ({
  dbName,
  type: { name },
  isList: false,
  isNullable: false,
  isAutoincrement: false,
  ...more,
})
const pair = { firstFieldId: id('author.first'), secondFieldId: id('author.second') }
const updatePair = (...operations: readonly Json[]) => ({
  kind: 'updateRelationFieldPair',
  data: { ...pair, operations },
})
const deletePair = { kind: 'deleteRelationFieldPair', data: pair }

describe('a collection', () => {
  it('is created with its fields, its key and its other indexes', () => {
    const { records, changes } = migrate(
      workspace,
      createCollection('people', [
        index('people_pkey', 'primary', ['people.id']),
        index('people_age', 'normal', ['people.age']),
        field('people.id', 'int64', { defaultValue: autoincrement }),
        field('people.age', 'int16', { isNullable: true }),
      ]),
    )

    expect(records.collections).toEqual([
      {
        id: id('people'),
        sourceId: id('_system'),
        namespaceId: id('data'),
        dbName: 'people',
        apiName: 'people',
        isReadOnly: false,
        isSystem: false,
        isView: false,
      },
    ])
    expect(changes).toEqual([
      {
        sourceId: id('_system'),
        operation: 0,
        change: {
          kind: 'createTable',
          table: people,
          columns: [column('id', 'int64', { isAutoincrement: true }), column('age', 'int16', { isNullable: true })],
          primaryKey: { dbName: 'people_pkey', kind: 'primary', columns: ['id'] },
        },
      },
      {
        sourceId: id('_system'),
        operation: 0,
        change: {
          kind: 'createIndex',
          table: people,
          index: { dbName: 'people_age', kind: 'normal', columns: ['age'] },
        },
      },
    ])
  })

  it('gets the names that were left out', () => {
    const { records } = migrate(
      workspace,
      createCollection(
        'a',
        [
          field('a.x', 'string', { dbName: '2nd naïve', apiName: undefined }),
          index('i', 'unique', ['a.x'], { dbName: undefined }),
        ],
        {
          dbName: 'my articles',
          apiName: undefined,
        },
      ),
      createCollection('b', [], { dbName: 'my-articles', apiName: undefined }),
    )

    expect(records.collections.map(({ apiName }) => apiName)).toEqual(['my_articles', 'my_articles_2'])
    expect(records.primitiveFields.map(({ apiName }) => apiName)).toEqual(['n2nd_na_ve'])
    expect(records.indexes.map(({ dbName }) => dbName)).toEqual(['my articles_2nd naïve_key'])
  })

  it('is renamed in the interface and in the database', () => {
    const { records, changes } = migrate(
      blog,
      updateCollection('articles', toApiName('posts'), toDbName('post'), deleteIndex('articles_title')),
    )

    expect(records.collections[1]).toMatchObject({ apiName: 'posts', dbName: 'post' })
    expect(changes.map(({ change }) => change)).toEqual([
      { kind: 'dropIndex', table: articles, index: { dbName: 'articles_title', kind: 'normal', columns: ['title'] } },
      { kind: 'renameTable', table: articles, to: 'post' },
    ])
  })

  it('is deleted with everything in it', () => {
    const { records, changes } = migrate(blog, deletePair, deleteCollection('people'), deleteCollection('articles'))

    expect(records).toEqual(workspace)
    expect(changes.map(({ change }) => change.kind)).toEqual(['dropForeignKey', 'dropTable', 'dropTable'])
  })

  it('is deleted with its relations to itself', () => {
    const { records } = migrate(
      workspace,
      createCollection('pages', [
        field('pages.id', 'uuid'),
        field('pages.parentId', 'uuid', { isNullable: true }),
        index('pages_pkey', 'primary', ['pages.id']),
      ]),
      relation('parent', ['pages.parentId'], ['pages.id']),
      deleteCollection('pages'),
    )

    expect(records).toEqual(workspace)
  })

  it('leaves its names and ids free for a new one', () => {
    const { records } = migrate(
      blog,
      deletePair,
      deleteCollection('articles'),
      createCollection('articles', [field('articles.id', 'uuid')]),
    )

    expect(records.collections.map(({ apiName }) => apiName)).toEqual(['people', 'articles'])
  })

  it.each<[string, readonly Json[], string]>([
    [
      'an unknown source',
      [createCollection('a', [], { sourceId: id('?') })],
      `operations[0] > unknown source ${id('?')}`,
    ],
    [
      'a source without migrations',
      [createCollection('a', [], { sourceId: id('search') })],
      'operations[0] > the source search does not support migrations',
    ],
    [
      'an unknown namespace',
      [createCollection('a', [], { namespaceId: id('?') })],
      `operations[0] > unknown namespace ${id('?')}`,
    ],
    [
      'a namespace of another source',
      [createCollection('a', [], { namespaceId: id('crm public') })],
      'operations[0] > the namespace public belongs to another source',
    ],
    [
      'a system namespace',
      [createCollection('a', [], { namespaceId: id('meta') })],
      'operations[0] > the namespace service_shop_meta is a system namespace',
    ],
    [
      'an id in use',
      [createCollection('a', [], { id: id('articles.title') })],
      `operations[0] > the id ${id('articles.title')} is in use`,
    ],
    [
      'an id of the service',
      [createCollection('a', [], { id: '00000000-0000-0000-0000-000000000001' })],
      'operations[0] > the id 00000000-0000-0000-0000-000000000001 is in use',
    ],
    [
      'an API name in use',
      [createCollection('a'), createCollection('b', [], { apiName: 'articles' })],
      'operations[1] > there is already a collection articles',
    ],
    [
      'the name of a system collection',
      [createCollection('a', [], { apiName: 'ServiceIndex' })],
      'operations[0] > there is already a collection ServiceIndex',
    ],
    [
      'a table name in use',
      [createCollection('a', [], { dbName: 'articles' })],
      'operations[0] > there is already a table articles',
    ],
    [
      'an API name in use, on a change',
      [updateCollection('people', toApiName('articles'))],
      'operations[0] > there is already a collection articles',
    ],
    [
      'a table name in use, on a change',
      [updateCollection('people', toDbName('articles'))],
      'operations[0] > there is already a table articles',
    ],
    ['an unknown collection', [updateCollection('a')], `operations[0] > unknown collection ${id('a')}`],
    [
      'the same deletion again',
      [deletePair, deleteCollection('people'), deleteCollection('people')],
      `operations[2] > unknown collection ${id('people')}`,
    ],
    [
      'a deletion of what others point at',
      [deleteCollection('people')],
      'operations[0] > the collection people is related to articles',
    ],
    [
      'a deletion of what points at others',
      [deleteCollection('articles')],
      'operations[0] > the collection articles is related to people',
    ],
  ])('is refused: %s', (_name, operations, reason) => {
    expect(refusal(blog, ...operations)).toBe(reason)
  })

  it('may have the table name of another schema', () => {
    const { records } = migrate(
      blog,
      createCollection('a', [], { sourceId: id('crm'), namespaceId: id('crm public'), dbName: 'articles' }),
    )

    expect(records.collections).toHaveLength(3)
  })

  it.each<[string, Json, string]>([
    ['read-only', { isReadOnly: true }, 'the collection articles is read-only'],
    ['of the system', { isSystem: true }, 'the collection articles is a system collection'],
  ])('that is %s cannot be changed', (_name, more, reason) => {
    const records = { ...blog, collections: blog.collections.map((record) => ({ ...record, ...more })) }

    expect(refusal(records, updateCollection('articles'))).toBe(`operations[0] > ${reason}`)
    expect(refusal(records, deleteCollection('articles'))).toBe(`operations[0] > ${reason}`)
    expect(refusal(records, relation('x', ['articles.authorId'], ['people.id']))).toBe(`operations[0] > ${reason}`)
  })
})

describe('a field', () => {
  const add = (type: string | Json, more: Json = {}) => updateCollection('articles', field('articles.x', type, more))

  it('is added to a table', () => {
    const { records, changes } = migrate(blog, add('boolean', { isNullable: true }))

    expect(fieldOf(records, 'articles.x')).toEqual({
      id: id('articles.x'),
      collectionId: id('articles'),
      dbName: 'x',
      apiName: 'x',
      type: { name: 'boolean' },
      isNullable: true,
      isList: false,
      isLoose: false,
      native: null,
      isReadOnly: false,
      defaultValue: null,
    })
    expect(changes.map(({ change }) => change)).toEqual([
      { kind: 'addColumn', table: articles, column: column('x', 'boolean', { isNullable: true }), backfill: undefined },
    ])
  })

  it.each<[Json, string, unknown]>([
    [constant(7), 'int32', { kind: 'static', text: '7' }],
    [onCreate({ kind: 'now' }), 'date', { kind: 'now' }],
    [onCreate({ kind: 'uuid' }), 'uuid', { kind: 'uuid' }],
    [autoincrement, 'int32', undefined],
  ])('fills the rows that exist: %j', (defaultValue, type, backfill) => {
    expect(changesOf(blog, add(type, { defaultValue }))).toMatchObject([{ kind: 'addColumn', backfill }])
  })

  it.each([
    ['decimal', '12345678901234567890.120', '12345678901234567890.120'],
    ['decimal', '1e3', '1000'],
    ['decimal', '1.5', 1.5],
    ['int64', '1e3', 1000],
    ['float64', '0.1234567890123456789', 0.12345678901234568],
    ['json', '1.50', 1.5],
  ])('keeps the digits of a default: %s %s', (type, number, kept) => {
    const sent = exactNumber(number)

    const { records } = migrate(blog, add(type, { defaultValue: constant(sent) }))

    expect(records.primitiveFields.at(-1)?.defaultValue).toEqual(constant(kept))
  })

  it('leaves existing rows empty where it may be null', () => {
    expect(changesOf(blog, add('int32', { defaultValue: constant(7), isNullable: true }))).toMatchObject([
      { backfill: undefined },
    ])
  })

  it('is changed in everything at once', () => {
    const change = updateField(
      'articles.title',
      toApiName('heading'),
      toDbName('heading_text'),
      toType({ name: 'string', params: { length: 'fixed', value: 20 } }),
      toNullable(true),
      toDefault(constant('Untitled')),
    )

    const { records, changes } = migrate(blog, updateCollection('articles', change))

    const from = { name: 'string', params: { length: 'unlimited' } }
    const type = { name: 'string', params: { length: 'fixed', value: 20 } }
    const after = column('heading_text', 'string', { type, isNullable: true })
    expect(fieldOf(records, 'articles.title')).toMatchObject({
      apiName: 'heading',
      dbName: 'heading_text',
      type,
      isNullable: true,
      defaultValue: constant('Untitled'),
    })
    expect(changes.map((entry) => entry.change)).toEqual([
      { kind: 'renameColumn', table: articles, column: 'title', to: 'heading_text' },
      { kind: 'changeColumnType', table: articles, column: after, from, conversion: 'assign' },
      { kind: 'setNullable', table: articles, column: after },
      {
        kind: 'changeInitial',
        table: articles,
        column: { ...after, initial: { kind: 'static', text: 'Untitled' } },
      },
    ])
  })

  it('that is reshaped loses its default before, and has it again afterwards', () => {
    const { records } = migrate(
      blog,
      updateCollection('articles', updateField('articles.title', toDefault(constant('x')))),
    )
    const held = column('title', 'string', {
      type: { name: 'string', params: { length: 'unlimited' } },
      initial: { kind: 'static', text: 'x' },
    })

    expect(changesOf(records, updateCollection('articles', updateField('articles.title', toNullable(true))))).toEqual([
      { kind: 'changeInitial', table: articles, column: { ...held, initial: undefined } },
      { kind: 'setNullable', table: articles, column: { ...held, isNullable: true, initial: undefined } },
      { kind: 'changeInitial', table: articles, column: { ...held, isNullable: true } },
    ])
  })

  it('changes only its record where the database has no part in it', () => {
    expect(
      changesOf(
        blog,
        updateCollection(
          'articles',
          updateField('articles.title', toApiName('x'), toDefault(constant('x'.repeat(4_001)))),
        ),
      ),
    ).toEqual([])
  })

  it('begins and ends to count in the database', () => {
    const stop = updateField('people.id', toDefault(null))
    const start = updateField('people.id', toDefault(autoincrement))
    const indexNames = ['people_pkey', 'people_email']

    expect(changesOf(blog, updateCollection('people', stop, start))).toEqual([
      { kind: 'setDefault', table: people, column: column('id', 'int64'), indexNames },
      { kind: 'setDefault', table: people, column: column('id', 'int64', { isAutoincrement: true }), indexNames },
    ])
  })

  it('is deleted', () => {
    const { records, changes } = migrate(
      blog,
      updateCollection('articles', deleteField('articles.title'), deleteIndex('articles_title')),
    )

    expect(fieldOf(records, 'articles.title')).toBeUndefined()
    expect(changes.map(({ change }) => change.kind)).toEqual(['dropIndex', 'dropColumn'])
  })

  it('that carries a foreign key makes its relation nullable or not', () => {
    const { records } = migrate(blog, updateCollection('articles', updateField('articles.authorId', toNullable(false))))

    expect(relationOf(blog, 'author.first')?.isNullable).toBe(true)
    expect(relationOf(records, 'author.first')?.isNullable).toBe(false)
  })

  const changed = (path: string, ...changes: readonly Json[]) =>
    updateCollection('articles', updateField(path, ...changes))

  it.each<[string, Json, string]>([
    [
      'an id in use',
      updateCollection('articles', field('articles.id', 'uuid', { dbName: 'x', apiName: 'x' })),
      `the id ${id('articles.id')} is in use`,
    ],
    ['an API name in use', add('string', { apiName: 'title' }), 'the collection articles already has a field title'],
    [
      'the API name of a relation',
      add('string', { apiName: 'author' }),
      'the collection articles already has a field author',
    ],
    ['a column in use', add('string', { dbName: 'title' }), 'the collection articles already has a column title'],
    [
      'an API name in use, on a change',
      changed('articles.title', toApiName('id')),
      'the collection articles already has a field id',
    ],
    [
      'a column in use, on a change',
      changed('articles.title', toDbName('id')),
      'the collection articles already has a column id',
    ],
    [
      'a field of another collection',
      changed('people.id', toApiName('x')),
      `the collection articles has no field ${id('people.id')}`,
    ],
    ['an unsigned type', add('uint64'), 'PostgreSQL cannot store uint64: unsigned integers are not supported'],
    ['a type the source lacks', add('int8'), 'PostgreSQL cannot store int8'],
    [
      'a list of a type the source lacks',
      add('geometry', { isList: true }),
      'PostgreSQL cannot store lists of geometry',
    ],
    [
      'a wrong constant',
      add('int32', { defaultValue: constant('7') }),
      'invalid default value of the field x: must be an integer between -2147483648 and 2147483647',
    ],
    [
      'a null constant',
      add('int32', { defaultValue: constant(null) }),
      'invalid default value of the field x: must not be null',
    ],
    [
      'a constant that a list needs',
      add('int32', { isList: true, defaultValue: constant(7) }),
      'invalid default value of the field x: must be an array',
    ],
    [
      'a time in a number',
      add('int32', { defaultValue: onCreate({ kind: 'now' }) }),
      'invalid default value of the field x: the current time is not of type int32',
    ],
    [
      'a UUID in a short text',
      add({ name: 'string', params: { length: 'fixed', value: 35 } }, { defaultValue: onCreate({ kind: 'uuid' }) }),
      'invalid default value of the field x: a UUID is not of type string(35)',
    ],
    [
      'a JSON value with a number that JavaScript rounds',
      add('json', { defaultValue: constant({ n: [JSON_NUMBER] }) }),
      'invalid default value of the field x: holds a number that would be rounded: 750727362669608961; write it as a text',
    ],
    [
      'a text that counts',
      add('string', { defaultValue: autoincrement }),
      'invalid default value of the field x: only integers can auto-increment',
    ],
    [
      'a list that counts',
      add('int32', { isList: true, defaultValue: autoincrement }),
      'invalid default value of the field x: only integers can auto-increment',
    ],
    [
      'null that counts',
      add('int32', { isNullable: true, defaultValue: autoincrement }),
      'invalid default value of the field x: an auto-increment field must not be nullable',
    ],
    [
      'a type that its default is not of',
      changed('articles.id', toType('string'), toDefault(constant(1))),
      'invalid default value of the field id: must be a string',
    ],
    [
      'a type that would lose something',
      changed('articles.title', toType('date')),
      'values of type string cannot become date without loss',
    ],
    [
      'a type that its relation is not of',
      changed('articles.authorId', toType('string')),
      'the field authorId is used by the relation author',
    ],
    ['a key that may be null', changed('articles.id', toNullable(true)), 'the field id belongs to the primary key'],
    [
      'a deletion of an indexed field',
      updateCollection('articles', deleteField('articles.title')),
      'the field title is used by the index articles_title',
    ],
    [
      'a deletion of a foreign key',
      updateCollection('articles', deleteField('articles.authorId')),
      'the field authorId is used by the relation author',
    ],
    [
      'a deletion of nothing',
      updateCollection('articles', deleteField('articles.x')),
      `the collection articles has no field ${id('articles.x')}`,
    ],
  ])('is refused: %s', (_name, operation, reason) => {
    expect(refusal(blog, operation)).toBe(`operations[0] > ${reason}`)
  })

  it('must stay nullable while the database may have to write null into it', () => {
    const action = updatePair({ kind: 'changeReferentialActions', data: { onDelete: 'setNull' } })

    expect(refusal(blog, action, changed('articles.authorId', toNullable(false)))).toBe(
      'operations[1] > setNull: the field authorId must not be null',
    )
  })
})

describe('an index', () => {
  it('is created and deleted', () => {
    const created = index('i', 'unique', ['articles.title', 'articles.id'])
    const definition = { dbName: 'i', kind: 'unique', columns: ['title', 'id'] }

    expect(
      changesOf(blog, updateCollection('articles', created), updateCollection('articles', deleteIndex('i'))),
    ).toEqual([
      { kind: 'createIndex', table: articles, index: definition },
      // MariaDB and MySQL may drop one of which the new one begins with the columns.
      { kind: 'keepIndex', table: articles, index: { dbName: 'articles_title', kind: 'normal', columns: ['title'] } },
      { kind: 'dropIndex', table: articles, index: definition },
    ])
  })

  const add = (kind: string, fields: readonly string[], more: Json = {}) =>
    updateCollection('articles', index('i', kind, fields, more))

  it.each<[string, Json, string]>([
    [
      'fields of another collection',
      add('normal', ['people.id']),
      `the collection articles has no field ${id('people.id')}`,
    ],
    ['the same field twice', add('normal', ['articles.id', 'articles.id']), 'an index must not name a field twice'],
    ['a second primary key', add('primary', ['articles.title']), 'the collection articles has a primary key already'],
    [
      'a name in use',
      add('normal', ['articles.id'], { dbName: 'articles_title' }),
      'the collection articles already has an index articles_title',
    ],
    [
      'an id in use',
      add('normal', ['articles.id'], { id: id('people_pkey') }),
      `the id ${id('people_pkey')} is in use`,
    ],
    [
      'an index of another collection',
      updateCollection('articles', deleteIndex('people_email')),
      `the collection articles has no index ${id('people_email')}`,
    ],
    [
      'a deletion of a key that is referenced',
      updateCollection('people', deleteIndex('people_pkey')),
      'the index people_pkey is used by the relation author',
    ],
  ])('is refused: %s', (_name, operation, reason) => {
    expect(refusal(blog, operation)).toBe(`operations[0] > ${reason}`)
  })

  it.each([
    [{ isNullable: true }, 'nullable'],
    [{ isList: true }, 'list'],
  ])('of kind primary must not contain %j', (more, word) => {
    const operation = createCollection('a', [field('a.x', 'int32', more), index('i', 'primary', ['a.x'])])

    expect(refusal(workspace, operation)).toBe(`operations[0] > a primary key must not contain the ${word} field x`)
  })

  it('stays while a relation to one on both sides relies on it', () => {
    const single = migrate(
      blog,
      updateCollection('articles', index('single', 'unique', ['articles.authorId'])),
      relation('editor', ['articles.authorId'], ['people.id'], { second: { isList: false } }),
    )

    expect(refusal(single.records, updateCollection('articles', deleteIndex('single')))).toBe(
      'operations[0] > the index single is used by the relation editor',
    )
  })
})

describe('a relation', () => {
  it('is two fields and a constraint, as buildModel wants them', () => {
    const { byName } = buildModel(1, blog)

    expect(byName.get('articles')?.fields.get('author')).toMatchObject({
      isForward: true,
      isList: false,
      isNullable: true,
    })
    expect(byName.get('people')?.fields.get('authorBack')).toMatchObject({
      isForward: false,
      isList: true,
      isNullable: false,
    })
  })

  it('adds a foreign key to the side that is constrained, whichever comes first', () => {
    const swapped = relation('reviewer', ['people.id'], ['articles.authorId'], {
      first: { isConstrained: false, isList: true },
      second: { isConstrained: true, isList: false },
      onDelete: 'cascade',
      onUpdate: 'setNull',
    })

    expect(changesOf(blog, swapped)).toEqual([
      {
        kind: 'addForeignKey',
        table: articles,
        dbName: 'reviewer',
        columns: ['authorId'],
        references: { table: people, columns: ['id'] },
        onDelete: 'cascade',
        onUpdate: 'setNull',
      },
    ])
  })

  it('names the columns of a key of several in the order of that key, as MariaDB wants them', () => {
    const keyed = migrate(blog, updateCollection('people', index('both', 'unique', ['people.email', 'people.id'])))
    const pointing = relation('reviewer', ['articles.authorId', 'articles.title'], ['people.id', 'people.email'])

    expect(changesOf(keyed.records, pointing).filter(({ kind }) => kind === 'addForeignKey')).toMatchObject([
      { columns: ['title', 'authorId'], references: { columns: ['email', 'id'] } },
    ])
  })

  it('to one on both sides may be missing at the far one', () => {
    const { records } = migrate(
      blog,
      updateCollection('articles', index('single', 'unique', ['articles.authorId'])),
      relation('editor', ['articles.authorId'], ['people.id'], { second: { isList: false } }),
    )

    expect(relationOf(records, 'editor.second')).toMatchObject({ isList: false, isNullable: true })
  })

  it('changes its names and actions', () => {
    const { records, changes } = migrate(
      blog,
      updatePair(
        { kind: 'changeApiName', data: { fieldId: id('author.second'), apiName: 'articles' } },
        { kind: 'changeReferentialActions', data: { onDelete: 'cascade' } },
      ),
    )

    expect(relationOf(records, 'author.second')?.apiName).toBe('articles')
    expect(records.constraints).toMatchObject([{ onDelete: 'cascade', onUpdate: 'noAction' }])
    expect(changes.map(({ change }) => change)).toMatchObject([
      { kind: 'dropForeignKey', table: articles, dbName: 'author' },
      { kind: 'addForeignKey', table: articles, dbName: 'author', onDelete: 'cascade', onUpdate: 'noAction' },
    ])
  })

  it('is deleted, whichever side is named first', () => {
    const { records, changes } = migrate(blog, {
      kind: 'deleteRelationFieldPair',
      data: { firstFieldId: pair.secondFieldId, secondFieldId: pair.firstFieldId },
    })

    expect([records.relationFields, records.constraints]).toEqual([[], []])
    expect(changes.map(({ change }) => change)).toEqual([
      { kind: 'dropForeignKey', table: articles, dbName: 'author', columns: ['authorId'], isNamesake: false },
    ])
  })

  it('keeps the default that its foreign key writes', () => {
    const counted = updateCollection('articles', field('articles.editorNo', 'int64', { defaultValue: autoincrement }))
    const { records } = migrate(
      blog,
      counted,
      relation('editor', ['articles.editorNo'], ['people.id'], { onDelete: 'setDefault' }),
    )

    const change = updateCollection('articles', updateField('articles.editorNo', toDefault(null)))
    expect(messagesOf(() => migrate(records, change), 'unfit').at(-1)).toBe(
      'setDefault: the database has no default for the field editorNo, which must not be null',
    )
  })

  const add = (from: readonly string[], to: readonly string[], more: Parameters<typeof relation>[3] = {}) =>
    relation('x', from, to, more)
  const toKey = (more: Parameters<typeof relation>[3]) => add(['articles.authorId'], ['people.id'], more)

  it.each<[string, Json, string]>([
    ['two constrained sides', toKey({ second: { isConstrained: true } }), 'exactly one side must be constrained'],
    ['no constrained side', toKey({ first: { isConstrained: false } }), 'exactly one side must be constrained'],
    ['a constrained list', toKey({ first: { isList: true } }), 'the constrained side must not be a list'],
    [
      'unequal sides',
      add(['articles.authorId', 'articles.title'], ['people.id']),
      'both sides must name the same number of fields',
    ],
    [
      'a field twice',
      add(['articles.authorId', 'articles.authorId'], ['people.id', 'people.email']),
      'a relation must not name a field twice',
    ],
    ['an unknown collection', toKey({ second: { collectionId: id('?') } }), `unknown collection ${id('?')}`],
    [
      'a field of another collection',
      toKey({ first: { fieldIds: [id('people.id')] } }),
      `the collection articles has no field ${id('people.id')}`,
    ],
    [
      'different types',
      add(['articles.title'], ['people.id']),
      'the fields title and id are of different types (string, int64)',
    ],
    [
      'a target that is no key',
      add(['articles.title'], ['articles.title']),
      'the referenced fields of articles must be its primary key or a unique index',
    ],
    [
      'to one on both sides without a unique index',
      toKey({ second: { isList: false } }),
      'the fields of articles must be unique, since the relation is to one on both sides',
    ],
    ['an id in use', toKey({ first: { id: id('articles.id') } }), `the id ${id('articles.id')} is in use`],
    [
      'a constraint name in use',
      toKey({ relationName: 'author' }),
      'the collection articles already has a constraint author',
    ],
    [
      'the API name of a field',
      toKey({ first: { apiName: 'title' } }),
      'the collection articles already has a field title',
    ],
    [
      'the API name of a relation',
      toKey({ second: { apiName: 'authorBack' } }),
      'the collection people already has a field authorBack',
    ],
    [
      'setNull on what is never null',
      add(['articles.title'], ['people.email'], { onDelete: 'setNull' }),
      'setNull: the field title must not be null',
    ],
    [
      'setDefault without one',
      add(['articles.title'], ['people.email'], { onUpdate: 'setDefault' }),
      'setDefault: the database has no default for the field title, which must not be null',
    ],
    [
      'a change of nothing',
      {
        kind: 'updateRelationFieldPair',
        data: {
          firstFieldId: id('?'),
          secondFieldId: id('!'),
          operations: [{ kind: 'changeReferentialActions', data: {} }],
        },
      },
      `unknown relation field ${id('?')}`,
    ],
    [
      'a change of a field outside',
      updatePair({ kind: 'changeApiName', data: { fieldId: id('articles.id'), apiName: 'y' } }),
      `the pair has no field ${id('articles.id')}`,
    ],
    [
      'a new name in use',
      updatePair({ kind: 'changeApiName', data: { fieldId: id('author.first'), apiName: 'title' } }),
      'the collection articles already has a field title',
    ],
    [
      'a deletion of half a pair',
      { kind: 'deleteRelationFieldPair', data: { firstFieldId: pair.firstFieldId, secondFieldId: pair.firstFieldId } },
      'the two relation fields are not a pair',
    ],
  ])('is refused: %s', (_name, operation, reason) => {
    expect(refusal(blog, operation)).toBe(`operations[0] > ${reason}`)
  })

  it('across sources has no foreign key, and no actions that one would need', () => {
    const leads = createCollection('leads', [field('leads.personId', 'int64')], {
      sourceId: id('crm'),
      namespaceId: id('crm public'),
    })

    expect(changesOf(blog, leads, add(['leads.personId'], ['people.id'])).map(({ kind }) => kind)).toEqual([
      'createTable',
    ])
    expect(refusal(blog, leads, add(['leads.personId'], ['people.id'], { onDelete: 'cascade' }))).toBe(
      'operations[1] > no database enforces this relation, so its referential actions must be noAction',
    )
  })
})

describe('a namespace', () => {
  const create = (dbName: string, sourceId = id('_system')) => ({
    kind: 'createNamespace',
    data: { id: id(dbName), sourceId, dbName },
  })
  const remove = (name: string) => ({ kind: 'deleteNamespace', data: { id: id(name) } })

  it('is created and deleted', () => {
    const { records, changes } = migrate(workspace, create('service_shop_x'), remove('service_shop_x'))

    expect(records).toEqual(workspace)
    expect(changes.map(({ change }) => change)).toEqual([
      { kind: 'createSchema', schema: 'service_shop_x' },
      { kind: 'dropSchema', schema: 'service_shop_x' },
    ])
  })

  it('of a source of one’s own may have any name', () => {
    expect(changesOf(workspace, create('anything', id('crm')))).toEqual([{ kind: 'createSchema', schema: 'anything' }])
  })

  it.each<[string, readonly Json[], string]>([
    ['public', [create('public')], 'operations[0] > the name of the namespace must begin with service_shop_'],
    [
      'of another workspace',
      [create('service_store_x')],
      'operations[0] > the name of the namespace must begin with service_shop_',
    ],
    [
      'of a workspace whose name begins alike',
      [create('service_shop_b_data')],
      'operations[0] > the name of the namespace must not end in _meta or _data',
    ],
    [
      'that a workspace whose name begins alike may have',
      [create('service_shop_b_x')],
      'operations[0] > the name of the namespace must have no _ behind service_shop_',
    ],
    [
      'only the prefix',
      [create('service_shop_')],
      'operations[0] > the name of the namespace must begin with service_shop_',
    ],
    [
      'in use',
      [
        create('service_shop_x'),
        { kind: 'createNamespace', data: { id: id('?'), sourceId: id('_system'), dbName: 'service_shop_x' } },
      ],
      'operations[1] > there is already a namespace service_shop_x',
    ],
    ['unknown source', [create('x', id('?'))], `operations[0] > unknown source ${id('?')}`],
    ['unknown', [remove('?')], `operations[0] > unknown namespace ${id('?')}`],
    ['of the system', [remove('meta')], 'operations[0] > the namespace service_shop_meta is a system namespace'],
    ['the default', [remove('data')], 'operations[0] > the namespace service_shop_data is the default of its source'],
    [
      'with collections',
      [
        create('service_shop_x'),
        createCollection('a', [], { namespaceId: id('service_shop_x') }),
        remove('service_shop_x'),
      ],
      'operations[2] > the namespace service_shop_x holds the collection a',
    ],
  ])('is refused: %s', (_name, operations, reason) => {
    expect(refusal(workspace, ...operations)).toBe(reason)
  })
})

describe('a migration', () => {
  it('says first that it failed', () => {
    expect(messagesOf(() => migrate(blog, deleteCollection('people')), 'unfit')[0]).toBe(
      'Failed to execute the migration',
    )
  })

  it('leaves the records that it was given alone', () => {
    const before = structuredClone(blog)

    migrate(blog, deletePair, updateCollection('articles', toApiName('x'), deleteField('articles.authorId')))

    expect(blog).toEqual(before)
  })

  it('names the operation that each change comes from', () => {
    const { changes } = migrate(
      blog,
      deletePair,
      updateCollection('people', toApiName('x')),
      deleteCollection('people'),
    )

    expect(changes.map(({ operation }) => operation)).toEqual([0, 2])
  })
})

it.each([
  ['PostgreSQL', 1_600],
  ['MariaDB', 1_017],
] as const)('refuses tables of more columns than %s takes', (title, most) => {
  const dialect = { PostgreSQL: postgres, MariaDB: mariadb }[title]
  const apply = (operations: readonly Json[], records = workspace) =>
    atOnce(
      applyOperations(records, parseMigration(JSON.stringify({ operations })).operations, {
        ...context,
        dialectOf: () => dialect,
      }),
    ).records
  const fields = Array.from({ length: most + 1 }, (_, at) => field(`wide.f${at}`, 'int32'))
  const full = apply([createCollection('wide', fields.slice(1))])
  const refused = (operations: readonly Json[], records?: ModelRecords) =>
    messagesOf(() => apply(operations, records), 'unfit').at(-1)

  const message = `${title} has no tables of more than ${most} columns: wide has ${most + 1}`
  expect(refused([createCollection('wide', fields)])).toBe(message)
  expect(refused([updateCollection('wide', fields[0] as Json)], full)).toBe(message)
})

it('refuses tables without columns where the database has none', () => {
  const apply = (operations: readonly Json[], records = workspace) =>
    atOnce(
      applyOperations(records, parseMigration(JSON.stringify({ operations })).operations, {
        ...context,
        dialectOf: () => mariadb,
      }),
    ).records
  const empty = createCollection('bare')
  const filled = apply([createCollection('bare', [field('bare.id', 'int32')])])
  const refused = (operations: readonly Json[], records?: ModelRecords) =>
    messagesOf(() => apply(operations, records), 'unfit').at(-1)

  const message = 'MariaDB has no tables without columns: give bare another field first'
  expect(refused([empty])).toBe(message)
  expect(refused([updateCollection('bare', deleteField('bare.id'))], filled)).toBe(message)
  expect(migrate(workspace, empty).records.collections).toHaveLength(1)
})
