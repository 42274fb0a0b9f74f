import { describe, expect, it } from 'vitest'
import { ServiceError } from '../../../src/core/error.ts'
import { requireRowBudget } from '../../../src/core/plan/budget.ts'
import type { Selected, Selection } from '../../../src/core/plan/plan.ts'

/** Only what the budget looks at. */
const relation = (name: string, limit: number | undefined, ...selection: Selected[]): Selected =>
  ({ kind: 'relation', name, page: limit === undefined ? undefined : { limit }, selection }) as unknown as Selected
const field = { kind: 'field', name: 'title' } as unknown as Selected
const list = relation
const aggregated = (name: string, count: number, beside?: Selected): Selected =>
  ({ ...(beside ?? { kind: 'aggregates' }), name, aggregates: Array(count).fill({}) }) as unknown as Selected

function answerOf(selection: Selection, own: number, { isPage = true, spent = 0 } = {}): unknown {
  try {
    requireRowBudget(selection, { own, isPage }, { most: 1_000, spent })
    return 'within'
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    const { path, product } = error.meta ?? {}
    return [error.code, path, product]
  }
}

describe('the budget of a read', () => {
  it.each<[string, Selection, number, unknown]>([
    ['a page', [field], 1_000, 'within'],
    ['a larger page', [field], 1_001, ['4014', '', 1_001]],
    ['a list of each', [list('docs', 10)], 100, 'within'],
    ['a longer one', [list('docs', 11)], 100, ['4014', 'docs', 1_100]],
    ['a to-one relation counts once', [relation('person', undefined, field)], 1_000, 'within'],
    [
      'lists behind to-one relations',
      [list('docs', 10, relation('person', undefined, list('docs', 11)))],
      10,
      ['4014', 'docs.person.docs', 1_100],
    ],
    ['a list on the way to another is not counted twice', [list('docs', 10, field, list('pages', 10))], 10, 'within'],
    ['lists beside each other', [list('a', 50), list('b', 51)], 10, ['4014', 'b', 510]],
    ['an aggregate of each', [aggregated('docs', 1)], 10, 'within'],
    ['an aggregate of more', [aggregated('docs', 1)], 11, ['4014', 'docs', 1_100]],
    ['aggregates of each', [aggregated('docs', 11)], 1, ['4014', 'docs', 1_100]],
    ['an aggregate beside a list', [aggregated('docs', 1, list('docs', 101))], 5, ['4014', 'docs', 505]],
    ['the same that just fits', [aggregated('docs', 1, list('docs', 100))], 5, 'within'],
    ['aggregates behind a list', [list('docs', 2, aggregated('pages', 3))], 2, ['4014', 'docs.pages', 1_200]],
    ['aggregates behind a to-one relation', [relation('person', undefined, aggregated('docs', 2))], 5, 'within'],
    ['as many as there may be', [list('a', 50), list('b', 50)], 10, 'within'],
  ])('%s', (_name, selection, own, answer) => {
    expect(answerOf(selection, own)).toEqual(answer)
  })

  it('leaves alone how many rows are written where they bring no lists', () => {
    expect(answerOf([field], 5_000, { isPage: false })).toBe('within')
    expect(answerOf([list('docs', 1)], 5_000, { isPage: false })).toEqual(['4014', 'docs', 5_000])
  })

  it('counts what other reads of the request have spent', () => {
    expect(answerOf([field], 400, { spent: 600 })).toBe('within')
    expect(answerOf([field], 401, { spent: 600 })).toEqual(['4014', '', 401])
    expect(requireRowBudget([list('a', 10), list('b', 5)], { own: 4, isPage: true }, { most: 60, spent: 0 })).toBe(60)
  })

  it('names the product exactly', () => {
    expect(() => requireRowBudget(deep(8), { own: 10_000, isPage: true }, { most: 5, spent: 0 })).toThrow(
      expect.objectContaining({
        cause: expect.objectContaining({
          cause: expect.objectContaining({ message: expect.stringContaining(`1${'0'.repeat(36)} items`) }),
        }),
      }),
    )
  })
})

function deep(levels: number): Selection {
  return levels === 0 ? [field] : [list('docs', 10_000, ...deep(levels - 1))]
}
