import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { parseBrackets } from '../../../src/core/query/brackets.ts'
import { placeholder } from '../../../src/core/query/placeholder.ts'
import { bindTemplateValue, toQueryTemplate } from '../../../src/core/query/query-template.ts'

it('gives one fingerprint to queries that differ only in what they compare with', () => {
  const one = toQueryTemplate('fields=id&filter[id][_gt]=17&filter[name]=Ann%20Lee&limit=5')
  const other = toQueryTemplate('fields=id&filter[id][_gt]=4&filter[name]=&limit=5')

  expect(one.fingerprint).toBe(other.fingerprint)
  expect(one.values.map(({ text }) => text)).toEqual(['17', 'Ann%20Lee'])
  expect(parseBrackets(one.fingerprint)).toEqual({
    fields: 'id',
    filter: { id: { _gt: placeholder('?0') }, name: placeholder('?1') },
    limit: '5',
  })
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
  ['the mark of a hole', 'filter[id][_gt]=1&filter[name][_contains]=%00?0'],
  ['more than can be asked again', `filter[id][_gt]=1&filter[name][_eq]=${'x'.repeat(9_000)}`],
])('leaves %s in the fingerprint', (_, text) => {
  expect(toQueryTemplate(text)).toEqual({ fingerprint: text, values: [] })
})

it('fills a hole with the value as the query was sent with', () => {
  const template = toQueryTemplate('filter[name][_eq]=a%2Bb+c')
  const readers = { readers: new Map([['?0', (text: string) => `<${text}>`]]), isUncacheable: false }

  expect(bindTemplateValue('?0', template, readers)).toBe('<a+b c>')
  expect(bindTemplateValue('key', template, readers)).toBeUndefined()
})

it('refuses a value that is no text, naming its parameter', () => {
  const template = toQueryTemplate('filter[name][_eq]=%ZZ')
  const readers = { readers: new Map([['?0', (text: string) => text]]), isUncacheable: false }

  expect(() => bindTemplateValue('?0', template, readers)).toThrow('Invalid request')
})

it('says with fingerprint and values together what the query says', () => {
  const name = fc.constantFrom('filter[a][_eq]', 'filter[b]', 'filter[_or][0][a][_lte]', 'fields', 'filter[c][_in][0]')
  const value = fc.string({ unit: 'grapheme', maxLength: 8 }).map((text) => text.replaceAll('\0', ''))
  const query = fc.uniqueArray(fc.tuple(name, value), { selector: ([key]) => key, maxLength: 5 })
  return fc.assert(
    fc.property(query, (parameters) => {
      const text = parameters.map(([key, content]) => `${key}=${encodeURIComponent(content)}`).join('&')
      const template = toQueryTemplate(text)
      const readers = new Map(template.values.map((_, index) => [`?${index}`, (content: string) => content]))
      const bind = (content: unknown) =>
        typeof content === 'string' && content.startsWith('\0')
          ? bindTemplateValue(content.slice(1), template, { readers, isUncacheable: false })
          : content
      const bound = JSON.parse(JSON.stringify(parseBrackets(template.fingerprint)), (_, content) => bind(content))

      expect(bound).toEqual(JSON.parse(JSON.stringify(parseBrackets(text))))
    }),
  )
})
