import { describe, expect, it } from 'vitest'
import { ServiceError } from '../../../src/core/error.ts'
import { requireRowBudget } from '../../../src/core/plan/budget.ts'
import type { Selected, Selection } from '../../../src/core/plan/plan.ts'

/** Only what the budget looks at. */
const relation = (name: string, limit: number | undefined, ...selection: Selected[]): Selected =>
  ({ kind: 'relation', name, page: limit === undefined ? undefined : { limit }, selection }) as unknown as Selected
const field = { kind: 'field', name: 'title' } as unknown as Selected
const list = relation

function answerOf(selection: Selection, own: number, isPage = true): unknown {
  try {
    requireRowBudget(selection, { own, isPage, most: 1_000 })
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
    ['as many as there may be', [list('a', 50), list('b', 50)], 10, 'within'],
  ])('%s', (_name, selection, own, answer) => {
    expect(answerOf(selection, own)).toEqual(answer)
  })

  it('leaves alone how many rows are written where they bring no lists', () => {
    expect(answerOf([field], 5_000, false)).toBe('within')
    expect(answerOf([list('docs', 1)], 5_000, false)).toEqual(['4014', 'docs', 5_000])
  })

  it('names the product exactly', () => {
    expect(() => requireRowBudget(deep(8), { own: 10_000, isPage: true, most: 5 })).toThrow(
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
