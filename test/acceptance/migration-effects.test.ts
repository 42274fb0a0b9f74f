/**
 * docs/contract.md#what-a-migration-does: a dry run tells rows, what breaks and the way back, and nobody what they may not know
 * otherwise. Random migrations are in test/migration/effects.test.ts.
 */
import { beforeEach, expect, it } from 'vitest'
import { people } from '../support/service/people.ts'
import { type Client, type Operation, type Workspace, world } from '../support/service/world.ts'

type Named = { readonly id: string; readonly name: string }
type DryRun = {
  readonly changes: readonly { readonly action: string; readonly path: string }[]
  readonly rows: readonly object[]
  readonly breaks: Readonly<Record<'policies' | 'views' | 'tests', readonly Named[] | null>>
  readonly inverse: readonly Operation[] | null
  readonly restoresData: boolean
  readonly plan: string
}

let shop: Workspace

beforeEach(async () => {
  shop = await world.workspace('effects', { goods: { name: 'string', size: 'int32?', note: 'string?' } })
  await shop.insert('goods', [{ name: 'one', size: 1, note: 'a' }, { name: 'two', size: 2 }, { name: 'three' }])
})

async function dryRun(client: Client, ...operations: readonly Operation[]): Promise<DryRun> {
  const response = await client.post('/schema/migrate?dryRun=true', { operations })
  expect(response.status, await response.clone().text()).toBe(200)
  return ((await response.json()) as { data: DryRun }).data
}

const id = (path: string) => shop.ids.get(path)
const update = (...operations: readonly object[]) => ({
  kind: 'updateCollection',
  data: { id: id('goods'), operations },
})
const drop = (field: string) => ({ kind: 'deletePrimitiveField', data: { id: id(`goods.${field}`) } })
const change = (field: string, kind: string, data: object) => ({
  kind: 'updatePrimitiveField',
  data: { id: id(`goods.${field}`), operations: [{ kind, data }] },
})
const rename = (field: string, apiName: string) => change(field, 'changeApiName', { apiName })
const toText = (field: string) =>
  change(field, 'changeType', { type: { name: 'string', params: { length: 'unlimited' } } })
const all = { kind: 'deleteCollection', data: { id: undefined as string | undefined } }
const whole = () => ({ ...all, data: { id: id('goods') } })
const view = async (client: Client, name: string, query: object, owner: object = {}) => {
  const made = await client.post('/items/ServiceView?fields=id,name', [
    { name, collectionId: id('goods'), query, ...owner },
  ])
  expect(made.status, await made.clone().text()).toBe(200)
  return ((await made.json()) as { data: [Named] }).data[0]
}

it('tells which rows lose or get values, and how the model differs', async () => {
  const fill = {
    kind: 'createPrimitiveField',
    data: {
      id: crypto.randomUUID(),
      dbName: 'count',
      type: { name: 'int32' },
      isNullable: false,
      isList: false,
      defaultValue: { source: 'engineManaged', onCreate: { kind: 'static', valueEncoded: 7 } },
    },
  }
  const told = [
    await dryRun(shop, update(drop('size'))),
    await dryRun(shop, update(drop('size'), drop('note'))),
    await dryRun(shop, update(toText('size'))),
    await dryRun(shop, update(fill)),
    await dryRun(shop, whole()),
    await dryRun(shop, update(rename('size', 'width'))),
  ]

  expect(told.map(({ rows }) => rows)).toEqual([
    [{ collection: 'goods', rows: 2, destroys: true }],
    [{ collection: 'goods', rows: 2, destroys: true }],
    [{ collection: 'goods', rows: 2, destroys: false }],
    [{ collection: 'goods', rows: 3, destroys: false }],
    [{ collection: 'goods', rows: 3, destroys: true }],
    [],
  ])
  expect(told.map(({ changes }) => changes.map(({ action, path }) => `${action} ${path}`))).toEqual([
    ['delete goods.size'],
    ['delete goods.note', 'delete goods.size'],
    ['change goods.size'],
    ['create goods.count'],
    ['delete goods'],
    ['rename goods.width', 'change goods.width'],
  ])
})

