/** docs/contract.md#accounts: accounts for programs, owned by people, that sign in by API key. */
import { expect, it } from 'vitest'
import { people } from '../support/service/people.ts'
import { type Client, world } from '../support/service/world.ts'

const path = '/api/system/service-accounts'
const shop = await world.workspace('service', { articles: { title: 'string' } })
const reading = await people.roleWith(shop, { collections: { articles: { read: 'all' } } })
const ada = await people.member(shop, {
  entitlements: ['workspaceMembers:edit'],
  collections: { articles: { read: 'all' } },
})
const bob = await people.memberWith(shop, [])
const items = `/api/${shop.name}/items/articles`

it('is made by whoever signs in, who then owns it', async () => {
  const response = await bob.system.post(path, { name: 'worker', description: 'moves boxes' })
  const { data } = (await response.json()) as { data: { id: string } }
  const read = await bob.system.get(`${path}/${data.id}`)

  const account = {
    id: expect.any(String),
    name: 'worker',
    description: 'moves boxes',
    isService: true,
    status: 'active',
    owner: bob.userId,
    serviceAccountOwner: { id: bob.userId, email: bob.email, fullName: null },
    roles: [],
    createdAt: expect.stringMatching(/Z$/),
  }
  expect(response.status).toBe(201)
  expect(data).toEqual(account)
  expect(await read.json()).toEqual({ data: account })
})

it('does what its roles allow, by an API key', async () => {
  const roles = [{ workspace: shop.name, roleId: reading }]
  const id = await made(ada.system, { name: 'reader', roles })
  const robot = await keyOf(ada.system, id)

  const read = await robot.get(items)
  const write = await robot.post(items, [{ title: 'Lamp' }])
  const me = await robot.get('/api/system/users/me')
  const members = await shop.data(`/members?filter[userId][_eq]=${id}`)

  expect([read.status, write.status]).toEqual([200, 403])
  expect(await me.json()).toMatchObject({ data: { id, fullName: 'reader', isService: true, email: null } })
  expect(members).toMatchObject([{ userId: id, isService: true, fullName: 'reader', roles: [reading] }])
})

it('gets, keeps and loses roles by PATCH; without a role it is no member', async () => {
  const other = await people.role(shop, [])
  const id = await made(ada.system, { name: 'reader', roles: [{ workspace: shop.name, roleId: reading }] })
  const robot = await keyOf(ada.system, id)

  const both = await ada.system.patch(`${path}/${id}`, {
    roles: [reading, other].map((roleId) => ({ workspace: shop.name, roleId })),
  })
  const renamed = await ada.system.patch(`${path}/${id}`, { name: 'renamed' })
  const before = await robot.get(items)
  const none = await ada.system.patch(`${path}/${id}`, { roles: [] })
  const after = await robot.get(items)

  expect(((await both.json()) as { data: { roles: object[] } }).data.roles).toHaveLength(2)
  expect(await renamed.json()).toMatchObject({ data: { name: 'renamed', roles: [{}, {}] } })
  expect(await none.json()).toMatchObject({ data: { roles: [] } })
  expect([before.status, after.status]).toEqual([200, 403])
  expect(await shop.data(`/members?filter[userId][_eq]=${id}`)).toEqual([])
})

it('is given no more than its maker holds', async () => {
  const writing = await people.roleWith(shop, { collections: { articles: { create: 'all' } } })
  const elsewhere = await world.workspace('service', {})
  const grants = [
    { workspace: shop.name, roleId: writing },
    { workspace: shop.name, roleId: await people.administratorRole(shop) },
    { workspace: elsewhere.name, roleId: await people.role(elsewhere, []) },
    { workspace: world.name('nowhere'), roleId: reading },
  ]
  const id = await made(ada.system, { name: 'reader' })

  const created = await Promise.all(grants.map((grant) => ada.system.post(path, { name: 'x', roles: [grant] })))
  const changed = await Promise.all(grants.map((grant) => ada.system.patch(`${path}/${id}`, { roles: [grant] })))
  const byBob = await bob.system.post(path, { name: 'x', roles: [{ workspace: shop.name, roleId: reading }] })

  const messages = await Promise.all(created.map(async (response) => (await response.json()) as { message: string }))
  expect([...created, ...changed, byBob].map(({ status }) => status)).toEqual(Array.from({ length: 9 }, () => 403))
  expect(messages.map(({ message }) => message)).toEqual([
    'You cannot grant rights that you do not hold',
    'Only an Administrator can assign the role Administrator',
    'Requires the entitlement workspaceMembers:edit',
    'Requires the entitlement workspaceMembers:edit',
  ])
  expect(await (await ada.system.get(`${path}/${id}`)).json()).toMatchObject({ data: { roles: [] } })
})

