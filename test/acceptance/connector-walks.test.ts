/** docs/contract.md#what-a-connector-declares: walks by cursor through items of a connector that declares `after`. */
import { createHash } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { ExternalSystem } from '../support/servers/external-system.ts'
import { connect, readAnswer, startSystem } from '../support/service/connected.ts'
import { people } from '../support/service/people.ts'
import { type Workspace, world } from '../support/service/world.ts'

let shop: Workspace
let system: ExternalSystem

beforeAll(async () => {
  system = await startSystem()
  shop = await world.workspace('cwalks', {})
  await connect(shop, system)
})

afterAll(() => system.close())

const get = async (path: string) =>
  readAnswer(await shop.send('GET', path, { headers: { 'Cache-Control': 'no-cache' } }))

const walked = async (sort: string, side: 'next' | 'previous', start = '') => {
  const pages: unknown[][] = []
  for (let from = start; ; ) {
    const { body } = await get(`/items/authors?fields=name&limit=2&meta=cursor${sort}${from}`)
    const { data, meta } = body as { data: { name: string }[]; meta: Record<'next' | 'previous', string | null> }
    pages.push(data.map(({ name }) => name))
    const cursor = meta[side]
    if (cursor === null || data.length === 0) return { pages, meta }
    from = `&${side === 'next' ? 'after' : 'before'}=${cursor}`
  }
}

it.each([
  ['', ['Ada', 'Grace', 'Edsger', 'Anon']],
  ['&sort[0][name][direction]=asc', ['Ada', 'Anon', 'Edsger', 'Grace']],
  ['&sort[0][born][direction]=desc', ['Anon', 'Edsger', 'Grace', 'Ada']],
  ['&sort[0][born][direction]=asc&sort[0][born][nulls]=first', ['Anon', 'Ada', 'Grace', 'Edsger']],
])('in the order%s has every item once, and back again', async (sort, expected) => {
  const there = await walked(sort, 'next')
  const last = (await get(`/items/authors?fields=name&limit=1&offset=3&meta=cursor${sort}`)).body
  const { meta } = last as { meta: { previous: string } }
  const back = await walked(sort, 'previous', `&before=${meta.previous}`)

  expect(there.pages.flat()).toEqual(expected)
  expect(there.meta.next).toBeNull()
  expect(back.pages.toReversed().flat()).toEqual(expected.slice(0, 3))
  expect(back.meta.previous).toBeNull()
})

it('loses and doubles none beside writes, and asks the connector for what is behind', async () => {
  const { body } = await get('/items/authors?fields=name&limit=2&meta=totalCount,cursor&sort[0][name][direction]=asc')
  const { data, meta } = body as { data: object[]; meta: { next: string; totalCount: number } }
  await shop.insert('authors', [{ name: 'Aaron' }])
  system.queries()

  const rest = await get(`/items/authors?fields=born&after=${meta.next}&sort[0][name][direction]=asc`)

  expect([data, meta.totalCount]).toEqual([[{ name: 'Ada' }, { name: 'Anon' }], 4])
  expect(rest.body).toEqual({ data: [{ born: 1930 }, { born: 1906 }] })
  expect(system.queries()).toMatchObject([
    { operation: 'readMany', fields: ['born'], after: { name: 'Anon', id: 4 }, limit: 100 },
  ])
  expect((await shop.delete('/items/authors?filter[name][_eq]=Aaron')).status).toBe(204)
})

it('is the same by a body, in a batch, and where items of other sources are shown', async () => {
  const { body } = await get('/items/authors?fields=name&limit=1&meta=cursor')
  const { meta } = body as { meta: { next: string } }
  const asked = { fields: ['name'], after: meta.next, limit: 1, meta: 'cursor' }
  const expected = { data: [{ name: 'Grace' }], meta: { next: expect.any(String), previous: expect.any(String) } }

  const byBody = await readAnswer(await shop.send('QUERY', '/items/authors', { body: asked }))
  const operations = [{ kind: 'read', collection: 'authors', ...asked }]
  const inBatch = await readAnswer(await shop.post('/items', { operations }))

  expect(byBody).toEqual({ status: 200, body: expected })
  expect(inBatch).toEqual({ status: 200, body: { data: [expected.data], meta: [expected.meta] } })
})

it('has a tag beside its cursors, and one of each item, that change with what is shown', async () => {
  const page = (from: string, known = '') =>
    shop.send('GET', `/items/authors?fields=name,_etag&limit=1&meta=cursor,etag${from}`, {
      headers: { 'Cache-Control': 'no-cache', ...(known !== '' && { 'If-None-Match': known }) },
    })
  type Body = { readonly data: readonly { readonly _etag: string }[]; readonly meta: { readonly next: string } }
  const first = await page('')
  const tag = first.headers.get('ETag') ?? ''
  const text = await first.text()
  const { data, meta } = JSON.parse(text) as Body
  const second = await page(`&after=${meta.next}`)
  const known = await page('', tag)
  const behind = await page(`&after=${meta.next}`, tag)
  await shop.patch('/items/authors/1', { name: 'Ada L.' })
  const changed = await page('', tag)
  await shop.patch('/items/authors/1', { name: 'Ada' })

  const digest = createHash('sha256').update(text).digest('base64url')
  expect(tag.replace('W/', '')).toBe(`"${digest.slice(0, 22)}"`)
  expect(first.headers.get('Link')).toContain(`after=${meta.next}`)
  expect(data).toEqual([{ name: 'Ada', _etag: expect.stringMatching(/^[\w-]{22}$/) }])
  expect(await second.json()).toMatchObject({ data: [{ name: 'Grace' }], meta: { previous: expect.any(String) } })
  expect([second.headers.get('ETag') === tag, known.status, behind.status]).toEqual([false, 304, 200])
  expect([changed.status, ((await changed.json()) as Body).data[0]?._etag === data[0]?._etag]).toEqual([200, false])
})

it('is refused where its sort or cursor is another', async () => {
  const { body } = await get('/items/authors?limit=1&meta=cursor')
  const { meta } = body as { meta: { next: string } }
  const reader = await people.member(shop, {
    collections: { authors: { read: { fields: ['name'] } } },
  })

  const answers = [
    await get(`/items/authors?after=${meta.next}&sort[0][name][direction]=asc`),
    await get('/items/authors?after=nonsense'),
    await readAnswer(await reader.get('/items/authors?meta=cursor')),
  ]

  expect(answers.map(({ status }) => status)).toEqual([422, 422, 422])
})
