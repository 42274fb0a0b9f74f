import { describe, expect, it } from 'vitest'
import {
  asynchronousPreflight,
  missingHandlers,
  parseConnectionTest,
  parsePreflight,
  parseQueryAnswer,
  type QueryRequest,
} from '../../../src/core/connector/protocol.ts'
import { capabilitiesOf, capabilitiesText, parseIntrospection } from '../../../src/core/connector/schema.ts'
import { errorBody, type ServiceError } from '../../../src/core/error.ts'
import type { PrimitiveField } from '../../../src/core/model/model.ts'
import { wireValue } from '../../../src/core/model/wire.ts'
import { build } from '../../support/data/build.ts'

function field(text: string, name = 'f'): PrimitiveField {
  const [found] = build.model({ c: { [name]: text } }).byName.get('c')?.primitives ?? []
  if (found === undefined) throw new Error('no field')
  return found
}

function messages(work: () => unknown): readonly string[] {
  try {
    work()
  } catch (error) {
    const texts: string[] = []
    for (
      let body = errorBody(error as ServiceError) as ReturnType<typeof errorBody> | undefined;
      body;
      body = body.source
    ) {
      texts.push(body.message)
    }
    return texts
  }
  return []
}

const undefinedBy = (handler: string, detail: string) => [
  'Invalid extension response',
  `${handler} answered with something this protocol does not define: ${detail}`,
]

const request = (operation: QueryRequest['operation'], more: Partial<QueryRequest> = {}): QueryRequest => ({
  operation,
  collection: 'c',
  fields: ['f'],
  ...more,
})

