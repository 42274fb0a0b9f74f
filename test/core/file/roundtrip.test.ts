/** A file becomes a model, and the model the same file again. */
import { expect, it } from 'vitest'
import { parseExactJson } from '../../../src/core/exact-json.ts'
import { exportModel } from '../../../src/core/file/export/model.ts'
import { operationsBetween } from '../../../src/core/file/operations.ts'
import { resolveNames } from '../../../src/core/file/presentation/names.ts'
import { printModelFile } from '../../../src/core/file/print.ts'
import { readModelFile } from '../../../src/core/file/read.ts'
import { resolveFile } from '../../../src/core/file/resolve.ts'
import { applyOperations } from '../../../src/core/migration/apply.ts'
import { buildModel, type ModelRecords } from '../../../src/core/model/model.ts'
import { atOnce } from '../../../src/core/parts.ts'
import { context, messagesOf, workspace } from '../migration/build.ts'

let count = 0

/** The ids of a run, one after the other. */
function newId(): string {
  count += 1
  return `00000000-0000-4000-8000-${String(count).padStart(12, '0')}`
}

type File = { readonly collections: Record<string, { fields: Record<string, unknown> } & Record<string, unknown>> }

function plan(file: unknown, records: ModelRecords) {
  const { records: wanted } = atOnce(resolveFile(atOnce(readModelFile(file)), records, { workspace: 'shop', newId }))
  return atOnce(operationsBetween(records, wanted))
}

function apply(file: unknown, records: ModelRecords): ModelRecords {
  return atOnce(applyOperations(records, plan(file, records), context)).records
}

function print(records: ModelRecords, hasIds = false): string {
  const file = atOnce(exportModel(buildModel(1, records), 'shop'))
  return atOnce(printModelFile(hasIds ? file : { ...file, ids: new Map() }))
}

const kinds = (file: unknown, records: ModelRecords) => plan(file, records).map(({ kind }) => kind)

/** In canonical order. */
const library = {
  version: 1,
  sources: { crm: 'postgres', search: 'search' },
  collections: {
    articles: {
      fields: {
        id: 'int64 auto',
        author: { to: 'authors?', onDelete: 'setNull' },
        changedAt: 'dateTimeWithTimezone always',
        status: { type: 'string', default: 'draft' },
        tags: { many: 'tags' },
        title: 'string(200)',
        words: 'string[]?',
      },
      indexes: ['status, changedAt', 'unique title'],
    },
    authors: { fields: { id: 'uuid auto', fullName: 'string', profile: { to: 'profiles', unique: true } } },
    lines: {
      fields: { order: { to: 'orders' }, no: 'int32', product: { to: 'authors?', constraint: false } },
      key: ['order', 'no'],
      source: 'crm',
    },
    notes: { fields: { about: { to: 'lines', onDelete: 'cascade' }, text: 'string' }, key: [], source: 'crm' },
    orders: { fields: { no: 'string(20)', total: 'decimal(12,2)' }, key: ['no'], source: 'crm' },
    profiles: { fields: { id: 'int32 auto', parent: { to: 'profiles?', opposite: 'children' } } },
    tags: { fields: { id: 'int32 auto', name: 'string' }, history: true },
  },
}

it('is the same file, and then there is nothing to do', () => {
  const made = apply(library, workspace)

  expect(JSON.parse(print(made))).toEqual(library)
  expect(plan(library, made)).toEqual([])
  expect(plan(JSON.parse(print(made, true)), made)).toEqual([])
})

