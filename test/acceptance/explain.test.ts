/**
 * docs/contract.md#explaining-access: what `access/explain` says of somebody is what the API then does for them, row by row and
 * field by field, for policies at random; and it tells nobody what they could not read.
 */
import { beforeAll, expect, it } from 'vitest'
import { createDice, seed } from '../fuzz/support/dice.ts'
import { casesOr } from '../support/run/cases.ts'
import { people } from '../support/service/people.ts'
import { type Client, world } from '../support/service/world.ts'

const shape = {
  shelves: { id: 'int32', name: 'string' },
  goods: { id: 'int32', name: 'string', kind: 'string', size: 'int32', shelfId: 'int32?' },
}
const shop = await world.workspace('explain', shape, ['goods.shelf(shelfId) -> shelves.goods'])
const policies = await Promise.all([people.policy(shop, {}, 'One'), people.policy(shop, {}, 'Two')])
const role = await people.role(shop, policies)
const target = await people.memberWith(shop, [role])
const dice = createDice(seed)

type Row = { readonly id: number } & Readonly<Record<string, unknown>>
type Policy = { id: string; name: string; allows: boolean | null; reason?: string; condition?: object }
type Explained = { allowed: boolean | null; policies: Policy[] }

const kinds = ['a', 'b'] as const
const fields = ['id', 'name', 'kind', 'size', 'shelfId'] as const
const rows: readonly Row[] = Array.from({ length: 4 }, (_, index) => {
  return { id: index + 1, name: `Good ${index}`, kind: kinds[index % 2], size: index, shelfId: (index % 2) + 1 }
})

beforeAll(async () => {
  await shop.insert('shelves', [
    { id: 1, name: 'a' },
    { id: 2, name: 'b' },
  ])
  await shop.insert('goods', rows)
})

const ask = (client: Client, question: object) => client.post('/access/explain', question)

async function explained(question: object, client: Client = shop): Promise<Explained> {
  const response = await ask(client, { collection: 'goods', ...question })
  expect(response.status, await response.clone().text()).toBe(200)
  return ((await response.json()) as { data: Explained }).data
}

const anyCondition = () =>
  dice.pick([
    undefined,
    { kind: { _eq: dice.pick(kinds) } },
    { size: { _gt: dice.pick([0, 1, 2]) } },
    { shelf: { name: { _eq: 'a' } } },
    { name: { _neq: '$CURRENT_USER' } },
  ])

function anyAccess(isDeletion = false): object | 'all' | undefined {
  if (dice.once(4)) return undefined
  if (dice.once(6)) return 'all'
  const filter = anyCondition()
  const some = fields.filter((name) => name === 'id' || !dice.once(3))
  return { ...(filter && { filter }), ...(!isDeletion && !dice.once(3) && { fields: some }) }
}

async function give(id: string | undefined, goods: object): Promise<object> {
  const known = Object.fromEntries(Object.entries(goods).filter(([, access]) => access !== undefined))
  const response = await shop.patch(`/policies/${id}`, { content: { collections: { goods: known } } })
  expect(response.status, await response.text()).toBe(200)
  return known
}

const cases = Array.from({ length: casesOr(8) }, (_, index) => index)

it.each(cases)('says of each row and field what the API then does (%i)', async () => {
  const given = await Promise.all(
    policies.map((id) => give(id, { read: anyAccess(), update: anyAccess(), delete: anyAccess(true) })),
  )
  const of = { userId: target.userId }

  for (const row of rows) {
    const told = async (action: string, field?: string) => {
      const { allowed, policies: each } = await explained({ ...of, action, key: row.id, ...(field && { field }) })
      return { allowed, each, about: `${action} ${field} of ${row.id}: ${JSON.stringify(given)}` }
    }
    const read = await told('read')
    expect(read.allowed, read.about).toBe((await target.get(`/items/goods/${row.id}`)).status === 200)
    for (const field of fields) {
      const seen = await told('read', field)
      const shown = await target.get(`/items/goods/${row.id}?fields=${field}`)
      const value = shown.status === 200 ? ((await shown.json()) as { data: Row }).data[field] : null
      expect(seen.allowed, seen.about).toBe(value !== null)
      if (seen.allowed)
        expect(
          seen.each.map(({ allows }) => allows),
          seen.about,
        ).toContain(true)
      if (field === 'id') continue
      const written = await told('update', field)
      const changed = await target.patch(`/items/goods/${row.id}`, { [field]: row[field] })
      expect([200, 403, 404], written.about).toContain(changed.status)
      if (field !== 'shelfId') expect(written.allowed, written.about).toBe(changed.status === 200)
    }
    const gone = await told('delete')
    const deleted = await target.delete(`/items/goods/${row.id}`)
    expect(gone.allowed, gone.about).toBe(deleted.status === 204)
    if (deleted.status === 204) await shop.insert('goods', [row])
  }
})

