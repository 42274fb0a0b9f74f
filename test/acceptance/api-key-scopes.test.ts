/** A key may be limited to a part of what its user may do, and what is made with it reaches no further (docs/decisions/044). */
import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { people } from '../support/service/people.ts'
import { type Client, createCollection, type Workspace, world } from '../support/service/world.ts'

const path = '/api/system/api-keys'
const shape = { articles: { title: 'string' }, secrets: { text: 'string' } }
const shop = await world.workspace('scopes', shape)
const other = await world.workspace('scopes', shape)
await shop.insert('articles', [{ title: 'Lamp' }])
const items = (name: string, workspace: Workspace = shop) => `/api/${workspace.name}/items/${name}`
const count = (name: string) => `/api/${shop.name}/aggregates/${name}?aggregate[n][count]=*`

it('joins and makes unique, in the model, nothing of collections that its scope denies', async () => {
  const scope = {
    workspaces: [shop.name],
    entitlements: ['dataModel:read', 'dataModel:edit'],
    collections: { articles: ['read', 'create', 'update', 'delete'] },
  }
  const { client } = await keyWith({ scope })
  const unique = (collection: string, field: string) => {
    const data = { id: randomUUID(), kind: 'unique', fieldIds: [shop.ids.get(`${collection}.${field}`)] }
    return {
      kind: 'updateCollection',
      data: { id: shop.ids.get(collection), operations: [{ kind: 'createIndex', data }] },
    }
  }

  const refused = await client.post(`/api/${shop.name}/schema/migrate?dryRun=true`, {
    operations: [unique('secrets', 'text')],
  })
  const allowed = await client.post(`/api/${shop.name}/schema/migrate?dryRun=true`, {
    operations: [unique('articles', 'title')],
  })

  expect([refused.status, await refused.json()]).toMatchObject([500, { source: { source: { code: '3004' } } }])
  expect(allowed.status).toBe(200)
})

it('reaches only the workspaces, collections, actions and entitlements that its scope names', async () => {
  const scope = {
    workspaces: [shop.name],
    entitlements: ['dataModel:read'],
    collections: { articles: ['read', 'create'] },
  }
  const { client } = await keyWith({ scope })

  const allowed = [
    await client.get(items('articles')),
    await client.get(count('articles')),
    await client.post(items('articles'), [{ title: 'Chair' }]),
    await client.get(`/api/${shop.name}/schema`),
  ]
  const refused = [
    await client.delete(`${items('articles')}?filter[title][_eq]=Chair`),
    await client.patch(items('articles'), { title: 'Table' }),
    await client.get(items('secrets')),
    await client.get(count('secrets')),
    await client.get(items('ServiceDataSource')),
    await client.get(items('articles', other)),
    await client.get(`/api/${shop.name}/members`),
    await client.get(`/api/${shop.name}/openapi`),
    await client.get(`/api/${shop.name}/audit-log`),
    await client.post(`/api/${shop.name}/schema/migrate`, { operations: [] }),
    await client.post(`/api/${shop.name}/mcp`, { jsonrpc: '2.0', id: 1, method: 'tools/list' }),
  ]

  expect(allowed.map(({ status }) => status)).toEqual([200, 200, 200, 200])
  expect(refused.map(({ status }) => status)).toEqual(refused.map(() => 403))
})

it('reaches no workspace that its scope leaves out, whatever it may do elsewhere', async () => {
  const { client } = await keyWith({ scope: { workspaces: [shop.name] } })

  const refused = [
    await client.get(items('articles', other)),
    await client.post(items('articles', other), [{ title: 'Chair' }]),
    await client.get(`/api/${other.name}/schema`),
    await client.get(`/api/${other.name}/access`),
    await client.post(`/api/${other.name}/mcp`, { jsonrpc: '2.0', id: 1, method: 'tools/list' }),
  ]

  expect((await client.get(items('articles'))).status).toBe(200)
  const message = 'The scope of this key does not include this workspace'
  expect(await Promise.all(refused.map(async (one) => [one.status, await one.text()]))).toEqual(
    refused.map(() => [403, expect.stringContaining(message)]),
  )
})

