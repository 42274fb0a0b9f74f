/** docs/contract.md#policies: roles. */
import { expect, it } from 'vitest'
import { refusedAnonymous } from '../support/service/messages.ts'
import { people } from '../support/service/people.ts'
import { type Workspace, world } from '../support/service/world.ts'

const shop = await world.workspace('roles', { articles: { title: 'string' }, secrets: { text: 'string' } })

it('creates a role with policies', async () => {
  const policy = await people.policy(shop, { entitlements: ['dataModel:read'] })

  const response = await shop.post('/roles', { name: 'Editors', description: 'They edit', policies: [policy] })

  expect(response.status).toBe(201)
  expect(await response.json()).toEqual({
    data: {
      id: expect.any(String),
      name: 'Editors',
      description: 'They edit',
      kind: 'custom',
      policies: [policy],
    },
  })
})

it('has two built-in roles', async () => {
  const roles = await shop.data(
    '/roles?filter[kind][_neq]=custom&fields=name,kind,policies&sort[0][name][direction]=asc',
  )

  expect(roles).toEqual([
    { name: 'Administrator', kind: 'administrator', policies: [] },
    { name: 'Public', kind: 'public', policies: [] },
  ])
})

it('reads, changes and deletes a role', async () => {
  const [first, second] = [await people.policy(shop, {}), await people.policy(shop, {})]
  const id = await people.role(shop, [first])

  const changed = await shop.patch(`/roles/${id}`, { name: 'Renamed', policies: [second] })
  const untouched = await shop.patch(`/roles/${id}`, { description: 'Said later' })
  const read = await shop.get(`/roles/${id}?fields=name,policies`)
  const deleted = await shop.delete(`/roles/${id}`)
  const gone = await shop.get(`/roles/${id}`)

  expect(await changed.json()).toMatchObject({ data: { name: 'Renamed', description: null, policies: [second] } })
  expect(await untouched.json()).toMatchObject({ data: { name: 'Renamed', description: 'Said later' } })
  expect(await read.json()).toEqual({ data: { name: 'Renamed', policies: [second] } })
  expect(deleted.status).toBe(204)
  expect(gone.status).toBe(404)
  expect(await gone.json()).toEqual({ message: 'Role does not exist' })
})

it('takes a role away from its members when it is deleted', async () => {
  const id = await people.roleWith(shop, { collections: { articles: { read: 'all' } } })
  const member = await people.memberWith(shop, [id])

  const before = await member.get('/items/articles')
  await shop.delete(`/roles/${id}`)
  const after = await member.get('/items/articles')

  expect([before.status, after.status]).toEqual([200, 403])
})

it('pages, sorts, filters and counts like a list of items', async () => {
  const names = ['list-a', 'list-b', 'list-c']
  for (const name of names) await people.role(shop, [], name)
  const address = '/roles?filter[name][_starts_with]=list-&sort[0][name][direction]=desc'

  const response = await shop.get(`${address}&fields=name&limit=1&offset=1&meta=totalCount`)
  const wrong = await shop.get('/roles?filter[workspaceId][_null]=true')

  expect(await response.json()).toEqual({ data: [{ name: 'list-b' }], meta: { totalCount: 3 } })
  expect(wrong.status).toBe(422)
})

it('shows nothing of another workspace', async () => {
  const other = await world.workspace('roles', {})
  const id = await people.role(other, [])

  const answers = [
    await shop.get(`/roles/${id}`),
    await shop.patch(`/roles/${id}`, { name: 'Mine' }),
    await shop.delete(`/roles/${id}`),
  ]
  const listed = (await shop.data('/roles?limit=0&fields=id')) as { id: string }[]

  expect(answers.map(({ status }) => status)).toEqual([404, 404, 404])
  expect(listed.map((role) => role.id)).not.toContain(id)
})

it('makes every one of many changes at once', async () => {
  const names = Array.from({ length: 30 }, (_, index) => `crowd-${index}`)

  const answers = await Promise.all(names.map((name) => shop.post('/roles', { name })))

  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]))
})

it('answers 409 for a name that the workspace has already', async () => {
  await people.role(shop, [], 'Taken')
  const other = await people.role(shop, [])

  const created = await shop.post('/roles', { name: 'Taken' })
  const renamed = await shop.patch(`/roles/${other}`, { name: 'Taken' })
  const builtIn = await shop.post('/roles', { name: 'Administrator' })

  expect([created.status, renamed.status, builtIn.status]).toEqual([409, 409, 409])
  expect(await created.json()).toEqual({ message: 'A role of this name already exists' })
})

