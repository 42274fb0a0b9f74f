/** A 403 names the action and the collection, a violated constraint its fields: of what the caller may know. */
import { beforeAll, describe, expect, it } from 'vitest'
import { people } from '../support/service/people.ts'
import { type Workspace, world } from '../support/service/world.ts'

let shop: Workspace

beforeAll(async () => {
  shop = await world.workspace(
    'refusals',
    {
      authors: { name: 'string', note: 'string?' },
      articles: { title: 'string', authorId: 'int64?' },
      secrets: { text: 'string' },
      profiles: { text: 'string?' },
    },
    ['articles.author(authorId) -> authors.articles', 'profiles.author(id) -> authors.profiles'],
  )
  const fieldIds = ['name', 'note'].map((name) => shop.ids.get(`authors.${name}`))
  const index = { kind: 'createIndex', data: { id: crypto.randomUUID(), kind: 'unique', fieldIds } }
  await shop.migrate({ kind: 'updateCollection', data: { id: shop.ids.get('authors'), operations: [index] } })
  await shop.insert('authors', [{ name: 'Ada', note: 'x' }])
  await shop.insert('articles', [{ title: 'Lamp', authorId: '1' }])
})

const message = 'You are not allowed to do this'

it('names the action and the collection', async () => {
  const reader = await people.member(shop, {
    collections: { articles: { read: 'all', update: { fields: ['title'], filter: { title: { _eq: 'Chair' } } } } },
  })
  const told = (action: string) => ({
    message: `${message}: ${action} on articles`,
    source: { message: `${action} on articles` },
    meta: { action, collection: 'articles' },
  })

  expect(await (await reader.patch('/items/articles/1', { authorId: null })).json()).toEqual(told('update'))
  expect(await (await reader.patch('/items/articles/1', { title: 'x' })).json()).toEqual(told('update'))
  expect(await (await reader.post('/items/articles', [{ title: 'x' }])).json()).toEqual(told('create'))
  expect(await (await reader.delete('/items/articles/1')).json()).toEqual(told('delete'))
  expect(await (await reader.get('/items/articles?fields=nothing')).json()).toEqual(told('read'))
  expect(await (await reader.get('/items/articles?fields=author.name')).json()).toEqual(told('read'))
  expect(await (await reader.get('/items/secrets')).json()).toEqual({ message })
  expect(await (await reader.get('/items/nothing')).json()).toEqual({ message })
})

it('names the field to those who may read policies', async () => {
  const reader = await people.member(shop, {
    entitlements: ['workspaceMembers:read'],
    collections: { articles: { read: { fields: ['title'] } } },
  })

  for (const field of ['authorId', 'missing', 'author']) {
    const response = await reader.get(`/items/articles?filter[${field}][_eq]=1`)

    expect(response.status).toBe(403)
    expect(await response.json()).toMatchObject({ meta: { action: 'read', collection: 'articles', fields: [field] } })
  }
})

it('names the fields of a constraint that the caller may read', async () => {
  const writer = await people.member(shop, {
    collections: {
      authors: { read: { fields: ['id', 'name'] }, create: 'all', delete: 'all' },
      articles: { create: 'all' },
    },
  })
  const fields = async (response: Promise<Response>) => {
    const { source } = (await (await response).json()) as { source: { code: string; meta?: { fields: string[] } } }
    return [source.code, source.meta?.fields]
  }
  const doubled = [{ name: 'Ada', note: 'x' }]
  const astray = [{ title: 'x', authorId: '99' }]

  expect(await fields(shop.post('/items/authors', doubled))).toEqual(['1002', ['name', 'note']])
  expect(await fields(writer.post('/items/authors', doubled))).toEqual(['1002', ['name']])
  expect(await fields(writer.delete('/items/authors/1'))).toEqual(['1004', undefined])
  expect(await (await shop.delete('/items/authors/1')).json()).toMatchObject({
    source: { code: '1004', meta: { collection: 'articles', fields: ['authorId'] } },
  })
  expect((await fields(shop.post('/items/articles', astray)))[0]).toBe('1004')
})

describe('of a default that leads to what the caller does not read, as much as of one that leads nowhere', () => {
  const refused = { message: 'Query failed', source: { message: 'Foreign key constraint failed', code: '1004' } }

  it('where a field has it', async () => {
    const editor = await people.member(shop, {
      entitlements: ['dataModel:edit', 'dataModel:read'],
      collections: {
        authors: { read: { filter: { name: { _neq: 'Ada' } } } },
        articles: { read: 'all', create: 'all', update: 'all' },
      },
    })
    for (const valueEncoded of ['1', '99', null]) {
      const onCreate = { kind: 'static', valueEncoded }
      const defaultValue = valueEncoded === null ? null : { source: 'engineManaged', onCreate }
      const field = {
        id: shop.ids.get('articles.authorId'),
        operations: [{ kind: 'changeDefaultValue', data: { defaultValue } }],
      }
      const operations = [{ kind: 'updatePrimitiveField', data: field }]
      const change = { kind: 'updateCollection', data: { id: shop.ids.get('articles'), operations } }
      expect((await editor.post('/schema/migrate', { operations: [change] })).status).toBe(200)
      if (valueEncoded === null) break

      const data = [{ title: 'Lamp' }]
      const batch = {
        operations: [{ kind: 'create', collection: 'articles', data: [...data, { title: 'x', authorId: null }] }],
      }
      const answers = [
        await editor.post('/items/articles', data),
        await editor.post('/items/articles?conflict[fields]=id&conflict[do]=update', [{ id: '9', ...data[0] }]),
        await editor.post('/items', batch),
      ]
      for (const answer of answers) expect(await answer.json()).toMatchObject(refused)
    }
    expect(await shop.data('/items/articles?fields=title')).toEqual([{ title: 'Lamp' }])
  })

  it('where the database gives it', async () => {
    const member = await people.member(shop, {
      collections: {
        authors: { read: { filter: { name: { _neq: 'Ada' } } } },
        profiles: { read: 'all', create: 'all' },
      },
    })
    const [hidden, missing] = [await member.post('/items/profiles', [{}]), await member.post('/items/profiles', [{}])]

    expect(await hidden.json()).toEqual(refused)
    expect(await missing.json()).toEqual(refused)
  })
})
