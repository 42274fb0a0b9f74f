/** docs/contract.md#keyset-pages: pages by cursor instead of offset. */
import { beforeAll, describe, expect, it } from 'vitest'
import { people } from '../support/service/people.ts'
import { type Workspace, world } from '../support/service/world.ts'

type Item = Readonly<Record<string, unknown>>
type Page = { readonly data: readonly Item[]; readonly meta: { next: string | null; previous: string | null } }

let blog: Workspace
const sort = 'sort[0][rank][direction]=desc'

beforeAll(async () => {
  blog = await world.workspace(
    'keyset',
    {
      authors: { name: 'string', secret: 'string?' },
      marks: {
        title: 'string',
        isOpen: 'boolean',
        day: 'date',
        at: 'dateTimeWithTimezone',
        rank: 'int32',
        weight: 'float64',
        price: 'decimal(10,2)',
        mark: 'uuid',
      },
      posts: { title: 'string', rank: 'int32?', details: 'json?', authorId: 'int64?' },
    },
    ['posts.author(authorId) -> authors.posts'],
  )
  await blog.insert('authors', [
    { name: 'Ada', secret: 'x' },
    { name: 'Brook', secret: null },
  ])
  const [one, other] = ['3b241101-e2bb-4255-8caf-4136c566a962', '3b241101-e2bb-4255-8caf-4136c566a963']
  const marked = { isOpen: true, day: '2026-01-01', at: '2026-01-01T00:00:00Z', rank: 1, weight: 1, price: '1' }
  await blog.insert('marks', [
    { ...marked, title: 'a', mark: one },
    { ...marked, title: 'b', mark: other },
  ])
  const ranks = [3, 1, null, 2, 2, null, 3]
  await blog.insert(
    'posts',
    ranks.map((rank, index) => ({ title: `Post ${index + 1}`, rank, authorId: String(1 + (index % 2)) })),
  )
})

const pageOf = async (search: string): Promise<Page> => (await blog.get(`/items/posts?fields=id&${search}`)).json()
const idsOf = ({ data }: Page) => data.map(({ id }) => id)

