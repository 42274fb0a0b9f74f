/** What is wrong with a migration has a code, and is a fault of its author: no fault of the service is logged. */
import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { beforeAll, expect, it } from 'vitest'
import { people } from '../support/service/people.ts'
import { createCollection, createRelation, type Operation, type Workspace, world } from '../support/service/world.ts'

let shop: Workspace

beforeAll(async () => {
  shop = await world.workspace(
    'migration_faults',
    { authors: { name: 'string?' }, articles: { title: 'string', authorId: 'int64?' }, drafts: { text: 'string' } },
    ['articles.author(authorId) -> authors.articles'],
  )
  await shop.insert('authors', [{ name: null }, { name: 'Ada' }, { name: 'Ada' }])
  await people.policy(shop, { collections: { drafts: { read: 'all' } } }, 'Drafts')
})

const id = (name: string) => shop.ids.get(name) ?? ''
const change = (name: string, kind: string, data: object): Operation => ({
  kind: 'updateCollection',
  data: { id: id(name), operations: [{ kind, data }] },
})
const field = (other: object) => ({
  id: randomUUID(),
  dbName: 'more',
  apiName: 'more',
  type: { name: 'int32' },
  isNullable: true,
  isList: false,
  defaultValue: null,
  ...other,
})
const made = (other: object): Operation => {
  const { kind, data } = createCollection(new Map(), shop.sourceId, `made${randomUUID().slice(0, 8)}`, {})
  return { kind, data: { ...data, ...other } }
}
const pair = (isConstrained: boolean): Operation => {
  const { kind, data } = createRelation(new Map(shop.ids), 'articles.editor(authorId) -> authors.edited')
  const { data: relation } = data as { data: { secondField: object } }
  return {
    kind,
    data: { kind: 'single', data: { ...relation, secondField: { ...relation.secondField, isConstrained } } },
  }
}

it.each([
  ['an id in use', '3001', () => made({ id: id('authors') })],
  ['a name in use', '3002', () => made({ apiName: 'authors' })],
  ['a column in use', '3002', () => change('authors', 'createPrimitiveField', field({ dbName: 'name' }))],
  ['an unknown id', '3003', () => ({ kind: 'deleteCollection', data: { id: randomUUID() } })],
  ['an unknown field', '3003', () => change('authors', 'deletePrimitiveField', { id: randomUUID() })],
  ['what a policy uses', '3004', () => ({ kind: 'deleteCollection', data: { id: id('drafts') } })],
  ['what a relation uses', '3005', () => ({ kind: 'deleteCollection', data: { id: id('authors') } })],
  ['both sides constrained', '3006', () => pair(true)],
  [
    'an index of a field twice',
    '3007',
    () =>
      change('authors', 'createIndex', {
        id: randomUUID(),
        kind: 'normal',
        fieldIds: [id('authors.name'), id('authors.name')],
      }),
  ],
  [
    'a wrong default',
    '3008',
    () =>
      change(
        'authors',
        'createPrimitiveField',
        field({ defaultValue: { source: 'engineManaged', onCreate: { kind: 'static', valueEncoded: 'many' } } }),
      ),
  ],
  [
    'a lossy type',
    '3009',
    () =>
      change('authors', 'updatePrimitiveField', {
        id: id('authors.name'),
        operations: [{ kind: 'changeType', data: { type: { name: 'bytes' } } }],
      }),
  ],
  [
    'a type that there is not',
    '3010',
    () => change('authors', 'createPrimitiveField', field({ type: { name: 'uint64' } })),
  ],
  [
    'a wrong namespace',
    '3012',
    () => ({ kind: 'createNamespace', data: { id: randomUUID(), sourceId: shop.sourceId, dbName: 'public' } }),
  ],
  [
    'nulls in the data',
    '3013',
    () =>
      change('authors', 'updatePrimitiveField', {
        id: id('authors.name'),
        operations: [{ kind: 'changeIsNullable', data: { isNullable: false } }],
      }),
  ],
  [
    'doubled values in the data',
    '3013',
    () => change('authors', 'createIndex', { id: randomUUID(), kind: 'unique', fieldIds: [id('authors.name')] }),
  ],
])('%s: code %s', async (_what, code, operation) => {
  const response = await shop.migrate(operation())

  expect(response.status).toBe(500)
  const body = (await response.json()) as Told
  expect(body.message).toMatch(/^Failed to execute the migration: /)
  expect(deepest(body)).toMatchObject({ code })
  expect(await faultsOf(response)).toEqual([])
})

