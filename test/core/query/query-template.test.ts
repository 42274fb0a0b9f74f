import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { parseBrackets } from '../../../src/core/query/brackets.ts'
import { writeCursor } from '../../../src/core/query/cursor.ts'
import {
  bindQueryValue,
  parseTemplate,
  type QueryTemplate,
  toQueryTemplate,
} from '../../../src/core/query/query-template.ts'

it('gives one fingerprint to queries that differ only in what they compare with', () => {
  const one = toQueryTemplate('fields=id&filter[id][_gt]=17&filter[name]=Ann%20Lee&limit=5')
  const other = toQueryTemplate('fields=id&filter[id][_gt]=4&filter[name]=&limit=5')

  expect(one.fingerprint).toBe(other.fingerprint)
  expect(one.values.map(({ text }) => text)).toEqual(['17', 'Ann%20Lee'])
  expect(one.fingerprint).toBe('fields=id&filter[id][_gt]=&filter[name]=&limit=5')
  expect(filled(one, (index) => index)).toEqual({ id: { _gt: 0 }, name: 1 })
})

it.each([
  ['a page', 'limit=5&offset=10'],
  ['a sort', 'sort[0][id][direction]=asc'],
  ['a substring', 'filter[name][_contains]=x'],
  ['an element of a list', 'filter[id][_in][0]=1'],
  ['a bound of a range', 'filter[id][_between][0]=1'],
  ['a test for null', 'filter[name][_null]=true'],
  ['a filter of a relation', 'deep[posts][_filter][id][_gt]=1'],
  ['a name with escapes', 'filter%5Bid%5D%5B_gt%5D=1'],
  ['a name without a value', 'filter[id][_gt]'],
  ['more than can be asked again', `filter[id][_gt]=1&filter[name][_eq]=${'x'.repeat(9_000)}`],
])('leaves %s in the fingerprint', (_, text) => {
  expect(toQueryTemplate(text)).toEqual({ fingerprint: text, values: [] })
})

it('takes no text for the cursor that it is written like in a fingerprint', () => {
  const cursor = writeCursor('[1,"abc",5,null]')
  const { fingerprint } = toQueryTemplate(`filter[a]=1&after=${cursor}`)
  const written = fingerprint.replace('filter[a]=', 'filter[a]=1').replaceAll('\n', '')

  expect(written).toBe('filter[a]=1&after=abc.10')
  expect(toQueryTemplate(written).fingerprint).not.toBe(fingerprint)
})

it('binds the value that the query was sent with', () => {
  const { values } = toQueryTemplate('filter[name][_eq]=a%2Bb+c')

  expect(bindQueryValue(text(0), values)).toBe('a+b c')
  expect(() => bindQueryValue(text(1), values)).toThrow('the query has no value 1')
})

it.each([
  ['is no text, naming its parameter', '%ZZ', 'Invalid request'],
  ['no database can hold', '%00?0', 'Failed to execute query'],
])('refuses a value that %s', (_, value, message) => {
  const { values } = toQueryTemplate(`filter[name][_eq]=${value}`)

  expect(() => bindQueryValue(text(0), values)).toThrow(message)
})

it('takes nothing that is sent for a value left open', () => {
  const template = toQueryTemplate('?filter[a]=Symbol(filter[b])&filter[b]=2&filter[c][_in][0]=x')

  expect(filled(template, (index) => index)).toEqual({ a: 'Symbol(filter[b])', b: 0, c: { _in: ['x'] } })
})

it('says with fingerprint and values together what the query says', () => {
  const name = fc.constantFrom('filter[a][_eq]', 'filter[b]', 'filter[_or][0][a][_lte]', 'fields', 'filter[c][_in][0]')
  const value = fc.string({ unit: 'grapheme', maxLength: 8 }).map((content) => content.replaceAll('\0', ''))
  const query = fc.uniqueArray(
    fc.tuple(
      name,
      value.filter((content) => content !== ''),
    ),
    {
      selector: ([key]) => key,
      maxLength: 5,
    },
  )
  return fc.assert(
    fc.property(query, (parameters) => {
      const sent = parameters.map(([key, content]) => `${key}=${encodeURIComponent(content)}`).join('&')
      const template = toQueryTemplate(sent)
      if (parameters.some(([key, content]) => key === 'fields' && /^,*$/.test(content))) return
      const bound = filled(template, (index) => bindQueryValue(text(index), template.values))

      expect(bound).toEqual(JSON.parse(JSON.stringify(parseBrackets(sent).filter ?? null)))
    }),
  )
})

function text(index: number) {
  return {
    kind: 'queryValue',
    index,
    type: { name: 'string', params: { length: 'unlimited' } },
    path: 'filter',
  } as const
}

/** The filter of a template, with something in place of each value that it leaves open. */
function filled(template: QueryTemplate, fill: (index: number) => unknown): unknown {
  const { filter } = parseTemplate(template).query
  const each = (node: unknown): unknown => {
    if (typeof node === 'symbol') return fill(filter?.template?.indexOf(node) ?? -1)
    if (Array.isArray(node)) return node.map(each)
    if (typeof node !== 'object' || node === null) return node
    return Object.fromEntries(Object.entries(node).map(([name, child]) => [name, each(child)]))
  }
  return each(filter?.value ?? null)
}
