/** A filter beside the key of one item: the write happens only where the item meets it (docs/contract.md#items). */
import { beforeAll, expect, it } from 'vitest'
import { people } from '../support/service/people.ts'
import { type Workspace, world } from '../support/service/world.ts'

let shop: Workspace

beforeAll(async () => {
  shop = await world.workspace('filtered', { stock: { name: 'string', left: 'int32?', state: 'string?' } })
  await shop.insert('stock', [
    { name: 'lamp', left: 3 },
    { name: 'chair', left: 0 },
    { name: 'table', left: null },
  ])
})

const notFound = { message: 'Query failed', source: { message: 'No record found' } }

it('changes the item where it meets the filter, and is 404 where it does not', async () => {
  const changed = await shop.patch('/items/stock/1?filter[left][_gte]=1&fields=name,left', { left: 2 })
  const refused = await shop.patch('/items/stock/2?filter[left][_gte]=1', { left: -1 })
  const unknown = await shop.patch('/items/stock/3?filter[left][_gte]=1', { left: -1 })

  expect([changed.status, await changed.json()]).toEqual([200, { data: { name: 'lamp', left: 2 } }])
  expect([refused.status, await refused.json()]).toEqual([404, notFound])
  expect([unknown.status, await unknown.json()]).toEqual([404, notFound])
  expect(await shop.data('/items/stock?fields=left')).toEqual([{ left: 2 }, { left: 0 }, { left: null }])
})

it('deletes the item where it meets the filter, and is 404 where it does not', async () => {
  const [made] = await shop.insert('stock', [{ name: 'desk', left: 1 }])

  const refused = await shop.delete(`/items/stock/${made?.id}?filter[left][_eq]=0`)
  const deleted = await shop.delete(`/items/stock/${made?.id}?filter[left][_eq]=1`)

  expect([refused.status, await refused.json(), deleted.status]).toEqual([404, notFound, 204])
})

it('is met by one of many that ask for the same state', async () => {
  const [made] = await shop.insert('stock', [{ name: 'race', state: 'open' }])
  const path = `/items/stock/${made?.id}?filter[state][_eq]=open`

  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) => shop.patch(path, { state: `taken by ${index}` })),
  )

  const statuses = answers.map(({ status }) => status).sort()
  expect(statuses).toEqual([200, ...Array(19).fill(404)])
})

it('is met by what the caller may read alone', async () => {
  const member = await people.member(shop, {
    collections: {
      stock: {
        read: { fields: ['id', 'name'], filter: { name: { _neq: 'chair' } } },
        update: { fields: ['name'], filter: { name: { _neq: 'chair' } } },
      },
    },
  })

  const statuses = [
    await member.patch('/items/stock/1?filter[name][_eq]=lamp', { name: 'lamp' }),
    await member.patch('/items/stock/1?filter[name][_eq]=other', { name: 'lamp' }),
    await member.patch('/items/stock/2?filter[name][_eq]=chair', { name: 'chair' }),
    await member.patch('/items/stock/1?filter[left][_gte]=0', { name: 'lamp' }),
  ].map(({ status }) => status)

  expect(statuses).toEqual([200, 404, 404, 403])
})