it('renames by renamedFrom, made columns included, and never drops', () => {
  const made = apply(library, workspace)
  const { articles, authors, ...rest } = library.collections
  const { author, ...fields } = articles.fields
  const renamed = {
    ...library,
    collections: {
      ...rest,
      posts: {
        ...articles,
        fields: { ...fields, writer: { ...author, to: 'people?', renamedFrom: 'author' } },
        renamedFrom: 'articles',
      },
      people: { ...authors, renamedFrom: 'authors' },
      lines: { ...rest.lines, fields: { ...rest.lines.fields, product: { to: 'people?', constraint: false } } },
    },
  }

  const after = apply(renamed, made)

  const file = JSON.parse(print(after)) as File
  expect(kinds(renamed, made).filter((kind) => kind === 'deleteCollection')).toEqual([])
  expect(JSON.stringify(plan(renamed, made))).not.toContain('deletePrimitiveField')
  expect(file.collections.posts?.fields).toEqual({
    ...fields,
    tags: { many: 'tags' },
    writer: { to: 'people?', onDelete: 'setNull' },
  })
  expect(plan(renamed, after)).toEqual([])
})

it('follows a rename of a relation over several columns by what each one refers to', () => {
  const lines = { fields: { no: 'int32', order: 'int32' }, key: ['no', 'order'] }
  const notes = (name: string, more: object) => ({ fields: { id: 'int64 auto', [name]: { to: 'lines', ...more } } })
  const of = (name: string, more: object) => ({ version: 1, collections: { lines, notes: notes(name, more) } })
  const made = apply(of('line', {}), workspace)
  const [constraint] = made.constraints
  const turned = {
    ...made,
    constraints: [{ ...constraint, mappings: constraint?.mappings.toReversed() }],
  } as ModelRecords

  const after = apply(of('about', { renamedFrom: 'line' }), turned)

  const idOf = (records: ModelRecords, name: string) =>
    records.primitiveFields.find(({ apiName }) => apiName === name)?.id
  expect(idOf(after, 'aboutNo')).toBe(idOf(made, 'lineNo'))
  expect(idOf(after, 'aboutOrder')).toBe(idOf(made, 'lineOrder'))
})

it('makes a field over the junction, of relations to its rows as well, and of a collection with itself', () => {
  const articles = (fields: object) => ({ fields: { id: 'int64 auto', ...fields } })
  const tags = { fields: { id: 'int32 auto' } }
  const side = (to: string, opposite: string) => ({ to, onDelete: 'cascade', opposite })
  const sides = { fields: { from: side('articles', 'tags'), to: side('tags', 'articles') }, key: ['from', 'to'] }
  const file = (collections: object) => ({ version: 1, sources: { crm: 'postgres' }, collections })
  const rows = apply(file({ articles: articles({}), articles_tags: sides, tags }), workspace)
  const { ids } = JSON.parse(print(rows, true)) as { ids: Record<string, string> }
  const short = file({ articles: articles({ tags: { many: 'tags' } }), tags })
  const related = { related: { many: 'articles', opposite: 'relatedBy' } }
  const own = file({ articles: articles(related) })

  const made = apply(short, rows)
  const self = apply(own, workspace)
  const apart = () =>
    apply(file({ articles: articles({ tags: { many: 'tags' } }), tags: { ...tags, source: 'crm' } }), workspace)

  const namesOf = ({ relationFields }: ModelRecords) => relationFields.map(({ apiName }) => apiName).sort()
  expect(namesOf(made)).toEqual(['articles', 'articles_tags', 'articles_tags', 'from', 'tags', 'to'])
  expect(kinds(short, rows).filter((kind) => kind.startsWith('delete'))).toEqual([])
  expect(namesOf(self)).toEqual(['articles_related', 'articles_relatedTo', 'from', 'related', 'relatedBy', 'to'])
  expect(JSON.parse(print(self))).toEqual({ ...own, sources: expect.anything() })
  expect(plan(own, self)).toEqual([])
  expect(JSON.parse(print(made))).toMatchObject({ collections: short.collections })
  expect(messagesOf(() => plan({ ...short, ids }, rows), 'invalid')).toContain('model.ids.articles.tags')
  expect(messagesOf(apart, 'invalid').slice(1)).toEqual([
    'model.collections.articles.fields.tags.many',
    'tags is in another source, crm',
  ])
})