describe('a walk', () => {
  it('has each item once, forward and backward, with nulls and ties', async () => {
    const first = await pageOf(`${sort}&limit=3&meta=cursor`)
    const second = await pageOf(`${sort}&limit=3&meta=cursor&after=${first.meta.next}`)
    const last = await pageOf(`${sort}&limit=3&meta=cursor&after=${second.meta.next}`)
    const back = await pageOf(`${sort}&limit=3&meta=cursor&before=${last.meta.previous}`)
    const start = await pageOf(`${sort}&limit=3&meta=cursor&before=${back.meta.previous}`)

    expect([first, second, last].map(idsOf)).toEqual([['6', '3', '7'], ['1', '5', '4'], ['2']])
    expect([back, start].map(idsOf)).toEqual([
      ['1', '5', '4'],
      ['6', '3', '7'],
    ])
    expect([first.meta.previous, last.meta.next, start.meta.previous]).toEqual([null, null, null])
    expect([second.meta, back.meta.previous]).toEqual([back.meta, second.meta.previous])
  })

  it('ends exactly at the end, and gives the cursor back where nothing is left', async () => {
    const all = await pageOf(`${sort}&limit=7&meta=cursor`)
    const one = await pageOf(`${sort}&limit=6&meta=cursor`)
    const rest = await pageOf(`${sort}&meta=cursor&after=${one.meta.next}`)
    const none = await pageOf(`${sort}&meta=cursor&after=${rest.meta.previous}`)
    const before = await pageOf(`${sort}&meta=cursor&before=${(await pageOf(`${sort}&limit=1&meta=cursor`)).meta.next}`)
    const nothing = await pageOf(`${sort}&filter[title][_eq]=none&meta=cursor&before=${one.meta.next}`)

    expect(all.meta).toEqual({ next: null, previous: null })
    expect([idsOf(rest), rest.meta.next]).toEqual([['2'], null])
    expect(none).toEqual({ data: [], meta: { next: null, previous: rest.meta.previous } })
    expect([idsOf(before), before.meta.previous]).toEqual([[], null])
    expect(nothing).toEqual({ data: [], meta: { next: one.meta.next, previous: null } })
  })

  it('counts all items whatever the cursor, and begins behind an offset', async () => {
    const skipped = await pageOf(`${sort}&limit=2&offset=2&meta=totalCount,cursor`)
    const next = await pageOf(`${sort}&limit=2&after=${skipped.meta.next}&meta[]=totalCount&meta[]=cursor`)
    const plain = await blog.get(`/items/posts?fields=id&${sort}&limit=2&after=${skipped.meta.next}`)

    expect(skipped).toMatchObject({ data: [{ id: '7' }, { id: '1' }], meta: { totalCount: 7 } })
    expect(next).toMatchObject({ data: [{ id: '5' }, { id: '4' }], meta: { totalCount: 7 } })
    expect(await plain.json()).toEqual({ data: next.data })
  })

  it('goes through relations, and is the same by QUERY', async () => {
    const by = 'sort[0][author.name][direction]=desc&sort[1][title][direction]=asc'
    const body = {
      fields: ['id'],
      sort: [{ author: { name: { direction: 'desc' } } }, { title: {} }],
      meta: ['cursor'],
    }

    const first = await pageOf(`${by}&limit=4&meta=cursor`)
    const second = await pageOf(`${by}&limit=4&meta=cursor&after=${first.meta.next}`)
    const asked = await blog.send('QUERY', '/items/posts', { body: { ...body, limit: 4, after: first.meta.next } })

    expect([first, second].map(idsOf)).toEqual([
      ['2', '4', '6', '1'],
      ['3', '5', '7'],
    ])
    expect(await asked.json()).toEqual(second)
    expect(asked.headers.get('link')).toBeNull()
  })

  it('loses and doubles no item that stays, beside inserts and deletes', async () => {
    const stage = await world.workspace('meanwhile', { notes: { text: 'string', rank: 'int32' } })
    const kept = await stage.insert(
      'notes',
      Array.from({ length: 60 }, (_, index) => ({ text: `kept ${index}`, rank: index % 7 })),
    )
    const seen: unknown[] = []
    let isOver = false
    const writer = (async () => {
      while (!isOver) {
        await stage.insert(
          'notes',
          [0, 3, 6].map((rank) => ({ text: 'new', rank })),
        )
        await stage.delete('/items/notes?filter[text][_eq]=new')
      }
    })()
    let next: string | null = ''
    while (next !== null) {
      const from: string = next === '' ? '' : `&after=${next}`
      const response = await stage.get(`/items/notes?sort[0][rank][direction]=asc&limit=9&meta=cursor${from}`)
      const page = (await response.json()) as Page
      seen.push(...page.data.filter(({ text }) => String(text).startsWith('kept')).map(({ id }) => id))
      next = page.meta.next
    }
    isOver = true
    await writer

    expect(seen.toSorted()).toEqual(kept.map(({ id }) => id).toSorted())
  })
})

describe('the header Link', () => {
  it('has the address of the next page, without the token', async () => {
    const path = `/items/posts?fields=id&${sort}&limit=3&offset=1&meta=cursor`
    const token = world.administrator.token
    const first = await blog.anonymous.get(`${path}&access_token=${token}`)
    const link = first.headers.get('link') ?? ''
    const [, address = ''] = /^<([^>]+)>; rel="next"$/.exec(link) ?? []
    const { meta } = (await first.json()) as Page

    const last = await pageOf(`${sort}&limit=30&meta=cursor`)

    expect(link).not.toContain('access_token')
    expect(address).toBe(`/api/${blog.name}/items/posts?fields=id&${sort}&limit=3&meta=cursor&after=${meta.next}`)
    expect(last.meta.next).toBeNull()
    expect((await blog.get(`/items/posts?${sort}&meta=cursor`)).headers.get('link')).toBeNull()
  })
})

