/**
 * Plans a walk: a page that begins or ends at a cursor, or has the cursors of adjacent pages. Owns the rules on which lists
 * have cursors (docs/contract.md#keyset-pages).
 */
import { type Granted, visibility } from '../access/access.ts'
import type { Collection } from '../model/model.ts'
import { digestOf, notACursor, readCursor, readValue } from '../query/cursor.ts'
import { type CursorSent, type ListArguments, queryFault } from '../query/parse.ts'
import type { Operand } from '../query/placeholder.ts'
import type { Order, Walk } from './plan.ts'

/** Maximum number of sort fields for cursors. */
const MAX_SORTED = 8

export type PagedList = {
  readonly collection: Collection
  readonly access: Granted
  readonly order: readonly Order[]
  /** The prefix of the parameters' paths. */
  readonly path: string
}

/** Undefined for a list without cursors. */
export function planWalk(list: PagedList, { start, withCursors }: ListArguments): Walk | undefined {
  if (start === undefined && !withCursors) return undefined
  const { order, path } = list
  const place = start === undefined ? `${path}meta` : `${path}${start.side}`
  requireRepeatable(list, place)
  const digest = digestOf(orderText(list))
  const direction = start?.side === 'before' ? 'backward' : 'forward'
  if (start === undefined) return { digest, direction, withCursors, start: undefined, sentCursor: undefined, place }
  return { digest, direction, withCursors, place, ...startAt({ order, digest, place }, start.cursor) }
}

/**
 * Requires a key that the caller can read in every row: a cursor contains the key, and comparing a hidden field would reveal
 * it. A missing and a hidden key give the same error.
 */
function requireRepeatable({ collection, access, order, path }: PagedList, place: string): void {
  const { identity, isInherited } = collection
  const isKeySeen = identity.every((field) => visibility(access, field)?.kind === 'all')
  if (identity.length === 0 || isInherited || !isKeySeen) {
    throw queryFault(place, 'needs a key that tells rows apart and that you may read in every row', '4010')
  }
  if (order.some(({ field }) => field.type.name === 'json')) {
    throw queryFault(place, 'cannot follow a sort by JSON', '4010')
  }
  if (order.some(({ field }) => field.isList)) throw queryFault(place, 'cannot follow a key that is a list', '4010')
  if (order.filter(({ origin }) => origin === 'requested').length > MAX_SORTED) {
    throw queryFault(`${path}sort`, `names more than ${MAX_SORTED} fields, the most that a cursor holds`)
  }
}

function orderText({ collection, order }: PagedList): string {
  const terms = order.map(({ path, field, direction, nulls }) => [
    ...path.map(({ relation }) => relation.id),
    field.id,
    direction,
    nulls,
  ])
  return JSON.stringify([collection.id, ...terms])
}

type Ordered = { readonly order: readonly Order[]; readonly digest: string; readonly place: string }

function startAt(ordered: Ordered, { sent, template }: CursorSent): Pick<Walk, 'start' | 'sentCursor'> {
  const { order, digest, place } = ordered
  const isOpen = typeof sent === 'symbol'
  const cursor = isOpen ? template?.cursorOf(sent) : readCursor(sent)
  if (cursor === undefined) throw notACursor(place)
  if (cursor.digest !== digest) throw queryFault(place, 'is a cursor of another sort or of another list')
  if (cursor.values.length !== order.length) throw notACursor(place)
  const index = isOpen ? (template?.indexOf(sent) ?? 0) : 0
  const start = order.map((term, at): Operand | null => {
    if (cursor.values[at] === null) {
      if (!isNullable(term)) throw notACursor(place)
      return null
    }
    const { type } = term.field
    return isOpen ? { kind: 'cursorValue', index, at, type, path: place } : readValue(cursor, { type, at, path: place })
  })
  return { start, sentCursor: isOpen ? { kind: 'cursorText', index } : sent }
}

/** True if a term of an order may be null, also because its field or its row is hidden. */
export function isNullable({ field, visible, path }: Order): boolean {
  return field.isNullable || visible.kind !== 'all' || path.length > 0
}
