/**
 * docs/contract.md#policies: policies. No right passes to what takes over a name, and no answer names what is hidden.
 */
import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { messagesOf, refusedAnonymous } from '../support/service/messages.ts'
import { people } from '../support/service/people.ts'
import { type Client, createCollection, createRelation, type Operation, world } from '../support/service/world.ts'

const shape = {
  authors: { name: 'string' },
  articles: { title: 'string', status: 'string?', authorId: 'int64?' },
  notes: { text: 'string', writtenAt: 'dateTimeWithTimezone', details: 'json?' },
}
const relations = ['articles.author(authorId) -> authors.articles']
const shop = await world.workspace('policies', shape, relations)

const content = {
  entitlements: ['dataModel:read'],
  collections: {
    articles: {
      read: 'all',
      create: { fields: ['title'], validation: { title: { _neq: '' } } },
      update: { fields: '*', filter: { author: { name: { _eq: 'Ada' } } }, check: { status: 'draft' }, validation: {} },
      delete: { filter: { _or: [{ status: { _eq: 'draft' } }, { status: { _null: true } }] } },
    },
  },
}

it('creates a policy and answers it as it was sent', async () => {
  const response = await shop.post('/policies', { name: 'Editing', description: 'For editors', content })

  expect(response.status).toBe(201)
  expect(await response.json()).toEqual({
    data: {
      id: expect.any(String),
      name: 'Editing',
      description: 'For editors',
      content,
      createdAt: expect.stringMatching(/Z$/),
    },
  })
})

it('takes collections by id as well as by name', async () => {
  const id = shop.ids.get('articles') ?? ''

  const response = await shop.post('/policies', {
    name: 'By id',
    content: { collections: { [id]: { read: 'all' } } },
  })

  expect(await response.json()).toMatchObject({
    data: { content: { entitlements: [], collections: { articles: { read: 'all' } } } },
  })
})

it('takes any JSON value as an operand, and answers it as it was sent', async () => {
  const filter = { details: { _neq: { by: 'x', tags: [{ text: 1 }] } } }
  const operands = { collections: { notes: { read: { filter } } } }

  const response = await shop.post('/policies', { name: 'Operands', content: operands })

  expect([response.status, await response.json()]).toMatchObject([201, { data: { content: operands } }])
})

it('refuses a number that would be rounded, and names its place', async () => {
  const body = JSON.stringify({
    name: 'Rounded',
    content: { collections: { notes: { read: { filter: { details: { _contains: { ids: [1.5, 'n'] } } } } } } },
  })

  const response = await shop.send('POST', '/policies', { body: body.replace('"n"', '1152921504606846977') })

  expect([response.status, messagesOf(await response.json()).slice(1)]).toEqual([
    422,
    [
      'content.collections.notes.read.filter.details._contains.ids[1]',
      'is a number that would be rounded: 1152921504606846977',
    ],
  ])
  expect((await shop.send('POST', '/policies', { body: body.replace('"n"', '1.50') })).status).toBe(201)

  const alone = await shop.send('POST', '/policies', { body: '1152921504606846977' })
  expect(messagesOf(await alone.json()).slice(1)).toEqual(['is a number that would be rounded: 1152921504606846977'])
})

it('reads, lists, changes and deletes a policy', async () => {
  const id = await people.policy(shop, content, 'Plain')

  const listed = await shop.get('/policies?filter[name][_eq]=Plain&meta=totalCount')
  const changed = await shop.patch(`/policies/${id}`, { content: { entitlements: ['ai:mcp'] } })
  const renamed = await shop.patch(`/policies/${id}`, { name: 'Renamed' })
  const read = await shop.get(`/policies/${id}?fields=name,content`)
  const deleted = await shop.delete(`/policies/${id}`)
  const gone = await shop.get(`/policies/${id}`)

  expect(await listed.json()).toMatchObject({ data: [{ id, name: 'Plain', content }], meta: { totalCount: 1 } })
  expect([changed.status, renamed.status]).toEqual([200, 200])
  expect(await read.json()).toEqual({
    data: { name: 'Renamed', content: { entitlements: ['ai:mcp'], collections: {} } },
  })
  expect(deleted.status).toBe(204)
  expect(await gone.json()).toEqual({ message: 'Policy does not exist' })
})

it('changes what its holders may do from the next request on', async () => {
  const id = await people.policy(shop, { collections: { authors: { read: 'all' } } })
  const member = await people.memberWith(shop, [await people.role(shop, [id])])

  const granted = await member.get('/items/authors')
  await shop.patch(`/policies/${id}`, { content: {} })
  const revoked = await member.get('/items/authors')

  expect([granted.status, revoked.status]).toEqual([200, 403])
})

