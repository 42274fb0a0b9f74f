/** docs/contract.md#api-keys: keys act as their user until they are switched off or deleted. */
import { expect, it } from 'vitest'
import { people } from '../support/service/people.ts'
import { type Client, world } from '../support/service/world.ts'

const path = '/api/system/api-keys'

it('creates a key and shows it once, with everything that is known of it', async () => {
  const response = await world.administrator.post(path, { name: 'robot', description: 'moves boxes' })

  expect(response.status).toBe(201)
  expect(await response.json()).toEqual({
    data: {
      id: expect.any(String),
      name: 'robot',
      description: 'moves boxes',
      active: true,
      userId: expect.any(String),
      expiresAt: null,
      createdAt: expect.stringMatching(/Z$/),
      lastUsedAt: null,
      scope: null,
      madeBy: null,
      key: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
    },
  })
})

it('lists keys without the key itself', async () => {
  const { id, key } = await createKey()

  const response = await world.administrator.get(path)

  const text = await response.text()
  expect(response.status).toBe(200)
  expect(JSON.parse(text).data.map((row: { id: string }) => row.id)).toContain(id)
  expect(text).not.toContain(key)
})

it('lets a key do what its user may do', async () => {
  const shop = await world.workspace('shop', { articles: { title: 'string' } })
  const { key } = await createKey()

  const response = await world.bearer(key).post(`/api/${shop.name}/items/articles`, [{ title: 'Lamp' }])

  expect(response.status).toBe(200)
})

it('refuses a key from the next request on once it is switched off, and takes it again when it is back on', async () => {
  const shop = await world.workspace('shop', { articles: { title: 'string' } })
  const { id, key } = await createKey()
  const robot = world.bearer(key)
  const items = `/api/${shop.name}/items/articles`

  const before = await robot.get(items)
  const off = await world.administrator.patch(`${path}/${id}`, { active: false })
  const [inWorkspace, inSystem] = [await robot.get(items), await robot.get(path)]
  const on = await world.administrator.patch(`${path}/${id}`, { active: true })
  const after = await robot.get(items)

  expect(before.status).toBe(200)
  expect(await off.json()).toMatchObject({ data: { id, active: false } })
  expect([inWorkspace.status, inSystem.status]).toEqual([401, 401])
  expect(await inWorkspace.json()).toEqual({ message: 'Invalid token' })
  expect(await on.json()).toMatchObject({ data: { id, active: true } })
  expect(after.status).toBe(200)
})

it('refuses a key from the next request on once it is deleted', async () => {
  const { id, key } = await createKey()

  const before = await world.bearer(key).get(path)
  const deletion = await world.administrator.delete(`${path}/${id}`)
  const after = await world.bearer(key).get(path)

  expect(before.status).toBe(200)
  expect(deletion.status).toBe(204)
  expect(await deletion.text()).toBe('')
  expect(after.status).toBe(401)
})

it('refuses a key whose time is over', async () => {
  const { key } = await createKey({ expiresIn: '1ms' })

  const response = await world.bearer(key).get(path)

  expect(response.status).toBe(401)
})

it('changes name and description and leaves alone what is not sent', async () => {
  const { id } = await createKey({ description: 'old' })

  await world.administrator.patch(`${path}/${id}`, { name: 'renamed' })
  const response = await world.administrator.patch(`${path}/${id}`, { description: null })

  expect(await response.json()).toMatchObject({ data: { id, name: 'renamed', description: null, active: true } })
})

it('answers 404 for a key that does not exist', async () => {
  const unknown = `${path}/00000000-0000-4000-8000-000000000000`

  const patched = await world.administrator.patch(unknown, { active: false })
  const deleted = await world.administrator.delete(unknown)
  const noId = await world.administrator.delete(`${path}/nonsense`)

  expect([patched.status, deleted.status, noId.status]).toEqual([404, 404, 404])
})

it('answers 403 to anonymous callers', async () => {
  const listed = await world.anonymous.get(path)
  const created = await world.anonymous.post(path, { name: 'mine' })

  expect([listed.status, created.status]).toEqual([403, 403])
})

it('makes a key for its maker, for service accounts they own, and for nobody else', async () => {
  const shop = await world.workspace('shop', {})
  const [ada, bob] = [await people.memberWith(shop, []), await people.memberWith(shop, [])]
  const own = await serviceAccount(ada.system)
  const others = await serviceAccount(bob.system)

  const made = await Promise.all([ada.userId, own].map((userId) => ada.system.post(path, { name: 'mine', userId })))
  const refused = await Promise.all(
    [bob.userId, others, crypto.randomUUID()].map((userId) => ada.system.post(path, { name: 'theirs', userId })),
  )

  expect(made.map(({ status }) => status)).toEqual([201, 201])
  expect(refused.map(({ status }) => status)).toEqual([403, 403, 403])
  expect(await refused[0]?.json()).toEqual({
    message: 'A key can only be made for yourself or for a service account that you own',
  })
})

