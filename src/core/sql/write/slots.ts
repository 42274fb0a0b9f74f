/** The rows that statements of one transaction pass on, and the rows that such statements insert or write. */
import type { ColumnShape, PrimitiveField } from '../../model/model.ts'
import type { Cut } from '../../plan/plan.ts'
import type { Sql } from '../statement.ts'

/**
 * Rows that later statements of the same transaction use, kept by number: in the session of the database, or by us
 * (`Dialect.transaction`). A kept row has the columns that its statement named, identified by position.
 */
export type Slots = {
  /** Keeps the rows of each ` from … where …` in that order, locked against other writers. */
  readonly keep: (
    slot: number,
    rows: {
      readonly columns: readonly KeptColumn[]
      readonly from: readonly Sql[]
      /** Undefined for all rows. */
      readonly cut?: Cut | undefined
      /** `reference` locks only against deletion and key changes, so that others can refer to the rows concurrently. */
      readonly lock?: 'change' | 'reference'
    },
  ) => Iterable<Sql>
  /** Inserts rows and keeps them in the given order. */
  readonly keepInserted: (slot: number, insertion: Insertion) => Iterable<Sql>
  /** A column of the kept row at this index; null if there is none. */
  readonly value: (slot: number, place: KeptPlace, shape: ColumnShape) => Sql
  readonly isFilled: (slot: number) => Sql
  readonly isEmpty: (slot: number) => Sql
  /**
   * Fails with `marker` in its message if the slot does not have `count` rows, unless the slot `provided` has none or the slot
   * `absent` has one.
   */
  readonly found: (
    slot: number,
    requirement: {
      readonly count: number
      readonly provided: number | undefined
      readonly absent: number | undefined
      readonly marker: string
    },
  ) => Iterable<Sql>
  /** Fails with `marker` in its message if the slot has more than `most` rows. */
  readonly bounded: (slot: number, most: number, marker: string) => Iterable<Sql>
  /** The rows of `table` whose keys are kept, in the order of the slot, in portions that fit into a statement. */
  readonly rows: (slot: number, keyed: Keyed) => readonly KeptRows[]
  /** A statement that fails with `marker` in its message if `condition` is not true. */
  readonly assertion: (condition: Sql, marker: string) => Sql
  /** Ends each `select` in a statement of `keep` or `assertion`, if the `select` would otherwise read an old state. */
  readonly share: Sql
}

export type Keyed = {
  readonly table: Sql
  readonly alias: string
  /** The columns of the key, which are the first kept columns, or their new values if a write has changed them. */
  readonly key: readonly { readonly column: Sql; readonly shape: ColumnShape; readonly value: Sql | undefined }[]
  /** True for the primary key of a table, which has an index. */
  readonly isPrimary: boolean
}

export type KeptRows = {
  /** The rows for a write. */
  readonly targets: Targets
  /** The rows for a read, with `condition`: ` from … where …`. */
  readonly from: (condition: Sql | undefined) => Sql
  /** True if a row is missing, or does not meet the condition; `lock` ends the query. */
  readonly fails: (condition: Sql, lock: Sql) => Sql
  /** The terms of `order by`; undefined for a single row. */
  readonly order: Sql | undefined
}

/** The index of a row in its slot, and of a column in the row. */
export type KeptPlace = { readonly row: number; readonly position: number }

export type KeptColumn = { readonly value: Sql; readonly shape: ColumnShape }

/** Rows to insert as cells; an undefined cell takes the column's default. */
export type Insertion = {
  readonly table: Sql
  /** The primary key. */
  readonly key: readonly PrimitiveField[]
  readonly fields: readonly PrimitiveField[]
  readonly rows: readonly (readonly (Sql | undefined)[])[]
  /** The same rows as a query, if the dialect supports it. */
  readonly source?: Sql | undefined
  /** Nothing is inserted if this condition is not true. */
  readonly provided: Sql | undefined
  /** A row is skipped if the table has one with the same values in these fields, which all rows have. */
  readonly unless: readonly PrimitiveField[] | undefined
  /** The columns to keep of each row. */
  readonly kept: readonly PrimitiveField[]
}

/** The rows of `table` to write: those that meet `where`, which may compare them with the rows `among` of a slot in SQL. */
export type Targets = {
  readonly table: Sql
  readonly alias: string
  readonly among: Sql | undefined
  readonly where: Sql
  /** True if `where` is exactly the primary key of the table. */
  readonly isByPrimaryKey: boolean
}
