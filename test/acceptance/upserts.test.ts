/** New items that may be there already, on the database of every provider (docs/contract.md#upserts). */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type SourceServers, startSourceServers } from '../support/servers/source-servers.ts'
import { testedProviders } from '../support/servers/tested-providers.ts'
import { people } from '../support/service/people.ts'
import { createCollection, createRelation, type Workspace, world } from '../support/service/world.ts'

let servers: SourceServers
let shop: Workspace

beforeAll(async () => {
  servers = await startSourceServers()
  shop = await world.workspace('upserts', {})
})

afterAll(() => servers?.close())

async function answer(response: Response): Promise<unknown> {
  const text = await response.text()
  return [response.status, ...(text === '' ? [] : [JSON.parse(text) as unknown])]
}

describe.each(testedProviders)('%s', (provider) => {
  const [users, teams] = [`${provider}_users`, `${provider}_teams`]
  const items = `/items/${users}`
  const byEmail = (action: string, more = '') => `${items}?conflict[fields]=email&conflict[do]=${action}${more}`

  beforeAll(async () => {
    const { config } = servers[provider]
    const made = await shop.post('/sources/data', { apiName: `source_${provider}`, provider, config })
    const { data } = (await made.json()) as { data: { id: string } }
    const ids = new Map<string, string>()
    const fields = { email: 'string(80)', name: 'string(80)?', visits: 'int32?', teamId: 'int32?' }
    const collection = createCollection(ids, data.id, users, fields) as { data: { operations: object[] } }
    const index = { id: randomUUID(), dbName: `${users}_email`, kind: 'unique', fieldIds: [ids.get(`${users}.email`)] }
    collection.data.operations.push({ kind: 'createIndex', data: index })
    const migrated = await shop.migrate(
      createCollection(ids, data.id, teams, { id: 'int32', name: 'string(80)' }),
      collection as never,
      createRelation(ids, `${users}.team(teamId) -> ${teams}.users`),
    )
    expect(await answer(migrated)).toEqual([200])
    await shop.insert(teams, [
      { id: 1, name: 'red' },
      { id: 2, name: 'blue' },
    ])
  })

  beforeEach(async () => {
    await shop.delete(`${items}?filter[email][_neq]=`)
    await shop.insert(users, [
      { email: 'ada@x', name: 'Ada', visits: 1, teamId: 1 },
      { email: 'bo@x', name: 'Bo', visits: 2, teamId: 2 },
    ])
  })

  const all = () => shop.data(`${items}?fields=email,name,visits&sort[0][email][direction]=asc`)
  const untouched = [
    { email: 'ada@x', name: 'Ada', visits: 1 },
    { email: 'bo@x', name: 'Bo', visits: 2 },
  ]

  it('adds what is not there and changes what is, in the order sent', async () => {
    const written = await shop.post(byEmail('update', '&fields=email,name,visits,team.name'), [
      { email: 'cy@x', name: 'Cy', teamId: 2 },
      { email: 'ada@x', name: 'Lovelace' },
    ])

    const data = [
      { email: 'cy@x', name: 'Cy', visits: null, team: { name: 'blue' } },
      { email: 'ada@x', name: 'Lovelace', visits: 1, team: { name: 'red' } },
    ]
    expect(await answer(written)).toEqual([200, { data }])
    expect(await all()).toEqual([
      { email: 'ada@x', name: 'Lovelace', visits: 1 },
      { email: 'bo@x', name: 'Bo', visits: 2 },
      { email: 'cy@x', name: 'Cy', visits: null },
    ])
  })

  it('answers what is there as it stands where that is to be left', async () => {
    const written = await shop.post(byEmail('ignore', '&fields=email,name'), [
      { email: 'bo@x', name: 'Other' },
      { email: 'cy@x', name: 'Cy' },
    ])

    const data = [
      { email: 'bo@x', name: 'Bo' },
      { email: 'cy@x', name: 'Cy' },
    ]
    expect(await answer(written)).toEqual([200, { data }])
    expect(await all()).toEqual([...untouched, { email: 'cy@x', name: 'Cy', visits: null }])
  })

  const refusals: readonly [body: readonly object[], place: string, reason: unknown][] = [
    [[{ name: 'Cy' }], '[0].email', 'is required: it is one of conflict.fields'],
    [[{ email: 'cy@x' }, { email: 'cy@x' }], '[1]', 'is the same as [0] by conflict.fields'],
    [[{ email: 'cy@x' }, { email: null }], '[1].email', 'must not be null'],
    [[{ email: 'cy@x' }, { email: 'dee@x', visits: 'x' }], '[1].visits', expect.stringContaining('must be an integer')],
    [[{ email: 'cy@x' }, { email: 'ada@x', visits: { _increment: 1 } }], '[1].visits', expect.any(String)],
    [[{ email: 'cy@x', team: { _connect: { key: { id: 1 } } } }], '[0].team', expect.stringContaining('must not')],
  ]

  it('writes none where one cannot be', async () => {
    for (const [body, place, reason] of refusals) {
      const refused = await shop.post(byEmail('update'), body)

      const source = { message: place, source: { message: reason } }
      expect.soft(await answer(refused), JSON.stringify(body)).toMatchObject([422, { source }])
      expect.soft(await all(), JSON.stringify(body)).toEqual(untouched)
    }
  })

  it('writes none where the database refuses one', async () => {
    const refused = await shop.post(byEmail('update'), [
      { email: 'ada@x', name: 'Lovelace' },
      { email: 'cy@x', teamId: 7 },
    ])

    expect(await answer(refused)).toMatchObject([422, { source: { code: '1004' } }])
    expect(await all()).toEqual(untouched)
  })

  it('makes one item of fifty that race, and loses none of their changes', async () => {
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        shop.post(byEmail('update', '&fields=visits'), [{ email: 'race@x', visits: index }]),
      ),
    )
    const ignored = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        shop.post(byEmail('ignore', '&fields=visits'), [{ email: 'still@x', visits: index }]),
      ),
    )

    const told = (some: readonly Response[]) =>
      Promise.all(some.map(async (one) => `${one.status} ${await one.text()}`))
    const each = Array.from({ length: 50 }, (_, index) => `200 {"data":[{"visits":${index}}]}`)
    expect((await told(answers)).toSorted()).toEqual(each.toSorted())
    const [first, ...others] = new Set(await told(ignored))
    expect(each).toContain(first)
    expect(others).toEqual([])
    expect(
      await shop.data(
        `${items}?fields=email&filter[email][_in][0]=race@x&filter[email][_in][1]=still@x&sort[0][email][direction]=asc`,
      ),
    ).toEqual([{ email: 'race@x' }, { email: 'still@x' }])
  })

  it('asks the rights of a creation for the created, of a change for the changed', async () => {
    const rights = {
      read: { filter: { email: { _neq: 'bo@x' } } },
      create: { validation: { name: { _neq: 'bad' } } },
      update: { fields: ['name'], filter: { visits: { _eq: 1 } }, validation: { name: { _neq: 'worse' } } },
    }
    const member = await people.member(shop, { collections: { [users]: rights } })
    const post = async (item: object) => (await member.post(byEmail('update'), [item])).status

    const statuses = {
      created: await post({ email: 'cy@x', name: 'Cy' }),
      invalidCreation: await post({ email: 'dee@x', name: 'bad' }),
      changed: await post({ email: 'ada@x', name: 'bad' }),
      invalidChange: await post({ email: 'ada@x', name: 'worse' }),
      forbiddenRow: await post({ email: 'cy@x', name: 'Other' }),
      forbiddenField: await post({ email: 'ada@x', visits: 3 }),
    }

    expect(statuses).toEqual({
      created: 200,
      invalidCreation: 422,
      changed: 200,
      invalidChange: 422,
      forbiddenRow: 403,
      forbiddenField: 403,
    })
  })

  it('ends as a creation does where the caller does not see the row', async () => {
    const read = { filter: { email: { _neq: 'bo@x' } } }
    const member = await people.member(shop, { collections: { [users]: { read, create: 'all', update: 'all' } } })

    const answers = [
      await answer(await member.post(items, [{ email: 'bo@x' }])),
      await answer(await member.post(byEmail('update'), [{ email: 'bo@x' }])),
      await answer(await member.post(byEmail('ignore'), [{ email: 'bo@x' }])),
    ]

    const source = { message: 'Unique constraint failed', code: '1002', meta: { fields: ['email'] } }
    expect(answers).toEqual(Array(3).fill([422, { message: 'Query failed', source }]))
    expect(await all()).toEqual(untouched)
  })
})

