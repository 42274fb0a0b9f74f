import { expect, it } from 'vitest'
import { denied } from '../../../src/core/access/access.ts'
import { Forbidden } from '../../../src/core/plan/names.ts'
import { requestFilter } from '../../../src/core/plan/where.ts'
import { articles, authors, column, only, refusal, viewer } from './blog.ts'

const json = (value: unknown) => ({ form: 'json', value }) as const

it('no filter is every row', () => {
  expect(requestFilter(viewer(), articles, undefined, 'filter')).toEqual({ kind: 'all' })
})

it('a filter compares fields where the caller sees them', () => {
  expect(requestFilter(viewer(), articles, json({ title: { _eq: 'a' } }), 'filter')).toMatchObject({
    kind: 'compare',
    field: column(articles, 'title'),
    operand: 'a',
  })
})

it('a filter through a relation asks only rows that the caller reads', () => {
  const rows = { kind: 'none' } as const
  const caller = viewer({ authors: only(['id', 'name'], authors, rows) })

  expect(requestFilter(caller, articles, json({ author: { name: { _eq: 'a' } } }), 'filter')).toMatchObject({
    kind: 'related',
    rows,
  })
})

it('what is hidden cannot be asked', () => {
  const caller = viewer({ authors: denied, articles: only(['id', 'author'], articles) })

  expect(() => requestFilter(caller, articles, json({ title: { _eq: 'a' } }), 'filter')).toThrow(Forbidden)
  expect(() => requestFilter(caller, articles, json({ author: { name: { _eq: 'a' } } }), 'filter')).toThrow(Forbidden)
  expect(refusal(() => requestFilter(viewer(), articles, json({ nothing: { _eq: 1 } }), 'q'))).toMatch(/q\.nothing/)
})
