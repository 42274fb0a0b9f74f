/**
 * Writes under an Idempotency-Key in other data sources: databases without a ledger, and connectors. They happen at most
 * once: what nobody saw end is not done again (docs/contract.md#idempotency).
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { SqlProvider } from '../../src/core/sql/address.ts'
import type { ExternalSystem } from '../support/servers/external-system.ts'
import { type SourceServers, startSourceServers } from '../support/servers/source-servers.ts'
import { testedProviders } from '../support/servers/tested-providers.ts'
import { connect, startSystem } from '../support/service/connected.ts'
import { people } from '../support/service/people.ts'
import { type Client, createCollection, type Workspace, world } from '../support/service/world.ts'

let servers: SourceServers
let shop: Workspace
let system: ExternalSystem

beforeAll(async () => {
  servers = await startSourceServers()
  system = await startSystem()
  shop = await world.workspace('once_elsewhere', {})
  await connect(shop, system)
})

afterAll(async () => {
  await Promise.all([servers?.close(), system?.close()])
})

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
  const [books, ids] = [`${provider}_books`, new Map<string, string>()]

  beforeAll(async () => {
    const { config } = servers[provider]
    const made = await shop.post('/sources/data', { apiName: `source_${provider}`, provider, config })
    const { data } = (await made.json()) as { data: { id: string } }
    const migrated = await shop.migrate(createCollection(ids, data.id, books, { title: 'string', text: 'string?' }))
    expect([made.status, migrated.status]).toEqual([200, 200])
  })

  const counted = async (title: string) => {
    const found = (await shop.data(`/items/${books}?fields=id&filter[title][_eq]=${title}`)) as unknown[]
    return found.length
  }

  it('writes once, whoever sends it at the same time or later', async () => {
    const key = newKey()
    const write = ['POST', `/items/${books}`, [{ title: key }]] as const

    const answers = await Promise.all(Array.from({ length: 10 }, () => send(shop, key, write)))
    const later = await send(shop, key, write)

    expect(new Set(answers.map(({ status, body }) => JSON.stringify([status, body]))).size).toBe(1)
    expect(answers.filter(({ replayed }) => replayed === null)).toHaveLength(1)
    expect(later).toMatchObject({ status: 200, replayed: 'true', body: answers[0]?.body })
    expect(await counted(key)).toBe(1)
  })

  it('changes and deletes once', async () => {
    const [change, deletion] = [newKey(), newKey()]
    const [made] = await shop.insert(books, [{ title: change }])
    const path = `/items/${books}/${made?.id}`

    const answers = [
      await send(shop, change, ['PATCH', `${path}?fields=title`, { title: deletion }]),
      await send(shop, change, ['PATCH', `${path}?fields=title`, { title: deletion }]),
      await send(shop, deletion, ['DELETE', path]),
      await send(shop, deletion, ['DELETE', path]),
      await send(shop, newKey(), ['DELETE', path]),
    ]

    expect(answers.map(({ status, replayed }) => [status, replayed])).toEqual([
      [200, null],
      [200, 'true'],
      [204, null],
      [204, 'true'],
      [404, null],
    ])
    expect(answers[1]?.body).toEqual({ data: { title: deletion } })
  })

  it('does a write again whose first try was refused', async () => {
    const key = newKey()
    const [made] = await shop.insert(books, [{ title: 'there' }])

    const refused = await send(shop, key, ['POST', `/items/${books}`, [{ id: made?.id, title: key }]])
    const done = await send(shop, key, ['POST', `/items/${books}`, [{ title: key }]])

    expect([refused.status, done.status, done.replayed]).toEqual([422, 200, null])
    expect(await counted(key)).toBe(1)
  })

  it('reads the items of long answers again, and of callers whose rows decide', async () => {
    const [long, own] = [newKey(), newKey()]
    const member = await people.member(shop, {
      collections: { [books]: { create: 'all', read: { filter: { title: { _neq: 'hidden' } } } } },
    })
    const pages = Array.from({ length: 30 }, (_, index) => ({ title: long, text: `${index} ${'x'.repeat(3_000)}` }))

    const first = await send(shop, long, ['POST', `/items/${books}?fields=title,text`, pages])
    const again = await send(shop, long, ['POST', `/items/${books}?fields=title,text`, pages])
    await send(member, own, ['POST', `/items/${books}?fields=title`, [{ title: own }]])
    await shop.patch(`/items/${books}?filter[title][_eq]=${own}`, { title: 'hidden' })
    const hidden = await send(member, own, ['POST', `/items/${books}?fields=title`, [{ title: own }]])

    expect(again).toEqual({ ...first, replayed: 'true' })
    expect(hidden).toEqual({ status: 200, replayed: 'true', body: { data: [{ title: null }] } })
  })
})

describe('a connector', () => {
  const write = (name: string) => ['POST', '/items/authors', [{ name }]] as const
  const written = () => system.queries().filter(({ operation }) => operation === 'createMany').length

  it('is asked once', async () => {
    const key = newKey()
    written()

    const answers = await Promise.all(Array.from({ length: 5 }, () => send(shop, key, write(key))))

    expect(new Set(answers.map(({ status, body }) => JSON.stringify([status, body]))).size).toBe(1)
    expect(answers[0]?.status).toBe(200)
    expect(written()).toBe(1)
  })

  it('gets the key where it declares that it knows keys', async () => {
    const [one, two] = [newKey(), newKey()]
    const [own, other] = await Promise.all([startSystem(), world.workspace('once_declared', {})])
    const declared = own.declarations.map((collection) => ({ ...collection, idempotent: true }))
    own.declarations.splice(0, Number.POSITIVE_INFINITY, ...declared)
    await connect(other, own)

    await send(other, one, ['POST', '/items/authors', [{ name: one }]])
    await send(other, two, ['PATCH', '/items/authors/1', { name: two }])
    await other.post('/items/authors', [{ name: 'plain' }])
    await send(shop, newKey(), write('elsewhere'))

    const keys = own.queries().flatMap((query) => ('idempotencyKey' in query ? [query.idempotencyKey] : []))
    expect(keys).toEqual([expect.any(String), expect.any(String)])
    expect(new Set(keys).size).toBe(2)
    expect(JSON.stringify(system.queries())).not.toContain('idempotencyKey')
    await own.close()
  })

  it('changes an item as it was read once, and is asked again where it was another', async () => {
    const [key, late] = [newKey(), newKey()]
    const path = '/items/authors/2'
    const tagOf = async () => `"${((await shop.data(`${path}?fields=_etag`)) as { _etag: string })._etag}"`
    const tag = await tagOf()
    const change = ['PATCH', `${path}?fields=name`, { name: key }] as const

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
    expect(answers[1]?.body).toEqual({ data: { name: key } })
  })

  it('that takes longer than others wait is 409, with when to come back', async () => {
    const key = newKey()
    const gate = system.hold('query')

    const first = send(shop, key, write(key))
    await gate.reached
    const waiting = await shop.send('POST', '/items/authors', {
      body: [{ name: key }],
      headers: { 'Idempotency-Key': key },
    })
    gate.release()

    expect([waiting.status, waiting.headers.get('Retry-After'), await waiting.json()]).toEqual([
      409,
      '5',
      coded('4091'),
    ])
    expect((await first).status).toBe(200)
    expect(await send(shop, key, write(key))).toMatchObject({ status: 200, replayed: 'true' })
  })

  describe('that knows keys', () => {
    let own: ExternalSystem
    let other: Workspace

    beforeAll(async () => {
      own = await startSystem()
      other = await world.workspace('once_repeated', {})
      own.declarations.splice(0, 1, ...own.declarations.slice(0, 1).map((one) => ({ ...one, idempotent: true })))
      await connect(other, own)
    })
    afterAll(() => own?.close())

    /** Sent twice; the answer to the first is lost, or the write itself. */
    async function twice(lost: 'lose' | 'plain', asked: Parameters<typeof send>[2], tag?: string) {
      const key = newKey()
      own.instruct('query', { do: lost })
      const first = await send(other, key, asked, tag)
      own.instruct('query', null)
      const answers = [await send(other, key, asked, tag), await send(other, key, asked, tag)]
      return { first: first.status, answers }
    }

    it.each(['lose', 'plain'] as const)(
      'is asked again where its answer was lost (%s), and writes once',
      async (lost) => {
        const name = newKey()
        const before = own.records.get('authors')?.length ?? 0

        const { first, answers } = await twice(lost, ['POST', '/items/authors?fields=name', [{ name }]])

        expect(first).toBe(500)
        expect(answers).toEqual([
          { status: 200, replayed: null, body: { data: [{ name }] } },
          { status: 200, replayed: 'true', body: { data: [{ name }] } },
        ])
        expect(own.records.get('authors')).toHaveLength(before + 1)
      },
    )

    it.each(['lose', 'plain'] as const)('does a batch of one operation so, too (%s)', async (lost) => {
      const name = newKey()
      const named = () => (own.records.get('authors') ?? []).filter((one) => one.name === name)
      const create = { kind: 'create', collection: 'authors', data: [{ name }], fields: ['name'] }

      const { first, answers } = await twice(lost, ['POST', '/items', { operations: [create] }])

      expect(first).toBe(500)
      expect(answers).toEqual([
        { status: 200, replayed: null, body: { data: [[{ name }]] } },
        { status: 200, replayed: 'true', body: { data: [[{ name }]] } },
      ])
      expect(named()).toHaveLength(1)
    })

    it('deletes once, and says so', async () => {
      const { answers } = await twice('lose', ['DELETE', '/items/authors/3'])

      expect(answers).toMatchObject([
        { status: 204, replayed: null },
        { status: 204, replayed: 'true' },
      ])
    })

    it('tells nothing by what its first try may have changed', async () => {
      const tag = `"${((await other.data('/items/authors/2?fields=_etag')) as { _etag: string })._etag}"`
      own.instruct('query', null)
      const gate = own.hold('query')
      const key = newKey()
      const change = ['PATCH', '/items/authors/2', { name: key }] as const
      const writing = send(other, key, change, tag)
      await gate.reached
      gate.release()
      const second = own.hold('query')
      await second.reached
      own.instruct('query', { do: 'lose' })
      second.release()
      expect((await writing).status).toBe(500)
      own.instruct('query', null)

      expect(await send(other, key, change, tag)).toEqual({ status: 409, replayed: null, body: coded('4093') })
      expect(own.records.get('authors')?.find(({ id }) => id === 2)?.name).toBe(key)
    })
  })

  it('whose answer was lost is not asked again', async () => {
    const key = newKey()
    written()
    system.instruct('query', { do: 'plain' })

    const first = await send(shop, key, write(key))
    system.instruct('query', null)
    const again = await send(shop, key, write(key))

    expect(first.status).toBe(500)
    expect(again).toEqual({ status: 409, replayed: null, body: coded('4093') })
    expect(written()).toBe(0)
  })
})
