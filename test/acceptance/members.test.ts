/** docs/contract.md#policies: members. */
import { expect, it } from 'vitest'
import { people } from '../support/service/people.ts'
import { world } from '../support/service/world.ts'

const shop = await world.workspace('members', { articles: { title: 'string' }, secrets: { text: 'string' } })
const reading = await people.roleWith(shop, { collections: { articles: { read: 'all' } } })

it('lists the members with their roles, the creator first of all', async () => {
  const member = await people.memberWith(shop, [reading])

  const listed = await shop.data('/members?limit=0')
  const found = await shop.data(`/members?filter[email][_eq]=${member.email}&fields=userId,roles`)

  expect(listed).toContainEqual({
    userId: expect.any(String),
    email: world.administrator.email,
    fullName: null,
    isService: false,
    status: 'active',
    roles: [await people.administratorRole(shop)],
    createdAt: expect.stringMatching(/Z$/),
  })
  expect(found).toEqual([{ userId: member.userId, roles: [reading] }])
})

it('gives and takes roles, from the next request on', async () => {
  const member = await people.memberWith(shop, [])

  const before = await member.get('/items/articles')
  const given = await shop.patch(`/members/${member.userId}`, { roles: [reading] })
  const during = await member.get('/items/articles')
  await shop.patch(`/members/${member.userId}`, { roles: [] })
  const after = await member.get('/items/articles')

  expect(await given.json()).toMatchObject({ data: { userId: member.userId, roles: [reading], status: 'active' } })
  expect([before.status, during.status, after.status]).toEqual([403, 200, 403])
})

it('answers 403 to a suspended member in that workspace only', async () => {
  const member = await people.memberWith(shop, [reading])

  const suspended = await shop.patch(`/members/${member.userId}`, { status: 'suspended' })
  const [inside, outside] = [await member.get('/items/articles'), await member.system.get('/api/system/users/me')]
  await shop.patch(`/members/${member.userId}`, { status: 'active' })
  const after = await member.get('/items/articles')

  expect(await suspended.json()).toMatchObject({ data: { status: 'suspended', roles: [reading] } })
  expect([inside.status, outside.status, after.status]).toEqual([403, 200, 200])
  expect(await inside.json()).toEqual({ message: 'Your membership of this workspace is suspended' })
})

it('removes a member, who then holds nothing there', async () => {
  const member = await people.memberWith(shop, [reading])

  const removed = await shop.delete(`/members/${member.userId}`)
  const after = await member.get('/items/articles')
  const again = await shop.delete(`/members/${member.userId}`)

  expect(removed.status).toBe(204)
  expect(after.status).toBe(403)
  expect(again.status).toBe(404)
  expect(await again.json()).toEqual({ message: 'Member does not exist' })
})

it('keeps the last Administrator', async () => {
  const own = await world.workspace('members', {})
  const [creator] = (await own.data('/members')) as { userId: string }[]
  const path = `/members/${creator?.userId}`

  const answers = [
    await own.patch(path, { roles: [] }),
    await own.patch(path, { status: 'suspended' }),
    await own.delete(path),
  ]

  expect(answers.map(({ status }) => status)).toEqual([409, 409, 409])
  expect(await answers[0]?.json()).toEqual({
    message: 'The last Administrator cannot be removed, suspended or demoted',
  })
  expect(await own.data('/members')).toMatchObject([
    { userId: creator?.userId, status: 'active', roles: [await people.administratorRole(own)] },
  ])
})

it('does not count a suspended Administrator, nor one whose account is suspended', async () => {
  const own = await world.workspace('members', {})
  const [creator] = (await own.data('/members')) as { userId: string }[]
  const second = await people.memberWith(own, [await people.administratorRole(own)])
  const account = `/api/system/users/${second.userId}`

  await own.patch(`/members/${second.userId}`, { status: 'suspended' })
  const besideSuspended = await own.delete(`/members/${creator?.userId}`)
  await own.patch(`/members/${second.userId}`, { status: 'active' })
  await world.administrator.patch(account, { status: 'suspended' })
  const besideClosed = await own.delete(`/members/${creator?.userId}`)
  await world.administrator.patch(account, { status: 'active' })
  const besideActive = await own.delete(`/members/${creator?.userId}`)

  expect([besideSuspended.status, besideClosed.status, besideActive.status]).toEqual([409, 409, 204])
})

