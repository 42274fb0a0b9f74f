import { describe, expect, it } from 'vitest'
import { errorBody, ServiceError } from '../../../src/core/error.ts'
import { MAX_QUERY_LENGTH, parseBrackets } from '../../../src/core/query/brackets.ts'

describe('reading', () => {
  it.each([
    ['', {}],
    ['?', {}],
    ['?limit=5', { limit: '5' }],
    ['limit=5&offset=10', { limit: '5', offset: '10' }],
    ['a', { a: '' }],
    ['a=', { a: '' }],
    ['a=b=c', { a: 'b=c' }],
    ['&a=1&&b=2&', { a: '1', b: '2' }],
    ['filter[status][_eq]=x', { filter: { status: { _eq: 'x' } } }],
    ['filter[a]=1&filter[b][c]=2&filter[b][d]=3', { filter: { a: '1', b: { c: '2', d: '3' } } }],
    ['filter[author.name][_eq]=x', { filter: { 'author.name': { _eq: 'x' } } }],
    ['a.b=c', { 'a.b': 'c' }],
    ['a[b]', { a: { b: '' } }],
    ['a[ b ]=c', { a: { ' b ': 'c' } }],
  ])('%s gives names and keys', (search, tree) => {
    const parsed = parseBrackets(search)

    expect(parsed).toEqual(tree)
  })

  it.each([
    ['fields[]=a&fields[]=b', { fields: ['a', 'b'] }],
    ['fields[]', { fields: [''] }],
    ['fields[0]=a', { fields: ['a'] }],
    ['fields[1]=b&fields[2]=c&fields[0]=a', { fields: ['a', 'b', 'c'] }],
    ['a[0][0]=x&a[0][1]=y&a[1][]=z', { a: [['x', 'y'], ['z']] }],
    ['sort[0][title][direction]=asc', { sort: [{ title: { direction: 'asc' } }] }],
    ['s[0][a]=1&s[1][a]=2&s[0][b]=3', { s: [{ a: '1', b: '3' }, { a: '2' }] }],
    ['a[][b]=1&a[][c]=2', { a: [{ b: '1' }, { c: '2' }] }],
    ['f[_and][0][v][_gte]=1&f[_and][1][t]=x', { f: { _and: [{ v: { _gte: '1' } }, { t: 'x' }] } }],
    ['a=b,c', { a: 'b,c' }],
  ])('%s gives arrays', (search, tree) => {
    const parsed = parseBrackets(search)

    expect(parsed).toEqual(tree)
  })

  it.each([
    ['0=a', { '0': 'a' }],
    ['a[01]=x', { a: { '01': 'x' } }],
    ['a[-1]=x', { a: { '-1': 'x' } }],
    ['a[1.5]=x', { a: { '1.5': 'x' } }],
    ['a[1e3]=x', { a: { '1e3': 'x' } }],
    ['a[+1]=x', { a: { ' 1': 'x' } }],
    ['a[toString]=x&hasOwnProperty=y', { a: { toString: 'x' }, hasOwnProperty: 'y' }],
  ])('%s is a key, not an index', (search, tree) => {
    const parsed = parseBrackets(search)

    expect(parsed).toEqual(tree)
  })

  it.each([
    ['a%5Bb%5D=c', { a: { b: 'c' } }],
    ['a%5B%5D=c', { a: ['c'] }],
    ['a%5b0%5d=c', { a: ['c'] }],
    ['a[b%3D%26]=c%3D%26%25', { a: { 'b=&': 'c=&%' } }],
    ['a+b=c+d%2Be', { 'a b': 'c d+e' }],
    ['a%255B=%255D', { 'a%5B': '%5D' }],
    ['%C3%A9=%E2%82%AC%F0%9F%98%80', { é: '€😀' }],
    ['é=€', { é: '€' }],
    ['a=[b]', { a: '[b]' }],
    ['a=%00', { a: '\u0000' }],
    ['a=%EF%BB%BFb', { a: '\uFEFFb' }],
  ])('%s is decoded once, the name before its brackets are read', (search, tree) => {
    const parsed = parseBrackets(search)

    expect(parsed).toEqual(tree)
  })

  it('gives objects without a prototype at every level', () => {
    const parsed = parseBrackets('a[b][0][c]=x')

    const objects = [parsed, parsed.a, at(parsed, 'a', 'b', '0')]
    expect(objects.map((value) => Object.getPrototypeOf(value))).toEqual([null, null, null])
  })

  it('takes names that objects of JavaScript have', () => {
    const parsed = parseBrackets('a[constructor][prototype]=x&then=y&toString[valueOf]=z')

    expect(JSON.stringify(parsed)).toBe('{"a":{"constructor":{"prototype":"x"}},"then":"y","toString":{"valueOf":"z"}}')
    expect(Object.getPrototypeOf(at(parsed, 'a', 'constructor'))).toBe(null)
    expect('x' in {}).toBe(false)
  })

  it('gives real arrays', () => {
    const parsed = parseBrackets('a[0]=x&b[]=y')

    expect([Array.isArray(parsed.a), Array.isArray(parsed.b)]).toEqual([true, true])
  })
})

