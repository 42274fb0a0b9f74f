/**
 * docs/contract.md#access-tests: what is kept of what is expected of rights says what the API does, under rights that are and that
 * would be; changes by which it would fail are refused, and it tells nobody what they could not ask.
 */
import { beforeAll, expect, it } from 'vitest'
import { createDice, seed } from '../fuzz/support/dice.ts'
import { casesOr } from '../support/run/cases.ts'
import { type Content, people } from '../support/service/people.ts'
import { type Client, type Workspace, world } from '../support/service/world.ts'

const shape = { goods: { id: 'int32', name: 'string', size: 'int32?' }, secrets: { id: 'int32', code: 'string?' } }
const dice = createDice(seed)

type Test = { id: string; name: string; passed: boolean | null }

let shop: Workspace
let names = 0

beforeAll(async () => {
  shop = await workspace()
})

async function workspace(): Promise<Workspace> {
  const made = await world.workspace('tested', shape)
  await made.insert('goods', [
    { id: 1, name: 'one', size: 1 },
    { id: 2, name: 'two', size: 2 },
    { id: 3, name: 'three', size: 3 },
  ])
  return made
}

function nameOf(): string {
  names += 1
  return `Test ${names}`
}

function keep(client: Client, test: object): Promise<Response> {
  return client.post('/access/tests', { name: nameOf(), collection: 'goods', action: 'read', ...test })
}

async function kept(client: Client, test: object): Promise<string> {
  const response = await keep(client, test)
  expect(response.status, await response.clone().text()).toBe(201)
  return ((await response.json()) as { data: { id: string } }).data.id
}

/** What the tests say, by their ids, of the rights as they would be. */
async function judged(client: Client, planned: object = {}): Promise<Record<string, boolean | null>> {
  const response = await client.post('/access/effect', planned)
  expect(response.status, await response.clone().text()).toBe(200)
  const { tests } = ((await response.json()) as { data: { tests: Test[] } }).data
  return Object.fromEntries(tests.map(({ id, passed }) => [id, passed]))
}

const some = (filter: object, ...fields: string[]): Content => {
  return { collections: { goods: { read: { fields: ['id', ...fields], filter } } } }
}

it('are of the collections of the workspace alone', async () => {
  const statuses = ['ServiceView', 'ServiceFile', 'ServicePrimitiveField'].map(async (collection) => {
    const response = await keep(shop, { as: 'anonymous', collection, expect: { allowed: false } })
    return [response.status, await response.json()]
  })

  expect(await Promise.all(statuses)).toEqual(
    ['ServiceView', 'ServiceFile', 'ServicePrimitiveField'].map((name) => [
      422,
      expect.objectContaining({
        source: {
          message: 'collection',
          source: { message: `${name} is a collection of the system, of which no access test is kept` },
        },
      }),
    ]),
  )
})

it('are kept, told by the names of today, and deleted', async () => {
  const own = await workspace()
  const role = await people.role(own, [])
  const test = {
    name: 'Large ones',
    as: `role:${role}`,
    collection: 'goods',
    action: 'read',
    filter: { size: { _gt: 1 } },
    expect: { allowed: true, fields: ['id', 'size'], count: 2 },
  }
  const made = await own.post('/access/tests', test)
  const answer = await made.json()
  const { id } = (answer as { data: { id: string } }).data
  const again = await own.post('/access/tests', test)
  const renaming = [{ kind: 'changeApiName', data: { apiName: 'width' } }]
  const rename = { kind: 'updatePrimitiveField', data: { id: own.ids.get('goods.size'), operations: renaming } }
  await own.migrate({ kind: 'updateCollection', data: { id: own.ids.get('goods'), operations: [rename] } })
  const listed = await own.data('/access/tests')
  const deleted = await own.delete(`/access/tests/${id}`)

  expect(made.status).toBe(201)
  expect(answer).toEqual({ data: { id, ...test } })
  expect(again.status).toBe(409)
  expect(listed).toEqual([
    { id, ...test, filter: { width: { _gt: 1 } }, expect: { ...test.expect, fields: ['id', 'width'] } },
  ])
  expect(deleted.status).toBe(204)
  expect(await own.data('/access/tests')).toEqual([])
  expect((await own.delete(`/access/tests/${id}`)).status).toBe(404)
  const entries = (await own.data(
    '/audit-log?fields=action,targetId,payload&filter[targetType]=accessTest&sort[0][id][direction]=asc',
  )) as {
    action: string
  }[]
  expect(entries.map(({ action }) => action)).toEqual(['access_test.create.v1', 'access_test.delete.v1'])
})

