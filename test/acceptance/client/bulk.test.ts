/** Writes of many items, each with its own values, through the client (packages/client). */
import { beforeAll, expect, it } from 'vitest'
import type { Client } from '../../../packages/client/src/index.ts'
import { clientOf, openShop, type Schema } from './shop.ts'

let db: Client<Schema>

beforeAll(async () => {
  const opened = await openShop('bulk')
  db = clientOf(opened.shop)
  await db.authors
    .create([
      { id: 101, name: 'Ada' },
      { id: 102, name: 'Bob' },
    ])
    .orThrow()
})

it('adds what is not there and changes what is, one item or several', async () => {
  const one = await db.authors.upsert({ id: 101, name: 'Ada L.' }, { on: ['id'], fields: ['id', 'name'] }).orThrow()
  const several = await db.authors
    .upsert(
      [
        { id: 103, name: 'Cy' },
        { id: 101, name: 'Other' },
      ],
      { on: ['id'], do: 'ignore', fields: ['name'] },
    )
    .orThrow()
  const refused = await db.authors.upsert({ id: 104, name: 'Dee' }, { on: ['name' as 'id'] })

  expect(one).toEqual({ id: '101', name: 'Ada L.' })
  expect(several).toEqual([{ name: 'Cy' }, { name: 'Ada L.' }])
  expect(refused).toMatchObject({ ok: false, status: 422 })
})

it('changes several items, each by its key', async () => {
  const changed = await db.authors
    .update(
      [
        { id: '102', name: 'Bo' },
        { id: 101, name: 'Ad' },
      ],
      { fields: ['id', 'name'] },
    )
    .orThrow()
  const missing = await db.authors.update([{ id: '999', name: 'X' }])

  expect(changed).toEqual([
    { id: '102', name: 'Bo' },
    { id: '101', name: 'Ad' },
  ])
  expect(missing).toMatchObject({ ok: false, status: 404 })
})