describe('malformed text', () => {
  it.each([
    '=',
    '=x',
    '[]=x',
    '[]',
    '[a]=x',
    '[0]=x&[1]=y',
    'a[=x',
    'a]=x',
    'a]b=x',
    'a[b=x',
    'a[b]c=x',
    'a[b]c[d]=x',
    'a[b][c=x',
    'a[[b]]=x',
    'a[b[]]=x',
    'a]b[=x',
    'a[>=]=23',
    'a%5Bb=x',
  ])('%s has malformed brackets', (search) => {
    const error = failure(search)

    expect([error.kind, error.message]).toEqual(['badRequest', 'Invalid request'])
  })

  it.each(['a=%', 'a=%2', 'a=%zz', 'a=100%', '%=x', 'a[%5]=x', 'a=%u0041'])('%s has bad percent-encoding', (search) => {
    const error = failure(search)

    expect([error.kind, error.message]).toEqual(['badRequest', 'Invalid request'])
  })

  it.each(['a=%FF', 'a=%C3', 'a=%C0%80', 'a=%ED%A0%80', 'a=%F4%90%80%80', '%80=x', 'a[%FE]=x', 'a=\ud800'])(
    '%s is not UTF-8',
    (search) => {
      const error = failure(search)

      expect([error.kind, error.message]).toEqual(['badRequest', 'Invalid request'])
    },
  )

  it('names the parameter and the reason', () => {
    const body = errorBody(failure('ok=1&filter[a=x'))

    const reason = { message: 'is not of the form name[key]…' }
    expect(body).toEqual({ message: 'Invalid request', source: { message: 'filter[a', source: reason } })
  })

  it('names an undecodable parameter as it was sent', () => {
    const body = errorBody(failure('a%FF=x'))

    expect(body.source).toEqual({ message: 'a%FF', source: { message: 'is not valid UTF-8' } })
  })

  it('cuts a long name to 100 characters without leaving half a character', () => {
    const body = errorBody(failure(`${'a'.repeat(99)}😀[=x`))

    expect(body.source?.message).toBe(`${'a'.repeat(99)}\uFFFD…`)
  })

  it('never shows a value', () => {
    const body = errorBody(failure('access_token=secret%FF'))

    expect(JSON.stringify(body)).not.toContain('secret')
  })
})