it('names the policies, what each lacks, and the condition of each', async () => {
  const filter = { size: { _gt: 1 } }
  const validation = { kind: { _eq: 'a' } }
  await give(policies[0], { read: { filter, fields: ['id', 'size'] }, create: { validation } })
  await give(policies[1], { read: { fields: ['id', 'name'] } })
  const of = { userId: target.userId }
  const [one, two] = [
    { id: policies[0], name: 'One' },
    { id: policies[1], name: 'Two' },
  ]
  const each = async (question: object) => {
    const { policies: told, ...rest } = await explained({ ...of, ...question })
    return { ...rest, policies: told.toSorted((a, b) => a.name.localeCompare(b.name)) }
  }

  expect(await each({ action: 'read', field: 'size', key: 1 })).toEqual({
    allowed: false,
    policies: [
      { ...one, allows: false, reason: 'filter', condition: filter },
      { ...two, allows: false, reason: 'field' },
    ],
  })
  expect(await each({ action: 'read', key: '3' })).toEqual({
    allowed: true,
    policies: [
      { ...one, allows: true, condition: filter },
      { ...two, allows: true },
    ],
  })
  expect(await each({ action: 'create', field: 'name' })).toEqual({
    allowed: true,
    policies: [
      { ...one, allows: true, condition: validation },
      { ...two, allows: false, reason: 'action' },
    ],
  })
  expect(await each({ action: 'delete', key: { id: 1 } })).toMatchObject({ allowed: false })
  const byRole = await explained({ roleIds: [role], action: 'read' })
  expect(byRole.policies).toHaveLength(2)
  expect(await explained({ anonymous: true, action: 'read' })).toEqual({ allowed: false, policies: [] })
  const administrator = await explained({ roleIds: [await people.administratorRole(shop)], action: 'delete', key: 1 })
  expect(administrator).toEqual({ allowed: true, policies: [] })
})

it('says that an item is read of whose key nothing is, and not changed', async () => {
  const columns = { fields: ['name', 'kind'], filter: { kind: { _eq: 'a' } } }
  await give(policies[0], { read: columns, update: columns })
  await give(policies[1], {})
  const of = (question: object) => explained({ userId: target.userId, key: '1', ...question })

  expect(await (await target.get('/items/goods?fields=name')).json()).toMatchObject({ data: [{}, {}] })
  expect((await of({ action: 'read' })).allowed).toBe(true)
  expect((await of({ action: 'read', field: 'name' })).allowed).toBe(true)
  expect((await of({ action: 'read', key: '2' })).allowed).toBe(false)
  expect((await of({ action: 'update', field: 'name' })).allowed).toBe(false)
  expect((await target.patch('/items/goods/1', { name: 'Changed' })).status).toBe(404)
})

