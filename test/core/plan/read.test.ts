import { describe, expect, it } from 'vitest'
import { isSortable, planList, planOne, planSelection, type ReadContext } from '../../../src/core/plan/read.ts'
import { parseBrackets } from '../../../src/core/query/brackets.ts'
import { all } from '../../../src/core/query/filter.ts'
import { parseItemQuery, parseListQuery } from '../../../src/core/query/parameters.ts'
import { articles, authors, column, contextOf, only, refusal, viewer } from './blog.ts'

const list = (search: string, context: ReadContext = contextOf(articles)) =>
  planList(context, parseListQuery(parseBrackets(search)))

describe('a list', () => {
  it('has the fields asked for, a page, and an order that is total', () => {
    const plan = list('fields=title,author.name&sort[0][title][direction]=desc&limit=5&offset=2&meta=totalCount')

    expect(plan.selection.map(({ name }) => name)).toEqual(['title', 'author'])
    expect(plan.page).toMatchObject({ limit: 5, offset: 2 })
    expect(plan.page?.order.map(({ field, direction, origin }) => [field.apiName, direction, origin])).toEqual([
      ['title', 'desc', 'requested'],
      ['id', 'desc', 'tie'],
    ])
    expect(plan.count).toBe(true)
  })

  it('has all columns that the caller may read where none are asked for', () => {
    const access = only(['id', 'title'], articles)

    expect(list('', { ...contextOf(articles), access }).selection.map(({ name }) => name)).toEqual(['id', 'title'])
  })

  it('holds the caller’s rows and those asked for at once', () => {
    const rows = { kind: 'null', field: column(articles, 'id'), visible: all, negated: true } as const
    const access = only(['id', 'title'], articles, rows)

    expect(list('filter[title][_eq]=a', { ...contextOf(articles), access }).where).toMatchObject({
      kind: 'and',
      filters: [rows, { kind: 'compare', operand: 'a' }],
    })
  })

  it.each([
    ['one', articles, 'author', authors, 'name'],
    ['many', authors, 'articles', articles, 'title'],
  ] as const)('holds related rows, to %s, to those that the caller may read', (_, of, name, target, field) => {
    const rows = { kind: 'null', field: column(target, 'id'), visible: all, negated: true } as const
    const reader = viewer({ [`${target.apiName}.read`]: only(['id', field], target, rows) })
    const plan = (search: string) => list(search, { ...contextOf(of), viewer: reader }).selection

    expect(plan(`fields=${name}.${field}`)).toMatchObject([{ kind: 'relation', name, where: rows }])
    expect(plan(`fields=${name}.${field}&deep[${name}][_filter][${field}][_eq]=a`)).toMatchObject([
      { name, where: { kind: 'and', filters: [rows, { kind: 'compare', operand: 'a' }] } },
    ])
  })

  it('is held to its budget of rows', () => {
    expect(refusal(() => list('limit=11', { ...contextOf(articles), maxRows: 10 }))).toMatch(/may bring 11 items/)
  })
})

it('one item is narrowed down to, without a page', () => {
  const where = { kind: 'none' } as const

  const plan = planOne(contextOf(articles), parseItemQuery(parseBrackets('fields=title')), where)

  expect(plan).toMatchObject({ kind: 'read', where, page: undefined, count: false })
})

it('what a write answers is without values outside of the rows that it is within', () => {
  const [field] = planSelection(
    contextOf(articles),
    { fields: ['title'], deep: new Map() },
    { rows: 1, within: { kind: 'none' } },
  )
  const [open] = planSelection(contextOf(articles), { fields: ['title'], deep: new Map() }, { rows: 1 })

  expect(field?.visible).toEqual({ kind: 'none' })
  expect(open?.visible).toEqual({ kind: 'all' })
})

it('lists, bytes and shapes have no order', () => {
  const bytes = { ...column(articles, 'title'), type: { name: 'bytes' } as const }

  expect([column(articles, 'title'), column(authors, 'tags'), bytes].map(isSortable)).toEqual([true, false, false])
})
