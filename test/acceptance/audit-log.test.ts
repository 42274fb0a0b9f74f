/** docs/contract.md#audit-log: the audit log. Every action that is recorded is read back here. */
import { expect, it } from 'vitest'
import { auditActions } from '../../src/core/audit.ts'
import { tokenIn } from '../support/service/mailed-token.ts'
import { mails } from '../support/service/mails.ts'
import { people } from '../support/service/people.ts'
import { type Workspace, world } from '../support/service/world.ts'

const shop = await world.workspace('audit', { articles: { title: 'string' } })
const { email: administratorEmail } = world.administrator
const byAdministrator = { outcome: 'success', actorType: 'user', actorEmail: administratorEmail, ip: null }

type Entry = Readonly<Record<string, unknown>> & { readonly id: string; readonly payload: unknown }

it('answers entries with everything that is known of them', async () => {
  const id = await people.role(shop, [], 'Seen')

  const [entry] = await about(id)

  expect(entry).toEqual({
    id: expect.any(String),
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    action: 'role.create.v1',
    label: 'Role created',
    outcome: 'success',
    actorType: 'user',
    actorId: expect.any(String),
    actorEmail: administratorEmail,
    workspaceId: await workspaceId(),
    targetType: 'role',
    targetId: id,
    ip: null,
    payload: { name: 'Seen', policiesAttached: [], changes: [] },
  })
})

it('records what becomes of a role', async () => {
  const policy = await people.policy(shop, {})
  const id = await people.role(shop, [])

  await shop.patch(`/roles/${id}`, { name: 'Other', policies: [policy] })
  await shop.patch(`/roles/${id}`, { policies: [] })
  await shop.delete(`/roles/${id}`)

  expect(await about(id)).toMatchObject([
    { ...byAdministrator, action: 'role.create.v1' },
    { action: 'role.update.v1', payload: { name: 'Other', policiesAttached: [policy], policiesDetached: [] } },
    { action: 'role.update.v1', payload: { policiesAttached: [], policiesDetached: [policy] } },
    { action: 'role.delete.v1', targetType: 'role', payload: { name: 'Other' } },
  ])
})

it('records the entitlements that a change of a policy grants and revokes', async () => {
  const id = await people.policy(shop, { entitlements: ['dataModel:read', 'ai:mcp'] })

  await shop.patch(`/policies/${id}`, { content: { entitlements: ['dataModel:read', 'auditLog:read'] } })
  await shop.delete(`/policies/${id}`)

  expect(await about(id)).toMatchObject([
    {
      ...byAdministrator,
      action: 'policy.create.v1',
      payload: { entitlementsGranted: ['dataModel:read', 'ai:mcp'], entitlementsRevoked: [] },
    },
    {
      action: 'policy.update.v1',
      payload: { entitlementsGranted: ['auditLog:read'], entitlementsRevoked: ['ai:mcp'] },
    },
    {
      action: 'policy.delete.v1',
      payload: { entitlementsGranted: [], entitlementsRevoked: ['dataModel:read', 'auditLog:read'] },
    },
  ])
})

