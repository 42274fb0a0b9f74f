/** A page of a walk, where it is put together from its rows: by the service, instead of the database. */
import type { AnsweredWalk, Cursors } from './row-query.ts'

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
