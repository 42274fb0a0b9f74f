/** Single rules on a real database that random cases meet too rarely, or that were once broken. */
import { expect, it } from 'vitest'
import { parseBrackets } from '../../../src/core/query/brackets.ts'
import { parseListQuery } from '../../../src/core/query/parameters.ts'
import type { Row, Rows } from '../../property/support/rows.ts'
import type { Opened } from './access.ts'
import { users } from './library.ts'
import type { Caller, Policy } from './policies.ts'
import { dump, load, openService, type Reply } from './service.ts'

const caller: Caller = { userId: users[0], roleIds: ['99999999-2222-4333-8444-555555555551'] }
const person = (id: number, more: Row = {}): Row => ({ id, name: null, team: null, userId: null, since: null, ...more })
const post = (id: number, more: Row = {}): Row => ({
  id,
  title: null,
  status: 'draft',
  score: null,
  authorId: null,
  ...more,
})
const rows: Rows = {
  people: [person(1, { name: 'a' }), person(2, { name: 'b', userId: users[1] }), person(3)],
  posts: [post(1, { authorId: 1 }), post(2, { status: 'live', score: 5 }), post(3, { status: 'live' })],
  notes: [],
  badges: [],
  likes: [],
}

export function describeRegressions(opened: () => Opened): void {
  async function as(...collections: Policy['collections'][]) {
    await load(opened(), rows)
    return openService(
      opened(),
      collections.map((one) => ({ collections: one })),
      caller,
    )
  }
  const search = (text: string) => () => parseListQuery(parseBrackets(text))
  const data = ({ text }: Reply) => JSON.parse(text)
  const expectUntouched = async () => expect(await dump(opened())).toEqual(rows)

  it('writes through a to-many only where a policy that has it admits the row', async () => {
    const service = await as(
      { people: { read: 'all', update: { fields: ['posts'], filter: { id: 1 } } }, posts: { create: 'all' } },
      { people: { update: { fields: ['name'], filter: { id: 2 } } } },
    )
    const body = { posts: [{ _create: { data: [{ id: 8, status: 'draft' }] } }] }

    const denied = await service.write({ collection: 'people', request: {}, kind: 'updateOne', key: 2, body })

    expect(denied.status).toBe(403)
    await expectUntouched()
    const allowed = await service.write({ collection: 'people', request: {}, kind: 'updateOne', key: 1, body })
    expect(allowed.status).toBe(200)
  })

  it('creates through a to-many only where a policy that has it finds the new item valid', async () => {
    const service = await as(
      { people: { read: 'all', create: { fields: ['id', 'posts'], validation: { id: 8 } } }, posts: { create: 'all' } },
      { people: { create: { fields: ['id', 'name'] } } },
    )
    const posts = [{ _create: { data: [{ id: 8, status: 'draft' }] } }]

    const [refused, allowed] = [
      await service.write({ collection: 'people', request: {}, kind: 'create', items: [{ id: 9, posts }] }),
      await service.write({ collection: 'people', request: {}, kind: 'create', items: [{ id: 8, posts }] }),
    ]

    expect([refused.status, allowed.status]).toEqual([422, 200])
  })

  it('validates a new item together with what is nested in it', async () => {
    const none = await as({ people: { create: { validation: { posts: { _none: {} } } } }, posts: { create: 'all' } })
    const items = [{ id: 8, posts: [{ _create: { data: [{ id: 8, status: 'draft' }] } }] }]

    const refused = await none.write({ collection: 'people', request: {}, kind: 'create', items })

    expect([refused.status, refused.text]).toEqual([422, 'Validation failed'])
    await expectUntouched()
    const some = await as({ people: { create: { validation: { posts: { _some: {} } } } }, posts: { create: 'all' } })
    expect((await some.write({ collection: 'people', request: {}, kind: 'create', items })).status).toBe(200)
  })

  it('keeps a total order where the key is hidden in some rows', async () => {
    const keyed = { posts: { read: { fields: ['id', 'status'], filter: { id: 2 } } } }
    const service = await as(keyed, { posts: { read: { fields: ['status', 'author'] } } }, { people: { read: 'all' } })

    const pages = await Promise.all(
      [0, 1, 2].map((offset) => service.list('posts', search(`fields=id,author.id&limit=1&offset=${offset}`))),
    )

    const seen = pages.flatMap(data)
    expect(seen).toEqual([
      { id: 2, author: null },
      { id: null, author: { id: 1 } },
      { id: null, author: null },
    ])
  })

  it.each([{ fans: { _some: { id: 1 } } }, { likes: { _some: { personId: 1 } } }])(
    'validates an item together with what is linked to it through a junction: %j',
    async (rule) => {
      const both = { read: 'all', create: 'all' } as const
      const service = await as(
        { people: both, likes: both },
        { posts: { read: 'all', create: { validation: rule }, update: { check: rule } } },
      )
      const links = [
        [{ _connect: { keys: [{ id: 1 }] } }],
        [{ _create: { data: [{ id: 8 }] } }, { _connect: { keys: [{ id: 1 }] } }],
        [{ _connect: { keys: [{ id: 2 }] } }],
      ]

      const statuses: number[] = []
      for (const [at, fans] of links.entries()) {
        const items = [{ id: 8 + at, status: 'draft', fans }]
        const body = { title: 'a', fans }
        const made = await service.write({ collection: 'posts', request: {}, kind: 'create', items })
        await load(opened(), rows)
        const changed = await service.write({ collection: 'posts', request: {}, kind: 'updateOne', key: 1, body })
        await load(opened(), rows)
        statuses.push(made.status, changed.status)
      }

      expect(statuses).toEqual([200, 200, 200, 200, 422, 403])
    },
  )

  it('tells what is wrong with an item before what is wrong below it', async () => {
    const service = await as({
      posts: { read: 'all', create: { validation: { score: { _gt: 0 } } } },
      notes: { create: { fields: ['id', 'kind'] } },
    })
    const notes = [{ _create: { data: [{ id: 7, kind: 'x' }] } }]
    const create = (item: Row) =>
      service.write({ collection: 'posts', request: {}, kind: 'create', items: [{ status: 'draft', notes, ...item }] })

    const [both, below] = [await create({ id: 7, score: 0 }), await create({ id: 7, score: 1 })]

    expect([both.status, below.status]).toEqual([422, 403])
    await expectUntouched()
  })

  it('asks the filter of a policy again when a row is changed', async () => {
    const drafts = { filter: { status: 'draft' } }
    const service = await as({ posts: { read: 'all', update: drafts } })
    const body = { status: 'live' }

    const one = await service.write({ collection: 'posts', request: {}, kind: 'updateOne', key: 1, body })
    const filter = { status: { _eq: 'draft' } }
    const many = await service.write({ collection: 'posts', request: { filter }, kind: 'updateMany', body })

    expect([one.status, many.status]).toEqual([403, 403])
    await expectUntouched()
  })

  it('takes no validity from a policy that does not admit the row', async () => {
    const service = await as(
      { posts: { read: 'all', update: { filter: { id: 1 }, validation: { score: { _gt: 0 } } } } },
      { posts: { update: { filter: { id: 2 }, validation: { score: { _lt: 0 } } } } },
    )
    const scored = (score: number) =>
      service.write({ collection: 'posts', request: {}, kind: 'updateOne', key: 1, body: { score } })

    const statuses = [(await scored(-1)).status, (await scored(1)).status]

    expect(statuses).toEqual([422, 200])
  })

  it('lets rows become what the check says, and nothing else', async () => {
    const step = (from: string, to: string) => ({
      posts: { read: 'all', update: { filter: { status: from }, check: { status: to } } } as const,
    })
    const changed = async (service: Awaited<ReturnType<typeof as>>, status: string) => {
      const answer = await service.write({
        collection: 'posts',
        request: {},
        kind: 'updateOne',
        key: 1,
        body: { status },
      })
      return answer.status
    }
    const one = await as(step('draft', 'live'))
    const two = await as(step('draft', 'live'), step('live', 'gone'))

    // What becomes of a row is up to the policy that admitted it, whatever others admit.
    expect([await changed(one, 'draft'), await changed(two, 'gone'), await changed(two, 'draft')]).toEqual([
      403, 403, 403,
    ])
    await expectUntouched()
    expect([await changed(one, 'live')]).toEqual([200])
  })

  it('lets nobody make a row one of those that they may change', async () => {
    const service = await as({ posts: { read: 'all', update: { filter: { status: 'draft' } } } })
    const drafted = (key: number) =>
      service.write({ collection: 'posts', request: {}, kind: 'updateOne', key, body: { status: 'draft' } })

    expect((await drafted(2)).status).toBe(403)
    await expectUntouched()
    expect((await drafted(1)).status).toBe(200)
  })

  it('lets rows of several policies become what any policy that admits them says', async () => {
    const service = await as(
      { posts: { read: 'all', update: { filter: { id: 1 }, check: { score: 1 } } } },
      { posts: { update: { filter: { status: 'draft' }, check: { score: 2 } } } },
      { posts: { update: { fields: ['score'], filter: { id: { _neq: 1 } }, validation: { score: { _neq: 5 } } } } },
    )
    const scored = async (key: number, score: number) => {
      const body = { score }
      const answer = await service.write({ collection: 'posts', request: {}, kind: 'updateOne', key, body })
      return answer.status
    }

    expect([await scored(1, 3), await scored(1, 2), await scored(1, 1)]).toEqual([403, 200, 200])
    expect([await scored(2, 5), await scored(2, 7)]).toEqual([422, 200])
  })

  it('validates what it connects and disconnects', async () => {
    const valid = { validation: { author: { id: 2 } } }
    const service = await as({ people: { read: 'all', update: 'all' }, posts: { read: 'all', update: valid } })
    const changed = (key: number, operation: Row) =>
      service.write({ collection: 'people', request: {}, kind: 'updateOne', key, body: { posts: [operation] } })
    const connected = { _connect: { keys: [{ id: 3 }] } }

    const statuses = [
      (await changed(1, connected)).status,
      (await changed(1, { _disconnect: {} })).status,
      (await changed(2, connected)).status,
    ]

    expect(statuses).toEqual([422, 422, 200])
  })

  it('changes nothing where one of many is refused, however late', async () => {
    const service = await as({
      posts: { read: 'all', create: { validation: { score: { _gt: 0 } } }, delete: { filter: { status: 'live' } } },
    })
    const items = [
      { id: 7, status: 'live', score: 1 },
      { id: 8, status: 'live', score: 0 },
    ]

    const created = await service.write({ collection: 'posts', request: {}, kind: 'create', items })
    const filter = { id: { _gt: 0 } }
    const deleted = await service.write({ collection: 'posts', request: { filter }, kind: 'deleteMany' })

    expect([created.status, deleted.status]).toEqual([422, 403])
    await expectUntouched()
  })

  it.each([
    ['an empty list', { id: { _in: [] } }, 0],
    ['an empty list of alternatives', { _or: [] }, 0],
    ['nothing that a null equals', { userId: '$CURRENT_USER' }, 0],
    ['nothing that a null differs from', { userId: { _neq: '$CURRENT_USER' } }, 1],
    ['nothing that a null is not among', { team: { _nin: '$CURRENT_ROLES' } }, 0],
    ['nothing that a null is not equal to', { _not: { team: { _in: '$CURRENT_ROLES' } } }, 0],
    ['nothing later than a null', { since: { _lte: '$NOW' } }, 0],
  ])('admits to a policy by %s', async (_name, filter, count) => {
    const service = await as({ people: { read: { filter } } })

    const reply = await service.list('people', search('meta=totalCount'))

    expect([data(reply).length, reply.total]).toEqual([count, count])
  })

  it.each([
    ['_eq', '5'],
    ['_gte', '0'],
    ['_neq', '4'],
    ['_nin][', '4'],
    ['_lt', '9'],
    ['_null', 'false'],
  ])('finds no hidden value by %s, and counts none', async (operator, operand) => {
    const service = await as(
      { posts: { read: { fields: ['id', 'score'], filter: { id: 1 } } } },
      { posts: { read: { fields: ['id'] } } },
    )

    const reply = await service.list('posts', search(`filter[score][${operator}]=${operand}&meta=totalCount`))

    expect([reply.status, reply.text, reply.total]).toEqual([200, '[]', 0])
  })

  it('sorts and groups a row whose value is hidden as one without a value', async () => {
    const service = await as(
      { posts: { read: { fields: ['id', 'score'], filter: { id: 1 } } } },
      { posts: { read: { fields: ['id'] } } },
    )

    const sorted = await service.list('posts', search('fields=id&sort[0][score][direction]=desc'))
    const grouped = await service.aggregate('posts', { group: ['score'], aggregate: { n: { count: '*' } } })

    expect(data(sorted)).toEqual([{ id: 3 }, { id: 2 }, { id: 1 }])
    expect(data(grouped)).toEqual([{ group: { score: null }, n: 3 }])
  })

  it.each([
    ['_some', '[id][_gt]=0', []],
    ['_none', '[id][_gt]=0', [1, 2, 3]],
    ['_every', '[id][_lt]=0', [1, 2, 3]],
  ])('asks by %s of no hidden row behind a relation', async (quantifier, condition, ids) => {
    const service = await as({ people: { read: 'all' }, posts: { read: { filter: { status: 'live' } } } })

    const reply = await service.list('people', search(`fields=id&filter[posts][${quantifier}]${condition}`))

    expect(data(reply)).toEqual(ids.map((id) => ({ id })))
  })

  it('finds nothing to change by a key that is hidden', async () => {
    const service = await as(
      { posts: { read: { filter: { id: 1 } }, create: 'all', update: 'all' } },
      { posts: { read: { fields: ['status'] } } },
    )
    const upserted = async (id: number) => {
      const items = [{ id, status: 'draft', score: 7 }]
      return (await service.write({ collection: 'posts', request: {}, kind: 'upsert', items, do: 'update' })).status
    }

    const hidden = await upserted(2)

    expect(hidden).toBe(422)
    await expectUntouched()
    expect(await upserted(1)).toBe(200)
  })

  it('connects nothing by a key that is hidden', async () => {
    const service = await as(
      { people: { read: 'all', update: 'all' }, posts: { read: { filter: { id: 1 } }, update: 'all' } },
      { posts: { read: { fields: ['status'] } } },
    )
    const connected = async (id: number) => {
      const body = { posts: [{ _connect: { keys: [{ id }] } }] }
      return (await service.write({ collection: 'people', request: {}, kind: 'updateOne', key: 3, body })).status
    }

    const hidden = await connected(2)

    expect(hidden).toBe(422)
    await expectUntouched()
    expect(await connected(1)).toBe(200)
  })

  it('looks up once, before the first, what several new items refer to', async () => {
    const service = await as({
      people: { read: 'all' },
      posts: { read: { fields: '*', filter: { fans: { _none: { id: 1 } } } } },
      likes: { read: 'all', create: 'all' },
    })
    const like = (...people: readonly number[]) =>
      service.write({
        collection: 'likes',
        request: {},
        kind: 'create',
        items: people.map((personId) => ({ personId, postId: 1 })),
      })

    const together = await like(1, 2)
    const later = await like(3)

    expect([together.status, later.status]).toEqual([200, 422])
    expect((await dump(opened())).likes).toHaveLength(2)
  })

  it('answers a hidden row, a row that is not there and a key that is hidden alike', async () => {
    const service = await as(
      { posts: { read: { fields: ['id'], filter: { id: { _lt: 3 } } }, update: 'all', delete: 'all' } },
      { posts: { read: { fields: ['status'], filter: { id: 3 } } } },
    )
    const keys = [3, 77]

    const updated = await Promise.all(
      keys.map((key) =>
        service.write({ collection: 'posts', request: {}, kind: 'updateOne', key, body: { score: 1 } }),
      ),
    )
    const deleted = await Promise.all(
      keys.map((key) => service.write({ collection: 'posts', request: {}, kind: 'deleteOne', key })),
    )

    expect([...updated, ...deleted].map(({ status, text }) => `${status} ${text}`)).toEqual(
      Array(4).fill('404 Query failed > No record found'),
    )
    await expectUntouched()
  })
}
