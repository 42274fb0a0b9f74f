/** docs/contract.md#openapi: the OpenAPI document of a workspace, as its caller may see it. */
import { beforeAll, expect, it } from 'vitest'
import { people } from '../support/service/people.ts'
import { createCollection, type Workspace, world } from '../support/service/world.ts'

type Document = {
  readonly openapi: string
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId?: string }>>>>
  readonly components: { readonly schemas: Readonly<Record<string, { readonly properties: object }>> }
  readonly 'x-service-mappings': Readonly<Record<string, unknown>>
}

let shop: Workspace

beforeAll(async () => {
  shop = await world.workspace(
    'openapi',
    {
      authors: { name: 'string', salary: 'int64?' },
      articles: { title: 'string', price: 'decimal(10,2)?', authorId: 'int64', notes: 'json?' },
      secrets: { text: 'string' },
    },
    ['articles.author(authorId) -> authors.articles'],
  )
})

it('answers the bare document with the paths of the workspace written out', async () => {
  const response = await shop.get('/openapi')
  const document = (await response.json()) as Document

  expect([response.status, response.headers.get('Content-Type')]).toEqual([200, 'application/json'])
  expect(document.openapi).toBe('3.1.0')
  expect(operationsAt(document, `/api/${shop.name}/items/articles`)).toEqual([
    'get',
    'x-query',
    'post',
    'patch',
    'delete',
  ])
  expect(operationsAt(document, `/api/${shop.name}/items/articles/{key}`)).toEqual(['get', 'patch', 'delete'])
  expect(operationsAt(document, `/api/${shop.name}/items/ServiceCollection`)).toEqual(['get', 'x-query'])
})

it('names the schemas and maps the collections as clients expect', async () => {
  const document = await documentOf(shop)
  const address = `#/paths/~1api~1${shop.name}~1items~1articles`

  expect(Object.keys(document.components.schemas)).toEqual(
    expect.arrayContaining([
      'articlesCollectionOutput',
      'articlesCollectionOutputDeepInput',
      'articlesCreateInput',
      'articlesUpdateDataInput',
      'articlesFilterInput',
      'articlesSortSpecifier',
      'articlesFilterQuantifierInput',
      'articlesauthorConnectForwardKeyInput',
      'authorsarticlesUpdateManyRelatedOperationsInput',
      'Int64',
      'ResponseMeta',
      'SortFieldOptions',
      'ServiceSortDirection',
      'ServiceSortNulls',
    ]),
  )
  expect(document.components.schemas.articlesCollectionOutput).toEqual({
    type: 'object',
    properties: {
      id: { $ref: '#/components/schemas/Int64' },
      title: { type: 'string' },
      price: { oneOf: [{ $ref: '#/components/schemas/Decimal' }, { type: 'null' }] },
      authorId: { $ref: '#/components/schemas/Int64' },
      notes: {},
      _etag: { $ref: '#/components/schemas/EntityTag' },
      author: { $ref: '#/components/schemas/authorsCollectionOutput' },
    },
    additionalProperties: false,
  })
  expect(document['x-service-mappings'].articles).toEqual({
    many: { $ref: address },
    one: { $ref: `${address}~1%7Bkey%7D` },
    aggregates: { $ref: address.replace('items', 'aggregates') },
  })
})

it('does not name what the caller may not see', async () => {
  const reader = await people.member(shop, {
    entitlements: ['openApiSchema:read'],
    collections: {
      articles: { read: 'all', create: { fields: ['title'] } },
      authors: { read: { fields: ['id', 'name'] } },
    },
  })

  const response = await reader.get('/openapi')
  const text = await response.text()
  const document = JSON.parse(text) as Document

  const presented = ['ServiceCollectionMeta', 'ServiceFieldMeta', 'ServiceView']
  expect(Object.keys(document['x-service-mappings'])).toEqual(['authors', 'articles', ...presented])
  expect(text).not.toMatch(/secrets|salary|ServiceCollection(?!Meta)|ServiceDataSource/)
  expect(text).not.toMatch(/(updateMany|deleteOne)\w*(authors|articles)/i)
  expect(operationsAt(document, `/api/${shop.name}/items/articles`)).toEqual(['get', 'x-query', 'post'])
  expect(Object.keys(document.components.schemas.authorsCollectionOutput?.properties ?? {})).toEqual([
    'id',
    'name',
    '_etag',
  ])
  expect(Object.keys(document.components.schemas.articlesCreateInput?.properties ?? {})).toEqual(['title'])
})

it('says of a field that it may be null where only some rows show it', async () => {
  const reader = await people.member(shop, {
    entitlements: ['openApiSchema:read'],
    collections: { articles: { read: { filter: { title: { _eq: 'Live' } } }, update: 'all' } },
  })

  const document = (await (await reader.get('/openapi')).json()) as Document

  expect(document.components.schemas.articlesCollectionOutput).toMatchObject({
    properties: { title: { oneOf: [{ type: 'string' }, { type: 'null' }] } },
  })
})

it('needs openApiSchema:read', async () => {
  const member = await people.member(shop, { collections: { articles: { read: 'all' } } })

  const answers = [await member.get('/openapi'), await shop.anonymous.get('/openapi')]

  expect(answers.map(({ status }) => status)).toEqual([403, 403])
  expect(await answers[0]?.json()).toEqual({ message: 'Requires the entitlement openApiSchema:read' })
})

it('answers 304 to whoever holds the document, until model or rights change', async () => {
  const own = await world.workspace('openapi', { articles: { title: 'string' } })
  const first = await own.get('/openapi')
  const tag = first.headers.get('ETag') ?? ''
  const asked = (sent: string) => own.send('GET', '/openapi', { headers: { 'If-None-Match': sent } })

  const again = await asked(tag)
  await own.migrate(createCollection(new Map(), own.sourceId, 'tags', { name: 'string' }))
  const changed = await asked(tag)

  expect(tag).toMatch(/^W\/"[0-9a-f]+"$/)
  expect(first.headers.get('Cache-Control')).toBe('private, no-cache')
  expect([again.status, again.headers.get('ETag'), await again.text()]).toEqual([304, tag, ''])
  expect(changed.status).toBe(200)
  expect(operationsAt((await changed.json()) as Document, `/api/${own.name}/items/tags`)).toContain('get')
})

it('gives callers of different rights different tags', async () => {
  const reader = await people.member(shop, { entitlements: ['openApiSchema:read'] })

  const tags = [await shop.get('/openapi'), await reader.get('/openapi')].map(({ headers }) => headers.get('ETag'))

  expect(new Set(tags).size).toBe(2)
})

async function documentOf({ get }: Workspace): Promise<Document> {
  return (await (await get('/openapi')).json()) as Document
}

function operationsAt({ paths }: Document, path: string): readonly string[] {
  return Object.keys(paths[path] ?? {}).filter((name) => name !== 'parameters')
}