describe('an answer to query', () => {
  it.each<[string, QueryRequest, unknown, readonly string[]]>([
    ['undefined', request('readMany'), undefined, ['Invalid extension response', 'query returned no value']],
    ['null', request('readOne'), null, ['Invalid extension response', 'query returned no value']],
    ['a text', request('readMany'), 'x', undefinedBy('query', 'a string, expected an object')],
    ['a list', request('readMany'), [], undefinedBy('query', 'a array, expected an object')],
    [
      'records for a keyed operation',
      request('readOne'),
      { records: [] },
      undefinedBy('query', 'unknown field records, expected record'),
    ],
    [
      'records for an update',
      request('updateOne'),
      { records: [] },
      undefinedBy('query', 'unknown field records, expected record'),
    ],
    [
      'records for a deletion',
      request('deleteOne'),
      { records: [] },
      undefinedBy('query', 'unknown field records, expected record'),
    ],
    [
      'a record for a list',
      request('readMany'),
      { record: null },
      undefinedBy('query', 'unknown field record, expected records or count'),
    ],
    [
      'an unknown key',
      request('readMany'),
      { records: [], cursor: 1 },
      undefinedBy('query', 'unknown field cursor, expected records or count'),
    ],
    ['nothing known', request('readMany'), {}, undefinedBy('query', 'missing field records')],
    [
      'records that are no list',
      request('readMany'),
      { records: {} },
      undefinedBy('query', 'records is a object, expected an array'),
    ],
    [
      'a record that is no object',
      request('readMany'),
      { records: [1] },
      undefinedBy('query', 'records[0] is a number, expected an object'),
    ],
    [
      'no count though asked',
      request('readMany', { count: true }),
      { records: [] },
      undefinedBy('query', 'missing field count'),
    ],
    [
      'a count that is none',
      request('readMany'),
      { records: [], count: -1 },
      undefinedBy('query', 'count is not a number of items'),
    ],
    [
      'too few created',
      request('createMany', { data: [{}, {}] }),
      { records: [] },
      undefinedBy('query', '0 records for 2 created items'),
    ],
    [
      'more records than were asked for',
      request('readMany', { limit: 2 }),
      { records: [{ f: 'a' }, { f: 'b' }, 0] },
      undefinedBy('query', '3 records, expected 2 at most'),
    ],
    [
      'a record without the field',
      request('readMany'),
      { records: [{ g: 1 }] },
      ['Invalid extension response', 'Missing selected field f'],
    ],
    [
      'a record without the field, keyed',
      request('readOne'),
      { record: {} },
      ['Invalid extension response', 'Missing selected field f'],
    ],
  ])('%s', (_, asked, value, expected) => {
    expect(messages(() => parseQueryAnswer(asked, [field('string')], value))).toEqual(expected)
  })

  it.each<[string, unknown, string]>([
    ['string', 5, 'Expected a value matching string, got a number'],
    ['string', null, 'Expected a value matching string, got a null'],
    ['string(2)', 'abc', 'Expected a value matching string(2), got a string'],
    ['int32', '5', 'Expected a value matching int32, got a string'],
    ['int32', 1.5, 'Expected a value matching int32, got a number'],
    ['int64', 2 ** 60, 'Expected a value matching int64, got a number'],
    ['boolean', 'true', 'Expected a value matching boolean, got a string'],
    ['date', '2026-13-01', 'Expected a value matching date, got a string'],
    ['decimal(4,2)', {}, 'Expected a value matching decimal(4, 2), got a object'],
    ['uuid', ['x'], 'Expected a value matching uuid, got a array'],
    ['string[]', 'a', 'Expected an array for a list-typed field'],
    ['string[]', { 0: 'a' }, 'Expected an array for a list-typed field'],
    ['string[]', [1], 'Expected a value matching string, got a number'],
  ])('%s: %j', (type, value, message) => {
    expect(messages(() => parseQueryAnswer(request('readMany'), [field(type)], { records: [{ f: value }] }))).toEqual([
      'Invalid extension response',
      'The extension returned a record that does not match its declared schema',
      message,
    ])
  })

  it.each(['json', 'json[]'])('%s nested 200,000 deep', (type) => {
    const deep: unknown = JSON.parse(`${'['.repeat(200_000)}${']'.repeat(200_000)}`)
    const answer = { records: [{ f: deep, more: deep }] }

    expect(messages(() => parseQueryAnswer(request('readMany'), [field(type)], answer))).toEqual([
      'Invalid extension response',
      'The extension returned a record that does not match its declared schema',
      'A value of the type json is nested deeper than 1000 levels',
    ])
    expect(messages(() => parseIntrospection({ schema: { collections: deep } })).slice(0, 1)).toEqual([
      'Invalid extension response',
    ])
  })

  it.each<[string, unknown, unknown]>([
    ['string?', null, null],
    ['string', 'a', 'a'],
    ['int32', 5, 5],
    ['int64', 5, '5'],
    ['int64', '9223372036854775807', '9223372036854775807'],
    ['decimal', 5, '5'],
    ['decimal', 12.5, '12.5'],
    ['decimal', '12.50', '12.50'],
    ['float64', 0.1, 0.1],
    ['boolean', false, false],
    ['dateTimeWithTimezone', '2026-01-01T10:00:00.000+01:00', '2026-01-01T09:00:00Z'],
    ['json', '{"a":1}', '{"a":1}'],
    ['json', { a: [null, 'x'] }, { a: [null, 'x'] }],
    ['int32[]', [1, null], [1, null]],
    ['string[]?', null, null],
    ['json[]', [{ a: 1 }], [{ a: 1 }]],
  ])('%s: %j becomes %j', (type, value, expected) => {
    const declared = field(type)

    const { records } = parseQueryAnswer(request('readMany'), [declared], { records: [{ f: value, more: 1 }] })

    expect(wireValue(declared, records[0]?.get('f') ?? null)).toEqual(expected)
  })

  it('may miss a key', () => {
    expect(parseQueryAnswer(request('readOne'), [field('string')], { record: null }).records).toEqual([])
  })
})

