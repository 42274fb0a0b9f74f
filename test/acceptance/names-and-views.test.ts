/** docs/contract.md#names-and-views: how things are called and shown, and saved views, through items. */
import { describe, expect, it } from 'vitest'
import type { Manifest } from '../../src/core/manifest/format.ts'
import { people } from '../support/service/people.ts'
import { type Client, type Workspace, world } from '../support/service/world.ts'

const shape = { authors: { name: 'string', email: 'string' }, articles: { title: 'string', authorId: 'int64?' } }
const shop = await world.workspace('views', shape, ['articles.author(authorId) -> authors.articles'])
const id = (name: string, of: Workspace = shop) => of.ids.get(name) ?? ''
const editing = { entitlements: ['dataModel:edit'] }
const reading = (...names: readonly string[]) => ({
  collections: Object.fromEntries(names.map((name) => [name, { read: 'all' }])),
})

type Document = { readonly components: { readonly schemas: Readonly<Record<string, object>> } }
type View = { readonly id: string; readonly name: string }

async function save(client: Client, view: object): Promise<{ readonly status: number; readonly id: string }> {
  const response = await client.post('/items/ServiceView', [{ query: {}, ...view }])
  const { data } = (await response.json()) as { data?: View[] }
  return { status: response.status, id: data?.[0]?.id ?? '' }
}

async function listed(client: Client): Promise<readonly string[]> {
  const response = await client.get('/items/ServiceView?fields=name&sort[0][name][direction]=asc')
  expect(response.status).toBe(200)
  return ((await response.json()) as { data: View[] }).data.map(({ name }) => name)
}

