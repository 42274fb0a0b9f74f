import { expect, it } from 'vitest'
import { compileManifest } from '../../src/core/manifest.ts'
import { buildModel, type Model, type ModelRecords, noRecords } from '../../src/core/model/model.ts'
import { systemRecords } from '../../src/core/model/system.ts'
import { atOnce } from '../../src/core/parts.ts'
import { build } from '../support/data/build.ts'
import { readBack } from './manifest/read-back.ts'

const blog = build.model(
  {
    authors: { id: 'int64', name: 'string(80)', tags: 'string[]?' },
    posts: { id: 'int64', title: 'string', authorId: 'int64', editorId: 'int64?' },
  },
  ['posts.author(authorId) -> authors.posts', 'posts.editor(editorId) -> authors'],
)

it('pools names, types and fields', () => {
  const model = changed(build.model({ switches: { id: 'uuid', isOn: 'boolean?' } }), (records) => ({
    namespaces: [{ id: 'data', sourceId: 'main', dbName: 'shop', isSystem: false }],
    collections: records.collections.map((collection) => ({
      ...collection,
      namespaceId: 'data',
      dbName: 'switch',
      isReadOnly: true,
    })),
  }))

  expect(atOnce(compileManifest(model))).toEqual({
    formatVersion: 1,
    strings: [
      ...['main', 'postgres', 'shop', 'switches', 'switch', 'id', 'isOn', 'switches_pkey', 'ServiceMeta', 'totalCount'],
      ...['totalEstimate', 'cursor', 'totalCount,cursor', 'totalEstimate,cursor'],
      ...['switchesCollectionOutput', 'switchesFilterInput', '_and', '_or', '_not', 'ServiceSortDirection', 'asc'],
      ...['desc', 'ServiceSortNulls', 'first', 'last', 'SortFieldOptions', 'direction', 'nulls'],
      ...[
        'switchesSortSpecifier',
        'switchesListArguments',
        'filter',
        'sort',
        'limit',
        'offset',
        'after',
        'before',
        'meta',
      ],
      ...['switchesReadArguments', 'key', 'UuidFilterPrimitiveInput', '_eq', '_neq', '_in', '_nin'],
      ...['BooleanFilterNullablePrimitiveInput', '_null'],
    ],
    primitiveTypes: [
      { name: 'uuid' },
      { name: 'boolean' },
      { name: 'int32' },
      { name: 'int64' },
      { name: 'string', params: { length: 'unlimited' } },
    ],
    serviceSchema: {
      sources: [{ id: 'main', name: 0, provider: 1 }],
      namespaces: [{ id: 'data', dbName: 2, source: 0 }],
      collections: [
        {
          id: 'switches',
          apiName: 3,
          dbName: 4,
          source: 0,
          namespace: 0,
          isReadonly: true,
          canAggregate: true,
          primitiveFields: [
            { id: 'switches.id', apiName: 5, type: 0 },
            { id: 'switches.isOn', apiName: 6, type: 1, isNullable: true },
          ],
          relationFields: [],
          indexes: [{ id: 'switches_pkey', dbName: 7, kind: 'primary', fields: [0] }],
        },
      ],
    },
    querySchema: {
      operations: [
        ['readMany', 3, 3, '[o0]'],
        ['readOne', 3, 4, 'o0'],
      ],
      inputFields: [
        { type: '[i0]', optional: true },
        { type: 'i0', optional: true },
        { type: 'i5', optional: true, kind: 'primitive', secondaryTypes: ['p0'] },
        { type: 'i6', optional: true, kind: 'primitive', secondaryTypes: ['p1?'] },
        { type: 'e1', optional: true },
        { type: 'e2', optional: true },
        { type: 'i1', optional: true },
        { type: '[i2]', optional: true },
        { type: 'p2', optional: true },
        { type: 'p3', optional: true },
        { type: 'p4', optional: true },
        { type: 'e0', optional: true },
        { type: 'p0' },
        { type: 'p0', optional: true },
        { type: '[p0]', optional: true },
        { type: 'p1?', optional: true },
        { type: 'p1', optional: true },
      ],
      outputFields: [{ type: 'p0' }, { type: 'p1?' }],
      inputObjectTypes: [
        { name: 15, fields: [16, 0, 17, 0, 18, 1, 5, 2, 6, 3] },
        { name: 25, fields: [26, 4, 27, 5] },
        { name: 28, fields: [5, 6, 6, 6], constraints: { atMostOneField: true, atLeastOneField: true } },
        { name: 29, fields: [30, 1, 31, 7, 32, 8, 33, 9, 34, 10, 35, 10, 36, 11] },
        { name: 37, fields: [38, 12, 30, 1] },
        { name: 39, fields: [40, 13, 41, 13, 42, 14, 43, 14] },
        { name: 44, fields: [40, 15, 41, 15, 45, 16] },
      ],
      outputObjectTypes: [{ name: 14, fields: [5, 0, 6, 1] }],
      enumTypes: [
        { name: 8, values: [9, 10, 11, 12, 13] },
        { name: 19, values: [20, 21] },
        { name: 22, values: [23, 24] },
      ],
    },
  })
})