describe('an answer of preflight', () => {
  it.each<[string, unknown, readonly string[]]>([
    ['undefined', undefined, ['Invalid extension response', 'preflight returned no value']],
    ['another key', { hosts: [] }, undefinedBy('preflight', 'unknown field hosts, expected permissions')],
    ['no list', { permissions: {} }, undefinedBy('preflight', 'permissions is a object, expected an array')],
    [
      'a text as an item',
      { permissions: ['net:a.com'] },
      undefinedBy('preflight', 'permissions[0] is a string, expected an object'),
    ],
    [
      'more than can be granted',
      { permissions: Array(1_001).fill(0) },
      undefinedBy('preflight', '1001 permissions, expected 1000 at most'),
    ],
    [
      'a third field',
      { permissions: [{ permission: 'net:a.com', reason: 'why', port: 1 }] },
      undefinedBy('preflight', 'unknown field port, expected permission or reason in permissions[0]'),
    ],
  ])('%s', (_, value, expected) => {
    expect(messages(() => parsePreflight(value))).toEqual(expected)
  })

  it.each([[{ permission: 'net:http://a.com', reason: 'why' }], [{ permission: 'net:a.com', reason: ' ' }]])(
    '%j cannot be read',
    (item) => {
      expect(parsePreflight({ permissions: [item] })).toMatchObject({ kind: 'unreadable' })
    },
  )

  it('is its items in normal form', () => {
    expect(parsePreflight({ permissions: [{ permission: 'net:A.com', reason: 'why' }] })).toEqual({
      kind: 'permissions',
      permissions: [{ permission: 'net:a.com', reason: 'why' }],
    })
  })

  it('must not be a promise', () => {
    expect(errorBody(asynchronousPreflight()).source).toEqual({ message: 'preflight must answer synchronously' })
  })
})

describe('an answer of testConnection', () => {
  it.each<[unknown, readonly string[]]>([
    [undefined, ['Invalid extension response', 'testConnection returned no value']],
    [{ ok: 'yes' }, undefinedBy('testConnection', 'ok is a string, expected a boolean')],
    [{ ok: true, message: 1 }, undefinedBy('testConnection', 'message is a number, expected a string')],
    [{ ok: true, latency: 5 }, undefinedBy('testConnection', 'unknown field latency, expected ok or message')],
  ])('%j', (value, expected) => {
    expect(messages(() => parseConnectionTest(value))).toEqual(expected)
  })

  it('fails the test with `ok: false`', () => {
    expect(parseConnectionTest({ ok: true })).toBeUndefined()
    expect(parseConnectionTest({ ok: false })).toMatchObject({ kind: 'invalid' })
    expect(parseConnectionTest({ ok: false, message: 'no' })?.message).toBe('the extension returned an error: no')
  })
})

describe('what setup returns', () => {
  it.each<[readonly string[] | null, string | undefined]>([
    [null, 'setup did not return a handler object'],
    [[], 'the connector returned no introspect, query handler'],
    [['introspect'], 'the connector returned no query handler'],
    [['query', 'testConnection'], 'the connector returned no introspect handler'],
    [['introspect', 'query'], undefined],
    [['introspect', 'query', 'testConnection', 'more'], undefined],
  ])('%j', (names, expected) => {
    const error = missingHandlers(names)

    expect((error?.cause as ServiceError | undefined)?.message).toBe(expected)
  })
})