it('records what a change of a policy changed, member by member, with the names of today', async () => {
  const own = await world.workspace('audit', { letters: { title: 'string' } })
  const name = world.name('told')
  const check = { title: { _eq: 'paid' } }
  const update = { fields: ['title', 'id'], check }
  const id = await people.policy(own, { collections: { letters: { read: 'all', update } } }, name)
  const renaming = [{ kind: 'changeApiName', data: { apiName: 'mails' } }]
  await own.migrate({ kind: 'updateCollection', data: { id: own.ids.get('letters'), operations: renaming } })
  const change = (mails: object, entitlements = ['ai:mcp']) =>
    own.patch(`/policies/${id}`, { content: { entitlements, collections: { mails } } })
  const long = Array.from({ length: 1_000 }, (_, index) => `title ${index}`)

  await own.patch(`/policies/${id}`, { name: `${name}_2`, description: 'Clerks' })
  await change({ read: 'all', update: { fields: ['id', 'title'], check: { title: { _in: ['paid', 'shipped'] } } } })
  await change({ read: { fields: ['id'] }, update: { fields: ['id'] } })
  await change({ read: { fields: ['id'] }, update: { fields: ['id'], filter: { title: { _in: long } } } })
  await own.delete(`/policies/${id}`)

  const at = (path: string) => `content.collections.mails${path}`
  const start = expect.stringMatching(/^\{"title":\{"_in":\["title 0",.{3900,3980}$/)
  expect(await changesOf(own, id)).toEqual([
    [{ path: 'content.collections.letters', to: { read: 'all', update } }],
    [
      { path: 'name', from: name, to: `${name}_2` },
      { path: 'description', from: null, to: 'Clerks' },
    ],
    [
      { path: 'content.entitlements', added: ['ai:mcp'], removed: [] },
      { path: at('.update.check'), from: check, to: { title: { _in: ['paid', 'shipped'] } } },
    ],
    [
      { path: at('.read'), from: 'all', to: { fields: ['id'] } },
      { path: at('.update.fields'), added: [], removed: ['title'] },
      { path: at('.update.check'), from: { title: { _in: ['paid', 'shipped'] } } },
    ],
    [{ path: at('.update.filter'), to: { start, length: JSON.stringify({ title: { _in: long } }).length } }],
    [
      { path: 'description', from: 'Clerks', to: null },
      { path: 'content.entitlements', added: [], removed: ['ai:mcp'] },
      { path: at(''), from: { start: expect.any(String), length: expect.any(Number) } },
    ],
  ])
})

it('records what a change of a role changed, policies by their names', async () => {
  const [first, second] = [world.name('first'), world.name('second')]
  const [one, other] = [await people.policy(shop, {}, first), await people.policy(shop, {}, second)]
  const id = await people.role(shop, [one], 'Clerks')

  await shop.patch(`/roles/${id}`, { name: 'Sellers', policies: [other] })
  await shop.patch(`/roles/${id}`, { description: 'At the desk' })
  await shop.delete(`/roles/${id}`)

  expect(await changesOf(shop, id)).toEqual([
    [{ path: 'policies', added: [first], removed: [] }],
    [
      { path: 'name', from: 'Clerks', to: 'Sellers' },
      { path: 'policies', added: [second], removed: [first] },
    ],
    [{ path: 'description', from: null, to: 'At the desk' }],
    [
      { path: 'description', from: 'At the desk', to: null },
      { path: 'policies', added: [], removed: [second] },
    ],
  ])
})

it('records invitation, joining, roles given and taken, suspension and removal, with role and user', async () => {
  const [first, second] = [await people.role(shop, [], 'First'), await people.role(shop, [], 'Second')]
  const member = await people.memberWith(shop, [first])

  await shop.patch(`/members/${member.userId}`, { roles: [second] })
  await shop.patch(`/members/${member.userId}`, { status: 'suspended' })
  await shop.patch(`/members/${member.userId}`, { status: 'active' })
  await shop.delete(`/members/${member.userId}`)

  const byMail = { outcome: 'success', actorType: 'anonymous', actorEmail: null, actorId: null }
  expect(await about(member.userId)).toEqual(
    inAnyOrder([
      { ...byMail, action: 'user.create.v1', targetType: 'user' },
      { ...byMail, action: 'user.join_workspace.v1' },
      { ...byMail, action: 'role.assign.v1', payload: { roleId: first, roleName: 'First' } },
      { ...byAdministrator, action: 'role.assign.v1', payload: { roleId: second, roleName: 'Second' } },
      { ...byAdministrator, action: 'role.unassign.v1', payload: { roleId: first, roleName: 'First' } },
      { action: 'user.suspend.v1', payload: { status: 'suspended' } },
      { action: 'user.update.v1', payload: { status: 'active' } },
      { action: 'user.remove_workspace.v1', payload: { roles: [second] } },
    ]),
  )
})

it('records what becomes of an invitation, without its token', async () => {
  const email = people.email()
  const create = async () => {
    const response = await shop.post('/invitations', { email })
    return ((await response.json()) as { data: { id: string; token: string } }).data
  }

  const withdrawn = await create()
  await shop.delete(`/invitations/${withdrawn.id}`)
  const accepted = await create()
  const token = tokenIn(await mails.arrived(email, /^Invitation/, 2))
  const answer = await world.anonymous.post('/api/auth/invitations/accept', {
    token,
    password: 'long enough to be one',
  })
  const { data } = (await answer.json()) as { data: { id: string } }

  expect(await about(withdrawn.id)).toMatchObject([
    { ...byAdministrator, action: 'invitation.create.v1', payload: { email, roles: [] } },
    { ...byAdministrator, action: 'invitation.delete.v1', payload: { email } },
  ])
  const entries = [...(await about(accepted.id)), ...(await about(data.id))]
  expect(entries).toEqual(
    inAnyOrder([
      { ...byAdministrator, action: 'invitation.create.v1' },
      {
        action: 'invitation.accept.v1',
        outcome: 'success',
        actorType: 'anonymous',
        actorId: null,
        actorEmail: null,
        targetType: 'user',
        ip: expect.any(String),
        payload: { invitation: accepted.id },
      },
      { action: 'user.create.v1', actorType: 'anonymous' },
      { action: 'user.join_workspace.v1', actorType: 'anonymous' },
    ]),
  )
  for (const secret of [accepted.token, token]) expect(JSON.stringify(entries)).not.toContain(secret)
})

it('records what becomes of an account', async () => {
  const member = await people.memberWith(shop, [])
  const path = `/api/system/users/${member.userId}`

  await world.administrator.patch(path, { fullName: 'Ada' })
  await world.administrator.patch(path, { status: 'suspended' })
  await world.administrator.delete(path)

  const entries = await everywhere(`filter[targetId][_eq]=${member.userId}&filter[workspaceId][_null]=true`)
  expect(entries).toMatchObject([
    { ...byAdministrator, action: 'user.update.v1', payload: { fullName: 'Ada' } },
    { ...byAdministrator, action: 'user.suspend.v1', payload: { status: 'suspended' } },
    { ...byAdministrator, action: 'user.delete.v1', payload: { fullName: 'Ada' } },
  ])
})

it('records what becomes of an API key, without the key', async () => {
  const created = await world.administrator.post('/api/system/api-keys', { name: 'robot' })
  const { data } = (await created.json()) as { data: { id: string; key: string } }
  await world.administrator.patch(`/api/system/api-keys/${data.id}`, { active: false })
  await world.administrator.delete(`/api/system/api-keys/${data.id}`)
  await world.administrator.delete(`/api/system/api-keys/${data.id}`)

  const entries = await everywhere(`filter[targetId][_eq]=${data.id}`)

  expect(entries).toMatchObject([
    { ...byAdministrator, action: 'api_key.create.v1', targetType: 'apiKey', payload: { name: 'robot' } },
    { ...byAdministrator, action: 'api_key.update.v1', payload: { active: false } },
    { ...byAdministrator, action: 'api_key.delete.v1' },
  ])
  expect(JSON.stringify(entries)).not.toContain(data.key)
})

it('records what becomes of a service account, and of its roles', async () => {
  const role = await people.role(shop, [], 'Robots')
  const roles = [{ workspace: shop.name, roleId: role }]
  const created = await world.administrator.post('/api/system/service-accounts', { name: 'worker', roles })
  const { id } = ((await created.json()) as { data: { id: string } }).data
  await world.administrator.patch(`/api/system/service-accounts/${id}`, { description: 'moves boxes', roles: [] })
  await world.administrator.delete(`/api/system/service-accounts/${id}`)

  const entries = await everywhere(`filter[targetId][_eq]=${id}`)

  const given = { roleId: role, roleName: 'Robots' }
  const target = { ...byAdministrator, targetType: 'serviceAccount' }
  const here = { ...target, workspaceId: await workspaceId() }
  expect(entries).toEqual(
    inAnyOrder([
      { ...target, action: 'service_account.create.v1', label: 'Service account created', workspaceId: null },
      { ...here, action: 'user.join_workspace.v1' },
      { ...here, action: 'role.assign.v1', payload: given },
      { ...target, action: 'service_account.update.v1', payload: { description: 'moves boxes', roles: [] } },
      { ...here, action: 'role.unassign.v1', payload: given },
      { ...here, action: 'user.remove_workspace.v1' },
      { ...target, action: 'service_account.delete.v1', payload: { name: 'worker' } },
    ]),
  )
})

it('says of what a service account did that it was one', async () => {
  const created = await world.administrator.post('/api/system/service-accounts', { name: 'worker' })
  const { id: userId } = ((await created.json()) as { data: { id: string } }).data
  const key = await world.administrator.post('/api/system/api-keys', { name: 'robot', userId })
  const { data } = (await key.json()) as { data: { id: string; key: string } }
  await world.bearer(data.key).patch(`/api/system/api-keys/${data.id}`, { name: 'renamed' })

  const entries = await everywhere(`filter[actorId][_eq]=${userId}`)

  expect(entries).toMatchObject([{ action: 'api_key.update.v1', actorType: 'service', actorEmail: null }])
})

it('records what becomes of a workspace, and keeps it when the workspace is gone', async () => {
  const apiName = world.name('audit')
  const created = await world.administrator.post('/api/system/workspaces', { apiName })
  const { data } = (await created.json()) as { data: { id: string } }
  await world.administrator.patch(`/api/system/workspaces/${data.id}`, { displayName: 'Renamed' })
  await world.administrator.delete(`/api/system/workspaces/${data.id}`)

  const entries = await everywhere(`filter[workspaceId][_eq]=${data.id}`)

  expect(entries).toEqual(
    inAnyOrder([
      { ...byAdministrator, action: 'workspace.create.v1', targetId: data.id, payload: { apiName } },
      { action: 'user.join_workspace.v1', targetType: 'user' },
      { action: 'role.assign.v1', payload: { roleId: expect.any(String), roleName: 'Administrator' } },
      { ...byAdministrator, action: 'workspace.update.v1', payload: { displayName: 'Renamed' } },
      { ...byAdministrator, action: 'workspace.delete.v1', payload: { apiName } },
    ]),
  )
})

it('records a migration', async () => {
  const entries = await listed(shop, 'filter[action][_eq]=schema.migrate.v1')

  expect(entries).toMatchObject([
    { ...byAdministrator, label: 'Data model migrated', payload: { operations: ['createCollection'] } },
  ])
})

it('records no migration that failed', async () => {
  const own = await world.workspace('audit', {})
  const before = await listed(own, 'filter[action][_eq]=schema.migrate.v1')

  const failed = await own.migrate({ kind: 'deleteCollection', data: { id: crypto.randomUUID() } })

  expect(failed.status).toBe(500)
  expect(await listed(own, 'filter[action][_eq]=schema.migrate.v1')).toEqual(before)
})

it('records a sign-in with the address that it came from', async () => {
  const member = await people.memberWith(shop, [])

  const [entry] = await everywhere(`filter[actorId][_eq]=${member.userId}&filter[action][_eq]=auth.login.v1`)

  expect(entry).toMatchObject({
    label: 'Sign-in',
    outcome: 'success',
    actorType: 'user',
    actorEmail: member.email,
    workspaceId: null,
    ip: expect.stringMatching(/^[0-9a-f.:]+$/),
  })
})

it('records a refresh and a sign-out, with who and from where', async () => {
  const member = await people.memberWith(shop, [])
  const credentials = { email: member.email, password: member.password }
  const post = async (path: string, body: object) => (await world.anonymous.post(path, body)).text()
  const first = JSON.parse(await post('/api/auth/login', { credentials, mode: 'json' })) as { refreshToken: string }
  const { refreshToken } = first
  const second = JSON.parse(await post('/api/auth/refresh', { refreshToken })) as { refreshToken: string }
  await post('/api/auth/logout', { refreshToken: second.refreshToken })

  const entries = await Promise.all(
    ['auth.refresh.v1', 'auth.logout.v1'].map((action) =>
      everywhere(`filter[actorId][_eq]=${member.userId}&filter[action][_eq]=${action}`),
    ),
  )

  const entry = { outcome: 'success', actorEmail: member.email, ip: expect.stringMatching(/^[0-9a-f.:]+$/) }
  expect(entries).toMatchObject([[{ ...entry, label: 'Tokens refreshed' }], [{ ...entry, label: 'Sign-out' }]])
})

it('has a readable label for every action, and finds each by its name', async () => {
  const { data } = (await (
    await world.administrator.get('/api/system/audit-log?limit=200&fields=action,label')
  ).json()) as {
    data: { action: keyof typeof auditActions; label: string }[]
  }
  const search = Object.keys(auditActions).map((action) => `filter[action][_in][]=${action}`)
  const filtered = await world.administrator.get(`/api/system/audit-log?limit=1&${search.join('&')}`)

  expect(data.length).toBeGreaterThan(0)
  expect(data.filter(({ action, label }) => auditActions[action] !== label)).toEqual([])
  expect(Object.values(auditActions).filter((label) => !/^[A-Z][a-zA-Z -]+$/.test(label))).toEqual([])
  expect(filtered.status).toBe(200)
})

it('records a failed sign-in in the same way for an account that exists and for one that does not', async () => {
  const member = await people.memberWith(shop, [])
  const known = await failedLogin(member.email)
  const unknown = await failedLogin(people.email())

  expect(known).toMatchObject({ outcome: 'failure', actorType: 'anonymous', actorId: null, actorEmail: null })
  expect({ ...unknown, ...varying }).toEqual({ ...known, ...varying })
})

it('records who made the first administrator', async () => {
  const entries = await everywhere(
    'filter[action][_eq]=user.create.v1&filter[actorType][_eq]=anonymous&filter[workspaceId][_null]=true',
  )

  expect(entries).toMatchObject([{ targetType: 'user', outcome: 'success', payload: { isAdministrator: true } }])
})

it('records nothing of what was refused', async () => {
  const editor = await people.member(shop, { entitlements: ['workspaceMembers:edit'] })
  const name = world.name('refused')

  await editor.post('/policies', { name, content: { entitlements: ['auditLog:read'] } })
  await editor.post('/roles', { name, policies: [crypto.randomUUID()] })
  await shop.anonymous.post('/roles', { name })

  expect(await listed(shop, `filter[actorId][_eq]=${editor.userId}&filter[action][_starts_with]=policy`)).toEqual([])
  expect(await listed(shop, `filter[actorId][_eq]=${editor.userId}&filter[action][_eq]=role.create.v1`)).toEqual([])
})

it('filters, sorts, pages and counts like a list of items', async () => {
  const id = await people.role(shop, [])
  await shop.patch(`/roles/${id}`, { description: 'Changed' })
  const query = `filter[targetId][_eq]=${id}&sort[0][time][direction]=desc&limit=1&meta=totalCount&fields=action`

  const response = await shop.get(`/audit-log?${query}`)
  const wrong = await shop.get('/audit-log?filter[nothing][_eq]=1')

  expect(await response.json()).toEqual({ data: [{ action: 'role.update.v1' }], meta: { totalCount: 2 } })
  expect(wrong.status).toBe(422)
})

it('shows a workspace its own entries only', async () => {
  const other = await world.workspace('audit', {})
  const id = await people.role(other, [])

  expect(await listed(shop, `filter[targetId][_eq]=${id}`)).toEqual([])
  expect(await listed(other, `filter[targetId][_eq]=${id}`)).toHaveLength(1)
})

it('is read by whoever holds auditLog:read, and that of the instance by its administrators', async () => {
  const reader = await people.member(shop, { entitlements: ['auditLog:read'] })
  const other = await people.member(shop, { entitlements: ['workspaceMembers:read'] })

  const allowed = await reader.get('/audit-log?limit=1')
  const refused = await other.get('/audit-log')
  const ofInstance = [
    await reader.system.get('/api/system/audit-log'),
    await world.anonymous.get('/api/system/audit-log'),
  ]

  expect(allowed.status).toBe(200)
  expect(refused.status).toBe(403)
  expect(await refused.json()).toEqual({ message: 'Requires the entitlement auditLog:read' })
  expect(ofInstance.map(({ status }) => status)).toEqual([403, 403])
})

it('can be added to and nothing else', async () => {
  const [entry] = await listed(shop, 'limit=1')

  const answers = [
    await shop.delete('/audit-log'),
    await shop.patch('/audit-log', {}),
    await shop.delete(`/audit-log/${entry?.id}`),
  ]

  expect(answers.map(({ status }) => status)).toEqual([405, 405, 404])
})

const varying = { id: '', time: '', payload: {} }

/** One change may write several entries at the same moment. */
function inAnyOrder(entries: readonly object[]): unknown {
  return expect.arrayContaining(entries.map((entry) => expect.objectContaining(entry)))
}

async function failedLogin(email: string): Promise<Entry | undefined> {
  await world.anonymous.post('/api/auth/login', { credentials: { email, password: 'wrong' }, mode: 'json' })
  const entries = await everywhere('filter[outcome][_eq]=failure&sort[0][time][direction]=desc&limit=1000')
  return entries.find(({ payload }) => JSON.stringify(payload) === JSON.stringify({ email }))
}

/** The entries of the workspace that are about one thing, oldest first. */
function about(targetId: string): Promise<readonly Entry[]> {
  return listed(shop, `filter[targetId][_eq]=${targetId}`)
}

async function changesOf(of: Workspace, targetId: string): Promise<readonly unknown[]> {
  const entries = await listed(of, `filter[targetId][_eq]=${targetId}`)
  return entries.map(({ payload }) => (payload as { readonly changes: unknown }).changes)
}

async function listed(of: Workspace, query: string): Promise<readonly Entry[]> {
  return (await of.data(`/audit-log?${query}`)) as Entry[]
}

async function everywhere(query: string): Promise<readonly Entry[]> {
  const response = await world.administrator.get(`/api/system/audit-log?${query}`)
  return ((await response.json()) as { data: Entry[] }).data
}

async function workspaceId(): Promise<string | undefined> {
  const response = await world.administrator.get(`/api/system/workspaces?filter[apiName][_eq]=${shop.name}`)
  const { data } = (await response.json()) as { data: { id: string }[] }
  return data[0]?.id
}
