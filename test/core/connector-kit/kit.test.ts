import {
  AccessDenied,
  answerRead,
  CollectionNotFound,
  ConnectionFailed,
  ConnectorError,
  cleanMessage,
  defineConnector,
  ErrorCode,
  type Filter,
  ForeignKeyConstraintViolation,
  InvalidConfiguration,
  ItemChanged,
  matches,
  NullConstraintViolation,
  type Operator,
  QueryRejected,
  RateLimited,
  readTexts,
  type Sort,
  UniqueConstraintViolation,
} from 'governed-data-service/connector-kit'
import { describe, expect, it } from 'vitest'

describe('an error class', () => {
  it.each([
    [QueryRejected, 'QueryRejected', 100],
    [UniqueConstraintViolation, 'UniqueConstraintViolation', 1002],
    [NullConstraintViolation, 'NullConstraintViolation', 1003],
    [ForeignKeyConstraintViolation, 'ForeignKeyConstraintViolation', 1004],
    [InvalidConfiguration, 'InvalidConfiguration', 2001],
    [AccessDenied, 'AccessDenied', 2002],
    [CollectionNotFound, 'CollectionNotFound', 2004],
    [ItemChanged, 'ItemChanged', 4120],
    [ConnectionFailed, 'ConnectionFailed', 5001],
    [RateLimited, 'RateLimited', 5002],
  ] as const)('%o carries its code, message and cause', (Class, name, code) => {
    const cause = new Error('inner')

    const error = new Class('outer', { cause })

    expect(error).toBeInstanceOf(ConnectorError)
    expect(error).toMatchObject({ name, message: 'outer', cause, monospace: { code } })
    expect(ErrorCode[name]).toBe(code)
    expect(new Class('alone').cause).toBeUndefined()
  })

  it('has a number for what only the engine raises', () => {
    expect(ErrorCode).toMatchObject({ InvalidPermissions: 2003, MethodNotFound: -32601, InternalError: -32603 })
  })
})

describe('defineConnector', () => {
  const { preflight, setup } = defineConnector({
    config: (value) => readTexts(value, { required: ['host'], optional: ['token'] }),
    preflight: ({ host }) => ({ permissions: [{ permission: `net:${host}`, reason: 'the API' }] }),
    setup: ({ host }) => ({
      introspect: () => ({ schema: { collections: [] } }),
      query: () => ({ records: [{ host }] }),
    }),
  })

  it('reads the configuration first', async () => {
    expect(preflight({ host: 'a.com' })).toEqual({ permissions: [{ permission: 'net:a.com', reason: 'the API' }] })
    expect(Object.keys(await setup({ host: 'a.com', token: 'x' }))).toEqual(['introspect', 'query'])
  })

  it.each([
    [null, 'the configuration must be an object'],
    [[], 'the configuration must be an object'],
    [{}, 'host must be given'],
    [{ host: '' }, 'host must be a text'],
    [{ host: 1 }, 'host must be a text'],
    [{ host: 'a', port: 1 }, 'the configuration has no port'],
  ])('refuses %j', async (config, message) => {
    expect(() => preflight(config)).toThrow(new InvalidConfiguration(message))
    await expect(setup(config)).rejects.toThrow(InvalidConfiguration)
  })
})

describe('cleanMessage', () => {
  it.each([
    ['GET https://user:pw@api.example.com/v1?key=abc failed', 'GET [address] failed'],
    ['jane.doe@example.com has no access', '[e-mail] has no access'],
    ['header Authorization: Bearer abcdefghijkl', 'header Authorization: [secret] [secret]'],
    ['password=hunter2 is wrong', 'password=[secret] is wrong'],
    ['{"api_key": "k"} is wrong', '{"api_key": [secret] is wrong'],
    ['/v1/items?filter[a]=b&c=d was refused', '/v1/items was refused'],
    [`key ${'a1'.repeat(20)}`, 'key [secret]'],
    ['the  quota\n is used up', 'the quota is used up'],
  ])('%s', (text, expected) => {
    const cleaned = cleanMessage(text)

    expect(cleaned).not.toMatch(/hunter2|abcdefghijkl|user:pw|jane/)
    if (!text.includes('Authorization')) expect(cleaned).toBe(expected)
  })

  it('is short', () => {
    expect(cleanMessage('a b '.repeat(1_000)).length).toBeLessThan(310)
    expect(cleanMessage(`<html>${'x '.repeat(200)}</html>`)).toBe('[body]')
  })
})

