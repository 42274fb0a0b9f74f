/**
 * docs/contract.md#openapi: documents offer of a connector's collections what these declare, and nothing that is
 * refused.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ExternalSystem } from '../support/servers/external-system.ts'
import { books, connect, readAnswer, relateReviews, startSystem } from '../support/service/connected.ts'
import { type Workspace, world } from '../support/service/world.ts'

type Parameter = { readonly name?: string; readonly $ref?: string }
type Operation = { readonly parameters: readonly Parameter[] }
type Document = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, { readonly properties?: Record<string, unknown> }>> }
}

let shop: Workspace
let system: ExternalSystem
let document: Document

beforeAll(async () => {
  system = await startSystem()
  shop = await world.workspace('offers', { reviews: { stars: 'int32', authorId: 'int32', bookId: 'int32?' } })
  await connect(shop, system)
  await relateReviews(shop)
  await shop.insert('reviews', [{ stars: 1, authorId: 1, bookId: 10 }])
  document = (await (await shop.get('/openapi')).json()) as Document
})

afterAll(() => system.close())

const at = (path: string) => document.paths[`/api/${shop.name}/items/${path}`]
const methods = (path: string) => Object.keys(at(path) ?? {}).filter((name) => name !== 'parameters')
const members = (schema: string) => Object.keys(document.components.schemas[schema]?.properties ?? {})
const parameters = (path: string) =>
  at(path)?.get?.parameters.map(({ name, $ref }) => name ?? $ref?.replace('#/components/parameters/', ''))

it('are rights only to what a collection declares', async () => {
  const { collections } = (await shop.data('/access')) as { collections: Record<string, object> }

  expect(collections.authors).toMatchObject({ create: 'all', update: 'all', delete: 'all' })
  expect(collections.books).toMatchObject({ create: 'none', update: 'none', delete: 'none' })
})

describe('the OpenAPI document', () => {
  it('lists the operations that a collection declares', () => {
    expect(methods('authors')).toEqual(['get', 'x-query', 'post', 'patch', 'delete'])
    expect(methods('authors/{key}')).toEqual(['get', 'patch', 'delete'])
    expect(methods('books')).toEqual(['get', 'x-query'])
    expect(methods('books/{key}')).toEqual(['get'])
  })

  it('describes nothing that no operation takes or answers', () => {
    const text = JSON.stringify(document)
    const unused = Object.keys(document.components.schemas).filter(
      (name) => !text.includes(`"#/components/schemas/${name}"`),
    )

    expect(unused).toEqual([])
  })

  it('lists sort, offset and count where they are declared', () => {
    expect(parameters('authors')).toEqual([
      'fields',
      'filter',
      'sort',
      'limit',
      'offset',
      'after',
      'before',
      'meta',
      'deep',
      'ifNoneMatch',
      'actAs',
    ])
    expect(parameters('books')).toEqual(['fields', 'filter', 'limit', 'deep', 'ifNoneMatch', 'actAs'])
    expect(members('authorsSortSpecifier')).toEqual(['id', 'name', 'born'])
  })

  it('lists the operators that are declared, or whose opposites are', () => {
    expect(members('booksFilterInput')).toEqual(['_and', '_or', '_not', 'authorId', 'author'])
    expect(filterOf('books', 'authorId')).toEqual(['_in', '_nin', '_null'])
    expect(filterOf('authors', 'country')).toEqual(['_eq', '_neq', '_in', '_nin', '_null'])
    expect(filterOf('reviews', 'stars')).toContain('_between')
  })

  it('leaves out conditions on relations whose keys cannot be asked for', async () => {
    const refused = await readAnswer(await shop.get('/items/books?filter[reviews][_some][stars][_gt]=0'))

    expect(members('authorsFilterInput')).toEqual(expect.arrayContaining(['reviews', 'books']))
    expect(members('booksFilterInput')).not.toContain('reviews')
    expect(refused.status).toBe(422)
  })

  it('says of a row of another source that it may be missing', () => {
    expect(document.components.schemas.reviewsCollectionOutput?.properties?.author).toEqual({
      oneOf: [{ $ref: '#/components/schemas/authorsCollectionOutput' }, { type: 'null' }],
    })
  })

  it('offers no nested write that would be of two sources', () => {
    expect(members('reviewsCreateInput')).toEqual(['id', 'stars', 'authorId', 'bookId'])
    expect(members('reviewsbookUpdateOneRelatedOperationsInput')).toEqual(['_disconnect'])
    expect(members('authorsCreateInput')).toEqual(['name', 'country', 'born', 'tags'])
  })

  function filterOf(collection: string, field: string): readonly string[] {
    const property = document.components.schemas[`${collection}FilterInput`]?.properties?.[field]
    const [, name = ''] = /#\/components\/schemas\/(\w+)/.exec(JSON.stringify(property)) ?? []
    return members(name)
  }
})

describe('what it offers', () => {
  it.each([
    ['GET', '/items/books?filter[authorId][_nin][0]=1', undefined],
    ['GET', '/items/books?filter[author][name][_eq]=Ada', undefined],
    ['GET', '/items/authors?filter[books][_none][authorId][_null]=true&sort[0][id][direction]=desc', undefined],
    ['GET', '/items/authors/1?fields=books.title&deep[books][_offset]=1', undefined],
    ['GET', '/items/authors?meta=totalCount,cursor&limit=1', undefined],
    ['PATCH', '/items/reviews/1', { book: [{ _disconnect: {} }] }],
  ])('is served: %s %s', async (method, path, body) => {
    const { status } = await readAnswer(await shop.send(method, path, { body }))

    expect(status).toBe(200)
  })
})

it('is in the manifest as well', async () => {
  const { strings, querySchema, serviceSchema } = (await (await shop.get('/schema')).json()) as {
    readonly strings: readonly string[]
    readonly serviceSchema: {
      readonly collections: readonly { apiName: number; isConditional?: true; isIdempotent?: true }[]
    }
    readonly querySchema: { readonly operations: readonly (readonly [string, number, ...unknown[]])[] }
  }

  const ofBooks = querySchema.operations.filter(([, name]) => strings[name] === 'books').map(([kind]) => kind)

  expect(ofBooks).toEqual(['readMany', 'readOne'])
  const flags = (name: string) => {
    const found = serviceSchema.collections.find(({ apiName }) => strings[apiName] === name)
    return [found?.isConditional, found?.isIdempotent]
  }
  expect([flags('authors'), flags('books')]).toEqual([
    [true, undefined],
    [undefined, undefined],
  ])
})

it('is told to agents', async () => {
  const answer = await shop.send('POST', '/mcp', {
    headers: { Accept: 'application/json, text/event-stream' },
    body: {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'read_schema', arguments: {} },
    },
  })

  const { result } = (await answer.json()) as { result: { structuredContent: { data: { collections: unknown[] } } } }
  const told = result.structuredContent.data.collections as readonly { apiName: string; serves?: unknown }[]

  expect(told.find(({ apiName }) => apiName === 'reviews')).not.toHaveProperty('serves')
  expect(told.find(({ apiName }) => apiName === 'books')?.serves).toEqual({
    operations: ['readMany', 'readOne'],
    filter: { authorId: ['_in', '_nin', '_null'] },
    sort: [],
    totalCount: false,
    offset: false,
    cursors: false,
    ifMatch: false,
    repeatsByKey: false,
  })
})

it('follows another import', async () => {
  const [source] = (await shop.data('/items/ServiceDataSource?fields=id&filter[apiName][_eq]=library')) as {
    id: string
  }[]
  const before = await shop.get('/openapi')
  system.declarations.splice(1, 1, { ...books, operations: ['readMany', 'deleteOne'] })

  await shop.post(`/schema/introspect/${source?.id}`, undefined)
  const after = await shop.get('/openapi')
  document = (await after.json()) as Document

  expect(after.headers.get('ETag')).not.toBe(before.headers.get('ETag'))
  expect(methods('books/{key}')).toEqual(['get', 'delete'])
})
