/** docs/contract.md#the-model-as-a-file: a file is planned and applied, and nobody gives or destroys by it what they may not. */
import { expect, it } from 'vitest'
import { type Person, people } from '../support/service/people.ts'
import { type Client, type Workspace, world } from '../support/service/world.ts'

type File = Record<string, unknown> & {
  collections: Record<string, { fields: Record<string, unknown> } & Record<string, unknown>>
  roles: Record<string, unknown>
  policies: Record<string, unknown>
}
type Plan = {
  plan: string
  changes: { action: string; path: string; from?: unknown; to?: unknown }[]
  operations: { kind: string }[]
  statements: { sql: string }[]
  access: { granted: object[]; revoked: object[] }
  destructive: { operation: number; path: string; rows: number | null; holders?: number }[]
  missing: string[]
  warnings: object[]
}

async function fileOf(shop: Client, query = '?ids=false'): Promise<File> {
  return (await (await shop.get(`/schema/model${query}`)).json()) as File
}

async function planOf(shop: Client, model: unknown): Promise<Plan> {
  const response = await shop.post('/schema/plan', { model })
  const text = await response.text()
  expect(response.status, text).toBe(200)
  return (JSON.parse(text) as { data: Plan }).data
}

async function push(shop: Client, model: unknown, more: object = { allow: ['drop'] }): Promise<Response> {
  const { plan } = await planOf(shop, model)
  return shop.post('/schema/apply', { model, plan, ...more })
}

async function pushed(shop: Client, model: unknown): Promise<void> {
  const response = await push(shop, model)
  expect(response.status, await response.clone().text()).toBe(200)
}

const library = {
  articles: {
    fields: {
      id: 'int64 auto',
      author: { to: 'authors?', onDelete: 'setNull' },
      changedAt: 'dateTimeWithTimezone always',
      status: { type: 'string', default: 'draft' },
      tags: { many: 'tags' },
      title: 'string(200)',
    },
    indexes: ['status, changedAt', 'unique title'],
  },
  authors: { fields: { id: 'int64 auto', name: 'string' } },
  tags: { fields: { id: 'int32 auto', name: 'string' } },
}

async function librarySpace(stem: string): Promise<Workspace> {
  const shop = await world.workspace(stem, {})
  await pushed(shop, { version: 1, collections: library })
  return shop
}

it('warns of what writes by itself what a policy of it compares, where the policy changes', async () => {
  const shop = await librarySpace('file_warned')
  const filter = { status: { _eq: 'draft' }, author: { name: 'Ada' } }
  const policies = { drafts: { collections: { articles: { read: { filter } } } } }
  const { warnings } = await planOf(shop, { version: 1, policies })
  await pushed(shop, { version: 1, policies })

  expect(warnings).toMatchObject([
    { kind: 'default', field: 'articles.status', by: 'articles.status' },
    { kind: 'action', field: 'articles.author', by: 'articles.author' },
  ])
  expect((await planOf(shop, await fileOf(shop, ''))).warnings).toEqual([])
})

it('makes what it says, and then plans nothing', async () => {
  const shop = await librarySpace('file_made')

  expect((await fileOf(shop)).collections).toEqual(library)
  expect(await planOf(shop, await fileOf(shop, ''))).toMatchObject({ changes: [], operations: [], destructive: [] })
  const [author] = await shop.insert('authors', [{ name: 'Ada' }])
  await shop.insert('articles', [{ title: 'On engines', authorId: author?.id }])
  expect(await shop.data('/items/articles?fields=title,status,author.name')).toEqual([
    { title: 'On engines', status: 'draft', author: { name: 'Ada' } },
  ])
})

const names = {
  articles: { displayName: 'Posts', icon: '📰', color: '#b45309', displayTemplate: '{{title}}', sort: -1 },
  'articles.tags': { displayName: '<b>Labels</b>', description: '' },
  'articles.title': { hidden: true },
  'articles_tags.to': { displayName: 'وسم' },
  authors: { sort: 2 },
}

