/** docs/manifest.md: the manifest of a workspace. */
import { beforeAll, expect, it } from 'vitest'
import type { Manifest } from '../../src/core/manifest/format.ts'
import { refusedAnonymous } from '../support/service/messages.ts'
import { people } from '../support/service/people.ts'
import { createCollection, type Workspace, world } from '../support/service/world.ts'

let shop: Workspace

beforeAll(async () => {
  shop = await world.workspace(
    'shop',
    { authors: { name: 'string' }, articles: { title: 'string', authorId: 'int64' } },
    ['articles.author(authorId) -> authors.articles'],
  )
})

it('answers the bare manifest with the collections of the workspace', async () => {
  const response = await shop.get('/schema')
  const manifest = (await response.json()) as Manifest

  expect(response.status).toBe(200)
  expect(response.headers.get('Content-Type')).toBe('application/json')
  expect(manifest).toMatchObject({
    formatVersion: 1,
    strings: expect.any(Array),
    primitiveTypes: expect.any(Array),
    serviceSchema: { sources: [{ id: shop.sourceId }] },
  })
  const own = manifest.serviceSchema.collections.filter(({ isSystem }) => !isSystem)
  expect(own.map(({ id, apiName }) => [id, manifest.strings[apiName]])).toEqual([
    [shop.ids.get('authors'), 'authors'],
    [shop.ids.get('articles'), 'articles'],
  ])
})

it('holds the system collections, with reads only', async () => {
  const manifest = (await (await shop.get('/schema')).json()) as Manifest

  const kinds = manifest.querySchema.operations
    .filter(([, collection]) => manifest.strings[collection] === 'ServiceCollection')
    .map(([kind]) => kind)
  expect(kinds).toEqual(['readMany', 'readOne'])
})

it('answers 304 while the caller holds the manifest that they would get', async () => {
  const first = await shop.get('/schema')
  const tag = first.headers.get('ETag') ?? ''
  const again = await asked(tag)

  expect(tag).toMatch(/^W\/"[0-9a-f]+"$/)
  expect(first.headers.get('Cache-Control')).toBe('private, no-cache')
  expect([again.status, again.headers.get('ETag'), await again.text()]).toEqual([304, tag, ''])
})

it.each([
  ['another tag', 'W/"0"', 200],
  ['any tag', '*', 304],
])('compares If-None-Match with %s', async (_, sent, status) => {
  expect((await asked(sent)).status).toBe(status)
})

it('finds its tag among several, weak or strong', async () => {
  const tag = (await shop.get('/schema')).headers.get('ETag') ?? ''

  expect((await asked(`"0", ${tag.slice(2)}`)).status).toBe(304)
})

it('changes its tag with the model', async () => {
  const before = (await shop.get('/schema')).headers.get('ETag') ?? ''

  await shop.migrate(createCollection(new Map(), shop.sourceId, 'tags', { name: 'string' }))
  const after = await asked(before)

  expect(after.status).toBe(200)
  expect(after.headers.get('ETag')).not.toBe(before)
})

it('answers the manifest of some collections, with a tag that changes only with them', async () => {
  const part = await shop.get('/schema?collections=authors')
  const tag = part.headers.get('ETag') ?? ''
  const manifest = (await part.json()) as Manifest
  await shop.migrate(createCollection(new Map(), shop.sourceId, 'labels', { name: 'string' }))
  const later = (path: string) => shop.send('GET', path, { headers: { 'If-None-Match': tag } })

  expect(manifest.serviceSchema.collections.map(({ id }) => id)).toEqual([shop.ids.get('authors')])
  expect(manifest.strings).not.toContain('articles')
  expect((await later('/schema?collections=authors')).status).toBe(304)
  expect((await later('/schema?collections=authors,articles')).status).toBe(200)
})

it.each([
  ['?collections=authors,nobody', 'collections', 'collection nobody does not exist'],
  ['?collections=author', 'collections', 'collection author does not exist; did you mean authors?'],
  ['?collections=', 'collections', 'must be a comma-separated list of names'],
  ['?collections=authors,', 'collections', 'must be a comma-separated list of names'],
  ['?collections[]=authors', 'collections', 'must be a comma-separated list of names'],
  ['?usable=yes', 'usable', 'must be true or false'],
  ['?usable=true&collections=authors', 'usable', 'must not be sent together with collections'],
  ['?collection=authors', 'collection', 'is not a parameter of this route; did you mean collections?'],
])('refuses %s', async (search, parameter, reason) => {
  const response = await shop.get(`/schema${search}`)

  expect(response.status).toBe(422)
  const source = { message: parameter, source: { message: reason } }
  expect(await response.json()).toMatchObject({ message: expect.stringContaining('Failed to execute query: '), source })
})

it('tells nobody without dataModel:read whether a name exists', async () => {
  const [known, unknown] = await Promise.all(
    ['authors', 'nobody'].map((name) => shop.anonymous.get(`/schema?collections=${name}`)),
  )

  expect([known?.status, unknown?.status]).toEqual([403, 403])
  expect(await known?.text()).toBe(await unknown?.text())
})

