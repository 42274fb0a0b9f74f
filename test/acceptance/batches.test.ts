/** `POST /api/{workspace}/items` (docs/contract.md#batches): operations of one transaction, in order. */
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Client } from '../support/service/client.ts'
import { people } from '../support/service/people.ts'
import { type Workspace, world } from '../support/service/world.ts'

let shop: Workspace

beforeAll(async () => {
  shop = await world.workspace(
    'batches',
    {
      authors: { id: 'int64', name: 'string', note: 'json?' },
      articles: { id: 'int64', title: 'string', left: 'int32?', authorId: 'int64?', reviewerId: 'int64?' },
    },
    ['articles.author(authorId) -> authors.articles', 'articles.reviewer(reviewerId) -> authors.reviews'],
  )
})

beforeEach(async () => {
  await run(shop, [
    { kind: 'delete', collection: 'articles', filter: { id: { _gte: 0 } } },
    { kind: 'delete', collection: 'authors', filter: { id: { _gte: 0 } } },
  ])
})

type Told = { readonly status: number; readonly body: { readonly data: readonly unknown[] } }

async function run(client: Client, operations: readonly unknown[]): Promise<Told> {
  const response = await client.post('/items', { operations })
  return { status: response.status, body: (await response.json()) as Told['body'] }
}

const create = (collection: string, data: unknown, more: object = {}) => ({ kind: 'create', collection, data, ...more })

