import { describe, expect, it } from 'vitest'
import { parseMigration } from '../../../src/core/migration/operation.ts'
import {
  autoincrement,
  constant,
  createCollection,
  deleteCollection,
  deleteField,
  deleteIndex,
  field,
  id,
  index,
  type Json,
  messagesOf,
  onCreate,
  relation,
  toApiName,
  toDbName,
  toDefault,
  toNullable,
  toType,
  updateCollection,
  updateField,
} from './build.ts'

const parse = (...operations: readonly unknown[]) => parseMigration(JSON.stringify({ operations })).operations
const fault = (body: unknown) => messagesOf(() => parseMigration(JSON.stringify(body)), 'invalid')
const faultOf = (operation: unknown) => fault({ operations: [operation] }).slice(1)
const pair = { firstFieldId: id('author.first'), secondFieldId: id('author.second') }
const updatePair = (...operations: readonly Json[]) => ({
  kind: 'updateRelationFieldPair',
  data: { ...pair, operations },
})
const fieldWith = (more: Json) => createCollection('a', [field('a.x', 'string', more)])
const indexWith = (more: Json) => createCollection('a', [index('i', 'normal', ['a.x'], more)])

describe('every kind of operation is accepted', () => {
  it.each<[string, Json]>([
    ['createCollection', createCollection('articles')],
    [
      'createCollection with fields and an index',
      createCollection('a', [field('a.id', 'int64'), index('i', 'primary', ['a.id'])]),
    ],
    ['createCollection in a namespace', createCollection('a', [], { namespaceId: id('data') })],
    ['createCollection without a namespace', createCollection('a', [], { namespaceId: null })],
    ['changeApiName', updateCollection('a', toApiName('b'))],
    ['changeDbName', updateCollection('a', toDbName('b'))],
    ['createPrimitiveField', updateCollection('a', field('a.x', 'string'))],
    ['createPrimitiveField with a constant', fieldWith({ defaultValue: constant('x') })],
    ['createPrimitiveField with a UUID', fieldWith({ defaultValue: onCreate({ kind: 'uuid' }) })],
    [
      'createPrimitiveField with a time',
      fieldWith({ defaultValue: { source: 'engineManaged', onUpdate: { kind: 'now' } } }),
    ],
    ['createPrimitiveField with a running number', fieldWith({ defaultValue: autoincrement })],
    ['createPrimitiveField without a default', fieldWith({ defaultValue: null })],
    ['updatePrimitiveField', updateCollection('a', updateField('a.x', toApiName('b'), toDbName('b'), toType('json')))],
    ['changeIsNullable', updateCollection('a', updateField('a.x', toNullable(true), toDefault(null)))],
    ['deletePrimitiveField', updateCollection('a', deleteField('a.x'))],
    ['createIndex', updateCollection('a', index('i', 'unique', ['a.x', 'a.y']))],
    ['deleteIndex', updateCollection('a', deleteIndex('i'))],
    ['deleteCollection', deleteCollection('a')],
    ['createRelationFieldPair', relation('author', ['a.authorId'], ['p.id'], { onDelete: 'setNull' })],
    [
      'updateRelationFieldPair, a name',
      updatePair({ kind: 'changeApiName', data: { fieldId: id('author.first'), apiName: 'x' } }),
    ],
    [
      'updateRelationFieldPair, actions',
      updatePair({ kind: 'changeReferentialActions', data: { onDelete: 'cascade' } }),
    ],
    ['deleteRelationFieldPair', { kind: 'deleteRelationFieldPair', data: pair }],
    ['createNamespace', { kind: 'createNamespace', data: { id: id('n'), sourceId: id('crm'), dbName: 'n' } }],
    ['deleteNamespace', { kind: 'deleteNamespace', data: { id: id('n') } }],
    ['createIdempotencyLedger', { kind: 'createIdempotencyLedger', data: { sourceId: id('crm') } }],
    ['deleteIdempotencyLedger', { kind: 'deleteIdempotencyLedger', data: { sourceId: id('crm') } }],
  ])('%s', (_name, operation) => {
    expect(parse(operation)).toMatchObject([{ kind: operation.kind }])
  })

  it('and filled in where something may be left out', () => {
    const [created] = parse(
      createCollection('a', [
        {
          ...field('a.x', 'string'),
          data: { id: id('a.x'), dbName: 'x', type: { name: 'string' }, isNullable: false, isList: false },
        },
      ]),
    )

    expect(created?.data).toMatchObject({
      operations: [{ data: { type: { name: 'string', params: { length: 'unlimited' } }, defaultValue: null } }],
    })
  })

  it('with ids in lower case', () => {
    const [deleted] = parse({ kind: 'deleteCollection', data: { id: id('articles').toUpperCase() } })

    expect(deleted?.data).toEqual({ id: id('articles') })
  })
})

