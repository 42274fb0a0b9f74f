/** docs/contract.md#system-collections: the system collections again, at the newer address. */
import { beforeAll, expect, it } from 'vitest'
import { type Workspace, world } from '../support/service/world.ts'

let shop: Workspace

beforeAll(async () => {
  shop = await world.workspace(
    'shop',
    { authors: { name: 'string' }, articles: { title: 'string', price: 'decimal(10,2)?', authorId: 'int64?' } },
    ['articles.author(authorId) -> authors.articles'],
  )
})

it.each([
  ['sources', 'ServiceDataSource'],
  ['namespaces', 'ServiceNamespace'],
  ['collections', 'ServiceCollection'],
  ['fields/primitive', 'ServicePrimitiveField'],
  ['fields/single-relation', 'ServiceSingleRelationField'],
  ['indexes', 'ServiceIndex'],
])('answers at schema/structure/%s what %s holds, as a list and one by one', async (address, collection) => {
  const items = (await shop.data(`/items/${collection}`)) as { id: string }[]

  expect(items.length).toBeGreaterThan(0)
  expect(await shop.data(`/schema/structure/${address}`)).toEqual(items)
  expect(await shop.data(`/schema/structure/${address}/${items[0]?.id}`)).toEqual(items[0])
})

it('takes the parameters of an item list', async () => {
  const search = [
    'fields=apiName,primitiveFields.apiName',
    'filter[apiName][_in][0]=authors&filter[apiName][_in][1]=articles',
    'sort[0][apiName][direction]=desc',
    'limit=1&offset=1&meta=totalCount',
    'deep[primitiveFields][_sort][0][apiName][direction]=asc&deep[primitiveFields][_limit]=2',
  ].join('&')

  const response = await shop.get(`/schema/structure/collections?${search}`)

  expect(await response.json()).toEqual({
    data: [{ apiName: 'articles', primitiveFields: { data: [{ apiName: 'authorId' }, { apiName: 'id' }] } }],
    meta: { totalCount: 2 },
  })
})

it('takes the parameters of one item', async () => {
  const path = `/schema/structure/fields/single-relation/${shop.ids.get('articles.author')}`

  expect(await shop.data(`${path}?fields=apiName,isNullable,oppositeCollection.apiName,constraint.onDelete`)).toEqual({
    apiName: 'author',
    isNullable: true,
    oppositeCollection: { apiName: 'authors' },
    constraint: { onDelete: expect.any(String) },
  })
})

it('refuses a parameter that item routes do not know', async () => {
  const response = await shop.get('/schema/structure/collections?page=2')

  expect(response.status).toBe(422)
  expect(await response.json()).toMatchObject({
    message: expect.stringContaining('Failed to execute query: '),
    source: { message: 'page' },
  })
})

it('answers 404 for an id that there is not and for an address that there is not', async () => {
  const missing = await shop.get('/schema/structure/collections/00000000-0000-4000-8000-000000000000')
  const nowhere = await shop.get('/schema/structure/policies')

  expect(missing.status).toBe(404)
  expect(await missing.json()).toEqual({ message: 'Query failed', source: { message: 'No record found' } })
  expect(nowhere.status).toBe(404)
})

it.each(['POST', 'PATCH', 'PUT', 'DELETE'])('answers 405 for %s', async (method) => {
  const list = await shop.send(method, '/schema/structure/indexes', { body: [] })
  const one = await shop.send(method, '/schema/structure/indexes/1', { body: {} })

  expect([list.status, list.headers.get('Allow')]).toEqual([405, 'GET, HEAD'])
  expect([one.status, one.headers.get('Allow')]).toEqual([405, 'GET, HEAD'])
})

it('answers 403 to an anonymous caller, whether there is such an id or not', async () => {
  const list = await shop.anonymous.get('/schema/structure/sources')
  const missing = await shop.anonymous.get('/schema/structure/sources/00000000-0000-4000-8000-000000000000')

  expect(list.status).toBe(403)
  expect(missing.status).toBe(403)
})
