import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { parseBrackets } from '../../../src/core/query/brackets.ts'
import { hole } from '../../../src/core/query/hole.ts'
import { fillBlank, splitQuestion } from '../../../src/core/query/question.ts'

it('gives one shape to queries that differ only in what they compare with', () => {
  const one = splitQuestion('fields=id&filter[id][_gt]=17&filter[name]=Ann%20Lee&limit=5')
  const other = splitQuestion('fields=id&filter[id][_gt]=4&filter[name]=&limit=5')

  expect(one.shape).toBe(other.shape)
  expect(one.values.map(({ text }) => text)).toEqual(['17', 'Ann%20Lee'])
  expect(parseBrackets(one.shape)).toEqual({
    fields: 'id',
    filter: { id: { _gt: hole('?0') }, name: hole('?1') },
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
])('leaves %s in the shape', (_, text) => {
  expect(splitQuestion(text)).toEqual({ shape: text, values: [] })
})

it('fills a hole with the value as the query was sent with', () => {
  const question = splitQuestion('filter[name][_eq]=a%2Bb+c')
  const blanks = { readers: new Map([['?0', (text: string) => `<${text}>`]]), isUnfit: false }

  expect(fillBlank('?0', question, blanks)).toBe('<a+b c>')
  expect(fillBlank('key', question, blanks)).toBeUndefined()
})

it('refuses a value that is no text, naming its parameter', () => {
  const question = splitQuestion('filter[name][_eq]=%ZZ')
  const blanks = { readers: new Map([['?0', (text: string) => text]]), isUnfit: false }

  expect(() => fillBlank('?0', question, blanks)).toThrow('Invalid request')
})

it('says with shape and values together what the query says', () => {
  const name = fc.constantFrom('filter[a][_eq]', 'filter[b]', 'filter[_or][0][a][_lte]', 'fields', 'filter[c][_in][0]')
  const value = fc.string({ unit: 'grapheme', maxLength: 8 }).map((text) => text.replaceAll('\0', ''))
  const query = fc.uniqueArray(fc.tuple(name, value), { selector: ([key]) => key, maxLength: 5 })
  return fc.assert(
    fc.property(query, (parameters) => {
      const text = parameters.map(([key, content]) => `${key}=${encodeURIComponent(content)}`).join('&')
      const question = splitQuestion(text)
      const readers = new Map(question.values.map((_, index) => [`?${index}`, (content: string) => content]))
      const fill = (content: unknown) =>
        typeof content === 'string' && content.startsWith('\0')
          ? fillBlank(content.slice(1), question, { readers, isUnfit: false })
          : content
      const filled = JSON.parse(JSON.stringify(parseBrackets(question.shape)), (_, content) => fill(content))

      expect(filled).toEqual(JSON.parse(JSON.stringify(parseBrackets(text))))
    }),
  )
})
