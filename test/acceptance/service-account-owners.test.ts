/**
 * A service account stands for its owner: it acts where they may, its keys count while they do, and through it they change
 * nothing of what they are themselves (docs/decisions/043).
 */
import { expect, it } from 'vitest'
import { type Person, people } from '../support/service/people.ts'
import { type Client, type Workspace, world } from '../support/service/world.ts'

const path = '/api/system/service-accounts'
const keys = '/api/system/api-keys'
const shop = await world.workspace('owners', { articles: { title: 'string' } })
const items = `/api/${shop.name}/items/articles`
const managing = await people.roleWith(shop, {
  entitlements: ['workspaceMembers:read', 'workspaceMembers:edit'],
  collections: { articles: { read: 'all' } },
})

it('acts in a workspace only while its owner is an active member there, from the next request on', async () => {
  const { owner, robot } = await ownerWithRobot()
  const probe = async () => {
    const [read, listed] = [await robot.get(items), await robot.get('/api/system/workspaces?fields=apiName')]
    const { data } = (await listed.json()) as { data: object[] }
    return [read.status, data.length]
  }

  const seen = [await probe()]
  await shop.patch(`/members/${owner.userId}`, { status: 'suspended' })
  seen.push(await probe())
  await shop.patch(`/members/${owner.userId}`, { status: 'active' })
  seen.push(await probe())
  await shop.delete(`/members/${owner.userId}`)
  seen.push(await probe())
  await world.administrator.patch(`/api/system/users/${owner.userId}`, { isAdministrator: true })
  seen.push(await probe())

  expect(seen.map(([status]) => status)).toEqual([200, 403, 200, 403, 200])
  expect(seen.slice(0, 4).map(([, workspaces]) => workspaces)).toEqual([1, 0, 1, 0])
  expect((await robot.get('/api/system/users/me')).status).toBe(200)
})

it('loses its keys when it is handed on, and its new owner makes others', async () => {
  const { robot, id } = await ownerWithRobot()
  const heir = await people.memberWith(shop, [managing])

  const before = await robot.get(items)
  await world.administrator.patch(`${path}/${id}`, { description: 'still theirs' })
  const kept = await robot.get(items)
  const given = await world.administrator.patch(`${path}/${id}`, { owner: heir.userId })
  const after = await robot.get(items)
  const listed = (await (await heir.system.get(keys)).json()) as { data: object[] }
  const renewed = await (await keyOf(heir.system, id)).get(items)
  const entries = (await (
    await world.administrator.get(
      `/api/system/audit-log?filter[action][_eq]=api_key.delete.v1&sort[0][time][direction]=desc&limit=1000`,
    )
  ).json()) as { data: { payload: { userId?: string } }[] }

  expect([before, kept, given, after, renewed].map(({ status }) => status)).toEqual([200, 200, 200, 401, 200])
  expect(listed.data).toEqual([])
  expect(entries.data.filter(({ payload }) => payload.userId === id)).toHaveLength(1)
})

it('changes neither its owner’s membership nor its own nor that of their other accounts', async () => {
  const { owner, robot, id } = await ownerWithRobot()
  const sibling = await accountOf(owner)
  const stranger = await people.memberWith(shop, [])
  const member = (userId: string) => `/api/${shop.name}/members/${userId}`
  const before = await membersOf(shop)

  const refused = []
  for (const userId of [owner.userId, id, sibling]) {
    for (const change of [{ roles: [] }, { roles: [managing] }, { status: 'suspended' }, { status: 'active' }]) {
      refused.push(await robot.patch(member(userId), change))
    }
    refused.push(await robot.delete(member(userId)))
  }
  const after = await membersOf(shop)
  const allowed = await robot.patch(member(stranger.userId), { roles: [managing] })
  const missing = await robot.patch(member(crypto.randomUUID()), { roles: [] })

  expect(refused.map(({ status }) => status)).toEqual(refused.map(() => 403))
  expect(await refused[0]?.json()).toEqual({
    message: 'A service account cannot change itself, its owner, or other accounts of its owner',
  })
  expect(after).toEqual(before)
  expect([allowed.status, missing.status]).toEqual([200, 404])
})