describe('names of collections and fields', () => {
  it('are bounded all together, since whoever describes the model loads them all', async () => {
    const fields = Array.from({ length: 400 }, (_, index) => [`f${index}`, 'string?'])
    const own = await world.workspace('views', { wide: Object.fromEntries(fields) })
    // In JSON a character of control has six bytes.
    const described = fields.map(([name]) => ({
      fieldId: id(`wide.${name}`, own),
      description: '\u0001'.repeat(4_000),
    }))
    const statuses: number[] = []
    for (let start = 0; start < described.length && (statuses.at(-1) ?? 200) < 300; start += 40) {
      statuses.push((await own.post('/items/ServiceFieldMeta', described.slice(start, start + 40))).status)
    }

    expect(statuses).toEqual([...new Array(8).fill(200), 422])
    expect((await own.get('/schema/model')).status).toBe(200)
    expect((await own.patch(`/items/ServiceFieldMeta/${described[0]?.fieldId}`, { description: 'short' })).status).toBe(
      200,
    )
  })

  it('are written by who edits the model, and changed in place', async () => {
    const editor = await people.member(shop, editing)
    const named = { collectionId: id('articles'), displayName: 'Posts', icon: '📰', displayTemplate: '{{title}}' }
    const made = await editor.post('/items/ServiceCollectionMeta', [named])
    const again = await editor.send(
      'POST',
      '/items/ServiceCollectionMeta?conflict[fields]=collectionId&conflict[do]=update',
      { body: [{ collectionId: id('articles'), displayName: 'Stories' }] },
    )
    const field = await editor.post('/items/ServiceFieldMeta', [{ fieldId: id('articles.author'), displayName: 'By' }])

    expect([made.status, again.status, field.status]).toEqual([200, 200, 200])
    expect(await shop.data(`/items/ServiceCollectionMeta/${id('articles')}`)).toEqual({
      collectionId: id('articles'),
      displayName: 'Stories',
      description: null,
      icon: '📰',
      color: null,
      displayTemplate: '{{title}}',
      sort: null,
      isHidden: false,
    })
    expect(await shop.data('/items/ServiceFieldMeta?fields=fieldId,collectionId,displayName')).toEqual([
      { fieldId: id('articles.author'), collectionId: id('articles'), displayName: 'By' },
    ])
  })

  it('are told of what the caller can use, templates where all fields are read', async () => {
    const own = await world.workspace('views', shape)
    await own.post('/items/ServiceCollectionMeta', [
      { collectionId: id('authors', own), displayName: 'People', displayTemplate: '{{email}}' },
      { collectionId: id('articles', own), displayName: 'Posts', displayTemplate: '{{title}}' },
    ])
    await own.post('/items/ServiceFieldMeta', [
      { fieldId: id('authors.name', own), displayName: 'Full name' },
      { fieldId: id('authors.email', own), displayName: 'Secret' },
      { fieldId: id('articles.title', own), displayName: 'Headline' },
    ])
    const some = await people.member(own, { collections: { authors: { read: { fields: ['name'] } } } })
    const remover = await people.member(own, {
      collections: { authors: { read: { fields: ['name'] }, delete: 'all' } },
    })
    const most = await people.member(own, reading('articles'))
    const nobody = await people.memberWith(own, [])
    const names = async (client: Client, of: string) => {
      const response = await client.get(`/items/${of}?fields=displayName,displayTemplate`)
      return ((await response.json()) as { data?: object[] }).data ?? response.status
    }

    expect(await names(some, 'ServiceCollectionMeta')).toBe(403)
    expect(await (await some.get('/items/ServiceCollectionMeta?fields=displayName')).json()).toEqual({
      data: [{ displayName: 'People' }],
    })
    expect(await names(most, 'ServiceCollectionMeta')).toEqual([{ displayName: 'Posts', displayTemplate: '{{title}}' }])
    expect(await names(most, 'ServiceFieldMeta')).toEqual([{ displayName: 'Headline', displayTemplate: null }])
    expect(await (await some.get('/items/ServiceFieldMeta?fields=displayName')).json()).toEqual({
      data: [{ displayName: 'Full name' }],
    })
    expect(await names(remover, 'ServiceCollectionMeta')).toBe(403)
    expect(await (await remover.get('/items/ServiceFieldMeta?fields=displayName')).json()).toEqual({
      data: [{ displayName: 'Full name' }],
    })
    expect(await names(nobody, 'ServiceCollectionMeta')).toBe(403)
    expect((await some.post('/items/ServiceFieldMeta', [{ fieldId: id('authors.name', own) }])).status).toBe(403)
    expect((await some.delete(`/items/ServiceCollectionMeta/${id('authors', own)}`)).status).not.toBe(204)
  })

  it('stand in the manifest and in the OpenAPI document, for whoever may use what they are of', async () => {
    const own = await world.workspace('views', shape)
    const tags = async () => [
      (await own.get('/openapi')).headers.get('ETag'),
      (await own.get('/schema')).headers.get('ETag'),
    ]
    const before = await tags()
    await own.post('/items/ServiceCollectionMeta', [
      { collectionId: id('authors', own), displayName: 'People', description: 'Who "writes".' },
    ])
    await own.post('/items/ServiceFieldMeta', [
      { fieldId: id('authors.name', own), displayName: 'Full name', description: 'As on the cover.' },
      { fieldId: id('authors.email', own), displayName: 'Secret' },
    ])
    const after = await tags()
    const entitlements = ['openApiSchema:read']
    const some = await people.member(own, { entitlements, collections: { authors: { read: { fields: ['name'] } } } })
    const manifest = (await (await own.get('/schema?collections=authors')).json()) as Manifest
    const [entry] = manifest.serviceSchema.collections
    const said = (thing: { displayName?: number; description?: number } | undefined) =>
      [thing?.displayName, thing?.description].map((text) => text !== undefined && manifest.strings[text])
    const whole = await (await own.get('/openapi')).text()
    const { schemas } = (JSON.parse(whole) as Document).components
    const hidden = await (await some.get('/openapi')).text()

    expect(after.filter((tag, place) => tag === before[place])).toEqual([])
    expect(said(entry)).toEqual(['People', 'Who "writes".'])
    expect(entry?.primitiveFields.map(said)).toEqual([
      [false, false],
      ['Full name', 'As on the cover.'],
      ['Secret', false],
    ])
    for (const name of ['authorsCollectionOutput', 'authorsCreateInput', 'authorsUpdateDataInput']) {
      expect(schemas[name]).toMatchObject({
        title: 'People',
        description: 'Who "writes".',
        properties: { name: { title: 'Full name', description: 'As on the cover.' }, email: { title: 'Secret' } },
      })
    }
    expect((JSON.parse(hidden) as Document).components.schemas.authorsCollectionOutput).toMatchObject({
      title: 'People',
      properties: { name: { title: 'Full name' } },
    })
    expect(hidden).not.toContain('Secret')
  })

  it('are of what there is, and go with it', async () => {
    const own = await world.workspace('views', shape)
    const field = (fieldId: string) => own.post('/items/ServiceFieldMeta', [{ fieldId }])
    await own.post('/items/ServiceCollectionMeta', [{ collectionId: id('articles', own) }])
    await save(own, { name: 'All', collectionId: id('articles', own) })
    const made = [await field(id('articles.title', own)), await field(id('authors.name', own))]
    const missing = [
      await field(crypto.randomUUID()),
      await own.post('/items/ServiceCollectionMeta', [{ collectionId: crypto.randomUUID() }]),
      await own.post('/items/ServiceView', [{ name: 'x', query: {}, collectionId: crypto.randomUUID() }]),
    ]
    await own.migrate({
      kind: 'updateCollection',
      data: {
        id: id('authors', own),
        operations: [{ kind: 'deletePrimitiveField', data: { id: id('authors.name', own) } }],
      },
    })
    const left = await own.data('/items/ServiceFieldMeta?fields=fieldId')
    await own.migrate({ kind: 'deleteCollection', data: { id: id('articles', own) } })

    expect(made.map(({ status }) => status)).toEqual([200, 200])
    expect(missing.map(({ status }) => status)).toEqual([422, 422, 422])
    expect(left).toEqual([{ fieldId: id('articles.title', own) }])
    for (const kept of ['ServiceFieldMeta', 'ServiceCollectionMeta', 'ServiceView']) {
      expect(await own.data(`/items/${kept}`)).toEqual([])
    }
  })
})

