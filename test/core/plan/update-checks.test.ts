/** The checks around an update, where rows have the same value in another text. */
import { describe, expect, it } from 'vitest'
import { type Grant, granted } from '../../../src/core/access/access.ts'
import type { Collection, PrimitiveField } from '../../../src/core/model/model.ts'
import { atOnce } from '../../../src/core/parts.ts'
import { addUpdate } from '../../../src/core/plan/nested-write.ts'
import { addFind, createProgram } from '../../../src/core/plan/program.ts'
import { all, type Filter } from '../../../src/core/query/filter.ts'
import { build } from '../../support/data/build.ts'
import { column, viewer } from './blog.ts'

const generators = { uuid: () => 'a-uuid', now: () => '2026-01-02T03:04:05.678Z' }
const model = build.model(
  {
    authors: { id: 'int64', name: 'string' },
    articles: { id: 'int64', status: 'string', price: 'decimal', weight: 'float64', authorId: 'int64' },
  },
  ['articles.author(authorId) -> authors.articles'],
)
const collection = (name: string) => model.byName.get(name) as Collection
const articles = collection('articles')
const equal = (field: PrimitiveField, operand: string): Filter => ({
  ...{ kind: 'compare', operator: '=', visible: all, field, operand },
})

/** From each value of the field to the next. */
function steps(field: PrimitiveField, ...values: readonly string[]): readonly Grant[] {
  const next = (index: number) => equal(field, values[index + 1] ?? values[0] ?? '')
  return values.map((value, index) => ({
    ...{ rows: equal(field, value), fields: 'every', validation: all },
    check: next(index),
  }))
}

function planned(of: Collection, body: object, grants: readonly Grant[]) {
  const program = createProgram(viewer({ [`${of.apiName}.update`]: granted(grants) }), generators)
  const slot = addFind(program, of, { where: all })
  atOnce(addUpdate(program, { body: { ...body }, path: '' }, { slot, depth: 0, isOne: true }))
  return program.steps
}

describe('rows for which several ways are open', () => {
  it.each([
    { what: 'texts', name: 'status', values: ['paid', 'shipped'], parts: 2 },
    { what: 'equal numbers', name: 'price', values: ['1.0', '1.00'], parts: 3 },
    { what: 'numbers', name: 'price', values: ['1.0', '1.01'], parts: 2 },
    { what: 'what may be rounded', name: 'weight', values: ['0.1', '0.10000000000000001'], parts: 3 },
  ])('are apart where no value is both: $what', ({ name, values, parts }) => {
    expect(planned(articles, { authorId: '1' }, steps(column(articles, name), ...values)).filter(isPart)).toHaveLength(
      parts,
    )
  })

  it.each([
    { what: 'a collation', changes: { isLoose: true }, parts: 3 },
    { what: 'a type of its own', changes: { native: { name: 'citext', isOrdered: true } }, parts: 3 },
    { what: 'an enum', changes: { native: { name: 'mood', isOrdered: true, values: ['a', 'A'] } }, parts: 2 },
  ])('are apart where the database tells the values apart: $what', ({ changes, parts }) => {
    const field = { ...column(articles, 'status'), ...changes }
    expect(planned(articles, { authorId: '1' }, steps(field, 'a', 'A')).filter(isPart)).toHaveLength(parts)
  })
})

const isPart = ({ kind }: { readonly kind: string }) => kind === 'part'
