/** The item of a list that is read or written by key. */
import { nested } from '../../core/error.ts'
import { elementsOf } from '../../core/json-cut.ts'

/**
 * Returns the first item, since neither a declared key of a view nor a key that PostgreSQL inherits keeps rows from
 * repeating. Throws 404 where there is none.
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
