/**
 * docs/contract.md#acting-as-others: `Act-As` shows the rows of a principal, cut to what the caller may read. Random rights: the
 * answer is the intersection of both principals' own answers, by rows and by fields.
 */
import { beforeAll, expect, it } from 'vitest'
import { createDice, seed } from '../fuzz/support/dice.ts'
import { casesOr } from '../support/run/cases.ts'
import { people } from '../support/service/people.ts'
import { type Client, world } from '../support/service/world.ts'

const shape = {
  shelves: { name: 'string' },
  goods: { name: 'string', kind: 'string', size: 'int32', shelfId: 'int64?' },
}
const shop = await world.workspace('acting', shape, ['goods.shelf(shelfId) -> shelves.goods'])
const reading = { entitlements: ['workspaceMembers:read'] }
const policies = {
  caller: await people.policy(shop, reading),
  target: await people.policy(shop, {}),
  beside: await people.policy(shop, {}),
}
const role = await people.role(shop, [policies.target, policies.beside])
const caller = await people.memberWith(shop, [await people.role(shop, [policies.caller, policies.beside])])
const target = await people.memberWith(shop, [role])
const dice = createDice(seed)

type Row = Readonly<Record<string, unknown>>
const kinds = ['a', 'b', 'c'] as const
const fields = ['id', 'name', 'kind', 'size', 'shelfId'] as const

beforeAll(async () => {
  const shelves = await shop.insert('shelves', [{ name: 'a' }, { name: 'b' }])
  const goods = Array.from({ length: 12 }, (_, index) => ({
    name: `Good ${index}`,
    kind: kinds[index % 3],
    size: index % 5,
    shelfId: shelves[index % 2]?.id,
  }))
  await shop.insert('goods', goods)
})

const asUser = (id = target.userId) => ({ 'Act-As': `user:${id}` })
const get = (client: Client, path: string, headers: Readonly<Record<string, string>> = {}) =>
  client.send('GET', path, { headers })

async function rowsOf(response: Response): Promise<readonly Row[]> {
  return response.status === 200 ? ((await response.json()) as { data: Row[] }).data : []
}

function anyAccess(): object | 'all' {
  if (dice.once(7)) return 'all'
  const filter = dice.pick([
    undefined,
    { kind: { _eq: dice.pick(kinds) } },
    { size: { _gt: dice.pick([0, 1, 2]) } },
    { shelf: { name: { _eq: 'a' } } },
  ])
  const some = fields.filter((name) => name === 'id' || !dice.once(3))
  return { ...(filter && { filter }), ...(!dice.once(3) && { fields: some }) }
}

type Given = {
  readonly goods: { readonly read: 'all' | { readonly filter?: object; readonly fields?: readonly string[] } }
}

/** Whether a condition of the target is about what the caller does not read in each of their own rows; nobody reads shelves. */
function asksMore(mine: readonly Given[], theirs: readonly Given[]): boolean {
  const partsOf = (all: readonly Given[]) => all.flatMap(({ goods: { read } }) => (read === 'all' ? [] : [read]))
  const [own, other] = [partsOf(mine), partsOf(theirs)]
  if (other.length < theirs.length) return false
  const isWhole = own.length < mine.length
  const text = (filter: object | undefined) => JSON.stringify(filter ?? {})
  const rows = new Set(isWhole ? ['{}'] : own.map(({ filter }) => text(filter)))
  const isVisible = (name: string) => {
    const admitting = own.filter((part) => part.fields?.includes(name) !== false).map(({ filter }) => text(filter))
    return isWhole || admitting.includes('{}') || [...rows].every((one) => admitting.includes(one))
  }
  return other.some(({ filter }) => {
    const [name] = Object.keys(filter ?? {})
    const isMet = rows.size === 1 && rows.has(text(filter))
    return name !== undefined && !isMet && (name === 'shelf' || !isVisible(name))
  })
}

async function give(policy: string, entitlements: readonly string[]): Promise<Given> {
  const collections = { goods: { read: anyAccess() } } as Given
  const content = { entitlements, collections }
  expect((await shop.patch(`/policies/${policy}`, { content })).status).toBe(200)
  return collections
}

const cases = Array.from({ length: casesOr(12) }, (_, index) => index)