it('carries names and icons elsewhere, to the byte, and lets them go with what they are of', async () => {
  const [shop, other] = [await librarySpace('file_names'), await world.workspace('file_names_too', {})]
  const editor = await people.member(shop, { entitlements: ['dataModel:read', 'dataModel:edit'] })
  const text = async (space: Client) => (await space.get('/schema/model?ids=false')).text()

  await pushed(editor, { version: 1, names })
  await pushed(other, await fileOf(shop))
  const copy = await text(other)
  const { articles: _, ...kept } = library
  await pushed(other, { version: 1, collections: kept })

  expect((await fileOf(shop)).names).toEqual(names)
  expect(copy).toBe(await text(shop))
  expect((await fileOf(other)).names).toEqual({ authors: { sort: 2 } })
})

it('changes names where it has some, behind nobody', async () => {
  const shop = await librarySpace('file_named')
  await pushed(shop, { version: 1, names })
  const { ids = {} } = (await fileOf(shop, '')) as { ids?: Record<string, string> }

  const without = await planOf(shop, { version: 1, collections: library })
  const turned = await planOf(shop, { version: 1, names: { ...names, authors: { sort: 3 } } })
  const none = { version: 1, names: {} }
  const { plan, operations } = await planOf(shop, none)
  await shop.patch(`/items/ServiceCollectionMeta/${ids.authors}`, { sort: 4 })
  const late = await shop.post('/schema/apply', { model: none, plan })
  const model = { version: 1, names: { articles: {}, authors: { sort: 4, description: null } } }
  const faulty = await shop.post('/schema/plan', { model })

  expect(without).toMatchObject({ changes: [], operations: [] })
  expect(turned.changes).toEqual([{ action: 'change', path: 'name authors', from: { sort: 2 }, to: { sort: 3 } }])
  expect(turned.operations).toEqual([{ kind: 'setName', data: { id: ids.authors, name: 'authors', sort: 3 } }])
  expect(operations.map(({ kind }) => kind)).toEqual(Object.keys(names).map(() => 'deleteName'))
  expect(await late.json()).toMatchObject({ code: '4094', meta: { moved: ['model'] } })
  expect(await faulty.text()).toContain('"model.names.authors.description"')
  await pushed(shop, none)
  expect((await fileOf(shop)).names).toEqual({})
})

it('keeps the data over renames, and tells each change in the form of the file', async () => {
  const shop = await librarySpace('file_renamed')
  await shop.insert('authors', [{ name: 'Ada' }])
  const file = await fileOf(shop)
  const { authors, ...others } = file.collections
  const model = {
    ...file,
    collections: {
      ...others,
      articles: {
        ...library.articles,
        fields: { ...library.articles.fields, author: { to: 'people?', onDelete: 'setNull' } },
      },
      people: {
        ...authors,
        fields: { id: 'int64 auto', fullName: { type: 'string', renamedFrom: 'name' } },
        renamedFrom: 'authors',
      },
    },
  }

  const { changes, destructive } = await planOf(shop, model)
  await pushed(shop, model)

  expect(destructive).toEqual([])
  expect(changes).toEqual(
    expect.arrayContaining([
      { action: 'rename', path: 'people', from: 'authors', to: 'people' },
      { action: 'rename', path: 'people.fullName', from: 'name', to: 'fullName' },
    ]),
  )
  expect(await shop.data('/items/people?fields=fullName')).toEqual([{ fullName: 'Ada' }])
  expect((await planOf(shop, model)).operations).toEqual([])
})

it('gives no name of the database from one to another at once, and names the place', async () => {
  const shop = await world.workspace('file_handed', {})
  const fields = (more: object) => ({ version: 1, collections: { notes: { fields: { id: 'int64 auto', ...more } } } })
  await pushed(shop, fields({ title: 'string', secret: 'string' }))
  await shop.insert('notes', [{ title: 'Lamp', secret: 'hush' }])
  const { ids = {} } = (await fileOf(shop, '')) as { ids?: Record<string, string> }
  const swapped = { 'notes.title': ids['notes.secret'], 'notes.secret': ids['notes.title'] }
  const handed = { ...fields({ title: 'string', secret: 'string' }), ids: swapped }
  const kept = {
    ...fields({ title: { type: 'string', dbName: 'secret' }, secret: { type: 'string', dbName: 'title' } }),
    ids: swapped,
  }

  const refused = await shop.post('/schema/plan', { model: handed })
  await pushed(shop, kept)

  expect([refused.status, await refused.json()]).toEqual([
    422,
    {
      message: expect.stringContaining('Failed to read the JSON body: '),
      source: {
        message: 'model.collections.notes',
        source: {
          message: expect.stringMatching(
            /^'\w+' is given up by the field \w+ in this migration; rename it in a later one$/,
          ),
        },
      },
    },
  ])
  expect(await shop.data('/items/notes?fields=title,secret')).toEqual([{ title: 'hush', secret: 'Lamp' }])
})

