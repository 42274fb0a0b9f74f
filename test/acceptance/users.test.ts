/** docs/contract.md#accounts: the accounts of the instance. */
import { expect, it } from 'vitest'
import { people } from '../support/service/people.ts'
import { type Client, world } from '../support/service/world.ts'

const shop = await world.workspace('users', { articles: { title: 'string' } })
const path = '/api/system/users'

it('tells everybody who they are', async () => {
  const member = await people.memberWith(shop, [])

  const response = await member.system.get(`${path}/me`)
  const part = await member.system.get(`${path}/me?fields=email`)

  expect(await response.json()).toEqual({
    data: {
      id: member.userId,
      email: member.email,
      fullName: null,
      status: 'active',
      isAdministrator: false,
      isService: false,
      emailProvenAt: expect.stringMatching(/Z$/),
      createdAt: expect.stringMatching(/Z$/),
    },
  })
  expect(await part.json()).toEqual({ data: { email: member.email } })
})

it('lists and reads accounts, without their passwords', async () => {
  const member = await people.memberWith(shop, [])

  const listed = await world.administrator.get(`${path}?filter[email][_eq]=${member.email}&meta=totalCount`)
  const read = await world.administrator.get(`${path}/${member.userId}`)
  const secret = await world.administrator.get(`${path}?fields=passwordHash`)

  expect(await listed.json()).toMatchObject({ data: [{ id: member.userId }], meta: { totalCount: 1 } })
  expect(await read.text()).not.toMatch(/password|scrypt/i)
  expect(secret.status).toBe(422)
})

it('answers 401 to a suspended account everywhere, at once and for old sessions also afterwards', async () => {
  const member = await people.member(shop, { collections: { articles: { read: 'all' } } })
  const key = await keyOf(member.system)

  const suspended = await world.administrator.patch(`${path}/${member.userId}`, { status: 'suspended' })
  const during = [
    await member.get('/items/articles'),
    await member.system.get(`${path}/me`),
    await world.bearer(key).get(`/api/${shop.name}/items/articles`),
    await login(member),
  ]
  await world.administrator.patch(`${path}/${member.userId}`, { status: 'active' })
  const after = [await member.get('/items/articles'), await login(member), await world.bearer(key).get(`${path}/me`)]

  expect(await suspended.json()).toMatchObject({ data: { status: 'suspended' } })
  expect(during.map(({ status }) => status)).toEqual([401, 401, 401, 401])
  expect(after.map(({ status }) => status)).toEqual([401, 200, 200])
})

it('makes and unmakes administrators of the instance', async () => {
  const member = await people.memberWith(shop, [])

  const before = await member.system.get(path)
  const made = await world.administrator.patch(`${path}/${member.userId}`, { isAdministrator: true })
  const during = await member.system.get(path)
  await world.administrator.patch(`${path}/${member.userId}`, { isAdministrator: false })
  const after = await member.system.get(path)

  expect(await made.json()).toMatchObject({ data: { isAdministrator: true } })
  expect([before.status, during.status, after.status]).toEqual([403, 200, 403])
})

it('deletes an account with all that it could sign in with', async () => {
  const member = await people.memberWith(shop, [])
  const key = await keyOf(member.system)

  const deleted = await world.administrator.delete(`${path}/${member.userId}`)
  const after = [
    await member.system.get(`${path}/me`),
    await world.bearer(key).get(`${path}/me`),
    await login(member),
    await world.administrator.get(`${path}/${member.userId}`),
  ]

  expect(deleted.status).toBe(204)
  expect(after.map(({ status }) => status)).toEqual([401, 401, 401, 404])
  expect(await shop.data(`/members?filter[userId][_eq]=${member.userId}`)).toEqual([])
})

it('keeps an account that a workspace has as its last Administrator', async () => {
  const own = await world.workspace('users', {})
  const [creator] = (await own.data('/members')) as { userId: string }[]
  const member = await people.memberWith(own, [await people.administratorRole(own)])
  await own.delete(`/members/${creator?.userId}`)

  const response = await world.administrator.delete(`${path}/${member.userId}`)

  expect(response.status).toBe(409)
  expect(await response.json()).toEqual({ message: `The last Administrator of ${own.name} cannot be removed` })
})

it.each([
  ['a status that is none', { status: 'retired' }, 'status'],
  ['another address', { email: 'x@example.com' }, 'unknown field email; allowed: fullName, status, isAdministrator'],
  ['a password', { passwordHash: 'x' }, 'unknown field passwordHash; allowed: fullName, status, isAdministrator'],
  ['a service account', { isService: true }, 'unknown field isService; allowed: fullName, status, isAdministrator'],
])('answers 422 for %s, naming the place', async (_, body, place) => {
  const member = await people.memberWith(shop, [])

  const response = await world.administrator.patch(`${path}/${member.userId}`, body)

  expect(response.status).toBe(422)
  expect(await response.json()).toMatchObject({ source: { message: place } })
})

it.each([
  ['GET', path],
  ['GET', `${path}/${crypto.randomUUID()}`],
  ['PATCH', `${path}/${crypto.randomUUID()}`],
  ['DELETE', `${path}/${crypto.randomUUID()}`],
])('answers %s %s to administrators of the instance only', async (method, address) => {
  const member = await people.memberWith(shop, [await people.administratorRole(shop)])
  const request = method === 'GET' ? {} : { body: {} }

  const [ofMember, ofNobody] = [
    await member.system.send(method, address, request),
    await world.anonymous.send(method, address, request),
  ]

  expect([ofMember.status, ofNobody.status]).toEqual([403, 403])
  expect(await ofMember.json()).toEqual({ message: 'Requires an administrator of the instance' })
})

it('has nobody to tell an anonymous caller about', async () => {
  const response = await world.anonymous.get(`${path}/me`)

  expect(response.status).toBe(403)
})

async function keyOf(person: Client): Promise<string> {
  const response = await person.post('/api/system/api-keys', { name: 'robot' })
  return ((await response.json()) as { data: { key: string } }).data.key
}

function login({ email, password }: { email: string; password: string }): Promise<Response> {
  return world.anonymous.post('/api/auth/login', { credentials: { email, password }, mode: 'json' })
}
