/** docs/contract.md#conditional-requests: what a client has is not sent again. */
import { createHash } from 'node:crypto'
import { beforeAll, expect, it } from 'vitest'
import { casesOr } from '../support/run/cases.ts'
import { people } from '../support/service/people.ts'
import { type Workspace, world } from '../support/service/world.ts'

let shop: Workspace

beforeAll(async () => {
  shop = await world.workspace(
    'tags',
    {
      authors: { name: 'string', note: 'string?' },
      articles: { title: 'string', text: 'string?', authorId: 'int64?' },
    },
    ['articles.author(authorId) -> authors.articles'],
  )
  await shop.insert('authors', [{ name: 'Ada', note: 'first' }])
  await shop.insert('articles', [
    { title: 'On engines', authorId: 1 },
    { title: 'Notes', text: 'long '.repeat(1_000) },
    { title: 'Ä 😀' },
  ])
})

it('has the SHA-256 of its data as tag, and may be kept but not used unasked', async () => {
  const { headers, text } = await read('/items/articles/3')

  expect(headers.get('ETag')).toBe(`"${sha256(dataOf(text))}"`)
  expect(headers.get('Cache-Control')).toBe('private, no-cache')
})

it.each([
  ['the tag', (tag: string) => tag],
  ['a weak form of it', (tag: string) => `W/${tag}`],
  ['several tags', (tag: string) => `"AAAA", W/"BBBB" , ${tag}`],
  ['any tag', () => '*'],
])('is not sent to who has %s', async (_, sent) => {
  const { headers } = await read('/items/articles/1')
  const tag = headers.get('ETag') ?? ''

  const again = await read('/items/articles/1', sent(tag))

  expect([again.status, again.headers.get('ETag'), again.text]).toEqual([304, tag, ''])
  expect(again.headers.get('Cache-Control')).toBe('private, no-cache')
})

it('is sent to who has another tag', async () => {
  expect((await read('/items/articles/1', '"AAAAAAAAAAAAAAAAAAAAAA"')).status).toBe(200)
})

it('has another tag once it has changed, also in what it is related to', async () => {
  const path = '/items/articles/1?fields=title,author.name'
  const tag = (await read(path)).headers.get('ETag') ?? ''
  await shop.patch('/items/authors/1', { name: 'Ada L.' })
  const renamed = await read(path, tag)
  await shop.patch('/items/authors/1', { name: 'Ada' })
  const back = await read(path, tag)

  expect([renamed.status, back.status]).toEqual([200, 304])
})

it('keeps its tag for whoever cannot see what has changed', async () => {
  const article = { title: 'Seen', text: 'unseen' }
  const [{ id } = {}] = await shop.insert('articles', [article])
  const reader = await people.member(shop, { collections: { articles: { read: { fields: ['id', 'title'] } } } })
  const path = `/items/articles/${id}`
  const tag = (await reader.get(path)).headers.get('ETag') ?? ''
  await shop.patch(path, { text: 'other' })

  const again = await reader.send('GET', path, { headers: { 'If-None-Match': tag } })

  expect(again.status).toBe(304)
})

it('is missing whatever tag is sent', async () => {
  expect((await read('/items/articles/999', '*')).status).toBe(404)
})

it('has a weak tag where it is compressed, since its bytes are others', async () => {
  const { headers } = await read('/items/articles/2')
  const tag = headers.get('ETag') ?? ''

  expect(tag.startsWith('W/')).toBe(headers.get('Content-Encoding') !== null)
  expect((await read('/items/articles/2', tag)).status).toBe(304)
})

it('has a tag by HEAD', async () => {
  const { headers } = await read('/items/articles/1')
  const response = await shop.send('HEAD', '/items/articles/1')

  expect(response.headers.get('ETag')).toBe(headers.get('ETag'))
})

it.each(['AAAA', '"AAAA', '"AAAA" *', '*, "AAAA"'])('refuses If-None-Match: %s', async (sent) => {
  const response = await shop.send('GET', '/items/articles/1', { headers: { 'If-None-Match': sent } })

  expect(response.status).toBe(422)
  expect(await response.json()).toEqual({
    message: expect.stringContaining('Failed to read the headers: '),
    source: { message: 'If-None-Match', source: { message: 'must be * or a list of tags in quotes' } },
  })
})