it('are at most 100 of a workspace, also where many are made at once', async () => {
  const own = await workspace()
  const make = async (count: number) => {
    const made = Array.from({ length: count }, () => keep(own, { as: 'anonymous', expect: { allowed: false } }))
    return Map.groupBy(await Promise.all(made), ({ status }) => status)
  }
  const first = await make(95)
  const second = await make(20)
  const [refused] = second.get(409) ?? []

  expect([first.get(201)?.length, second.get(201)?.length, second.get(409)?.length]).toEqual([95, 5, 15])
  expect(await refused?.json()).toMatchObject({ message: 'A workspace has at most 100 access tests' })
  expect(await own.data('/access/tests')).toHaveLength(100)
})

it('say what holds now and what would hold: of actions, fields, an item and how many there are', async () => {
  const policy = await people.policy(shop, some({ size: { _gt: 1 } }, 'name'))
  const role = await people.role(shop, [policy])
  const member = await people.memberWith(shop, [role])
  const as = `user:${member.userId}`
  const tests = {
    reads: await kept(shop, { as, expect: { allowed: true } }),
    fields: await kept(shop, { as, expect: { allowed: true, fields: ['name', 'id'] } }),
    name: await kept(shop, { as, field: 'name', key: 2, expect: { allowed: true } }),
    size: await kept(shop, { as, field: 'size', expect: { allowed: false } }),
    two: await kept(shop, { as: `role:${role}`, key: 2, expect: { allowed: true } }),
    one: await kept(shop, { as, key: 1, expect: { allowed: false } }),
    count: await kept(shop, { as, expect: { allowed: true, count: 2 } }),
    three: await kept(shop, { as, filter: { name: { _eq: 'three' } }, expect: { allowed: true, count: 1 } }),
    none: await kept(shop, { as, filter: { name: { _eq: 'one' } }, expect: { allowed: false } }),
    deletes: await kept(shop, { as, action: 'delete', expect: { allowed: false } }),
    updates: await kept(shop, { as, action: 'update', key: 2, expect: { allowed: false } }),
    everybody: await kept(shop, { as: 'anonymous', expect: { allowed: false } }),
  }
  const failing = async (planned?: object) => {
    const told = await judged(shop, planned)
    return Object.entries(tests).flatMap(([name, id]) => (told[id] === true ? [] : [name]))
  }
  const becoming = (content: Content) => failing({ policies: { [policy]: { content } } })
  const publicRole = await people.publicRole(shop)

  expect(await failing()).toEqual([])
  expect(await becoming(some({ size: { _gt: 2 } }, 'name'))).toEqual(['name', 'two', 'count'])
  expect(await becoming(some({ size: { _gt: 0 } }, 'name'))).toEqual(['one', 'count', 'none'])
  expect(await becoming(some({ size: { _gt: 1 } }, 'name', 'size'))).toEqual(['fields', 'size'])
  expect(
    await becoming({
      collections: {
        goods: { ...(some({ size: { _gt: 1 } }, 'name').collections?.goods as object), update: 'all', delete: 'all' },
      },
    }),
  ).toEqual(['deletes', 'updates'])
  expect(await failing({ members: { [member.userId]: null } })).toEqual(['reads', 'fields', 'name', 'count', 'three'])
  expect(await failing({ roles: { [role]: null } })).toEqual(['reads', 'fields', 'name', 'two', 'count', 'three'])
  expect(await failing({ roles: { [publicRole]: { policies: [policy] } } })).toEqual(['everybody'])
})