it('needs dataModel:read', async () => {
  const response = await shop.anonymous.get('/schema')

  expect(response.status).toBe(403)
  expect(await response.json()).toEqual(refusedAnonymous('Requires the entitlement dataModel:read'))
})

it('answers anybody what they can use, and names nothing else', async () => {
  const stock = await world.workspace(
    'stock',
    {
      makers: { makerName: 'string', makerSecret: 'string' },
      parts: { partName: 'string', partSecret: 'int32?', makerId: 'int64', depotId: 'int64?' },
      depots: { depotName: 'string' },
    },
    ['parts.maker(makerId) -> makers.parts', 'parts.depot(depotId) -> depots.stored'],
  )
  const { member } = people
  const clerk = await member(stock, {
    collections: {
      parts: { read: { fields: ['id', 'partName', 'maker'] }, update: { fields: ['partName'], filter: {} } },
      makers: { read: { fields: ['id', 'makerName'] } },
    },
  })
  const usable = (who: Pick<Workspace, 'get'>) => who.get('/schema?usable=true')
  const own = await usable(clerk)
  const text = await own.text()
  const { strings, serviceSchema, querySchema } = JSON.parse(text) as Manifest
  const shown = serviceSchema.collections.map(({ apiName, primitiveFields, relationFields, indexes }) => [
    strings[apiName],
    primitiveFields.map((field) => strings[field.apiName]),
    relationFields.map((field) => [strings[field.apiName], field.linkingFields]),
    indexes?.map(({ kind, fields }) => [kind, fields]),
  ])
  const kinds = querySchema.operations.map(([kind, collection]) => `${kind} ${strings[collection]}`)
  const tag = own.headers.get('ETag') ?? ''
  const again = await clerk.send('GET', '/schema?usable=true', { headers: { 'If-None-Match': tag } })
  const whole = (await (await usable(stock)).json()) as Manifest

  expect([own.status, again.status]).toEqual([200, 304])
  expect(shown.filter(([name]) => !String(name).startsWith('Service'))).toEqual([
    ['makers', ['id', 'makerName'], [], [['primary', [0]]]],
    ['parts', ['id', 'partName'], [['maker', []]], [['primary', [0]]]],
  ])
  expect(kinds.filter((kind) => !kind.includes(' Service'))).toEqual([
    'readMany makers',
    'readOne makers',
    ...['readMany', 'updateMany', 'readOne', 'updateOne'].map((kind) => `${kind} parts`),
  ])
  expect(text).not.toMatch(/secret|makerId|depot|pkey|dbName|postgres|constraint"/i)
  expect(serviceSchema).toMatchObject({ sources: [], namespaces: [] })
  expect(whole.serviceSchema).toMatchObject({ sources: [], namespaces: [] })
  expect(whole.strings).toEqual(expect.arrayContaining(['depots', 'makerSecret', 'depotId']))
  expect(await (await usable(stock.anonymous)).json()).toMatchObject({
    serviceSchema: { collections: [] },
    querySchema: { operations: [] },
  })
})

it('names no field that its caller does not have, and neither does what is refused', async () => {
  const press = await world.workspace(
    'press',
    { writers: { name: 'string', code: 'string' }, texts: { title: 'string?', writerId: 'int64?' } },
    ['texts.writer(writerId) -> writers.written'],
  )
  const all = (fields: readonly string[]) => ({ read: { fields }, create: { fields }, update: { fields, filter: {} } })
  const collections = { texts: all(['title', 'writer']), writers: all(['name']) }
  const clerk = await people.member(press, { collections })
  const { strings, querySchema } = (await (await clerk.get('/schema?usable=true')).json()) as Manifest
  const message = async (answer: Promise<Response>) =>
    ((await (await answer).json()) as { readonly message: string }).message
  const noKey = 'writers has no key that this caller can name'

  expect(querySchema.operations.map(([kind, collection]) => `${kind} ${strings[collection]}`)).toEqual(
    expect.arrayContaining(['create texts', 'updateMany texts', 'create writers', 'updateMany writers']),
  )
  expect(strings).toEqual(expect.arrayContaining(['textswriterCreateRelatedInput', '_create']))
  // The names of the first three stand for keys as well, which are called `id` here as those of system collections are.
  const hidden = ['textsUpdateItemInput', 'writersUpdateItemInput', '_connect', 'code', 'writerId', 'written']
  expect(strings.filter((text) => hidden.includes(text))).toEqual([])
  expect(await message(clerk.post('/items/texts', [{ writer: { _connect: { key: { name: 'A' } } } }]))).toContain(
    `: [0].writer._connect.key: ${noKey}`,
  )
  expect(await message(clerk.post('/items/writers', [{ name: 'A' }]))).toContain(
    ': [0]: needs a field that this caller does not have',
  )
  expect(await message(clerk.patch('/items/writers', [{ name: 'A' }]))).toContain(`: body: ${noKey}`)
})

it('answers 405 for other methods', async () => {
  const response = await shop.post('/schema', {})

  expect([response.status, response.headers.get('Allow')]).toEqual([405, 'GET, HEAD'])
})

function asked(tag: string): Promise<Response> {
  return shop.send('GET', '/schema', { headers: { 'If-None-Match': tag } })
}