it('speaks of the time at which a request comes, also for what a write answers', async () => {
  const recent = { writtenAt: { _gt: '$NOW(-1 day)' } }
  const id = await people.policy(shop, { collections: { notes: { read: { filter: recent }, create: 'all' } } })
  const member = await people.memberWith(shop, [await people.role(shop, [id])])
  const old = { text: 'Old', writtenAt: '2001-01-01T00:00:00Z' }
  const young = { text: 'Young', writtenAt: new Date().toISOString() }

  const kept = await member.post('/items/notes?fields=text', [young])
  const hidden = await member.post('/items/notes?fields=text', [old])
  const both = await member.post('/items/notes?fields=text', [old, young])
  const listed = await member.get('/items/notes?fields=text')

  expect(await kept.json()).toEqual({ data: [{ text: 'Young' }] })
  expect(await hidden.json()).toEqual({ data: [{ text: null }] })
  expect(await both.json()).toEqual({ data: [{ text: null }, { text: 'Young' }] })
  expect(await listed.json()).toEqual({ data: [{ text: 'Young' }, { text: 'Young' }] })
})

it('bounds what becomes of an item by check, each policy for what it admits', async () => {
  const step = (from: string, to: string) => ({
    articles: { read: 'all', update: { fields: ['status'], filter: { status: from }, check: { status: to } } },
  })
  const ids = [
    await people.policy(shop, { collections: step('paid', 'shipped') }),
    await people.policy(shop, { collections: step('shipped', 'closed') }),
  ]
  const member = await people.memberWith(shop, [await people.role(shop, ids)])
  const rows = ['paid', 'paid', 'shipped'].map((status) => ({ title: 'Order', status }))
  const [first, second, third] = (await shop.insert('articles', rows)) as { id: number }[]
  const item = (id: number | undefined) => `/items/articles/${id}`
  const changed = async (id: number | undefined, status: string) => (await member.patch(item(id), { status })).status
  const update = (id: number | undefined, status: string) => ({
    ...{ kind: 'update', collection: 'articles', key: id, data: { status } },
  })

  const refused = [
    await changed(first?.id, 'closed'),
    await changed(first?.id, 'paid'),
    await changed(third?.id, 'paid'),
  ]
  const batch = await member.post('/items', {
    operations: [update(first?.id, 'shipped'), update(second?.id, 'closed')],
  })
  const many = await member.patch('/items/articles?filter[title][_eq]=Order', { status: 'closed' })
  const allowed = [
    await changed(first?.id, 'shipped'),
    await changed(first?.id, 'closed'),
    await changed(third?.id, 'closed'),
  ]

  expect([...refused, batch.status, many.status]).toEqual([403, 403, 403, 403, 403])
  expect(allowed).toEqual([200, 200, 200])
  expect((await shop.data(`${item(second?.id)}?fields=status`)) as unknown).toEqual({ status: 'paid' })
})

it('is detached from its roles when it is deleted', async () => {
  const id = await people.policy(shop, { collections: { authors: { read: 'all' } } })
  const role = await people.role(shop, [id])
  const member = await people.memberWith(shop, [role])

  await shop.delete(`/policies/${id}`)
  const after = await member.get('/items/authors')

  expect(after.status).toBe(403)
  expect(await shop.data(`/roles/${role}`)).toMatchObject({ policies: [] })
})

it('answers 409 for a name that the workspace has already', async () => {
  await people.policy(shop, {}, 'Taken')
  const other = await people.policy(shop, {})

  const created = await shop.post('/policies', { name: 'Taken', content: {} })
  const renamed = await shop.patch(`/policies/${other}`, { name: 'Taken' })

  expect([created.status, renamed.status]).toEqual([409, 409])
  expect(await created.json()).toEqual({ message: 'A policy of this name already exists' })
})

it.each([
  ['no content', undefined, 'content'],
  ['an unknown entitlement', { entitlements: ['root'] }, 'content.entitlements'],
  ['an unknown member', { roles: [] }, 'content'],
  ['an unknown collection', { collections: { nothing: {} } }, 'content.collections.nothing'],
  ['an unknown action', { collections: { articles: { destroy: 'all' } } }, 'content.collections.articles'],
  [
    'an unknown field',
    { collections: { articles: { read: { fields: ['nothing'] } } } },
    'content.collections.articles.read.fields',
  ],
])('answers 422 for %s, naming the place', async (_, wrong, place) => {
  const response = await shop.post('/policies', { name: world.name('p'), content: wrong })

  expect(response.status).toBe(422)
  expect(await response.json()).toMatchObject({
    message: expect.stringContaining('Failed to read the JSON body: '),
    source: { message: expect.stringContaining(place) },
  })
})