it('destroys only what it was allowed to, and says how many rows', async () => {
  const shop = await librarySpace('file_destroyed')
  await shop.insert('tags', [{ name: 'a' }, { name: 'b' }])
  await shop.insert('authors', [{ name: 'Ada' }])
  const { articles, authors } = library
  const { tags, ...fields } = articles.fields
  const model = {
    version: 1,
    collections: { articles: { ...articles, fields }, authors: { fields: { ...authors.fields, name: 'date?' } } },
  }

  const { destructive } = await planOf(shop, model)
  const editor = await people.member(shop, { entitlements: ['dataModel:read', 'dataModel:edit'] })
  const untold = await planOf(editor, model)
  const refused = await push(shop, model, {})
  const others = await push(shop, model, { allow: ['failingTests'] })
  const untouched = await fileOf(shop)
  await pushed(shop, model)

  expect(others.status).toBe(422)
  expect(destructive).toEqual([
    { operation: expect.any(Number), path: 'tags', rows: 2 },
    { operation: expect.any(Number), path: 'articles_tags', rows: 0 },
    { operation: expect.any(Number), path: 'authors.name', rows: 1 },
  ])
  expect(untold.destructive).toEqual(destructive.map((one) => ({ ...one, rows: null })))
  expect(refused.status).toBe(422)
  expect(await refused.json()).toMatchObject({
    code: '4222',
    message: 'This would destroy data',
    meta: { destructive },
  })
  expect(untouched.collections).toEqual(library)
  expect((await fileOf(shop)).collections).toEqual(model.collections)
})

it('makes nothing again that a policy names', async () => {
  const shop = await world.workspace('file_again', {})
  const notes = (hidden: unknown) => ({ notes: { fields: { id: 'int64 auto', text: 'string', hidden } } })
  await pushed(shop, { version: 1, collections: notes('boolean?') })
  await shop.insert('notes', [{ text: 'secret', hidden: true }])
  const reads = { notes: { read: { filter: { hidden: { _neq: true } }, fields: ['id', 'text'] } } }
  const entitlements = ['dataModel:read', 'dataModel:edit']
  const policy = await people.policy(shop, { entitlements, collections: reads })
  const editor = await people.memberWith(shop, [await people.role(shop, [policy])])

  const answers = [
    await editor.post('/schema/plan', { model: { version: 1, collections: notes('date?') } }),
    await editor.post('/schema/plan', { model: { version: 1, collections: notes('json?') } }),
  ]

  expect(answers.map(({ status }) => status)).toEqual([422, 422])
  expect(await answers[0]?.json()).toEqual({
    message: expect.stringContaining('Failed to read the JSON body: '),
    source: {
      message: 'model.collections',
      source: { message: 'field notes.hidden is used by a policy' },
    },
    code: '3004',
  })
  expect(await (await editor.get('/items/notes')).json()).toEqual({ data: [] })
})

