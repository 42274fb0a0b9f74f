/**
 * A ledger of writes in the database of a data source, given by a migration: a write under an Idempotency-Key is in one
 * transaction with its key (docs/contract.md#idempotency). The table is no collection, and no change by others.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { SqlProvider } from '../../src/core/sql/address.ts'
import { ledgerColumns } from '../../src/core/sql/write/ledger-table.ts'
import { type SourceServers, startSourceServers } from '../support/servers/source-servers.ts'
import { testedProviders } from '../support/servers/tested-providers.ts'
import { people } from '../support/service/people.ts'
import { type Client, createCollection, createRelation, type Workspace, world } from '../support/service/world.ts'

let servers: SourceServers
let shop: Workspace

beforeAll(async () => {
  servers = await startSourceServers()
  shop = await world.workspace('ledgers', {})
})

afterAll(() => servers?.close())

const newKey = () => crypto.randomUUID()

async function send(on: Client, key: string, [method, path, body]: readonly [string, string, unknown?], tag?: string) {
  const condition: Record<string, string> = tag === undefined ? {} : { 'If-Match': tag }
  const response = await on.send(method, path, { body, headers: { 'Idempotency-Key': key, ...condition } })
  const text = await response.text()
  const replayed = response.headers.get('Idempotency-Replayed')
  return { status: response.status, replayed, body: text === '' ? '' : (JSON.parse(text) as unknown) }
}

const coded = (code: string) => expect.objectContaining({ code })

describe.each(testedProviders)('%s', (provider: SqlProvider) => {
  const [authors, books, ids] = [`${provider}_authors`, `${provider}_books`, new Map<string, string>()]
  let sourceId: string

  beforeAll(async () => {
    const { config } = servers[provider]
    const made = await shop.post('/sources/data', { apiName: `source_${provider}`, provider, config })
    const { data } = (await made.json()) as { data: { id: string } }
    sourceId = data.id
    const imported = await shop.post(`/schema/introspect/${sourceId}`, undefined)
    const migrated = await shop.migrate(
      createCollection(ids, sourceId, authors, { name: 'string' }),
      createCollection(ids, sourceId, books, { title: 'string', text: 'string?', authorId: 'int64?' }),
      createRelation(ids, `${books}.author(authorId) -> ${authors}.books`),
      { kind: 'createIdempotencyLedger', data: { sourceId } },
    )
    expect([imported.status, migrated.status, await migrated.text()]).toEqual([200, 200, ''])
  })

  const counted = async (title: string) => {
    const found = (await shop.data(`/items/${books}?fields=id&filter[title][_eq]=${title}`)) as unknown[]
    return found.length
  }
  const entries = async () => {
    const [[name] = []] = await servers[provider].run(
      "select table_name from information_schema.tables where table_name like 'service\\_ledger\\_%'",
    )
    return servers[provider].run(`select outcome from ${name}`)
  }

  it('has a table that is no collection, and no change by others', async () => {
    const imported = await shop.post(`/schema/introspect/${sourceId}`, undefined)
    const again = await shop.migrate({ kind: 'createIdempotencyLedger', data: { sourceId } })

    expect(await imported.json()).toEqual({ data: { operations: [], skipped: [] } })
    expect([again.status, JSON.stringify(await again.json())]).toEqual([500, expect.stringContaining('has a ledger')])
    expect(await shop.data('/schema/drift')).toEqual({ sources: [] })
  })

  it('writes once, whoever sends it at the same time or later', async () => {
    const key = newKey()
    const before = await entries()
    const write = [
      'POST',
      `/items/${books}?fields=id,title,author.name`,
      [{ title: key, author: { _create: { data: { name: 'Ada' } } } }],
    ] as const

    const answers = await Promise.all(Array.from({ length: 10 }, () => send(shop, key, write)))
    const later = await send(shop, key, write)

    expect(new Set(answers.map(({ status, body }) => JSON.stringify([status, body]))).size).toBe(1)
    expect(answers.filter(({ replayed }) => replayed === null)).toHaveLength(1)
    expect(later).toMatchObject({ status: 200, replayed: 'true', body: answers[0]?.body })
    expect(await counted(key)).toBe(1)
    expect(await entries()).toEqual([...before, ['done']])
  })

  it('changes and deletes once', async () => {
    const [change, deletion] = [newKey(), newKey()]
    const [made] = await shop.insert(books, [{ title: change }])
    const path = `/items/${books}/${made?.id}`

    const answers = [
      await send(shop, change, ['PATCH', `${path}?fields=title`, { title: deletion }]),
      await send(shop, change, ['PATCH', `${path}?fields=title`, { title: deletion }]),
      await send(shop, change, ['PATCH', `${path}?fields=title`, { title: 'another' }]),
      await send(shop, deletion, ['DELETE', `${path}?fields=title`]),
      await send(shop, deletion, ['DELETE', `${path}?fields=title`]),
      await send(shop, newKey(), ['DELETE', path]),
    ]

    expect(answers.map(({ status, replayed }) => [status, replayed])).toEqual([
      [200, null],
      [200, 'true'],
      [422, null],
      [200, null],
      [200, 'true'],
      [404, null],
    ])
    expect(answers[2]?.body).toEqual(coded('4221'))
    expect(answers[4]?.body).toEqual({ data: { title: deletion } })
  })

  it('changes an item as it was read once, and leaves no key where it is another', async () => {
    const [key, late] = [newKey(), newKey()]
    const [made] = await shop.insert(books, [{ title: late }])
    const path = `/items/${books}/${made?.id}`
    const tagOf = async () => `"${((await shop.data(`${path}?fields=_etag`)) as { _etag: string })._etag}"`
    const tag = await tagOf()
    const change = ['PATCH', `${path}?fields=title`, { title: key }] as const

    const answers = [
      await send(shop, key, change, tag),
      await send(shop, key, change, tag),
      await send(shop, key, change),
      await send(shop, late, change, tag),
      await send(shop, late, change, await tagOf()),
    ]

    expect(answers.map(({ status, replayed }) => [status, replayed])).toEqual([
      [200, null],
      [200, 'true'],
      [422, null],
      [412, null],
      [200, null],
    ])
    expect(answers[1]?.body).toEqual({ data: { title: key } })
  })

  it('is no table that is a collection already, and is there or not as an unfinished migration left it', async () => {
    const [named, missing] = [`service_ledger_${provider}`, `${provider}_missing`]
    const { run } = servers[provider]
    await run(`create table ${named} (id int primary key)`)
    await shop.post(`/schema/introspect/${sourceId}`, undefined)
    await run(...ledgerColumns.map(({ dbName }) => `alter table ${named} add ${dbName} int`))
    const grown = await shop.post(`/schema/introspect/${sourceId}`, undefined)
    const twin = createCollection(new Map(), shop.sourceId, missing, { text: 'string' })
    await shop.migrate(twin)
    await shop.post(`/schema/introspect/${shop.sourceId}`, { tables: { exclude: [missing] } })

    const failed = await shop.migrate(
      { kind: 'deleteIdempotencyLedger', data: { sourceId } },
      createCollection(new Map(), shop.sourceId, missing, { text: 'string' }),
    )
    const without = await send(shop, newKey(), ['POST', `/items/${books}`, [{ title: 'without' }]])
    await shop.post(`/schema/introspect/${sourceId}`, undefined)
    const again = await shop.migrate({ kind: 'createIdempotencyLedger', data: { sourceId } })

    expect(JSON.stringify(await grown.json())).toMatch(/^{"data":{"operations":\[{"kind":"updateCollection"/)
    expect([failed.status, without.status, again.status]).toEqual([500, 200, 200])
    await run(`drop table ${named}`)
    await shop.post(`/schema/introspect/${sourceId}`, undefined)
  })

  it('forgets a try that failed, with what it had done', async () => {
    const key = newKey()
    const [made] = await shop.insert(books, [{ title: 'there' }])
    const before = await entries()

    const refused = await send(shop, key, ['POST', `/items/${books}`, [{ title: key }, { id: made?.id, title: key }]])
    const missing = await send(shop, key, ['PATCH', `/items/${books}/987654321`, { title: key }])
    const left = await entries()
    const done = await send(shop, key, ['POST', `/items/${books}`, [{ title: key }]])

    expect([refused.status, missing.status, left]).toEqual([422, 404, before])
    expect([done.status, done.replayed, await counted(key)]).toEqual([200, null, 1])
  })

  it('reads the items of long answers again, and of callers whose rows decide', async () => {
    const [long, own] = [newKey(), newKey()]
    const member = await people.member(shop, {
      collections: { [books]: { create: 'all', read: { filter: { title: { _neq: 'hidden' } } } } },
    })
    // More than 64 KiB in bytes alone.
    const pages = Array.from({ length: 30 }, (_, index) => ({ title: long, text: `${index} ${'é'.repeat(1_200)}` }))

    const first = await send(shop, long, ['POST', `/items/${books}?fields=title,text`, pages])
    await shop.patch(`/items/${books}?filter[title][_eq]=${long}&filter[text][_starts_with]=7`, { text: 'changed' })
    const again = await send(shop, long, ['POST', `/items/${books}?fields=title,text`, pages])
    await send(member, own, ['POST', `/items/${books}?fields=title`, [{ title: own }]])
    await shop.patch(`/items/${books}?filter[title][_eq]=${own}`, { title: 'hidden' })
    const hidden = await send(member, own, ['POST', `/items/${books}?fields=title`, [{ title: own }]])

    const shown = pages.map((page, index) => (index === 7 ? { ...page, text: 'changed' } : page))
    expect(first).toEqual({ status: 200, replayed: null, body: { data: pages } })
    expect(again).toEqual({ status: 200, replayed: 'true', body: { data: shown } })
    expect(hidden).toEqual({ status: 200, replayed: 'true', body: { data: [{ title: null }] } })
  })
})