it.each([
  ['conflict[fields]=name&conflict[do]=update', 'conflict.fields'],
  ['conflict[fields]=id,name&conflict[do]=update', 'conflict.fields'],
  ['conflict[fields]=id,id&conflict[do]=update', 'conflict.fields'],
  ['conflict[fields]=unknown&conflict[do]=update', 'conflict.fields'],
  ['conflict[do]=update', 'conflict.fields'],
  ['conflict[fields]=id', 'conflict.do'],
  ['conflict[fields]=id&conflict[do]=replace', 'conflict.do'],
  ['conflict[fields]=id&conflict[do]=update&conflict[where]=1', 'conflict.where'],
  ['conflict=id', 'conflict'],
  ['filter[id][_eq]=1', 'filter'],
])('refuses %s', async (query, place) => {
  const own = await world.workspace('conflicts', { stock: { id: 'int32', name: 'string' } })

  const refused = await own.post(`/items/stock?${query}`, [{ id: 1, name: 'a' }])

  expect(await answer(refused)).toMatchObject([422, { source: { message: place } }])
})

it('takes its arguments as JSON, and asks to read the fields', async () => {
  const own = await world.workspace('conflicted', { stock: { id: 'int32', name: 'string' } })
  const blind = await people.member(own, {
    collections: { stock: { read: { fields: ['name'] }, create: 'all', update: 'all' } },
  })
  const query = `conflict=${encodeURIComponent('{"fields": ["id"], "do": "update"}')}&fields=id,name`

  const written = await own.post(`/items/stock?${query}`, [{ id: 1, name: 'a' }])
  const changed = await own.post(`/items/stock?${query}`, [{ id: 1, name: 'b' }])
  const refused = await blind.post('/items/stock?conflict[fields]=id&conflict[do]=update', [{ id: 1, name: 'c' }])

  expect(await answer(written)).toEqual([200, { data: [{ id: 1, name: 'a' }] }])
  expect(await answer(changed)).toEqual([200, { data: [{ id: 1, name: 'b' }] }])
  expect(refused.status).toBe(403)
})