describe('a batch', () => {
  it('runs operations in order and answers what each alone answers', async () => {
    const { status, body } = await run(shop, [
      create(
        'authors',
        [
          { id: '1', name: 'Ada' },
          { id: '2', name: 'Bob' },
        ],
        { fields: ['name'] },
      ),
      create('articles', [{ id: '7', title: 'Lamp', left: 3, authorId: '1' }], { fields: ['id', 'author.name'] }),
      {
        kind: 'update',
        collection: 'articles',
        key: '7',
        filter: { left: { _gte: 1 } },
        data: { left: 2 },
        fields: ['left'],
      },
      {
        kind: 'update',
        collection: 'authors',
        filter: { id: { _gte: 1 } },
        data: { note: 'x' },
        fields: ['id', 'note'],
      },
      {
        kind: 'read',
        collection: 'authors',
        fields: ['name', 'articles.left'],
        sort: [{ name: { direction: 'desc' } }],
        limit: 1,
        meta: 'totalCount',
      },
      { kind: 'read', collection: 'articles', key: 7, fields: 'title,left' },
      { kind: 'delete', collection: 'articles', key: '7' },
      { kind: 'delete', collection: 'authors', filter: { name: { _eq: 'Bob' } }, fields: ['id'] },
      { kind: 'read', collection: 'articles' },
    ])

    expect({ status, body }).toEqual({
      status: 200,
      body: {
        data: [
          [{ name: 'Ada' }, { name: 'Bob' }],
          [{ id: '7', author: { name: 'Ada' } }],
          { left: 2 },
          [
            { id: '1', note: 'x' },
            { id: '2', note: 'x' },
          ],
          [{ name: 'Bob', articles: { data: [] } }],
          { title: 'Lamp', left: 2 },
          null,
          [{ id: '2' }],
          [],
        ],
        meta: [null, null, null, null, { totalCount: 2 }, null, null, null, null],
      },
    })
  })

  it('walks lists by cursors as their own route does', async () => {
    const authors = Array.from({ length: 7 }, (_, index) => ({ id: `${index + 1}`, name: index % 2 ? 'Ada' : 'Bob' }))
    const page = { collection: 'authors', fields: ['id'], sort: [{ name: {} }], limit: 3, meta: 'totalCount,cursor' }
    type Page = { data: unknown[]; meta: { next: string | null; previous: string | null; totalCount: number } }
    const alone = async (more: string) =>
      (await (
        await shop.get(`/items/authors?fields=id&sort[0][name][direction]=asc&limit=3&meta=totalCount,cursor${more}`)
      ).json()) as Page
    await shop.insert('authors', authors)
    const first = await alone('')
    const second = await alone(`&after=${first.meta.next}`)

    const { status, body } = await run(shop, [
      { kind: 'read', ...page },
      { kind: 'read', ...page, after: first.meta.next },
      { kind: 'read', ...page, before: second.meta.previous, meta: 'cursor' },
      { kind: 'read', collection: 'authors', fields: ['id'], limit: 2, sort: [{ name: {} }], after: first.meta.next },
      { kind: 'read', collection: 'authors', key: '1', fields: ['id'] },
    ])
    const back = await alone(`&before=${second.meta.previous}`)
    const { totalCount: _, ...cursors } = back.meta

    expect({ status, body }).toEqual({
      status: 200,
      body: {
        data: [first.data, second.data, back.data, second.data.slice(0, 2), { id: '1' }],
        meta: [first.meta, second.meta, cursors, null, null],
      },
    })
  })

  it('refers to what earlier operations have written and found', async () => {
    const { status, body } = await run(shop, [
      create(
        'authors',
        [
          { id: '1', name: 'Ada' },
          { id: '2', name: 'Bob' },
        ],
        { as: 'people' },
      ),
      create('articles', [{ id: '7', title: 'Lamp', authorId: { $ref: 'people[1].id' } }], { as: 'made' }),
      { kind: 'update', collection: 'articles', key: { $ref: 'made[0].id' }, data: { left: 4 }, as: 'changed' },
      { kind: 'read', collection: 'authors', key: { id: { $ref: 'changed.authorId' } }, fields: ['name'], as: 'found' },
      { kind: 'read', collection: 'authors', sort: [{ name: {} }], limit: 1, offset: 1, fields: ['id'], as: 'list' },
      create('articles', [
        { id: '8', title: 'Chair', author: { _connect: { key: { id: { $ref: 'list[0].id' } } } } },
        {
          id: '9',
          title: 'Desk',
          reviewer: {
            _create: {
              data: { id: '3', name: 'Cy', articles: [{ _connect: { keys: [{ id: { $ref: 'made[0].id' } }] } }] },
            },
          },
        },
      ]),
      { kind: 'delete', collection: 'articles', key: '8', as: 'gone', fields: ['title'] },
      create('articles', [
        { id: '10', title: 'Rug', authorId: { $ref: 'gone.authorId' }, reviewerId: { $ref: 'made[0].reviewerId' } },
      ]),
      { kind: 'read', collection: 'articles', fields: ['id', 'authorId', 'reviewerId', 'left'] },
    ])

    expect(status, JSON.stringify(body)).toBe(200)
    expect(body.data.slice(3, 5)).toEqual([{ name: 'Bob' }, [{ id: '2' }]])
    expect(body.data[8]).toEqual([
      { id: '7', authorId: '3', reviewerId: null, left: 4 },
      { id: '9', authorId: null, reviewerId: '3', left: null },
      { id: '10', authorId: '2', reviewerId: null, left: null },
    ])
  })

  it('writes an item as it was read, and changes numbers as they are', async () => {
    await shop.insert('articles', [{ id: '7', title: 'Lamp', left: 3 }])
    const { _etag: tag } = (await shop.data('/items/articles/7?fields=_etag')) as { _etag: string }
    const taken = {
      kind: 'update',
      collection: 'articles',
      key: '7',
      data: { left: { _increment: -1 } },
      fields: ['left'],
    }

    const first = await run(shop, [{ ...taken, ifMatch: tag }, taken])
    const second = await run(shop, [taken, { ...taken, ifMatch: [tag] }])
    const noTag = await run(shop, [{ ...taken, ifMatch: ['\u0000', '\ud800'] }])
    const bounded = await run(shop, [{ ...taken, key: undefined, filter: { id: { _gte: 1 } }, max: 1 }])
    await shop.insert('articles', [{ id: '8', title: 'Chair' }])
    const tooMany = await run(shop, [{ kind: 'delete', collection: 'articles', filter: { id: { _gte: 1 } }, max: 1 }])

    expect(first).toMatchObject({ status: 200, body: { data: [{ left: 2 }, { left: 1 }] } })
    expect(second).toMatchObject({ status: 412, body: { code: '4120', meta: { operation: 1 } } })
    expect(noTag).toMatchObject({ status: 412, body: { code: '4120', meta: { operation: 0 } } })
    expect(bounded).toMatchObject({ status: 200, body: { data: [[{ left: 0 }]] } })
    expect(tooMany).toMatchObject({
      status: 422,
      body: { ...invalid('operations[0].max', 'more than 1 items match'), meta: { matched: 2, operation: 0 } },
    })
  })

  it('adds what is not there, changes what is, and refers to both', async () => {
    await shop.insert('authors', [{ id: '1', name: 'Ada' }])
    const conflict = { fields: ['id'], do: 'update' }
    const upsert = { kind: 'upsert', collection: 'authors', conflict, as: 'people', fields: ['name', 'note'] }
    const note = { $ref: 'x[0].id' }

    const { status, body } = await run(shop, [
      {
        ...upsert,
        data: [
          { id: '2', name: 'Bob', note },
          { id: '1', name: 'Eve', note },
        ],
      },
      create('articles', [{ id: '7', title: 'Lamp', authorId: { $ref: 'people[1].id' } }], { as: 'made' }),
      {
        kind: 'update',
        collection: 'articles',
        data: [{ id: { $ref: 'made[0].id' }, left: 4, reviewerId: { $ref: 'people[0].id' } }],
        as: 'changed',
      },
      {
        ...upsert,
        as: 'again',
        conflict: { ...conflict, do: 'ignore' },
        data: [{ id: { $ref: 'changed[0].authorId' }, name: 'x' }],
      },
    ])
    const second = await run(shop, [
      { ...upsert, data: [{ id: '3', name: 'Cy' }] },
      { ...upsert, as: 'again', data: [{ id: { $ref: 'people[0].id' }, name: 'Dee' }] },
    ])

    expect(status, JSON.stringify(body)).toBe(422)
    expect(body).toMatchObject({
      ...invalid('operations[3].data[0].id', 'must stand for what is never null: it is one of conflict.fields'),
      meta: { operation: 3 },
    })
    expect(second.status).toBe(200)
    expect(await shop.data('/items/authors?fields=id,name')).toEqual([
      { id: '1', name: 'Ada' },
      { id: '3', name: 'Dee' },
    ])
  })

  it('refuses items that are none, and counts those of all lists', async () => {
    const upsert = (data: unknown, fields = ['id']) => ({
      kind: 'upsert',
      collection: 'authors',
      conflict: { fields, do: 'update' },
      data,
    })
    const many = Array.from({ length: 600 }, (_, index) => ({ id: String(index), name: 'x' }))
    const refused: readonly (readonly [object, string, string])[] = [
      [upsert({}), 'operations[1].data', 'must be an array of items'],
      [upsert([{ name: 'x' }]), 'operations[1].data[0].id', 'is required: it is one of conflict.fields'],
      [
        upsert([{ id: '1', name: 'x' }, { id: '1' }]),
        'operations[1].data[1]',
        'is the same as data[0] by conflict.fields',
      ],
      [upsert([], ['name']), 'operations[1].conflict.fields', 'must be the fields of a unique index: id'],
      [
        { kind: 'update', collection: 'authors', data: [{ id: '1' }, { id: '1' }] },
        'operations[1].data[1]',
        'has the key of data[0]',
      ],
      [
        { kind: 'update', collection: 'authors', data: [{ name: 'x' }] },
        'operations[1].data[0].id',
        'is required: it names the item',
      ],
      [{ kind: 'update', collection: 'authors', key: '1', data: [{}] }, 'operations[1].data', 'must be an object'],
      [upsert(many), 'operations[1].data', 'has more than 1000 items with those of the operations before it'],
    ]

    for (const [operation, place, reason] of refused) {
      expect(await run(shop, [create('authors', many), operation]), place).toMatchObject({
        status: 422,
        body: { ...invalid(place, reason), meta: { operation: 1 } },
      })
    }
    expect(await shop.data('/items/authors')).toEqual([])
  })

  it('takes what looks like a reference as data of a JSON field', async () => {
    const note = { $ref: 'nothing[0].id', more: [{ $ref: 1 }] }

    const { body } = await run(shop, [create('authors', [{ id: '1', name: 'Ada', note }], { fields: ['note'] })])

    expect(body).toEqual({ data: [[{ note }]] })
  })

  it('answers writes of many in the order of a list', async () => {
    const ids = ['30', '4', '100', '21']
    await shop.insert(
      'authors',
      ids.map((id) => ({ id, name: 'x' })),
    )
    const filter = { id: { _gte: 1 } }

    const { body } = await run(shop, [
      { kind: 'update', collection: 'authors', filter, data: { name: 'y' }, fields: ['id'] },
      { kind: 'delete', collection: 'authors', filter, fields: ['id'] },
    ])

    const sorted = ['4', '21', '30', '100'].map((id) => ({ id }))
    expect(body.data).toEqual([sorted, sorted])
  })

  it('leaves nothing and names the operation that fails', async () => {
    const before = [create('authors', [{ id: '1', name: 'Ada' }]), { kind: 'read', collection: 'authors', key: '1' }]
    const failing: readonly (readonly [object, number, object])[] = [
      [create('authors', [{ id: '2' }]), 422, invalid('operations[2].data[0].name', 'is required')],
      [create('authors', {}), 422, invalid('operations[2].data', 'must be an array of items')],
      [create('authors', [1]), 422, invalid('operations[2].data[0]', 'must be an object')],
      [
        { kind: 'update', collection: 'authors', key: '1', data: { name: 1 } },
        422,
        invalid('operations[2].data.name', 'must be a string'),
      ],
      [
        { kind: 'update', collection: 'authors', key: 'x', data: {} },
        422,
        invalid('operations[2].key', expect.any(String)),
      ],
      [
        { kind: 'update', collection: 'authors', filter: { nam: { _eq: 1 } }, data: {} },
        422,
        invalid('operations[2].filter.nam', expect.any(String)),
      ],
      [
        { kind: 'read', collection: 'authors', fields: ['nam'] },
        422,
        invalid('operations[2].fields.nam', expect.any(String)),
      ],
      [
        { kind: 'delete', collection: 'authors' },
        422,
        invalid('operations[2].filter', 'is required to write many items; {"_all": true} says that all are meant'),
      ],
      [{ kind: 'read', collection: 'nothing' }, 404, { source: { message: 'collection nothing does not exist' } }],
      [
        create('authors', [{ id: '1', name: 'Bob' }]),
        422,
        { message: 'Query failed', source: { code: '1002', meta: { fields: ['id'] } } },
      ],
      [
        create('articles', [{ id: '1', title: 'Lamp', authorId: '99' }]),
        422,
        { message: 'Query failed', source: { code: '1004' } },
      ],
      [
        { kind: 'update', collection: 'authors', key: '9', data: { name: 'x' } },
        404,
        { source: { message: 'No record found' } },
      ],
      [{ kind: 'update', collection: 'authors', key: '9', data: {} }, 404, { source: { message: 'No record found' } }],
      [{ kind: 'delete', collection: 'authors', key: '9' }, 404, { source: { message: 'No record found' } }],
      [{ kind: 'read', collection: 'authors', key: '9' }, 404, { source: { message: 'No record found' } }],
      [{ kind: 'read', collection: 'authors', key: '1', filter: { name: { _eq: 'Bob' } } }, 404, {}],
    ]

    for (const [operation, status, body] of failing) {
      const answer = await run(shop, [...before, operation, { kind: 'delete', collection: 'authors', key: '1' }])

      expect(answer, JSON.stringify(operation)).toMatchObject({ status, body: { ...body, meta: { operation: 2 } } })
      expect(await shop.data('/items/authors')).toEqual([])
    }
  })

  it('names the first of several operations that fail', async () => {
    const missing = (kind: string) => ({
      kind,
      collection: 'authors',
      key: '9',
      ...(kind === 'update' && { data: { name: 'x' } }),
    })
    const ada = create('authors', [{ id: '1', name: 'Ada' }])
    for (const kind of ['update', 'delete', 'read']) {
      const first = await run(shop, [ada, missing(kind), ada])
      const second = await run(shop, [ada, ada, missing(kind)])

      expect(first).toMatchObject({
        status: 404,
        body: { source: { message: 'No record found' }, meta: { operation: 1 } },
      })
      expect(second).toMatchObject({ status: 422, body: { source: { code: '1002' }, meta: { operation: 1 } } })
    }
    expect(await shop.data('/items/authors')).toEqual([])
  })

  it('refuses references that stand for nothing', async () => {
    const first = create('authors', [{ id: '1', name: 'Ada' }], { as: 'made' })
    const none = { kind: 'read', collection: 'authors', filter: { id: { _eq: 404 } }, as: 'none' }
    const referring = (authorId: unknown) => create('articles', [{ id: '1', title: 'Lamp', authorId }])
    const at = 'operations[2].data[0].authorId'
    const refused: readonly (readonly [unknown, string, unknown])[] = [
      [{ $ref: 'made' }, at, expect.stringMatching(/^\$ref must be such as/)],
      [{ $ref: 1 }, at, expect.stringMatching(/^\$ref must be such as/)],
      [{ $ref: 'made[0].id', x: 1 }, at, 'must hold $ref alone'],
      [{ $ref: 'mad[0].id' }, at, 'mad is the name of no earlier operation; did you mean made?'],
      [{ $ref: 'later[0].id' }, at, 'later is the name of no earlier operation; allowed: made, none'],
      [{ $ref: 'made.id' }, at, 'must be made[0].field: made is a list'],
      [{ $ref: 'made[1].id' }, at, 'made has fewer items'],
      [{ $ref: 'made[0].name' }, at, 'name is neither of the key nor a field that relations join by'],
      [{ $ref: 'made[0].nothing' }, at, expect.stringMatching(/^is not a field of authors/)],
      [{ $ref: 'none[0].id' }, 'operations[2].$ref', expect.stringMatching(/^stands for no value/)],
    ]

    for (const [value, place, reason] of refused) {
      const answer = await run(shop, [
        first,
        none,
        referring(value),
        { kind: 'read', collection: 'authors', as: 'later' },
      ])

      expect(answer, JSON.stringify(value)).toMatchObject({
        status: 422,
        body: { ...invalid(place, reason), meta: { operation: 2 } },
      })
    }
    const asTitle = create('articles', [{ id: '1', title: { $ref: 'made[0].id' } }])
    expect((await run(shop, [first, none, asTitle])).body).toMatchObject(
      invalid('operations[2].data[0].title', 'id is of type int64, not string'),
    )
    const inFilter = { kind: 'read', collection: 'authors', filter: { id: { _eq: { $ref: 'made[0].id' } } } }
    expect((await run(shop, [first, none, inFilter])).status).toBe(422)
  })

  it.each([
    ['no object', [], 'body', 'must be an object such as {"operations": […]}'],
    ['an unknown member', { operation: [] }, 'operation', 'is not a member of a batch; did you mean operations?'],
    ['no list', { operations: {} }, 'operations', 'must be an array'],
    ['no operation', { operations: [] }, 'operations', 'must hold an operation'],
    ['too many', { operations: Array(101).fill(1) }, 'operations', 'has more than 100 operations'],
    ['none at a place', { operations: [1] }, 'operations[0]', 'must be an object'],
    [
      'an unknown kind',
      { operations: [{ kind: 'merge' }] },
      'operations[0].kind',
      'must be one of create, update, upsert, delete, read',
    ],
    [
      'no collection',
      { operations: [{ kind: 'read' }] },
      'operations[0].collection',
      'must be the name of a collection',
    ],
    [
      'a member of another kind',
      { operations: [{ kind: 'create', collection: 'authors', data: [], key: 1 }] },
      'operations[0].key',
      expect.stringMatching(/^is not a member of a create/),
    ],
    [
      'a page of one item',
      { operations: [{ kind: 'read', collection: 'authors', key: 1, limit: 1 }] },
      'operations[0].limit',
      expect.stringMatching(/^is not a member of a read by key/),
    ],
    [
      'a filter of items that may be there',
      { operations: [{ kind: 'upsert', collection: 'authors', data: [], filter: {} }] },
      'operations[0].filter',
      expect.stringMatching(/^is not a member of an upsert;/),
    ],
    [
      'nothing that tells what is there',
      { operations: [{ kind: 'upsert', collection: 'authors', data: [] }] },
      'operations[0].conflict',
      'must be given',
    ],
    [
      'the tag of a list',
      { operations: [{ kind: 'read', collection: 'authors', meta: ['cursor', 'etag'] }] },
      'operations[0].meta',
      'etag is told of a list of items alone',
    ],
    [
      'an estimate',
      { operations: [{ kind: 'read', collection: 'authors', meta: 'totalEstimate' }] },
      'operations[0].meta',
      'totalEstimate is told of a list of items alone',
    ],
    ['no data', { operations: [{ kind: 'create', collection: 'authors' }] }, 'operations[0].data', 'must be given'],
    [
      'a name that is none',
      { operations: [{ kind: 'read', collection: 'authors', as: '1' }] },
      'operations[0].as',
      expect.stringMatching(/^must be a name/),
    ],
    [
      'a name twice',
      { operations: ['a', 'a'].map((as) => ({ kind: 'read', collection: 'authors', as })) },
      'operations[1].as',
      'is the name of operations[0] as well',
    ],
  ])('is refused with %s', async (_, body, place, reason) => {
    const response = await shop.post('/items', body)

    expect(response.status).toBe(422)
    expect(await response.json()).toMatchObject(invalid(place, reason))
  })

  it('takes no other method and no parameter', async () => {
    const wrong = await shop.get('/items')
    const asked = await shop.post('/items?fields=id', { operations: [{ kind: 'read', collection: 'authors' }] })

    expect(wrong.status).toBe(405)
    expect(wrong.headers.get('Allow')).toBe('POST')
    expect(asked.status).toBe(422)
  })

  it('creates no more items than one request may', async () => {
    const items = (from: number) => Array.from({ length: 600 }, (_, index) => ({ id: String(from + index), name: 'x' }))

    const { status, body } = await run(shop, [create('authors', items(0)), create('authors', items(600))])

    expect(status).toBe(422)
    expect(body).toMatchObject({
      ...invalid('operations[1].data', 'has more than 1000 items with those of the operations before it'),
      meta: { operation: 1 },
    })
  })

  it('asks each operation for the rights that its own route asks for', async () => {
    await shop.insert('authors', [
      { id: '1', name: 'Ada' },
      { id: '2', name: 'Bob' },
    ])
    const writer = await people.member(shop, {
      collections: {
        authors: { read: { fields: ['id', 'name'], filter: { name: { _eq: 'Ada' } } }, update: { fields: ['name'] } },
        articles: { create: { fields: ['id', 'title', 'authorId'] } },
      },
    })
    const mine = { kind: 'read', collection: 'authors' }
    const forbidden = (action: string, collection: string) => ({
      status: 403,
      body: {
        message: `You are not allowed to do this: ${action} on ${collection}`,
        meta: { action, collection, operation: 1 },
      },
    })

    expect((await run(writer, [mine])).body).toEqual({ data: [[{ id: '1', name: 'Ada' }]] })
    expect(await run(writer, [mine, create('authors', [{ id: '3', name: 'x' }])])).toMatchObject(
      forbidden('create', 'authors'),
    )
    expect(await run(writer, [mine, { ...mine, fields: ['note'] }])).toMatchObject(forbidden('read', 'authors'))
    expect(await run(writer, [mine, { kind: 'read', collection: 'articles' }])).toMatchObject(
      forbidden('read', 'articles'),
    )
    expect(await run(writer, [mine, { ...mine, key: '2' }])).toMatchObject({
      status: 404,
      body: { meta: { operation: 1 } },
    })
    const unseen = create('articles', [{ id: '5', title: 'x', authorId: '2' }])
    expect(await run(writer, [mine, unseen])).toMatchObject({
      status: 422,
      body: { source: { message: 'Foreign key constraint failed' } },
    })
    const made = create('articles', [{ id: '5', title: 'x', authorId: '1' }], { as: 'made' })
    expect(await run(writer, [mine, made])).toMatchObject({ status: 200, body: { data: [expect.anything(), [{}]] } })
  })

  it('gives a reference no more than reading would', async () => {
    await shop.insert('authors', [{ id: '1', name: 'Ada' }])
    const writer = await people.member(shop, {
      collections: {
        authors: { read: { fields: ['id'] }, update: { fields: ['note'] } },
        articles: {
          read: { fields: ['id', 'authorId'], filter: { id: { _lt: 8 } } },
          create: { fields: '*' },
          update: { fields: '*' },
        },
      },
    })
    const made = create(
      'articles',
      [
        { id: '7', title: 'x' },
        { id: '8', title: 'x' },
      ],
      { as: 'made' },
    )
    const changing = (reference: string) => ({
      kind: 'update',
      collection: 'articles',
      key: '7',
      data: { left: 1, authorId: null, reviewerId: { $ref: reference } },
    })
    const moved = { kind: 'update', collection: 'articles', key: '7', data: { id: '9' }, as: 'moved' }

    const seen = await run(writer, [made, changing('made[0].authorId')])
    await shop.delete('/items/articles?filter[id][_gte]=0')
    const unreadable = await run(writer, [made, changing('made[0].reviewerId')])
    const hidden = await run(writer, [made, changing('made[1].authorId')])
    const upserted = (id: string) =>
      run(writer, [
        {
          kind: 'upsert',
          collection: 'articles',
          conflict: { fields: ['id'], do: 'update' },
          data: [{ id, title: 'x', authorId: '1' }],
          as: 'own',
        },
        create('articles', [{ id: '11', title: 'y', authorId: { $ref: 'own[0].authorId' } }]),
      ])
    const added = await upserted('6')
    await shop.delete('/items/articles?filter[id][_eq]=11')
    const changedAgain = await upserted('6')
    const addedUnseen = await upserted('9')
    const left = await run(writer, [
      made,
      moved,
      create('articles', [{ id: '10', title: 'x', authorId: { $ref: 'moved.authorId' } }]),
    ])

    expect(seen).toMatchObject({ status: 200 })
    expect(unreadable).toMatchObject({
      status: 403,
      body: { meta: { action: 'read', collection: 'articles', operation: 1 } },
    })
    expect(hidden).toMatchObject({
      status: 422,
      body: { ...invalid('operations[1].$ref', expect.stringMatching(/^stands for no value/)), meta: { operation: 1 } },
    })
    expect([added.status, changedAgain.status]).toEqual([200, 200])
    expect(addedUnseen).toMatchObject({ status: 422, body: { meta: { operation: 1 } } })
    expect(left).toMatchObject({ status: 422, body: { meta: { operation: 2 } } })
  })
})

function invalid(place: string, reason: unknown) {
  return {
    message: expect.stringContaining('Failed to execute query: '),
    source: { message: place, source: { message: reason } },
  }
}