it('lists the operations of a collection with a key of one column', () => {
  const { operations } = readBack(atOnce(compileManifest(blog)))

  expect(operations.filter((operation) => operation.includes(' posts('))).toEqual([
    'readMany posts(postsListArguments): [postsCollectionOutput]',
    'create posts(postsCreateArguments): [postsCollectionOutput]',
    'updateMany posts(postsUpdateArguments): [postsCollectionOutput]',
    'deleteMany posts(postsDeleteArguments): [postsCollectionOutput]?',
    'readOne posts(postsReadArguments): postsCollectionOutput',
    'updateOne posts(postsUpdateOneArguments): postsCollectionOutput',
    'deleteOne posts(postsDeleteOneArguments): postsCollectionOutput?',
  ])
})

it('lists no operation by key where there is no key of one column', () => {
  const model = changed(build.model({ notes: { id: 'int64' } }), () => ({ indexes: [] }))

  expect(readBack(atOnce(compileManifest(model))).operations).toEqual([
    'readMany notes(notesListArguments): [notesCollectionOutput]',
    'create notes(notesCreateArguments): [notesCollectionOutput]',
    'updateMany notes(notesUpdateArguments): [notesCollectionOutput]',
    'deleteMany notes(notesDeleteArguments): [notesCollectionOutput]?',
  ])
})

it('is that of a smaller model for some collections', () => {
  const smaller = build.model({ authors: { id: 'int64', name: 'string(80)', tags: 'string[]?' } })
  const authors = new Set([...blog.collections.values()].filter(({ apiName }) => apiName === 'authors'))

  expect(atOnce(compileManifest(blog, undefined, authors))).toEqual(atOnce(compileManifest(smaller)))
  expect(atOnce(compileManifest(blog, undefined, new Set(blog.collections.values())))).toEqual(
    atOnce(compileManifest(blog)),
  )
})

it('holds the system collections, to be read only but for names, views and files', () => {
  const records: ModelRecords = {
    ...noRecords,
    sources: [{ id: 'system', apiName: '_system', provider: 'postgres' }],
    namespaces: [{ id: 'meta', sourceId: 'system', dbName: 'service_shop_meta', isSystem: true }],
  }
  const manifest = atOnce(compileManifest(buildModel(1, records, systemRecords('system', 'meta'))))

  const { collections } = manifest.serviceSchema
  expect(collections.map(({ isSystem, isReadonly, namespace }) => [isSystem, isReadonly, namespace])).toEqual(
    collections.map((_, index) => [true, index < collections.length - 4 ? true : undefined, 0]),
  )
  expect(readBack(manifest).operations.filter((operation) => operation.includes(' ServiceIndexField('))).toEqual([
    'readMany ServiceIndexField(ServiceIndexFieldListArguments): [ServiceIndexFieldCollectionOutput]',
    'readOne ServiceIndexField(ServiceIndexFieldReadArguments): ServiceIndexFieldCollectionOutput',
  ])
  const written = manifest.querySchema.operations.filter(([kind]) => kind === 'create')
  expect(written.map(([, name]) => manifest.strings[Number(name)])).toEqual([
    'ServiceCollectionMeta',
    'ServiceFieldMeta',
    'ServiceView',
  ])
})

it('answers a to-one as an item, a to-many as a list, each with the arguments that it takes', () => {
  const { inputs, outputs } = readBack(atOnce(compileManifest(blog)))

  expect(outputs.get('postsCollectionOutput')?.fields).toEqual({
    id: 'int64',
    title: 'string',
    authorId: 'int64',
    editorId: 'int64?',
    author: 'authorsCollectionOutput',
    editor: 'authorsCollectionOutput?(postseditorRelationFieldArguments)',
  })
  expect(outputs.get('authorsCollectionOutput')?.fields).toEqual({
    id: 'int64',
    name: 'string(80)',
    tags: '[string?]?',
    posts: 'postsCollectionListOutput(authorspostsRelationFieldArguments)',
  })
  expect(outputs.get('postsCollectionListOutput')?.fields).toEqual({
    data: '[postsCollectionOutput]',
    meta: 'ServiceCursors',
    aggregate: 'ServiceAggregated',
  })
  expect(inputs.get('postseditorRelationFieldArguments')?.fields).toEqual({ _filter: 'authorsFilterInput optional' })
  expect(inputs.get('authorspostsRelationFieldArguments')?.fields).toEqual({
    _filter: 'postsFilterInput optional',
    _sort: '[postsSortSpecifier] optional',
    _limit: 'int32 optional',
    _offset: 'int64 optional',
    _after: 'string optional',
    _meta: 'cursor optional',
    _aggregate: 'ServiceAggregates optional',
  })
})

