/** docs/contract.md#mcp: MCP over streamable HTTP, with the official client. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { refusedAnonymous } from '../support/service/messages.ts'
import { type Content, people } from '../support/service/people.ts'
import { createCollection, type Workspace, world } from '../support/service/world.ts'

let shop: Workspace
const opened: Client[] = []

beforeAll(async () => {
  shop = await world.workspace(
    'mcp',
    {
      authors: { name: 'string' },
      articles: { title: 'string', price: 'decimal(10,2)?', authorId: 'int64?', info: 'json?' },
      secrets: { text: 'string' },
    },
    ['articles.author(authorId) -> authors.articles'],
  )
  await shop.insert('authors', [{ name: 'Ada' }, { name: 'Grace' }])
  await shop.insert('articles', [
    { title: 'Lamp', price: '9.50', authorId: '1' },
    { title: 'Chair', price: '100.00', authorId: '2' },
  ])
})
afterAll(async () => {
  for (const client of opened) await client.close()
})

it('lists thirteen tools to whoever may do everything, with input and output schemas and what they do to data', async () => {
  const { tools } = await (await connect(world.administrator.token)).listTools()

  expect(tools.map(({ name, annotations }) => [name, annotations?.readOnlyHint, annotations?.destructiveHint])).toEqual(
    [
      ['list_items', true, false],
      ['aggregate_items', true, false],
      ['create_items', false, false],
      ['update_item', false, true],
      ['delete_item', false, true],
      ['batch_items', false, true],
      ['link_file', true, false],
      ['read_schema', true, false],
      ['read_data_sources', true, false],
      ['mutate_schema', false, true],
      ['read_model', true, false],
      ['plan_model', true, false],
      ['apply_model', false, true],
    ],
  )
  expect(tools.map(({ inputSchema, outputSchema }) => [inputSchema.type, outputSchema?.type])).toEqual(
    Array(13).fill(['object', 'object']),
  )
})

it('lists the tools that this caller can use, and no others', async () => {
  const named = async (content: Content, name = shop) => {
    const { token } = await people.member(name, {
      ...content,
      entitlements: [...(content.entitlements ?? []), 'ai:mcp'],
    })
    return (await (await connect(token)).listTools()).tools.map((tool) => tool.name)
  }

  expect(await named({})).toEqual(['read_schema'])
  expect(await named(onlyArticles)).toEqual(['list_items', 'aggregate_items', 'batch_items', 'read_schema'])
  expect(await named({ collections: { articles: { create: 'all', delete: 'all' } } })).toEqual([
    'create_items',
    'delete_item',
    'batch_items',
    'read_schema',
  ])
  expect(await named({ entitlements: ['dataModel:read', 'dataSource:read', 'dataModel:edit'] })).toEqual([
    'list_items',
    'aggregate_items',
    'batch_items',
    'read_schema',
    'read_data_sources',
    'mutate_schema',
    'read_model',
    'plan_model',
    'apply_model',
  ])
})

it('lends the files that its caller may read', async () => {
  const [own, other] = await Promise.all(
    ['own.txt', 'other.txt'].map(async (name) => {
      const response = await shop.send('POST', `/assets?fileName=${name}`, { raw: name })
      return ((await response.json()) as { data: { id: string } }).data.id
    }),
  )
  const read = { filter: { fileName: { _eq: 'own.txt' } } }
  const { token } = await people.member(shop, { entitlements: ['ai:mcp'], collections: { ServiceFile: { read } } })
  const client = await connect(token)
  const linked = (id: string | undefined) => client.callTool({ name: 'link_file', arguments: { id, expiresIn: '1m' } })

  const { structuredContent } = await linked(own)
  const { data } = structuredContent as { data: { url: string } }

  expect(await (await fetch(data.url)).text()).toBe('own.txt')
  expect(await linked(other)).toMatchObject({ isError: true })
  expect(await client.callTool({ name: 'link_file', arguments: { id: own, expiresIn: '2h' } })).toMatchObject({
    isError: true,
    structuredContent: { error: { source: { message: 'expiresIn' } } },
  })
})

it('runs operations of batch_items as POST of all items does', async () => {
  const client = await connect(world.administrator.token)
  const operations = [
    { kind: 'create', collection: 'authors', as: 'cy', data: [{ name: 'Cy' }], fields: ['name'] },
    { kind: 'update', collection: 'authors', key: { $ref: 'cy[0].id' }, data: { name: 'Cyd' }, fields: ['name'] },
    { kind: 'delete', collection: 'authors', key: { $ref: 'cy[0].id' } },
    { kind: 'read', collection: 'authors', filter: { name: { _eq: 'Cyd' } }, meta: 'totalCount' },
  ]

  const run = await client.callTool({ name: 'batch_items', arguments: { operations } })
  const failing = await client.callTool({
    name: 'batch_items',
    arguments: { operations: [...operations, { kind: 'read', collection: 'authors', key: 404 }] },
  })
  const refused = await client.callTool({ name: 'batch_items', arguments: { operations: [{ kind: 'merge' }] } })

  expect(run.structuredContent).toEqual({
    data: [[{ name: 'Cy' }], { name: 'Cyd' }, null, []],
    meta: [null, null, null, { totalCount: 0 }],
  })
  expect(failing).toMatchObject({ isError: true, structuredContent: { error: { meta: { operation: 4 } } } })
  expect(JSON.stringify(refused)).toContain('operations[0].kind')
})

it('names collections in read_schema without their fields where those are thousands', async () => {
  const fields = Object.fromEntries(Array.from({ length: 1_001 }, (_, at) => [`field${at}`, 'boolean?']))
  const wide = await world.workspace('mcp', { one: fields, two: fields })
  const client = await connect(world.administrator.token, wide)

  const list = (await call(client, 'read_schema', {})) as { collections: { apiName: string; fields?: unknown }[] }

  expect(list.collections.map((one) => [one.apiName, one.fields])).toEqual([
    ['one', undefined],
    ['two', undefined],
  ])
  expect(await call(client, 'read_schema', { collection: 'two' })).toMatchObject({ collections: [{ apiName: 'two' }] })
})

it('shows in read_schema exactly what this caller may see, with ai:mcp alone', async () => {
  const seen = async (content: Content, asked = {}) => {
    const { token } = await people.member(shop, { ...content, entitlements: ['ai:mcp'] })
    const client = await connect(token)
    const all = await call(client, 'read_schema', {})
    const hidden = await client.callTool({ name: 'read_schema', arguments: { collection: 'secrets' } })
    const missing = await client.callTool({ name: 'read_schema', arguments: { collection: 'nothing' } })
    expect(JSON.stringify(hidden)).toBe(JSON.stringify(missing))
    expect(hidden.isError).toBe(true)
    return { all, one: await client.callTool({ name: 'read_schema', arguments: asked }) }
  }

  const none = await seen({})
  const narrow = await seen(
    {
      collections: {
        articles: { read: { fields: ['title', 'author'] }, update: { fields: ['title'] } },
      },
    },
    { collection: 'articles' },
  )
  const wide = await seen({
    collections: { articles: { read: { fields: ['title', 'author'] } }, authors: { read: { fields: ['name'] } } },
  })

  expect(none.all).toEqual({ collections: [] })
  const articles = {
    apiName: 'articles',
    key: null,
    actions: ['read', 'update'],
    fields: [{ apiName: 'title', type: expect.objectContaining({ name: 'string' }), isNullable: false }],
    relations: [],
  }
  expect(narrow.all).toEqual({ collections: [articles] })
  expect(narrow.one.structuredContent).toEqual({ data: { collections: [articles] } })
  expect(wide.all).toEqual({
    collections: [
      {
        ...articles,
        actions: ['read'],
        relations: [{ apiName: 'author', collection: 'authors', isList: false, isNullable: true }],
      },
      {
        apiName: 'authors',
        key: null,
        actions: ['read'],
        fields: [{ apiName: 'name', type: expect.objectContaining({ name: 'string' }), isNullable: false }],
        relations: [],
      },
    ].reverse(),
  })
})

it('tells the reader of a model what of it they may do', async () => {
  const { token } = await people.member(shop, { ...onlyArticles, entitlements: ['ai:mcp', 'dataModel:read'] })

  const schema = await call(await connect(token), 'read_schema', {})

  expect(schema).toMatchObject({
    collections: [
      { apiName: 'authors', actions: [] },
      {
        apiName: 'articles',
        actions: ['read'],
        fields: [{ apiName: 'id', actions: [] }, { apiName: 'title' }, { apiName: 'price', actions: [] }, {}, {}],
        relations: [{ apiName: 'author', actions: [] }],
      },
      { apiName: 'secrets', actions: [] },
    ],
  })
})

it('counts all that match where it is asked for the total', async () => {
  const client = await connect(world.administrator.token)

  const listed = await client.callTool({
    name: 'list_items',
    arguments: { collection: 'authors', fields: 'name', filter: { name: 'Grace' }, limit: 1, meta: 'totalCount' },
  })

  const answer = { data: [{ name: 'Grace' }], meta: { totalCount: 1 } }
  expect(listed.structuredContent).toEqual(answer)
  expect(JSON.parse(textOf(listed))).toEqual(answer)
})

it('explains nested writes where it takes them', async () => {
  const { tools } = await (await connect(world.administrator.token)).listTools()
  const told = (name: string) => JSON.stringify(tools.find((tool) => tool.name === name)?.inputSchema)

  for (const word of ['_connect', '_create']) expect(told('create_items')).toContain(word)
  for (const word of ['_connect', '_create', '_update', '_disconnect', '_delete']) {
    expect(told('update_item')).toContain(word)
  }
  expect(JSON.stringify(tools).length).toBeLessThan(40_000)
})

it('takes JSON that is given as a text for what it is', async () => {
  const client = await connect(world.administrator.token)

  const listed = await call(client, 'list_items', {
    collection: 'articles',
    fields: '["title","author.name"]',
    filter: '{"title":{"_eq":"Lamp"}}',
    sort: '[{"title":{"direction":"asc"}}]',
    deep: '{}',
  })
  const changed = await call(client, 'update_item', {
    collection: 'articles',
    key: 1,
    data: '{"price":"9.50"}',
    fields: 'price',
  })

  expect(listed).toEqual([{ title: 'Lamp', author: { name: 'Ada' } }])
  expect(changed).toEqual({ price: '9.50' })
})

it.each([
  ['fields of a wrong type', 'list_items', { fields: 5 }, 'fields > must be a list of texts'],
  ['fields with a wrong member', 'list_items', { fields: ['title', 5] }, 'fields[1] > must be a text'],
  ['a filter that is a list', 'list_items', { filter: [] }, 'filter > must be an object'],
  ['a filter that is no JSON', 'list_items', { filter: '{"title"' }, 'filter > is not JSON: line 1, column 9'],
  [
    'data that breaks off',
    'create_items',
    { data: '[\n  {"title": "x",}\n]' },
    'data > is not JSON: line 2, column 17',
  ],
  ['fields that break off', 'list_items', { fields: '["title", ' }, 'fields > is not JSON: line 1, column 11'],
  ['a filter that is a text', 'list_items', { filter: 'title' }, 'filter > must be an object; the text is not JSON'],
  ['a limit that is a text', 'list_items', { limit: '5' }, 'limit > must be an integer'],
  ['a sort that is an object', 'list_items', { sort: { title: 'asc' } }, 'sort > must be a list of objects'],
  ['another meta', 'list_items', { meta: 'count' }, 'meta > must be totalCount or cursor or totalCount,cursor'],
  ['data that is one object', 'create_items', { data: { title: 'x' } }, 'data > must be a list of objects'],
  ['data with a wrong member', 'create_items', { data: [1] }, 'data[0] > must be an object'],
  ['a key of a wrong type', 'delete_item', { key: true }, 'key > must be a text, a number or an object'],
  ['no key', 'delete_item', {}, 'key > must be given'],
  [
    'a name that is nearly right',
    'list_items',
    { fitler: {} },
    'arguments > unknown field fitler; did you mean filter?',
  ],
])('names the argument and what would be right: %s', async (_what, name, more, told) => {
  const client = await connect(world.administrator.token)

  const answer = await client.callTool({ name, arguments: { collection: 'articles', ...more } })

  expect(answer.isError).toBe(true)
  expect(textOf(answer)).toContain(`Failed to read the arguments > ${told}`)
})

it.each([
  ['at the top', '{"collection":"authors","__proto__":{}}'],
  ['in a filter', '{"collection":"authors","filter":{"name":{"_eq":"Ada"},"__proto__":{"a":1}}}'],
  ['deep in a filter', '{"collection":"authors","filter":{"_and":[{"name":{"__proto__":1}}]}}'],
  ['in a filter given as a text', '{"collection":"authors","filter":"{\\"__proto__\\":{}}"}'],
  ['in a sort', '{"collection":"authors","sort":[{"__proto__":{}}]}'],
])('refuses a member __proto__ %s', async (_where, args) => {
  const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_items","arguments":${args}}}`

  const response = await post(world.administrator.token, body)
  const text = await response.text()

  expect(text).toMatch(/__proto__/)
  expect(response.status === 422 || JSON.parse(text).result.isError === true).toBe(true)
})

it('keeps the digits of numbers that JavaScript would round', async () => {
  const run = async (name: string, args: string) => {
    const body = `{"jsonrpc":"2.0","id":1.0,"method":"tools/call","params":{"name":"${name}","arguments":${args}}}`
    return (await post(world.administrator.token, body)).text()
  }
  const item = '{"title":"Exact","price":12345678.10,"info":{"m":[1.50],"n":750727362669608961}}'
  const operation = `{"kind":"create","collection":"articles","data":[${item}],"fields":["info"]}`
  const stored = '{"m":[1.50],"n":750727362669608961}'

  const created = await run('create_items', `{"collection":"articles","data":[${item}],"fields":["info","price"]}`)
  const batch = await run('batch_items', `{"operations":${JSON.stringify(`[${operation}]`)}}`)
  const listed = await run(
    'list_items',
    '{"collection":"articles","fields":["info"],"limit":1.0,"filter":{"info":{"_eq":{"n":750727362669608961,"m":[1.5]}}}}',
  )
  const [one] = await shop.insert('authors', [{ id: '9007199254740992', name: 'Near' }])
  const missed = await run('delete_item', '{"collection":"authors","key":9007199254740993}')
  const missedByName = await run(
    'update_item',
    '{"collection":"authors","key":{"id":9007199254740993},"data":{"name":"x"}}',
  )
  const near = await shop.data(`/items/authors/${one?.id}?fields=name`)
  await shop.delete(`/items/authors/${one?.id}`)
  await shop.delete('/items/articles?filter[title][_eq]=Exact')

  expect(created.replaceAll(/\s/g, '')).toContain(
    `"structuredContent":{"data":[{"info":${stored},"price":"12345678.10"}]}`,
  )
  expect([missed, missedByName].map((answer) => answer.includes('No record found'))).toEqual([true, true])
  expect(near).toEqual({ name: 'Near' })
  expect(batch.replaceAll(/\s/g, '')).toContain(`"structuredContent":{"data":[[{"info":${stored}}]]}`)
  expect(listed.replaceAll(/\s/g, '')).toContain(`"structuredContent":{"data":[{"info":${stored}}]}`)
})

it('calls every tool', async () => {
  const client = await connect(world.administrator.token)
  const operation = createCollection(new Map(), shop.sourceId, world.name('Made'), { name: 'string' })

  const schema = await call(client, 'read_schema', { collection: 'articles' })
  const sources = await call(client, 'read_data_sources', {})
  const created = await call(client, 'create_items', {
    collection: 'articles',
    data: [{ title: 'Desk', author: { _create: { data: { name: 'Alan' } } } }],
    fields: ['id', 'title', 'author.name'],
  })
  const [{ id = '' } = {}] = created as { id?: string }[]
  const updated = await call(client, 'update_item', {
    collection: 'articles',
    key: id,
    data: { price: '5.00' },
    fields: 'price',
  })
  const listed = await call(client, 'list_items', {
    collection: 'articles',
    filter: { id: { _eq: id } },
    fields: 'title,price',
  })
  const deleted = await call(client, 'delete_item', { collection: 'articles', key: id })
  const preview = await call(client, 'mutate_schema', { operations: [operation], dryRun: true })
  const { plan } = preview as { plan: string }
  const migrated = await call(client, 'mutate_schema', { operations: [operation], plan })
  const late = await client.callTool({ name: 'mutate_schema', arguments: { operations: [], plan } })
  const wrong = await client.callTool({ name: 'mutate_schema', arguments: { operations: [], plan: 5 } })

  expect(schema).toMatchObject({ collections: [{ apiName: 'articles', key: 'id', fields: expect.any(Array) }] })
  expect(sources).toMatchObject({ sources: [{ id: shop.sourceId, apiName: '_system' }] })
  expect(created).toMatchObject([{ title: 'Desk', author: { name: 'Alan' } }])
  expect(updated).toEqual({ price: '5.00' })
  expect(listed).toEqual([{ title: 'Desk', price: '5.00' }])
  expect(deleted).toEqual({ deleted: true })
  expect(preview).toMatchObject({ applied: false, statements: expect.any(Array) })
  expect(migrated).toEqual({ applied: true })
  expect(late).toMatchObject({ isError: true, structuredContent: { error: { code: '4094' } } })
  expect(wrong).toMatchObject({ isError: true, structuredContent: { error: { source: { message: 'plan' } } } })
})

it('takes the model from a file, and drops data only where that is allowed', async () => {
  const own = await world.workspace('agent', { notes: { text: 'string', old: 'string?' } })
  const client = await connect(world.administrator.token, own)
  type File = { collections: { notes: { fields: Record<string, unknown> } } }
  const model = (await call(client, 'read_model', {})) as File
  const { old: _, ...fields } = model.collections.notes.fields
  const next = {
    ...model,
    collections: { notes: { ...model.collections.notes, fields: { ...fields, more: 'int32?' } } },
  }

  const { plan } = (await call(client, 'plan_model', { model: next })) as { plan: string }
  const refused = await client.callTool({ name: 'apply_model', arguments: { model: next, plan } })
  const applied = await call(client, 'apply_model', { model: JSON.stringify(next), plan, allow: ['drop'] })
  const drop = { operations: [{ kind: 'deleteCollection', data: { id: own.ids.get('notes') } }] }
  const kept = await client.callTool({ name: 'mutate_schema', arguments: drop })
  const dropped = await call(client, 'mutate_schema', { ...drop, allow: ['drop'] })

  expect(refused).toMatchObject({ isError: true, structuredContent: { error: { code: '4222' } } })
  expect(applied).toMatchObject({
    changes: expect.arrayContaining([expect.objectContaining({ path: 'notes.more' })]),
  })
  expect(kept).toMatchObject({
    isError: true,
    structuredContent: {
      error: {
        source: {
          message: 'operations[0]',
          source: { message: 'deleteCollection deletes data: allow must be ["drop"]' },
        },
      },
    },
  })
  expect(dropped).toEqual({ applied: true })
})

it('changes and deletes an item as it was read, and not once it is another', async () => {
  const client = await connect(world.administrator.token)
  const [made] = await shop.insert('articles', [{ title: 'Shelf' }])
  const target = { collection: 'articles', key: made?.id }
  const change = { ...target, data: { price: '5.00' }, fields: '_etag' }
  const [{ _etag: read } = {}] = (await call(client, 'list_items', {
    collection: 'articles',
    filter: { id: { _eq: made?.id } },
    fields: '_etag',
  })) as { _etag?: string }[]

  const { _etag: renewed } = (await call(client, 'update_item', { ...change, ifMatch: read })) as { _etag: string }
  const late = await client.callTool({ name: 'update_item', arguments: { ...change, ifMatch: read } })
  const lateToo = await client.callTool({ name: 'delete_item', arguments: { ...target, ifMatch: [read] } })
  const deleted = await call(client, 'delete_item', { ...target, ifMatch: [read, renewed] })

  expect([late, lateToo]).toEqual([
    expect.objectContaining({ isError: true }),
    expect.objectContaining({ isError: true }),
  ])
  expect(JSON.stringify(late)).toContain('The item has changed since it was read')
  expect(deleted).toEqual({ deleted: true })
})

it('writes once under a key, and tells whose answer an earlier call got', async () => {
  const client = await connect(world.administrator.token)
  const [key, change, deletion] = [crypto.randomUUID(), crypto.randomUUID(), crypto.randomUUID()]
  const told = async (name: string, sent: Record<string, unknown>) =>
    (await client.callTool({ name, arguments: sent })).structuredContent
  const creation = { collection: 'articles', data: [{ title: key }], fields: 'id,_etag', idempotencyKey: key }

  const made = [await told('create_items', creation), await told('create_items', creation)]
  const [{ id, _etag: ifMatch }] = (made[0] as { data: [{ id: string; _etag: string }] }).data
  const target = { collection: 'articles', key: id, ifMatch }
  const priced = { ...target, data: { price: '1.00' }, fields: ['price'], idempotencyKey: change }
  const changed = [await told('update_item', priced), await told('update_item', priced)]
  const others = [
    await told('update_item', { ...priced, data: { price: '2.00' } }),
    await told('update_item', { ...priced, key: '1' }),
    await told('update_item', { ...priced, fields: ['id'] }),
    await told('update_item', { ...priced, ifMatch: undefined }),
    await told('create_items', { ...creation, fields: 'id' }),
    await told('delete_item', { ...target, idempotencyKey: key }),
  ]
  const gone = { collection: 'articles', key: id, idempotencyKey: deletion }
  const deleted = [await told('delete_item', gone), await told('delete_item', gone)]
  others.push(await told('delete_item', { ...gone, key: '1' }))
  const operations = [
    { kind: 'create', collection: 'articles', data: [{ title: key }], fields: ['title'] },
    { kind: 'read', collection: 'articles', filter: { title: { _eq: key } }, fields: ['title'], meta: 'totalCount' },
  ]
  const batch = { operations, idempotencyKey: crypto.randomUUID() }
  const batches = [await told('batch_items', batch), await told('batch_items', batch)]
  others.push(await told('batch_items', { ...batch, operations: operations.slice(1) }))

  const coded = { error: expect.objectContaining({ code: '4221' }) }
  expect(made).toEqual([{ data: [{ id, _etag: ifMatch }] }, { data: [{ id, _etag: ifMatch }], replayed: true }])
  expect(changed).toEqual([{ data: { price: '1.00' } }, { data: { price: '1.00' }, replayed: true }])
  expect(others).toEqual(others.map(() => coded))
  const answer = { data: [[{ title: key }], [{ title: key }]], meta: [null, { totalCount: 1 }] }
  expect(batches).toEqual([answer, { ...answer, replayed: true }])
  expect(deleted).toEqual([{ data: { deleted: true } }, { data: { deleted: true }, replayed: true }])
})

it.each([
  ['', 'visible characters'],
  ['ä', 'visible characters'],
  ['x'.repeat(256), 'at most 255 characters'],
  [7, 'must be a text'],
])('refuses %o as a key, naming the argument', async (idempotencyKey, reason) => {
  const client = await connect(world.administrator.token)

  const { content, isError } = await client.callTool({
    name: 'create_items',
    arguments: { collection: 'articles', data: [], idempotencyKey },
  })

  expect(isError).toBe(true)
  expect(JSON.stringify(content)).toMatch(new RegExp(`idempotencyKey.*${reason}`))
})

it('takes what looks like JSON as the text of a key', async () => {
  const client = await connect(world.administrator.token)
  const asked = { name: 'create_items', arguments: { collection: 'articles', data: [], idempotencyKey: '["a", "b"]' } }

  await client.callTool(asked)
  const again = await client.callTool(asked)

  expect(again.structuredContent).toEqual({ data: [], replayed: true })
})

it('reads as a query string does: filter, sort, paging, relations and their arguments', async () => {
  const client = await connect(world.administrator.token)

  const items = await call(client, 'list_items', {
    collection: 'authors',
    fields: ['name', 'articles.title'],
    filter: { name: { _in: ['Ada', 'Grace'] }, articles: { _some: { title: { _contains: 'a' } } } },
    sort: [{ name: { direction: 'desc' } }],
    limit: 1,
    offset: 1,
    deep: { articles: { _limit: 1, _filter: { title: { _eq: 'Lamp' } } } },
  })
  const sorted = await call(client, 'list_items', {
    collection: 'articles',
    fields: ['author.name'],
    filter: { author: { name: { _in: ['Ada', 'Grace'] } } },
    sort: [{ author: { name: { direction: 'desc' } } }],
    limit: 1,
  })

  expect(items).toEqual([{ name: 'Ada', articles: { data: [{ title: 'Lamp' }] } }])
  expect(sorted).toEqual([{ author: { name: 'Grace' } }])
})

it('pages by cursor', async () => {
  const client = await connect(world.administrator.token)
  const page = async (args: object) => {
    const sent = { collection: 'authors', fields: 'name', sort: [{ name: {} }], limit: 1, ...args }
    const { structuredContent } = await client.callTool({ name: 'list_items', arguments: sent })
    return structuredContent as { data: { name: string }[]; meta: { next: string; previous: string | null } }
  }

  const first = await page({ meta: ['cursor'] })
  const second = await page({ meta: 'totalCount,cursor', after: first.meta.next })
  const back = await page({ meta: 'cursor', before: second.meta.previous })

  expect(first.meta.previous).toBeNull()
  expect(second.meta).toMatchObject({ totalCount: expect.any(Number), previous: expect.any(String) })
  expect(second.data).not.toEqual(first.data)
  expect(back.data).toEqual(first.data)
})

it('tells two filters apart that differ only in what looks like a query string', async () => {
  const client = await connect(world.administrator.token)
  const search = (value: string) =>
    call(client, 'list_items', { collection: 'authors', filter: { name: { _eq: `x&filter[name][_eq]=${value}` } } })
  await shop.insert('authors', [{ name: 'x&filter[name][_eq]=Ada' }])

  expect(await search('nobody')).toEqual([])
  expect(await search('Ada')).toMatchObject([{ name: 'x&filter[name][_eq]=Ada' }])
})

it('tells an agent what is wrong and what to do, in the result', async () => {
  const client = await connect(world.administrator.token)

  const wrong = await client.callTool({
    name: 'list_items',
    arguments: { collection: 'articles', filter: { title: { _foo: 1 } } },
  })
  const missing = await client.callTool({ name: 'list_items', arguments: {} })
  const unknown = await client.callTool({ name: 'read_schema', arguments: { collection: 'articles', verbose: true } })

  expect(wrong).toMatchObject({
    isError: true,
    structuredContent: {
      error: {
        message: expect.stringContaining('Failed to execute query: '),
        source: { message: 'filter.title._foo' },
      },
    },
  })
  expect(textOf(wrong)).toMatch(/filter\.title\._foo > is not an operator of string.*\n.*read_schema/)
  expect(textOf(missing)).toContain('Failed to read the arguments > collection > must be given')
  expect(textOf(unknown)).toContain('unknown field verbose')
})

it('lets an agent with a reader’s key do what the reader can over HTTP, and nothing else', async () => {
  const reader = await people.member(shop, { ...onlyArticles, entitlements: ['ai:mcp'] })
  const client = await connect(reader.token)
  const attempts = [
    ['list_items', { collection: 'articles', fields: 'title' }, await reader.get('/items/articles?fields=title')],
    ['list_items', { collection: 'articles', fields: 'price' }, await reader.get('/items/articles?fields=price')],
    ['list_items', { collection: 'secrets' }, await reader.get('/items/secrets')],
    ['list_items', { collection: 'nothing' }, await reader.get('/items/nothing')],
    [
      'aggregate_items',
      {
        collection: 'articles',
        aggregate: { n: { count: '*' }, first: { min: 'title' } },
        group: ['title'],
        having: { n: { _gte: 1 } },
      },
      await reader.get(
        '/aggregates/articles?aggregate[n][count]=*&aggregate[first][min]=title&group[0]=title&having[n][_gte]=1',
      ),
    ],
    [
      'aggregate_items',
      { collection: 'articles', aggregate: { n: { max: 'price' } } },
      await reader.get('/aggregates/articles?aggregate[n][max]=price'),
    ],
    [
      'create_items',
      { collection: 'articles', data: [{ title: 'x' }] },
      await reader.post('/items/articles', [{ title: 'x' }]),
    ],
    [
      'update_item',
      { collection: 'articles', key: 1, data: { title: 'x' } },
      await reader.patch('/items/articles/1', { title: 'x' }),
    ],
    ['delete_item', { collection: 'articles', key: 1 }, await reader.delete('/items/articles/1')],
    ['read_data_sources', {}, await reader.get('/items/ServiceDataSource')],
    ['mutate_schema', { operations: [] }, await reader.post('/schema/migrate', { operations: [] })],
  ] as const

  const results = []
  for (const [name, args] of attempts) results.push(await client.callTool({ name, arguments: args }))

  expect(results.map(({ isError }) => isError === true)).toEqual(attempts.map(([, , response]) => !response.ok))
  expect(attempts.map(([, , response]) => response.status)).toEqual([
    200, 403, 403, 403, 200, 403, 403, 403, 403, 403, 403,
  ])
  expect(results[0]?.structuredContent).toEqual({ data: [{ title: 'Lamp' }] })
})

const onlyArticles: Content = {
  collections: { articles: { read: { fields: ['title'], filter: { title: { _eq: 'Lamp' } } } } },
}

it('needs ai:mcp for every call, and says so', async () => {
  const member = await people.member(shop, onlyArticles)

  const answers = [await post(member.token, ping), await post(undefined, ping)]

  expect(answers.map(({ status }) => status)).toEqual([403, 403])
  expect(await answers[1]?.json()).toEqual(refusedAnonymous('Requires the entitlement ai:mcp'))
})

it('takes the token from the header or from access_token, and not from a cookie', async () => {
  const { token } = world.administrator
  const address = `${world.url}/api/${shop.name}/mcp`
  const cookie = { ...headers, Cookie: `service_session=${token}`, Origin: world.url }

  const answers = [
    await post(token, ping),
    await fetch(`${address}?access_token=${token}`, { method: 'POST', headers, body: JSON.stringify(ping) }),
    await fetch(address, { method: 'POST', headers: cookie, body: JSON.stringify(ping) }),
    await post('wrong', ping),
  ]

  expect(answers.map(({ status }) => status)).toEqual([200, 200, 403, 401])
  expect(await answers[0]?.json()).toEqual({ jsonrpc: '2.0', id: 1, result: {} })
})

it.each([
  ['https://evil.example.com', 403],
  ['null', 403],
  ['http://localhost.evil.example.com', 403],
])('refuses a foreign Origin %s', async (origin, status) => {
  expect((await post(world.administrator.token, ping, { Origin: origin })).status).toBe(status)
})

it('takes its own loopback origin', async () => {
  expect((await post(world.administrator.token, ping, { Origin: new URL(world.url).origin })).status).toBe(200)
})

it('is stateless and answers JSON to POST only', async () => {
  const initialize = {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
  }

  const first = await post(world.administrator.token, initialize)
  const notified = await post(world.administrator.token, { jsonrpc: '2.0', method: 'notifications/initialized' })
  const others = [await shop.get('/mcp'), await shop.delete('/mcp')]

  expect(first.headers.get('Content-Type')).toBe('application/json')
  expect(first.headers.get('Mcp-Session-Id')).toBeNull()
  expect(await first.json()).toMatchObject({
    result: { protocolVersion: '2025-11-25', serverInfo: { name: 'service' } },
  })
  expect([notified.status, await notified.text()]).toEqual([202, ''])
  expect(others.map(({ status, headers }) => [status, headers.get('Allow')])).toEqual(Array(2).fill([405, 'POST']))
})

it.each([
  ['another content type', { 'Content-Type': 'text/plain' }, '{}', 415],
  [
    'an Accept without event streams',
    { Accept: 'application/json' },
    JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
    406,
  ],
  ['what is no JSON', {}, '{', 422],
  ['what is no message', {}, '{"a":1}', 400],
  ['a batch with what is no message', {}, JSON.stringify([{ jsonrpc: '2.0', id: 1, method: 'ping' }, 1]), 400],
  ['more than 100 messages', {}, JSON.stringify(Array(101).fill({ jsonrpc: '2.0', id: 1, method: 'ping' })), 400],
  [
    'a protocol version that nobody knows',
    { 'Mcp-Protocol-Version': '1999-01-01' },
    JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
    400,
  ],
])('refuses %s', async (_, more, body, status) => {
  expect((await post(world.administrator.token, body, more)).status).toBe(status)
})

it('answers each request of a batch, one that it cancels as well and two of one id', async () => {
  const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } }
  const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' }

  const response = await post(world.administrator.token, [list, cancel, ping, { ...ping, id: 'last' }])

  expect(response.status).toBe(200)
  expect(await response.json()).toEqual([
    { jsonrpc: '2.0', id: 1, result: { tools: expect.any(Array) } },
    { jsonrpc: '2.0', id: 1, result: {} },
    { jsonrpc: '2.0', id: 'last', result: {} },
  ])
})

it('bounds what the calls of an array answer together', async () => {
  const made = await world.workspace('long', { texts: { text: 'string' } })
  await made.insert(
    'texts',
    Array.from({ length: 50 }, () => ({ text: 'x'.repeat(40_000) })),
  )
  const list = { collection: 'texts', fields: ['text'], limit: 50 }
  const faults = async (name: string, args: object) => {
    const call = { jsonrpc: '2.0', method: 'tools/call', params: { name, arguments: args } }
    const body = Array.from({ length: 4 }, (_, id) => ({ ...call, id }))
    const response = await world.administrator.send('POST', `/api/${made.name}/mcp`, { body, headers })
    const answers = (await response.json()) as { result: { structuredContent: { error?: unknown } } }[]
    return answers.map(({ result }) => result.structuredContent.error)
  }

  const lists = await faults('list_items', list)
  const batches = await faults('batch_items', {
    operations: [
      { kind: 'read', ...list },
      { kind: 'read', ...list },
    ],
  })

  const tooLarge = { code: '1006', message: 'The answer is too large: ask for fewer items or fields' }
  expect(lists).toEqual([undefined, undefined, tooLarge, tooLarge])
  // A batch may have changed something, which it says, and what follows is not done.
  const done = { code: '1006', message: 'It was done. Its answer is too large: read what you need of it' }
  expect(batches).toEqual([undefined, done, tooLarge, tooLarge])
})

it('answers 404 for a workspace that does not exist', async () => {
  const response = await world.administrator.send('POST', '/api/nowhere/mcp', { body: ping, headers })

  expect(response.status).toBe(404)
})

const ping = { jsonrpc: '2.0', id: 1, method: 'ping' }
const headers = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' }

function post(token: string | undefined, body: unknown, more: Record<string, string> = {}): Promise<Response> {
  const authorization: Record<string, string> = token === undefined ? {} : { Authorization: `Bearer ${token}` }
  return world.anonymous.send('POST', `/api/${shop.name}/mcp`, {
    body,
    headers: { ...headers, ...authorization, ...more },
  })
}

async function connect(token: string, { name } = shop): Promise<Client> {
  const client = new Client({ name: 'test', version: '1.0.0' })
  const transport = new StreamableHTTPClientTransport(new URL(`${world.url}/api/${name}/mcp`), {
    requestInit: { headers: { Authorization: `Bearer ${token}` } },
  })
  await client.connect(transport as Parameters<typeof client.connect>[0])
  opened.push(client)
  await client.listTools()
  return client
}

/** The structured answer, which the client has held to the tool's output schema. */
async function call(client: Client, name: string, args: Record<string, unknown>): Promise<unknown> {
  const result = await client.callTool({ name, arguments: args })
  if (result.isError === true) throw new Error(textOf(result))
  return (result.structuredContent as { data: unknown }).data
}

function textOf(result: Awaited<ReturnType<Client['callTool']>>): string {
  return (result.content as { text: string }[]).map(({ text }) => text).join()
}
