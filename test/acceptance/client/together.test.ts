/** Several calls at once, and groups of items, through the client (packages/client). */
import { beforeAll, beforeEach, expect, it } from 'vitest'
import type { Client } from '../../../packages/client/src/index.ts'
import { openShop, type Schema } from './shop.ts'

let db: Client<Schema>

beforeAll(async () => {
  db = (await openShop('together')).db
})

beforeEach(async () => {
  const filter = { id: { _gt: 0 } }
  await db.articles.delete({ filter }).orThrow()
  await db.authors.delete({ filter }).orThrow()
  await db.authors
    .create([
      { id: 101, name: 'Ada' },
      { id: 102, name: 'Bob' },
    ])
    .orThrow()
  await db.articles
    .create([
      { id: 101, title: 'A', status: 'new', price: '1.50', rating: 0.5, at: '2026-01-31T23:30:00Z', authorId: 101 },
      { id: 102, title: 'B', status: 'new', price: '2.25', rating: 0.25, at: '2026-01-02T00:00:00Z', authorId: 101 },
      { id: 103, title: 'C', status: 'old', authorId: 102 },
    ])
    .orThrow()
})

it('does several calls as one, of which later ones name values of earlier ones', async () => {
  const eve = db.authors.create({ id: 201, name: 'Eve' }, { fields: ['name'] })
  const made = db.articles.create([{ id: 201, title: 'D', authorId: eve.ref('id') }], {
    fields: [{ author: ['name'] }],
  })
  const changed = db.articles.update(made.ref('[0].id'), { title: 'E' }, { fields: ['title'] })
  const read = db.articles.list({ fields: ['id'], filter: { title: 'E' }, meta: ['totalCount'] })
  const gone = db.articles.delete('103')

  const batch = await db.$batch([eve, made, changed, read, gone])
  const counted = await read

  expect(batch.orThrow()).toEqual([
    { name: 'Eve' },
    [{ author: { name: 'Eve' } }],
    { title: 'E' },
    [{ id: '201' }],
    undefined,
  ])
  expect(counted).toMatchObject({ ok: true, data: [{ id: '201' }], meta: { totalCount: 1 } })
  expect(await made.orThrow()).toEqual([{ author: { name: 'Eve' } }])
})

it('does nothing of a batch that fails, and each of its calls says so', async () => {
  const first = db.authors.create({ id: 301, name: 'Lost' })
  const second = db.authors.create({ id: 101, name: 'Taken' })

  const batch = await db.$batch([first, second])

  expect(batch).toMatchObject({ ok: false, error: { meta: { operation: 1, fields: ['id'] } } })
  expect(await first).toMatchObject({ ok: false, error: { meta: { operation: 1, fields: ['id'] } } })
  expect(await db.authors.list({ filter: { name: 'Lost' } }).orThrow()).toEqual([])
})

it('does a batch with a key once', async () => {
  const add = (id: number) => [db.authors.create({ id, name: 'Once together' }, { fields: ['id'] })]
  const key = crypto.randomUUID()

  const first = await db.$batch(add(401), { idempotencyKey: key })
  const again = await db.$batch(add(401), { idempotencyKey: key })
  const other = await db.$batch(add(402), { idempotencyKey: key })

  expect(first.orThrow()).toEqual([{ id: '401' }])
  expect(again).toMatchObject({ ok: true, data: [{ id: '401' }] })
  expect(again.ok && again.headers.get('Idempotency-Replayed')).toBe('true')
  expect(other).toMatchObject({ ok: false, status: 422, error: { code: '4221' } })
})

it('changes in a batch only what is as it was read', async () => {
  const { _etag } = await db.articles.get('101', { fields: ['_etag'] }).orThrow()
  const { etag } = (await db.articles.get('102')) as { etag?: string }
  const change = (ifMatch: string) => [
    db.articles.update('101', { title: 'New' }, { ifMatch, fields: ['title'] }),
    db.articles.update('102', { status: 'new' }, { ifMatch: etag ?? '', fields: ['title'] }),
  ]

  const first = await db.$batch(change(_etag)).orThrow()
  const late = await db.$batch(change(_etag))

  expect(first).toEqual([{ title: 'New' }, { title: 'B' }])
  expect(late).toMatchObject({ ok: false, status: 412 })
})

it('refuses what no batch can take', async () => {
  const sent = db.authors.list()
  await sent
  const counts = db.authors.aggregate({ aggregate: { n: { count: '*' } } })
  const own = db.authors.list({ timeout: 5 })
  const alone = db.articles.create({ title: 'x', authorId: db.authors.create({ name: 'x' }).ref('id') })

  await expect(db.$batch([sent]).orThrow()).rejects.toThrow('was sent before')
  await expect(db.$batch([counts]).orThrow()).rejects.toThrow('Not a call that a batch can take')
  await expect(db.$batch([db.$auth.me()]).orThrow()).rejects.toThrow('Not a call that a batch can take')
  await expect(db.$batch([own]).orThrow()).rejects.toThrow('timeout is for the batch, not for a call in it')
  await expect(alone.orThrow()).rejects.toThrow('ref is for later calls of one batch')
})

it('counts, sums and compares by groups', async () => {
  const groups = await db.articles.aggregate({
    aggregate: { n: { count: '*' }, revenue: { sum: 'price' }, stars: { sum: 'rating' }, first: { min: 'title' } },
    group: ['status', { author: ['name'] }, { at: { trunc: 'month', zone: '+01:00', as: 'month' } }],
    filter: { title: { _neq: 'X' } },
    having: { n: { _gte: 1 } },
    sort: [{ n: 'desc' }, { month: 'asc' }],
    meta: ['totalCount'],
  })
  const all = await db.articles.aggregate({ aggregate: { n: { count: '*' } } }).orThrow()
  const long = await db.articles
    .aggregate({
      aggregate: { n: { count: '*' } },
      filter: { id: { _in: Array.from({ length: 1_500 }, (_, id) => id) } },
    })
    .orThrow()

  expect(groups).toMatchObject({ ok: true, meta: { totalCount: 3 } })
  expect(groups.orThrow()).toEqual([
    {
      group: { status: 'new', 'author.name': 'Ada', month: '2026-01-01' },
      n: 1,
      revenue: '2.25',
      stars: 0.25,
      first: 'B',
    },
    {
      group: { status: 'new', 'author.name': 'Ada', month: '2026-02-01' },
      n: 1,
      revenue: '1.50',
      stars: 0.5,
      first: 'A',
    },
    { group: { status: 'old', 'author.name': 'Bob', month: null }, n: 1, revenue: null, stars: null, first: 'C' },
  ])
  expect(all).toEqual([{ group: {}, n: 3 }])
  expect(long).toEqual([{ group: {}, n: 3 }])
})