it('reaches nothing of the system but the key itself', async () => {
  for (const scope of [{ workspaces: [shop.name] }, { entitlements: [] }, { collections: {} }]) {
    const { client, id } = await keyWith({ scope })

    const allowed = [
      await client.get('/api/system/users/me'),
      await client.get(path),
      await client.patch(`${path}/${id}`, { name: 'renamed' }),
    ]
    const refused = [
      await client.get('/api/system/users'),
      await client.get('/api/system/workspaces'),
      await client.post('/api/system/workspaces', { apiName: world.name('mine') }),
      await client.get('/api/system/info'),
      await client.get('/api/system/license'),
      await client.post('/api/system/license/refresh', {}),
      await client.get('/api/system/audit-log'),
      await client.get('/api/system/openapi'),
      await client.get('/api/system/providers'),
      await client.get('/api/system/service-accounts'),
      await client.post('/api/system/service-accounts', { name: 'worker' }),
      await client.post('/api/auth/password-change', { currentPassword: 'x'.repeat(10), newPassword: 'y'.repeat(10) }),
      await client.post(path, { name: 'theirs', userId: (await people.memberWith(shop, [])).userId }),
    ]

    expect(allowed.map(({ status }) => status)).toEqual([200, 200, 200])
    expect(refused.map(({ status }) => status)).toEqual(refused.map(() => 403))
  }
})

it('is told in the answer, in lists and in the audit log, and never changes', async () => {
  const scope = {
    workspaces: [shop.name],
    collections: { articles: ['read'] },
    addresses: ['::ffff:10.0.0.0/104', '::1'],
  }
  const shown = { ...scope, addresses: ['10.0.0.0/8', '::1/128'] }
  const { id, created } = await keyWith({ scope })

  const [listed] = await listOf(world.administrator, `?filter[id][_eq]=${id}`)
  const entries = await listOf(world.administrator, `?filter[targetId][_eq]=${id}`, '/api/system/audit-log')
  const changed = await world.administrator.patch(`${path}/${id}`, { scope: {} })
  const renamed = await world.administrator.patch(`${path}/${id}`, { name: 'renamed' })
  const unlimited = await keyWith({ scope: {} })

  expect(created).toMatchObject({ scope: shown, madeBy: null })
  expect(listed).toMatchObject({ scope: shown })
  expect(entries).toMatchObject([{ action: 'api_key.create.v1', payload: { scope: shown } }])
  expect(changed.status).toBe(422)
  expect(await renamed.json()).toMatchObject({ data: { name: 'renamed', scope: shown } })
  expect(unlimited.created).toMatchObject({ scope: null })
})

it('lets a key that is made with it reach no further, and inherits what is not said', async () => {
  const scope = { workspaces: [shop.name], entitlements: ['dataModel:read'], collections: { articles: ['read'] } }
  const { client, id } = await keyWith({ scope })
  const heir = await keyWith({}, client)
  const narrower = await keyWith({ scope: { entitlements: [], collections: { articles: [] } } }, client)

  const refused = await Promise.all(
    [
      { workspaces: [shop.name, other.name] },
      { entitlements: ['dataModel:read', 'dataModel:edit'] },
      { collections: { articles: ['read', 'update'] } },
      { collections: { articles: ['read'], secrets: ['read'] } },
    ].map((wider) => client.post(path, { name: 'wider', scope: wider })),
  )
  const seen = await listOf(client, '?fields=id')

  expect(heir.created).toMatchObject({ scope, madeBy: id })
  expect(narrower.created).toMatchObject({ scope: { workspaces: [shop.name], entitlements: [] } })
  expect((await heir.client.get(items('secrets'))).status).toBe(403)
  expect((await heir.client.get(items('articles'))).status).toBe(200)
  expect((await narrower.client.get(items('articles'))).status).toBe(403)
  expect(refused.map(({ status }) => Math.floor(status / 100))).toEqual([4, 4, 4, 4])
  expect(seen.map((row) => row.id).toSorted()).toEqual([id, heir.id, narrower.id].toSorted())
})

