/** Cursor pages of a connector that declares `after`: the query to send, and the cursors of the answer. */
import { bindText } from '../../core/connector/by-key.ts'
import type { QueryRequest } from '../../core/connector/protocol.ts'
import { type DeclaredCollection, pushOrder } from '../../core/connector/push-down.ts'
import type { PrimitiveField } from '../../core/model/model.ts'
import { wireValue } from '../../core/model/wire.ts'
import type { Order, Page, Walk } from '../../core/plan/plan.ts'
import { cursorHead, writeCursor } from '../../core/query/cursor.ts'
import type { Row } from '../../core/query/evaluate.ts'
import { queryFault } from '../../core/query/parse.ts'
import type { Bindings } from '../../core/query/placeholder.ts'

/** Returns the page with the values of its cursor bound. */
export function bindPage(page: Page | undefined, bindings: Bindings): Page | undefined {
  const { walk } = page ?? {}
  if (page === undefined || walk?.start === undefined) return page
  const start = walk.start.map((value) => (value === null ? null : bindText(value, bindings)))
  return { ...page, walk: { ...walk, start } }
}

/**
 * Sort, start and limit of a page; the limit is one row more than the page, to find out whether another page follows. Throws
 * 422, code 4010, if the connector does not declare `after`.
 */
export function pushWalk(
  declared: DeclaredCollection,
  { order, limit }: Page,
  walk: Walk,
): Pick<QueryRequest, 'sort' | 'after'> & { readonly limit: number } {
  const { collection, capabilities } = declared
  const { place, start, withCursors } = walk
  if (!capabilities.after) {
    throw queryFault(place, `is not known of ${collection.apiName}: its data source has no cursors`, '4010')
  }
  const terms = walk.direction === 'forward' ? order : order.map(reversed)
  const sort = pushOrder(declared, terms)
  if (sort?.length !== order.length) throw queryFault(place, 'cannot follow this sort in its data source', '4010')
  const after = start && Object.fromEntries(order.map(({ field }, at) => [field.dbName, valueAt(field, start[at])]))
  return { sort, ...(after && { after }), limit: withCursors ? limit + 1 : limit }
}

/** The fields whose values a cursor of the page contains. */
export function cursorFields(page: Page | undefined): readonly PrimitiveField[] {
  return page?.walk?.withCursors ? page.order.map(({ field }) => field) : []
}

export function cursorAt(order: readonly Order[], digest: string, row: Row): string {
  const values = order.map(({ field }) => JSON.stringify(wireValue(field, row(field))))
  return writeCursor(`${cursorHead(digest)}${values.join()}]`)
}

function reversed(term: Order): Order {
  return {
    ...term,
    direction: term.direction === 'asc' ? 'desc' : 'asc',
    nulls: term.nulls === 'first' ? 'last' : 'first',
  }
}

function valueAt(field: PrimitiveField, text: unknown): unknown {
  return typeof text === 'string' ? wireValue(field, text) : null
}
