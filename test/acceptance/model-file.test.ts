/** docs/contract.md#the-model-as-a-file: the model, roles and policies of a workspace as one file, by name. */
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { expect, it } from 'vitest'
import { people } from '../support/service/people.ts'
import { world } from '../support/service/world.ts'

const shop = await world.workspace(
  'model_file',
  { authors: { name: 'string' }, articles: { title: 'string(200)', authorId: 'int64?' } },
  ['articles.author(authorId) -> authors.articles'],
)
await people.policy(
  shop,
  { entitlements: ['dataModel:read'], collections: { articles: { read: { fields: ['title'] } } } },
  'reading',
)
const [articles, title] = [shop.ids.get('articles'), shop.ids.get('articles.title')]
await shop.insert('ServiceCollectionMeta', [
  {
    collectionId: articles,
    displayName: 'Posts',
    icon: '📰',
    color: '#b45309',
    displayTemplate: '{{title}}',
    sort: -1,
  },
  { collectionId: shop.ids.get('authors') },
])
await shop.insert('ServiceFieldMeta', [{ fieldId: title, description: 'As it is printed', isHidden: true }])

async function text(path: string): Promise<string> {
  const response = await shop.get(path)
  const body = await response.text()
  expect(response.status, body).toBe(200)
  return body
}

it('is canonical text by name', async () => {
  const file = await text('/schema/model?ids=false')

  expect(file).toBe(`{
  "version": 1,
  "collections": {
    "articles": {
      "fields": {
        "id": "int64 auto",
        "author": { "to": "authors?", "constraint": "articles_author", "index": false },
        "title": "string(200)"
      }
    },
    "authors": {
      "fields": {
        "id": "int64 auto",
        "name": "string"
      }
    }
  },
  "names": {
    "articles": { "displayName": "Posts", "icon": "📰", "color": "#b45309", "displayTemplate": "{{title}}", "sort": -1 },
    "articles.title": { "description": "As it is printed", "hidden": true }
  },
  "roles": {
    "Public": []
  },
  "policies": {
    "reading": {
      "entitlements": ["dataModel:read"],
      "collections": {
        "articles": { "read": { "fields": ["title"] } }
      }
    }
  }
}
`)
})

it('says who is who where it is not told otherwise', async () => {
  const { ids } = JSON.parse(await text('/schema/model')) as { ids: Record<string, string> }

  expect(ids['articles.title']).toBe(shop.ids.get('articles.title'))
  expect(ids['authors.articles']).toBe(shop.ids.get('authors.articles'))
  expect(Object.keys(ids)).toEqual(expect.arrayContaining(['articles: key', 'role Public', 'policy reading']))
})

it('is what its JSON Schema says, which anyone may read', async () => {
  const response = await world.anonymous.get('/api/system/schemas/model')
  const ajv = addFormats.default(new Ajv2020({ strict: false }))
  const isFile = ajv.compile((await response.json()) as object)

  expect(response.status).toBe(200)
  expect(isFile(JSON.parse(await text('/schema/model'))), JSON.stringify(isFile.errors)).toBe(true)
  expect(isFile({ version: 1, collections: { a: { fields: { id: 'int65' } } } })).toBe(false)
  expect(isFile({ version: 1, collections: { a: { fields: {}, colour: 'red' } } })).toBe(false)
  expect(isFile({ version: 1, names: { a: { isHidden: true } } })).toBe(false)
})

it('has no roles and policies for those who may not read them, and is refused to others', async () => {
  const reader = await people.member(shop, { entitlements: ['dataModel:read'] })
  const stranger = await people.member(shop, {})

  const file = (await (await reader.get('/schema/model')).json()) as Record<string, object>
  expect(Object.keys(file)).toEqual(['version', 'collections', 'names', 'ids'])
  expect(Object.keys(file.ids ?? {}).filter((line) => /^(role|policy) /.test(line))).toEqual([])
  expect((await stranger.get('/schema/model')).status).toBe(403)
})

it.each(['?ids=yes', '?id=false'])('refuses %s', async (query) => {
  expect((await shop.get(`/schema/model${query}`)).status).toBe(422)
})

const listed = (count: number, make: (at: number) => readonly [string, unknown]) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => make(at)))
const junctions = listed(1_500, (at) => [`r${at}`, { many: 'authors', opposite: `o${at}`, through: `t${at}` }])
const relations = listed(3_500, (at) => [`r${at}`, { to: 'authors', opposite: `o${at}` }])
const writing = Object.fromEntries(['read', 'create', 'update', 'delete'].map((action) => [action, 'all']))

it.each([
  ['collections', 'model.collections', { collections: listed(5_001, (at) => [`c${at}`, { fields: { id: 'int64' } }]) }],
  ['junctions', 'model.collections', { collections: { authors: { fields: { id: 'int64', ...junctions } } } }],
  ['relations', 'model.collections', { collections: { authors: { fields: { id: 'int64', ...relations } } } }],
  ['roles', 'model.roles', { roles: listed(4_097, (at) => [`r${at}`, []]) }],
  ['policies', 'model.policies', { policies: listed(4_097, (at) => [`p${at}`, {}]) }],
  [
    'rights',
    'model.roles',
    {
      policies: listed(200, (at) => [`p${at}`, { collections: { authors: writing } }]),
      roles: listed(80, (at) => [`r${at}`, Object.keys(listed(200, (policy) => [`p${policy}`, 0]))]),
    },
  ],
])('refuses to plan more %s than one file may make', async (_, place, more) => {
  const response = await shop.post('/schema/plan', { model: { version: 1, ...more } })

  expect(response.status).toBe(422)
  expect(await response.json()).toMatchObject({ source: { message: place } })
})
