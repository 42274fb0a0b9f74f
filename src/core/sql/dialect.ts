/**
 * The differences between databases, as values and functions. Compilers call these and never check a dialect's name. A
 * dialect renders rows as JSON texts; `answerList` and `answerOne` read the results of its statements.
 */
import type { ServiceError } from '../error.ts'
import type { Collection, ColumnShape, PrimitiveField } from '../model/model.ts'
import type { AggregateFunction } from '../model/vocabulary.ts'
import type { Aggregate, Alteration, Truncation } from '../plan/plan.ts'
import type { Comparison, Filter, JsonTest } from '../query/filter.ts'
import type { Operand } from '../query/placeholder.ts'
import type { TableRef } from './ddl/change.ts'
import type { DdlDialect } from './ddl/dialect.ts'
import type { SqlFault } from './fault.ts'
import type { AnsweredWalk, ReadList, RowQuery } from './read/row-query.ts'
import type { Sql, SqlParam, Statement, TemplateParam } from './statement.ts'
import type { Insertion, Slots, Targets } from './write/slots.ts'

export type Rows = readonly (readonly SqlParam[])[]

export type Setting = { readonly column: string; readonly value: Sql }

/** A write of rows of the table `name`, whatever its alias in the statement. */
export type DirectWrite =
  | { readonly kind: 'insert'; readonly name: string; readonly insertion: Insertion }
  | {
      readonly kind: 'update'
      readonly name: string
      readonly targets: (alias: string) => Targets
      readonly settings: readonly Setting[]
    }
  | { readonly kind: 'delete'; readonly name: string; readonly targets: (alias: string) => Targets }

export type Comparing = { readonly operator: Comparison; readonly operand: Operand }
export type Matching = { readonly pattern: string; readonly ignoreCase: boolean }

export type Elements = Pick<Extract<Filter, { readonly kind: 'elements' }>, 'quantity' | 'operands'>

export type Dialect = DdlDialect & {
  /** A parameter text converted to the column's type. */
  readonly typed: (shape: ColumnShape, value: TemplateParam) => Sql
  /** What becomes of a column's value; fails with `marker` in its message for one that cannot take it. */
  readonly altered: (column: Sql, alteration: Alteration, marker: string) => Sql
  /**
   * A comparison with a parameter text. Texts are equal only if identical, even if the column's collation treats more
   * as equal; they are ordered by the collation, then by bytes.
   */
  readonly compare: (column: Sql, field: PrimitiveField, how: Comparing) => Sql
  /**
   * Tests if `column` is one of `operands`; where the database allows, the text is the same for any number of operands, but
   * for a few, where `mayCount` allows them to stand in it one by one.
   */
  readonly isOneOf: (
    column: Sql,
    field: PrimitiveField,
    operands: readonly string[],
    mayCount: (operands: number) => boolean,
  ) => Sql
  readonly matches: (column: Sql, field: PrimitiveField, how: Matching) => Sql
  /** Tests which elements a list has, and whether it has none; a null list is unknown. */
  readonly elements: (column: Sql, field: PrimitiveField, how: Elements) => Sql
  readonly isEmpty: (column: Sql) => Sql
  /** Tests a JSON value; throws 422, code 4010, for what the database cannot. */
  readonly testJson: (column: Sql, test: JsonTest) => Sql
  /** A column as compared and ordered, where its type in the database is not that of its field. */
  readonly compared: (column: Sql, field: PrimitiveField) => Sql
  /** The end of a query of a condition that keeps the database from planning it in two ways, each with all that is in it. */
  readonly plannedOnce: Sql
  /** Whether a query, which `lock` ends, finds no row. */
  readonly without: (found: Sql, lock: Sql) => Sql
  /**
   * One term of `order by`; with `isNullable` false the position of nulls is left out, so that an index can be used.
   */
  readonly ordered: (
    expression: Sql,
    how: { readonly direction: 'asc' | 'desc'; readonly nulls: 'first' | 'last'; readonly isNullable: boolean },
  ) => Sql
  /** What a column is sorted by in a walk, and in what is no bare column. */
  readonly ranked: (column: Sql, field: PrimitiveField) => Sql
  /** The same as the text of a JSON value, as a cursor holds it, and a cursor's value as it is compared with that. */
  readonly mark: (column: Sql, field: PrimitiveField) => Sql
  readonly cursorValue: (field: PrimitiveField, value: TemplateParam) => Sql
  /** Whether an index serves a comparison of rows, `(a, b) > (1, 2)`. */
  readonly comparesRows: boolean
  /** True if no index can serve an order that has nulls last ascending, and first descending. */
  readonly splitsNulls: boolean
  /** Orders the rows of a table before those of tables that inherit from it; absent where none do. */
  readonly ownFirst?: (table: Sql, alias: string) => Sql

  /** The whole statement of a list; `total` is a scalar query that counts all matching rows. */
  readonly list: (rows: RowQuery, total: Sql | undefined) => Sql
  /**
   * The list in pieces, one per row: some items each, separated by commas. Undefined where a driver cannot use that.
   * Fails, like every statement, if the whole answer is too large.
   */
  readonly pieces: ((rows: RowQuery) => Sql) | undefined
  /** A list that a transaction answers, as `list`; all of them have one bound together. */
  readonly writtenList: (rows: RowQuery, total?: Sql) => Sql
  /** The same, where a transaction without such a row fails with `marker` in its message; the last one is the list. */
  readonly requiredList: (rows: RowQuery, marker: Marker) => readonly Sql[]
  readonly one: (rows: RowQuery) => Sql
  /**
   * Scalar expressions for a relation inside a row. Of one item there may still be several rows: a view does not hold
   * the key that is declared of it, InnoDB lets a foreign key refer to columns that repeat.
   */
  readonly nestedOne: (rows: RowQuery) => Sql
  readonly nestedMany: (rows: RowQuery) => Sql
  readonly answerList: (rows: Rows, isCounted: boolean, walk?: AnsweredWalk) => ReadList
  readonly answerOne: (rows: Rows) => string | undefined
  /** Loaded by the first read that has aggregates. */
  readonly aggregates: () => Promise<AggregateSyntax>
  /** Aggregates of the rows of a query as the JSON text of an object; of a dialect that has loaded them. */
  readonly inList?: (aggregates: readonly Aggregate[], rows: AggregatedRows) => Sql

  /** Texts of many rows as a query, where that is faster than a parameter for each; undefined where it cannot be had. */
  readonly rowsOfTexts: (fields: readonly PrimitiveField[], rows: readonly (readonly SqlParam[])[]) => Sql | undefined
  /** How many new items may share a statement (decision 040). */
  readonly maxJoinedRows: number
  /** Ends `insert into table` for a row with defaults only. */
  readonly allDefaults: Sql
  readonly update: (targets: Targets, settings: readonly Setting[]) => Sql
  readonly delete: (targets: Targets) => Sql
  /**
   * A single statement that runs `write` and returns the list of its rows, and fails without any where there is a marker;
   * undefined where the database cannot.
   */
  readonly written: (
    write: DirectWrite,
    rendered: (from: Sql, alias: string) => RowQuery,
    marker: Marker | undefined,
  ) => Sql | undefined
  /**
   * Changes the one row of a primary key, and fails without it; undefined where a change itself does so (`written`), or
   * where its driver does not tell how many rows it has found.
   */
  readonly updateOne: ((targets: Targets, settings: readonly Setting[], marker: Marker) => Sql) | undefined
  /** How triggers learn who writes: by a statement before the others, or by the write of an operation that is alone. Absent where none records anything. */
  readonly actor?: { readonly setActor: Sql; readonly written: Dialect['written'] }
  /**
   * How one row is written or required where its driver confirms the answers before it commits (`SqlDriver.confirms`): neither its
   * size nor its lack fails the statement. Undefined where there is no such driver.
   */
  readonly confirming?: Pick<Dialect, 'requiredList' | 'written'>
  /**
   * How a transaction is sent: as a whole, so that its statements hand on what they find in settings of its session, or
   * each statement when the one before was answered, so that we hand it on.
   */
  readonly transaction: 'whole' | 'stepwise'
  /** Those of a new transaction: where it goes stepwise, they are in our memory. */
  readonly newSlots: () => Slots

  readonly writeQueue: WriteQueue

  /** Absent where every column holds every text. */
  readonly columnTexts?: ColumnTexts

  /** Converts a database error to the caller's error; undefined where the request is not the cause. */
  readonly explain: (fault: SqlFault) => ServiceError | undefined
}

