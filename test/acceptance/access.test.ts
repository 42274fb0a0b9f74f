/** docs/contract.md#what-a-caller-may-do: what `GET access` says is what the API then does. */
import { expect, it } from 'vitest'
import { people } from '../support/service/people.ts'
import { type Client, world } from '../support/service/world.ts'

const shape = {
  authors: { name: 'string', email: 'string?' },
  articles: { title: 'string', status: 'string?', authorId: 'int64?' },
  notes: { text: 'string' },
}
const shop = await world.workspace('access', shape, ['articles.author(authorId) -> authors.articles'])

const whole = { read: 'all', create: 'all', update: 'all', delete: 'all' }
const nothing = { read: 'none', create: 'none', update: 'none', delete: 'none' }
const custom = (...fields: readonly string[]) => ({ access: 'custom', fields })

type Told = {
  readonly entitlements: readonly string[]
  readonly collections: Readonly<Record<string, object>>
  readonly ids: Readonly<Record<string, string>>
}

async function told(client: Pick<Client, 'get'>): Promise<Omit<Told, 'ids'>> {
  const response = await client.get('/access')
  expect(response.status).toBe(200)
  const { entitlements, collections } = ((await response.json()) as { data: Told }).data
  return { entitlements, collections: ofModel(collections) }
}

/** Without names and views, which have tests of their own (names-and-views.test.ts). */
function ofModel(collections: Told['collections']): Told['collections'] {
  return Object.fromEntries(Object.entries(collections).filter(([name]) => !/^Service(\w+Meta|View)$/.test(name)))
}

it('answers an Administrator, a member and a caller without a credential', async () => {
  const filter = { status: { _eq: 'draft' } }
  const member = await people.member(shop, {
    entitlements: ['auditLog:read'],
    collections: {
      authors: { read: { fields: ['id', 'name', 'articles'] } },
      articles: {
        read: { filter },
        create: { validation: filter },
        update: { fields: ['title'], filter },
        delete: { filter },
      },
    },
  })
  const every = ['id', 'title', 'status', 'authorId', 'author']

  const all = await told(shop)
  expect(all.entitlements).toContain('workspaceMembers:edit')
  expect(all.collections).toMatchObject({ authors: whole, articles: whole, notes: whole })
  expect(all.collections.ServiceCollection).toEqual({ ...nothing, read: 'all' })
  expect(await told(member)).toEqual({
    entitlements: ['auditLog:read'],
    collections: {
      authors: { ...nothing, read: custom('id', 'name', 'articles') },
      articles: {
        read: custom(...every),
        create: custom(...every),
        update: custom('title'),
        delete: custom(),
      },
    },
  })
  expect(await told(shop.anonymous)).toEqual({ entitlements: [], collections: {} })
})

it('calls no update whole that a check bounds', async () => {
  const notes = { read: 'all', update: { check: { text: { _neq: 'final' } } } } as const
  const member = await people.member(shop, { collections: { notes } })

  expect((await told(member)).collections).toEqual({
    notes: { ...nothing, read: 'all', update: custom('id', 'text') },
  })
})

it('answers of several policies what they allow together', async () => {
  const roles = await Promise.all([
    people.roleWith(shop, { collections: { notes: { read: { fields: ['id'] }, delete: 'all' } } }),
    people.roleWith(shop, { collections: { notes: { read: { fields: ['text'] }, update: { fields: ['text'] } } } }),
  ])

  expect((await told(await people.memberWith(shop, roles))).collections).toEqual({
    notes: { read: 'all', create: 'none', update: custom('text'), delete: 'all' },
  })
})

it('leaves out relations that lead nowhere for the caller', async () => {
  const member = await people.member(shop, { collections: { articles: { read: 'all', update: 'all' } } })

  expect((await told(member)).collections).toEqual({
    articles: {
      ...nothing,
      read: custom('id', 'title', 'status', 'authorId'),
      update: custom('id', 'title', 'status', 'authorId'),
    },
  })
  expect((await member.get('/items/articles?fields=author.name')).status).not.toBe(200)
})

it('has another tag where rights or names have changed, and only then', async () => {
  const own = await world.workspace('access', { notes: { text: 'string' } })
  const id = await people.policy(own, { collections: { notes: { read: 'all' } } })
  const member = await people.memberWith(own, [await people.role(own, [id])])
  const first = await member.get('/access')
  const tag = first.headers.get('ETag') ?? ''
  const again = () => member.send('GET', '/access', { headers: { 'If-None-Match': tag } })

  expect(tag).toMatch(/^W\/"\w{32}"$/)
  const same = await again()
  expect([same.status, await same.text(), same.headers.get('ETag')]).toEqual([304, '', tag])
  expect((await own.get('/access')).headers.get('ETag')).not.toBe(tag)
  const rename = { kind: 'changeApiName', data: { apiName: 'memos' } }
  await own.migrate({ kind: 'updateCollection', data: { id: own.ids.get('notes'), operations: [rename] } })
  const { data } = (await (await again()).json()) as { data: Told }
  expect(ofModel(data.collections)).toEqual({ memos: { ...nothing, read: 'all' } })
  expect(data.ids).toEqual({ memos: own.ids.get('notes') })
  await own.patch(`/policies/${id}`, { content: {} })
  expect(await (await again()).json()).toEqual({ data: { entitlements: [], collections: {}, ids: {} } })
})

it('ends where the scope of a key does', async () => {
  const scope = { entitlements: ['dataSource:read'], collections: { notes: ['read', 'create'] } }
  const made = await world.administrator.post('/api/system/api-keys', {
    name: world.name('key'),
    scope: { workspaces: [shop.name], ...scope },
  })
  const { key } = ((await made.json()) as { data: { key: string } }).data
  const byKey = world.bearer(key)

  expect(await told({ get: (path) => byKey.get(`/api/${shop.name}${path}`) })).toEqual({
    entitlements: ['dataSource:read'],
    collections: { notes: { ...nothing, read: 'all', create: 'all' } },
  })
})

it('answers callers without a credential what Public may do', async () => {
  const own = await world.workspace('access', { notes: { text: 'string', by: 'uuid?' } })
  const mine = { read: { filter: { by: { _eq: '$CURRENT_USER' } } } }
  const policies = [
    await people.policy(own, { collections: { notes: { read: { fields: ['text'] } } } }),
    await people.policy(own, { entitlements: ['dataModel:read'], collections: { notes: { delete: mine.read } } }),
  ]
  await own.patch(`/roles/${await people.publicRole(own)}`, { policies })
  const { entitlements, collections } = await told(own.anonymous)

  expect(entitlements).toEqual(['dataModel:read'])
  expect(collections.notes).toEqual({ ...nothing, read: custom('text') })
})

it('is 404 for a workspace that there is not, and refuses what it does not read', async () => {
  expect((await world.administrator.get('/api/nothing_here/access')).status).toBe(404)
  expect((await shop.get('/access?fields=id')).status).toBe(422)
  expect((await shop.post('/access', {})).status).toBe(405)
})