it('looks after itself and what it made, not after other keys of its user', async () => {
  const wide = await keyWith({})
  const { client, id } = await keyWith({ scope: { workspaces: [shop.name] } })
  await world.administrator.patch(`${path}/${wide.id}`, { active: false })

  const refused = [
    await client.patch(`${path}/${wide.id}`, { active: true }),
    await client.delete(`${path}/${wide.id}`),
  ]
  const gone = await client.delete(`${path}/${id}`)

  expect(refused.map(({ status }) => status)).toEqual([404, 404])
  expect([gone.status, (await client.get(path)).status]).toEqual([204, 401])
})

it('passes to no collection or workspace that takes over a name', async () => {
  const own = await world.workspace('scopes', { articles: { title: 'string' }, drafts: { title: 'string' } })
  const scope = { workspaces: [own.name], collections: { articles: ['read'] } }
  const { client, id } = await keyWith({ scope })
  const rename = (name: string, to: string) =>
    own.migrate({
      kind: 'updateCollection',
      data: { id: own.ids.get(name), operations: [{ kind: 'changeApiName', data: { apiName: to } }] },
    })

  const before = await client.get(items('articles', own))
  const renamings = [await rename('articles', 'posts'), await rename('drafts', 'articles')]
  const after = [await client.get(items('posts', own)), await client.get(items('articles', own))]
  const [listed] = await listOf(world.administrator, `?filter[id][_eq]=${id}`)

  expect(before.status).toBe(200)
  expect(renamings.map(({ status }) => status)).toEqual([200, 200])
  expect(after.map(({ status }) => status)).toEqual([200, 403])
  expect(listed).toMatchObject({ scope: { collections: { posts: ['read'] } } })
})

it('reaches nothing that is made again under an id that its scope names, but by an Administrator', async () => {
  const own = await world.workspace('scopes', { articles: { title: 'string' } })
  await keyWith({ scope: { workspaces: [own.name], collections: { articles: ['read'] } } })
  const editor = await people.member(own, { entitlements: ['dataModel:edit'] })
  const id = own.ids.get('articles')
  const { kind, data } = createCollection(new Map(), own.sourceId, 'others', { text: 'string' })
  const again = { operations: [{ kind, data: { ...data, id } }] }

  const within = await editor.post('/schema/migrate', {
    operations: [{ kind: 'deleteCollection', data: { id } }, ...again.operations],
  })
  const deleted = await editor.post('/schema/migrate', { operations: [{ kind: 'deleteCollection', data: { id } }] })
  const refused = [await editor.post('/schema/migrate?dryRun=true', again), await editor.post('/schema/migrate', again)]
  const allowed = await own.migrate(...again.operations)

  const told = await Promise.all([within, ...refused].map(async (one) => [one.status, await one.json()]))
  expect(told).toMatchObject(told.map(() => [500, { source: { source: { code: '3004' } } }]))
  expect([deleted.status, allowed.status]).toEqual([200, 200])
})

it.each(['a\0b', 'a\ud800'])('is refused where it names a workspace that no database can store', async (name) => {
  const refused = await world.administrator.post(path, { name: 'odd', scope: { workspaces: [name] } })

  expect([refused.status, await refused.text()]).toEqual([422, expect.stringContaining('no database can store')])
})

