/**
 * docs/contract.md#license-entitlements: how usage is counted, and that no write raises it above a hard limit. On an
 * instance of its own, first under a license of small hard limits, then under one of the same limits that are soft.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Client } from '../support/service/client.ts'
import { type Instance, openTestEnvironment, type TestEnvironment } from '../support/service/instance.ts'
import { offlineLicense } from '../support/service/license.ts'

const limits = {
  workspaces: 3,
  service_accounts: 2,
  sso_enabled: false,
  seats: 3,
  custom_roles: 2,
  custom_policies: 2,
  custom_permission_rules_enabled: false,
}
const provider = { name: 'acme', issuer: 'https://id.example.com', clientId: 'ours', clientSecret: 'a secret' }
const filtered = { collections: { ServiceCollection: { read: { fields: ['apiName'] } } } }

let stage: TestEnvironment
let instance: Instance
let admin: Client

beforeAll(async () => {
  stage = await openTestEnvironment()
  instance = await stage.open(await offlineLicense({ entitlements: ofKind('hard') }))
  admin = await instance.administrator()
  for (const apiName of ['one', 'two']) await done(admin.post('/api/system/workspaces', { apiName }))
})

afterAll(() => stage?.close())

describe('a hard limit', () => {
  it('of workspaces lets one in of 20 at once where one place is left, and a deleted one makes room', async () => {
    const names = numbered(20, (index) => `many_${index}`)

    const answers = await Promise.all(names.map((apiName) => admin.post('/api/system/workspaces', { apiName })))

    expect(statuses(answers)).toEqual([201, ...Array(19).fill(402)])
    expect(await refusalOf(answers)).toEqual(exceeded('6001', { entitlement: 'workspaces', usage: 4, limit: 3 }))
    expect(await usage('/api/system/license')).toMatchObject({ workspaces: 3 })
    const [made] = answers.filter(({ status }) => status === 201)
    await done(admin.delete(`/api/system/workspaces/${await idIn(made)}`))
    expect((await admin.post('/api/system/workspaces', { apiName: 'again' })).status).toBe(201)
  })

  it('of service accounts lets one in of 20 at once, and a deleted one makes room', async () => {
    const path = '/api/system/service-accounts'
    await done(admin.post(path, { name: 'first' }))

    const answers = await Promise.all(numbered(20, (index) => admin.post(path, { name: `robot ${index}` })))

    expect(statuses(answers)).toEqual([201, ...Array(19).fill(402)])
    expect(await refusalOf(answers)).toEqual(exceeded('6002', { entitlement: 'service_accounts', usage: 3, limit: 2 }))
    const [made] = answers.filter(({ status }) => status === 201)
    await done(admin.delete(`${path}/${await idIn(made)}`))
    expect((await admin.post(path, { name: 'another' })).status).toBe(201)
  })

  it('on single sign-on refuses every provider, an enabled one and one that is not', async () => {
    const enabled = await admin.post('/api/system/providers', provider)
    const disabled = await admin.post('/api/system/providers', { ...provider, enabled: false })

    const expected = exceeded('6003', { entitlement: 'sso_enabled', usage: true, limit: false })
    expect([enabled.status, disabled.status]).toEqual([402, 402])
    expect([await enabled.json(), await disabled.json()]).toEqual([expected, expected])
    expect(await list('/api/system/providers')).toEqual([])
  })

  it('of roles holds per workspace; built-in ones do not count, and a deleted one makes room', async () => {
    await done(admin.post('/api/one/roles', { name: 'first', policies: [] }))

    const answers = await Promise.all(
      numbered(20, (index) => admin.post('/api/one/roles', { name: `role ${index}`, policies: [] })),
    )
    const elsewhere = await admin.post('/api/two/roles', { name: 'first', policies: [] })

    expect(statuses(answers)).toEqual([201, ...Array(19).fill(402)])
    expect(await refusalOf(answers)).toEqual(
      exceeded('6005', { entitlement: 'custom_roles', usage: 3, limit: 2, workspace: 'one' }),
    )
    expect(elsewhere.status).toBe(201)
    expect(await usage('/api/one/license')).toMatchObject({ custom_roles: 2 })
    expect(await usage('/api/two/license')).toMatchObject({ custom_roles: 1 })
    expect(await usage('/api/system/license')).toMatchObject({ custom_roles: 2 })
    const [made] = answers.filter(({ status }) => status === 201)
    const id = await idIn(made)
    await done(admin.patch(`/api/one/roles/${id}`, { name: 'renamed at the limit' }))
    await done(admin.delete(`/api/one/roles/${id}`))
    expect((await admin.post('/api/one/roles', { name: 'another', policies: [] })).status).toBe(201)
  })

  it('of policies holds per workspace, attached to a role or not, and a deleted one makes room', async () => {
    await done(admin.post('/api/one/policies', { name: 'first', content: {} }))

    const answers = await Promise.all(
      numbered(20, (index) => admin.post('/api/one/policies', { name: `policy ${index}`, content: {} })),
    )

    expect(statuses(answers)).toEqual([201, ...Array(19).fill(402)])
    expect(await refusalOf(answers)).toEqual(
      exceeded('6007', { entitlement: 'custom_policies', usage: 3, limit: 2, workspace: 'one' }),
    )
    const [made] = answers.filter(({ status }) => status === 201)
    await done(admin.delete(`/api/one/policies/${await idIn(made)}`))
    expect((await admin.post('/api/one/policies', { name: 'another', content: {} })).status).toBe(201)
  })

  it('on permission rules refuses a filter, a selection of fields and a validation, but nothing else', async () => {
    const ofCollection = (read: unknown) => ({ collections: { ServiceCollection: { read } } })
    const create = async (content: object) => {
      const response = await admin.post('/api/two/policies', { name: `rules ${JSON.stringify(content)}`, content })
      if (response.ok) await done(admin.delete(`/api/two/policies/${await idIn(response)}`))
      return response.status
    }

    const refused = [
      await create(ofCollection({ filter: { apiName: { _eq: 'x' } } })),
      await create(ofCollection({ fields: ['apiName'] })),
      await create({ collections: { ServiceCollection: { create: { validation: { apiName: { _neq: '' } } } } } }),
    ]
    const allowed = [
      await create(ofCollection('all')),
      await create(ofCollection({})),
      await create(ofCollection({ fields: '*', filter: {} })),
      await create({ entitlements: ['dataModel:read'] }),
    ]

    expect(refused).toEqual([402, 402, 402])
    expect(allowed).toEqual([201, 201, 201, 201])
  })

  it('on permission rules refuses a change that brings one in', async () => {
    const made = await admin.post('/api/two/policies', { name: 'plain', content: {} })

    const id = await idIn(made)
    const response = await admin.patch(`/api/two/policies/${id}`, { content: filtered })
    await done(admin.delete(`/api/two/policies/${id}`))

    expect(response.status).toBe(402)
    expect(await response.json()).toEqual(
      exceeded('6006', {
        entitlement: 'custom_permission_rules_enabled',
        usage: true,
        limit: false,
        workspace: 'two',
      }),
    )
    expect(await usage('/api/two/license')).toMatchObject({ custom_permission_rules_enabled: false })
  })

  it('names every limit that a write would exceed', async () => {
    for (const name of ['first', 'second']) await done(admin.post('/api/two/policies', { name, content: {} }))

    const response = await admin.post('/api/two/policies', { name: 'third', content: filtered })

    const { meta } = (await response.json()) as { meta: { violations: { entitlement: string }[] } }
    const names = meta.violations.map(({ entitlement }) => entitlement)
    expect(names.toSorted()).toEqual(['custom_permission_rules_enabled', 'custom_policies'])
  })

  it('of seats counts members and open invitations, and moves a seat from one to the other', async () => {
    const emails = numbered(20, (index) => `seat${index}@example.com`)
    const first = await invite('one', 'first@example.com')

    const answers = await Promise.all(emails.map((email) => invite('one', email)))
    const elsewhere = await invite('two', 'first@example.com')

    expect(statuses([first, elsewhere])).toEqual([201, 201])
    expect(statuses(answers)).toEqual([201, ...Array(19).fill(402)])
    expect(await refusalOf(answers)).toEqual(
      exceeded('6004', { entitlement: 'seats', usage: 4, limit: 3, workspace: 'one' }),
    )
    expect((await accept(first)).status).toBe(200)
    expect(await usage('/api/one/license')).toMatchObject({ seats: 3 })
  })

  it('of seats is free again by suspending a member, whom nobody can bring back while it is taken', async () => {
    const members = await list('/api/one/members?filter[email][_eq]=first@example.com')
    const [{ userId } = { userId: '' }] = members as { userId: string }[]
    const status = (value: string) => admin.patch(`/api/one/members/${userId}`, { status: value })

    await done(status('suspended'))
    const afterSuspension = await usage('/api/one/license')
    const taken = await invite('one', 'second@example.com')
    const back = await status('active')
    await done(admin.delete(`/api/one/invitations/${await idIn(taken)}`))
    const backAfterDeletion = await status('active')

    expect(afterSuspension).toMatchObject({ seats: 2 })
    expect(taken.status).toBe(201)
    expect(back.status).toBe(402)
    expect(await back.json()).toMatchObject({ code: '6004' })
    expect(backAfterDeletion.status).toBe(200)
  })

  it('of seats is free again when an invitation has run out, and service accounts take none', async () => {
    const open = await list('/api/one/invitations')
    for (const { id } of open as { id: string }[]) await done(admin.delete(`/api/one/invitations/${id}`))
    const [role] = (await list('/api/one/roles?filter[name][_eq]=first')) as { id: string }[]
    const [account] = (await list('/api/system/service-accounts?limit=1')) as { id: string }[]
    await done(
      admin.patch(`/api/system/service-accounts/${account?.id}`, { roles: [{ workspace: 'one', roleId: role?.id }] }),
    )
    const before = await usage('/api/one/license')

    const short = await invite('one', 'short@example.com', '1s')
    await expect.poll(() => usage('/api/one/license')).toMatchObject({ seats: 2 })
    const next = await invite('one', 'next@example.com')

    expect(before).toMatchObject({ seats: 2 })
    expect([short.status, next.status]).toEqual([201, 201])
  })
})

describe('a soft limit', () => {
  beforeAll(async () => {
    await instance.close()
    instance = await stage.open(await offlineLicense({ entitlements: ofKind('soft') }))
    admin = await instance.administrator()
  })

  it('lets every write pass, and flags what is above it to administrators', async () => {
    const before = await warnings()

    const answers = [
      await admin.post('/api/system/workspaces', { apiName: 'extra' }),
      await admin.post('/api/system/service-accounts', { name: 'extra' }),
      await admin.post('/api/system/providers', provider),
      await admin.post('/api/one/roles', { name: 'extra', policies: [] }),
      await admin.post('/api/one/policies', { name: 'extra', content: filtered }),
      await invite('one', 'extra@example.com'),
    ]

    expect(before).toEqual([])
    expect(statuses(answers)).toEqual(Array(6).fill(201))
    const flagged = await warnings()
    expect(flagged).toHaveLength(7)
    expect(flagged).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ kind: 'usage', entitlement: 'workspaces', usage: 4, limit: 3 }),
        expect.objectContaining({ kind: 'usage', entitlement: 'service_accounts', usage: 3, limit: 2 }),
        expect.objectContaining({ kind: 'usage', entitlement: 'sso_enabled', usage: true, limit: false }),
        expect.objectContaining({ entitlement: 'custom_roles', usage: 3, limit: 2, workspace: 'one' }),
        expect.objectContaining({ entitlement: 'custom_policies', usage: 3, limit: 2, workspace: 'one' }),
        expect.objectContaining({ entitlement: 'custom_permission_rules_enabled', usage: true, workspace: 'one' }),
        expect.objectContaining({ entitlement: 'seats', usage: 4, limit: 3, workspace: 'one' }),
      ]),
    )
  })

  it('on single sign-on counts a disabled provider until it is deleted', async () => {
    await done(admin.patch(`/api/system/providers/${provider.name}`, { enabled: false }))
    const disabled = await usage('/api/system/license')
    await done(admin.delete(`/api/system/providers/${provider.name}`))
    const deleted = await usage('/api/system/license')

    expect([disabled, deleted]).toMatchObject([{ sso_enabled: true }, { sso_enabled: false }])
  })
})

describe('the start of an instance', () => {
  it('is refused where usage exceeds a hard limit, with a report of every violation in the log', async () => {
    await instance.close()

    const { reason, log } = await stage.refusal(
      await offlineLicense({ entitlements: { workspaces: { limit: 3, kind: 'hard' } } }),
    )

    expect(reason).toBe('Usage exceeds hard limits of the license: workspaces')
    expect(log).toContain('entitlement workspaces, usage 4, limit 3: every workspace counts')
  })
})

async function invite(workspace: string, email: string, expiresIn = '7d'): Promise<Response> {
  return admin.post(`/api/${workspace}/invitations`, { email, workspace_roles: [], expiresIn })
}

async function accept(invitation: Response): Promise<Response> {
  const { data } = (await invitation.json()) as { data: { email: string } }
  const token = await instance.mailedToken(data.email, /workspace one$/)
  const body = { token, password: 'a password of some length' }
  return instance.anonymous.post('/api/auth/invitations/accept', body)
}

async function usage(path: string): Promise<object> {
  const { data } = (await (await admin.get(path)).json()) as { data: { usage: object } }
  return data.usage
}

async function warnings(): Promise<readonly object[]> {
  const { license } = (await (await admin.get('/api/system/info')).json()) as { license: { warnings: object[] } }
  return license.warnings
}

async function list(path: string): Promise<readonly unknown[]> {
  const { data } = (await (await admin.get(path)).json()) as { data: unknown[] }
  return data
}

async function idIn(response: Response | undefined): Promise<string> {
  const body: unknown = await response?.json()
  return (body as { data: { id: string } }).data.id
}

async function done(sent: Promise<Response>): Promise<void> {
  const response = await sent
  if (!response.ok) throw new Error(`${response.url} answered ${response.status}: ${await response.text()}`)
}

function statuses(answers: readonly Response[]): readonly number[] {
  return answers.map(({ status }) => status).toSorted()
}

async function refusalOf(answers: readonly Response[]): Promise<unknown> {
  return answers.find(({ status }) => status === 402)?.json()
}

function exceeded(code: string, violation: object) {
  const message = 'The requested operation would exceed licensed hard limits'
  return { message, code, meta: { violations: [violation] } }
}

function ofKind(kind: 'hard' | 'soft') {
  return Object.fromEntries(Object.entries(limits).map(([name, limit]) => [name, { limit, kind }]))
}

function numbered<T>(count: number, make: (index: number) => T): readonly T[] {
  return Array.from({ length: count }, (_, index) => make(index))
}