it('keeps a right with the collection it was given for, not with its name', async () => {
  const own = await world.workspace('policies', { notes: { text: 'string' } })
  const id = await people.policy(own, { collections: { notes: { read: 'all' } } })
  const member = await people.memberWith(own, [await people.role(own, [id])])
  const rename = { kind: 'changeApiName', data: { apiName: 'memos' } }

  await own.migrate({ kind: 'updateCollection', data: { id: own.ids.get('notes'), operations: [rename] } })
  const ids = new Map<string, string>()
  await own.migrate(createCollection(ids, own.sourceId, 'notes', { text: 'string' }))
  const [renamed, successor] = [await member.get('/items/memos'), await member.get('/items/notes')]

  expect([renamed.status, successor.status]).toEqual([200, 403])
  expect(await own.data(`/policies/${id}`)).toMatchObject({ content: { collections: { memos: { read: 'all' } } } })
})

it.each([
  [
    'collection',
    'authors',
    (ids: ReadonlyMap<string, string>) => [deleteRelation(ids), deleteCollection(ids, 'authors')],
  ],
  ['field', 'articles.status', (ids: ReadonlyMap<string, string>) => [deleteField(ids, 'articles', 'status')]],
  ['relation', 'articles.author', (ids: ReadonlyMap<string, string>) => [deleteRelation(ids)]],
])('refuses to delete a %s that a policy uses, by name', async (_, name, operations) => {
  const own = await world.workspace('policies', shape, relations)
  const id = await people.policy(
    own,
    { ...content, collections: { ...content.collections, authors: { read: 'all' } } },
    'Using it',
  )

  const editor = await people.member(own, { entitlements: ['dataModel:edit'], collections: {} })
  const untold = await editor.post('/schema/migrate', { operations: operations(own.ids) })
  const refused = await own.migrate(...operations(own.ids))
  await own.delete(`/policies/${id}`)
  const accepted = await own.migrate(...operations(own.ids))

  expect(refused.status).toBe(500)
  const { message, source } = (await refused.json()) as { message: string; source: { message: string; code: string } }
  expect(message).toMatch(/^Failed to execute the migration: /)
  expect(source.message).toContain('is used by the policy Using it')
  expect(await untold.json()).toMatchObject({ source: { message: expect.stringMatching(/is used by a policy$/) } })
  expect(source.code).toBe('3004')
  expect(name).toContain(source.message.match(/(?:collection|field) (\S+)/)?.[1])
  expect(accepted.status).toBe(200)
})

it('refuses to make what a policy names again under its id, which would open what it hides', async () => {
  const shaped = { authors: { name: 'string' }, notes: { text: 'string', hidden: 'boolean?', bossId: 'int64?' } }
  const own = await world.workspace('policies', shaped, ['notes.boss(bossId) -> authors.notes'])
  const filter = { hidden: { _neq: true }, boss: { name: { _eq: 'B' } } }
  const reads = { authors: { read: 'all' }, notes: { read: { filter, fields: ['id', 'text'] } } }
  const id = await people.policy(own, { entitlements: ['dataModel:read', 'dataModel:edit'], collections: reads })
  const editor = await people.memberWith(own, [await people.role(own, [id])])
  const [boss] = await own.insert('authors', [{ name: 'B' }, { name: 'A' }])
  await own.insert('notes', [{ text: 'secret', hidden: true, bossId: boss?.id }])
  const again = (name: string, more: object) => ({
    kind: 'createPrimitiveField',
    data: {
      id: own.ids.get(`notes.${name}`),
      ...{ dbName: name, apiName: name, isNullable: false, isList: false, ...more },
    },
  })
  const change = (...operations: object[]) => ({
    kind: 'updateCollection',
    data: { id: own.ids.get('notes'), operations },
  })
  const unlink = {
    kind: 'deleteRelationFieldPair',
    data: { firstFieldId: own.ids.get('notes.boss'), secondFieldId: own.ids.get('authors.notes') },
  }
  const side = (name: string, collection: string, fieldId: string, more: object) => ({
    ...{ id: own.ids.get(name), apiName: name.split('.')[1], collectionId: own.ids.get(collection) },
    ...{ fieldIds: [fieldId], ...more },
  })
  const link = (fieldId: string) => ({
    kind: 'createRelationFieldPair',
    data: {
      kind: 'single',
      data: {
        relationName: 'notes_boss',
        firstField: side('notes.boss', 'notes', fieldId, { isList: false, isConstrained: true }),
        secondField: side('authors.notes', 'authors', own.ids.get('authors.id') ?? '', {
          isList: true,
          isConstrained: false,
        }),
      },
    },
  })
  const bossId = own.ids.get('notes.bossId') ?? ''
  const flag = {
    type: { name: 'boolean' },
    defaultValue: { source: 'engineManaged', onCreate: { kind: 'static', valueEncoded: false } },
  }
  const attempts = [
    [change({ kind: 'deletePrimitiveField', data: { id: own.ids.get('notes.hidden') } }, again('hidden', flag))],
    [unlink, link(own.ids.get('notes.id') ?? '')],
    [
      unlink,
      change(
        { kind: 'deletePrimitiveField', data: { id: bossId } },
        again('bossId', { type: { name: 'int64' }, isNullable: true, defaultValue: null }),
      ),
      link(bossId),
    ],
  ]

  const answers = []
  for (const operations of attempts) answers.push(await editor.post('/schema/migrate', { operations }))
  const same = await editor.post('/schema/migrate', { operations: [unlink, link(bossId)] })

  const told = await Promise.all(answers.map(async (answer) => [answer.status, await answer.json()]))
  const refused = [500, { message: expect.any(String), source: expect.objectContaining({ code: '3004' }) }]
  expect(told).toEqual([refused, refused, refused])
  expect([same.status, await same.text()]).toEqual([200, ''])
  expect(await (await editor.get('/items/notes')).json()).toEqual({ data: [] })
})