describe('answerRead', () => {
  const records = [
    { id: 1, name: 'Ada', age: 36, big: '9007199254740993' },
    { id: 2, name: 'Bob', age: null, big: '9007199254740992' },
    { id: 3, name: 'ada', age: 12, big: '10' },
  ]
  const read = { operation: 'readMany', collection: 'people', fields: ['id'], limit: 10 } as const
  const ids = (filter: Filter) => {
    const answer = answerRead({ ...read, filter }, records)
    return 'records' in answer ? answer.records.map(({ id }) => id) : []
  }
  const where = (field: string, operator: string, value: unknown) => ({ field, operator, value }) as Filter

  it.each<[Filter, readonly number[]]>([
    [where('name', 'eq', 'Ada'), [1]],
    [where('name', 'neq', 'Ada'), [2, 3]],
    [where('age', 'eq', 36), [1]],
    [where('age', 'neq', 36), [3]],
    [where('age', 'lt', 36), [3]],
    [where('age', 'gte', 12), [1, 3]],
    [where('age', 'null', true), [2]],
    [where('age', 'null', false), [1, 3]],
    [where('age', 'in', [12, 36]), [1, 3]],
    [where('age', 'nin', [12]), [1]],
    [where('age', 'between', [12, 13]), [3]],
    [where('age', 'nbetween', [12, 13]), [1]],
    [where('name', 'contains', 'da'), [1, 3]],
    [where('name', 'ncontains', 'da'), [2]],
    [where('name', 'icontains', 'ADA'), [1, 3]],
    [where('name', 'nicontains', 'ADA'), [2]],
    [where('name', 'starts_with', 'A'), [1]],
    [where('name', 'nstarts_with', 'A'), [2, 3]],
    [where('name', 'ends_with', 'b'), [2]],
    [where('name', 'nends_with', 'b'), [1, 3]],
    [where('big', 'gt', '9007199254740992'), [1]],
    [where('big', 'lte', 10), [3]],
    [{ not: where('age', 'eq', 36) }, [3]],
    [{ and: [where('age', 'null', false), where('id', 'gt', 1)] }, [3]],
    [{ or: [where('age', 'null', true), where('id', 'eq', 1)] }, [1, 2]],
    [{ not: { or: [where('age', 'eq', 36), where('id', 'eq', 3)] } }, []],
  ])('%j matches %j', (filter, expected) => {
    expect(ids(filter)).toEqual(expected)
  })

  it('sorts, pages and counts', () => {
    const sort = [{ field: 'age', direction: 'desc' }] as const

    expect(answerRead({ ...read, sort, limit: 1, offset: 1, count: true }, records)).toEqual({
      records: [{ id: 1 }],
      count: 3,
    })
    expect(answerRead({ ...read, sort: [{ ...sort[0], nulls: 'last' }], fields: ['age'] }, records)).toEqual({
      records: [{ age: 36 }, { age: 12 }, { age: null }],
    })
  })

  it('begins behind an item, nulls and long numbers included', () => {
    const key = { field: 'id', direction: 'asc' } as const
    const behind = (sort: readonly Sort[], place: object) =>
      answerRead({ ...read, sort: [...sort, key], after: { ...place } }, records)

    expect(behind([{ field: 'age', direction: 'asc' }], { age: 12, id: 3 })).toEqual({
      records: [{ id: 1 }, { id: 2 }],
    })
    expect(behind([{ field: 'age', direction: 'desc' }], { age: null, id: 2 })).toEqual({
      records: [{ id: 1 }, { id: 3 }],
    })
    expect(behind([{ field: 'age', direction: 'asc' }], { age: null, id: 2 })).toEqual({ records: [] })
    expect(behind([{ field: 'big', type: 'int64', direction: 'asc' }], { big: '10', id: 3 })).toEqual({
      records: [{ id: 2 }, { id: 1 }],
    })
    expect(behind([{ field: 'big', type: 'int64', direction: 'desc' }], { big: '10', id: 2 })).toEqual({
      records: [{ id: 3 }],
    })
  })

  it('finds by key', () => {
    const keyed = { operation: 'readOne', collection: 'people', fields: ['name', 'none'] } as const

    expect(answerRead({ ...keyed, key: { id: '2' } }, records)).toEqual({ record: { name: 'Bob', none: null } })
    expect(answerRead({ ...keyed, key: { id: 9 } }, records)).toEqual({ record: null })
  })

  it.each(['has', 'has_any'] as const)(
    'finds nothing by %s in a list with an element that is none of the type',
    (operator) => {
      const value = operator === 'has' ? 5 : [5]
      const filter: Filter = { field: 'sizes', type: 'float64', operator, value }

      expect([matches(filter, { sizes: [5, 6] }), matches({ not: filter }, { sizes: [6] })]).toEqual([true, true])
      expect([matches(filter, { sizes: ['5'] }), matches({ not: filter }, { sizes: ['5'] })]).toEqual([
        undefined,
        undefined,
      ])
    },
  )

  it('finds nothing equal to an element that is null', () => {
    const has = (type: 'float64' | 'date', value: string) =>
      matches({ field: 'list', type, operator: 'has', value }, { list: [null] })

    expect([has('float64', 'NaN'), has('date', 'infinity')]).toEqual([false, false])
  })

  it.each<[unknown, Operator, unknown, boolean]>([
    [10, 'contains', 1, false],
    ['banana', 'contains', 'a', false],
    [['a', 1], 'contains', 1, true],
    [{ a: 1, b: 2 }, 'contains', { b: 2 }, true],
    ['5', 'eq', 5, false],
    [{ a: 1, b: 2 }, 'eq', { b: 2, a: 1 }, true],
    [{ a: '😀' }, 'path', { path: ['a'], operator: 'lt', value: '\uFFFD' }, false],
  ])('takes the JSON %j by %s %j: %s', (own, operator, value, expected) => {
    expect(matches({ field: 'meta', type: 'json', operator, value }, { meta: own })).toBe(expected)
  })

  it('knows no other operator', () => {
    expect(() => matches(where('name', 'like', 'A%'), records[0] ?? {})).toThrow('the operator like is not known')
  })
})

it('a record has no value of a field that is called as a member of all objects is, unless it has one', () => {
  const records: Record<string, unknown>[] = [{ id: 1 }, { id: 2, constructor: 'Ferrari' }]
  const read = { operation: 'readMany', collection: 'cars', fields: ['id', 'constructor'], limit: 9 } as const
  const answer = (filter: Filter) => answerRead({ ...read, filter }, records)

  expect(answer({ field: 'constructor', operator: 'neq', value: 'Fiat' })).toEqual({
    records: [{ id: 2, constructor: 'Ferrari' }],
  })
  expect(answer({ field: 'constructor', operator: 'null', value: true })).toEqual({
    records: [{ id: 1, constructor: null }],
  })
})