it('changes the type of what a policy compares for Administrators only, and tells both sides of the right', async () => {
  const shop = await world.workspace('file_compared', {})
  const notes = (level: string) => ({ notes: { fields: { id: 'int64 auto', level, text: 'string' } } })
  await pushed(shop, { version: 1, collections: notes('int64') })
  const reads = { notes: { read: { fields: ['id', 'level'], filter: { level: { _lt: '5' } } } } }
  const entitlements = ['dataModel:read', 'dataModel:edit']
  const policy = await people.policy(shop, { entitlements, collections: reads }, 'low')
  const role = await people.role(shop, [policy], 'readers')
  const editor = await people.memberWith(shop, [role])
  const model = { version: 1, collections: notes('string') }

  const planned = await editor.post('/schema/plan', { model })
  const { plan, access } = await planOf(shop, model)
  const refused = await editor.post('/schema/apply', { model, plan, allow: ['drop'] })
  const whole = {
    ...model,
    roles: { Public: [], readers: ['low'] },
    policies: { low: { entitlements, collections: reads } },
  }
  const { access: told } = await planOf(shop, whole)
  const applied = await shop.post('/schema/apply', { model, plan })

  const fault = {
    message: expect.stringContaining('Failed to read the JSON body: '),
    source: {
      message: 'model.collections.notes.fields.level',
      source: { message: 'field notes.level is compared by a policy, which another type would change' },
    },
    code: '3004',
  }
  const right = { role: 'readers', policy: 'low', collection: 'notes', action: 'read' }
  expect([planned.status, await planned.json()]).toEqual([422, fault])
  expect([refused.status, await refused.json()]).toEqual([422, fault])
  expect([access, told]).toEqual([
    { granted: [right], revoked: [right] },
    { granted: [right], revoked: [right] },
  ])
  expect([applied.status, await applied.clone().text()]).toEqual([200, expect.any(String)])
  expect(await shop.data('/audit-log?filter[action][_eq]=schema.apply.v1&fields=payload')).toContainEqual({
    payload: expect.objectContaining({ granted: [right], revoked: [right] }),
  })
})

it('names the place of what the rows stand in the way of, in plan and apply', async () => {
  const shop = await world.workspace('file_rows', {})
  const notes = (text: string) => ({ version: 1, collections: { notes: { fields: { id: 'int64 auto', text } } } })
  await pushed(shop, notes('string?'))
  const { plan } = await planOf(shop, notes('string'))
  await shop.insert('notes', [{ text: null }, { text: null }])

  const planned = await shop.post('/schema/plan', { model: notes('string') })
  const applied = await shop.post('/schema/apply', { model: notes('string'), plan })

  const refused = {
    message: expect.stringContaining('Failed to read the JSON body: '),
    source: { message: 'model.collections.notes.fields.text', source: { message: expect.any(String) } },
    code: '3013',
    meta: { rows: 2 },
  }
  expect([planned.status, await planned.json()]).toEqual([422, refused])
  expect([applied.status, await applied.json()]).toEqual([422, refused])
})

it('is refused where model, rights or the file have moved since the plan', async () => {
  const shop = await librarySpace('file_moved')
  const file = await fileOf(shop)
  const model = { version: 1, collections: { ...library, notes: { fields: { id: 'int64 auto' } } }, roles: file.roles }
  const { plan } = await planOf(shop, model)
  await people.policy(shop, { entitlements: ['dataModel:read'] }, 'meanwhile')
  const response = await shop.post('/schema/apply', { model, plan })
  const other = await shop.post('/schema/apply', { model: file, plan })
  await pushed(shop, model)
  const again = await shop.post('/schema/apply', { model, plan })

  expect(response.status).toBe(409)
  expect(await response.json()).toEqual({
    message: 'The plan is out of date',
    code: '4094',
    meta: { moved: ['access'] },
  })
  expect(await other.json()).toMatchObject({ code: '4094', meta: { moved: ['access', 'file'] } })
  expect(await again.json()).toMatchObject({ code: '4094', meta: { moved: ['model', 'access'] } })
})

