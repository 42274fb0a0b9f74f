/** Rows as a dialect renders them: the query for a list, and the answer of a list. */
import type { Sql } from '../statement.ts'

/** Rows to render: their members, their source and their filter. */
export type RowQuery = {
  /** The table in `from` and in `members`, and which of its columns `members` name: what a row needs to be rendered. */
  readonly row: { readonly alias: string; readonly columns: readonly string[] }
  /** Whether an index has the rows in their order, as far as the model knows. */
  readonly isIndexed: boolean
  /**
   * Where a page is better chosen by keys, whose rows are then looked up: the table, the columns of its key, and the
   * condition of the rows. They are looked up by it, too: since the last import the key may have been dropped, or another
   * table may inherit from this one, and then a row that may not be read can have the key of one that may.
   */
  readonly keyed?: { readonly table: Sql; readonly key: readonly string[]; readonly condition: Sql | undefined }
  readonly members: readonly { readonly name: string; readonly value: Sql }[]
  /** The place of a row in its order, as the JSON text of a cursor, where the list answers cursors. */
  readonly mark?: Sql
  /** ` from … where …` */
  readonly from: Sql
  /** The terms of `order by`. */
  readonly order: Sql | undefined
  readonly page: { readonly limit: number; readonly offset: number } | undefined
  /** Ends a `select` of rows inside of another row, where it would read an old state otherwise. */
  readonly lock?: Sql
  /** The same rows one part after the other, each in an order that an index serves, where that of all has none. */
  readonly parts?: readonly RowsPart[]
  readonly walk?: RowWalk
  /** What a list has beside its rows: the JSON text of `aggregate`. */
  readonly aggregate?: Sql
}

/** A page of a walk. The rows of one that goes backward come in reverse. */
export type RowWalk = {
  readonly direction: 'forward' | 'backward'
  /** What the cursors of the pages beside this one are made of; `page` then has one row more than the limit. */
  readonly cursorOptions:
    | {
        readonly limit: number
        /** Whether there may be rows on the side that the page comes from. */
        readonly isBehind: boolean
        /** The text of the cursor that the page comes from. */
        readonly sentCursor: Sql | undefined
      }
    | undefined
}

/** The pages beside a page; null where there is none. */
export type Cursors = { readonly next: string | null; readonly previous: string | null }

export type ReadList = { readonly data: string; readonly total: number | undefined; readonly cursors?: Cursors }

/** The direction and cursor options of a walk whose page the service puts together. */
export type AnsweredWalk = {
  readonly direction: 'forward' | 'backward'
  readonly cursorOptions:
    | { readonly limit: number; readonly isBehind: boolean; readonly sentCursor: string | undefined }
    | undefined
}

export type RowsPart = { readonly from: Sql; readonly order: Sql | undefined }
