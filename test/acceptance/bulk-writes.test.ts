/** Bulk writes on the database of every provider (docs/contract.md#bulk-writes). */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type SourceServers, startSourceServers } from '../support/servers/source-servers.ts'
import { testedProviders } from '../support/servers/tested-providers.ts'
import { people } from '../support/service/people.ts'
import { createCollection, type Workspace, world } from '../support/service/world.ts'

let servers: SourceServers
let shop: Workspace

beforeAll(async () => {
  servers = await startSourceServers()
  shop = await world.workspace('bulk', {})
})

afterAll(() => servers?.close())

async function answer(response: Response): Promise<unknown> {
  const text = await response.text()
  return [response.status, ...(text === '' ? [] : [JSON.parse(text) as unknown])]
}

describe.each(testedProviders)('%s', (provider) => {
  const stock = `${provider}_stock`
  const items = `/items/${stock}`

  beforeAll(async () => {
    const { config } = servers[provider]
    const made = await shop.post('/sources/data', { apiName: `source_${provider}`, provider, config })
    const { data } = (await made.json()) as { data: { id: string } }
    const fields = { id: 'int32', name: 'string(80)', left: 'int32?', price: 'decimal(5,2)?', mass: 'float64?' }
    expect((await shop.migrate(createCollection(new Map(), data.id, stock, fields))).status).toBe(200)
  })

  beforeEach(async () => {
    await shop.delete(`${items}?filter[id][_gt]=0`)
    await shop.insert(stock, [
      { id: 1, name: 'lamp', left: 3 },
      { id: 2, name: 'chair', left: 0 },
      { id: 3, name: 'table', left: null },
    ])
  })

  const all = () => shop.data(`${items}?fields=id,left`)
  const untouched = [
    { id: 1, left: 3 },
    { id: 2, left: 0 },
    { id: 3, left: null },
  ]

  it('changes and deletes as many as max, and nothing where more match', async () => {
    const tooMany = (max: number) => [
      422,
      {
        message: expect.stringContaining('Failed to execute query: '),
        source: { message: 'max', source: { message: `more than ${max} items match` } },
        code: '4013',
        meta: { matched: max + 1 },
      },
    ]

    const refused = [
      await answer(await shop.patch(`${items}?filter[id][_gt]=0&max=2`, { left: 9 })),
      await answer(await shop.delete(`${items}?filter[id][_gt]=0&max=1`)),
    ]
    const before = await all()
    const changed = await shop.patch(`${items}?filter[id][_gt]=1&max=2&fields=left`, { left: 9 })
    const none = await shop.patch(`${items}?filter[id][_gt]=3&max=1`, { left: 9 })
    const deleted = await shop.delete(`${items}?filter[id][_lt]=3&max=2`)

    expect(refused).toEqual([tooMany(2), tooMany(1)])
    expect(before).toEqual(untouched)
    expect(await answer(changed)).toEqual([200, { data: [{ left: 9 }, { left: 9 }] }])
    expect(await answer(none)).toEqual([200, { data: [] }])
    expect(await answer(deleted)).toEqual([204])
    expect(await all()).toEqual([{ id: 3, left: 9 }])
  })

  it('adds to numbers as they are, and leaves null as it is', async () => {
    await shop.patch(`${items}/1`, { price: '999.50', mass: 0.5 })

    const changed = await shop.patch(`${items}/1?fields=left,price,mass`, {
      left: { _increment: -1 },
      price: { _increment: '0.49' },
      mass: { _increment: 1.25 },
    })
    const many = await shop.patch(`${items}?filter[id][_gt]=0&fields=id,left`, { left: { _increment: '10' } })

    expect(await answer(changed)).toEqual([200, { data: { left: 2, price: '999.99', mass: 1.75 } }])
    expect(await answer(many)).toMatchObject([200, { data: expect.arrayContaining([{ id: 3, left: null }]) }])
    expect(await all()).toEqual([
      { id: 1, left: 12 },
      { id: 2, left: 10 },
      { id: 3, left: null },
    ])
  })

  const beyondRange: readonly [name: string, body: object][] = [
    ['left', { left: { _increment: 2147483645 } }],
    ['left', { left: { _increment: '-2147483652' } }],
    ['left', { left: { _increment: '9223372036854775807' }, mass: { _increment: 1 } }],
    ['price', { left: { _increment: 1 }, price: { _increment: '0.01' } }],
    ['price', { price: { _increment: '-999.99' } }],
    ['mass', { mass: { _increment: 1e308 } }],
  ]

  it('refuses what takes a number out of its range', async () => {
    for (const [name, body] of beyondRange) {
      const price = JSON.stringify(body).includes('-999.99') ? '-0.01' : '999.99'
      await shop.patch(`${items}/1`, { price, mass: 1e308 })

      const refused = await shop.patch(`${items}/1`, body)

      const source = { message: 'Value out of range', code: '1001', meta: { fields: [name] } }
      expect.soft(await answer(refused), JSON.stringify(body)).toEqual([422, { message: 'Query failed', source }])
      expect.soft(await all(), JSON.stringify(body)).toEqual(untouched)
    }
  })

  it('adds all of what a hundred add at once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        shop.patch(index % 2 === 0 ? `${items}/1` : `${items}?filter[id][_eq]=1&max=1`, {
          left: { _increment: index },
        }),
      ),
    )

    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    expect(await shop.data(`${items}/1?fields=left`)).toEqual({ left: 3 + 4950 })
  })

  it('changes by an operator what the caller reads in that row alone', async () => {
    const update = { fields: ['left', 'name'] }
    const all = { fields: ['id', 'name'] }
    const some = { fields: ['id', 'name', 'left'], filter: { name: { _eq: 'lamp' } } }
    const blind = await people.member(shop, { collections: { [stock]: { read: all, update } } })
    const policies = [
      await people.policy(shop, { collections: { [stock]: { read: all, update } } }),
      await people.policy(shop, { collections: { [stock]: { read: some } } }),
    ]
    const partly = await people.memberWith(shop, [await people.role(shop, policies)])
    const body = { left: { _increment: 1 } }

    const statuses = [
      await blind.patch(`${items}/1`, body),
      await blind.patch(`${items}/1`, { left: 3 }),
      await partly.patch(`${items}/1`, body),
      await partly.patch(`${items}/2`, body),
      await partly.patch(`${items}?filter[id][_gt]=0`, body),
    ].map(({ status }) => status)

    expect(statuses).toEqual([403, 200, 200, 403, 403])
    expect(await shop.data(`${items}/1?fields=left`)).toEqual({ left: 4 })
  })

  it('gives each item of a list its own values, in the order sent', async () => {
    const changed = await shop.patch(`${items}?fields=id,name,left`, [
      { id: 3, name: 'desk' },
      { id: 1, left: { _increment: -1 }, name: 'light' },
      { id: 2 },
    ])

    expect(await answer(changed)).toEqual([
      200,
      {
        data: [
          { id: 3, name: 'desk', left: null },
          { id: 1, name: 'light', left: 2 },
          { id: 2, name: 'chair', left: 0 },
        ],
      },
    ])
    expect(await shop.data(`${items}?fields=name`)).toEqual([{ name: 'light' }, { name: 'chair' }, { name: 'desk' }])
  })

  const refusals: readonly [status: number, body: readonly unknown[], place: string, reason: unknown][] = [
    [
      404,
      [
        { id: 1, left: 9 },
        { id: 7, left: 9 },
      ],
      '[1]',
      'No record found',
    ],
    [422, [{ id: 1, left: 9 }, { left: 9 }], '[1].id', 'is required: it names the item'],
    [
      422,
      [
        { id: 1, left: 9 },
        { id: null, left: 9 },
      ],
      '[1].id',
      'must not be null',
    ],
    [422, [{ id: 1, left: 9 }, { id: 2, left: 9 }, { id: 1 }], '[2]', 'has the key of [0]'],
    [
      422,
      [
        { id: 1, left: 9 },
        { id: 2, left: 'x' },
      ],
      '[1].left',
      expect.stringContaining('must be an integer'),
    ],
    [
      422,
      [
        { id: 1, left: 9 },
        { id: 2, unknown: 1 },
      ],
      '[1].unknown',
      expect.stringContaining('is not a field of'),
    ],
    [422, [{ id: 1, left: 9 }, 2], '[1]', 'must be an object'],
  ]

  it('changes none where one cannot be', async () => {
    for (const [status, body, place, reason] of refusals) {
      const refused = await shop.patch(items, body)

      const source = { message: place, source: { message: reason } }
      expect.soft(await answer(refused), JSON.stringify(body)).toMatchObject([status, { source }])
      expect.soft(await all(), JSON.stringify(body)).toEqual(untouched)
    }
  })

  it('checks each item of a list under the rights of its row', async () => {
    const update = { fields: ['left'], filter: { id: { _lt: 3 } }, validation: { left: { _lt: 10 } } }
    const member = await people.member(shop, { collections: { [stock]: { read: 'all', update } } })
    const change = (left: number, id: number) =>
      member.patch(`${items}?fields=left`, [
        { id: 1, left: 5 },
        { id, left },
      ])

    const statuses = [await change(6, 2), await change(6, 3), await change(10, 2)].map(({ status }) => status)

    expect(statuses).toEqual([200, 403, 422])
    expect(await shop.data(`${items}?fields=left`)).toEqual([{ left: 5 }, { left: 6 }, { left: null }])
  })

  it('waits for other lists, in whatever order they name the same items', async () => {
    const change = [1, 2].map((id) => ({ id, left: { _increment: 1 } }))

    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => shop.patch(items, index % 2 === 0 ? change : change.toReversed())),
    )

    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    expect(await shop.data(`${items}?fields=left`)).toEqual([{ left: 23 }, { left: 20 }, { left: null }])
  })

  it('writes all where all are meant, and none by a filter that says nothing', async () => {
    const nothing = ['{}', '{"_and":[]}', '{"_or":[{}]}', '{"id":{"_nin":[]}}', '{"_not":{"_or":[]}}']
    const refused = nothing.flatMap((filter) => [
      shop.delete(`${items}?filter=${filter}`),
      shop.patch(`${items}?filter=${filter}`, { left: 9 }),
    ])
    const statuses = (await Promise.all(refused)).map(({ status }) => status)
    const inBatch = await shop.post('/items', {
      operations: [{ kind: 'delete', collection: stock, filter: { _and: [] } }],
    })
    const before = await all()
    const bounded = await shop.patch(`${items}?filter={"_and":[]}&max=3&fields=left`, { left: 7 })
    const changed = await shop.patch(`${items}?filter[_all]=true&fields=left`, { left: 8 })
    const deleted = await shop.delete(`${items}?filter={"_all":true}`)

    expect(statuses).toEqual(statuses.map(() => 422))
    expect(inBatch.status).toBe(422)
    expect(before).toEqual(untouched)
    expect(await answer(bounded)).toEqual([200, { data: [{ left: 7 }, { left: 7 }, { left: 7 }] }])
    expect(await answer(changed)).toEqual([200, { data: [{ left: 8 }, { left: 8 }, { left: 8 }] }])
    expect(deleted.status).toBe(204)
    expect(await all()).toEqual([])
  })

  it('counts for max what the caller reads alone', async () => {
    const some = { filter: { id: { _lt: 3 } } }
    const member = await people.member(shop, { collections: { [stock]: { read: some, update: some } } })

    const changed = await member.patch(`${items}?filter[id][_gt]=0&max=2&fields=id`, { left: 9 })
    const refused = await member.patch(`${items}?filter[id][_gt]=0&max=1&fields=id`, { left: 8 })

    expect(await answer(changed)).toEqual([200, { data: [{ id: 1 }, { id: 2 }] }])
    expect(await answer(refused)).toMatchObject([422, { code: '4013', meta: { matched: 2 } }])
    expect(await all()).toEqual([
      { id: 1, left: 9 },
      { id: 2, left: 9 },
      { id: 3, left: null },
    ])
  })
})