it('has roles and policies by name, and tells the rights that are gained and lost', async () => {
  const shop = await librarySpace('file_rights')
  const file = await fileOf(shop)
  const reading = { collections: { articles: { read: { fields: ['title'], filter: { status: { _eq: 'public' } } } } } }
  const model = { ...file, roles: { Public: [], readers: ['reading'] }, policies: { reading } }

  const { access, operations } = await planOf(shop, model)
  await pushed(shop, model)
  const wider = {
    ...model,
    policies: { reading: { collections: { articles: { read: 'all' } }, entitlements: ['ai:mcp'] } },
  }
  const [printed, again] = [await fileOf(shop), await planOf(shop, model)]
  const next = await planOf(shop, wider)
  await pushed(shop, wider)
  await pushed(shop, {
    ...wider,
    roles: { Public: [], readers: { description: 'All of them', policies: ['reading'] } },
  })
  const entries = (await shop.data(
    '/audit-log?filter[action][_eq]=schema.apply.v1&fields=label,targetType,payload',
  )) as object[]

  expect(access).toEqual({
    granted: [{ role: 'readers', policy: 'reading', collection: 'articles', action: 'read' }],
    revoked: [],
  })
  expect(operations.map(({ kind }) => kind)).toEqual(['createPolicy', 'createRole'])
  expect(printed).toEqual(model)
  expect(again.operations).toEqual([])
  expect(next.access).toEqual({
    granted: [
      { role: 'readers', policy: 'reading', entitlement: 'ai:mcp' },
      { role: 'readers', policy: 'reading', collection: 'articles', action: 'read' },
    ],
    revoked: [{ role: 'readers', policy: 'reading', collection: 'articles', action: 'read' }],
  })
  expect(entries).toContainEqual({
    label: 'Model file applied',
    targetType: 'workspace',
    payload: {
      operations: ['createPolicy', 'createRole'],
      changes: ['create role readers', 'create policy reading'],
      ...access,
      access: {
        changes: [
          { path: 'role readers', to: ['reading'] },
          { path: 'policy reading', to: reading },
        ],
      },
    },
  })
  const told = (...changes: object[]) =>
    expect.objectContaining({ payload: expect.objectContaining({ access: { changes } }) })
  const at = 'policy reading.collections.articles.read'
  expect(entries).toContainEqual(
    told(
      { path: at, from: reading.collections.articles.read, to: 'all' },
      { path: 'policy reading.entitlements', to: ['ai:mcp'] },
    ),
  )
  expect(entries).toContainEqual(
    told({ path: 'role readers', from: ['reading'], to: { description: 'All of them', policies: ['reading'] } }),
  )
})

it('takes no ids of roles and policies of another workspace, and works all the same', async () => {
  const [one, other] = [await librarySpace('file_ids_one'), await librarySpace('file_ids_other')]
  await pushed(one, { version: 1, roles: { Public: [], readers: ['reading'] }, policies: { reading: {} } })
  const { ids } = (await (await one.get('/schema/model')).json()) as { ids: Record<string, string> }
  const lines = { 'role readers': ids['role readers'], 'policy reading': ids['policy reading'] }
  const model = { version: 1, roles: { Public: [], readers: ['reading'] }, policies: { reading: {} }, ids: lines }
  await pushed(other, model)
  const made = (await (await other.get('/schema/model')).json()) as { ids: Record<string, string> }

  expect(made.ids['policy reading']).toEqual(expect.any(String))
  expect(made.ids['policy reading']).not.toBe(lines['policy reading'])
  expect((await planOf(other, model)).operations).toEqual([])
})

it('takes a role or policy from whoever holds it only where that is allowed; a rename takes nothing', async () => {
  const shop = await world.workspace('file_held', {})
  const entitlements = ['auditLog:read']
  const of = (role: object, policy: object) => ({
    version: 1,
    roles: { Public: [], ...role },
    policies: { unheld: {}, ...policy },
  })
  const ann = await pushed(shop, of({ readers: ['reading'], nobody: ['reading'] }, { reading: { entitlements } })).then(
    async () => {
      const { ids } = (await (await shop.get('/schema/model')).json()) as { ids: Record<string, string> }
      return people.memberWith(shop, [ids['role readers'] ?? ''])
    },
  )
  const other = of({ lookers: ['looking'] }, { looking: { entitlements } })
  const renamed = of(
    { lookers: { policies: ['looking'], renamedFrom: 'readers' } },
    { looking: { entitlements, renamedFrom: 'reading' } },
  )

  const { operations, destructive } = await planOf(shop, other)
  const refused = await push(shop, other, {})
  const unheld = await planOf(shop, of({ readers: ['reading'] }, { reading: { entitlements } }))
  const kept = await push(shop, renamed, {})

  expect(destructive.map(({ operation, ...rest }) => [operations[operation]?.kind, rest])).toEqual([
    ['deletePolicy', { path: 'policy reading', rows: null, holders: 1 }],
    ['deleteRole', { path: 'role readers', rows: null, holders: 1 }],
  ])
  expect(refused.status).toBe(422)
  expect(await refused.json()).toMatchObject({ code: '4222', meta: { destructive } })
  expect(unheld.destructive).toEqual([])
  expect(kept.status).toBe(200)
  expect((await ann.get('/audit-log?limit=1')).status).toBe(200)
})

