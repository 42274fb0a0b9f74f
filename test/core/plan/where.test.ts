import { expect, it } from 'vitest'
import { denied } from '../../../src/core/access/access.ts'
import { Forbidden } from '../../../src/core/plan/names.ts'
import { boundingFilter, requestFilter } from '../../../src/core/plan/where.ts'
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

const saysNothing = [
  {},
  { _and: [] },
  { _and: [{}] },
  { _or: [{}] },
  { _or: [{ name: { _eq: 'a' } }, {}] },
  { id: {} },
  { _not: { _or: [] } },
  { _not: { id: { _in: [] } } },
  { id: { _nin: [] } },
  { articles: { _every: {} } },
  { name: { _contains: '' } },
  { name: { _starts_with: '', _icontains: '' } },
  { tags: { _has_all: [] } },
  { _or: [{ id: { _eq: '1' } }, { name: { _ends_with: '' } }] },
  { articles: { _none: { _or: [] } } },
  { _not: { name: { _ncontains: '' } } },
  { _not: { _and: [{ id: { _eq: '1' } }, { name: { _nstarts_with: '' } }] } },
  { _not: { _or: [{ tags: { _has_any: [] } }, { id: { _in: [] } }] } },
  { _not: { _not: { name: { _contains: '' } } } },
  { articles: { _none: { title: { _nends_with: '' } } } },
  { articles: { _every: { title: { _contains: '' } } } },
  { _not: { articles: { title: { _ncontains: '' } } } },
]

it('a filter that is true of every row does not bound a write, unless max does', () => {
  const refused = (filter: object) =>
    refusal(() => boundingFilter(viewer(), authors, { filter: json(filter), path: 'filter' }))
  const message = /filter: is required to write many items; {"_all": true} says that all are meant/

  expect(refusal(() => boundingFilter(viewer(), authors, { filter: undefined, path: 'filter' }))).toMatch(message)
  for (const filter of saysNothing) expect(refused(filter), JSON.stringify(filter)).toMatch(message)
  for (const filter of saysNothing) {
    const bound = { filter: json(filter), path: 'filter', max: 3 }
    expect(() => boundingFilter(viewer(), authors, bound), JSON.stringify(filter)).not.toThrow()
  }
  for (const filter of [{ _or: [] }, { _not: {} }, { id: { _in: [] } }, { articles: { _some: { _or: [] } } }]) {
    expect(boundingFilter(viewer(), authors, { filter: json(filter), path: 'filter' })).toEqual({ kind: 'none' })
  }
})

it('a filter through a relation to one says no more than its conditions', () => {
  for (const filter of [{ editor: {} }, { author: { name: { _contains: '' } } }, { _not: { _not: { editor: {} } } }]) {
    expect(refusal(() => boundingFilter(viewer(), articles, { filter: json(filter), path: 'filter' }))).toMatch(
      /is required to write many items/,
    )
  }
  for (const filter of [{ author: {} }, { author: { name: { _eq: 'a' } } }, { author: { _or: [] } }]) {
    expect(() => boundingFilter(viewer(), articles, { filter: json(filter), path: 'filter' })).not.toThrow()
  }
})

it('all rows are meant by _all, alone and true', () => {
  const bound = (filter: object) => boundingFilter(viewer(), authors, { filter: json(filter), path: 'filter' })

  expect([bound({ _all: true }), bound({ _all: 'true' })]).toEqual([{ kind: 'all' }, { kind: 'all' }])
  for (const filter of [{ _all: false }, { _all: true, name: { _eq: 'a' } }, { _all: {} }]) {
    expect(refusal(() => bound(filter))).toMatch(/filter\._all: must be true, and without other conditions/)
  }
  expect(refusal(() => bound({ _and: [{ _all: true }] }))).toMatch(/_all: is not a logical operator/)
})
