/** docs/contract.md#across-sources: keys of two databases that differ in type or character set, and conditions that many far rows meet. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type SourceServers, startSourceServers } from '../support/servers/source-servers.ts'
import { createCollection, createRelation, type Workspace, world } from '../support/service/world.ts'

let servers: SourceServers
let shop: Workspace

const owner = '0b9c4f1e-5d1c-4b8e-9a57-6f0a2d3c4e5f'

beforeAll(async () => {
  servers = await startSourceServers()
  shop = await world.workspace('far_keys', {})
  const ids = new Map<string, string>()
  const [near, far] = [await attach('planetscale'), await attach('neon')]
  const made = await shop.migrate(
    createCollection(ids, far, 'books', { title: 'string' }),
    createCollection(ids, far, 'cards', { code: 'string', ownerId: 'string(36)?' }),
    createCollection(ids, near, 'reviews', { stars: 'int32', bookId: 'int32?' }),
    createCollection(ids, near, 'owners', { id: 'uuid', name: 'string(40)' }),
    createCollection(ids, near, 'labels', { id: 'string(10)', color: 'string(10)' }),
    createCollection(ids, far, 'words', { word: 'string(10)', labelCode: 'string(10)?' }),
    createRelation(ids, 'words.label(labelCode) -> labels.words'),
    createRelation(ids, 'reviews.book(bookId) -> books.reviews'),
    createRelation(ids, 'cards.owner(ownerId) -> owners.cards'),
  )
  expect([made.status, await made.text()]).toEqual([200, ''])
  await servers.neon.run("insert into books (title) select 'plain' from generate_series(1, 12000)")
  await servers.neon.run(
    `insert into cards (code, "ownerId") values ('a', '${owner.toUpperCase()}'), ('b', '${owner}'), ('c', 'none'), ('d', null)`,
  )
  await servers.planetscale.run('alter table labels modify id varchar(10) character set latin1 not null')
  await shop.insert('labels', [
    { id: 'a', color: 'red' },
    { id: 'é', color: 'blue' },
    { id: '?', color: 'none' },
  ])
  await shop.insert(
    'words',
    ['a', 'é', '日', '\u{1F600}', '日本', null].map((labelCode, index) => ({ word: `w${index}`, labelCode })),
  )
  await shop.insert('owners', [{ id: owner, name: 'Ada' }])
  await shop.insert('reviews', [
    { stars: 1, bookId: 1 },
    { stars: 2, bookId: 11_999 },
    { stars: 3, bookId: 12_345 },
    { stars: 4, bookId: null },
  ])
})

afterAll(() => servers?.close())

async function attach(provider: 'neon' | 'planetscale'): Promise<string> {
  const { config } = servers[provider]
  const response = await shop.post('/sources/data', { apiName: `far_${provider}`, provider, config })
  const { data } = (await response.json()) as { data: { id: string } }
  expect((await shop.post(`/schema/introspect/${data.id}`, undefined)).status).toBe(200)
  return data.id
}

describe('integers of two types', () => {
  const reviews = (filter: string) => shop.data(`/items/reviews?fields=stars&sort[0][stars][direction]=asc&${filter}`)

  it('are followed in both directions', async () => {
    expect(await shop.data('/items/reviews?fields=stars,book.id,book.title&sort[0][stars][direction]=asc')).toEqual([
      { stars: 1, book: { id: '1', title: 'plain' } },
      { stars: 2, book: { id: '11999', title: 'plain' } },
      { stars: 3, book: null },
      { stars: 4, book: null },
    ])
    expect(await shop.data('/items/books/11999?fields=reviews.stars')).toEqual({ reviews: { data: [{ stars: 2 }] } })
  })

  it('are compared by the keys of twelve thousand far rows', async () => {
    expect(await reviews('filter[book][title][_eq]=plain')).toEqual([{ stars: 1 }, { stars: 2 }])
    expect(await reviews('filter[_not][book][title][_eq]=plain')).toEqual([{ stars: 3 }, { stars: 4 }])
    expect(await shop.data('/items/books?fields=id&filter[reviews][stars][_lt]=3')).toEqual([
      { id: '1' },
      { id: '11999' },
    ])
  })

  it('are refused where more than twenty thousand match', async () => {
    await servers.neon.run("insert into books (title) select 'rare' from generate_series(1, 20001)")

    const response = await shop.get('/items/reviews?filter[book][title][_eq]=rare')

    expect([response.status, await response.json()]).toMatchObject([
      422,
      {
        message: expect.stringContaining('Failed to execute query: '),
        source: { message: 'filter.book', source: { message: 'matches more than 20000 items of another data source' } },
      },
    ])
  })
})

describe('a text and a UUID', () => {
  const cards = (search: string) => shop.data(`/items/cards?sort[0][code][direction]=asc&${search}`)

  it('are followed in both directions, in capitals or not', async () => {
    expect(await cards('fields=code,owner.name')).toEqual([
      { code: 'a', owner: { name: 'Ada' } },
      { code: 'b', owner: { name: 'Ada' } },
      { code: 'c', owner: null },
      { code: 'd', owner: null },
    ])
    expect(await shop.data(`/items/owners/${owner}?fields=cards.code`)).toEqual({
      cards: { data: [{ code: 'a' }, { code: 'b' }] },
    })
  })

  it('are compared', async () => {
    expect(await cards('fields=code&filter[owner][name][_eq]=Ada')).toEqual([{ code: 'a' }, { code: 'b' }])
    expect(await shop.data('/items/owners?fields=name&filter[cards][code][_eq]=a')).toEqual([{ name: 'Ada' }])
  })
})

describe('texts that the character set of the other column lacks', () => {
  it('refer to nothing', async () => {
    expect(await shop.data('/items/words?fields=word,label.color&sort[0][word][direction]=asc')).toEqual([
      { word: 'w0', label: { color: 'red' } },
      { word: 'w1', label: { color: 'blue' } },
      ...['w2', 'w3', 'w4', 'w5'].map((word) => ({ word, label: null })),
    ])
  })

  it('are no keys of a condition, also of a change', async () => {
    const filter = 'filter[words][word][_neq]=w9'
    expect(await shop.data(`/items/labels?fields=color&sort[0][color][direction]=asc&${filter}`)).toEqual([
      { color: 'blue' },
      { color: 'red' },
    ])
    expect(await shop.data(`/items/labels?fields=color&filter[_not][words][word][_neq]=w9`)).toEqual([
      { color: 'none' },
    ])
    const changed = await shop.patch(`/items/labels?fields=id&${filter}`, { color: 'green' })
    expect([changed.status, await changed.json()]).toMatchObject([200, { data: [{ id: 'a' }, { id: 'é' }] }])
  })
})
