/** The client's calls on the model, on who may do what, and on the instance (packages/client). */
import { beforeAll, expect, it } from 'vitest'
import type { Client } from '../../../packages/client/src/index.ts'
import { schema, system, workspace } from '../../../packages/client/src/system.ts'
import { people } from '../../support/service/people.ts'
import { createCollection, type Workspace, world } from '../../support/service/world.ts'
import { openShop, type Schema } from './shop.ts'

let shop: Workspace
let db: Client<Schema>

beforeAll(async () => {
  const opened = await openShop('system')
  shop = opened.shop
  db = opened.db
})

it('reads the model as a file, plans a change of it and applies that', async () => {
  const model = await schema(db).model({ ids: false }).orThrow()
  const changed = { ...model, collections: { ...model.collections, planned: { fields: { id: 'int64 auto' } } } }

  const plan = await schema(db).plan(changed).orThrow()
  const applied = await schema(db).apply(changed, plan)
  const late = await schema(db).apply(model, plan, { allow: ['drop'] })
  const undone = await schema(db)
    .apply(model, await schema(db).plan(model).orThrow(), { allow: ['drop'] })
    .orThrow()

  expect(model.ids).toBeUndefined()
  expect(plan.changes).toMatchObject([{ action: 'create', path: 'planned' }])
  expect(applied).toMatchObject({ ok: true, data: { changes: [{ action: 'create', path: 'planned' }] } })
  expect(late).toMatchObject({ ok: false, status: 409, error: { code: '4094' } })
  expect(undone.changes).toMatchObject([{ action: 'delete', path: 'planned' }])
})

it('reads the manifest, and migrates once it has seen what that does', async () => {
  const operation = createCollection(new Map(), shop.sourceId, 'extras', { name: 'string' })

  const seen = await schema(db).dryRun([operation]).orThrow()
  const before = await schema(db)
    .manifest({ collections: ['authors'] })
    .orThrow()
  const done = await schema(db).migrate([operation])
  const after = await schema(db).manifest({ collections: ['extras'] })

  expect(seen.statements[0]?.sql).toContain('create table')
  expect(before).toMatchObject({ formatVersion: 1 })
  expect(done).toMatchObject({ ok: true, status: 200, data: undefined })
  expect(after.ok).toBe(true)
})

it('reads what its caller may do', async () => {
  const { entitlements, collections } = await workspace(db).access().orThrow()

  expect(entitlements).toContain('workspaceMembers:edit')
  expect(collections.articles).toEqual({ read: 'all', create: 'all', update: 'all', delete: 'all' })
})

it('asks why somebody may not', async () => {
  const question = { anonymous: true, collection: 'articles', action: 'read' } as const

  expect(await workspace(db).explain(question).orThrow()).toEqual({ allowed: false, policies: [] })
  expect(await workspace(db).explain({ ...question, key: 'none' })).toMatchObject({ ok: false, status: 422 })
})

it('keeps what is expected of rights, and asks what a change would do', async () => {
  const { tests, effect } = workspace(db)
  const expected = { as: 'anonymous', collection: 'articles', action: 'read', expect: { allowed: false } } as const
  const test = await tests.create({ name: 'Nobody outside reads', ...expected }).orThrow()

  expect(await tests.list().orThrow()).toEqual([test])
  expect(await effect({}).orThrow()).toEqual({
    granted: [],
    revoked: [],
    changed: [],
    tests: [{ id: test.id, name: test.name, passed: true }],
  })
  expect((await tests.delete(test.id)).status).toBe(204)
})

it('reads what happened in the workspace', async () => {
  const { auditLog, auditActions } = workspace(db)
  const [first] = await auditLog.list({ filter: { action: { _eq: 'workspace.create.v1' } } }).orThrow()

  expect(first).toMatchObject({ label: 'Workspace created', targetType: 'workspace', ip: null })
  expect(await auditActions().orThrow()).toContainEqual({ action: 'workspace.create.v1', label: 'Workspace created' })
})

