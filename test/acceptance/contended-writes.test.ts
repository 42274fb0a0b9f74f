/** Writes that are in each other's way, on the database of every provider (docs/contract.md#writes-in-each-others-way). */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { casesOr } from '../support/run/cases.ts'
import { type SourceServers, startSourceServers } from '../support/servers/source-servers.ts'
import { testedProviders } from '../support/servers/tested-providers.ts'
import { createCollection, type Workspace, world } from '../support/service/world.ts'

let servers: SourceServers
let shop: Workspace

beforeAll(async () => {
  servers = await startSourceServers()
  shop = await world.workspace('contended', {})
})

afterAll(() => servers?.close())

const times = <T>(count: number, make: (index: number) => T) => Array.from({ length: count }, (_, index) => make(index))

/** How often there was each answer. */
async function tally(answers: readonly Promise<Response>[]): Promise<Readonly<Record<string, number>>> {
  const told: Record<string, number> = {}
  for (const answer of await Promise.all(answers)) {
    const text = answer.status === 200 ? '' : ` ${await answer.text()}`
    const name = `${answer.status}${text}`
    told[name] = (told[name] ?? 0) + 1
  }
  return told
}

/** All of them have 20 seconds, on a machine that does other things besides. */
const writers = casesOr(30, { least: 10 })

describe.each(testedProviders)('%s', (provider) => {
  const accounts = `${provider}_accounts`
  const items = `/items/${accounts}`

  beforeAll(async () => {
    const { config } = servers[provider]
    const made = await shop.post('/sources/data', { apiName: `source_${provider}`, provider, config })
    const { data } = (await made.json()) as { data: { id: string } }
    const ids = new Map<string, string>()
    const fields = { code: 'string(80)', amount: 'int64', label: 'string(80)?' }
    const collection = createCollection(ids, data.id, accounts, fields) as { data: { operations: object[] } }
    for (const name of ['code', 'label']) {
      const fieldIds = [ids.get(`${accounts}.${name}`)]
      const data = { id: randomUUID(), dbName: `${accounts}_${name}`, kind: 'unique', fieldIds }
      collection.data.operations.push({ kind: 'createIndex', data })
    }
    expect((await shop.migrate(collection as never)).status).toBe(200)
  })

  const bySum = 'sort[0][amount][direction]=asc'

  it('loses none of many batches that change two items in opposite order', async () => {
    const [one, other] = await shop.insert(accounts, [
      { code: 'one', amount: 0 },
      { code: 'other', amount: 0 },
    ])
    const change = (key: unknown, by: number) => {
      return { kind: 'update', collection: accounts, key, data: { amount: { _increment: by } } }
    }

    const answers = times(writers, (index) => {
      const operations = [change(one?.id, 1), change(other?.id, 100)]
      return shop.post('/items', { operations: index % 2 === 0 ? operations : operations.toReversed() })
    })

    expect(await tally(answers)).toEqual({ 200: writers })
    expect(
      await shop.data(`${items}?fields=amount&filter[code][_in][0]=one&filter[code][_in][1]=other&${bySum}`),
    ).toEqual([{ amount: `${writers}` }, { amount: `${writers * 100}` }])
  })

  it('loses none of thirty upserts of new items', async () => {
    const upsert = `${items}?conflict[fields]=code&conflict[do]=update`
    const rounds = times(5, (round) => round)

    for (const round of rounds) {
      const answers = times(30, (index) =>
        shop.post(upsert, [
          { code: `${round}-${index % 10}`, amount: index },
          ...(index % 2 === 0 ? [] : [{ code: `${round}-${index}-more`, amount: index }]),
        ]),
      )
      expect(await tally(answers)).toEqual({ 200: 30 })
    }

    const { meta } = (await (await shop.get(`${items}?limit=1&meta=totalCount&filter[code][_contains]=-`)).json()) as {
      meta: object
    }
    expect(meta).toEqual({ totalCount: rounds.length * 25 })
  })

  it.each(['update', 'ignore'])('makes one item of fifty upserts whose key is checked first: %s', async (action) => {
    const item = (way: string, id: number) => ({ id, code: `${action}-${way}`, label: `${action}-${way}`, amount: id })
    const [alone, inBatch] = { update: [901, 902], ignore: [903, 904] }[action] ?? []
    const single = item('alone', alone ?? 0)
    const data = item('batch', inBatch ?? 0)
    const conflict = { fields: ['label'], do: action }

    const answers = times(50, (index) =>
      index % 2 === 0
        ? shop.post(`${items}?conflict[fields]=label&conflict[do]=${action}`, [single])
        : shop.post('/items', { operations: [{ kind: 'upsert', collection: accounts, data: [data], conflict }] }),
    )

    expect(await tally(answers)).toEqual({ 200: 50 })
    const made = `${items}?fields=id&filter[code][_starts_with]=${action}-&sort[0][id][direction]=asc`
    expect(await shop.data(made)).toEqual([{ id: String(alone) }, { id: String(inBatch) }])
  })

  it('tries once more where another unique index is violated than that of the upsert', async () => {
    const upsert = `${items}?conflict[fields]=code&conflict[do]=update&fields=id`
    const ids = async (response: Response) => {
      const { data } = (await response.json()) as { data: { id: string }[] }
      return Number(data[0]?.id)
    }
    const before = await ids(await shop.post(upsert, [{ code: 'before', amount: 0, label: 'taken' }]))

    const refused = await shop.post(upsert, [{ code: 'refused', amount: 0, label: 'taken' }])

    const after = await ids(await shop.post(upsert, [{ code: 'after', amount: 0 }]))
    expect([refused.status, await refused.json()]).toMatchObject([422, { source: { code: '1002' } }])
    // The database counts each attempt.
    expect(after - before).toBe(3)
  })
})
