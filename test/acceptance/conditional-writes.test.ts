/**
 * docs/contract.md#conditional-requests: a write of one item as it was read, on the database behind each provider, which computes
 * the tags and compares them.
 */
import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { SqlProvider } from '../../src/core/sql/address.ts'
import { type SourceServers, startSourceServers } from '../support/servers/source-servers.ts'
import { testedProviders } from '../support/servers/tested-providers.ts'
import { type Person, people } from '../support/service/people.ts'
import { createCollection, createRelation, type Workspace, world } from '../support/service/world.ts'

let servers: SourceServers
let shop: Workspace

beforeAll(async () => {
  servers = await startSourceServers()
  shop = await world.workspace('conditions', {})
})

afterAll(() => servers?.close())

const failed = {
  message: 'Precondition failed: The item has changed since it was read',
  source: { message: 'The item has changed since it was read' },
  code: '4120',
}

describe.each(testedProviders)('%s', (provider: SqlProvider) => {
  const [authors, books] = [`${provider}_authors`, `${provider}_books`]
  const price = 'decimal(10,2)?'
  let partly: Person

  beforeAll(async () => {
    const { config } = servers[provider]
    const response = await shop.post('/sources/data', { apiName: `source_${provider}`, provider, config })
    const { data } = (await response.json()) as { data: { id: string } }
    const ids = new Map<string, string>()
    const migrated = await shop.migrate(
      createCollection(ids, data.id, authors, { name: 'string' }),
      createCollection(ids, data.id, books, { title: 'string', price, note: 'string?', authorId: 'int64?' }),
      createRelation(ids, `${books}.author(authorId) -> ${authors}.books`),
    )
    expect(migrated.status).toBe(200)
    await shop.insert(authors, [{ name: 'Ada' }])
    partly = await people.member(shop, {
      collections: {
        [authors]: { read: 'all' },
        [books]: {
          read: { fields: ['id', 'title', 'author', 'authorId'], filter: { title: { _neq: 'hidden' } } },
          update: { fields: ['title'], filter: { title: { _neq: 'closed' } } },
        },
      },
    })
  })

  async function made(title = 'On engines — Ä 😀', more: object = {}): Promise<string> {
    const [book] = await shop.insert(books, [{ title, price: '12.50', authorId: '1', ...more }])
    return `/items/${books}/${book?.id}`
  }

  async function headerTag(path: string): Promise<string> {
    return (await shop.get(path)).headers.get('ETag') ?? ''
  }

  const changing = (
    path: string,
    tag: string,
    by: Pick<Workspace, 'send'> = shop,
    body: object = { title: 'changed' },
  ) => by.send('PATCH', path, { headers: { 'If-Match': tag }, body })

  it('shows the tag of an item as a field, at any depth and in lists', async () => {
    const path = await made()
    const id = path.split('/').at(-1)
    const text = (await (await shop.get(path)).text()).slice('{"data":'.length, -1)
    const tag = createHash('sha256').update(text).digest('base64url').slice(0, 22)
    const author = await shop.data(`/items/${authors}/1?fields=_etag`)

    expect(await headerTag(path)).toMatch(`"${tag}"`)
    expect(await shop.data(`${path}?fields=_etag,author._etag`)).toEqual({ _etag: tag, author })
    const list = `/items/${authors}?fields=_etag,books._etag&deep[books][_filter][id][_eq]=${id}`
    expect(await shop.data(list)).toEqual([{ ...(author as object), books: { data: [{ _etag: tag }] } }])
  })

  it('is changed with the tag that it shows, a weak form of it, several, or any, which its answer renews', async () => {
    for (const form of ['"TAG"', 'W/"TAG"', '"AAAAAAAAAAAAAAAAAAAAAA", "TAG"', '*']) {
      const path = await made()
      const { _etag } = (await shop.data(`${path}?fields=_etag`)) as { _etag: string }

      const response = await changing(`${path}?fields=title,_etag`, form.replace('TAG', _etag))

      expect(response.status, form).toBe(200)
      const { data } = (await response.json()) as { data: { title: string; _etag: string } }
      expect(data, form).toEqual({ title: 'changed', ...((await shop.data(`${path}?fields=_etag`)) as object) })
      expect(data._etag, form).not.toBe(_etag)
    }
  })

  it('is not changed once it is another, nor deleted', async () => {
    const path = await made()
    const tag = await headerTag(path)
    await shop.patch(path, { price: '13.00' })

    const changed = await changing(path, tag)
    const deleted = await shop.send('DELETE', path, { headers: { 'If-Match': tag } })

    expect([changed.status, await changed.json()]).toEqual([412, failed])
    expect([deleted.status, await deleted.json()]).toEqual([412, failed])
    expect(await shop.data(`${path}?fields=price`)).toEqual({ price: '13.00' })
    const current = await shop.send('DELETE', path, { headers: { 'If-Match': await headerTag(path) } })
    expect(current.status).toBe(204)
  })

  it('takes the tag of a read with the same fields, nested items included', async () => {
    const path = `${await made()}?fields=title,author.name&deep[author][_filter][name][_neq]=nobody`
    const tag = await headerTag(path)
    await shop.patch(`/items/${authors}/1`, { name: 'Ada L.' })

    const stale = await changing(path, tag)
    const other = await changing(path.split('?')[0] ?? '', await headerTag(path))
    const current = await changing(path, await headerTag(path))

    expect([stale.status, other.status, current.status]).toEqual([412, 412, 200])
    await shop.patch(`/items/${authors}/1`, { name: 'Ada' })
  })

  it('is missing before it is another, and another before the caller may not', async () => {
    const [hidden, closed] = [await made('hidden'), await made('closed')]
    const stale = '"AAAAAAAAAAAAAAAAAAAAAA"'
    const tag = (await partly.get(closed)).headers.get('ETag') ?? ''

    const statuses = await Promise.all([
      changing(hidden, stale, partly),
      changing(closed, stale, partly),
      changing(closed, tag, partly),
      changing(closed, tag, partly, { price: '1.00' }),
    ])

    expect(statuses.map(({ status }) => status)).toEqual([404, 412, 403, 403])
  })

  it('is as it was read for whoever cannot see what has changed', async () => {
    const path = await made()
    const tag = (await partly.get(path)).headers.get('ETag') ?? ''
    const whole = await headerTag(path)
    await shop.patch(path, { price: '99.00', note: 'unseen' })

    expect((await changing(path, whole)).status).toBe(412)
    expect((await changing(path, whole, partly)).status).toBe(412)
    expect((await changing(path, tag, partly)).status).toBe(200)
  })

  it('is changed by one of 50 who send the same tag', async () => {
    const path = await made()
    const tag = await headerTag(path)

    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) => changing(path, tag, shop, { title: `by ${index}` })),
    )

    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(49).fill(412)])
    const winner = answers.findIndex(({ status }) => status === 200)
    expect(await shop.data(`${path}?fields=title`)).toEqual({ title: `by ${winner}` })
  })
})