it.each([
  ['by a filter', { read: { fields: ['id', 'text', 'level'], filter: { level: { _lt: '5' } } } }],
  ['by a validation', { update: { fields: ['level'], validation: { _or: [{ level: { _lt: '5' } }] } } }],
])('lets only Administrators change the type of what a policy compares %s', async (_, actions) => {
  const own = await world.workspace('policies', { notes: { text: 'string', level: 'int64' } })
  const policy = { entitlements: ['dataModel:edit', 'dataModel:read'], collections: { notes: actions } }
  const editor = await people.memberWith(own, [await people.role(own, [await people.policy(own, policy, 'Low')])])
  await own.insert('notes', [
    { text: 'a', level: '1' },
    { text: 'b', level: '10' },
  ])
  const read = async () => (await editor.get('/items/notes')).text()
  const before = await read()
  const change = retype(own.ids, 'notes.level', { name: 'string', params: { length: 'unlimited' } })
  const other = retype(own.ids, 'notes.text', { name: 'string', params: { length: 'fixed', value: 20 } })

  const dry = await editor.post('/schema/migrate?dryRun=true', { operations: [other, change] })
  const refused = await editor.post('/schema/migrate', { operations: [other, change] })
  const after = await read()
  const free = [
    await editor.post('/schema/migrate', { operations: [other] }),
    await editor.post('/schema/migrate', { operations: [retype(own.ids, 'notes.level', { name: 'int32' })] }),
  ]
  const allowed = await own.migrate(change)

  const fault = {
    message: expect.stringContaining('Failed to execute the migration: '),
    source: {
      message: 'operations[1]',
      source: {
        message: 'field notes.level is compared by a policy, which another type would change',
        code: '3004',
      },
    },
  }
  expect([dry.status, await dry.json(), refused.status, await refused.json()]).toEqual([500, fault, 500, fault])
  expect(after).toBe(before)
  expect(free.map(({ status }) => status)).toEqual([200, 200])
  expect(allowed.status).toBe(200)
})

it('lets only Administrators have the database write what a policy compares, or delete what it names', async () => {
  const shaped = {
    secrets: { text: 'string', note: 'string?', level: 'int64?', at: 'dateTime?' },
    levels: { name: 'string' },
  }
  const own = await world.workspace('policies', shaped)
  const secrets = { read: { filter: { level: { _lt: '2' }, at: { _null: false } } }, create: { fields: ['text'] } }
  const editor = await people.member(own, { entitlements: ['dataModel:edit'], collections: { secrets } })
  const acting = (actions: object) => {
    const { kind, data } = createRelation(new Map(own.ids), 'secrets.lv(level) -> levels.secrets')
    return { kind, data: { ...data, data: { ...(data as { data: object }).data, ...actions } } } as Operation
  }
  const filled = (name: string, filling: object) => {
    const defaultValue = { source: 'engineManaged', ...filling }
    const operations = [{ kind: 'changeDefaultValue', data: { defaultValue } }]
    const change = { kind: 'updatePrimitiveField', data: { id: own.ids.get(name), operations } }
    return { kind: 'updateCollection', data: { id: own.ids.get('secrets'), operations: [change] } } as Operation
  }
  const level = (how: string) => `field secrets.level is compared by a policy, which ${how} would change`
  const refusals: [Operation, string][] = [
    [acting({ onUpdate: 'cascade' }), level('an action of a relation')],
    [acting({ onDelete: 'setNull' }), level('an action of a relation')],
    [
      acting({ onDelete: 'cascade' }),
      'collection secrets is used by a policy, and an action of a relation would delete its items',
    ],
    [filled('secrets.level', { onCreate: { kind: 'static', valueEncoded: '1' } }), level('another default')],
    [
      filled('secrets.at', { onUpdate: { kind: 'now' } }),
      'field secrets.at is compared by a policy, which another default would change',
    ],
    // What new items of everybody have then is for whoever may write it.
    [
      filled('secrets.note', { onCreate: { kind: 'static', valueEncoded: 'x' } }),
      'needs the right to create secrets.note in every item',
    ],
  ]

  const told = []
  for (const [operation] of refusals) {
    const { status, ...answer } = await editor
      .post('/schema/migrate', { operations: [operation] })
      .then(async (response) => ({ status: response.status, ...((await response.json()) as object) }))
    told.push([status, answer])
  }
  const free = await editor.post('/schema/migrate', {
    operations: [filled('secrets.text', { onCreate: { kind: 'static', valueEncoded: '' } })],
  })
  const allowed = await own.migrate(refusals[3]?.[0] as Operation)

  expect(told).toMatchObject(
    refusals.map(([, message]) => [500, { source: { message: 'operations[0]', source: { message, code: '3004' } } }]),
  )
  expect([free.status, allowed.status]).toEqual([200, 200])
})

