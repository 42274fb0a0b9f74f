/**
 * The history of items (docs/contract.md#history): triggers of a collection's table write each change to a table of the same
 * database, in the transaction of the change, for every writer. Values are stored in the form of answers, each with its field's
 * id, so that renames lose nothing and hidden fields can be omitted.
 */
import type { ColumnShape } from '../../model/model.ts'
import type { Dialect } from '../dialect.ts'
import type { RowQuery } from '../read/row-query.ts'
import { join, literal, type Sql, sql } from '../statement.ts'

/** The name of a table's trigger. */
export const HISTORY_TRIGGER = 'service_history'

/** Columns as members of a row, by the ids of their fields. */
export function recordedMembers<T extends ColumnShape & { readonly id: string }>(
  columns: readonly T[],
  of: (column: T) => Sql,
  dialect: Pick<Dialect, 'wire'>,
): RowQuery['members'] {
  return columns.map((column) => ({ name: column.id, value: dialect.wire(of(column), column) }))
}

/** The ids of a recorded entry's fields, as a list. */
export function idsOf(fields: readonly { readonly id: string }[]): Sql {
  return sql`array[${join(fields.map(({ id }) => sql`${literal(id)}::uuid`))}]::uuid[]`
}

/**
 * The id of an item in the history: a digest of its key, which may be long. It includes the ids of the key's fields, so that a
 * key of other fields never matches.
 */
export function itemOf<T extends ColumnShape & { readonly id: string }>(
  key: readonly T[],
  of: (column: T) => Sql,
  dialect: Pick<Dialect, 'wire' | 'tag'>,
): Sql {
  return sql`${dialect.tag(recordedMembers(key, of, dialect))}`
}