describe('a nested list', () => {
  it('says where it is cut, and goes on from there', async () => {
    const path = '/items/authors/1?fields=posts.id&deep[posts][_limit]=3'
    const first = (await blog.data(`${path}&deep[posts][_meta]=cursor`)) as { posts: Page }
    const next = first.posts.meta.next

    const second = await blog.data(`${path}&deep[posts][_meta]=cursor&deep[posts][_after]=${next}`)
    const plain = await blog.data(`${path}&deep[posts][_after]=${next}`)

    expect(first).toEqual({
      posts: { data: [{ id: '1' }, { id: '3' }, { id: '5' }], meta: { next: expect.any(String), previous: null } },
    })
    expect(second).toEqual({ posts: { data: [{ id: '7' }], meta: { next: null, previous: expect.any(String) } } })
    expect(plain).toEqual({ posts: { data: [{ id: '7' }] } })
    expect(idsOf(await pageOf(`filter[authorId][_eq]=1&after=${next}`))).toEqual(['7'])
  })
})

describe('a list of the system', () => {
  it('is walked alike', async () => {
    const first = (await (await blog.get('/policies?fields=name&limit=1&meta=cursor')).json()) as Page
    const structure = await blog.get('/schema/structure/collections?fields=apiName&limit=1&meta=cursor')

    expect(first.meta).toEqual({ next: null, previous: null })
    expect(await structure.json()).toMatchObject({ data: [{}], meta: { next: expect.any(String) } })
    expect(structure.headers.get('link')).toMatch(/rel="next"$/)
  })
})