it('tells whoever saves a policy and reads the model what writes by itself what it compares', async () => {
  const own = await world.workspace('policies', {
    secrets: { text: 'string', level: 'int64?' },
    levels: { name: 'string' },
  })
  const { kind, data } = createRelation(new Map(own.ids), 'secrets.lv(level) -> levels.secrets')
  const acting = { ...data, data: { ...(data as { data: object }).data, onUpdate: 'cascade' } }
  expect((await own.migrate({ kind, data: acting } as Operation)).status).toBe(200)
  const by = { collections: { secrets: { read: { filter: { level: { _lt: '2' } } } } } }
  const rightsOnly = await people.member(own, {
    entitlements: ['workspaceMembers:edit', 'workspaceMembers:read'],
    ...by,
  })

  const silent = await own.post('/policies', { name: 'Texts', content: { collections: { secrets: { read: 'all' } } } })
  const { data: saved, ...beside } = (await silent.json()) as { data: { id: string } }
  const made = await own.post('/policies', { name: 'Levels', content: by })
  const changed = await own.patch(`/policies/${saved.id}`, { content: by })
  const renamed = await own.patch(`/policies/${saved.id}`, { name: 'Some texts' })
  const untold = await rightsOnly.post('/policies', { name: 'Same levels', content: by })

  const message =
    'secrets.level is compared, and an action of the relation secrets.lv writes it without asking any policy'
  const meta = { warnings: [{ kind: 'action', field: 'secrets.level', by: 'secrets.lv', message }] }
  expect([made.status, (await made.json()) as object]).toMatchObject([201, { data: { name: 'Levels' }, meta }])
  expect([changed.status, (await changed.json()) as object]).toMatchObject([200, { data: { content: by }, meta }])
  expect(beside).toEqual({})
  expect(Object.keys((await renamed.json()) as object)).toEqual(['data'])
  expect([untold.status, Object.keys((await untold.json()) as object)]).toEqual([201, ['data']])
})

it('lets nobody but Administrators begin what actions of other relations carry on to what a policy compares', async () => {
  const shaped = {
    secrets: { text: 'string', level: 'int64?' },
    levels: { name: 'string' },
    holds: { docId: 'int64?', mineId: 'int64?' },
    docs: { text: 'string' },
    mine: { name: 'string' },
  }
  const own = await world.workspace('policies', shaped, ['holds.doc(docId) -> docs.holds'])
  const acting = (text: string, actions: object) => {
    const { kind, data } = createRelation(new Map(own.ids), text)
    return { kind, data: { ...data, data: { ...(data as { data: object }).data, ...actions } } } as Operation
  }
  expect((await own.migrate(acting('secrets.lv(level) -> levels.secrets', { onUpdate: 'cascade' }))).status).toBe(200)
  const collections = {
    secrets: { read: { filter: { level: { _lt: '2' } } } },
    docs: { read: { filter: { holds: { _none: { id: { _gt: '0' } } } } } },
  }
  const editor = await people.member(own, { entitlements: ['dataModel:edit'], collections })

  const told = []
  for (const operation of [
    acting('levels.m(id) -> mine.levels', { onUpdate: 'cascade' }),
    acting('holds.mine(mineId) -> mine.holds', { onDelete: 'cascade' }),
  ]) {
    const answer = await editor.post('/schema/migrate', { operations: [operation] })
    told.push([answer.status, await answer.json()])
  }

  const refused = (message: string) => [500, { source: { source: { message, code: '3004' } } }]
  expect(told).toMatchObject([
    refused('field secrets.level is compared by a policy, which an action of a relation would change'),
    refused('field docs.holds is compared by a policy, and an action of a relation would delete its items'),
  ])
})

