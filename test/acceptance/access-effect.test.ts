/**
 * docs/contract.md#effect-of-a-change: what `access/effect` says of a change of rights is what `/access` says before and after it,
 * and nothing is changed by asking.
 */
import { expect, it } from 'vitest'
import { createDice, seed } from '../fuzz/support/dice.ts'
import { casesOr } from '../support/run/cases.ts'
import { type Content, people } from '../support/service/people.ts'
import { type Client, world } from '../support/service/world.ts'

const fields = ['id', 'name', 'size'] as const
const shop = await world.workspace('effect', { goods: { id: 'int32', name: 'string', size: 'int32' } })
const dice = createDice(seed)

type Effect = {
  entitlement?: string
  collection?: string
  action?: string
  fields?: string[]
  members: number
  userIds: string[]
  isAnonymous: boolean
}
type Effects = { granted: Effect[]; revoked: Effect[]; changed: Effect[] }

const ask = (client: Client, body: object) => client.post('/access/effect', body)

async function effectsOf(body: object): Promise<Effects> {
  const response = await ask(shop, body)
  expect(response.status, await response.clone().text()).toBe(200)
  const { tests, ...effects } = ((await response.json()) as { data: Effects & { tests: unknown } }).data
  expect(tests).toEqual([])
  return effects
}

async function rightsOf(client: Client): Promise<object> {
  return ((await (await client.get('/access')).json()) as { data: object }).data
}

it('says who gets and loses what, and whose items or conditions are others', async () => {
  const reading = { goods: { read: { fields: ['id', 'name'], filter: { size: { _gt: 1 } } }, delete: 'all' } }
  const policy = await people.policy(shop, { entitlements: ['dataModel:read'], collections: reading })
  const role = await people.role(shop, [policy])
  const [one, other] = [await people.memberWith(shop, [role]), await people.memberWith(shop, [role])]
  const content = {
    entitlements: ['auditLog:read'],
    collections: { goods: { read: { fields: ['id', 'size'], filter: { size: { _gt: 2 } } }, update: 'all' } },
  }
  const told = await effectsOf({ policies: { [policy]: { content } } })
  const freed = await effectsOf({ policies: { [policy]: { content: { collections: { goods: { read: 'all' } } } } } })
  const left = await effectsOf({ members: { [one.userId]: { roles: [] } } })
  const publicRole = await people.publicRole(shop)
  const open = await effectsOf({ roles: { [publicRole]: { policies: [policy] } } })
  const gone = await Promise.all(
    [{ roles: { [role]: null } }, { policies: { [policy]: null } }, { roles: { [role]: { policies: [] } } }].map(
      (body) => effectsOf(body),
    ),
  )

  const both = { members: 2, userIds: [one.userId, other.userId].sort(), isAnonymous: false }
  const first = { members: 1, userIds: [one.userId], isAnonymous: false }
  const goods = { collection: 'goods' }
  expect(told).toEqual({
    granted: [
      { entitlement: 'auditLog:read', ...both },
      { ...goods, action: 'read', fields: ['size'], items: 'some', ...both },
      { ...goods, action: 'update', items: 'all', ...both },
    ],
    revoked: [
      { entitlement: 'dataModel:read', ...both },
      { ...goods, action: 'read', fields: ['name'], ...both },
      { ...goods, action: 'delete', ...both },
    ],
    changed: [{ ...goods, action: 'read', fields: ['id'], ...both }],
  })
  expect(freed).toMatchObject({
    granted: [{ ...goods, action: 'read', fields: ['size'], ...both }],
    changed: [{ ...goods, action: 'read', fields: ['id', 'name'], items: 'all', ...both }],
  })
  const all = [
    { entitlement: 'dataModel:read' },
    { ...goods, action: 'read', fields: ['id', 'name'] },
    { ...goods, action: 'delete' },
  ]
  const of = (holders: object) => all.map((effect) => ({ ...effect, ...holders }))
  const [entitlement, read, deletion] = of({ members: 0, userIds: [], isAnonymous: true })
  expect(left).toEqual({ granted: [], revoked: of(first), changed: [] })
  expect(open).toEqual({
    granted: [entitlement, { ...read, items: 'some' }, { ...deletion, items: 'all' }],
    revoked: [],
    changed: [],
  })
  for (const effects of gone) expect(effects).toEqual({ granted: [], revoked: of(both), changed: [] })
  expect(await rightsOf(one)).toMatchObject({ collections: { goods: { delete: 'all' } } })
  expect(await effectsOf({})).toEqual({ granted: [], revoked: [], changed: [] })
})

it('says what a suspended member gets by being made active, and that they have nothing to lose', async () => {
  const policy = await people.policy(shop, { collections: { goods: { read: 'all' } } })
  const role = await people.role(shop, [policy])
  const { userId } = await people.memberWith(shop, [role])
  expect((await shop.patch(`/members/${userId}`, { status: 'suspended' })).status).toBe(200)

  const told = await effectsOf({ members: { [userId]: { roles: [role] } } })

  const of = { members: 1, userIds: [userId], isAnonymous: false }
  expect(told).toEqual({
    granted: [{ collection: 'goods', action: 'read', items: 'all', ...of }],
    revoked: [],
    changed: [],
  })
  expect(await effectsOf({ members: { [userId]: { roles: [] } } })).toEqual({ granted: [], revoked: [], changed: [] })
  expect(await effectsOf({ members: { [userId]: null } })).toEqual({ granted: [], revoked: [], changed: [] })
})