/** What the message of a failed transaction holds; the operation of a batch that failed, where it is not in the text. */
export type Marker = { readonly text: string; readonly operation: TemplateParam | undefined }

/** The character set of a column, and a row with what it makes of texts: a text that differs is none of it. */
export type ColumnTexts = {
  readonly characterSet: (table: TableRef, column: string) => Sql
  readonly converted: (texts: readonly string[], characterSet: string) => Sql
}

/** The line in which transactions wait that were ended in favour of others (decision 074). */
export type WriteQueue = {
  /** Begins a transaction: waits for those ahead in the line, but not for long, since none of them has to be first. */
  readonly take: Statement
  /** Ends it. */
  readonly release: readonly Statement[]
  /** Begins a transaction outside of the line: what waits longer for others is ended. Undefined where deadlocks end at once. */
  readonly patience: Statement | undefined
  /** What a fault means that remains in the line, where nobody is in the way. */
  readonly remaining?: (fault: SqlFault) => SqlFault
}

/** The alias of the rows, and a value of theirs as far as it is visible. */
export type AggregatedRows = { readonly alias: string; readonly shown: (value: Sql, visible: Filter) => Sql }

export type AggregateSyntax = {
  /** A column's values as they are grouped and told apart: what is equal has one form. */
  readonly value: (column: Sql, field: PrimitiveField) => Sql
  /** What tells values apart that are equal to the database only; undefined where the values themselves do. */
  readonly key: (value: Sql, field: PrimitiveField) => Sql | undefined
  /** The beginning of the year, month, … that a value is in: a date, or for hours and minutes a time without a zone. */
  readonly truncated: (column: Sql, field: PrimitiveField, truncation: Truncation) => Sql
  readonly call: (called: AggregateFunction, value: Sql, field: PrimitiveField) => Sql
  /** Ends the query that groups, where a condition on groups could otherwise get into it. */
  readonly end: Sql
  /** Members as the JSON text of an object. */
  readonly object: (members: RowQuery['members']) => Sql
  /** Whether the database does not know a time zone by its name. */
  readonly lacksZone: (fault: SqlFault) => boolean
  /** The numbers that may have been summed up to more than one of them holds; `averages`: decimals to more than a double holds. */
  readonly overflows: (fault: SqlFault) => 'doubles' | 'decimals' | 'averages' | undefined
  readonly estimate: EstimateSyntax
}

/** What a planner makes of the number of rows, and what ends a count that takes longer than a moment. */
export type EstimateSyntax = {
  /** Of the rows of a query, which are all of `collection` where that is given; undefined where it cannot tell. */
  readonly guess: (rows: Sql, collection: Collection | undefined) => Sql | undefined
  readonly read: (rows: Rows) => number | undefined
  /** Undefined where a statement can be ended from outside at no cost. */
  readonly limit: Sql | undefined
}