it('lets nobody join, make unique or have an action write what they do not read or write in every item', async () => {
  const shaped = {
    people: { name: 'string', salary: 'int64?', team: 'int64?' },
    mine: { code: 'int64', pay: 'int64?' },
    teams: { lead: 'int64?' },
  }
  const own = await world.workspace('policies', shaped)
  const unique = (name: string, field: string): Operation => {
    const data = { id: randomUUID(), kind: 'unique', fieldIds: [own.ids.get(`${name}.${field}`)] }
    return { kind: 'updateCollection', data: { id: own.ids.get(name), operations: [{ kind: 'createIndex', data }] } }
  }
  const related = (text: string, actions: object = {}) => {
    const { kind, data } = createRelation(new Map(own.ids), text)
    return { kind, data: { ...data, data: { ...(data as { data: object }).data, ...actions } } } as Operation
  }
  const some = { name: { _eq: 'Ada' } }
  const editor = await people.member(own, {
    entitlements: ['dataModel:read', 'dataModel:edit'],
    collections: {
      people: {
        read: { fields: ['id', 'name', 'team'] },
        update: { fields: ['team'], filter: some },
        delete: { filter: some },
      },
      mine: { read: 'all', create: 'all', update: 'all', delete: 'all' },
    },
  })
  await own.migrate(createRelation(own.ids as Map<string, string>, 'teams.owner(lead) -> mine.owned'))
  const acting = (actions: object): Operation => ({
    kind: 'updateRelationFieldPair',
    data: {
      firstFieldId: own.ids.get('teams.owner'),
      secondFieldId: own.ids.get('mine.owned'),
      operations: [{ kind: 'changeReferentialActions', data: actions }],
    },
  })
  const refusals: readonly (readonly [Operation, string])[] = [
    [related('people.sal(salary) -> mine.people'), 'read people.salary'],
    [related('mine.team(pay) -> teams.mine'), 'read teams.id'],
    [unique('people', 'salary'), 'read people.salary'],
    [related('people.boss(team) -> mine.team', { onUpdate: 'cascade' }), 'update people.team'],
    [acting({ onDelete: 'cascade' }), 'delete teams'],
    [acting({ onDelete: 'setNull' }), 'update teams.lead'],
    // No policy names it, yet a key with a scope may reach what the relation leads to.
    [unique('teams', 'lead'), 'read teams.lead'],
  ]

  const told = []
  for (const [operation] of refusals) {
    const answers = [
      await editor.post('/schema/migrate?dryRun=true', { operations: [operation] }),
      await editor.post('/schema/migrate', { operations: [operation] }),
    ]
    for (const answer of answers) told.push([answer.status, await answer.json()])
  }
  const { collections } = (await (await own.get('/schema/model')).json()) as {
    collections: { people: { fields: object } }
  }
  const joined = { sal: { to: 'mine?', by: ['salary'], opposite: 'joined' } }
  const people_ = { ...collections.people, fields: { ...collections.people.fields, ...joined } }
  const planned = await editor.post('/schema/plan', {
    model: { version: 1, collections: { ...collections, people: people_ } },
  })
  const allowed = await editor.post('/schema/migrate', {
    operations: [
      related('people.boss(team) -> mine.team'),
      related('mine.chief(pay) -> people.paid', { onUpdate: 'cascade' }),
      unique('mine', 'code'),
    ],
  })

  expect(told).toMatchObject(
    refusals.flatMap(([, what]) => {
      const refused = [
        500,
        { source: { source: { code: '3004', message: `needs the right to ${what} in every item` } } },
      ]
      return [refused, refused]
    }),
  )
  expect([planned.status, await planned.json()]).toMatchObject([
    422,
    { code: '3004', source: { message: 'model.collections.people.fields.sal' } },
  ])
  expect([allowed.status, await allowed.text()]).toEqual([200, ''])
})

it('lets only Administrators change the type of what a relation of a policy joins by, or compares behind it', async () => {
  const shaped = { authors: { id: 'uuid', name: 'string' }, notes: { text: 'string', bossId: 'uuid?' } }
  const relation = 'notes.boss(bossId) -> authors.notes'
  const own = await world.workspace('policies', shaped, [relation])
  const notes = { read: { filter: { boss: { name: { _eq: 'Ada' } } } } }
  const editor = await people.member(own, { entitlements: ['dataModel:edit'], collections: { notes } })
  const [firstFieldId = '', secondFieldId = ''] = [own.ids.get('notes.boss'), own.ids.get('authors.notes')]
  const made = new Map(own.ids)
  const link = JSON.stringify(createRelation(made, relation))
    .replaceAll(made.get('notes.boss') ?? '', firstFieldId)
    .replaceAll(made.get('authors.notes') ?? '', secondFieldId)
  const text = { name: 'string', params: { length: 'unlimited' } }
  const rejoined = [
    { kind: 'deleteRelationFieldPair', data: { firstFieldId, secondFieldId } },
    retype(own.ids, 'authors.id', text),
    retype(own.ids, 'notes.bossId', text),
    JSON.parse(link) as Operation,
  ]

  const behind = await editor.post('/schema/migrate', {
    operations: [retype(own.ids, 'authors.name', { name: 'uuid' })],
  })
  const joined = await editor.post('/schema/migrate', { operations: rejoined })
  const allowed = await own.migrate(...rejoined)

  const fault = (at: number, name: string) => ({
    message: expect.stringContaining('Failed to execute the migration: '),
    source: {
      message: `operations[${at}]`,
      source: {
        message: `field ${name} is compared by a policy, which another type would change`,
        code: '3004',
      },
    },
  })
  expect([behind.status, await behind.json()]).toEqual([500, fault(0, 'authors.name')])
  expect([joined.status, await joined.json()]).toEqual([500, fault(2, 'notes.boss')])
  expect([allowed.status, await allowed.text()]).toEqual([200, ''])
})