it('keeps one of two Administrators who remove each other at once', async () => {
  const own = await world.workspace('members', {})
  const [creator] = (await own.data('/members')) as { userId: string }[]
  const second = await people.memberWith(own, [await people.administratorRole(own)])

  const answers = await Promise.all([
    own.delete(`/members/${second.userId}`),
    second.delete(`/members/${creator?.userId}`),
  ])

  const statuses = answers.map(({ status }) => status)
  expect(statuses.filter((status) => status === 204)).toHaveLength(1)
})

it('lets only an Administrator make an Administrator', async () => {
  const editor = await people.member(shop, { entitlements: ['workspaceMembers:edit'] })
  const member = await people.memberWith(shop, [])
  const roles = [await people.administratorRole(shop)]

  const byEditor = await editor.patch(`/members/${member.userId}`, { roles })
  const ofSelf = await editor.patch(`/members/${editor.userId}`, { roles })
  const byAdministrator = await shop.patch(`/members/${member.userId}`, { roles })

  expect([byEditor.status, ofSelf.status, byAdministrator.status]).toEqual([403, 403, 200])
  expect(await byEditor.json()).toEqual({ message: 'Only an Administrator can assign the role Administrator' })
})

it('lets nobody assign a role that carries more than they hold', async () => {
  const editor = await people.member(shop, {
    entitlements: ['workspaceMembers:edit'],
    collections: { articles: { read: 'all' } },
  })
  const beyond = await people.roleWith(shop, { collections: { secrets: { read: 'all' } } })
  const member = await people.memberWith(shop, [])
  const better = await people.memberWith(shop, [beyond])

  const within = await editor.patch(`/members/${member.userId}`, { roles: [reading] })
  const refused = await editor.patch(`/members/${member.userId}`, { roles: [reading, beyond] })
  const kept = await editor.patch(`/members/${better.userId}`, { roles: [reading, beyond] })

  expect([within.status, refused.status, kept.status]).toEqual([200, 403, 200])
  expect(await refused.json()).toEqual({ message: 'You cannot grant rights that you do not hold' })
  expect(await shop.data(`/members?filter[userId][_eq]=${member.userId}&fields=roles`)).toEqual([{ roles: [reading] }])
})

it('does not assign Public', async () => {
  const member = await people.memberWith(shop, [])

  const response = await shop.patch(`/members/${member.userId}`, { roles: [await people.publicRole(shop)] })

  expect(response.status).toBe(422)
  expect(await response.json()).toMatchObject({ source: { message: 'roles[0]' } })
})

it.each([
  ['a role that does not exist', { roles: [crypto.randomUUID()] }, 'roles[0]'],
  ['a status that is none', { status: 'retired' }, 'status'],
  ['an unknown member', { email: 'x@example.com' }, 'unknown field email; allowed: roles, status'],
])('answers 422 for %s, naming the place', async (_, body, place) => {
  const member = await people.memberWith(shop, [])

  const response = await shop.patch(`/members/${member.userId}`, body)

  expect(response.status).toBe(422)
  expect(await response.json()).toMatchObject({ source: { message: place } })
})

it('gives somebody who is no member of a workspace nothing there', async () => {
  const other = await world.workspace('members', {})
  const stranger = await people.memberWith(other, [await people.administratorRole(other)])

  const response = await stranger.system.get(`/api/${shop.name}/members`)

  expect(response.status).toBe(403)
})

it.each([
  ['GET', '/members', 'workspaceMembers:read'],
  ['PATCH', `/members/${crypto.randomUUID()}`, 'workspaceMembers:edit'],
  ['DELETE', `/members/${crypto.randomUUID()}`, 'workspaceMembers:edit'],
])('answers 403 naming the entitlement that %s %s needs', async (method, path, entitlement) => {
  const member = await people.memberWith(shop, [reading])

  const response = await member.send(method, path, method === 'GET' ? {} : { body: {} })

  expect(response.status).toBe(403)
  expect(await response.json()).toEqual({ message: `Requires the entitlement ${entitlement}` })
})