it('say of a role what holds for whoever has it, and nothing where that depends on them', async () => {
  const own = await workspace()
  const policy = await people.policy(
    own,
    some({ _or: [{ size: { _eq: 1 } }, { name: { _eq: '$CURRENT_USER' } }] }, 'name'),
  )
  const as = `role:${await people.role(own, [policy])}`
  const tests = {
    reads: await kept(own, { as, expect: { allowed: true, fields: ['id', 'name'] } }),
    size: await kept(own, { as, field: 'size', expect: { allowed: false } }),
    one: await kept(own, { as, key: 1, expect: { allowed: true } }),
    two: await kept(own, { as, key: 2, expect: { allowed: false } }),
    count: await kept(own, { as, expect: { allowed: true, count: 1 } }),
    filter: await kept(own, { as, filter: { size: { _gt: 1 } }, expect: { allowed: false } }),
    deletes: await kept(own, { as, action: 'delete', expect: { allowed: false } }),
  }
  const told = await judged(own)
  const of = Object.fromEntries(Object.entries(tests).map(([name, id]) => [name, told[id]]))

  expect(of).toEqual({ reads: true, size: true, one: true, two: null, count: null, filter: null, deletes: true })
})

it('refuse a change of a policy, a role or a member by which one would fail, unless it may', async () => {
  const own = await workspace()
  const policy = await people.policy(own, some({ size: { _gt: 1 } }, 'name'))
  const role = await people.role(own, [policy])
  const member = await people.memberWith(own, [role])
  const as = `user:${member.userId}`
  const reads = await kept(own, { name: 'Reads two', as, key: 2, expect: { allowed: true } })
  await kept(own, { name: 'Fails as it is', as, expect: { allowed: false } })
  const content = some({ size: { _gt: 2 } }, 'name')
  const refused = await own.patch(`/policies/${policy}`, { content })
  const answers = await Promise.all([
    own.delete(`/policies/${policy}`),
    own.patch(`/roles/${role}`, { policies: [] }),
    own.delete(`/roles/${role}`),
    own.patch(`/members/${member.userId}`, { roles: [] }),
    own.patch(`/members/${member.userId}`, { status: 'suspended' }),
    own.delete(`/members/${member.userId}`),
  ])
  const kepts = [
    await own.patch(`/policies/${policy}`, { name: 'Other', content: some({ size: { _gt: 0 } }, 'name') }),
    await own.patch(`/roles/${role}`, { name: 'Other' }),
    await own.patch(`/members/${member.userId}`, { roles: [role] }),
  ]
  const odd = await Promise.all(
    ['allow=everything', 'allow=failingTests&allow=failingTests', 'force=1'].map((search) =>
      own.patch(`/policies/${policy}?${search}`, { content }),
    ),
  )

  expect(refused.status).toBe(409)
  expect(await refused.json()).toMatchObject({
    message: 'Access tests would fail: Reads two',
    code: '4097',
    meta: { tests: [{ id: reads, name: 'Reads two' }] },
  })
  expect(answers.map(({ status }) => status)).toEqual([409, 409, 409, 409, 409, 409])
  expect(kepts.map(({ status }) => status)).toEqual([200, 200, 200])
  expect(odd.map(({ status }) => status)).toEqual([422, 422, 422])
  expect((await member.get('/items/goods/2')).status).toBe(200)
  expect((await own.patch(`/members/${member.userId}?allow=failingTests`, { status: 'suspended' })).status).toBe(200)
  const back = { status: 'active' }
  expect((await own.patch(`/members/${member.userId}`, back)).status).toBe(409)
  expect((await own.patch(`/members/${member.userId}?allow=failingTests`, back)).status).toBe(200)
  expect((await own.patch(`/policies/${policy}?allow=failingTests`, { content })).status).toBe(200)
  expect((await member.get('/items/goods/2')).status).toBe(404)
  expect((await own.delete(`/policies/${policy}`)).status).toBe(204)
})