it('does not count from an address outside of its ranges', async () => {
  const { client } = await keyWith({ scope: { addresses: ['203.0.113.0/24', '2001:db8::/32'] } })

  const refused = [
    await client.get(items('articles')),
    await client.get('/api/system/users/me'),
    await client.get(path),
    await client.post(`/api/${shop.name}/mcp`, {}),
  ]

  expect(refused.map(({ status }) => status)).toEqual([403, 403, 403, 403])
  expect(await refused[0]?.json()).toEqual({ message: 'The scope of this key does not include this client address' })
})

it('counts from the addresses of its ranges, as the audit log knows them, and so does what is made with it', async () => {
  const person = await people.memberWith(shop, [await people.administratorRole(shop)])
  const [entry] = await listOf(
    world.administrator,
    `?filter[action][_eq]=auth.login.v1&filter[actorId][_eq]=${person.userId}&fields=ip`,
    '/api/system/audit-log',
  )
  const near = typeof entry?.ip === 'string' ? [entry.ip] : ['0.0.0.0/0', '::/0']
  // Nobody is let in where the address is not known.
  const expected = typeof entry?.ip === 'string' ? 200 : 403
  const { client } = await keyWith({ scope: { addresses: [...near, '203.0.113.0/24'] } }, person.system)

  const read = await client.get(items('articles'))
  const account = await client.post('/api/system/service-accounts', { name: 'worker' })
  const wider = await client.post(path, { name: 'wider', scope: { addresses: ['0.0.0.0/0'] } })
  const far = await client.post(path, { name: 'far', scope: { addresses: ['203.0.113.7'] } })

  expect([read.status, account.status === 201]).toEqual([expected, expected === 200])
  expect([wider.status, far.status]).toEqual([403, expected === 200 ? 201 : 403])
})

it('gives away no more than it reaches', async () => {
  const scope = {
    workspaces: [shop.name],
    entitlements: ['workspaceMembers:edit', 'workspaceMembers:read', 'dataModel:read'],
    collections: { articles: ['read'] },
  }
  const { client } = await keyWith({ scope })
  const policy = (content: object) => client.post(`/api/${shop.name}/policies`, { name: world.name('policy'), content })
  const invite = (role: string) =>
    client.post(`/api/${shop.name}/invitations`, { email: people.email(), workspace_roles: [role] })

  const allowed = [await policy({ collections: { articles: { read: 'all' } } })]
  const refused = [
    await policy({ collections: { articles: { update: 'all' } } }),
    await policy({ collections: { secrets: { read: 'all' } } }),
    await policy({ entitlements: ['dataModel:edit'] }),
    await invite(await people.administratorRole(shop)),
    await invite(await people.roleWith(shop, { collections: { secrets: { read: 'all' } } })),
  ]

  expect(allowed.map(({ status }) => status)).toEqual([201])
  expect(refused.map(({ status }) => status)).toEqual([403, 403, 403, 403, 403])
})

it.each([
  ['an unknown member', { colections: {} }, 'scope'],
  ['an unknown entitlement', { entitlements: ['dataModel:read', 'everything'] }, 'scope.entitlements[1]'],
  ['an unknown action', { collections: { articles: ['look'] } }, 'scope.collections.articles[0]'],
  ['an unknown workspace', { workspaces: [shop.name, 'nowhere'] }, 'scope.workspaces[1]'],
  [
    'an unknown collection',
    { workspaces: [shop.name], collections: { nothing: ['read'] } },
    'scope.collections.nothing',
  ],
  ['a network that is none', { addresses: ['10.0.0.0/8', '10.0.0.0/33'] }, 'scope.addresses[1]'],
  ['a network with bits behind its prefix', { addresses: ['10.0.0.1/8'] }, 'scope.addresses[0]'],
  ['a name in place of a network', { addresses: ['example.com'] }, 'scope.addresses[0]'],
])('answers 422 for a scope with %s, naming the place', async (_, scope, place) => {
  const response = await world.administrator.post(path, { name: 'robot', scope })

  expect(response.status).toBe(422)
  expect(JSON.stringify(await response.json())).toContain(JSON.stringify(place))
})