it.each([
  ['without a name', {}, 'name'],
  ['with a blank name', { name: '  ' }, 'name'],
  ['with a name that no database can hold', { name: 'a\u0000b' }, 'name'],
  ['with a policy that does not exist', { name: 'X', policies: [crypto.randomUUID()] }, 'policies[0]'],
  ['with a policy that is no id', { name: 'X', policies: ['mine'] }, 'policies[0]'],
  [
    'with an unknown member',
    { name: 'X', kind: 'administrator' },
    'unknown field kind; allowed: name, description, policies',
  ],
])('answers 422 for a role %s, naming the place', async (_, body, place) => {
  const response = await shop.post('/roles', body)

  expect(response.status).toBe(422)
  expect(await response.json()).toMatchObject({
    message: expect.stringContaining('Failed to read the JSON body: '),
    source: { message: place },
  })
})

it('does not take policies of another workspace', async () => {
  const other = await world.workspace('roles', {})
  const policy = await people.policy(other, {})

  const response = await shop.post('/roles', { name: 'Borrowed', policies: [policy] })

  expect(response.status).toBe(422)
})

it('leaves the built-in roles as they are, but for the policies of Public', async () => {
  const [administrator, everybody] = [await people.administratorRole(shop), await people.publicRole(shop)]
  const policy = await people.policy(shop, {})

  const refused = [
    await shop.patch(`/roles/${administrator}`, { name: 'Boss' }),
    await shop.patch(`/roles/${administrator}`, { policies: [policy] }),
    await shop.delete(`/roles/${administrator}`),
    await shop.patch(`/roles/${everybody}`, { name: 'All' }),
    await shop.delete(`/roles/${everybody}`),
  ]
  const allowed = await shop.patch(`/roles/${everybody}`, { policies: [policy] })

  expect(refused.map(({ status }) => status)).toEqual([403, 403, 403, 403, 403])
  expect(await allowed.json()).toMatchObject({ data: { name: 'Public', policies: [policy] } })
})

it('lets anonymous callers act under Public, from the next request on', async () => {
  const open = await world.workspace('roles', { articles: { title: 'string' } })
  const everybody = await people.publicRole(open)
  const policy = await people.policy(open, { collections: { articles: { read: 'all' } } })

  const before = await open.anonymous.get('/items/articles')
  await open.patch(`/roles/${everybody}`, { policies: [policy] })
  const granted = await open.anonymous.get('/items/articles')
  await open.patch(`/roles/${everybody}`, { policies: [] })
  const after = await open.anonymous.get('/items/articles')

  expect([before.status, granted.status, after.status]).toEqual([403, 200, 403])
})

it('gives nobody more than whoever writes the role holds', async () => {
  const editor = await people.member(shop, {
    entitlements: ['workspaceMembers:read', 'workspaceMembers:edit'],
    collections: { articles: { read: 'all' } },
  })
  const within = await people.policy(shop, { collections: { articles: { read: 'all' } } })
  const beyond = await people.policy(shop, { collections: { secrets: { read: 'all' } } })
  const role = await people.role(shop, [within])

  const created = await editor.post('/roles', { name: world.name('r'), policies: [within] })
  const createdBeyond = await editor.post('/roles', { name: world.name('r'), policies: [within, beyond] })
  const changedBeyond = await editor.patch(`/roles/${role}`, { policies: [beyond] })
  const publicBeyond = await editor.patch(`/roles/${await people.publicRole(shop)}`, { policies: [beyond] })

  expect(created.status).toBe(201)
  expect([createdBeyond.status, changedBeyond.status, publicBeyond.status]).toEqual([403, 403, 403])
  expect(await createdBeyond.json()).toEqual({ message: 'You cannot grant rights that you do not hold' })
  expect(await policiesOf(shop, role)).toEqual([within])
})

it.each([
  ['GET', '/roles', 'workspaceMembers:read'],
  ['GET', `/roles/${crypto.randomUUID()}`, 'workspaceMembers:read'],
  ['POST', '/roles', 'workspaceMembers:edit'],
  ['PATCH', `/roles/${crypto.randomUUID()}`, 'workspaceMembers:edit'],
  ['DELETE', `/roles/${crypto.randomUUID()}`, 'workspaceMembers:edit'],
])('answers 403 naming the entitlement that %s %s needs', async (method, path, entitlement) => {
  const response = await shop.anonymous.send(method, path, method === 'GET' ? {} : { body: {} })

  expect(response.status).toBe(403)
  expect(await response.json()).toEqual(refusedAnonymous(`Requires the entitlement ${entitlement}`))
})

async function policiesOf(of: Workspace, role: string): Promise<unknown> {
  const { policies } = (await of.data(`/roles/${role}`)) as { policies: unknown }
  return policies
}
