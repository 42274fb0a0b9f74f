/** docs/contract.md#introspection: `POST /api/{workspace}/schema/introspect/{source}`, as far as HTTP alone shows. */
import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { people } from '../support/service/people.ts'
import { world } from '../support/service/world.ts'

const shop = await world.workspace(
  'introspect',
  { authors: { name: 'string' }, books: { title: 'string?', authorId: 'int64?' } },
  ['books.author(authorId) -> authors.books'],
)
const path = `/schema/introspect/${shop.sourceId}`

it('answers no operations where nothing has changed behind our back, with and without a body', async () => {
  const bare = await shop.send('POST', path)
  const withBody = await shop.post(path, {})

  expect(bare.status).toBe(200)
  expect(await bare.json()).toEqual({ data: { operations: [], skipped: [] } })
  expect(withBody.status).toBe(200)
  expect(await shop.data('/items/ServiceCollection?fields=apiName&sort[0][apiName][direction]=asc')).toEqual([
    { apiName: 'authors' },
    { apiName: 'books' },
  ])
})

it('takes the id of a source in capitals', async () => {
  expect((await shop.send('POST', path.toUpperCase().replace('/SCHEMA/INTROSPECT', '/schema/introspect'))).status).toBe(
    200,
  )
})

it.each([randomUUID(), 'no-uuid'])('answers 404 for a source that does not exist: %s', async (source) => {
  const response = await shop.send('POST', `/schema/introspect/${source}`)

  expect(response.status).toBe(404)
  expect(await response.json()).toEqual({ message: 'Source does not exist' })
})

it('needs the entitlement dataModel:edit, whether there is such a source or not', async () => {
  const reader = await people.member(shop, { entitlements: ['dataModel:read'] })

  expect((await reader.send('POST', path)).status).toBe(403)
  expect((await reader.send('POST', `/schema/introspect/${randomUUID()}`)).status).toBe(403)
  expect((await shop.anonymous.send('POST', path)).status).toBe(403)
})

it('knows POST only', async () => {
  const response = await shop.get(path)

  expect(response.status).toBe(405)
  expect(response.headers.get('Allow')).toBe('POST')
})

it('takes no column for a field that was deleted and made again elsewhere under its id', async () => {
  const own = await world.workspace('introspect', {
    people: { name: 'string', level: 'int64' },
    other: { text: 'string' },
  })
  const id = randomUUID()
  const made = (dbName: string) => ({
    kind: 'createPrimitiveField',
    data: { id, dbName, type: { name: 'int64' }, isNullable: true, isList: false, defaultValue: null },
  })
  const update = (name: string, operation: object) => ({
    kind: 'updateCollection',
    data: { id: own.ids.get(name), operations: [operation] },
  })
  // Both are the third column of their tables.
  await own.migrate(update('other', made('gift')))
  const moved = await own.migrate(
    update('other', { kind: 'deletePrimitiveField', data: { id } }),
    update('people', made('alias')),
  )
  await own.insert('people', [{ name: 'Ada', level: '7' }])

  const imported = await own.post(`/schema/introspect/${own.sourceId}`, {})

  expect(moved.status).toBe(200)
  expect(await imported.json()).toEqual({ data: { operations: [], skipped: [] } })
  expect(await own.data('/items/people?fields=alias,level')).toEqual([{ alias: null, level: '7' }])
})

it('leaves out no table that the database has and a policy uses', async () => {
  const own = await world.workspace('introspect', { notes: { text: 'string' }, drafts: { text: 'string' } })
  const notes = { read: { fields: ['id', 'text'] } }
  const policy = await people.policy(own, { entitlements: ['dataModel:edit'], collections: { notes } }, 'Notes')
  const editor = await people.memberWith(own, [await people.role(own, [policy])])
  await own.insert('notes', [{ text: 'a' }])
  const introspect = (body: object) => editor.post(`/schema/introspect/${own.sourceId}`, body)
  const renamed = (id: string, dbName: string) => ({
    kind: 'updateCollection',
    data: { id, operations: [{ kind: 'changeDbName', data: { dbName } }] },
  })

  const refused = [
    await introspect({ tables: { exclude: ['notes'] } }),
    await introspect({ tables: { include: ['drafts'] } }),
  ]
  const other = await introspect({ tables: { exclude: ['drafts', 'old_*'] } })
  await own.migrate(renamed(own.ids.get('notes') ?? '', 'old_notes'))
  const later = await introspect({})
  const told = await own.post(`/schema/introspect/${own.sourceId}`, {})
  const read = await editor.get('/items/notes')
  await own.delete(`/policies/${policy}`)
  const free = await own.post(`/schema/introspect/${own.sourceId}`, {})

  const fault = (use: string) => ({
    message: expect.stringContaining('Failed to execute the introspection: '),
    source: { message: `collection notes is used by ${use}`, code: '3004' },
  })
  for (const answer of [...refused, later]) {
    expect([answer.status, await answer.json()]).toEqual([500, fault('a policy')])
  }
  expect([told.status, await told.json()]).toEqual([500, fault('the policy Notes')])
  expect([other.status, free.status]).toEqual([200, 200])
  expect(await read.json()).toEqual({ data: [{ id: '1', text: 'a' }] })
})