it('refuse a model file by which one would fail, unless it may', async () => {
  const own = await workspace()
  const policy = await people.policy(own, { collections: { goods: { read: 'all' } } }, 'Reading')
  const role = await people.role(own, [policy], 'Readers')
  await kept(own, { name: 'Readers read', as: `role:${role}`, expect: { allowed: true, count: 3 } })
  const model = (await (await own.get('/schema/model')).json()) as { policies: Record<string, object> }
  const changed = { ...model, policies: { ...model.policies, Reading: { ...model.policies.Reading, collections: {} } } }
  const { plan } = ((await (await own.post('/schema/plan', { model: changed })).json()) as { data: { plan: string } })
    .data
  const apply = (more: object) => own.post('/schema/apply', { model: changed, plan, ...more })

  const refused = await apply({})
  expect([refused.status, ((await refused.json()) as { code: string }).code]).toEqual([409, '4097'])
  expect((await apply({ allow: ['others'] })).status).toBe(422)
  expect((await apply({ allow: ['drop'] })).status).toBe(409)
  const done = await apply({ allow: ['failingTests'] })
  expect(done.status, await done.clone().text()).toBe(200)
  expect(Object.values(await judged(own))).toEqual([false])
})

it('tell who does not read all items nothing of them, and do not hold them up by that', async () => {
  const own = await workspace()
  const edits = ['workspaceMembers:read', 'workspaceMembers:edit', 'dataModel:read'] as const
  const collections = { goods: { read: { filter: { size: { _gt: 1 } } } }, secrets: { read: 'all' } }
  const editor = await people.member(own, { entitlements: edits, collections })
  const policy = await people.policy(own, { collections: { goods: { read: { filter: { size: { _gt: 2 } } } } } })
  const role = await people.role(own, [policy])
  const as = `role:${role}`
  const item = await kept(own, { as, key: 3, expect: { allowed: true } })
  const filter = await kept(own, { as, filter: { name: { _eq: 'three' } }, expect: { allowed: true, count: 1 } })
  const action = await kept(own, { as, expect: { allowed: true } })
  const listed = (await (await editor.get('/access/tests')).json()) as { data: object[] }
  const theirs = await judged(editor)
  const fewer = { content: { collections: { goods: { read: { filter: { size: { _gt: 9 } } } } } } }
  const nothing = { content: {} }

  expect(listed.data).toHaveLength(3)
  expect(listed.data.flatMap(Object.keys).filter((name) => ['key', 'filter'].includes(name))).toEqual([])
  expect(JSON.stringify(listed)).not.toContain('count')
  expect([theirs[item], theirs[filter], theirs[action]]).toEqual([null, null, true])
  expect(await judged(own)).toEqual({ [item]: true, [filter]: true, [action]: true })
  expect((await own.patch(`/policies/${policy}`, fewer)).status).toBe(409)
  expect((await editor.patch(`/roles/${role}`, { policies: [] })).status).toBe(403)
  const whole = await people.policy(own, { collections: { secrets: { read: 'all' } } })
  const other = await people.role(own, [whole])
  const secret = await kept(own, { as: `role:${other}`, collection: 'secrets', expect: { allowed: true } })
  const answer = await editor.patch(`/policies/${whole}`, nothing)
  expect(answer.status).toBe(409)
  expect(((await answer.json()) as { meta: { tests: Test[] } }).meta.tests.map(({ id }) => id)).toEqual([secret])
  expect((await editor.patch(`/policies/${whole}?allow=failingTests`, nothing)).status).toBe(200)
})

it('are for those who change rights and read the model', async () => {
  const one = await kept(shop, { as: 'anonymous', expect: { allowed: false } })
  const statusesOf = async (...entitlements: readonly string[]) => {
    const person = await people.member(shop, { entitlements })
    const answers = [
      await person.get('/access/tests'),
      await keep(person, { as: 'anonymous', expect: { allowed: false } }),
      await person.delete(`/access/tests/${one}`),
    ]
    return answers.map(({ status }) => status)
  }

  const whole = ['workspaceMembers:read', 'workspaceMembers:edit', 'dataModel:read']
  for (const left of whole) {
    expect(await statusesOf(...whole.filter((one) => one !== left))).toEqual([403, 403, 403])
  }
  expect(await statusesOf(...whole)).toEqual([200, 201, 204])
})

const nobody = '0190a1b2-0000-7000-8000-000000000000'

