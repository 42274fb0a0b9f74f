/**
 * docs/decisions/037: no workspace takes all connections, since whatever is asked of items is asked in its share; and what only reads is
 * ended when its caller has gone.
 */
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Statement } from '../../src/core/sql/statement.ts'
import { openPostgres } from '../../src/platform/drivers/postgres/driver.ts'
import { isForCaller } from '../../src/platform/drivers/time-limit.ts'
import type { QueryContext, SqlDriver } from '../../src/ports.ts'
import { type Client, migrate, signIn } from '../migration/support/client.ts'
import { plainCollection } from '../migration/support/collections.ts'
import { startPostgres, type TestPostgres } from '../support/servers/postgres.ts'
import { type InProcess, openInProcess } from '../support/service/in-process.ts'

let server: TestPostgres
let database: SqlDriver
let service: InProcess
let client: Client
let key: string | undefined
const contexts: QueryContext[] = []

function note(statements: readonly Statement[], context: QueryContext | undefined): void {
  if (isForCaller(context) && statements.some(({ text }) => text.includes('"notes"'))) contexts.push(context)
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
  const shop = await client.workspace('shop')
  await migrate(client, shop, plainCollection(shop, 'notes'))
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

const reads: Record<string, readonly [method: string, path: string, body?: unknown]> = {
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
  'batch_items of reads': tool('batch_items', { operations: [{ ...read, as: 'x' }, readOfEarlier] }),
}

const writes: typeof reads = {
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
  'asks in the share of the workspace, and as long as its caller is there, for %s',
  async (_, sent) => {
    await answered(sent)

    expect(contexts.map(({ share, isDisconnected }) => [share, isDisconnected?.()])).toEqual(
      contexts.map(() => ['shop', false]),
    )
  },
)

it.each(
  Object.entries(writes).flatMap(([name, sent]) => [
    [name, sent, undefined] as const,
    ...(sent[1].endsWith('/mcp') ? [] : [[`${name}, under a key`, sent, name.replaceAll(' ', '-')] as const]),
  ]),
)('asks in the share of the workspace, to its end, for %s', async (_, sent, under) => {
  key = under
  await answered(sent)
  // The answer that was kept, of which some is read again.
  if (under !== undefined) await client.send(...sent)

  expect(contexts.map(({ share, isDisconnected }) => [share, isDisconnected])).toEqual(
    contexts.map(() => ['shop', undefined]),
  )
})

async function answered([method, path, body]: (typeof reads)[string]): Promise<void> {
  contexts.length = 0
  const { status, body: answer } = await client.send(method, path, body)
  expect([status, answer]).toEqual([expect.toBeOneOf([200, 201, 204]), answer])
  expect(JSON.stringify(answer ?? null)).not.toContain('"isError":true')
  expect(contexts).not.toEqual([])
}