it('refuses max where it does not belong, and what is no count', async () => {
  const own = await world.workspace('bounds', { stock: { name: 'string' } })

  const answers = [
    await own.patch('/items/stock/1?max=1', { name: 'a' }),
    await own.delete('/items/stock/1?max=1'),
    await own.post('/items/stock?max=1', [{ name: 'a' }]),
    await own.get('/items/stock?max=1'),
    await own.delete('/items/stock?filter[id][_gt]=0&max=0'),
    await own.delete('/items/stock?filter[id][_gt]=0&max=many'),
    await own.delete('/items/stock?max=5'),
    await own.patch('/items/stock?max=5', []),
    await own.patch('/items/stock?filter[id][_gt]=0', []),
  ]

  expect(answers.map(({ status }) => status)).toEqual(Array(9).fill(422))
})

it('takes relations in the items of a list, and a list of none', async () => {
  const own = await world.workspace(
    'each',
    { rooms: { id: 'int32', name: 'string' }, seats: { id: 'int32', row: 'int32', note: 'string?', roomId: 'int32?' } },
    ['seats.room(roomId) -> rooms.seats'],
  )
  await own.insert('rooms', [{ id: 1, name: 'hall' }])
  await own.insert('seats', [
    { id: 1, row: 1 },
    { id: 2, row: 1 },
  ])

  const changed = await own.patch('/items/seats?fields=id,room.name', [
    { id: 2, room: [{ _create: { data: { id: 2, name: 'attic' } } }] },
    { id: 1, room: [{ _connect: { key: { id: 1 } } }] },
  ])
  const none = await own.patch('/items/seats', [])

  const data = [
    { id: 2, room: { name: 'attic' } },
    { id: 1, room: { name: 'hall' } },
  ]
  expect(await answer(changed)).toEqual([200, { data }])
  expect(await answer(none)).toEqual([200, { data: [] }])
})
