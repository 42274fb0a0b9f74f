/** docs/contract.md#migrations: one body of operations changes the model and the tables, or nothing. */
import { randomUUID } from 'node:crypto'
import { beforeAll, expect, it } from 'vitest'
import { messagesOf } from '../support/service/messages.ts'
import { createCollection, createRelation, type Operation, type Workspace, world } from '../support/service/world.ts'

let shop: Workspace
let names = 0

beforeAll(async () => {
  shop = await world.workspace('shop', { orders: { number: 'int32' }, customers: { name: 'string?' } })
})

it('creates a collection with fields and an index and answers 200 with an empty body', async () => {
  const { name, operation } = collection({ title: 'string', price: 'decimal(10,2)?', tags: 'string[]?' })
  withIndex(operation, 'unique', [`${name}.title`])

  const response = await shop.migrate(operation)
  await shop.insert(name, [{ title: 'Lamp', price: '9.95', tags: ['new'] }])
  const again = await shop.post(`/items/${name}`, [{ title: 'Lamp' }])

  expect(response.status).toBe(200)
  expect(await response.text()).toBe('')
  expect(await shop.data(`/items/${name}`)).toEqual([{ id: '1', title: 'Lamp', price: '9.95', tags: ['new'] }])
  expect(again.status).toBe(422)
})

it('shows what was made in the system collections', async () => {
  const { name, operation } = collection({ title: 'string?' })

  await shop.migrate(operation)

  const fields = 'apiName,isNullable,type,collection.apiName'
  const filter = `filter[collection][apiName][_eq]=${name}&sort[0][apiName][direction]=asc`
  expect(await shop.data(`/items/ServicePrimitiveField?fields=${fields}&${filter}`)).toEqual([
    { apiName: 'id', isNullable: false, type: { name: 'int64' }, collection: { apiName: name } },
    {
      apiName: 'title',
      isNullable: true,
      type: { name: 'string', params: { length: 'unlimited' } },
      collection: { apiName: name },
    },
  ])
})

it('runs operations in the order sent, so that a relation may follow the collections that it joins', async () => {
  const [posts, authors] = [collection({ authorId: 'int64?' }), collection({ name: 'string' })]
  const relation = createRelation(
    shop.ids as Map<string, string>,
    `${posts.name}.author(authorId) -> ${authors.name}.posts`,
  )

  const response = await shop.migrate(posts.operation, authors.operation, relation)
  await shop.insert(authors.name, [{ name: 'Ada' }])
  await shop.insert(posts.name, [{ authorId: '1' }])
  const orphan = await shop.post(`/items/${posts.name}`, [{ authorId: '77' }])

  expect(response.status).toBe(200)
  expect(await shop.data(`/items/${posts.name}?fields=id,author.name`)).toEqual([{ id: '1', author: { name: 'Ada' } }])
  expect(orphan.status).toBe(422)
})

it('adds, changes and deletes fields of a collection that has items', async () => {
  const { name, id, operation } = collection({ title: 'string?', obsolete: 'boolean?' })
  await shop.migrate(operation)
  await shop.insert(name, [{ title: 'Lamp', obsolete: true }])
  const added = { id: randomUUID(), dbName: 'stock', apiName: 'stock', type: { name: 'int32' }, isList: false }

  const response = await shop.migrate(
    update(
      id,
      { kind: 'createPrimitiveField', data: { ...added, isNullable: true, defaultValue: null } },
      {
        kind: 'updatePrimitiveField',
        data: {
          id: shop.ids.get(`${name}.title`),
          operations: [
            { kind: 'changeIsNullable', data: { isNullable: false } },
            { kind: 'changeApiName', data: { apiName: 'label' } },
          ],
        },
      },
      { kind: 'deletePrimitiveField', data: { id: shop.ids.get(`${name}.obsolete`) } },
    ),
  )

  expect(response.status).toBe(200)
  expect(await shop.data(`/items/${name}`)).toEqual([{ id: '1', label: 'Lamp', stock: null }])
})

