/** docs/contract.md#history: what the system database records of a collection, whoever changes it, and for how long. */
import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startNode } from '../../handlers/node.ts'
import { type NodeService, startService } from '../support/service/node-service.ts'

const secret = randomBytes(32).toString('base64url')
let service: NodeService
let client: pg.Client
let userId: string

beforeAll(async () => {
  service = await startService(
    'recorded',
    {
      collections: {
        authors: { id: 'int64 = counted', name: 'string' },
        books: {
          id: 'int64 = counted',
          title: 'string',
          price: 'decimal(10,2)?',
          tags: 'string[]?',
          authorId: 'int64?',
        },
        pairs: { a: 'string', b: 'int32', more: 'json?' },
      },
      keys: { pairs: [['primary', 'a', 'b']] },
      relations: ['books.author(authorId) -> authors.books'],
      recorded: ['books', 'pairs'],
    },
    { SERVICE_SECRET: secret },
  )
  client = new pg.Client({ connectionString: service.databaseUrl })
  await client.connect()
  const { rows } = await client.query('select id from service."user"')
  userId = rows[0].id
})

afterAll(async () => {
  await client?.end()
  await service?.close()
})

const state = (name: string) => `case when ${name} is not null then
  (select json_object_agg(f.id, f.value::json) from unnest(fields, ${name}) f(id, value)) end as ${name}`

/** What was recorded of a collection since the last look, by the names of its fields. */
async function recorded(collection: string) {
  const { rows } = await client.query(
    `with c as (delete from service_recorded_meta.change where collection_id =
        (select id from service_recorded_meta.collection where api_name = $1) returning *)
      select id, item, actor, action, ${state('before')}, ${state('after')} from c order by id`,
    [collection],
  )
  const fields = await client.query('select id, api_name from service_recorded_meta.primitive_field')
  const names = new Map(fields.rows.map(({ id, api_name }) => [id, api_name]))
  const named = (state: object | null) =>
    state && Object.fromEntries(Object.entries(state).map(([id, value]) => [names.get(id), value]))
  return rows.map(({ item, actor, action, before, after }) => ({
    item,
    actor: actor === userId ? 'us' : actor,
    action,
    before: named(before),
    after: named(after),
  }))
}

it('has what requests create, change and delete, as answers show it, and who does', async () => {
  await service.send('POST', 'books', [{ title: 'Notes', price: '1.50', tags: ['a', '"b"'] }])
  await service.send('PATCH', 'books/1', { title: 'Notes', price: '2.00', tags: null })
  await service.send('PATCH', 'books/1', { title: 'Notes' })
  await service.send('DELETE', 'books/1')

  const entries = await recorded('books')

  const whole = { id: '1', title: 'Notes', authorId: null }
  expect(entries.map(({ item: _, ...entry }) => entry)).toEqual([
    { actor: 'us', action: 'create', before: null, after: { ...whole, price: '1.50', tags: ['a', '"b"'] } },
    {
      ...{ actor: 'us', action: 'update' },
      before: { price: '1.50', tags: ['a', '"b"'] },
      after: { price: '2.00', tags: null },
    },
    { actor: 'us', action: 'delete', before: { ...whole, price: '2.00', tags: null }, after: null },
  ])
  expect(new Set(entries.map(({ item }) => item)).size).toBe(1)
})

it('has what relations write, and what foreign keys do', async () => {
  const made = { name: 'Ada', books: [{ _create: { data: [{ title: 'One' }, { title: 'Two' }] } }] }
  const created = await service.send('POST', 'authors?fields=id', [made])
  await client.query(`alter table service_recorded_data.books drop constraint "books_author",
    add constraint "books_author" foreign key ("authorId") references service_recorded_data.authors on delete set null`)

  const { data } = created.body as { data: { id: string }[] }
  await service.send('DELETE', `authors/${data[0]?.id}`)

  const entries = await recorded('books')
  expect(entries.map(({ actor, action, after }) => [actor, action, after?.title ?? after])).toEqual([
    ['us', 'create', 'One'],
    ['us', 'create', 'Two'],
    ['us', 'update', { authorId: null }],
    ['us', 'update', { authorId: null }],
  ])
})

it('has what others write, without a name', async () => {
  await client.query(`insert into service_recorded_data.books (title) values ('From outside')`)
  await client.query(`update service_recorded_data.books set title = title`)
  await service.send('POST', 'pairs', [{ a: 'x', b: 1, more: { n: 1.5, deep: ['é', null] } }])
  await client.query(`delete from service_recorded_data.pairs`)

  expect((await recorded('books')).map(({ actor, action }) => [actor, action])).toEqual([[null, 'create']])
  expect((await recorded('pairs')).map(({ actor, action, before }) => [actor, action, before?.more])).toEqual([
    ['us', 'create', undefined],
    [null, 'delete', { n: 1.5, deep: ['é', null] }],
  ])
})

it('has what is more than an answer may have without its values, and keeps no row from being deleted', async () => {
  await client.query(`insert into service_recorded_data.pairs values ('large', 1, '"short"')`)
  await client.query(`update service_recorded_data.pairs set more = to_jsonb(repeat('y', 17 * 1024 * 1024))`)

  const shown = await service.send('GET', 'pairs/large,1/changes')
  await client.query(`delete from service_recorded_data.pairs`)

  const { data } = shown.body as { data: { action: string; before: object | null; after: object | null }[] }
  const large = ['update', null, null]
  const first = ['create', null, { a: 'large', b: 1, more: 'short' }]
  expect(data.map(({ action, before, after }) => [action, before, after])).toEqual([large, first])
  expect((await recorded('pairs')).map(({ action, before, after }) => [action, before, after])).toEqual([
    first,
    large,
    ['delete', null, null],
  ])
})

it('begins anew with another key', async () => {
  await service.send('POST', 'pairs', [{ a: 'k', b: 1 }])
  await service.send('PATCH', 'pairs/k,1', { b: 2 })

  const [first, ended, begun] = await recorded('pairs')

  expect([first?.action, ended?.action, begun?.action]).toEqual(['create', 'delete', 'create'])
  expect(ended?.item).toBe(first?.item)
  expect(begun?.item).not.toBe(first?.item)
})

it('is nothing of what fails', async () => {
  const twice = await service.send('POST', 'pairs', [
    { a: 'p', b: 1 },
    { a: 'p', b: 1 },
  ])

  expect(twice.status).toBe(422)
  expect(await recorded('pairs')).toEqual([])
})

it('is deleted at a start once it is older than the retention, and nothing else is', async () => {
  await service.send('POST', 'pairs', [
    { a: 'old', b: 1 },
    { a: 'new', b: 1 },
  ])
  await client.query(
    `update service_recorded_meta.change set at = now() - interval '91 days' where array_to_string(after, ',') like '%"old"%'`,
  )
  await service.closeServer()

  const server = await startNode({
    environment: { SERVICE_DATABASE_URL: service.databaseUrl, SERVICE_SECRET: secret, PORT: '0' },
    observe: () => {},
  })
  await server.close()

  expect((await recorded('pairs')).map(({ after }) => after?.a)).toEqual(['new'])
})
