/** The item of a list that is read or written by key. */
import { nested } from '../../core/error.ts'
import { elementsOf } from '../../core/json-cut.ts'

/**
 * Returns the first item: rows may repeat a key that is declared for a view or inherited in PostgreSQL. Throws 404 for an empty
 * list.
 */
export function onlyItem(list: string): string {
  if (list === '[]') return noRecord()
  const [first] = list.includes('},{') ? elementsOf(list) : []
  return first ?? list.slice(1, -1)
}

/** Throws 404: the item does not exist, or not for this caller. */
export function noRecord(): never {
  throw nested('notFound', ['Query failed', 'No record found'])
}
