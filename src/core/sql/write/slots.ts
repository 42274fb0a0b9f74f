/** The rows that the statements of one transaction hand on, and what such a statement inserts or writes. */
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
      /** Undefined for all of the rows. */
      readonly cut?: Cut | undefined
      /** `reference` locks only against deletion and key changes, so that others can refer to the rows concurrently. */
      readonly lock?: 'change' | 'reference'
    },
  ) => Iterable<Sql>
  /** Inserts rows and keeps them in the given order. */
  readonly keepInserted: (slot: number, insertion: Insertion) => Iterable<Sql>
  /** A column of the kept row at this place; null if there is none. */
  readonly value: (slot: number, place: KeptPlace, shape: ColumnShape) => Sql
  readonly isFilled: (slot: number) => Sql
  readonly isEmpty: (slot: number) => Sql
  /**
   * Fails with `marker` in its message if the slot has not `count` rows, unless the slot `provided` has none or the slot
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
  /** The rows of `table` whose key is kept, in the order of the slot, in as many portions as statements take. */
  readonly rows: (slot: number, keyed: Keyed) => readonly KeptRows[]
  /** A statement that fails with `marker` in its message if `condition` is not true. */
  readonly assertion: (condition: Sql, marker: string) => Sql
  /** Ends each `select` in a statement of `keep` or `assertion`, where it would read an old state otherwise. */
  readonly share: Sql
}

export type Keyed = {
  readonly table: Sql
  readonly alias: string
  /** The columns of the key, which are the first that are kept, or their new values where a write has changed them. */
  readonly key: readonly { readonly column: Sql; readonly shape: ColumnShape; readonly value: Sql | undefined }[]
  /** Whether it is the primary key of a table, so that an index has it. */
  readonly isPrimary: boolean
}

export type KeptRows = {
  /** As rows to write. */
  readonly targets: Targets
  /** As rows to read, of which `condition` holds: ` from … where …`. */
  readonly from: (condition: Sql | undefined) => Sql
  /** Whether a row is not there, or does not meet the condition; `lock` ends the query that looks. */
  readonly fails: (condition: Sql, lock: Sql) => Sql
  /** The terms of `order by`; undefined for a single row. */
  readonly order: Sql | undefined
}

/** The place of a row in its slot, and that of a column in the row. */
export type KeptPlace = { readonly row: number; readonly position: number }

export type KeptColumn = { readonly value: Sql; readonly shape: ColumnShape }

/** Rows to insert as cells; an undefined cell takes the column's default. */
export type Insertion = {
  readonly table: Sql
  /** The primary key. */
  readonly key: readonly PrimitiveField[]
  readonly fields: readonly PrimitiveField[]
  readonly rows: readonly (readonly (Sql | undefined)[])[]
  /** The same rows as a query, where a dialect has one. */
  readonly source?: Sql | undefined
  /** Nothing is inserted if this condition is not true. */
  readonly provided: Sql | undefined
  /** A row is left out if the table has one with the same values in these fields, which all rows have. */
  readonly unless: readonly PrimitiveField[] | undefined
  /** The columns that are kept of each row. */
  readonly kept: readonly PrimitiveField[]
}

/** The rows of `table` to write: those that meet `where`, which may compare them with the rows `among` of a slot in SQL. */
export type Targets = {
  readonly table: Sql
  readonly alias: string
  readonly among: Sql | undefined
  readonly where: Sql
  /** Whether `where` is the primary key of the table alone. */
  readonly isByPrimaryKey: boolean
}
