/** The query for a list as dialects render it, and the list's answer. */
import type { Sql } from '../statement.ts'

/** Rows to render: their members, their source and their filter. */
export type RowQuery = {
  /** The table's alias in `from` and in `members`, and the columns that `members` use. */
  readonly row: { readonly alias: string; readonly columns: readonly string[] }
  /** True if an index has the rows in their order, according to the model. */
  readonly isIndexed: boolean
  /**
   * Set if a page is better selected by keys, with its rows looked up afterwards: the table, the key's columns, and the
   * condition of the rows. The look-up repeats the condition: since the last import the key may have been dropped, or another
   * table may inherit from this one, so a hidden row may have the key of a visible row.
   */
  readonly keyed?: { readonly table: Sql; readonly key: readonly string[]; readonly condition: Sql | undefined }
  readonly members: readonly { readonly name: string; readonly value: Sql }[]
  /** The row's position in its order, as the JSON text of a cursor, if the list has cursors. */
  readonly mark?: Sql
  /** ` from … where …` */
  readonly from: Sql
  /** The terms of `order by`. */
  readonly order: Sql | undefined
  readonly page: { readonly limit: number; readonly offset: number } | undefined
  /** Ends a `select` of rows inside of another row, if the `select` would otherwise read an old state. */
  readonly lock?: Sql
  /** The same rows in consecutive parts, each in an order that an index serves, if no index serves the whole. */
  readonly parts?: readonly RowsPart[]
  readonly walk?: RowWalk
  /** The JSON text of `aggregate` beside a list's rows. */
  readonly aggregate?: Sql
}

/** A page of a walk. The rows of a backward walk are in reverse order. */
export type RowWalk = {
  readonly direction: 'forward' | 'backward'
  /** The data for the cursors of the adjacent pages; `page` then has one row more than the limit. */
  readonly cursorOptions:
    | {
        readonly limit: number
        /** True if there may be rows on the side of the sent cursor. */
        readonly isBehind: boolean
        /** The text of the sent cursor. */
        readonly sentCursor: Sql | undefined
      }
    | undefined
}

/** The cursors of the adjacent pages; null if there is no such page. */
export type Cursors = { readonly next: string | null; readonly previous: string | null }

export type ReadList = { readonly data: string; readonly total: number | undefined; readonly cursors?: Cursors }

/** The direction and cursor options of a walk whose page the service assembles. */
export type AnsweredWalk = {
  readonly direction: 'forward' | 'backward'
  readonly cursorOptions:
    | { readonly limit: number; readonly isBehind: boolean; readonly sentCursor: string | undefined }
    | undefined
}

export type RowsPart = { readonly from: Sql; readonly order: Sql | undefined }