it('changes no account of its owner’s either, as an administrator of the instance', async () => {
  const { owner, robot, id } = await ownerWithRobot()
  await world.administrator.patch(`/api/system/users/${id}`, { isAdministrator: true })
  const grant = { workspace: shop.name, roleId: managing }

  const refused = [
    await robot.patch(`/api/system/users/${owner.userId}`, { isAdministrator: true }),
    await robot.patch(`/api/system/users/${id}`, { isAdministrator: false }),
    await robot.delete(`/api/system/users/${owner.userId}`),
    await robot.patch(`${path}/${id}`, { roles: [] }),
    await robot.post(path, { name: 'gift', owner: owner.userId, roles: [grant] }),
  ]
  const allowed = await robot.patch(`/api/system/users/${(await people.memberWith(shop, [])).userId}`, {
    fullName: 'Seen',
  })

  expect(refused.map(({ status }) => status)).toEqual([403, 403, 403, 403, 403])
  expect(allowed.status).toBe(200)
})

it('invites its owner nowhere', async () => {
  const { owner, robot } = await ownerWithRobot()
  await world.administrator.patch(`/api/system/users/${owner.userId}`, { isAdministrator: true })
  await shop.delete(`/members/${owner.userId}`)
  const invitations = `/api/${shop.name}/invitations`

  const refused = await robot.post(invitations, { email: owner.email.toUpperCase(), workspace_roles: [managing] })
  const allowed = await robot.post(invitations, { email: people.email(), workspace_roles: [managing] })

  expect([refused.status, allowed.status]).toEqual([403, 201])
})

it('is given roles only by members of that workspace, administrators of the instance included', async () => {
  const elsewhere = await world.workspace('owners', {})
  const { owner, id } = await ownerWithRobot()
  const other = await people.memberWith(elsewhere, [await people.administratorRole(elsewhere)])
  await world.administrator.patch(`/api/system/users/${other.userId}`, { isAdministrator: true })
  const change = { roles: [{ workspace: shop.name, roleId: managing }] }
  const taken = { roles: [] }

  const refused = [
    await owner.system.patch(`${path}/${id}`, {
      roles: [...change.roles, { workspace: elsewhere.name, roleId: await people.role(elsewhere, []) }],
    }),
    await other.system.patch(`${path}/${id}`, taken),
    await other.system.post(path, { name: 'worker', ...change }),
  ]

  expect(refused.map(({ status }) => status)).toEqual([403, 403, 403])
})

async function ownerWithRobot(): Promise<{ owner: Person; robot: Client; id: string }> {
  const owner = await people.memberWith(shop, [managing])
  const id = await accountOf(owner)
  return { owner, id, robot: await keyOf(owner.system, id) }
}

/** The id of a new account of this owner, which may do in the shop what they may. */
async function accountOf(owner: Person): Promise<string> {
  const roles = [{ workspace: shop.name, roleId: managing }]
  return idOf(await owner.system.post(path, { name: 'worker', roles }))
}

async function keyOf(owner: Client, userId: string): Promise<Client> {
  const response = await owner.post(keys, { name: 'robot', userId })
  return world.bearer(((await response.json()) as { data: { key: string } }).data.key)
}

async function membersOf(workspace: Workspace): Promise<unknown> {
  return workspace.data('/members?fields=userId,status,roles&sort[0][userId][direction]=asc&limit=-1')
}

async function idOf(response: Response): Promise<string> {
  const text = await response.text()
  if (response.status !== 201) throw new Error(`${response.url} answered ${response.status}: ${text}`)
  return (JSON.parse(text) as { data: { id: string } }).data.id
}