it.each(cases)('shows what both may read, row by row and field by field (%i)', async () => {
  await shop.patch(`/policies/${policies.beside}`, { content: {} })
  const rights = [
    await give(policies.caller, reading.entitlements),
    await give(policies.target, []),
    ...(dice.once(2) ? [await give(policies.beside, [])] : []),
  ]
  const about = JSON.stringify(rights)
  const [own, theirs] = [await rowsOf(await caller.get('/items/goods')), await rowsOf(await target.get('/items/goods'))]
  const answer = await get(caller, '/items/goods', asUser())
  const [mine, target_, ...beside] = rights as [Given, Given, ...Given[]]
  if (asksMore([mine, ...beside], [target_, ...beside])) {
    expect(answer.status, about).toBe(403)
    return
  }
  const both = await rowsOf(answer)
  const known = (rows: readonly Row[], name: string) => rows.some((row) => name in row)
  const named = fields.filter((name) => known(own, name) && known(theirs, name))
  const expected = own.flatMap((row) => {
    const other = theirs.find(({ id }) => id === row.id)
    return other === undefined
      ? []
      : [Object.fromEntries(named.map((name) => [name, row[name] === null ? null : other[name]]))]
  })

  expect(both, about).toEqual(expected)
  for (const name of fields) {
    const query = `/items/goods?fields=id&sort[0][${name}][direction]=asc`
    const seen = (await get(caller, `/items/goods?fields=${name}`, asUser())).status
    const statuses = [(await caller.get(query)).status, (await target.get(query)).status]
    const filtered = await get(caller, `/items/goods?fields=id&filter[${name}][_null]=true`, asUser())
    const sorted = await get(caller, query, asUser())
    const counted = await get(caller, `/aggregates/goods?aggregate[n][count]=${name}`, asUser())
    const isHidden = statuses.some((status) => status !== 200)
    const answered = [seen, sorted.status, counted.status].map((status) => status === 200)
    expect(answered, `${name}: ${about}`).toEqual([!isHidden, !isHidden, !isHidden])
    if (isHidden) expect(filtered.status, `${name}: ${about}`).not.toBe(200)
  }
  const [counted] = await rowsOf(await get(caller, '/aggregates/goods?aggregate[rows][count]=*', asUser()))
  expect(counted?.rows ?? 0, about).toBe(both.length)
  expect(await rowsOf(await get(caller, '/items/goods', { 'Act-As': `role:${role}` }))).toEqual(both)
})

it('leaves the caller’s own answers what they were', async () => {
  await shop.patch(`/policies/${policies.caller}`, { content: { ...reading, collections: { goods: { read: 'all' } } } })
  const filter = { kind: { _eq: 'a' } }
  const content = { collections: { goods: { read: { filter, fields: ['id', 'name'] } } } }
  await shop.patch(`/policies/${policies.beside}`, { content: {} })
  await shop.patch(`/policies/${policies.target}`, { content })
  const query = '/items/goods?fields=name&meta=totalCount,etag'
  const before = await caller.get(query)
  const acting = await get(caller, query, asUser())
  const after = await get(caller, query, { 'If-None-Match': acting.headers.get('ETag') ?? '' })

  expect(((await acting.json()) as { meta: object }).meta).toEqual({ totalCount: 4 })
  expect([after.status, await after.text()]).toEqual([200, await before.text()])
  expect(await rowsOf(await get(caller, '/items/goods?fields=id', asUser()))).toHaveLength(4)
  expect((await get(caller, '/items/goods?fields=size', asUser())).status).toBe(403)
  const queried = await caller.send('QUERY', '/items/goods', { headers: asUser(), body: { fields: ['name'] } })
  expect(await rowsOf(queried)).toHaveLength(4)
})

it('is of whoever reads members, and of members and roles alone', async () => {
  const stranger = await people.member(shop, { collections: { goods: { read: 'all' } } })
  const sent = ['', 'user', 'user:x', `key:${target.userId}`, `user:${target.userId}, role:${role}`]
  const unknown = [`user:${crypto.randomUUID()}`, `role:${target.userId}`, `user:${role}`]
  const statuses = async (client: Client, texts: readonly string[]) => {
    const answers = await Promise.all(texts.map((text) => get(client, '/items/goods', { 'Act-As': text })))
    return new Set(answers.map(({ status }) => status))
  }

  expect(await statuses(caller, [...sent.slice(1), ...unknown])).toEqual(new Set([422]))
  expect(await statuses(stranger, [...sent.slice(1), ...unknown, `user:${target.userId}`])).toEqual(new Set([403]))
  expect(await statuses(shop.anonymous, [`user:${target.userId}`])).toEqual(new Set([403]))
})

it('writes nothing, and is refused elsewhere', async () => {
  const headers = asUser()
  const writes = [
    await shop.send('POST', '/items/goods', { headers, body: [{ name: 'x', kind: 'a', size: 1 }] }),
    await shop.send('PATCH', '/items/goods?filter[size][_gt]=0', { headers, body: { name: 'x' } }),
    await shop.send('DELETE', '/items/goods?filter[size][_gt]=0', { headers }),
    await shop.send('POST', '/items', { headers, body: { operations: [{ kind: 'read', collection: 'goods' }] } }),
    await shop.send('GET', '/members', { headers }),
    await shop.send('GET', '/access', { headers }),
  ]

  expect(writes.map(({ status }) => status)).toEqual(writes.map(() => 422))
  expect(await rowsOf(await shop.get('/items/goods?filter[name][_eq]=x'))).toEqual([])
})

it('shows nobody’s private views, and nothing of who is suspended', async () => {
  const collectionId = shop.ids.get('goods')
  const own = await people.memberWith(shop, [role])
  await own.post('/items/ServiceView', [{ name: 'Own', collectionId, userId: own.userId, query: {} }])
  const views = '/items/ServiceView?fields=name'

  expect(await rowsOf(await own.get(views))).toEqual([{ name: 'Own' }])
  expect(await rowsOf(await get(shop, views, asUser(own.userId)))).toEqual([])
  await shop.patch(`/members/${own.userId}`, { status: 'suspended' })
  expect((await get(shop, '/items/goods', asUser(own.userId))).status).not.toBe(200)
})

it('is in the audit log', async () => {
  await get(caller, '/items/goods?fields=name', asUser())
  const path = `/audit-log?filter[action][_eq]=access.act_as.v1&filter[actorId][_eq]=${caller.userId}&limit=1`

  expect(await shop.data(path)).toMatchObject([
    { action: 'access.act_as.v1', actorId: caller.userId, targetType: expect.stringMatching(/user|role/) },
  ])
})