describe('an answer of introspect', () => {
  const id = { name: 'id', type: { name: 'int64' }, isNullable: false, isList: false }
  const collection = { name: 'c', fields: [id], key: ['id'], operations: ['readMany'] }
  const answer = (...collections: unknown[]) => ({ schema: { collections } })

  it.each<[unknown, string]>([
    [{}, 'schema Invalid input: expected object, received undefined'],
    [{ schema: { collections: [] }, hash: 1 }, 'unknown field hash, expected schema'],
    [{ schema: { collections: [], tables: [] } }, 'unknown field tables, expected namespaces or collections in schema'],
    [answer({ ...collection, operations: ['readAll'] }), 'schema.collections[0].operations[0]'],
    [answer({ ...collection, key: ['no'] }), 'schema.collections[0].key names no, which is not a field'],
    [
      answer({ ...collection, key: ['id'], fields: [{ ...id, isNullable: true }] }),
      'schema.collections[0].key names id, which may be null or is a list',
    ],
    [answer(collection, collection), 'schema.collections[1] is declared twice'],
    [answer({ ...collection, namespace: 'n' }), 'schema.collections[0].namespace is not among schema.namespaces'],
    [answer({ ...collection, filter: { no: ['eq'] } }), 'schema.collections[0].filter names no, which is not a field'],
    [
      answer({ ...collection, filter: { id: ['contains'] } }),
      'schema.collections[0].filter.id names contains, which its type does not have',
    ],
    [answer({ ...collection, sort: ['no'] }), 'schema.collections[0].sort names no, which is not a field'],
    [answer({ ...collection, after: true }), 'schema.collections[0].after needs id of the key in sort'],
    [answer({ ...collection, key: [], after: true }), 'schema.collections[0].after needs a key'],
    [answer({ ...collection, fields: [id, id] }), 'schema.collections[0].fields have a name twice'],
    [answer({ ...collection, name: 'c\0' }), 'schema.collections[0].name has characters that no database can store'],
    [
      answer({ ...collection, name: 'c\ud800' }),
      'schema.collections[0].name has characters that no database can store',
    ],
    [
      answer({ ...collection, fields: [id, { ...id, name: 'f\0' }] }),
      'schema.collections[0].fields[1].name has characters that no database can store',
    ],
    [answer({ ...collection, paging: true }), 'unknown field paging, expected name, namespace, fields'],
    [answer({ ...collection, fields: [{ ...id, type: { name: 'int65' } }] }), 'schema.collections[0].fields[0].type'],
  ])('%j is refused', (value, detail) => {
    const [outer, inner] = messages(() => parseIntrospection(value))

    expect(outer).toBe('Invalid extension response')
    expect(inner).toContain(`introspect answered with something this protocol does not define: ${detail}`)
  })

  it.each([
    ['operations', answer({ ...collection, operations: Array(8).fill('readMany') })],
    ['sort', answer({ ...collection, sort: Array(2_001).fill('id') })],
    ['filter.id', answer({ ...collection, filter: { id: Array(101).fill('eq') } })],
    ['filter', answer({ ...collection, filter: Object.fromEntries(Array.from({ length: 2_001 }, (_, i) => [i, []])) })],
    ['key', answer({ ...collection, key: Array(17).fill('id') })],
    ['fields', answer({ ...collection, fields: Array(2_001).fill(0) })],
    ['collections', answer(...Array(5_001).fill(0))],
    ['namespaces', { schema: { collections: [], namespaces: Array(5_001).fill(0) } }],
  ])('is refused for more than can be meant (%s), before its elements are read', (name, value) => {
    const [, detail = ''] = messages(() => parseIntrospection(value))

    expect(detail).toMatch(new RegExp(`define: schema\\.(collections\\[0\\]\\.)?${name} Too big`))
  })

  it('is refused with the first fault of its elements', () => {
    let read = 0
    const counting = new Proxy(
      {},
      {
        get: () => {
          read++
          return undefined
        },
      },
    )

    expect(messages(() => parseIntrospection(answer(...Array(1_000).fill(counting)))).length).toBe(2)
    expect(read).toBeLessThan(100)
  })

  it('is no value', () => {
    expect(messages(() => parseIntrospection(null))[1]).toBe('introspect returned no value')
  })

  it('has the same capabilities in whatever order they are listed', () => {
    const other = { ...collection, name: 'd', filter: { id: ['in', 'eq'] }, sort: ['id'] }
    const one = capabilitiesOf(parseIntrospection(answer(collection, other)))
    const two = capabilitiesOf(parseIntrospection(answer({ ...other, filter: { id: ['eq', 'in'] } }, collection)))
    const three = capabilitiesOf(parseIntrospection(answer({ ...other, filter: { id: ['eq'] } }, collection)))

    expect(capabilitiesText(two)).toBe(capabilitiesText(one))
    expect(capabilitiesText(three)).not.toBe(capabilitiesText(one))
  })
})