it('never lets a policy and the end of what it names both come true', async () => {
  const own = await world.workspace('policies', { notes: { one: 'string?', two: 'string?', three: 'string?' } })
  const race = async (field: string) => {
    const policy = { name: field, content: { collections: { notes: { read: { fields: [field] } } } } }
    const answers = await Promise.all([
      own.migrate(deleteField(own.ids, 'notes', field)),
      own.post('/policies', policy),
    ])
    return answers.filter(({ ok }) => ok).length
  }

  const successes = [await race('one'), await race('two'), await race('three')]

  expect(successes).toEqual([1, 1, 1])
})

it('lets nobody write a policy beyond their own rights', async () => {
  const editor = await people.member(shop, {
    entitlements: ['workspaceMembers:edit', 'workspaceMembers:read', 'dataModel:read'],
    collections: { articles: { read: { fields: ['title'] } } },
  })
  const write = (wanted: object) => editor.post('/policies', { name: world.name('p'), content: wanted })

  const within = await write({ collections: { articles: { read: { fields: ['title'] } } } })
  const beyond = [
    await write({ entitlements: ['auditLog:read'] }),
    await write({ collections: { articles: { read: 'all' } } }),
    await write({ collections: { articles: { read: { fields: ['title', 'status'] } } } }),
    await write({ collections: { articles: { update: { fields: ['title'] } } } }),
    await write({ collections: { authors: { read: 'all' } } }),
  ]
  const { data } = (await within.json()) as { data: { id: string } }
  const widened = await editor.patch(`/policies/${data.id}`, { content: { entitlements: ['dataModel:edit'] } })

  expect(within.status).toBe(201)
  expect(beyond.map(({ status }) => status)).toEqual([403, 403, 403, 403, 403])
  expect(widened.status).toBe(403)
  expect(await shop.data(`/policies/${data.id}?fields=content`)).toEqual({
    content: { entitlements: [], collections: { articles: { read: { fields: ['title'] } } } },
  })
})

it('tells whoever may not read the model nothing about it', async () => {
  const editor = await people.member(shop, { entitlements: ['workspaceMembers:edit'] })
  const write = async (wanted: object) => {
    const response = await editor.post('/policies', { name: world.name('p'), content: wanted })
    return `${response.status} ${await response.text()}`
  }

  const hidden = await write({ collections: { articles: { read: 'all' } } })
  const answers = [
    await write({ collections: { nothing: { read: 'all' } } }),
    await write({ collections: { articles: { read: { fields: ['title'] } } } }),
    await write({ collections: { articles: { read: { fields: ['nothing'] } } } }),
    await write({ collections: { articles: { read: { filter: { title: { _between: 1 } } } } } }),
    await write({ collections: { articles: { read: { filter: { nothing: { _between: 1 } } } } } }),
  ]
  const misspelt = await write({ entitlement: [] })

  expect(hidden).toMatch(/^403 /)
  expect(new Set(answers)).toEqual(new Set([hidden]))
  expect(misspelt).toMatch(/^422 /)
})

it.each([
  ['GET', '/policies', 'workspaceMembers:read'],
  ['GET', `/policies/${crypto.randomUUID()}`, 'workspaceMembers:read'],
  ['POST', '/policies', 'workspaceMembers:edit'],
  ['PATCH', `/policies/${crypto.randomUUID()}`, 'workspaceMembers:edit'],
  ['DELETE', `/policies/${crypto.randomUUID()}`, 'workspaceMembers:edit'],
])('answers 403 naming the entitlement that %s %s needs', async (method, path, entitlement) => {
  const response = await shop.anonymous.send(method, path, method === 'GET' ? {} : { body: {} })

  expect(response.status).toBe(403)
  expect(await response.json()).toEqual(refusedAnonymous(`Requires the entitlement ${entitlement}`))
})

function deleteRelation(ids: ReadonlyMap<string, string>) {
  const [firstFieldId, secondFieldId] = [ids.get('articles.author'), ids.get('authors.articles')]
  return { kind: 'deleteRelationFieldPair', data: { firstFieldId, secondFieldId } }
}

function deleteCollection(ids: ReadonlyMap<string, string>, name: string) {
  return { kind: 'deleteCollection', data: { id: ids.get(name) } }
}