it('lets administrators of the instance make a key for anyone who exists', async () => {
  const shop = await world.workspace('shop', {})
  const { userId, email } = await people.memberWith(shop, [])

  const { key } = await createKey({ userId })
  const me = await world.bearer(key).get('/api/system/users/me')
  const unknown = await world.administrator.post(path, { name: 'theirs', userId: crypto.randomUUID() })

  expect(await me.json()).toMatchObject({ data: { id: userId, email } })
  expect(unknown.status).toBe(422)
  expect(await unknown.json()).toMatchObject({ source: { message: 'userId', source: { message: 'does not exist' } } })
})

it('shows, changes and deletes keys only for whoever looks after them', async () => {
  const shop = await world.workspace('shop', {})
  const [ada, bob] = [await people.memberWith(shop, []), await people.memberWith(shop, [])]
  const mine = await createKey({ name: 'mine' }, ada.system)
  const ofService = await createKey({ userId: await serviceAccount(ada.system) }, ada.system)
  const ids = async (client: Client) => {
    const { data } = (await (await client.get(path)).json()) as { data: { id: string }[] }
    return data.map(({ id }) => id).toSorted()
  }

  const seen = [await ids(ada.system), await ids(bob.system)]
  const tried = [
    await bob.system.patch(`${path}/${mine.id}`, { active: false }),
    await bob.system.delete(`${path}/${ofService.id}`),
  ]
  const changed = [
    await ada.system.patch(`${path}/${ofService.id}`, { active: false }),
    await world.administrator.delete(`${path}/${mine.id}`),
  ]

  expect(seen).toEqual([[mine.id, ofService.id].toSorted(), []])
  expect(tried.map(({ status }) => status)).toEqual([404, 404])
  expect(await tried[0]?.json()).toEqual({ message: 'API key does not exist' })
  expect(changed.map(({ status }) => status)).toEqual([200, 204])
})

it('lists like items: fields, filter, sort, limit, offset and meta', async () => {
  const { system } = await people.memberWith(await world.workspace('shop', {}), [])
  await Promise.all(['a', 'b', 'c'].map((name) => createKey({ name }, system)))

  const query = 'fields=name&sort[0][name][direction]=desc&limit=1&offset=1&meta=totalCount&filter[active][_eq]=true'
  const response = await system.get(`${path}?${query}`)
  const wrong = await system.get(`${path}?filter[owner_id][_null]=true`)

  expect(await response.json()).toEqual({ data: [{ name: 'b' }], meta: { totalCount: 3 } })
  expect(wrong.status).toBe(422)
})

it('says when a key was last used', async () => {
  const before = new Date()
  const { id, key } = await createKey()

  await world.bearer(key).get('/api/system/users/me')

  const used = (await (await world.administrator.get(`${path}?filter[id][_eq]=${id}&fields=lastUsedAt`)).json()) as {
    data: { lastUsedAt: string }[]
  }
  const at = new Date(used.data[0]?.lastUsedAt ?? '')
  expect(at.getTime()).toBeGreaterThanOrEqual(before.getTime() - 1_000)
  expect(at.getTime()).toBeLessThanOrEqual(Date.now() + 1_000)
})

it('gives a key the rights of its user, as they are at the moment', async () => {
  const shop = await world.workspace('shop', { articles: { title: 'string' } })
  const role = await people.roleWith(shop, { collections: { articles: { read: 'all' } } })
  const { userId, system } = await people.memberWith(shop, [])
  const robot = world.bearer((await createKey({}, system)).key)
  const items = `/api/${shop.name}/items/articles`

  const without = await robot.get(items)
  await shop.patch(`/members/${userId}`, { roles: [role] })
  const withRole = await robot.get(items)
  await shop.patch(`/members/${userId}`, { status: 'suspended' })
  const suspended = await robot.get(items)
  await world.administrator.delete(`/api/system/users/${userId}`)
  const gone = await robot.get(items)

  expect([without, withRole, suspended, gone].map(({ status }) => status)).toEqual([403, 200, 403, 401])
})

it.each([
  ['without a name', {}, 'name'],
  ['with a blank name', { name: ' ' }, 'name'],
  ['with a duration that is none', { name: 'robot', expiresIn: 'soon' }, 'expiresIn'],
  [
    'with an unknown member',
    { name: 'robot', admin: true },
    'unknown field admin; allowed: name, description, expiresIn, userId, scope',
  ],
])('answers 422 for a key %s', async (_, body, place) => {
  const response = await world.administrator.post(path, body)

  expect(response.status).toBe(422)
  expect(await response.json()).toMatchObject({
    message: expect.stringContaining('Failed to read the JSON body: '),
    source: { message: place },
  })
})

/** The id of a new service account of whoever asks. */
async function serviceAccount(owner: Client): Promise<string> {
  const response = await owner.post('/api/system/service-accounts', { name: 'worker' })
  return ((await response.json()) as { data: { id: string } }).data.id
}

async function createKey(wish: object = {}, by: Client = world.administrator): Promise<{ id: string; key: string }> {
  const response = await by.post(path, { name: 'robot', ...wish })
  const { data } = (await response.json()) as { data: { id: string; key: string } }
  return data
}