it('tells nobody of a collection that they cannot use', async () => {
  const reader = await people.member(shop, { collections: { articles: { read: 'all' } } })
  const wish = (name: string) => ({ name: 'x', scope: { workspaces: [shop.name], collections: { [name]: ['read'] } } })

  const [hidden, missing, known] = [
    await reader.system.post(path, wish('secrets')),
    await reader.system.post(path, wish('nothing')),
    await reader.system.post(path, wish('articles')),
  ]

  const texts = [await hidden.text(), await missing.text()]
  expect([hidden.status, missing.status, known.status]).toEqual([422, 422, 201])
  expect(texts[0]?.replaceAll('secrets', 'nothing')).toBe(texts[1])
})

it('ends with the key that it was made with: switched off, deleted, and never later', async () => {
  const maker = await keyWith({ expiresIn: '1h' })
  const child = await keyWith({}, maker.client)
  const shorter = await keyWith({ expiresIn: '1m' }, maker.client)
  const grandchild = await keyWith({}, child.client)
  const probe = async () =>
    Promise.all([child, grandchild].map(async ({ client }) => (await client.get(items('articles'))).status))

  const longer = await maker.client.post(path, { name: 'x', expiresIn: '2h' })
  const statuses = [await probe()]
  await world.administrator.patch(`${path}/${maker.id}`, { active: false })
  statuses.push(await probe())
  await world.administrator.patch(`${path}/${maker.id}`, { active: true })
  statuses.push(await probe())
  await world.administrator.delete(`${path}/${maker.id}`)
  statuses.push(await probe())

  const ends = [maker, child, shorter].map(({ created }) => created.expiresAt)
  expect(ends[1]).toBe(ends[0])
  expect(String(ends[2]) < String(ends[0])).toBe(true)
  expect(longer.status).toBe(422)
  expect(await longer.json()).toMatchObject({ source: { message: 'expiresIn' } })
  expect(statuses).toEqual([
    [200, 200],
    [401, 401],
    [200, 200],
    [401, 401],
  ])
})

it('lets nobody in whose membership is suspended', async () => {
  const member = await people.member(shop, { collections: { articles: { read: 'all' } } })
  const { client } = await keyWith({ scope: { workspaces: [shop.name] } }, member.system)
  const before = await client.get(items('articles'))
  await shop.patch(`/members/${member.userId}`, { status: 'suspended' })
  const after = await client.get(items('articles'))

  expect([before.status, after.status]).toEqual([200, 403])
})

it('switches no key on that outlives it, and makes no endless line of keys', async () => {
  const endless = await keyWith({})
  await world.administrator.patch(`${path}/${endless.id}`, { active: false })
  const ending = await keyWith({ expiresIn: '1h' })
  const refused = await ending.client.patch(`${path}/${endless.id}`, { active: true })

  let last = ending
  for (let generation = 2; generation <= 8; generation += 1) last = await keyWith({}, last.client)
  const beyond = await last.client.post(path, { name: 'x' })

  expect([refused.status, beyond.status]).toEqual([403, 403])
})

type Row = Readonly<Record<string, unknown>>

async function keyWith(
  wish: object,
  by: Client = world.administrator,
): Promise<{ readonly id: string; readonly client: Client; readonly created: Row }> {
  const response = await by.post(path, { name: 'robot', ...wish })
  const text = await response.text()
  if (response.status !== 201) throw new Error(`${path} answered ${response.status}: ${text}`)
  const { data } = JSON.parse(text) as { data: Row & { id: string; key: string } }
  return { id: data.id, client: world.bearer(data.key), created: data }
}

async function listOf(client: Client, query: string, at = path): Promise<readonly Row[]> {
  const { data } = (await (await client.get(`${at}${query}`)).json()) as { data: Row[] }
  return data
}