it('says where a change opens every item, and where it no longer does', async () => {
  const content = (goods: object) => ({ content: { collections: { goods } } })
  const [open, validation] = [{ size: { _gt: 1 } }, { size: { _gt: 0 } }]
  const before = { read: { filter: open }, update: { validation }, delete: 'all' }
  const policy = await people.policy(shop, content(before).content)
  const { userId } = await people.memberWith(shop, [await people.role(shop, [policy])])
  const of = { collection: 'goods', members: 1, userIds: [userId], isAnonymous: false }
  const changed = async (goods: object) => (await effectsOf({ policies: { [policy]: content(goods) } })).changed

  expect(await changed({ read: 'all', update: 'all', delete: { filter: open } })).toEqual([
    { ...of, action: 'read', items: 'all' },
    { ...of, action: 'update', items: 'all' },
    { ...of, action: 'delete', items: 'some' },
  ])
  expect(await changed({ ...before, read: { filter: { size: { _gt: 2 } } } })).toEqual([{ ...of, action: 'read' }])
})

it('tells of fields alone, where items and conditions stay', async () => {
  const reading = (read: unknown) => ({ content: { collections: { goods: { read } } } })
  const policy = await people.policy(shop, reading({ fields: ['id', 'name'] }).content)
  const { userId } = await people.memberWith(shop, [await people.role(shop, [policy])])

  const told = await effectsOf({ policies: { [policy]: reading({ fields: ['id', 'size'] }) } })

  const theirs = { collection: 'goods', action: 'read', members: 1, userIds: [userId], isAnonymous: false }
  expect(told).toEqual({
    granted: [{ ...theirs, fields: ['size'], items: 'all' }],
    revoked: [{ ...theirs, fields: ['name'] }],
    changed: [],
  })
  expect(await effectsOf({ policies: { [policy]: reading('all') } })).toMatchObject({
    granted: [{ ...theirs, fields: ['size'] }],
    revoked: [],
    changed: [],
  })
})

it('says of random changes what the rights of a member are before and after', async () => {
  const policies = await Promise.all([people.policy(shop, {}), people.policy(shop, {})])
  const member = await people.memberWith(shop, [await people.role(shop, policies)])
  const anyContent = (): Content => {
    if (dice.once(4)) return {}
    const some = fields.filter((name) => name === 'id' || dice.once(2))
    const filter = dice.once(2) ? { size: { _gt: dice.pick([0, 1]) } } : undefined
    return { collections: { goods: { read: dice.once(4) ? 'all' : { ...(filter && { filter }), fields: some } } } }
  }
  const readable = async () => {
    const { collections } = (await rightsOf(member)) as { collections: { goods?: { read: unknown } } }
    const { read } = collections.goods ?? { read: 'none' }
    if (read === 'none') return []
    return read === 'all' ? [...fields] : (read as { fields: string[] }).fields
  }
  for (let turn = 0; turn < casesOr(40); turn += 1) {
    const policy = dice.pick(policies)
    const content = anyContent()
    const before = await readable()
    const told = await effectsOf({ policies: { [policy]: { content } } })
    expect(await readable()).toEqual(before)
    expect((await shop.patch(`/policies/${policy}`, { content })).status).toBe(200)
    const after = await readable()
    const named = (effects: readonly Effect[]) =>
      effects.flatMap((effect) => (effect.userIds.includes(member.userId) ? (effect.fields ?? [...fields]) : [])).sort()
    const without = (some: readonly string[], others: readonly string[]) =>
      some.filter((name) => !others.includes(name)).sort()
    const about = JSON.stringify({ before, content, told })
    expect(named(told.granted), about).toEqual(without(after, before))
    expect(named(told.revoked), about).toEqual(without(before, after))
  }
})

it('is for those who change rights and read the model, and knows what there is', async () => {
  const policy = await people.policy(shop, {})
  const person = async (...entitlements: readonly string[]) => {
    const response = await ask(await people.member(shop, { entitlements }), { policies: { [policy]: null } })
    return response.status
  }
  const nowhere = '0190a1b2-0000-7000-8000-000000000000'
  const publicRole = await people.publicRole(shop)
  const faults = await Promise.all(
    [
      { policies: { [nowhere]: null } },
      { roles: { [nowhere]: null } },
      { roles: { [publicRole]: null } },
      { members: { [nowhere]: null } },
      { roles: { [publicRole]: { policies: [nowhere] } } },
      { policies: { [policy]: { content: { collections: { nowhere: { read: 'all' } } } } } },
      { policies: { x: null } },
    ].map(async (body) => (await ask(shop, body)).status),
  )

  expect([
    await person('workspaceMembers:edit', 'workspaceMembers:read'),
    await person('dataModel:read', 'workspaceMembers:read'),
    // It would tell who has what.
    await person('workspaceMembers:edit', 'dataModel:read'),
  ]).toEqual([403, 403, 403])
  expect(await person('workspaceMembers:edit', 'workspaceMembers:read', 'dataModel:read')).toBe(200)
  expect(faults).toEqual(faults.map(() => 422))
})