it('names new columns as those beside them are named, in a new collection as those of its source', () => {
  const made = (fields: object, more: object = {}) => ({
    version: 1,
    sources: { crm: 'postgres' },
    collections: { orders: { fields: { id: 'int64 auto', ...fields }, source: 'crm' }, ...more },
  })
  const paidOn = { type: 'date', dbName: 'paid_on' }
  const fields = { paidOn, createdAt: 'dateTime always', customer: { to: 'orders?' }, no2ByURLPath: 'int32' }
  const lines = { fields: { id: 'int64 auto', order: { to: 'orders' }, unitPrice: 'int32' }, source: 'crm' }
  const columnsOf = (records: ModelRecords) =>
    Object.fromEntries(records.primitiveFields.map(({ apiName, dbName }) => [apiName, dbName]))

  const before = apply(made({ paidOn }), workspace)
  const after = apply(made(fields, { lines }), before)
  const mixed = apply(made({ paidOn, createdAt: { type: 'dateTime', dbName: 'createdAt' }, shipTo: 'string' }), before)
  const untold = apply(made({ shipTo: 'string' }), apply(made({}), workspace))

  expect(columnsOf(after)).toEqual({
    id: 'id',
    paidOn: 'paid_on',
    createdAt: 'created_at',
    customerId: 'customer_id',
    no2ByURLPath: 'no2_by_url_path',
    orderId: 'order_id',
    unitPrice: 'unit_price',
  })
  expect(plan(made(fields, { lines }), after)).toEqual([])
  expect(plan(JSON.parse(print(after)), after)).toEqual([])
  expect(columnsOf(mixed)).toMatchObject({ createdAt: 'createdAt', shipTo: 'shipTo' })
  expect(columnsOf(untold)).toEqual({ id: 'id', shipTo: 'shipTo' })
})

it('swaps names by ids, and leaves those of the database where they are', () => {
  const two = (a: object, b: object) => ({
    version: 1,
    collections: {
      one: { fields: { id: 'int64 auto', ...a, ...b } },
      two: { fields: { id: 'int64 auto' } },
    },
  })
  const made = apply(two({ first: 'string' }, { second: 'int32' }), workspace)
  const { ids } = JSON.parse(print(made, true)) as { ids: Record<string, string> }
  const names = { one: ids.two, two: ids.one, 'two.first': ids['one.second'], 'two.second': ids['one.first'] }
  const collections = {
    one: { dbName: 'two', fields: { id: 'int64 auto' } },
    two: {
      dbName: 'one',
      fields: {
        id: 'int64 auto',
        first: { type: 'int32', dbName: 'second' },
        second: { type: 'string', dbName: 'first' },
      },
    },
  }
  const swapped = { version: 1, ids: names, collections }
  const moved = JSON.parse(
    JSON.stringify(swapped)
      .replaceAll(/"dbName":"\w+",?/g, '')
      .replaceAll(',}', '}'),
  ) as object

  const after = apply(swapped, made)

  expect(JSON.parse(print(after)).collections).toEqual(collections)
  expect(after.collections.find(({ apiName }) => apiName === 'one')?.id).toBe(ids.two)
  expect(JSON.stringify(plan(swapped, made))).not.toMatch(/deletePrimitiveField|changeDbName/)
  expect(() => apply(moved, made)).toThrow()
})