it.each([
  ['a field', 'title', 'title', 'the field title'],
  ['a field, in another case', 'title', 'TITLE', 'the field title'],
])('gives %s no name of the database that another one gives up', async (_, old, name, what) => {
  const { name: notes, operation } = collection({ title: 'string', secret: 'string' })
  await shop.migrate(operation)
  await shop.insert(notes, [{ title: 'Lamp', secret: 'hush' }])
  const id = (path: string) => shop.ids.get(path)
  const renamed = (field: string, dbName: string) => ({
    kind: 'updatePrimitiveField',
    data: { id: id(`${notes}.${field}`), operations: [{ kind: 'changeDbName', data: { dbName } }] },
  })
  const update = (...operations: object[]) => ({ kind: 'updateCollection', data: { id: id(notes), operations } })
  const made = {
    kind: 'createPrimitiveField',
    data: { id: randomUUID(), dbName: name, apiName: 'more', type: { name: 'int32' }, isNullable: true, isList: false },
  }
  const dropped = { kind: 'deletePrimitiveField', data: { id: id(`${notes}.${old}`) } }

  const answers = [
    await shop.migrate(update(renamed(old, 'other'), renamed('secret', name))),
    await shop.migrate(update(renamed(old, 'other')), update(renamed('secret', name))),
    await shop.migrate(update(renamed(old, 'other')), update(made)),
    await shop.migrate(update(dropped), update(renamed('secret', name))),
    await shop.post('/schema/migrate?dryRun=true', {
      operations: [update(renamed(old, 'other'), renamed('secret', name))],
    }),
  ]
  const rows = await shop.data(`/items/${notes}?fields=title,secret`)
  const again = await shop.migrate(update(dropped, made))

  const refused = (at: number, how: string) => [
    422,
    {
      message: expect.stringContaining('Failed to execute the migration: '),
      source: {
        message: `operations[${at}]`,
        source: { message: `'${name}' is given up by ${what} in this migration; ${how} it in a later one` },
      },
    },
  ]
  expect(await Promise.all(answers.map(async (answer) => [answer.status, await answer.json()]))).toEqual([
    refused(0, 'rename'),
    refused(1, 'rename'),
    refused(1, 'create'),
    refused(1, 'rename'),
    refused(0, 'rename'),
  ])
  expect(rows).toEqual([{ title: 'Lamp', secret: 'hush' }])
  expect(again.status).toBe(200)
})

it('gives a collection no name of the database that another one gives up', async () => {
  const [pub, vault] = [collection({ text: 'string' }), collection({ text: 'string' })]
  await shop.migrate(pub.operation, vault.operation)
  const rename = (name: string, dbName: string) => ({
    kind: 'updateCollection',
    data: { id: shop.ids.get(name), operations: [{ kind: 'changeDbName', data: { dbName } }] },
  })

  const refused = await shop.migrate(rename(pub.name, `${pub.name}x`), rename(vault.name, pub.name))
  const dropped = await shop.migrate(
    { kind: 'deleteCollection', data: { id: shop.ids.get(pub.name) } },
    rename(vault.name, pub.name),
  )
  const first = await shop.migrate(rename(pub.name, `${pub.name}x`))
  const second = await shop.migrate(rename(vault.name, pub.name))
  const [log = []] = [
    (await shop.data(
      '/audit-log?fields=time&limit=2&sort[0][time][direction]=desc&filter[action][_eq]=schema.migrate.v1',
    )) as {
      time: string
    }[],
  ]
  const [later, earlier] = log.map(({ time }) => Date.parse(time))

  const fault = `'${pub.name}' is given up by the collection ${pub.name} in this migration; rename it in a later one`
  for (const answer of [refused, dropped]) {
    expect([answer.status, await answer.json()]).toEqual([
      422,
      {
        message: expect.stringContaining('Failed to execute the migration: '),
        source: { message: 'operations[1]', source: { message: fault } },
      },
    ])
  }
  expect([first.status, second.status]).toEqual([200, 200])
  // Other processes may mean the first by that name for two seconds.
  expect((later ?? 0) - (earlier ?? 0)).toBeGreaterThan(1_900)
})