describe('saved views', () => {
  it('are private, of a role or of the workspace, and seen by whom they are for', async () => {
    const role = await people.roleWith(shop, reading('articles'))
    const ada = await people.memberWith(shop, [role])
    const eve = await people.member(shop, reading('articles'))
    const bob = await people.member(shop, reading('authors'))
    const editor = await people.member(shop, editing)
    const collectionId = id('articles')
    const made = [
      await save(ada, { name: '1 Ada', collectionId, userId: ada.userId }),
      await save(editor, { name: '2 role', collectionId, roleId: role }),
      await save(editor, { name: '3 all', collectionId }),
    ]

    expect(made.map(({ status }) => status)).toEqual([200, 200, 200])
    expect(await listed(ada)).toEqual(['1 Ada', '2 role', '3 all'])
    expect(await listed(eve)).toEqual(['3 all'])
    expect(await listed(bob)).toEqual([])
    expect(await listed(editor)).toEqual(['2 role', '3 all'])
    expect(await listed(shop)).toEqual(['2 role', '3 all'])
    expect((await shop.get(`/items/ServiceView/${made[0]?.id}`)).status).toBe(404)
    expect((await shop.get('/items/ServiceView?fields=id&filter[name][_eq]=1%20Ada')).status).toBe(200)
  })

  it('are made and changed by their owner, as nobody else’s', async () => {
    const [ada, eve] = [await people.member(shop, reading('articles')), await people.member(shop, reading('articles'))]
    const collectionId = id('articles')
    const { id: own } = await save(ada, { name: 'Own', collectionId, userId: ada.userId, layout: { width: [1] } })
    const at = `/items/ServiceView/${own}`
    const refused = [
      await save(ada, { name: 'x', collectionId }),
      await save(ada, { name: 'x', collectionId, userId: eve.userId }),
      await save(ada, { name: 'x', collectionId: id('authors'), userId: ada.userId }),
      await save(ada, { name: 'x', collectionId: crypto.randomUUID(), userId: ada.userId }),
      await save(shop, { name: 'x', collectionId, userId: ada.userId }),
      await save(shop, { name: '', collectionId }),
    ]
    const changes = [{ userId: eve.userId }, { userId: null }, { collectionId: id('authors') }]
    const changed = await Promise.all(changes.map((change) => ada.patch(at, change)))

    expect(refused.map(({ status }) => status)).toEqual([422, 422, 422, 422, 422, 422])
    expect(changed.map(({ status }) => [200, 204].includes(status))).toEqual([false, false, false])
    expect((await ada.patch(at, { name: 'Renamed' })).ok).toBe(true)
    expect([(await eve.patch(at, { name: 'x' })).status, (await eve.delete(at)).status]).toEqual([404, 404])
    expect([(await shop.patch(at, { name: 'x' })).status, (await shop.delete(at)).status]).toEqual([404, 404])
    expect(await (await ada.get(`${at}?fields=name,layout`)).json()).toEqual({
      data: { name: 'Renamed', layout: { width: [1] } },
    })
    expect((await ada.delete(at)).status).toBe(204)
    expect((await shop.anonymous.post('/items/ServiceView', [{ name: 'x', query: {}, collectionId }])).status).toBe(403)
  })

  it('are at most 200 of one user in a workspace, and of a size', async () => {
    const [ada, eve] = [await people.member(shop, reading('articles')), await people.member(shop, reading('articles'))]
    const collectionId = id('articles')
    const views = (count: number, userId = ada.userId) =>
      Array.from({ length: count }, (_, at) => ({ name: `${at}`, collectionId, userId, query: {} }))
    const answerOf = async (response: Response) => [response.status, await response.json()]
    const tooMany = (field: string, reason: string) => [
      422,
      { source: { code: '1005', meta: { fields: [field] }, source: { message: `${field} ${reason}` } } },
    ]
    const most = 'must not have more than 200 views of their own in a workspace'
    const atOnce = await answerOf(await ada.post('/items/ServiceView', views(201)))
    const many = await Promise.all(
      [150, 150].map(async (count) => (await ada.post('/items/ServiceView', views(count))).status),
    )
    const rest = await ada.post('/items/ServiceView', views(50))
    const [own] = (
      (await (await ada.get(`/items/ServiceView?fields=id&limit=1&filter[userId][_eq]=${ada.userId}`)).json()) as {
        data: View[]
      }
    ).data
    const at = `/items/ServiceView/${own?.id}`
    const large = { text: 'x'.repeat(65_536) }
    const byEve = (view: object) => eve.post('/items/ServiceView', [{ ...views(1, eve.userId)[0], ...view }])

    expect(atOnce).toMatchObject(tooMany('userId', most))
    expect(many.sort()).toEqual([200, 422])
    expect(rest.status).toBe(200)
    expect(await answerOf(await ada.post('/items/ServiceView', views(1)))).toMatchObject(tooMany('userId', most))
    expect((await ada.patch(at, { name: 'Again', userId: ada.userId })).ok).toBe(true)
    expect((await byEve({})).status).toBe(200)
    for (const field of ['query', 'layout']) {
      const reason = 'must be at most 65536 characters long'
      expect(await answerOf(await byEve({ [field]: large }))).toMatchObject(tooMany(field, reason))
      expect(await answerOf(await ada.patch(at, { [field]: large }))).toMatchObject(tooMany(field, reason))
    }
  })

  it('are at most 200 of one role, and 200 of the workspace', async () => {
    const bounded = await world.workspace('bounded_views', { articles: { title: 'string' } })
    const [roleId, collectionId] = [await people.role(bounded, []), id('articles', bounded)]
    const of = async (count: number, shared: object) => {
      const views = Array.from({ length: count }, (_, at) => ({ name: `${at}`, collectionId, query: {}, ...shared }))
      const response = await bounded.post('/items/ServiceView', views)
      return response.ok ? 200 : [response.status, await response.json()]
    }
    const refused = (reason: string) => [
      422,
      { source: { code: '1005', meta: { fields: ['roleId'] }, source: { message: `roleId ${reason}` } } },
    ]
    const ofRole = refused('must not have more than 200 views')
    const ofNone = refused('must not be null for more than 200 views of a workspace')

    expect([await of(201, { roleId }), await of(201, {})]).toMatchObject([ofRole, ofNone])
    expect([await of(200, { roleId }), await of(200, {})]).toEqual([200, 200])
    expect([await of(1, { roleId }), await of(1, {})]).toMatchObject([ofRole, ofNone])
    expect(await of(1, { roleId: await people.role(bounded, []) })).toBe(200)
  })

  it('are of a role of their own workspace', async () => {
    const other = await world.workspace('other_views', { articles: { title: 'string' } })
    const [own, foreign] = [await people.role(shop, []), await people.role(other, [])]
    const body = (roleId: string) => [{ name: 'x', query: {}, collectionId: id('articles'), roleId }]
    const refused = await shop.post('/items/ServiceView', body(foreign))
    const missing = await shop.post('/items/ServiceView', body(crypto.randomUUID()))
    const made = await save(shop, { name: 'x', collectionId: id('articles'), roleId: own })

    expect([refused.status, await refused.json()]).toEqual([422, await missing.json()])
    expect(made.status).toBe(200)
    expect((await shop.patch(`/items/ServiceView/${made.id}`, { roleId: foreign })).status).toBe(422)
    expect((await shop.patch(`/items/ServiceView/${made.id}`, { name: 'y', roleId: own })).status).toBe(200)
  })

  it('tell a hidden collection from a missing one to nobody', async () => {
    const ada = await people.member(shop, reading('articles'))
    const body = (collectionId: string) => [{ name: 'x', query: {}, collectionId, userId: ada.userId }]
    const hidden = await ada.post('/items/ServiceView', body(id('authors')))
    const missing = await ada.post('/items/ServiceView', body(crypto.randomUUID()))

    expect([missing.status, await missing.json()]).toEqual([hidden.status, await hidden.json()])
  })
})