it('says of a role that it depends on who asks, where a condition names the caller', async () => {
  const ids = { one: policies[0], two: policies[1] }
  const own = { name: { _eq: '$CURRENT_USER' } }
  const each = async (question: object) => {
    const { allowed, policies: told } = await explained({ roleIds: [role], action: 'read', ...question })
    const of = Object.fromEntries(told.map(({ id, allows, reason }) => [id, [allows, reason]]))
    return { allowed, one: of[ids.one ?? ''], two: of[ids.two ?? ''] }
  }
  const depends = [null, 'user']

  await give(ids.one, { read: { filter: own, fields: ['id', 'size'] } })
  await give(ids.two, {})
  expect(await each({ key: 1 })).toEqual({ allowed: null, one: depends, two: [false, 'action'] })
  expect(await each({ key: 1, field: 'size' })).toMatchObject({ allowed: null, one: depends })
  expect(await each({ key: 1, field: 'kind' })).toMatchObject({ allowed: false, one: [false, 'field'] })
  expect(await each({})).toMatchObject({ allowed: true, one: [true, undefined] })
  expect(await each({ field: 'size' })).toMatchObject({ allowed: true })
  expect(await each({ action: 'update', key: 1 })).toMatchObject({ allowed: false, one: [false, 'action'] })

  // Of the good 2 alone.
  await give(ids.one, { read: { filter: { _or: [{ kind: { _eq: 'b' } }, own] } } })
  expect(await each({ key: 2 })).toMatchObject({ allowed: true, one: [true, undefined] })
  expect(await each({ key: 1 })).toMatchObject({ allowed: null, one: depends })
  await give(ids.one, { read: { filter: { kind: { _eq: 'b' }, ...own } } })
  expect(await each({ key: 2 })).toMatchObject({ allowed: null, one: depends })
  expect(await each({ key: 1 })).toMatchObject({ allowed: false, one: [false, 'filter'] })
  await give(ids.one, { read: { filter: { _not: { _or: [{ kind: { _eq: 'b' } }, own] } } } })
  expect(await each({ key: 2 })).toMatchObject({ allowed: false, one: [false, 'filter'] })
  expect(await each({ key: 1 })).toMatchObject({ allowed: null, one: depends })
  await give(ids.one, { read: { filter: { name: { _in: ['Good 0', '$CURRENT_USER'] } } } })
  expect(await each({ key: 1 })).toMatchObject({ allowed: true })
  expect(await each({ key: 2 })).toMatchObject({ allowed: null })
  await give(ids.two, { read: { filter: { kind: { _eq: 'b' } } } })
  expect(await each({ key: 2 })).toEqual({ allowed: true, one: depends, two: [true, undefined] })

  // The other variables are known: the roles are those that are asked about, and the time is now.
  await give(ids.two, {})
  await give(ids.one, { read: { filter: { name: { _nin: ['$CURRENT_ROLES'] } } } })
  expect(await each({ key: 1 })).toMatchObject({ allowed: true, one: [true, undefined] })
  await give(ids.one, { read: { filter: own } })
  expect(await explained({ anonymous: true, action: 'read', key: 1 })).toMatchObject({ allowed: false })
  const publicRole = await people.publicRole(shop)
  await shop.patch(`/roles/${publicRole}`, { policies: [ids.one] })
  for (const who of [{ roleIds: [publicRole] }, { anonymous: true }])
    expect(await explained({ ...who, action: 'read', key: 1 })).toMatchObject({ allowed: false })
  await shop.patch(`/roles/${publicRole}`, { policies: [] })
})

it('gives who is suspended nothing, and knows nobody who is no member', async () => {
  const member = await people.memberWith(shop, [role])
  await shop.patch(`/members/${member.userId}`, { status: 'suspended' })
  const of = (userId: string) => ({ userId, collection: 'goods', action: 'read' })

  expect(await explained(of(member.userId))).toEqual({ allowed: false, policies: [] })
  expect((await ask(shop, of(crypto.randomUUID()))).status).toBe(404)
  expect((await ask(shop, { ...of(''), userId: undefined, roleIds: [crypto.randomUUID()] })).status).toBe(404)
})