function deleteField(ids: ReadonlyMap<string, string>, collection: string, name: string) {
  const operations = [{ kind: 'deletePrimitiveField', data: { id: ids.get(`${collection}.${name}`) } }]
  return { kind: 'updateCollection', data: { id: ids.get(collection), operations } }
}

function retype(ids: ReadonlyMap<string, string>, name: string, type: object): Operation {
  const operations = [{ kind: 'changeType', data: { type } }]
  const change = { kind: 'updatePrimitiveField', data: { id: ids.get(name), operations } }
  return { kind: 'updateCollection', data: { id: ids.get(name.split('.')[0] ?? ''), operations: [change] } }
}

it('checks an item after an update also where the request gives it another key elsewhere', async () => {
  const step = { filter: { status: 'paid' }, check: { status: 'shipped' } }
  const policy = (update: object) => ({ articles: { read: 'all', update }, authors: { read: 'all', update: 'all' } })
  const ids = [
    await people.policy(shop, { collections: policy({ fields: ['status', 'author'], ...step }) }),
    await people.policy(shop, { collections: policy({ fields: ['id'] }) }),
  ]
  const member = await people.memberWith(shop, [await people.role(shop, ids)])
  const [author] = await shop.insert('authors', [{ name: 'Grace' }])
  const [article] = await shop.insert('articles', [{ title: 'Order', status: 'paid', authorId: author?.id }])
  const moving = { articles: [{ _update: { filter: { id: article?.id }, data: { id: 4711 } } }] }

  const answer = await member.patch(`/items/articles/${article?.id}`, {
    status: 'closed',
    author: [{ _update: { data: moving } }],
  })

  expect(answer.status).toBe(403)
  expect(await shop.data(`/items/articles/${article?.id}?fields=status`)).toEqual({ status: 'paid' })
})

it('an editor gives what is there no name of the API that something else had', async () => {
  const own = await world.workspace('names', { staff: { nick: 'string?', salary: 'string?', other: 'string?' } })
  const all = { fields: ['id', 'nick', 'other'] }
  const editor = await people.member(own, {
    entitlements: ['dataModel:read', 'dataModel:edit'],
    collections: { staff: { read: all, create: all, update: all } },
  })
  const idOf = (name: string) => own.ids.get(`staff.${name}`)
  const changed = (...operations: readonly object[]) => ({
    kind: 'updateCollection',
    data: { id: own.ids.get('staff'), operations },
  })
  const named = (name: string, apiName: string) => ({
    kind: 'updatePrimitiveField',
    data: { id: idOf(name), operations: [{ kind: 'changeApiName', data: { apiName } }] },
  })
  const gone = { kind: 'deletePrimitiveField', data: { id: idOf('salary') } }
  const migrate = (who: Client, ...operations: readonly object[]) =>
    who.post('/schema/migrate', { operations: [changed(...operations)] })

  const atOnce = await migrate(editor, gone, named('nick', 'salary'))
  expect((await migrate(editor, gone)).status).toBe(200)
  const later = await migrate(editor, named('nick', 'salary'))
  const dry = await editor.post('/schema/migrate?dryRun=true', { operations: [changed(named('nick', 'salary'))] })
  const free = await migrate(editor, named('nick', 'called'))
  const back = await migrate(editor, named('nick', 'nick'))

  for (const refused of [atOnce, later, dry]) {
    expect([refused.status, await refused.text()]).toEqual([500, expect.stringContaining('3004')])
  }
  expect([free, back].map(({ status }) => status)).toEqual([200, 200])
  expect((await migrate(own, named('nick', 'salary'))).status).toBe(200)
})

it('bounds the policies of a workspace together, since whoever holds them loads them all', async () => {
  const own = await world.workspace('policies', shape)
  const texts = { authors: 'name', articles: 'title', notes: 'text' }
  const conditioned = (field: string) => {
    const filter = { [field]: { _neq: 'x'.repeat(65_000) } }
    return {
      read: { filter },
      delete: { filter },
      create: { validation: filter },
      update: { filter, validation: filter },
    }
  }
  const of = Object.entries(texts).map(([collection, field]) => [collection, conditioned(field)])
  const large = { collections: Object.fromEntries(of) }
  const made = (name: string, content: object) => own.post('/policies', { name, content })
  const statuses: number[] = []
  for (let index = 0; statuses.at(-1) !== 422 && index < 20; index += 1) {
    statuses.push((await made(`large ${index}`, large)).status)
  }
  const small = (await (await made('small', { collections: {} })).json()) as { data: { id: string } }
  const grown = await own.patch(`/policies/${small.data.id}`, { content: large })

  expect(statuses.length).toBeGreaterThan(3)
  expect(statuses.slice(0, -1).every((status) => status === 201)).toBe(true)
  expect(statuses.at(-1)).toBe(422)
  expect([grown.status, messagesOf(await grown.json())]).toEqual([
    422,
    ['The policies of a workspace may have at most 4194304 bytes together'],
  ])
})