it('belongs to its owner: others see and change nothing of it, administrators of the instance do', async () => {
  const id = await made(ada.system, { name: 'worker' })
  const address = `${path}/${id}`
  const listed = async (client: Client) => {
    const response = await client.get(`${path}?filter[id][_eq]=${id}&fields=name&meta=totalCount`)
    return response.json()
  }

  const ofBob = [
    await bob.system.get(address),
    await bob.system.patch(address, { name: 'taken' }),
    await bob.system.delete(address),
    await bob.system.post('/api/system/api-keys', { name: 'robot', userId: id }),
  ]
  const lists = [await listed(ada.system), await listed(bob.system), await listed(world.administrator)]
  const ofAdministrator = await world.administrator.patch(address, { description: 'seen' })
  const anonymous = [
    await world.anonymous.get(path),
    await world.anonymous.get(address),
    await world.anonymous.post(path, { name: 'x' }),
    await world.anonymous.patch(address, {}),
    await world.anonymous.delete(address),
  ]

  const one = { data: [{ name: 'worker' }], meta: { totalCount: 1 } }
  expect(ofBob.map(({ status }) => status)).toEqual([404, 404, 404, 403])
  expect(await ofBob[0]?.json()).toEqual({ message: 'Service account does not exist' })
  expect(lists).toEqual([one, { data: [], meta: { totalCount: 0 } }, one])
  expect(ofAdministrator.status).toBe(200)
  expect(anonymous.map(({ status }) => status)).toEqual([403, 403, 403, 403, 403])
})

it('is given to somebody else only by an administrator of the instance, and only to a person', async () => {
  const id = await made(ada.system, { name: 'worker' })
  const address = `${path}/${id}`

  const refused = [
    await ada.system.patch(address, { owner: bob.userId }),
    await ada.system.post(path, { name: 'x', owner: bob.userId }),
    await ada.system.patch(address, { owner: crypto.randomUUID() }),
  ]
  const wrong = [
    await world.administrator.patch(address, { owner: id }),
    await world.administrator.patch(address, { owner: crypto.randomUUID() }),
  ]
  const same = await ada.system.patch(address, { owner: ada.userId })
  const given = await world.administrator.patch(address, { owner: bob.userId })
  const after = [await ada.system.get(address), await bob.system.get(address)]

  expect(refused.map(({ status }) => status)).toEqual([403, 403, 403])
  expect(wrong.map(({ status }) => status)).toEqual([422, 422])
  expect(await wrong[1]?.json()).toMatchObject({ source: { message: 'owner', source: { message: 'does not exist' } } })
  expect([same.status, given.status]).toEqual([200, 200])
  expect(after.map(({ status }) => status)).toEqual([404, 200])
})

it('owns no service account itself', async () => {
  const robot = await keyOf(ada.system, await made(ada.system, { name: 'worker' }))

  const response = await robot.post(path, { name: 'mine' })

  expect(response.status).toBe(403)
  expect(await response.json()).toEqual({ message: 'A service account cannot own another' })
})

it('cannot sign in with a password', async () => {
  const id = await made(ada.system, { name: 'worker' })

  const response = await world.anonymous.post('/api/auth/login', { credentials: { email: id, password: '' } })

  expect(response.status).toBe(401)
})

it('is gone with all its keys once it is deleted', async () => {
  const id = await made(ada.system, { name: 'worker' })
  const robot = await keyOf(ada.system, id)

  const before = await robot.get('/api/system/users/me')
  const deleted = await ada.system.delete(`${path}/${id}`)
  const after = [await robot.get('/api/system/users/me'), await ada.system.get(`${path}/${id}`)]

  expect([before.status, deleted.status]).toEqual([200, 204])
  expect(after.map(({ status }) => status)).toEqual([401, 404])
})