it('filters a field by its operators or a bare value, a relation by quantifiers or a bare filter', () => {
  const { inputs } = readBack(atOnce(compileManifest(blog)))

  expect(inputs.get('authorsFilterInput')?.fields).toEqual({
    _and: '[authorsFilterInput] optional',
    _or: '[authorsFilterInput] optional',
    _not: 'authorsFilterInput optional',
    id: 'Int64FilterPrimitiveInput or int64 optional',
    name: 'StringFilterPrimitiveInput or string optional',
    tags: 'StringListFilterNullablePrimitiveInput optional',
    posts: 'postsFilterQuantifierInput or postsFilterInput optional',
  })
  expect(inputs.get('Int64FilterNullablePrimitiveInput')?.fields).toEqual({
    _eq: 'int64? optional',
    _neq: 'int64? optional',
    _lt: 'int64 optional',
    _lte: 'int64 optional',
    _gt: 'int64 optional',
    _gte: 'int64 optional',
    _in: '[int64?] optional',
    _nin: '[int64?] optional',
    _between: '[int64] optional',
    _nbetween: '[int64] optional',
    _null: 'boolean optional',
  })
  expect(inputs.get('StringListFilterNullablePrimitiveInput')?.fields).toEqual({
    _has: 'string optional',
    _has_any: '[string] optional',
    _has_all: '[string] optional',
    _empty: 'boolean optional',
    _null: 'boolean optional',
  })
})

it('takes a foreign key by its column or through the relation, one of them where it is required', () => {
  const { inputs } = readBack(atOnce(compileManifest(blog)))

  expect(inputs.get('postsCreateInput')).toEqual({
    fields: {
      id: 'int64',
      title: 'string',
      authorId: 'int64 optional',
      editorId: 'int64? optional',
      author: 'postsauthorCreateRelatedInput optional',
      editor: 'postseditorCreateRelatedInput optional',
    },
    constraints: {
      atLeastOneOf: [['authorId', 'author']],
      excludes: [
        ['author', 'authorId'],
        ['editor', 'editorId'],
      ],
    },
  })
})

it('leaves the way back out of an item that is created in another', () => {
  const { inputs } = readBack(atOnce(compileManifest(blog)))

  expect(inputs.get('authorspostsCreateRelatedWithoutTypeInput')).toEqual({
    fields: {
      id: 'int64',
      title: 'string',
      editorId: 'int64? optional',
      editor: 'postseditorCreateRelatedInput optional',
    },
    constraints: { excludes: [['editor', 'editorId']] },
  })
  expect(inputs.get('postsauthorCreateRelatedWithoutTypeInput')?.fields).not.toHaveProperty('posts')
})

it('changes relations of one item by operations, and none where many items change', () => {
  const { inputs } = readBack(atOnce(compileManifest(blog)))

  expect(inputs.get('authorsUpdateDataInput')?.fields).toEqual({
    id: 'int64 optional',
    name: 'string(80) optional',
    tags: '[string?]? or ListChangeInput optional',
    posts: '[authorspostsUpdateManyRelatedOperationsInput] optional',
  })
  expect(inputs.get('authorsUpdateManyDataInput')?.fields).not.toHaveProperty('posts')
  expect(inputs.get('authorspostsUpdateManyRelatedOperationsInput')).toEqual({
    fields: {
      _connect: 'authorspostsConnectInput optional',
      _create: 'authorspostsCreateArguments optional',
      _update: 'postsUpdateManyInput optional',
      _delete: 'postsDeleteInput optional',
    },
    constraints: { atMostOneField: true, atLeastOneField: true },
  })
  expect(inputs.get('authorspostsConnectBackwardKeysInput')).toEqual({
    fields: { id: 'int64 optional' },
    constraints: { exactlyOneSetOf: [['id']] },
  })
})

it('gives types whose names meet different names', () => {
  const model = build.model(
    { a: { id: 'int64' }, ab: { id: 'int64', cId: 'int64' }, abc: { id: 'int64', xId: 'int64' } },
    ['ab.c(cId) -> a.x', 'abc.x(xId) -> a.bc'],
  )
  const manifest = atOnce(compileManifest(model))

  const names = manifest.querySchema.inputObjectTypes.map(({ name }) => manifest.strings[name])
  expect(names).toContain('abcCreateArguments')
  expect(names).toContain('abcCreateArguments2')
  expect(names.length).toBe(new Set(names).size)
})

function changed(model: Model, change: (records: ModelRecords) => Partial<ModelRecords>): Model {
  return buildModel(1, { ...model.records, ...change(model.records) })
}