describe('refusals', () => {
  it('tells code, parameter and reason', () => {
    const body = errorBody(failure('limit=1&limit=2'))

    const source = { message: 'limit', code: '4009', source: { message: 'is given more than once' } }
    expect(body).toEqual({ message: 'Failed to execute query', code: '4000', source })
  })

  it.each(['a&a', 'limit=1&limit=1', 'a[b]=1&a[b]=2', 'a[0]=1&a[0]=2', 'a%5Bb%5D=1&a[b]=2'])(
    '%s repeats a scalar',
    (search) => {
      const error = failure(search)

      expect(error.kind).toBe('invalid')
    },
  )

  it.each([
    'a=1&a[b]=2',
    'a[b]=1&a=2',
    'a=1&a[]=2',
    'a[]=1&a=2',
    'a[0]=1&a=2',
    'a[b]=1&a[b][c]=2',
    'a[b][c]=1&a[b]=2',
    'a[0]=x&a[b]=y',
    'a[b]=x&a[0]=y',
    'a[]=x&a[b]=y',
    'a[0]=x&a[]=y',
    'a[]=x&a[0]=y',
    'a[0]=x&a[0][b]=y',
  ])('%s mixes two shapes at one place', (search) => {
    const error = failure(search)

    expect(error.kind).toBe('invalid')
  })

  it.each([
    'a[1]=x',
    'a[0]=x&a[2]=y',
    'a[b][1][c]=x',
    'a[1999]=x',
    'a[2000]=x',
    'a[4294967295]=x',
    'a[99999999999999999999]=x',
  ])('%s is a sparse or huge array', (search) => {
    const error = failure(search)

    expect(error.kind).toBe('invalid')
  })

  it('names the array that is sparse', () => {
    const body = errorBody(failure('filter[id][_in][0]=1&filter[id][_in][2]=3'))

    const reason = { message: 'has no element 1 before its last' }
    expect(body.source).toEqual({ message: 'filter[id][_in]', code: '4009', source: reason })
  })

  it.each([
    '__proto__=x',
    '__proto__[a]=x',
    '__proto__[]=x',
    'a[__proto__]=x',
    'a[__proto__][b]=x',
    'a[0][__proto__]=x',
    '__proto__[__proto__][length]=1000000000',
    '%5F%5Fproto%5F%5F[a]=x',
    'a%5B__proto__%5D%5Bb%5D=x',
    'a[%5f_proto__]=x',
  ])('%s reaches for a prototype', (search) => {
    const error = failure(search)

    expect(error.kind).toBe('invalid')
    expect('a' in {}).toBe(false)
  })
})

describe('limits', () => {
  it.each([
    ['length', `?a=${'x'.repeat(MAX_QUERY_LENGTH - 2)}`],
    ['parameters', times(5_000, (index) => `p${index}`)],
    ['depth', `a${'[b]'.repeat(32)}=x`],
    ['index', times(2_000, (index) => `a[${index}]=x`)],
    ['pushes', times(2_000, () => 'a[]=x')],
    ['key length', `${'k'.repeat(200)}[${'é'.repeat(200)}]=x`],
  ])('the largest allowed %s is read', (_, search) => {
    const parsed = parseBrackets(search)

    expect(Object.keys(parsed).length).toBeGreaterThan(0)
  })

  it.each([
    ['length', 'query string', `a=${'x'.repeat(MAX_QUERY_LENGTH - 1)}`],
    ['parameters', 'query string', times(5_001, (index) => `p${index}`)],
    ['depth', `a${'[b]'.repeat(33)}`, `a${'[b]'.repeat(33)}=x`],
    ['index', 'a[2000]', times(2_001, (index) => `a[${index}]=x`)],
    ['pushes', 'a[]', times(2_001, () => 'a[]=x')],
    ['key length', `${'k'.repeat(100)}…`, `${'k'.repeat(201)}=x`],
    ['inner key length', `a[${'k'.repeat(98)}…`, `a[${'k'.repeat(201)}]=x`],
    ['index length', `a[${'1'.repeat(98)}…`, `a[${'1'.repeat(60_000)}]=x`],
  ])('one more %s is refused, naming %s', (_, name, search) => {
    const error = failure(search)

    expect(error.kind).toBe('invalid')
    expect(errorBody(error).source?.message).toBe(name)
  })

  it('reads 1,000 operands of _in in any order', () => {
    const search = times(1_000, (index) => `filter[id][_in][${999 - index}]=${999 - index}`)

    const parsed = parseBrackets(search)

    expect(at(parsed, 'filter', 'id', '_in')).toEqual(Array.from({ length: 1_000 }, (_, index) => String(index)))
  })
})

function failure(search: string): ServiceError {
  try {
    parseBrackets(search)
  } catch (error) {
    if (error instanceof ServiceError) return error
    throw error
  }
  throw new Error(`was read: ${search}`)
}

function at(node: unknown, ...keys: readonly string[]): unknown {
  return keys.reduce((value, key) => Object(value)[key], node)
}

function times(count: number, parameter: (index: number) => string): string {
  return Array.from({ length: count }, (_, index) => parameter(index)).join('&')
}
