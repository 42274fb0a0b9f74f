/**
 * The history of items (docs/contract.md#history): triggers of a collection's table write each change into a table of the same
 * database, in the transaction of the change and whoever makes it. Values are kept as answers render them, each beside the
 * id of its field, so that new names lose nothing, and what is hidden is left out where it is.
 */
import type { ColumnShape } from '../../model/model.ts'
import type { Dialect } from '../dialect.ts'
import type { RowQuery } from '../read/row-query.ts'
import { join, literal, type Sql, sql } from '../statement.ts'

/** The name of the trigger of a table. */
export const HISTORY_TRIGGER = 'service_history'

/** Columns as members of a row, by the ids of their fields. */
export function recordedMembers<T extends ColumnShape & { readonly id: string }>(
  columns: readonly T[],
  of: (column: T) => Sql,
  dialect: Pick<Dialect, 'wire'>,
): RowQuery['members'] {
  return columns.map((column) => ({ name: column.id, value: dialect.wire(of(column), column) }))
}

/** Ids as the list that an entry has of the fields that it is about. */
export function idsOf(fields: readonly { readonly id: string }[]): Sql {
  return sql`array[${join(fields.map(({ id }) => sql`${literal(id)}::uuid`))}]::uuid[]`
}

/**
 * What an item is known by: a digest of its key, which may be long. The ids of the fields are in it, so that no item is known
 * by what was the key of another one.
 */
export function itemOf<T extends ColumnShape & { readonly id: string }>(
  key: readonly T[],
  of: (column: T) => Sql,
  dialect: Pick<Dialect, 'wire' | 'tag'>,
): Sql {
  return sql`${dialect.tag(recordedMembers(key, of, dialect))}`
}