it('names views whose query is refused afterwards, but no private one of others', async () => {
  const member = await people.member(shop, { entitlements: ['dataModel:read'] })
  await view(member, 'Theirs', { filter: { size: { _gt: 1 } } }, { userId: member.userId })
  const large = await view(shop, 'Large', { filter: { size: { _gt: 1 } } })
  const sorted = await view(shop, 'Sorted', { sort: [{ size: { direction: 'asc' } }], fields: ['name'] })
  const { data: me } = (await (await world.administrator.get('/api/system/users/me')).json()) as { data: Named }
  const mine = await view(shop, 'Own', { fields: ['size'] }, { userId: me.id })
  const other = await view(shop, 'Named like it', { filter: { name: { _eq: 'size' } } })
  await view(shop, 'Wrong already', { filter: { weight: { _gt: 1 } } })

  const dropped = await dryRun(shop, update(drop('size')))
  const renamed = await dryRun(shop, update(rename('size', 'width')))
  const retyped = await dryRun(shop, update(toText('size')))
  const gone = await dryRun(shop, whole())

  expect(dropped.breaks.views).toEqual([large, mine, sorted])
  expect(renamed.breaks.views).toEqual([large, mine, sorted])
  // A number is compared with no text.
  expect(retyped.breaks.views).toEqual([large])
  expect(gone.breaks.views?.map(({ name }) => name)).toEqual(['Large', other?.name, 'Own', 'Sorted', 'Wrong already'])
})

it('names each of many views', async () => {
  const names = Array.from({ length: 101 }, (_, index) => `View ${String(index).padStart(3, '0')}`)
  const views = names.map((name) => ({ name, collectionId: id('goods'), query: { filter: { size: { _gt: 1 } } } }))
  for (const part of [views.slice(51), views.slice(0, 51)]) {
    expect((await shop.post('/items/ServiceView?fields=id', part)).status).toBe(200)
  }

  const { breaks } = await dryRun(shop, update(drop('size')))

  expect(breaks.views?.map(({ name }) => name)).toEqual(names)
})

it('names no view to a key whose scope has other collections alone', async () => {
  await view(shop, 'Large', { filter: { size: { _gt: 1 } } })
  const scope = { workspaces: [shop.name], collections: { goods: ['read', 'create', 'update', 'delete'] } }
  const made = await world.administrator.post('/api/system/api-keys', { name: world.name('key'), scope })
  const { key } = ((await made.json()) as { data: { key: string } }).data
  const operations = [update(drop('size'))]

  const answer = await world.bearer(key).post(`/api/${shop.name}/schema/migrate?dryRun=true`, { operations })

  expect(await answer.json()).toMatchObject({ data: { breaks: { policies: [], views: null, tests: [] } } })
})

it('names access tests that go, and those that would fail', async () => {
  const policy = await people.policy(shop, { collections: { goods: { read: 'all' } } })
  const as = `role:${await people.role(shop, [policy])}`
  const keep = async (name: string, test: object) => {
    const made = await shop.post('/access/tests', { name, as, collection: 'goods', action: 'read', ...test })
    expect(made.status, await made.clone().text()).toBe(201)
  }
  const fields = ['id', 'name', 'size', 'note']
  await keep('Reads these fields', { expect: { allowed: true, fields } })
  await keep('Reads the size', { field: 'size', expect: { allowed: true } })
  await keep('Fails already', { expect: { allowed: false } })
  await keep('Reads', { expect: { allowed: true } })
  const more = {
    kind: 'createPrimitiveField',
    data: { id: crypto.randomUUID(), dbName: 'more', type: { name: 'int32' }, isNullable: true, isList: false },
  }
  const names = async (...operations: readonly Operation[]) =>
    (await dryRun(shop, ...operations)).breaks.tests?.map(({ name }) => name)

  expect(await names(update(more))).toEqual(['Reads these fields'])
  expect(await names(update(rename('size', 'width')))).toEqual([])
  expect(await names(update(drop('size')))).toEqual(['Reads the size', 'Reads these fields'])
})