it('swaps the names that two collections have in the API', async () => {
  const [one, other] = [collection({ text: 'string' }), collection({ text: 'string' })]
  await shop.migrate(one.operation, other.operation)
  await shop.insert(one.name, [{ text: 'of one' }])
  const named = (name: string, apiName: string) => ({
    kind: 'updateCollection',
    data: { id: shop.ids.get(name), operations: [{ kind: 'changeApiName', data: { apiName } }] },
  })

  const swapped = await shop.migrate(
    named(one.name, `${one.name}x`),
    named(other.name, one.name),
    named(one.name, other.name),
  )

  expect(swapped.status).toBe(200)
  expect(await shop.data(`/items/${other.name}?fields=text`)).toEqual([{ text: 'of one' }])
  expect(await shop.data(`/items/${one.name}?fields=text`)).toEqual([])
})

it('deletes a collection with its items', async () => {
  const { name, id, operation } = collection({ title: 'string' })
  await shop.migrate(operation)

  const response = await shop.migrate({ kind: 'deleteCollection', data: { id } })
  const items = await shop.get(`/items/${name}`)

  expect(response.status).toBe(200)
  expect(items.status).toBe(404)
})

it('takes turns with other migrations of the workspace', async () => {
  const made = Array.from({ length: 5 }, () => collection({ title: 'string' }))

  const responses = await Promise.all(made.map(({ operation }) => shop.migrate(operation)))
  const items = await Promise.all(made.map(({ name }) => shop.get(`/items/${name}`)))

  expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
  expect(items.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
})

it('is for whoever may edit the data model: 403 for anonymous callers, whatever the body', async () => {
  const valid = await shop.anonymous.post('/schema/migrate', { operations: [] })
  const invalid = await shop.anonymous.send('POST', '/schema/migrate', { body: 'nonsense' })

  expect([valid.status, invalid.status]).toEqual([403, 403])
})

it.each([
  ['text that is not JSON', '{', ['is not JSON: line 1, column 2']],
  ['no operations', {}, ['operations', 'is required']],
  [
    'an unknown member beside them',
    { operations: [], force: true },
    ['unknown field force; allowed: operations, plan'],
  ],
  ['an operation that is none', { operations: [1] }, ['operations[0]', 'must be an object']],
  ['an unknown kind', { operations: [{ kind: 'dropEverything', data: {} }] }, ['operations[0]', 'kind']],
  ['an empty name', bodyWith({ dbName: '' }), ['operations[0]', 'data.dbName', 'must not be empty']],
  [
    'an API name against the rule',
    bodyWith({ apiName: '1st' }),
    ['operations[0]', 'data.apiName', 'must start with a letter and contain only letters, digits and underscores'],
  ],
  [
    'an unknown member',
    bodyWith({ comment: 'x' }),
    [
      'operations[0]',
      'data',
      'unknown field comment; allowed: id, sourceId, namespaceId, dbName, apiName, hasHistory, operations',
    ],
  ],
  ['an id that is none', bodyWith({ id: 'x' }), ['operations[0]', 'data.id', 'must be a UUID']],
])('answers 422 for %s, nesting place and reason', async (_, body, messages) => {
  const response = await shop.post('/schema/migrate', body)

  expect(response.status).toBe(422)
  expect(messagesOf(await response.json())).toEqual(
    expect.arrayContaining(['Failed to read the JSON body', ...(messages as string[])]),
  )
})

it('finds a fault in the last operation before the first one runs', async () => {
  const { name, operation } = collection({ title: 'string' })

  const response = await shop.migrate(operation, { kind: 'deleteCollection', data: {} })
  const items = await shop.get(`/items/${name}`)

  expect(response.status).toBe(422)
  expect(items.status).toBe(404)
})

it.each([
  ['a collection that does not exist', () => ({ kind: 'deleteCollection', data: { id: randomUUID() } })],
  ['a name that is taken', () => createCollection(new Map(), shop.sourceId, 'orders', {})],
  ['an id that is taken', () => collection({}, { id: shop.ids.get('orders') }).operation],
  ['a source that does not exist', () => collection({}, { sourceId: randomUUID() }).operation],
  ['a type that the source lacks', () => collection({ big: 'uint64' }).operation],
  ['a default that does not fit its type', () => withDefault(collection({ count: 'int32' }), 'many')],
])('answers 500 for %s, naming the operation, and changes nothing', async (_, faulty) => {
  const before = collection({ title: 'string' })

  const response = await shop.migrate(before.operation, faulty())
  const items = await shop.get(`/items/${before.name}`)

  expect(response.status).toBe(500)
  expect(messagesOf(await response.json())).toEqual([
    'Failed to execute the migration',
    'operations[1]',
    expect.stringMatching(/./),
  ])
  expect(items.status).toBe(404)
})

it('answers 500 for nulls where they are to be forbidden, and changes nothing', async () => {
  await shop.insert('customers', [{ name: null }])
  const before = collection({ title: 'string' })
  const change = { kind: 'changeIsNullable', data: { isNullable: false } }

  const response = await shop.migrate(
    before.operation,
    update(shop.ids.get('customers') ?? '', {
      kind: 'updatePrimitiveField',
      data: { id: shop.ids.get('customers.name'), operations: [change] },
    }),
  )
  const items = await shop.get(`/items/${before.name}`)
  const another = await shop.post('/items/customers', [{ name: null }])

  expect(response.status).toBe(500)
  expect(messagesOf(await response.json())).toEqual(
    expect.arrayContaining(['Failed to execute the migration', 'Null constraint failed']),
  )
  expect(items.status).toBe(404)
  expect(another.status).toBe(200)
})

it('answers 413 for a body over the limit', async () => {
  for (const step of ['migrate', 'plan', 'apply']) {
    const response = await shop.send('POST', `/schema/${step}`, { body: `"${'x'.repeat(1024 * 1024)}"` })

    expect(response.status).toBe(413)
    expect(await response.json()).toEqual({
      message: 'The body is larger than 1048576 bytes, which SERVICE_SCHEMA__BODY_LIMIT sets',
    })
  }
})

it('bounds the defaults of a model together, since every process holds all of it', async () => {
  const own = await world.workspace('migrations', {})
  const answers: Response[] = []
  for (let index = 0; answers.at(-1)?.status !== 422 && index < 20; index += 1) {
    const { kind, data } = createCollection(new Map(), own.sourceId, `large${index}`, { text: 'string' })
    const made = { name: '', id: '', operation: { kind, data } }
    answers.push(await own.migrate(withDefault(made, 'x'.repeat(1_000_000))))
  }
  const statuses = answers.map(({ status }) => status)

  expect(statuses).toEqual([...new Array(8).fill(200), 422])
  expect(messagesOf(await answers.at(-1)?.json()).at(-1)).toBe(
    'A model may have defaults, rules of the database and values of enums of at most 8388608 characters together',
  )
  expect((await own.migrate(createCollection(new Map(), own.sourceId, 'small', { text: 'string' }))).status).toBe(200)
})

type Made = { readonly name: string; readonly id: string; readonly operation: Operation }

/** A collection of its own name in the workspace; `other` replaces members of the operation. */
function collection(fields: Readonly<Record<string, string>>, other: object = {}): Made {
  names += 1
  const name = `things${names}`
  const { kind, data } = createCollection(shop.ids as Map<string, string>, shop.sourceId, name, fields)
  return { name, id: shop.ids.get(name) ?? '', operation: { kind, data: { ...data, ...other } } }
}

function withIndex({ data }: Operation, kind: string, fields: readonly string[]): void {
  const { operations } = data as { operations: object[] }
  const fieldIds = fields.map((field) => shop.ids.get(field))
  operations.push({ kind: 'createIndex', data: { id: randomUUID(), kind, fieldIds } })
}

/** The last field that was described gets a default. */
function withDefault({ operation }: Made, valueEncoded: unknown): Operation {
  const { operations } = operation.data as { operations: { kind: string; data: { defaultValue: unknown } }[] }
  const field = operations.findLast(({ kind }) => kind === 'createPrimitiveField')
  if (field) field.data.defaultValue = { source: 'engineManaged', onCreate: { kind: 'static', valueEncoded } }
  return operation
}

function update(id: string, ...operations: readonly object[]): Operation {
  return { kind: 'updateCollection', data: { id, operations } }
}

function bodyWith(member: object): object {
  const id = randomUUID()
  const data = { id, sourceId: id, namespaceId: null, dbName: 'things', apiName: 'things', operations: [], ...member }
  return { operations: [{ kind: 'createCollection', data }] }
}