it('makes, lists, reads, changes and deletes roles and policies', async () => {
  const { roles, policies } = workspace(db)

  const policy = await policies
    .create({ name: 'reading', content: { collections: { articles: { read: 'all' } } } })
    .orThrow()
  const role = await roles.create({ name: 'Readers', policies: [policy.id] }).orThrow()
  const renamed = await roles.update(role.id, { name: 'Guests' }).orThrow()
  const read = await policies.get(policy.id).orThrow()
  const listed = await roles.list({
    fields: ['name'],
    filter: { name: { _neq: 'Public' } },
    sort: [{ name: 'desc' }],
    limit: 1,
    meta: ['totalCount'],
  })
  const gone = await roles.delete(role.id)
  const missing = await roles.get(role.id)

  expect(role).toMatchObject({ name: 'Readers', policies: [policy.id] })
  expect(renamed.name).toBe('Guests')
  expect(read.name).toBe('reading')
  expect(listed).toMatchObject({ ok: true, data: [{ name: 'Guests' }], meta: { totalCount: 2 } })
  expect(gone).toMatchObject({ ok: true, status: 204, data: undefined })
  expect(missing).toMatchObject({ ok: false, status: 404 })
})

it('invites, and changes and removes members', async () => {
  const { members, invitations, license } = workspace(db)
  const { userId } = await people.member(shop, {})

  const invited = await invitations.create({ email: `${shop.name}@example.com` }).orThrow()
  const open = await invitations.list({ fields: ['email'] }).orThrow()
  const withdrawn = await invitations.delete(invited.id)
  const suspended = await members.update(userId, { status: 'suspended' }).orThrow()
  const removed = await members.delete(userId)
  const rest = await members.list({ fields: ['userId'], filter: { userId } }).orThrow()

  expect(invited.token).toEqual(expect.any(String))
  expect(open).toContainEqual({ email: `${shop.name}@example.com` })
  expect([withdrawn.status, removed.status]).toEqual([204, 204])
  expect(suspended.status).toBe('suspended')
  expect(rest).toEqual([])
  expect(await license().orThrow()).toMatchObject({ status: 'active' })
})

it('asks the instance: workspaces, users, keys, service accounts, providers, audit log', async () => {
  const { info, workspaces, users, apiKeys, serviceAccounts, providers, auditLog, auditActions, me } = system(db)
  const { license, refreshLicense, settings, testMail } = system(db)
  const apiName = world.name('made')

  const made = await workspaces.create({ apiName }).orThrow()
  const titled = await workspaces.update(made.id, { displayName: 'Made' }).orThrow()
  const key = await apiKeys.create({ name: apiName, expiresIn: '1d' }).orThrow()
  const off = await apiKeys.update(key.id, { active: false }).orThrow()
  const account = await serviceAccounts.create({ name: apiName }).orThrow()
  const provider = await providers
    .create({
      name: apiName.replaceAll('_', '-'),
      issuer: 'https://login.example.com',
      clientId: 'x',
      clientSecret: 'y',
      enabled: false,
    })
    .orThrow()
  const entries = await auditLog
    .list({ filter: { action: 'workspace.create.v1', workspaceId: made.id }, fields: ['action'] })
    .orThrow()
  const named = await me.update({ fullName: null }).orThrow()
  const sessions = await me.sessions().orThrow()
  const [user] = await users.list({ fields: ['id'], filter: { email: world.administrator.email } }).orThrow()
  const deleted = [
    await workspaces.delete(made.id),
    await apiKeys.delete(key.id),
    await serviceAccounts.delete(account.id),
    await providers.delete(provider.name),
  ]

  expect(await auditActions().orThrow()).toContainEqual({ action: 'workspace.create.v1', label: 'Workspace created' })
  expect(named.email).toBe(world.administrator.email)
  expect(sessions.map(({ id }) => id)).toEqual(expect.arrayContaining([expect.any(String)]))
  expect([(await me.endSessions(made.id)).status, (await testMail()).status]).toEqual([404, 204])
  expect((await info().orThrow()).name).toEqual(expect.any(String))
  expect(await settings().orThrow()).toContainEqual({ name: 'SERVICE_SECRET', isSet: true, value: null })
  expect((await license().orThrow()).usage.workspaces).toBeGreaterThan(0)
  // It is one without a key.
  expect((await refreshLicense()).status).toBe(409)
  expect(titled.displayName).toBe('Made')
  expect([key.key, off.active]).toEqual([expect.any(String), false])
  expect(entries).toEqual([{ action: 'workspace.create.v1' }])
  expect((await users.get(user?.id ?? '').orThrow()).email).toBe(world.administrator.email)
  expect(deleted.map(({ status }) => status)).toEqual([204, 204, 204, 204])
})