it('refuses a role and a policy without a name', async () => {
  const shop = await librarySpace('file_empty_names')
  const answers = await Promise.all(
    [{ roles: { '': [] } }, { policies: { '': {} } }].map((rights) =>
      shop.post('/schema/plan', { model: { version: 1, ...rights } }),
    ),
  )

  expect(answers.map(({ status }) => status)).toEqual([422, 422])
  expect(await answers[0]?.json()).toMatchObject({ source: { source: { message: 'must not be empty' } } })
})

it.each([
  ['a policy of more than the caller holds', { policies: { more: { entitlements: ['workspace:delete'] } } }],
  ['a policy on what the caller cannot read', { policies: { more: { collections: { authors: { read: 'all' } } } } }],
  ['a role of a policy that the caller lacks', { roles: { Public: ['owning'] } }],
  ['without a policy that the caller could not give', { policies: {} }],
])('gives nobody more than they hold: %s', async (_, part) => {
  const shop = await librarySpace('file_delegated')
  await people.policy(shop, { entitlements: ['workspace:delete'] }, 'owning')
  const manager = await managerOf(shop)
  const file = await fileOf(manager)
  const kept = Object.fromEntries(Object.entries(file.policies))
  const model = {
    version: 1,
    ...part,
    ...('policies' in part && Object.keys(part.policies).length > 0 && { policies: { ...kept, ...part.policies } }),
  }
  const before = await fileOf(shop)

  const response = await push(manager, model)

  expect(response.status).toBe(403)
  expect(await fileOf(shop)).toEqual(before)
})

it('asks for the entitlement of what changes, and names it in the plan', async () => {
  const shop = await librarySpace('file_entitled')
  await people.policy(shop, { entitlements: ['ai:mcp'] }, 'extra')
  const reader = await people.member(shop, { entitlements: ['dataModel:read', 'workspaceMembers:read'] })
  const file = await fileOf(reader)
  const model = { ...file, collections: { tags: library.tags }, roles: { ...file.roles, more: ['extra'] } }
  const called = await planOf(reader, { version: 1, names: { tags: { icon: '🏷️' } } })

  const plan = await planOf(reader, model)
  const response = await reader.post('/schema/apply', { model, plan: plan.plan, allow: ['drop'] })

  expect(plan.missing).toEqual(['dataModel:edit', 'workspaceMembers:edit'])
  expect(called.missing).toEqual(['dataModel:edit'])
  expect(plan.destructive.map(({ rows }) => rows)).toEqual(plan.destructive.map(() => null))
  expect(plan.destructive.length).toBeGreaterThan(0)
  expect(response.status).toBe(403)
  expect((await fileOf(shop)).collections).toEqual(library)
})

it('refuses what does not fit with its place in the file', async () => {
  const shop = await librarySpace('file_faults')
  const faulty = {
    version: 1,
    collections: { ...library, tags: { fields: { id: 'int32 auto', of: { to: 'articels' } } } },
  }
  const unnamed = { version: 1, policies: { p: { collections: { articles: { read: { fields: ['titel'] } } } } } }

  const [first, second, third] = await Promise.all([
    shop.post('/schema/plan', { model: faulty }),
    shop.post('/schema/plan', { model: unnamed }),
    shop.post('/schema/plan', { modle: faulty }),
  ])

  expect([first?.status, second?.status, third?.status]).toEqual([422, 422, 422])
  expect(await first?.text()).toContain('"model.collections.tags.fields.of.to"')
  expect(await second?.text()).toContain('"model.policies.p.collections.articles.read.fields"')
  expect(await third?.text()).toContain('did you mean model?')
})

async function managerOf(shop: Workspace): Promise<Person> {
  return people.member(shop, {
    entitlements: ['dataModel:read', 'dataModel:edit', 'workspaceMembers:read', 'workspaceMembers:edit'],
    collections: { articles: { read: 'all' } },
  })
}
