/** A document is kept by the digest of the names in it: with other names than those it is not made. */
import { expect, it } from 'vitest'
import type { SqlDriver, SqlRow } from '../../src/ports/database.ts'
import { createCalled } from '../../src/services/documents/called.ts'

/** A database that answers one statement after the other. */
function database(...answers: readonly SqlRow[]): SqlDriver {
  const left = [...answers]
  return { query: async () => left.splice(0, 1) } as Partial<SqlDriver> as SqlDriver
}

const names = JSON.stringify([{ id: 'title', isField: true, shown: { displayName: 'Title' } }])

it('has the names of its digest', async () => {
  const called = createCalled({ ports: { database: database(['one'], [names, 'one']) } })

  const { digest, load } = await called('shop')

  expect(digest).toBe('one')
  expect((await load())('title')).toEqual({ displayName: 'Title', description: undefined })
})

it('refuses names that have changed since', async () => {
  const called = createCalled({ ports: { database: database(['one'], [names, 'two']) } })
  const { load } = await called('shop')

  await expect(load()).rejects.toMatchObject({ kind: 'unavailable', meta: { retryAfter: 1 } })
})
