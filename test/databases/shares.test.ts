/**
 * docs/decisions/037: no workspace takes all connections, since whatever is asked for it is asked in its share; what only reads is
 * ended when its caller has gone; and nobody waits for a workspace with what all of them need.
 */

import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Statement } from '../../src/core/sql/statement.ts'
import { openPostgres } from '../../src/platform/drivers/postgres/driver.ts'
import type { QueryContext, SqlDriver } from '../../src/ports/database.ts'
import { type Client, migrate, signIn, type Workspace } from '../migration/support/client.ts'
import { plainCollection } from '../migration/support/collections.ts'
import { startPostgres, type TestPostgres } from '../support/servers/postgres.ts'
import { type InProcess, openInProcess } from '../support/service/in-process.ts'

let server: TestPostgres
let database: SqlDriver
let service: InProcess
let client: Client
let shop: Workspace
let key: string | undefined
let account: string
/** Attempts that would not wait. */
let refusals = 0
const contexts: (QueryContext | undefined)[] = []

function note(statements: readonly Statement[], context: QueryContext | undefined): void {
  if (statements.some(({ text }) => /"notes"|"audit|pg_attribute/.test(text))) contexts.push(context)
  if (statements.some(({ text }) => text.includes('nowait'))) refusals += 1
}

beforeAll(async () => {
  server = await startPostgres()
  database = openPostgres({ connectionString: server.url })
  const noted: SqlDriver = {
    ...database,
    query: (statement, context) => {
      note([statement], context)
      return database.query(statement, context)
    },
    batch: (statements, context) => {
      note(statements, context)
      return database.batch(statements, context)
    },
    stream: (statement, context) => {
      note([statement], context)
      return (database as Required<SqlDriver>).stream(statement, context)
    },
  }
  service = await openInProcess({ database: noted, databaseUrl: server.url })
  client = await signIn(service.administrator, 'http://localhost', (url, init) =>
    service.request(url, {
      ...init,
      headers: {
        ...(init.headers as object),
        Accept: 'application/json, text/event-stream',
        ...(key !== undefined && { 'Idempotency-Key': key }),
      },
    }),
  )
  account = ((await client.send('GET', '/api/system/users/me')).body as { readonly data: { readonly id: string } }).data
    .id
  shop = await client.workspace('shop')
  await client.workspace('other')
  const notes = plainCollection(shop, 'notes')
  dropped.data.id = notes.data.id
  await migrate(client, shop, notes)
  const model = await modelOf('shop')
  model.collections.notes = { ...model.collections.notes, history: true }
  expect(await applied('shop', model)).toMatchObject({ status: 200 })
  await client.send('POST', '/api/shop/items/notes', [{}, {}])
})

afterAll(async () => {
  await service?.close()
  await database?.close()
  await server?.close()
})

const notes = '/api/shop/items/notes'
const tool = (name: string, sent: object) => ['POST', '/api/shop/mcp', call(name, sent)] as const
const call = (name: string, sent: object) => ({
  ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
  params: { name, arguments: sent },
})
const batch = (...operations: readonly object[]) => ['POST', '/api/shop/items', { operations }] as const
const read = { kind: 'read', collection: 'notes' }
const readOfEarlier = { ...read, key: { $ref: 'x[0].id' } }

type Sent = readonly [method: string, path: string, body?: unknown]

const reads: Record<string, Sent> = {
  'an item': ['GET', `${notes}/1`],
  'a list': ['GET', notes],
  'a list by QUERY': ['QUERY', notes, { limit: 1 }],
  'a large list': ['GET', `${notes}?limit=5000`],
  'a total': ['GET', `${notes}?meta=totalCount`],
  'an aggregate': ['QUERY', '/api/shop/aggregates/notes', { aggregate: { n: { count: '*' } } }],
  'a batch of reads': batch(read),
  'a batch of reads by what was read': batch({ ...read, as: 'x' }, readOfEarlier),
  list_items: tool('list_items', { collection: 'notes' }),
  aggregate_items: tool('aggregate_items', { collection: 'notes', aggregate: { n: { count: '*' } } }),
  'the history of an item': ['GET', `${notes}/1/changes`],
  'batch_items of reads': tool('batch_items', { operations: [{ ...read, as: 'x' }, readOfEarlier] }),
}

const writes: Record<string, Sent> = {
  'a new item': ['POST', notes, [{}]],
  'new items': ['POST', notes, [{}, {}]],
  'a change': ['PATCH', `${notes}/1`, { field0: 'a' }],
  'a change by filter': ['PATCH', `${notes}?filter[id][_eq]=1`, { field0: 'a' }],
  'a deletion by filter': ['DELETE', `${notes}?filter[id][_eq]=0`],
  'a batch': batch({ kind: 'create', collection: 'notes', data: [{}], as: 'x' }, readOfEarlier),
  create_items: tool('create_items', { collection: 'notes', data: [{}] }),
  update_item: tool('update_item', { collection: 'notes', key: 1, data: { field0: 'b' } }),
}

it.each(Object.entries(reads))(
  'asks in the share of the workspace, by its account, and as long as its caller is there, for %s',
  async (_, sent) => {
    await answered(sent)

    expect(contexts.map((context) => [context?.share, context?.account, context?.isDisconnected?.()])).toEqual(
      contexts.map(() => [shop.id, account, false]),
    )
  },
)

it.each(
  Object.entries(writes).flatMap(([name, sent]) => [
    [name, sent, undefined] as const,
    ...(sent[1].endsWith('/mcp') ? [] : [[`${name}, under a key`, sent, name.replaceAll(' ', '-')] as const]),
  ]),
)('asks in the share of the workspace, by its account and to its end, for %s', async (_, sent, under) => {
  key = under
  await answered(sent)
  // The answer that was kept, of which some is read again.
  if (under !== undefined) await client.send(...sent)

  expect(contexts.map((context) => [context?.share, context?.account, context?.isDisconnected])).toEqual(
    contexts.map(() => [shop.id, account, undefined]),
  )
})

const explained = { collection: 'notes', action: 'read', key: 1, anonymous: true }
const dropped = { kind: 'deleteCollection', data: { id: '' } }

it.each<[name: string, sent: () => Sent]>([
  ['an explanation', () => ['POST', '/api/shop/access/explain', explained]],
  ['a plan', () => ['POST', '/api/shop/schema/plan', { model: { version: 1, collections: {} } }]],
  ['a dry run', () => ['POST', '/api/shop/schema/migrate?dryRun=true', { operations: [dropped] }]],
  ['an introspection', () => ['POST', `/api/shop/schema/introspect/${shop.sourceId}`]],
  ['the audit log', () => ['GET', '/api/shop/audit-log?filter[label][_contains]=x']],
])('asks in the share of the workspace for %s', async (_, sent) => {
  await answered(sent())

  expect(contexts.map((context) => context?.share)).toEqual(contexts.map(() => shop.id))
})

async function answered([method, path, body]: Sent): Promise<void> {
  contexts.length = 0
  const { status, body: answer } = await client.send(method, path, body)
  expect([status, answer]).toEqual([expect.toBeOneOf([200, 201, 204]), answer])
  expect(JSON.stringify(answer ?? null)).not.toContain('"isError":true')
  expect(contexts).not.toEqual([])
}

type Model = { readonly collections: Record<string, { fields?: Record<string, object>; history?: boolean }> }

async function modelOf(workspace: string): Promise<Model> {
  return (await client.send('GET', `/api/${workspace}/schema/model`)).body as Model
}

async function applied(workspace: string, model: object) {
  const { body } = await client.send('POST', `/api/${workspace}/schema/plan`, { model })
  const { data } = body as { data: { plan: string } }
  return client.send('POST', `/api/${workspace}/schema/apply`, { model, plan: data.plan, allow: ['drop'] })
}

describe('while somebody holds what a change waits for', () => {
  const policy = { entitlements: [], collections: {} }
  const holdsRow = () => ['select 1 from service.workspace where id = $1 for no key update', [shop.id]] as const
  const readsTable = () => ['select 1 from service_shop_data.notes', []] as const

  it.each<[name: string, hold: () => readonly [string, readonly string[]], change: () => Promise<unknown>]>([
    ['a policy', holdsRow, () => client.send('POST', '/api/shop/policies', { name: 'of shop', content: policy })],
    [
      'the name of a workspace',
      holdsRow,
      () => client.send('PATCH', `/api/system/workspaces/${shop.id}`, { displayName: 'Shop' }),
    ],
    [
      'a model file with a policy',
      readsTable,
      async () => {
        const model = await modelOf('shop')
        Object.assign(model.collections.notes?.fields ?? {}, { more: 'string?' })
        return applied('shop', { ...model, policies: { more: policy } })
      },
    ],
    ['a deletion', readsTable, () => client.send('DELETE', `/api/system/workspaces/${shop.id}`)],
  ])('%s holds up no other workspace', async (name, hold, change) => {
    refusals = 0
    const holder = new pg.Client({ connectionString: server.url })
    await holder.connect()
    try {
      await holder.query('begin')
      await holder.query(hold()[0], [...hold()[1]])
      let isDone = false
      const changing = change().finally(() => {
        isDone = true
      })
      await expect.poll(async () => refusals > 1 || (await waits(holder))).toBe(true)
      const { status } = await client.send('POST', '/api/other/roles', { name: `beside ${name}`, policies: [] })
      expect([status, isDone]).toEqual([201, false])
      await holder.query('commit')
      expect(await changing).toMatchObject({ status: expect.toBeOneOf([200, 201, 204]) })
    } finally {
      await holder.end()
    }
  })
})

async function waits(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query('select 1 from pg_locks where not granted')
  return rows.length > 0
}
