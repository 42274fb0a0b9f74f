/** A page of a walk: what it was asked by, and the page where it is put together from its rows by the service. */
import type { Page } from '../../plan/plan.ts'
import { type Bindings, isPlaceholder } from '../../query/placeholder.ts'
import type { AnsweredWalk, Cursors } from './row-query.ts'

/** What the answer of some databases is put together with; undefined for a page without cursors. */
export function answeredWalk(page: Page | undefined, bindings: Bindings): AnsweredWalk | undefined {
  if (page?.walk === undefined) return undefined
  const { limit, offset, walk } = page
  const { direction, isTold, start, asked } = walk
  const cursor = asked !== undefined && isPlaceholder(asked) ? (bindings(asked) ?? undefined) : asked
  return {
    direction,
    told: isTold ? { limit, isBehind: start !== undefined || offset > 0, asked: cursor } : undefined,
  }
}

/** The rows that the page shows, in the order of the list, and the pages beside it. A backward walk has its rows in reverse. */
export function walkedPage<Row>(
  rows: readonly Row[],
  { direction, told }: AnsweredWalk,
  cursorOf: (row: Row) => string,
): { readonly shown: readonly Row[]; readonly cursors?: Cursors } {
  const found = told === undefined ? rows : rows.slice(0, told.limit)
  const shown = direction === 'forward' ? found : found.toReversed()
  if (told === undefined) return { shown }
  const [first, last] = [found[0], found.at(-1)]
  const onward = rows.length > told.limit && last !== undefined ? cursorOf(last) : null
  const back = !told.isBehind ? null : first === undefined ? (told.asked ?? null) : cursorOf(first)
  const [next, previous] = direction === 'forward' ? [onward, back] : [back, onward]
  return { shown, cursors: { next, previous } }
}