it('names every policy that something is deleted under, and those that compare what is of another type', async () => {
  const reading = (filter: object) => ({ collections: { goods: { read: { fields: ['size'], filter } } } })
  const first = await people.policy(shop, reading({ size: { _gt: 1 } }), 'First')
  const second = await people.policy(shop, reading({ name: { _eq: 'one' } }), 'Second')

  const refused = await shop.post('/schema/migrate?dryRun=true', { operations: [update(drop('size'))] })
  const same = await shop.post('/schema/migrate', { operations: [update(drop('size'))] })
  const retyped = await dryRun(shop, update(toText('size')))

  const { source } = (await refused.json()) as { source: { code: string; meta: { policies: readonly Named[] } } }
  const named = [
    { id: first, name: 'First' },
    { id: second, name: 'Second' },
  ]
  expect([refused.status, source.code, source.meta.policies]).toEqual([500, '3004', named])
  expect(((await same.json()) as { source: object }).source).toEqual(source)
  expect(retyped.breaks.policies).toEqual([{ id: first, name: 'First' }])
})

it('tells an editor of the model nothing of rows, policies and tests that they may not know', async () => {
  const entitlements = ['dataModel:edit', 'dataModel:read'] as const
  const some = { collections: { goods: { read: { fields: ['id', 'name'] } } } }
  const editor = await people.member(shop, { entitlements: [...entitlements], ...some })
  const half = { collections: { goods: { read: { fields: ['size'], filter: { name: { _eq: 'one' } } } } } }
  const limited = await people.member(shop, { entitlements: [...entitlements], ...half })
  const size = update(drop('note'))
  await shop.post('/access/tests', {
    ...{ name: 'Note', as: 'anonymous', collection: 'goods', action: 'read', field: 'note' },
    expect: { allowed: false },
  })

  const told = await Promise.all([editor, limited].map((client) => dryRun(client, size)))
  const refused = await editor.post('/schema/migrate?dryRun=true', { operations: [update(drop('name'))] })

  for (const { rows, breaks } of told) {
    expect(rows).toEqual([{ collection: 'goods', rows: null, destroys: true }])
    expect(breaks).toEqual({ policies: null, views: [], tests: null })
  }
  expect(refused.status).toBe(500)
  expect(await refused.text()).not.toContain('policies')
})

it('tells what leads back, and whether the rows come back with it', async () => {
  const model = async () => (await shop.get('/schema/model')).text()
  const before = await model()
  const rows = await shop.data('/items/goods')
  const reversible = update(
    rename('size', 'width'),
    toText('note'),
    change('note', 'changeIsNullable', { isNullable: true }),
  )
  const lossy = update(drop('size'))

  for (const [operation, restores] of [
    [reversible, true],
    [update(toText('size')), true],
    [lossy, false],
  ] as const) {
    const { inverse, restoresData } = await dryRun(shop, operation)
    expect(restoresData).toBe(restores)
    expect((await shop.migrate(operation)).status).toBe(200)
    expect((await shop.migrate(...(inverse ?? []))).status).toBe(200)
    expect(await model()).toBe(before)
    if (restores) expect(await shop.data('/items/goods')).toEqual(rows)
  }
  // What stays would have no name.
  expect(await dryRun(shop, update(drop('name')))).toMatchObject({ inverse: null, restoresData: false })
})

it('is what a migration with its plan does, and another version of the model refuses that', async () => {
  const send = async (plan: string) => {
    const answer = await shop.post('/schema/migrate', { operations: [update(drop('size'))], plan })
    return [answer.status, answer.ok ? undefined : ((await answer.json()) as { code?: string }).code]
  }
  const { plan } = await dryRun(shop, update(drop('size')))
  expect((await shop.migrate(update(rename('note', 'remark')))).status).toBe(200)

  expect(await send(plan)).toEqual([409, '4094'])
  expect(await shop.data('/items/goods?fields=size,remark&limit=1')).toHaveLength(1)
  expect(await send((await dryRun(shop, update(drop('size')))).plan)).toEqual([200, undefined])
  expect((await shop.post('/schema/migrate', { operations: [], plan: 5 })).status).toBe(422)
})

it('holds one of two migrations that were reviewed at once', async () => {
  const [first, second] = [update(drop('size')), update(drop('note'))]
  const plans = [await dryRun(shop, first), await dryRun(shop, second)].map(({ plan }) => plan)

  const answers = await Promise.all(
    [first, second].map((operation, at) => shop.post('/schema/migrate', { operations: [operation], plan: plans[at] })),
  )

  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409])
})
