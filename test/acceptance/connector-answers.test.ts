/** docs/contract.md#what-the-caller-sees, #breaches-of-the-protocol and #data-source-activity, over item routes. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ExternalSystem, startExternalSystem } from '../support/servers/external-system.ts'
import { books, connect, readAnswer, startSystem, titles } from '../support/service/connected.ts'
import { type Workspace, world } from '../support/service/world.ts'

let shop: Workspace
let system: ExternalSystem
let sourceId: string

beforeAll(async () => {
  system = await startSystem()
  shop = await world.workspace('answers', {})
  sourceId = await connect(shop, system)
})

afterAll(() => system.close())

const fresh = { headers: { 'Cache-Control': 'no-cache' } }
const get = async (path: string) => readAnswer(await shop.send('GET', path, fresh))

async function whileTold(handler: string, instruction: object, path = '/items/authors?fields=name') {
  system.instruct(handler, instruction)
  const answer = await get(path)
  system.instruct(handler, null)
  return answer
}

const own = { source: { message: 'the extension returned an error: as told' } }

describe('what query throws', () => {
  it.each<[string, object, number, object]>([
    [
      'CollectionNotFound',
      { do: 'throw', class: 'CollectionNotFound' },
      404,
      { message: 'Table does not exist', code: '2004' },
    ],
    [
      'UniqueConstraintViolation',
      { do: 'throw', class: 'UniqueConstraintViolation' },
      422,
      { message: 'Unique constraint failed', code: '1002' },
    ],
    [
      'NullConstraintViolation',
      { do: 'throw', class: 'NullConstraintViolation' },
      422,
      { message: 'Null constraint failed', code: '1003' },
    ],
    [
      'ForeignKeyConstraintViolation',
      { do: 'throw', class: 'ForeignKeyConstraintViolation' },
      422,
      { message: 'Foreign key constraint failed', code: '1004' },
    ],
    [
      'QueryRejected',
      { do: 'throw', class: 'QueryRejected' },
      422,
      { message: 'The data source rejected the query', code: '100' },
    ],
    [
      'a permission denial, which wins over a code',
      { do: 'denied' },
      422,
      { message: 'Invalid extension permissions', code: '2003' },
    ],
    [
      'ConnectionFailed',
      { do: 'throw', class: 'ConnectionFailed' },
      500,
      { message: 'Failed to connect to the database', code: '5001' },
    ],
    [
      'RateLimited',
      { do: 'throw', class: 'RateLimited' },
      500,
      { message: 'Failed to connect to the database', code: '5002' },
    ],
    [
      'InvalidConfiguration',
      { do: 'throw', class: 'InvalidConfiguration' },
      422,
      { message: 'Invalid extension configuration', code: '2001' },
    ],
    [
      'AccessDenied',
      { do: 'throw', class: 'AccessDenied' },
      422,
      { message: 'Invalid extension configuration', code: '2002' },
    ],
    ['a plain error', { do: 'plain' }, 500, { message: 'Failed to query the database' }],
    ['an unrecognized code', { do: 'code', code: 4711 }, 500, { message: 'Failed to query the database' }],
    ['a code that is no safe integer', { do: 'code', code: 1002.5 }, 500, { message: 'Failed to query the database' }],
    [
      'a code as a text',
      { do: 'monospace', value: { code: '1002' } },
      500,
      { message: 'Failed to query the database' },
    ],
    ['a falsy monospace', { do: 'monospace', value: 0 }, 500, { message: 'Failed to query the database' }],
    ['2003 by itself', { do: 'code', code: 2003 }, 500, { message: 'Failed to query the database' }],
    ['-32601 by itself', { do: 'code', code: -32601 }, 500, { message: 'Failed to query the database' }],
    ['-32603 by itself', { do: 'code', code: -32603 }, 500, { message: 'Failed to query the database' }],
  ])('%s', async (_, instruction, status, cause) => {
    const answer = await whileTold('query', instruction)

    expect(answer).toEqual({ status, body: { message: 'Query failed', source: { ...cause, ...own } } })
  })

  it('a request that is not granted', async () => {
    const { status, body } = await whileTold('query', { do: 'fetch', url: 'http://127.0.0.1:65001/' })

    expect(status).toBe(422)
    expect(body).toMatchObject({
      message: 'Query failed',
      source: { message: 'Invalid extension permissions', code: '2003' },
    })
  })

  it('never deactivates the source', async () => {
    await whileTold('query', { do: 'throw', class: 'AccessDenied' })
    await whileTold('query', { do: 'denied' })

    expect((await get('/items/authors?fields=name&limit=1')).status).toBe(200)
  })
})

describe('an answer of query', () => {
  const list = '/items/authors?fields=name'
  const one = '/items/authors/1?fields=name'
  const breach = (...messages: readonly string[]) =>
    messages.reduceRight<object | undefined>(
      (source, message) => ({ message, ...(source !== undefined && { source }) }),
      undefined,
    )
  const undefinedBy = (detail: string) => [`query answered with something this protocol does not define: ${detail}`]
  const mismatch = (message: string) => [
    'The extension returned a record that does not match its declared schema',
    message,
  ]

  it.each<[string, string, unknown, readonly string[]]>([
    ['no value', list, undefined, ['query returned no value']],
    ['null', list, null, ['query returned no value']],
    ['records for a keyed operation', one, { records: [] }, undefinedBy('unknown field records, expected record')],
    ['a record for a list', list, { record: null }, undefinedBy('unknown field record, expected records or count')],
    ['an unknown key', list, { records: [], next: 1 }, undefinedBy('unknown field next, expected records or count')],
    ['a missing field', list, { records: [{ id: 1 }] }, ['Missing selected field name']],
    ['a missing field, keyed', one, { record: { id: 1 } }, ['Missing selected field name']],
    ['another type', list, { records: [{ name: 5 }] }, mismatch('Expected a value matching string, got a number')],
    [
      'null where it is required',
      list,
      { records: [{ name: null }] },
      mismatch('Expected a value matching string, got a null'),
    ],
    [
      'an object for a number',
      '/items/authors?fields=born',
      { records: [{ born: {} }] },
      mismatch('Expected a value matching int32, got a object'),
    ],
    [
      'no list',
      '/items/authors?fields=tags',
      { records: [{ tags: 'a' }] },
      mismatch('Expected an array for a list-typed field'),
    ],
    [
      'a list of something else',
      '/items/authors?fields=tags',
      { records: [{ tags: [1] }] },
      mismatch('Expected a value matching string, got a number'),
    ],
  ])('with %s', async (_, path, value, details) => {
    const answer = await whileTold('query', { do: 'answer', value }, path)

    expect(answer).toEqual({ status: 500, body: breach('Query failed', 'Invalid extension response', ...details) })
  })

  it('that misses a key is 404', async () => {
    const answers = [
      await whileTold('query', { do: 'answer', value: { record: null } }, one),
      await get('/items/authors/999'),
      await readAnswer(await shop.patch('/items/authors/999', { name: 'Nobody' })),
      await readAnswer(await shop.delete('/items/authors/999')),
    ]

    const expected = { status: 404, body: { message: 'Query failed', source: { message: 'No record found' } } }
    expect(answers).toEqual([expected, expected, expected, expected])
  })

  it('under another key is the fault of the connector, also of a write', async () => {
    const told = { do: 'answer', value: { record: { id: 2, name: 'Another' } } }
    const answers = [await whileTold('query', told, one), await whileTold('query', told, '/items/authors/1?fields=id')]
    system.instruct('query', told)
    answers.push(await readAnswer(await shop.patch(one, { name: 'Changed' })), await readAnswer(await shop.delete(one)))
    system.instruct('query', null)

    const detail = undefinedBy('record has another id than was asked for')
    const expected = { status: 500, body: breach('Query failed', 'Invalid extension response', ...detail) }
    expect(answers).toEqual([expected, expected, expected, expected])
  })

  it('to a list is kept for no read by key that asks the same', async () => {
    const other = await world.workspace('kept_answers', {})
    const own = await startExternalSystem([{ ...books, filter: { id: ['eq'] } }], { books: titles })
    try {
      await connect(other, own)
      const list = () => other.send('GET', '/items/books?fields=title,id&filter[id][_eq]=10&limit=1', fresh)
      await list()
      own.instruct('query', { do: 'answer', value: { records: [{ title: 'Another', id: 11 }] } })
      const { body } = await readAnswer(await list())
      own.instruct('query', null)

      expect(body).toEqual({ data: [{ title: 'Another', id: 11 }] })
      expect(await other.data('/items/books/10?fields=title')).toEqual({ title: 'Notes' })
      const [listed, read] = own.queries()
      expect(read).toEqual(listed)
    } finally {
      await own.close()
    }
  })

  it('is checked after the write that it answers was made', async () => {
    const path = '/items/authors?fields=name&filter[name][_eq]=Barbara'
    system.instruct('query', null)
    await shop.insert('authors', [{ name: 'Barbara' }])
    system.instruct('query', { do: 'answer', value: { records: [] } })
    const created = await readAnswer(await shop.post('/items/authors', [{ name: 'Dropped' }]))
    system.instruct('query', null)

    expect(created).toMatchObject({ status: 500, body: { source: { message: 'Invalid extension response' } } })
    expect((await get(path)).body).toEqual({ data: [{ name: 'Barbara' }] })
  })
})

describe('a source', () => {
  const introspect = async () => readAnswer(await shop.post(`/schema/introspect/${sourceId}`, undefined))
  const cached = '/items/authors?fields=name&limit=2'
  const uncached = '/items/authors?fields=name&limit=3'
  const started = (source: object) => ({ message: 'The extension could not be started', source })

  it.each<[string, object, object, object]>([
    [
      'InvalidConfiguration',
      { do: 'throw', class: 'InvalidConfiguration' },
      started({ message: 'Invalid extension configuration', code: '2001', ...own }),
      started({ message: 'Invalid extension configuration', code: '2001', ...own }),
    ],
    [
      'AccessDenied',
      { do: 'throw', class: 'AccessDenied' },
      started({ message: 'Invalid extension configuration', code: '2002', ...own }),
      started({ message: 'Invalid extension configuration', code: '2002', ...own }),
    ],
    [
      'a permission denial',
      { do: 'denied' },
      started({ message: 'Invalid extension permissions', code: '2003', ...own }),
      started({ message: 'Invalid extension permissions', code: '2003', ...own }),
    ],
    [
      'no handler object',
      { do: 'answer', value: 'x' },
      started({ message: 'Invalid extension response', source: { message: 'setup did not return a handler object' } }),
      started({ message: 'Invalid extension configuration' }),
    ],
    [
      'no handlers',
      { do: 'answer', value: {} },
      started({
        message: 'Invalid extension response',
        source: { message: 'the connector returned no introspect, query handler' },
      }),
      started({ message: 'Invalid extension configuration' }),
    ],
  ])('is deactivated by %s from setup, and serves what it has kept', async (_, instruction, first, later) => {
    await introspect()
    const kept = await readAnswer(await shop.get(cached))
    system.instruct('setup', instruction)
    const answers = [await introspect(), await get(uncached), await get(uncached)]
    system.instruct('setup', null)
    const still = await get(uncached)
    const served = await readAnswer(await shop.get(cached))

    expect(answers[0]?.body).toEqual(first)
    expect(answers.slice(1)).toEqual([
      { status: 422, body: later },
      { status: 422, body: later },
    ])
    // Only a reload, or a fresh import, starts it again.
    expect(still).toEqual({ status: 422, body: later })
    expect(served).toEqual(kept)
    expect((await introspect()).status).toBe(200)
    expect((await get(uncached)).status).toBe(200)
  })

  it.each([
    ['a plain error', { do: 'plain' }],
    ['another class', { do: 'throw', class: 'ConnectionFailed' }],
  ])('fails only the request whose setup throws %s', async (_, instruction) => {
    system.instruct('setup', instruction)
    const answer = await introspect()
    system.instruct('setup', null)

    expect(answer).toEqual({ status: 422, body: started({ message: 'Invalid extension configuration', ...own }) })
    expect((await get(uncached)).status).toBe(200)
  })

  it('tells requests that come while it is started that it is restarting', async () => {
    const { reached, release } = system.hold('setup')
    const importing = introspect()
    await reached
    const answer = await get(uncached)
    release()

    expect(answer).toEqual({ status: 503, body: { message: 'Data source is restarting' } })
    expect((await importing).status).toBe(200)
    expect((await get(uncached)).status).toBe(200)
  })

  it('whose connector loses a handler does not know the operation', async () => {
    await whileTold('query', { do: 'drop' })
    const answer = await get(uncached)
    await introspect()

    expect(answer).toEqual({
      status: 500,
      body: {
        message: 'Query failed',
        source: { message: 'Unsupported operation: a protocol method the extension does not implement' },
      },
    })
    expect((await get(uncached)).status).toBe(200)
  })

  it('can be introspected again without finding anything new', async () => {
    expect(await introspect()).toEqual({ status: 200, body: { data: { operations: [], skipped: [] } } })
  })
})