it('is answered to whoever reads members, within what they read', async () => {
  await give(policies[0], { read: { filter: { size: { _gt: 1 } } } })
  await give(policies[1], {})
  const reading = (goods?: object) =>
    people.member(shop, { entitlements: ['workspaceMembers:read'], ...(goods && { collections: { goods } }) })
  const question = (key?: number) => ({ userId: target.userId, collection: 'goods', action: 'read', key })
  const told = async (client: Client, asked: object) => {
    const response = await ask(client, asked)
    return { status: response.status, text: await response.text() }
  }
  const stranger = await people.member(shop, { collections: { goods: { read: 'all' } } })
  const blind = await reading()
  const some = await reading({ read: { filter: { kind: { _eq: 'a' } } } })
  const unsized = await reading({ read: { fields: ['id', 'name', 'kind'] } })

  expect((await told(stranger, question())).status).toBe(403)
  expect((await told(shop.anonymous, question())).status).toBe(403)
  expect((await explained(question(), blind)).allowed).toBe(true)
  const missing = await told(some, question(99))
  expect(missing.status).toBe(404)
  expect(await told(some, question(2))).toEqual(missing)
  expect(await told(blind, question(2))).toEqual(missing)
  expect((await explained(question(1), some)).allowed).toBe(false)
  expect((await explained(question(3), some)).allowed).toBe(true)
  const [small, large] = [await told(unsized, question(1)), await told(unsized, question(3))]
  expect([small.status, small.text]).toEqual([403, large.text])
})

it.each([
  ['a relation', ['shelf'], { shelf: { name: { _eq: 'a' } } }],
  ['the roles of whom it is about', ['name'], { name: { _in: '$CURRENT_ROLES' } }],
  ['one of their roles', ['name'], { name: { _in: ['$CURRENT_ROLES'] } }],
])('does not decide by %s for whoever sees that in some rows only', async (_, hidden, filter) => {
  await give(policies[0], { read: 'all', update: { filter } })
  await give(policies[1], {})
  const seen = fields.filter((name) => name !== 'shelfId' && !hidden.includes(name))
  const of = (read: object) => people.policy(shop, { collections: { goods: { read }, shelves: { read: 'all' } } })
  const own = await people.policy(shop, { entitlements: ['workspaceMembers:read'] })
  const some = [own, await of({ fields: seen }), await of({ fields: ['id', ...hidden], filter: { size: { _gt: 1 } } })]
  const asker = await people.memberWith(shop, [await people.role(shop, some)])

  const asked = [1, 2, 3].map((key) => {
    return ask(asker, { userId: target.userId, collection: 'goods', action: 'update', key })
  })

  expect((await Promise.all(asked)).map(({ status }) => status)).toEqual([403, 403, 403])
})

it('tells names that are hidden from the caller as unknown ones', async () => {
  await give(policies[0], { read: 'all' })
  const blind = await people.member(shop, { entitlements: ['workspaceMembers:read'] })
  const text = async (client: Client, names: object) => {
    const asked = { anonymous: true, collection: 'goods', action: 'read', ...names }
    const response = await ask(client, asked)
    const named = Object.values(names).join('|')
    return [response.status, (await response.text()).replaceAll(new RegExp(named, 'g'), '*')]
  }

  const unknown = await text(blind, { collection: 'nothing' })
  expect(unknown[0]).toBe(422)
  expect(await text(blind, { collection: 'shelves' })).toEqual(unknown)
  expect((await text(shop, { field: 'nothing' }))[0]).toBe(422)
  const remover = await people.member(shop, {
    entitlements: ['workspaceMembers:read'],
    collections: { goods: { read: { fields: ['name'] }, delete: 'all' } },
  })
  expect(await text(remover, { field: 'size' })).toEqual(await text(remover, { field: 'nothing' }))
})

it.each([
  {},
  { userId: target.userId, anonymous: true },
  { anonymous: false },
  { roleIds: [], anonymous: true },
  { anonymous: true, action: 'list' },
  { anonymous: true, action: 'create', key: 1 },
  { anonymous: true, action: 'delete', field: 'name' },
  { anonymous: true, key: 'x' },
  { anonymous: true, key: { other: 1 } },
  { anonymous: true, key: [1] },
])('refuses %j', async (question) => {
  expect((await ask(shop, { collection: 'goods', action: 'read', ...question })).status).toBe(422)
})
