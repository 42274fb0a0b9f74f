/**
 * Inputs that the widely used `qs` parser is known to be tested with, and what we make of each. Where qs guesses
 * (merges, drops, compacts, keeps brackets as text), we refuse. The last test takes them out of qs's own suite.
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import qs from 'qs'
import { expect, it } from 'vitest'
import { ServiceError } from '../../../src/core/error.ts'
import { parseBrackets } from '../../../src/core/query/brackets.ts'

it.each([
  ['foo=c++', { foo: 'c  ' }],
  ['foo', { foo: '' }],
  [' foo = bar = baz ', { ' foo ': ' bar = baz ' }],
  ['foo2=bar2&baz2=', { foo2: 'bar2', baz2: '' }],
  ['cht=p3&chd=t:60,40&chl=Hello|World', { cht: 'p3', chd: 't:60,40', chl: 'Hello|World' }],
  ['a=b,c', { a: 'b,c' }],
  ['a[]=b,c', { a: ['b,c'] }],
  ['foo=1%2C2', { foo: '1,2' }],
  ['a.b=c', { 'a.b': 'c' }],
  ['name%252Eobj.first=John', { 'name%2Eobj.first': 'John' }],
  ['foo[]&bar=baz', { foo: [''], bar: 'baz' }],
  ['a[b][c][d][e][f][g][h]=i', { a: { b: { c: { d: { e: { f: { g: { h: 'i' } } } } } } } }],
  ['a[]=b&a[]=c&a[]=d', { a: ['b', 'c', 'd'] }],
  ['a[b][]=c&a[b][]=d', { a: { b: ['c', 'd'] } }],
  ['a[1]=c&a[0]=b', { a: ['b', 'c'] }],
  ['a[0][0]=b&a[0][1]=c&a[1]=d&e=2', { a: [['b', 'c'], 'd'], e: '2' }],
  ['a[12b]=c', { a: { '12b': 'c' } }],
  ['he%3Dllo=th%3Dere', { 'he=llo': 'th=ere' }],
  ['a[b%20c]=d', { a: { 'b c': 'd' } }],
  ['a[%3C%3D%3E]=23', { a: { '<=>': '23' } }],
  ['pets=["tobi"]', { pets: '["tobi"]' }],
  ['operators=[">=", "<="]', { operators: '[">=", "<="]' }],
  ['a[0][b]=c&a[1][b]=d', { a: [{ b: 'c' }, { b: 'd' }] }],
  ['foo[0][a]=1&foo[0][b]=2', { foo: [{ a: '1', b: '2' }] }],
  ['foo[bar]=baz&foo[foo]=bar', { foo: { bar: 'baz', foo: 'bar' } }],
  ['foo[bad]=baz&foo[bar]=x&foo[0x]=y', { foo: { bad: 'baz', bar: 'x', '0x': 'y' } }],
  ['user[name][pop%20bob]=3', { user: { name: { 'pop bob': '3' } } }],
  ['a[hasOwnProperty]=b', { a: { hasOwnProperty: 'b' } }],
  ['hasOwnProperty=yay', { hasOwnProperty: 'yay' }],
  ['toString=foo&valueOf[__defineGetter__]=x', { toString: 'foo', valueOf: { __defineGetter__: 'x' } }],
  ['a[length]=1000000000', { a: { length: '1000000000' } }],
  ['_r=1&', { _r: '1' }],
  ['&a=b', { a: 'b' }],
  ['?foo=bar', { foo: 'bar' }],
  ['??foo=bar', { '?foo': 'bar' }],
  ['a[]=&a[]=b', { a: ['', 'b'] }],
  ['a[0]=b&a[1]=&a[2]=c', { a: ['b', '', 'c'] }],
  ['a=b;c=d', { a: 'b;c=d' }],
  ['x[%22a%22]', { x: { '"a"': '' } }],
  ['a%5B%5D=b&a%5B%5D=c', { a: ['b', 'c'] }],
  ['utf8=%E2%9C%93&%C3%B8=%C3%B8', { utf8: '✓', ø: 'ø' }],
  ['foo=%26%239786%3B', { foo: '&#9786;' }],
  ['a[null]=null&a[undefined]=undefined&a[NaN]=', { a: { null: 'null', undefined: 'undefined', NaN: '' } }],
  ['a[-0]=b&b[%201]=c', { a: { '-0': 'b' }, b: { ' 1': 'c' } }],
])('%s is accepted', (search, tree) => {
  const parsed = parseBrackets(search)

  expect(parsed).toEqual(tree)
})

it.each([
  ['a[>=]=23', 'the first = ends the name'],
  ['a[<=>]==23', 'the first = ends the name'],
  ['[]=&a=b', 'no name'],
  ['[0]=a&[1]=b', 'no name'],
  ['[foo]=bar', 'no name'],
  ['=&=x', 'no name'],
  ['[]=a&[]=b', 'no name'],
  ['a[=v', 'unclosed bracket'],
  ['a[bc=v', 'unclosed bracket'],
  ['a[b][c=v', 'unclosed bracket'],
  ['filters[customtags:Env: Prod=v', 'unclosed bracket'],
  ['a[b[c]=v', 'unclosed bracket'],
  ['[abc=v', 'unclosed bracket'],
  ['a%5Bb=v', 'unclosed bracket'],
  ['][a=v', 'stray bracket'],
  ['a][b=v', 'stray bracket'],
  ['a]=v', 'stray bracket'],
  ['a[b]]=v', 'stray bracket'],
  ['a[b]c=v', 'text after a bracket'],
  ['a[b].c=v', 'text after a bracket'],
  ['a[b] =v', 'text after a bracket'],
  ['search[withbracket[]]=foobar', 'bracket inside a bracket'],
  ['a[b[c[]]]=d', 'bracket inside a bracket'],
  ['list[][x[]]=y', 'bracket inside a bracket'],
  ['a[b%5Bc%5D]=d', 'bracket inside a bracket, encoded'],
  ['foo=%:%}', 'bad escape'],
  ['{%:%}=x', 'bad escape'],
  ['a=%E', 'bad escape'],
  ['foo=%u0041', 'bad escape'],
  ['foo=%D8%0A%E6', 'not UTF-8'],
  ['%8C%A7=%91%E5%8D%E3', 'not UTF-8: Shift_JIS'],
  ['%F8=%F8', 'not UTF-8: Latin 1'],
  ['a=%C0%AF', 'not UTF-8: overlong'],
  ['a=%EF%BF', 'not UTF-8: cut short'],
])('%s is malformed: %s', (search) => {
  expect(kindOf(search)).toBe('badRequest')
})

it.each([
  ['a[][]=1&a[][]=2', 'qs makes one list of it'],
  ['a[][0]=1&a[][0]=2', 'qs combines'],
  ['a=b&a=c', 'qs makes an array'],
  ['a&a=', 'qs makes an array'],
  ['foo[bar]=1&foo[bar]=2', 'qs makes an array'],
  ['a=b&a[]=c', 'qs merges'],
  ['a[]=b&a=c', 'qs merges'],
  ['a[0]=b&a=c', 'qs merges'],
  ['foo=baz&foo[bar]=1', 'qs merges'],
  ['foo[bar]=baz&foo=bar', 'qs merges as {bar: baz, bar: true}'],
  ['foo[]=bar&foo[bad]=baz', 'qs turns the array into an object'],
  ['foo[bad]=baz&foo[0]=bar', 'qs turns the index into a key'],
  ['foo[0]=bar&foo[bad]=baz', 'qs turns the index into a key'],
  ['a[0]=b&a[t]=u&a[hasOwnProperty]=c', 'qs turns the index into a key'],
  ['a[]=b&a[1]=c', 'qs combines'],
  ['a[0]=b&a[]=c', 'qs combines'],
  ['a[1]=c', 'qs compacts'],
  ['a[1]=b&a[2]=c', 'qs compacts'],
  ['a[10]=1&a[2]=2', 'qs compacts'],
  ['a[1][b][2][c]=1', 'qs compacts'],
  ['a[20]=a', 'qs compacts'],
  ['a[1001]=b', 'qs turns it into an object'],
  ['a[100000000]=x', 'qs turns it into an object'],
  ['a[9007199254740993]=x', 'an index that numbers cannot hold'],
  ['a[2023-01][0]=x&a[2023]=y', 'an index among keys'],
  ['__proto__[a]=b', 'qs drops it'],
  ['a[__proto__]=b', 'qs drops it'],
  ['a[__proto__]=b&a[__proto__]&a[length]=100000000', 'CVE-2022-24999'],
  ['categories[__proto__]=login&categories[__proto__]&categories[length]=42', 'CVE-2022-24999'],
  ['bad[__proto__][toString]=x', 'qs drops it'],
  ['%5f%5fproto%5f%5f=x', 'encoded'],
  ['a[]=1&'.repeat(2_001), 'CVE-2025-15284: the limit of arrays holds for [] too'],
  [`a${'[p]'.repeat(33)}=x`, 'qs keeps the rest as one key'],
])('%s is refused: %s', (search) => {
  expect(kindOf(search)).toBe('invalid')
})

it('reads every input of the suite of qs as qs does, or refuses it', () => {
  const inputs = inputsOfQs()
  const options = { ignoreQueryPrefix: true, depth: 32, arrayLimit: 2_000, parameterLimit: 5_000, plainObjects: true }

  const read = inputs.filter((search) => kindOf(search) === 'read')
  const refused = inputs.filter((search) => !read.includes(search))

  expect(read.length).toBeGreaterThan(100)
  expect(read.map((search) => [search, JSON.stringify(parseBrackets(search))])).toEqual(
    read.map((search) => [search, JSON.stringify(qs.parse(search, options))]),
  )
  expect(refused.filter((search) => !['badRequest', 'invalid'].includes(kindOf(search)))).toEqual([])
})

/** The texts that its tests hand to `qs.parse`. */
function inputsOfQs(): readonly string[] {
  const suite = createRequire(import.meta.url).resolve('qs/test/parse.js')
  const calls = readFileSync(suite, 'utf8').matchAll(/qs\.parse\(\s*('(?:[^'\\\n]|\\.)*')\s*[,)]/g)
  const literals = [...calls].map(([, literal = '']) =>
    literal.slice(1, -1).replaceAll('"', '\\"').replaceAll("\\'", "'"),
  )
  return [...new Set(literals.flatMap(textOf))]
}

/** Undone escapes are those of JSON; the few that are not are left out. */
function textOf(literal: string): readonly string[] {
  try {
    return [JSON.parse(`"${literal}"`) as string]
  } catch {
    return []
  }
}

function kindOf(search: string): string {
  try {
    parseBrackets(search)
    return 'read'
  } catch (error) {
    return error instanceof ServiceError ? error.kind : String(error)
  }
}