describe('what is refused', () => {
  const notOfThisList = 'is not a cursor of this list'
  const cursor = (values: unknown[]) => Buffer.from(JSON.stringify(values)).toString('base64url')
  const digestOf = async () => {
    const { meta } = await pageOf(`${sort}&limit=1&meta=cursor`)
    return (JSON.parse(Buffer.from(meta.next ?? '', 'base64url').toString()) as string[])[1]
  }

  it.each([
    ['both sides', 'after=a&before=a', 'before', 'must not stand beside after'],
    ['an offset', 'after=a&offset=0', 'offset', 'must not stand beside after'],
    ['an empty cursor', 'after=', 'after', 'must be a cursor'],
    ['a list of cursors', 'before[]=a', 'before', 'must be a cursor'],
    ['no base64url', 'after=a%2Bb', 'after', notOfThisList],
    ['another text', 'after=abcd', 'after', notOfThisList],
    ['another version', `after=${cursor([2, 'a', 1])}`, 'after', notOfThisList],
    ['too many values', `after=${cursor([1, 'a', ...Array(101).fill(1)])}`, 'after', notOfThisList],
    ['another order', `after=${cursor([1, 'a', 1])}`, 'after', 'is a cursor of another sort or of another list'],
    [
      'another meta',
      'meta=cursors',
      'meta',
      'must be totalCount or totalEstimate or cursor, or several with commas between',
    ],
    ['a sort by JSON', 'sort[0][details][direction]=asc&meta=cursor', 'meta', 'cannot follow a sort by JSON'],
  ])('%s: 422', async (_, search, place, reason) => {
    const response = await blog.get(`/items/posts?${search}`)

    expect(response.status).toBe(422)
    expect(await response.json()).toMatchObject({ source: { message: place, source: { message: reason } } })
  })

  it.each([
    ['isOpen', 5],
    ['isOpen', -1],
    ['isOpen', 'yes'],
    ['day', '2026-02-30'],
    ['day', '2026-13-01'],
    ['at', '+294277-01-01T00:00:00Z'],
    ['rank', 2 ** 31],
    ['weight', '1e400'],
    ['price', '1e140000'],
    ['mark', 'none'],
    ['title', '\u0000'],
    ['title', '\ud800'],
  ])('a cursor whose value is none of %s: %j', async (field, value) => {
    const order = `sort[0][${field}][direction]=asc`
    const { meta } = (await (await blog.get(`/items/marks?${order}&limit=1&meta=cursor`)).json()) as Page
    const [version, digest, , ...key] = JSON.parse(Buffer.from(meta.next ?? '', 'base64url').toString()) as unknown[]

    const response = await blog.get(`/items/marks?${order}&after=${cursor([version, digest, value, ...key])}`)

    expect([response.status, await response.json()]).toMatchObject([
      422,
      { source: { message: 'after', source: { message: notOfThisList } } },
    ])
  })

  it('a cursor of another sort, and one whose values are none of their fields', async () => {
    const digest = await digestOf()
    const { meta } = await pageOf(`${sort}&limit=1&meta=cursor`)
    const sent = [
      `sort[0][rank][direction]=asc&after=${meta.next}`,
      `${sort}&after=${cursor([1, digest, 'x', '1'])}`,
      `${sort}&after=${cursor([1, digest, 1])}`,
      `${sort}&after=${cursor([1, digest, 1, null])}`,
      `${sort}&after=${cursor([1, digest, 1, '1', '2'])}`,
      `${sort}&after=${cursor([1, digest, { a: 1 }, '1'])}`,
    ]

    const replies = await Promise.all(sent.map((search) => blog.get(`/items/posts?${search}`)))

    const reasons = await Promise.all(
      replies.map(async (reply) => ((await reply.json()) as { source: unknown }).source),
    )
    expect(replies.map(({ status }) => status)).toEqual(sent.map(() => 422))
    expect(reasons[0]).toMatchObject({
      message: 'after',
      source: { message: 'is a cursor of another sort or of another list' },
    })
    expect(reasons.slice(1)).toEqual(
      sent.slice(1).map(() => ({ message: 'after', source: { message: notOfThisList } })),
    )
  })

  it('a cursor of a list in a batch that others refer to', async () => {
    const reading = (more: object) => [
      { kind: 'read', collection: 'posts', as: 'found', ...more },
      { kind: 'read', collection: 'posts', key: { $ref: 'found[0].id' } },
    ]
    const first = (await (await blog.get('/items/posts?limit=1&meta=cursor')).json()) as { meta: { next: string } }

    const responses = await Promise.all(
      [{ meta: 'cursor' }, { after: first.meta.next }].map((more) =>
        blog.post('/items', { operations: reading(more) }),
      ),
    )

    expect(await Promise.all(responses.map((response) => response.json()))).toEqual(
      ['meta', 'after'].map((name) =>
        expect.objectContaining({ source: expect.objectContaining({ message: `operations[0].${name}` }) }),
      ),
    )
  })

  it('nested, what belongs to lists alone', async () => {
    const sent = ['deep[author][_after]=a', 'deep[author][_meta]=cursor', 'deep[author][_before]=a']

    const replies = await Promise.all(sent.map((search) => blog.get(`/items/posts?fields=author.id&${search}`)))

    expect(replies.map(({ status }) => status)).toEqual([422, 422, 422])
  })

  it('for a key that the caller does not read in every row, or not at all, alike', async () => {
    const rights = { collections: { posts: { read: { fields: ['title', 'rank'] } } } }
    const partly = { collections: { posts: { read: { fields: ['title'] } } } }
    const own = { collections: { posts: { read: { filter: { rank: { _eq: 2 } } } } } }
    const blind = await people.member(blog, rights)
    const half = await people.memberWith(blog, [await people.roleWith(blog, partly), await people.roleWith(blog, own)])

    const replies = await Promise.all(
      [blind, half].flatMap((caller) => [
        caller.get('/items/posts?fields=title&meta=cursor'),
        caller.get(`/items/posts?fields=title&after=${cursor([1, 'a', '1'])}`),
      ]),
    )

    const bodies = (await Promise.all(replies.map((reply) => reply.json()))) as { code: string }[]
    expect(bodies.map(({ code }) => code)).toEqual(['4010', '4010', '4010', '4010'])
    expect(bodies[0]).toEqual(bodies[2])
  })
})
