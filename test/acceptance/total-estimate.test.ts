/** docs/contract.md#items: about how many items match, without telling of those that a caller may not read. */
import { beforeAll, describe, expect, it } from 'vitest'
import { people } from '../support/service/people.ts'
import { type Client, world } from '../support/service/world.ts'

const shop = await world.workspace(
  'estimates',
  { shelves: { name: 'string', isOpen: 'boolean' }, goods: { name: 'string', kind: 'string', shelfId: 'int64?' } },
  ['goods.shelf(shelfId) -> shelves.goods'],
)
const ALL = 1_300

beforeAll(async () => {
  const [open, shut] = await shop.insert('shelves', [
    { name: 'Open', isOpen: true },
    { name: 'Shut', isOpen: false },
  ])
  const goods = Array.from({ length: ALL }, (_, index) => ({
    name: `Good ${index}`,
    kind: index < 7 ? 'rare' : 'usual',
    shelfId: index % 2 === 0 ? open?.id : shut?.id,
  }))
  await shop.insert('goods', goods.slice(0, 700))
  await shop.insert('goods', goods.slice(700))
})

type Body = { readonly data: readonly object[]; readonly meta: { readonly totalEstimate: number | null } }

async function estimate(client: Pick<Client, 'get'>, query = ''): Promise<number | null> {
  const response = await client.get(`/items/goods?fields=name&limit=1&meta=totalEstimate${query}`)
  expect(response.status).toBe(200)
  const { data, meta } = (await response.json()) as Body
  expect([data.length, Object.keys(meta)]).toEqual([1, ['totalEstimate']])
  return meta.totalEstimate
}

const rare = '&filter[kind][_eq]=rare'
const open = '&filter[shelf][isOpen][_eq]=true'

/** A busy machine may not count in a moment, and then says what the planner does, or that it does not know. */
function counted(client: Pick<Client, 'get'>, query: string, expected: number): Promise<number | null> {
  return estimated(client, query, (figure) => figure === expected)
}

/** The planner may have looked at the first rows only, and then knows of fewer for a while. */
function found(client: Pick<Client, 'get'>, query = ''): Promise<number | null> {
  return estimated(client, query, (figure) => figure !== null && figure > 1_000)
}

async function estimated(client: Pick<Client, 'get'>, query: string, isSo: (figure: number | null) => boolean) {
  let figure: number | null = null
  const ask = async () => {
    figure = await estimate(client, query)
    return isSo(figure)
  }
  await expect.poll(ask).toBe(true)
  return figure
}

describe('totalEstimate', () => {
  it('is exact up to 1,000, whatever limit and offset', async () => {
    expect(await counted(shop, `${rare}&offset=2`, 7)).toBe(7)
    expect(await counted(shop, `${open}&offset=3`, ALL / 2)).toBe(ALL / 2)
  })

  it('is about the number of all beyond, where that tells of nothing hidden', async () => {
    expect(await found(shop)).toBeGreaterThan(1_000)
    expect(await found(shop, '&filter[kind][_eq]=usual')).toBeGreaterThan(1_000)
  })

  it('counts what the caller reads, and says no more of what they do not', async () => {
    const some = await people.member(shop, { collections: { goods: { read: { filter: { kind: { _eq: 'rare' } } } } } })
    const most = await people.member(shop, { collections: { goods: { read: { filter: { kind: { _eq: 'usual' } } } } } })
    const isOpen = { filter: { isOpen: { _eq: true } } }
    const through = await people.member(shop, { collections: { goods: { read: 'all' }, shelves: { read: isOpen } } })

    expect(await counted(some, '', 7)).toBe(7)
    expect(await estimate(most)).toBeNull()
    expect(await counted(through, open, ALL / 2)).toBe(ALL / 2)
    expect(await estimate(through, '&filter[_not][shelf][name][_eq]=x')).toBeNull()
    expect(await found(through)).toBeGreaterThan(1_000)
  })

  it('stands beside cursors and tags, and in each form of a request', async () => {
    const asked = { fields: ['name'], limit: 1, filter: { kind: { _eq: 'rare' } }, meta: ['totalEstimate', 'cursor'] }
    const queried = await shop.send('QUERY', '/items/goods', { body: asked })
    const tagged = await shop.get(`/items/goods?fields=name&meta=totalEstimate,etag${rare}`)

    expect(await queried.json()).toMatchObject({
      meta: { totalEstimate: expect.toBeOneOf([expect.any(Number), null]), next: expect.any(String), previous: null },
    })
    expect(tagged.headers.get('ETag')).toMatch(/^"/)
  })

  it('is refused where nothing can be estimated', async () => {
    const read = { kind: 'read', collection: 'goods', meta: 'totalEstimate' }
    const batch = await shop.post('/items', { operations: [read] })
    const roles = await shop.get('/roles?meta=totalEstimate')
    const groups = await shop.get('/aggregates/goods?aggregate[count]=*&meta=totalEstimate')

    expect([batch.status, roles.status, groups.status]).toEqual([422, 422, 422])
  })
})
