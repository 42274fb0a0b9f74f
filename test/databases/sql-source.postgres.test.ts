/** Writes that meet other writers: who has to give way tries again, and who only refers to a row is in nobody's way. */
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Drawing } from '../support/data/model-sketch.ts'
import { type NodeService, startService } from '../support/service/node-service.ts'

const library: Drawing = {
  collections: {
    authors: { id: 'int32', name: 'string?' },
    books: { id: 'int32 = counted', title: 'string', authorId: 'int32?' },
  },
  keys: {},
  relations: ['books.author(authorId) -> authors.books'],
}

let service: NodeService
let other: pg.Client
/** A third one, which is asked what the others wait for. */
let gate: pg.Client

beforeAll(async () => {
  service = await startService('library', library)
  await service.send('POST', 'authors', [{ id: 1 }, { id: 2 }])
  await service.send('POST', 'books', [{ title: 'one' }, { title: 'two' }, { title: 'three' }])
  other = await connected()
  gate = await connected()
})

afterAll(async () => {
  await Promise.all([other?.end(), gate?.end()])
  await service?.close()
})

it('is tried again after a deadlock', async () => {
  await gate.query(`begin; update books set title = 'other' where id = 2`)
  await other.query(`begin; update books set title = 'other' where id = 3`)
  const connect = { books: [{ _connect: { keys: [{ id: 1 }, { id: 2 }, { id: 3 }] } }] }
  const answer = service.send('PATCH', 'authors/1?fields=id,books.title', connect)
  await blocked(1)
  const theirs = other.query(`update books set title = 'other' where id = 1; commit`)
  await blocked(2)

  // Ours gets the second book and waits for the third: it is the last to wait and the first to look for a deadlock.
  await gate.query('commit')
  await theirs

  const title = 'other'
  expect(await answer).toEqual({
    status: 200,
    body: { data: { id: 1, books: { data: [{ title }, { title }, { title }] } } },
  })
  expect(await deadlocks()).toBeGreaterThan(0)
})

it('refers to a row that another is changing without waiting', async () => {
  await other.query(`begin; update authors set name = 'theirs' where id = 2`)

  const created = await service.send('POST', 'books?fields=author.id', [
    { title: 'ours', author: { _connect: { key: { id: 2 } } } },
  ])
  await other.query('rollback')

  expect(created).toEqual({ status: 200, body: { data: [{ author: { id: 2 } }] } })
})

it('changes a row that another refers to without waiting', async () => {
  await other.query(`begin; insert into books (title, "authorId") values ('theirs', 2)`)

  const renamed = await service.send('PATCH', 'authors/2?fields=name,books.title', { name: 'Ada' })
  await other.query('rollback')

  expect(renamed).toEqual({ status: 200, body: { data: { name: 'Ada', books: { data: [{ title: 'ours' }] } } } })
})

it('refers to no row that ends before it does', async () => {
  await service.send('POST', 'authors', [{ id: 3 }])
  await other.query(`begin; delete from authors where id = 3`)
  const answer = service.send('POST', 'books', [{ title: 'late', author: { _connect: { key: { id: 3 } } } }])
  await blocked(1)

  await other.query('commit')

  expect(await answer).toMatchObject({ status: 422, body: { source: { message: 'Foreign key constraint failed' } } })
})

/** It looks for deadlocks so late that the service has long found them. */
async function connected(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: service.databaseUrl })
  await client.connect()
  await client.query(`set search_path = "${service.schema}"; set deadlock_timeout = '1min'`)
  return client
}

/** Until so many sessions wait for a lock. */
async function blocked(sessions: number): Promise<void> {
  const waiting = `select 1 from pg_stat_activity where wait_event_type = 'Lock'`
  while (((await gate.query(waiting)).rowCount ?? 0) < sessions) await wait(5)
}

/** The server counts when a session is idle for a while. */
async function deadlocks(): Promise<number> {
  for (let attempt = 0; attempt < 1_200; attempt += 1) {
    const { rows } = await gate.query('select deadlocks::int from pg_stat_database where datname = current_database()')
    if (rows[0].deadlocks > 0) return rows[0].deadlocks
    await wait(50)
  }
  return 0
}
