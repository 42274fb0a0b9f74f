/** The direction and cursor options of a walk's page, and the assembly of the page by the service. */
import type { Page } from '../../plan/plan.ts'
import { type Bindings, isPlaceholder } from '../../query/placeholder.ts'
import type { AnsweredWalk, Cursors } from './row-query.ts'

/** The data for assembling a page by the service, which some databases need; undefined for a page without cursors. */
export function answeredWalk(page: Page | undefined, bindings: Bindings): AnsweredWalk | undefined {
  if (page?.walk === undefined) return undefined
  const { limit, offset, walk } = page
  const { direction, withCursors, start, sentCursor } = walk
  const cursor =
    sentCursor !== undefined && isPlaceholder(sentCursor) ? (bindings(sentCursor) ?? undefined) : sentCursor
  return {
    direction,
    cursorOptions: withCursors ? { limit, isBehind: start !== undefined || offset > 0, sentCursor: cursor } : undefined,
  }
}

/** The page's rows in the order of the list, and its cursors. The rows of a backward walk come in reverse. */
export function walkPage<Row>(
  rows: readonly Row[],
  { direction, cursorOptions }: AnsweredWalk,
  cursorOf: (row: Row) => string,
): { readonly shown: readonly Row[]; readonly cursors?: Cursors } {
  const found = cursorOptions === undefined ? rows : rows.slice(0, cursorOptions.limit)
  const shown = direction === 'forward' ? found : found.toReversed()
  if (cursorOptions === undefined) return { shown }
  const [first, last] = [found[0], found.at(-1)]
  const onward = rows.length > cursorOptions.limit && last !== undefined ? cursorOf(last) : null
  const back = !cursorOptions.isBehind
    ? null
    : first === undefined
      ? (cursorOptions.sentCursor ?? null)
      : cursorOf(first)
  const [next, previous] = direction === 'forward' ? [onward, back] : [back, onward]
  return { shown, cursors: { next, previous } }
}