it('sleeps while it or its owner is suspended, and goes with its owner', async () => {
  const owner = await people.memberWith(shop, [])
  const id = await made(owner.system, { name: 'worker' })
  const robot = await keyOf(owner.system, id)
  const probe = async () => (await robot.get('/api/system/users/me')).status
  const suspend = (userId: string, status: string) =>
    world.administrator.patch(`/api/system/users/${userId}`, { status })

  const statuses = [await probe()]
  for (const userId of [id, owner.userId]) {
    await suspend(userId, 'suspended')
    statuses.push(await probe())
    await suspend(userId, 'active')
    statuses.push(await probe())
  }
  await world.administrator.delete(`/api/system/users/${owner.userId}`)
  statuses.push(await probe())

  expect(statuses).toEqual([200, 401, 200, 401, 200, 401])
  expect((await world.administrator.get(`${path}/${id}`)).status).toBe(404)
})

it('does not count where people who administer a workspace are counted', async () => {
  const own = await world.workspace('service', {})
  const roles = [{ workspace: own.name, roleId: await people.administratorRole(own) }]
  const id = await made(world.administrator, { name: 'worker', roles })
  const [creator] = (await own.data('/members?filter[isService][_eq]=false')) as { userId: string }[]

  const refused = [
    await own.delete(`/members/${creator?.userId}`),
    await own.patch(`/members/${creator?.userId}`, { roles: [] }),
    await own.patch(`/members/${creator?.userId}`, { status: 'suspended' }),
  ]
  const deleted = await world.administrator.delete(`${path}/${id}`)

  expect(refused.map(({ status }) => status)).toEqual([409, 409, 409])
  expect(deleted.status).toBe(204)
})

it.each([
  ['without a name', {}, 'name'],
  ['with a blank name', { name: ' ' }, 'name'],
  [
    'with an unknown member',
    { name: 'x', isAdministrator: true },
    'unknown field isAdministrator; allowed: name, description, roles, owner',
  ],
  ['with a role that is no pair', { name: 'x', roles: ['admin'] }, 'roles[0]'],
  ['with an id that is none', { name: 'x', roles: [{ workspace: 'x', roleId: 'x' }] }, 'roles[0].roleId'],
  ['with an owner that is no id', { name: 'x', owner: 'me' }, 'owner'],
  ['with a workspace that does not exist', { name: 'x', roles: [nowhere()] }, 'roles[0].workspace'],
  ['with a role of nowhere', { name: 'x', roles: [unknownRole()] }, 'roles[0].roleId'],
])('answers 422 for an account %s, naming the place', async (_, body, place) => {
  const response = await world.administrator.post(path, body)

  expect(response.status).toBe(422)
  expect(await response.json()).toMatchObject({
    message: expect.stringContaining('Failed to read the JSON body: '),
    source: { message: place },
  })
})

it('does not give the role Public', async () => {
  const roles = [{ workspace: shop.name, roleId: await people.publicRole(shop) }]

  const response = await world.administrator.post(path, { name: 'x', roles })

  expect(response.status).toBe(422)
  expect(await response.json()).toMatchObject({ source: { message: 'roles[0].roleId' } })
})

function nowhere() {
  return { workspace: 'nowhere', roleId: crypto.randomUUID() }
}

function unknownRole() {
  return { workspace: shop.name, roleId: crypto.randomUUID() }
}

async function made(owner: Client, wish: object): Promise<string> {
  const response = await owner.post(path, wish)
  if (response.status !== 201) throw new Error(`${path} answered ${response.status}: ${await response.text()}`)
  return ((await response.json()) as { data: { id: string } }).data.id
}

/** Whoever presents a new key of that account. */
async function keyOf(owner: Client, userId: string): Promise<Client> {
  const response = await owner.post('/api/system/api-keys', { name: 'robot', userId })
  return world.bearer(((await response.json()) as { data: { key: string } }).data.key)
}
