/**
 * docs/contract.md#what-a-connector-declares: items of a connector, what is declared and what is not, writes and their
 * checks, answers that are kept.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ExternalSystem } from '../support/servers/external-system.ts'
import { connect, readAnswer, startSystem } from '../support/service/connected.ts'
import { people } from '../support/service/people.ts'
import { type Workspace, world } from '../support/service/world.ts'

let shop: Workspace
let system: ExternalSystem

beforeAll(async () => {
  system = await startSystem()
  shop = await world.workspace('citems', {})
  await connect(shop, system)
})

afterAll(() => system.close())

const changedMeanwhile = {
  message: 'Precondition failed: The item has changed since it was read',
  source: { message: 'The item has changed since it was read' },
  code: '4120',
}
const fresh = { headers: { 'Cache-Control': 'no-cache' } }
const get = async (path: string) => readAnswer(await shop.send('GET', path, fresh))
const names = async (path: string) => {
  const { body } = await get(
    `/items/authors?fields=name&filter[id][_in][0]=1&filter[id][_in][1]=2&filter[id][_in][2]=3&filter[id][_in][3]=4${path}`,
  )
  return (body as { data?: { name: string }[] }).data?.map(({ name }) => name)
}

describe('a list', () => {
  it('has what the records say, in the forms of the wire', async () => {
    const { body } = await get('/items/books?fields=id,title,price,extra&limit=3')

    expect(body).toEqual({
      data: [
        { id: 10, title: 'Notes', price: '12.50', extra: { pages: 66 } },
        { id: 11, title: 'Compilers', price: '9', extra: null },
        { id: 12, title: 'Discipline', price: null, extra: [1] },
      ],
    })
  })

  it.each([
    ['&filter[name][_eq]=Ada', ['Ada']],
    ['&filter[name][_contains]=d', ['Ada', 'Edsger']],
    ['&filter[name][_nstarts_with]=A', ['Edsger', 'Grace']],
    ['&filter[country][_neq]=GB', ['Edsger', 'Grace']],
    ['&filter[country][_null]=true', ['Anon']],
    ['&filter[born][_between][0]=1900&filter[born][_between][1]=1910', ['Grace']],
    ['&filter[born][_gte]=1906', ['Edsger', 'Grace']],
    ['&filter[_not][name][_eq]=Ada', ['Anon', 'Edsger', 'Grace']],
    ['&filter[_or][0][name][_eq]=Ada&filter[_or][1][born][_gt]=1910', ['Ada', 'Edsger']],
    ['&filter[_not][country][_in][0]=GB', ['Edsger', 'Grace']],
  ])('is narrowed by %s', async (filter, expected) => {
    expect(await names(`${filter}&sort[0][name][direction]=asc`)).toEqual(expected)
  })

  it('is sorted, paged and counted as it was declared', async () => {
    const { body } = await get(
      '/items/authors?fields=name&filter[born][_lt]=1950&sort[0][born][direction]=desc&limit=1&offset=1&meta=totalCount',
    )

    expect(body).toEqual({ data: [{ name: 'Grace' }], meta: { totalCount: 3 } })
  })

  it('asks the connector for the selected fields and nothing else', async () => {
    system.queries()

    await get('/items/authors?fields=name&filter[born][_gt]=1900&sort[0][name][direction]=asc&limit=7')

    expect(system.queries()).toEqual([
      {
        operation: 'readMany',
        collection: 'authors',
        fields: ['name'],
        filter: { field: 'born', type: 'int32', operator: 'gt', value: 1900 },
        sort: [
          { field: 'name', direction: 'asc' },
          { field: 'id', type: 'int32', direction: 'asc' },
        ],
        limit: 7,
      },
    ])
  })

  it.each([
    ['a filter', '/items/books?filter[title][_eq]=x', ['filter.title._eq', 'is not declared by the data source']],
    [
      'an operator',
      '/items/authors?filter[name][_ends_with]=x',
      ['filter.name._ends_with', 'is not declared by the data source'],
    ],
    ['a sort', '/items/books?sort[0][title][direction]=asc', ['sort.title', 'cannot be sorted by']],
    ['an offset', '/items/books?offset=1', ['offset', 'is not declared by the data source']],
    ['a count', '/items/books?meta=totalCount', ['meta', 'totalCount is not declared by the data source']],
    ['a cursor', '/items/books?meta=cursor', ['meta', 'is not known of books: its data source has no cursors']],
  ])('refuses %s that is not declared, without asking the connector', async (_, path, [place, reason]) => {
    system.queries()

    const { status, body } = await get(path)

    expect(status).toBe(422)
    expect(body).toMatchObject({
      message: expect.stringContaining('Failed to execute query: '),
      source: { message: place, source: { message: reason } },
      code: '4010',
    })
    expect(system.queries()).toEqual([])
  })

  it.each([
    ['POST', '/items/books', [{ id: 1, title: 'x' }], 'createMany'],
    ['PATCH', '/items/books/10', { title: 'x' }, 'updateOne'],
    ['DELETE', '/items/books/10', undefined, 'deleteOne'],
    ['PATCH', '/items/books?filter[authorId][_null]=true', { title: 'x' }, 'updateMany'],
    ['DELETE', '/items/books?filter[authorId][_null]=true', undefined, 'deleteMany'],
  ])('%s %s is refused with code 4010', async (method, path, body, operation) => {
    system.queries()

    const answer = await readAnswer(await shop.send(method, path, { body }))

    expect(answer).toEqual({
      status: 422,
      body: {
        message: expect.stringContaining('Failed to execute query: '),
        source: {
          message: 'Output validation failed',
          source: { message: 'Operation not supported', source: { message: `books does not declare ${operation}` } },
        },
        code: '4010',
      },
    })
    expect(system.queries()).toEqual([])
  })
})

describe('an item', () => {
  it('has tags, by which it is changed and deleted as it was read', async () => {
    const { body } = await get('/items/authors?fields=_etag&filter[id][_eq]=4')
    const [{ _etag } = {}] = (body as { data: { _etag?: string }[] }).data
    const { headers } = await shop.send('GET', '/items/authors/4', fresh)
    const change = (tag: string) =>
      shop.send('PATCH', '/items/authors/4?fields=name,_etag', {
        headers: { 'If-Match': tag },
        body: { name: 'Nobody' },
      })

    const changed = await change(`"${_etag}"`)
    const late = await change(`"${_etag}"`)
    system.queries()
    const renewed = (await changed.json()) as { data: { name: string; _etag: string } }
    const back = await shop.send('PATCH', '/items/authors/4', {
      headers: { 'If-Match': `"${renewed.data._etag}"` },
      body: { name: 'Anon' },
    })

    expect(headers.get('ETag')).toBe(`"${_etag}"`)
    expect([changed.status, renewed.data.name, back.status]).toEqual([200, 'Nobody', 200])
    expect(await readAnswer(late)).toEqual({ status: 412, body: changedMeanwhile })
    expect(system.queries().at(-1)).toMatchObject({
      operation: 'updateOne',
      unchanged: { id: 4, name: 'Nobody', country: null, born: null, tags: null },
    })
  })

  it('is not written where the connector finds it changed after it was compared', async () => {
    const { headers } = await shop.send('GET', '/items/authors/4', fresh)
    const ifMatch = { headers: { 'If-Match': headers.get('ETag') ?? '' } }
    system.instruct('query', null)
    const gate = system.hold('query')
    const writing = shop.send('DELETE', '/items/authors/4', ifMatch)
    await gate.reached
    gate.release()
    const second = system.hold('query')
    await second.reached
    const before = system.records.get('authors') ?? []
    system.records.set(
      'authors',
      before.map((item) => (item.id === 4 ? { ...item, country: 'FR' } : item)),
    )
    second.release()

    expect(await readAnswer(await writing)).toEqual({ status: 412, body: changedMeanwhile })
    system.records.set('authors', before)
  })

  it('takes no condition where the connector declares none', async () => {
    const answer = await readAnswer(
      await shop.send('PATCH', '/items/books/10', {
        headers: { 'If-Match': '"AAAAAAAAAAAAAAAAAAAAAA"' },
        body: { title: 'x' },
      }),
    )

    expect(answer).toMatchObject({ status: 422, body: { code: '4010' } })
    expect(JSON.stringify(answer.body)).toContain('books does not declare conditional')
  })

  it('is read by its key, by readMany where that is all there is', async () => {
    system.queries()

    expect((await get('/items/authors/2?fields=name')).body).toEqual({ data: { name: 'Grace' } })
    expect((await get('/items/books/13?fields=title')).body).toEqual({ data: { title: 'Harmful' } })
    expect(system.queries()).toMatchObject([
      { operation: 'readOne', key: { id: 2 } },
      { operation: 'readMany', filter: { field: 'id', operator: 'eq', value: 13 }, limit: 1 },
    ])
  })

  it('is created, changed and deleted', async () => {
    const created = await readAnswer(
      await shop.post('/items/authors', [{ name: 'Alan', country: 'GB', tags: ['logic'] }]),
    )
    const [{ id }] = (created.body as { data: [{ id: number }] }).data
    const changed = await readAnswer(await shop.patch(`/items/authors/${id}?fields=name,born`, { born: 1912 }))
    const deleted = await readAnswer(await shop.delete(`/items/authors/${id}?fields=name`))
    const again = await readAnswer(await shop.delete(`/items/authors/${id}`))

    expect(created).toEqual({
      status: 200,
      body: { data: [{ id, name: 'Alan', country: 'GB', born: null, tags: ['logic'] }] },
    })
    expect(changed).toEqual({ status: 200, body: { data: { name: 'Alan', born: 1912 } } })
    expect(deleted).toEqual({ status: 200, body: { data: { name: 'Alan' } } })
    expect(again.status).toBe(404)
  })

  it('is one of many that a filter changes and deletes', async () => {
    await shop.insert('authors', [
      { name: 'Temp 1', country: 'XX' },
      { name: 'Temp 2', country: 'XX' },
    ])

    const changed = await readAnswer(
      await shop.patch('/items/authors?filter[country][_eq]=XX&fields=born', { born: 2000 }),
    )
    const deleted = await shop.delete('/items/authors?filter[country][_eq]=XX')

    expect(changed).toEqual({ status: 200, body: { data: [{ born: 2000 }, { born: 2000 }] } })
    expect(deleted.status).toBe(204)
    expect((await get('/items/authors?filter[country][_eq]=XX')).body).toEqual({ data: [] })
  })

  it('is checked before the connector hears of it', async () => {
    system.queries()

    const answers = [
      await readAnswer(await shop.post('/items/authors', [{ country: 'GB' }])),
      await readAnswer(await shop.post('/items/authors', [{ id: 7, name: 'x' }])),
      await readAnswer(await shop.patch('/items/authors/1', { born: 'x' })),
    ]

    expect(answers.map(({ status }) => status)).toEqual([422, 422, 422])
    expect(system.queries()).toEqual([])
  })
})

describe('a caller with policies', () => {
  const british = { country: { _eq: 'GB' } }
  const reader = () =>
    people.member(shop, { collections: { authors: { read: { filter: british, fields: ['id', 'name', 'country'] } } } })

  it('reads the rows and fields that these admit, whatever is asked', async () => {
    const member = await reader()

    const answers = [
      await readAnswer(await member.get('/items/authors')),
      await readAnswer(await member.get('/items/authors/1')),
      await readAnswer(await member.get('/items/authors/2')),
      await readAnswer(
        await member.get('/items/authors?filter[_or][0][id][_gt]=0&filter[_or][1][country][_eq]=US&fields=name'),
      ),
      await readAnswer(await member.get('/items/authors?fields=born')),
      await readAnswer(await member.get('/items/authors?filter[born][_gt]=0')),
    ]

    expect(answers).toEqual([
      { status: 200, body: { data: [{ id: 1, name: 'Ada', country: 'GB' }] } },
      { status: 200, body: { data: { id: 1, name: 'Ada', country: 'GB' } } },
      { status: 404, body: { message: 'Query failed', source: { message: 'No record found' } } },
      { status: 200, body: { data: [{ name: 'Ada' }] } },
      expect.objectContaining({ status: 403 }),
      expect.objectContaining({ status: 403 }),
    ])
  })

  it('reads no row of a key for which its filter is unknown', async () => {
    const filter = { country: { _neq: 'GB' } }
    const member = await people.member(shop, { collections: { authors: { read: { filter } } } })
    const [nobody] = (await shop.data('/items/authors?fields=id&filter[country][_null]=true')) as { id: number }[]

    const answers = await Promise.all([1, 2, nobody?.id].map((id) => member.get(`/items/authors/${id}`)))

    expect(answers.map(({ status }) => status)).toEqual([404, 200, 404])
  })

  it('never gets what was read for another', async () => {
    await shop.get('/items/authors')
    await shop.get('/items/authors/2')
    const member = await reader()

    expect((await readAnswer(await member.get('/items/authors/2'))).status).toBe(404)
    expect((await readAnswer(await member.get('/items/authors?fields=id'))).body).toEqual({ data: [{ id: 1 }] })
  })

  it('sees a field in the rows that one policy admits, and null elsewhere', async () => {
    const policies = [
      { collections: { authors: { read: { fields: ['id', 'name'] } } } },
      { collections: { authors: { read: { filter: british, fields: ['born'] } } } },
    ]
    const roles = await Promise.all(policies.map((content) => people.roleWith(shop, content)))
    const member = await people.memberWith(shop, roles)

    const { body } = await readAnswer(
      await member.get(
        '/items/authors?fields=name,born&sort[0][name][direction]=asc&filter[id][_in][0]=1&filter[id][_in][1]=2',
      ),
    )
    const hidden = await readAnswer(await member.get('/items/authors?fields=name&filter[born][_gt]=1'))

    expect(body).toEqual({
      data: [
        { name: 'Ada', born: 1815 },
        { name: 'Grace', born: null },
      ],
    })
    expect(hidden.body).toEqual({ data: [{ name: 'Ada' }] })
  })

  it('writes only rows that are and stay within them', async () => {
    await shop.insert('authors', [
      { name: 'Mine', country: 'GB' },
      { name: 'Theirs', country: 'US' },
    ])
    const all = (await shop.data('/items/authors?fields=id,name')) as { id: number; name: string }[]
    const idOf = (name: string) => all.find((row) => row.name === name)?.id
    const member = await people.member(shop, {
      collections: {
        authors: {
          read: 'all',
          create: { validation: british },
          update: { filter: british, fields: ['name', 'country'], validation: { name: { _neq: 'Bad' } } },
          delete: { filter: british },
        },
      },
    })
    const mover = await people.member(shop, {
      collections: { authors: { read: 'all', update: { filter: british, check: { country: 'FR' } } } },
    })
    system.queries()

    const answers = [
      await readAnswer(await member.patch(`/items/authors/${idOf('Theirs')}`, { name: 'Stolen' })),
      await readAnswer(await member.patch(`/items/authors/${idOf('Mine')}`, { country: 'US' })),
      await readAnswer(await member.patch(`/items/authors/${idOf('Mine')}`, { name: 'Bad' })),
      await readAnswer(await member.patch(`/items/authors/${idOf('Mine')}`, { born: 1 })),
      await readAnswer(await member.delete(`/items/authors/${idOf('Theirs')}`)),
      await readAnswer(await member.post('/items/authors', [{ name: 'New', country: 'US' }])),
      await readAnswer(await member.patch('/items/authors/9999', { name: 'x' })),
    ]
    const written = system.queries().filter(({ operation }) => !operation.startsWith('read'))
    const allowed = [
      await readAnswer(await member.patch(`/items/authors/${idOf('Mine')}?fields=name`, { name: 'Good' })),
      await readAnswer(await member.post('/items/authors?fields=name', [{ name: 'New', country: 'GB' }])),
      await readAnswer(await member.delete(`/items/authors/${idOf('Mine')}`)),
    ]

    expect(answers.map(({ status }) => status)).toEqual([403, 403, 422, 403, 403, 422, 404])
    expect(answers[2]?.body).toEqual({ message: 'Validation failed' })
    expect(written).toEqual([])
    const moved = [await readAnswer(await mover.patch(`/items/authors/${idOf('Theirs')}`, { country: 'FR' }))]
    expect(moved.map(({ status }) => status)).toEqual([403])
    expect(allowed.map(({ status }) => status)).toEqual([200, 200, 204])
    expect(allowed[0]?.body).toEqual({ data: { name: 'Good' } })
  })
})

describe('an answer', () => {
  it('is kept for a while, until the caller wants a fresh one or something is written', async () => {
    const path = '/items/books?fields=title&limit=2'
    const ask = async (headers?: Record<string, string>) => {
      await shop.send('GET', path, { ...(headers && { headers }) })
      return system.queries().length
    }
    await ask({ 'Cache-Control': 'no-cache' })

    const counts = [await ask(), await ask({ 'Cache-Control': 'no-cache' }), await ask()]
    await shop.post('/items/authors', [{ name: 'Clears' }])
    system.queries()
    const afterWrite = await ask()

    expect(counts).toEqual([0, 1, 0])
    expect(afterWrite).toBe(1)
  })

  it('of a write is never kept', async () => {
    system.queries()

    await shop.post('/items/authors', [{ name: 'Twice' }])
    await shop.post('/items/authors', [{ name: 'Twice' }])

    expect(system.queries().map(({ operation }) => operation)).toEqual(['createMany', 'createMany'])
  })
})

it.each([
  ['PATCH', '/items/authors?filter[id][_eq]=1&max=1', { name: 'Ada' }, 'max'],
  ['DELETE', '/items/authors?filter[id][_eq]=1&max=1', undefined, 'max'],
  ['PATCH', '/items/authors/1', { born: { _increment: 1 } }, 'born'],
])('refuses what a source without transactions cannot do: %s %s', async (method, path, body, place) => {
  const answer = await readAnswer(await shop.send(method, path, { body }))

  expect(answer).toMatchObject({ status: 422, body: { code: '4010', source: { message: place } } })
})