it.each([
  [
    'a collection that is unknown',
    { a: { fields: { id: 'int64', b: { to: 'autors' } } }, authors: { fields: { id: 'int64' } } },
    'model.collections.a.fields.b.to > autors is not a collection; did you mean authors?',
  ],
  [
    'a type that is none',
    { a: { fields: { id: 'strng' } } },
    'model.collections.a.fields.id > strng is not a type; did you mean string?',
  ],
  [
    'a type of another product',
    { a: { fields: { id: 'text' } } },
    'model.collections.a.fields.id > text is not a type; allowed: int8, int16, ',
  ],
  [
    'a relation to what has no key',
    { a: { fields: { id: 'int64', b: { to: 'c' } } }, c: { fields: { name: 'string' } } },
    'model.collections.a.fields.b > c has no field id, which is its key: give it that field, or another key',
  ],
  [
    'a key of nothing',
    { a: { fields: { no: 'int64' } } },
    'model.collections.a.key > there is no field id: name the fields of the key, or [] for none',
  ],
  [
    'two opposites of one name',
    { a: { fields: { id: 'int64', b: { to: 'c' }, d: { to: 'c' } } }, c: { fields: { id: 'int64' } } },
    'model.collections.a.fields.d.opposite > c already has a field a',
  ],
  [
    'an index of nothing',
    { a: { fields: { id: 'int64', title: 'string' }, indexes: ['tilte'] } },
    'model.collections.a.indexes[0] > tilte is not a field of a; did you mean title?',
  ],
  [
    'a source that the file does not name',
    { a: { fields: { id: 'int64' }, source: 'crm' } },
    'model.collections.a.source > is not among model.sources',
  ],
  [
    'a field that only a database makes',
    { a: { fields: { id: { type: 'int64', readOnly: true } } } },
    'model.collections.a.fields.id.readOnly > a read-only field must be there, it is never made',
  ],
  [
    'a default of another type',
    { a: { fields: { id: { type: 'int64', default: 'x' } } } },
    'model.collections.a.fields.id.default > must be an integer',
  ],
  [
    'a default that would be rounded',
    { a: { fields: { id: 'int64', j: { type: 'json', default: parseExactJson('{"n":750727362669608961}') } } } },
    'model.collections.a.fields.j.default > holds a number that would be rounded: 750727362669608961; write it as a text',
  ],
  ['a member that is unknown', { a: { field: {} } }, 'model.collections.a > unknown field field; did you mean fields?'],
  [
    'a system collection',
    { ServiceDataSource: { fields: { id: 'int64' } } },
    'model.collections.ServiceDataSource > is the name of a system collection',
  ],
  [
    'what refers to its own key',
    { a: { fields: { b: { to: 'a' } }, key: ['b'] } },
    'model.collections.a.fields.b > refers to a key that it belongs to itself',
  ],
  [
    'a relation that may be null over what may not',
    { a: { fields: { id: 'int64', b: { to: 'c?' }, bId: 'int64' } }, c: { fields: { id: 'int64' } } },
    'model.collections.a.fields.b.to > must be c, since bId may not be null',
  ],
])('refuses %s with its place', (_, collections, reason) => {
  const messages = messagesOf(() => plan({ version: 1, collections }, workspace), 'invalid')

  expect(messages.join(' > ')).toContain(reason)
})

it('refuses a number of a policy that would be rounded, with its place', () => {
  const filter = parseExactJson('{"j":{"_contains":[1,{"n":750727362669608961}]}}')
  const policies = { p: { collections: { a: { read: { filter } } } } }

  expect(messagesOf(() => plan({ version: 1, policies }, workspace), 'invalid').slice(1)).toEqual([
    'model.policies.p.collections.a.read.filter.j._contains[1].n',
    'is a number that would be rounded: 750727362669608961',
  ])
})

it('takes no keys that grow from one collection to the next, nor long ways to a type', () => {
  /** Each collection refers to the next one, the last has an integer for its key. */
  const chain = (length: number, ofOne: (next: string) => object) =>
    Object.fromEntries(
      Array.from({ length }, (_, at) => [
        `c${at}`,
        at + 1 < length ? ofOne(`c${at + 1}`) : { fields: { id: 'int32' } },
      ]),
    )
  const faultOf = (collections: object) =>
    messagesOf(() => plan({ version: 1, collections }, workspace), 'invalid').slice(1)
  const twice = (to: string) => ({ key: ['r', 's'], fields: { r: { to }, s: { to } } })
  const once = (to: string) => ({ key: ['r'], fields: { r: { to } } })
  const byColumn = (to: string) => ({ fields: { id: 'int32', r: { to, by: ['rId'], references: ['rId'] } } })

  expect(faultOf(chain(30, twice))).toEqual([
    'model.collections.c22.fields.r',
    'refers to a key of more than 32 columns',
  ])
  expect(faultOf(chain(1_500, once))).toEqual([
    'model.collections.c100.fields.r',
    'refers to columns of other relations more than 100 times',
  ])
  expect(faultOf({ ...chain(1_500, byColumn), c1499: { fields: { id: 'int32', rId: 'int32' } } })).toEqual([
    'model.collections.c100.fields.r',
    'refers to columns of other relations more than 100 times',
  ])
})