it.each([
  [
    'GET',
    (meta: string, known?: string) =>
      shop.send('GET', `/items/authors?${meta}sort[0][id][direction]=asc`, ifKnown(known)),
  ],
  [
    'QUERY',
    (meta: string, known?: string) =>
      shop.send('QUERY', '/items/authors', { body: meta === '' ? {} : { meta: meta.slice(5, -1) }, ...ifKnown(known) }),
  ],
])('has a tag as a list by %s, where it is asked for', async (_, ask) => {
  const plain = await ask('')
  const tagged = await ask('meta=etag&')
  const counted = await ask('meta=totalCount,etag&')
  const [text, tag] = [await tagged.text(), tagged.headers.get('ETag') ?? '']

  expect([plain.headers.get('ETag'), plain.headers.get('Cache-Control')]).toEqual([null, 'no-store'])
  expect(text).toBe(await plain.text())
  expect(tag.replace('W/', '')).toBe(`"${sha256(text)}"`)
  expect(JSON.parse(await counted.text())).toMatchObject({ meta: { totalCount: 1 } })
  expect(counted.headers.get('ETag')).not.toBe(tag)
  const again = await ask('', tag)
  expect([again.status, again.headers.get('ETag'), await again.text()]).toEqual([304, tag, ''])
  expect((await ask('', '"AAAAAAAAAAAAAAAAAAAAAA"')).status).toBe(200)
  expect((await ask('meta=totalCount,etag&', tag)).status).toBe(200)
})

it('has no tag as a list of the system, nor for another meta', async () => {
  const system = await world.administrator.get('/api/system/users?meta=etag')
  const other = await shop.get('/items/authors?meta=etag,tags')
  const twice = await shop.get('/items/authors?meta=etag&meta=cursor')
  const malformed = await shop.get('/items/authors?meta=%e0,etag')

  expect([system.status, other.status, twice.status, malformed.status]).toEqual([422, 422, 422, 422])
})

it('has a tag as a list however the name of it is encoded', async () => {
  const tags = await Promise.all(
    ['meta=etag,cursor', 'meta=%65tag%2Ccursor', 'meta=cursor%2cetag'].map(async (meta) =>
      (await shop.get(`/items/authors?fields=id&${meta}`)).headers.get('ETag'),
    ),
  )

  expect(tags).toEqual([tags[0], tags[0], tags[0]])
  expect(tags[0]).toMatch(/"$/)
})

const draws = casesOr(40)

it(`is not sent again exactly where it would be the same, in ${draws} random reads`, async () => {
  console.log(`tags: SERVICE_TEST_SEED=${process.env.SERVICE_TEST_SEED}`)
  const random = randomFrom(Number(process.env.SERVICE_TEST_SEED))
  const one = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)] as T
  const own = await world.workspace('random_tags', { things: { name: 'string', size: 'int32?' } })
  await own.insert('things', [{ name: 'a' }, { name: 'b', size: 1 }, { name: 'c', size: 2 }])
  const paths = [
    '/items/things/1',
    '/items/things/2?fields=name',
    '/items/things?meta=etag',
    '/items/things?meta=etag,totalCount&limit=1',
    '/items/things?meta=etag&filter[size][_gt]=0&fields=id',
  ]
  const known = new Map<string, { readonly tag: string; readonly text: string }>()

  for (let draw = 0; draw < draws; draw += 1) {
    if (random() < 0.4) {
      await own.patch(`/items/things/${one([1, 2, 3])}`, { name: one(['a', 'b']), size: one([null, 0, 1]) })
    }
    const path = one(paths)
    const earlier = known.get(path)
    const text = await (await own.get(path)).text()
    const response = await own.send('GET', path, ifKnown(earlier?.tag))

    expect(response.status, path).toBe(earlier?.text === text ? 304 : 200)
    known.set(path, { tag: response.headers.get('ETag') ?? '', text })
    await response.text()
  }
})

function ifKnown(tag: string | undefined) {
  return tag === undefined ? {} : { headers: { 'If-None-Match': tag } }
}

/** Numbers from 0 to 1, the same for the same seed. */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0 || 1
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 2 ** 32
  }
}

async function read(path: string, known?: string) {
  const response = await shop.send('GET', path, { ...(known !== undefined && { headers: { 'If-None-Match': known } }) })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

function dataOf(body: string): string {
  return body.slice('{"data":'.length, -1)
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22)
}