describe('a malformed body is refused with its place and reason', () => {
  it('names the place as the specification shows it', () => {
    expect(fault({ operations: [createCollection('a', [], { dbName: '' })] })).toEqual([
      'Failed to read the JSON body',
      'operations[0]',
      'data.dbName',
      'must not be empty',
    ])
  })

  it('says when it is not JSON, without repeating it', () => {
    expect(messagesOf(() => parseMigration('{secret'), 'invalid')).toEqual([
      'Failed to read the JSON body',
      'is not JSON: line 1, column 2',
    ])
  })

  it.each<[unknown, readonly string[]]>([
    [null, ['must be an object']],
    [[], ['must be an object']],
    [{}, ['operations', 'is required']],
    [{ operations: {} }, ['operations', 'must be an array']],
    [{ operations: [], more: 1 }, ['unknown field more; allowed: operations, plan']],
    [{ operations: [deleteCollection('a'), 3] }, ['operations[1]', 'must be an object']],
    [{ operations: new Array(10_001).fill(deleteCollection('a')) }, ['operations', 'must be at most 10000']],
  ])('body %#', (body, messages) => {
    expect(fault(body).slice(1)).toEqual(messages)
  })

  const kinds =
    'must be one of createCollection, updateCollection, deleteCollection, createRelationFieldPair, updateRelationFieldPair, deleteRelationFieldPair, createManyToManyFieldPair, createNamespace, deleteNamespace, createIdempotencyLedger, deleteIdempotencyLedger'
  const apiNameRule = 'must start with a letter and contain only letters, digits and underscores'

  it.each<[string, unknown, readonly string[]]>([
    ['no kind', {}, ['kind', kinds]],
    ['unknown kind', { kind: 'dropEverything', data: {} }, ['kind', kinds]],
    ['nested kind on top', field('a.x', 'string'), ['kind', kinds]],
    ['no data', { kind: 'deleteCollection' }, ['data', 'is required']],
    ['unknown member beside data', { ...deleteCollection('a'), x: 1 }, ['unknown field x; allowed: kind, data']],
    [
      'unknown member',
      createCollection('a', [], { label: 'A' }),
      ['data', 'unknown field label; allowed: id, sourceId, namespaceId, dbName, apiName, hasHistory, operations'],
    ],
    ['bad id', { kind: 'deleteCollection', data: { id: '17' } }, ['data.id', 'must be a UUID']],
    ['empty API name', createCollection('a', [], { apiName: '' }), ['data.apiName', apiNameRule]],
    ['bad API name', createCollection('a', [], { apiName: '1st' }), ['data.apiName', apiNameRule]],
    [
      'long API name',
      createCollection('a', [], { apiName: 'a'.repeat(64) }),
      ['data.apiName', 'must have at most 63 characters'],
    ],
    [
      'long dbName',
      createCollection('a', [], { dbName: 'é'.repeat(32) }),
      ['data.dbName', 'must be at most 63 bytes long'],
    ],
    [
      'NUL in dbName',
      createCollection('a', [], { dbName: 'a\0' }),
      ['data.dbName', 'has characters that no database can store'],
    ],
    [
      'half a character in dbName',
      createCollection('a', [], { dbName: '\ud800' }),
      ['data.dbName', 'has characters that no database can store'],
    ],
    ['no operations', { ...createCollection('a', [], { operations: undefined }) }, ['data.operations', 'is required']],
    [
      'update inside create',
      createCollection('a', [deleteField('a.x')]),
      ['data.operations[0].kind', 'must be one of createPrimitiveField, createIndex'],
    ],
  ])('operation: %s', (_name, operation, messages) => {
    expect(faultOf(operation)).toEqual(['operations[0]', ...messages])
  })

  const types =
    'must be one of int8, int16, int32, int64, uint8, uint16, uint32, uint64, float32, float64, uuid, boolean, date, time, dateTime, dateTimeWithTimezone, json, bytes, geometry, string, decimal'

  it.each<[string, Json, readonly string[]]>([
    ['API name', fieldWith({ apiName: 'ä' }), ['apiName', apiNameRule]],
    ['nullability', fieldWith({ isNullable: 'yes' }), ['isNullable', 'must be true or false']],
    ['type without a name', fieldWith({ type: 'string' }), ['type', 'must be an object']],
    ['unknown type', fieldWith({ type: { name: 'text' } }), ['type.name', types]],
    [
      'length',
      fieldWith({ type: { name: 'string', params: { length: 'fixed', value: 0 } } }),
      ['type.params.value', 'must be at least 1'],
    ],
    [
      'kind of length',
      fieldWith({ type: { name: 'string', params: { length: 'short' } } }),
      ['type.params.length', 'must be one of unlimited, fixed'],
    ],
    [
      'scale',
      fieldWith({ type: { name: 'decimal', params: { precision: 1, scale: 2 } } }),
      ['type.params', 'scale must not exceed precision'],
    ],
    [
      'default without a source',
      fieldWith({ defaultValue: {} }),
      ['defaultValue.source', 'must be one of engineManaged, connectorManaged'],
    ],
    [
      'default that does nothing',
      fieldWith({ defaultValue: { source: 'engineManaged' } }),
      ['defaultValue', 'must have onCreate or onUpdate'],
    ],
    [
      'constant without a value',
      fieldWith({ defaultValue: onCreate({ kind: 'static' }) }),
      ['defaultValue.onCreate.valueEncoded', 'is required'],
    ],
    [
      'no running number',
      fieldWith({ defaultValue: { ...autoincrement, isAutoincrement: false } }),
      ['defaultValue.isAutoincrement', 'must be true'],
    ],
    ['kind of index', indexWith({ kind: 'fulltext' }), ['kind', 'must be one of primary, unique, normal']],
    ['index without fields', indexWith({ fieldIds: [] }), ['fieldIds', 'must not be empty']],
    ['index on no id', indexWith({ fieldIds: ['x'] }), ['fieldIds[0]', 'must be a UUID']],
  ])('nested: %s', (_name, operation, [place, reason]) => {
    expect(faultOf(operation)).toEqual(['operations[0]', `data.operations[0].data.${place}`, reason])
  })

  it('names a field change inside a field inside a collection', () => {
    expect(faultOf(updateCollection('a', updateField('a.x', { kind: 'changeIsNullable', data: {} })))).toEqual([
      'operations[0]',
      'data.operations[0].data.operations[0].data.isNullable',
      'is required',
    ])
  })

  it('names the side of a relation', () => {
    expect(faultOf(relation('author', ['a.x'], ['p.id'], { first: { apiName: '_x' } }))).toEqual([
      'operations[0]',
      'data.data.firstField.apiName',
      apiNameRule,
    ])
  })

  it('refuses a member that is named like the prototype', () => {
    expect(messagesOf(() => parseMigration('{"operations": [], "__proto__": 1}'), 'invalid')).toContain(
      'unknown field __proto__; allowed: operations, plan',
    )
  })
})