it('more columns than a table takes: code 3010, before or by the database, which counts those that are gone', async () => {
  const names = Array.from({ length: 1_601 }, (_, at) => `n${at}`)
  const shape = (count: number) => Object.fromEntries(names.slice(0, count).map((name) => [name, 'int32?']))
  const own = await world.workspace('wide', {})
  const ids = new Map<string, string>()
  const wide = createCollection(ids, own.sourceId, 'wide', shape(1_599))
  const part = (kind: string, data: object): Operation => ({
    kind: 'updateCollection',
    data: { id: ids.get('wide') ?? '', operations: [{ kind, data }] },
  })

  const tooWide = await own.migrate(createCollection(new Map(), own.sourceId, 'wide', shape(1_600)))
  const made = [
    (await own.migrate(wide)).status,
    (await own.migrate(part('deletePrimitiveField', { id: ids.get('wide.n7') }))).status,
  ]
  const behind = await own.migrate(part('createPrimitiveField', field({ isNullable: true })))
  const all = Object.fromEntries(names.slice(0, 1_599).map((name, at) => [name, at]))
  const { n7: _, ...item } = all

  expect(made).toEqual([200, 200])
  expect([tooWide.status, deepest((await tooWide.json()) as Told)]).toEqual([
    500,
    { code: '3010', message: 'PostgreSQL has no tables of more than 1600 columns: wide has 1601' },
  ])
  expect([behind.status, deepest((await behind.json()) as Told)]).toEqual([
    500,
    { code: '3010', message: 'The database has no tables, and no indexes, of so many columns' },
  ])
  expect([...(await faultsOf(tooWide)), ...(await faultsOf(behind))]).toEqual([])
  // What holds answers to their documents has no room for so many members.
  const asked = async (method: string, body?: string) => {
    const headers = { Authorization: `Bearer ${world.administrator.token}`, 'Content-Type': 'application/json' }
    const response = await fetch(`${world.url}/api/${own.name}/items/wide`, { method, headers, ...(body && { body }) })
    return ((await response.json()) as { data: unknown }).data
  }
  expect(await asked('POST', JSON.stringify([item]))).toMatchObject([item])
  expect(await asked('GET')).toMatchObject([item])
})

it('is no fault over MCP either, and says what to do', async () => {
  const answer = await world.administrator.send('POST', `/api/${shop.name}/mcp`, {
    headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' },
    body: {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'mutate_schema', arguments: { operations: [made({ apiName: 'authors' })] } },
    },
  })

  const { result } = (await answer.json()) as {
    result: { content: { text: string }[]; structuredContent: { error: Told } }
  }
  expect(deepest(result.structuredContent.error)).toMatchObject({ code: '3002' })
  expect(result.content[0]?.text).toContain('Correct the operation that is named')
})

type Told = { readonly message: string; readonly source?: Told; readonly code?: string }

function deepest(told: Told): Told {
  return told.source === undefined ? told : deepest(told.source)
}

/** Lines of the log that tell of a fault of this request, once the line of the request itself is there. */
async function faultsOf(response: Response): Promise<readonly string[]> {
  const requestId = response.headers.get('X-Request-Id') ?? ''
  const lines = async () =>
    (await readFile(world.logFile, 'utf8')).split('\n').filter((line) => line.includes(requestId))
  await expect.poll(async () => (await lines()).some((line) => line.includes('"kind":"request"'))).toBe(true)
  return (await lines()).filter((line) => line.includes('"kind":"fault"'))
}