it.each([
  [{ as: 'somebody' }, 'as'],
  [{ as: `user:${nobody}` }, 'as'],
  [{ as: `role:${nobody}` }, 'as'],
  [{ collection: 'nowhere' }, 'collection'],
  [{ action: 'own' }, 'action'],
  [{ expect: { allowed: true, fields: ['nothing'] } }, 'expect.fields'],
  [{ expect: { allowed: 'yes' } }, 'expect.allowed'],
  [{ expect: { allowed: true, count: -1 } }, 'expect.count'],
  [{ expect: { allowed: false, count: 1 } }, 'expect'],
  [{ expect: { allowed: true, surprise: 1 } }, 'expect'],
  [{ filter: { nothing: { _eq: 1 } } }, 'filter.nothing'],
  [{ filter: { size: { _eq: 'x' } } }, 'filter.size'],
  [{ filter: {}, key: 1 }, 'filter'],
  [{ filter: {}, action: 'update' }, 'filter'],
  [{ key: 1, action: 'create' }, 'key'],
  [{ field: 'nothing' }, 'field'],
  [{ field: 'name', action: 'delete' }, 'field'],
  [{ field: 'name', filter: {} }, 'field'],
  [{ key: 1, expect: { allowed: true, count: 1 } }, 'expect.count'],
  [{ action: 'delete', expect: { allowed: true, fields: [] } }, 'expect.fields'],
  [{ name: '' }, 'name'],
  [{ surprise: 1 }, 'surprise'],
])('refuse %j', async (test, place) => {
  const response = await keep(shop, { as: 'anonymous', expect: { allowed: true }, ...test })

  expect(response.status).toBe(422)
  expect(((await response.json()) as { message: string }).message).toContain(place)
})

it('go with their collection, their role and the fields that they name', async () => {
  const own = await workspace()
  const role = await people.role(own, [])
  const left = async () => ((await own.data('/access/tests')) as { name: string }[]).map(({ name }) => name)
  const none = { allowed: false }
  await kept(own, { name: 'by role', as: `role:${role}`, expect: none })
  await kept(own, { name: 'by filter', as: 'anonymous', filter: { size: { _gt: 1 } }, expect: none })
  await kept(own, { name: 'by fields', as: 'anonymous', expect: { allowed: true, fields: ['size'] } })
  await kept(own, { name: 'of secrets', as: 'anonymous', collection: 'secrets', expect: none })
  await kept(own, { name: 'of goods', as: 'anonymous', expect: none })

  expect((await own.delete(`/roles/${role}`)).status).toBe(204)
  expect(await left()).toEqual(['by fields', 'by filter', 'of goods', 'of secrets'])
  const forget = { kind: 'deletePrimitiveField', data: { id: own.ids.get('goods.size') } }
  await own.migrate({ kind: 'updateCollection', data: { id: own.ids.get('goods'), operations: [forget] } })
  expect(await left()).toEqual(['of goods', 'of secrets'])
  await own.migrate({ kind: 'deleteCollection', data: { id: own.ids.get('secrets') } })
  expect(await left()).toEqual(['of goods'])
})

it('says of random changes before what it says after, which is what the API then does', async () => {
  const own = await workspace()
  const policy = await people.policy(own, {})
  const member = await people.memberWith(own, [await people.role(own, [policy])])
  const as = `user:${member.userId}`
  const counts = await Promise.all(
    [0, 1, 2, 3].map((count) => kept(own, { as, expect: { allowed: count > 0, count } })),
  )
  const items = await Promise.all([1, 2, 3].map((key) => kept(own, { as, key, expect: { allowed: true } })))
  for (let turn = 0; turn < casesOr(30); turn += 1) {
    const filter = dice.pick([undefined, { size: { _gt: dice.pick([0, 1, 2, 3]) } }, { name: { _eq: 'two' } }])
    const content = dice.once(5) ? {} : { collections: { goods: { read: filter === undefined ? 'all' : { filter } } } }
    const told = await judged(own, { policies: { [policy]: { content } } })
    const changed = await own.patch(`/policies/${policy}?allow=failingTests`, { content })
    const answer = await member.get('/items/goods?fields=id&limit=0')
    const rows = answer.ok ? ((await answer.json()) as { data: { id: number }[] }).data : []

    expect(changed.status).toBe(200)
    expect(await judged(own)).toEqual(told)
    expect(counts.map((id) => told[id])).toEqual([0, 1, 2, 3].map((count) => rows.length === count))
    expect(items.map((id) => told[id])).toEqual([1, 2, 3].map((key) => rows.some(({ id }) => id === key)))
  }
})