it('takes no more fields and indexes of a collection than a table can have columns', () => {
  const names = Array.from({ length: 4_097 }, (_, at) => `f${at}`)
  const fields = Object.fromEntries(names.map((name) => [name, 'int32']))
  const faultOf = (collection: object) =>
    messagesOf(() => plan({ version: 1, collections: { wide: collection } }, workspace), 'invalid').slice(1)

  expect(faultOf({ fields, key: [] })).toEqual(['model.collections.wide.fields', 'must be at most 4096'])
  expect(faultOf({ fields: {}, key: [], indexes: names })).toEqual([
    'model.collections.wide.indexes',
    'must be at most 4096',
  ])
})

const named = buildModel(1, apply(library, workspace))

function resolvedName(path: string, shown: unknown) {
  return resolveNames(atOnce(readModelFile({ version: 1, names: { [path]: shown } })), [], named)
}

it.each([
  ['no object', 'articles', 'Posts', 'model.names.articles > must be an object'],
  ['an unknown member', 'articles', { colour: 'red' }, 'model.names.articles > unknown field colour; '],
  ['a number for a text', 'articles', { icon: 1 }, 'model.names.articles.icon > must be a string'],
  ['a text with NUL', 'articles', { icon: '\0' }, 'model.names.articles.icon > must be valid text without NUL'],
  [
    'a long text',
    'articles',
    { icon: '📰'.repeat(101) },
    'model.names.articles.icon > must have at most 100 characters',
  ],
  ['half a number', 'articles', { sort: 0.5 }, 'model.names.articles.sort > must be a whole number of 32 bits'],
  ['a large number', 'articles', { sort: 2 ** 31 }, 'model.names.articles.sort > must be a whole number of 32 bits'],
  ['a flag that is none', 'articles', { hidden: 1 }, 'model.names.articles.hidden > must be true or false'],
  ['a name of nothing', 'artcles', {}, 'model.names.artcles > artcles is not a collection; did you mean articles?'],
  ['a name of no field', 'tags.nam', {}, 'model.names.tags.nam > nam is not a field of tags; did you mean name?'],
  [
    'a name elsewhere',
    'orders',
    {},
    'model.names.orders > is of the data source crm, which model.sources does not name',
  ],
])('refuses %s', (_, path, shown, reason) => {
  expect(messagesOf(() => resolvedName(path, shown), 'invalid').join(' > ')).toContain(reason)
})

it('keeps what is said of collections of sources that it does not name, and what says nothing', () => {
  const record = (path: string, shown: object) => {
    const [name = '', field] = path.split('.')
    const collection = named.byName.get(name)
    const id = (field === undefined ? collection : collection?.fields.get(field))?.id ?? ''
    return { id, isField: field !== undefined, shown }
  }
  const records = [record('orders.total', { icon: '💰' }), record('tags', {}), record('authors', { sort: 1 })]

  expect(resolveNames({ names: new Map() }, records, named)).toEqual(records.slice(0, 2))
  expect(resolveNames({ names: new Map(), sources: new Map([['crm', 'postgres']]) }, records, named)).toEqual([
    records[1],
  ])
  expect(resolvedName('tags', { icon: '📰'.repeat(100), hidden: false })).toEqual([
    { ...record('tags', {}), shown: { icon: '📰'.repeat(100) } },
  ])
})
