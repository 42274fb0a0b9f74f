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

/** A write to the table `name`, whatever its alias in the statement. */
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
  /** The altered value of a column; fails with `marker` in its message for a value that cannot take the change. */
  readonly altered: (column: Sql, alteration: Alteration, marker: string) => Sql
  /**
   * A comparison with a parameter text. Texts are equal only if identical, even if the column's collation treats more as equal;
   * they are ordered by the collation, then by bytes.
   */
  readonly compare: (column: Sql, field: PrimitiveField, how: Comparing) => Sql
  /**
   * Tests if `column` is one of `operands`. If the database allows, the statement has the same text for any number of operands,
   * except for a few, which may be separate parameters as long as `mayCount` allows it.
   */
  readonly isOneOf: (
    column: Sql,
    field: PrimitiveField,
    operands: readonly string[],
    mayCount: (operands: number) => boolean,
  ) => Sql
  readonly matches: (column: Sql, field: PrimitiveField, how: Matching) => Sql
  /** Tests which elements a list contains, and whether it is empty; a null list is unknown. */
  readonly elements: (column: Sql, field: PrimitiveField, how: Elements) => Sql
  readonly isEmpty: (column: Sql) => Sql
  /** Tests a JSON value; throws 422, code 4010, for tests that the database does not support. */
  readonly testJson: (column: Sql, test: JsonTest) => Sql
  /** A column in the form for comparing and ordering, if its native type is not that of its field. */
  readonly compared: (column: Sql, field: PrimitiveField) => Sql
  /** The end of a condition's query, which keeps the database from planning the query twice with all its parts. */
  readonly plannedOnce: Sql
  /** True if a query, which `lock` ends, finds no row. */
  readonly without: (found: Sql, lock: Sql) => Sql
  /** One term of `order by`; with `isNullable` false the position of nulls is omitted, so that an index can be used. */
  readonly ordered: (
    expression: Sql,
    how: { readonly direction: 'asc' | 'desc'; readonly nulls: 'first' | 'last'; readonly isNullable: boolean },
  ) => Sql
  /** The sort expression of a column in a walk, and in an expression. */
  readonly ranked: (column: Sql, field: PrimitiveField) => Sql
  /** The same as the JSON text in a cursor; `cursorValue` converts a cursor's value for comparing with `ranked`. */
  readonly mark: (column: Sql, field: PrimitiveField) => Sql
  readonly cursorValue: (field: PrimitiveField, value: TemplateParam) => Sql
  /** True if an index supports a row comparison such as `(a, b) > (1, 2)`. */
  readonly comparesRows: boolean
  /** True if no index supports an order with nulls last ascending, and first descending. */
  readonly splitsNulls: boolean
  /** Orders the rows of a table before those of inheriting tables; absent if the database has no inheritance. */
  readonly ownFirst?: (table: Sql, alias: string) => Sql

  /** The whole statement of a list; `total` is a scalar query that counts all matching rows. */
  readonly list: (rows: RowQuery, total: Sql | undefined) => Sql
  /**
   * The list in pieces, one per row: some items each, separated by commas. Undefined if the driver does not support it. Fails,
   * like every statement, if the whole answer is too large.
   */
  readonly pieces: ((rows: RowQuery) => Sql) | undefined
  /** Like `list`, within a transaction; all such lists of a transaction share one size limit. */
  readonly writtenList: (rows: RowQuery, total?: Sql) => Sql
  /** Like `writtenList`; without a row, the transaction fails with `marker` in its message. The last statement is the list. */
  readonly requiredList: (rows: RowQuery, marker: Marker) => readonly Sql[]
  readonly one: (rows: RowQuery) => Sql
  /**
   * Scalar expressions for a relation inside a row. A to-one relation may still find several rows: a view's declared key may
   * repeat, and InnoDB lets a foreign key refer to columns that are not unique.
   */
  readonly nestedOne: (rows: RowQuery) => Sql
  readonly nestedMany: (rows: RowQuery) => Sql
  readonly answerList: (rows: Rows, isCounted: boolean, walk?: AnsweredWalk) => ReadList
  readonly answerOne: (rows: Rows) => string | undefined
  /** Loaded on the first read with aggregates. */
  readonly aggregates: () => Promise<AggregateSyntax>
  /** Aggregates of a query's rows as the JSON text of an object; present once the dialect has loaded them. */
  readonly inList?: (aggregates: readonly Aggregate[], rows: AggregatedRows) => Sql

  /** The texts of many rows as a query, if that is faster than one parameter each; undefined if not supported. */
  readonly rowsOfTexts: (fields: readonly PrimitiveField[], rows: readonly (readonly SqlParam[])[]) => Sql | undefined
  /** How many new items may share a statement (decision 040). */
  readonly maxJoinedRows: number
  /** Ends `insert into table` for a row with defaults only. */
  readonly allDefaults: Sql
  readonly update: (targets: Targets, settings: readonly Setting[]) => Sql
  readonly delete: (targets: Targets) => Sql
  /**
   * A single statement that runs `write` and returns the list of its rows; with a marker, it fails without rows. Undefined if
   * the database does not support it.
   */
  readonly written: (
    write: DirectWrite,
    rendered: (from: Sql, alias: string) => RowQuery,
    marker: Marker | undefined,
  ) => Sql | undefined
  /**
   * Changes the row of a primary key, and fails if there is none; undefined if `written` does so, or the driver does not report
   * the number of rows found.
   */
  readonly updateOne: ((targets: Targets, settings: readonly Setting[], marker: Marker) => Sql) | undefined
  /**
   * Passes the writer to triggers: by a statement before the others, or within the write of a single operation. Absent if no
   * triggers record changes.
   */
  readonly actor?: { readonly setActor: Sql; readonly written: Dialect['written'] }
  /**
   * How one row is written or required if the driver confirms the answers before commit (`SqlDriver.confirms`): then neither
   * its size nor its absence fails the statement. Undefined if no driver does so.
   */
  readonly confirming?: Pick<Dialect, 'requiredList' | 'written'>
  /**
   * How a transaction is sent: as a whole, with intermediate results in settings of its session, or stepwise, each statement
   * after the previous answer, with intermediate results in our memory.
   */
  readonly transaction: 'whole' | 'stepwise'
  /** The slots of a new transaction; stepwise, they are in our memory. */
  readonly newSlots: () => Slots

  readonly writeQueue: WriteQueue

  /** Absent if every column can hold every text. */
  readonly columnTexts?: ColumnTexts

  /** Converts a database error to the caller's error; undefined if the request is not the cause. */
  readonly explain: (fault: SqlFault) => ServiceError | undefined
}

/** The text in the message of a failed transaction, and the failed operation of a batch if the text does not contain it. */
export type Marker = { readonly text: string; readonly operation: TemplateParam | undefined }

/** The character set of a column, and a query that converts texts to it: texts that change are not in the set. */
export type ColumnTexts = {
  readonly characterSet: (table: TableRef, column: string) => Sql
  readonly converted: (texts: readonly string[], characterSet: string) => Sql
}

/** The queue for retries of transactions that lost against others (decision 074). */
export type WriteQueue = {
  /** Begins a transaction; waits for those before it in the queue, but only briefly, since the order is not essential. */
  readonly take: Statement
  /** Ends the transaction. */
  readonly release: readonly Statement[]
  /** Begins a transaction outside of the queue, with a lock timeout. Undefined if deadlocks end at once. */
  readonly patience: Statement | undefined
  /** Converts a fault that persists in the queue, where no concurrent write is the cause. */
  readonly remaining?: (fault: SqlFault) => SqlFault
}

/** The alias of the rows, and a function that hides a value where it is not visible. */
export type AggregatedRows = { readonly alias: string; readonly shown: (value: Sql, visible: Filter) => Sql }

export type AggregateSyntax = {
  /** A column's values in the form for grouping: equal values have the same form. */
  readonly value: (column: Sql, field: PrimitiveField) => Sql
  /** Distinguishes values that are equal only for the database; undefined if the values themselves do. */
  readonly key: (value: Sql, field: PrimitiveField) => Sql | undefined
  /** The start of the year, month, … of a value: a date, or for hours and minutes a time without a zone. */
  readonly truncated: (column: Sql, field: PrimitiveField, truncation: Truncation) => Sql
  readonly call: (called: AggregateFunction, value: Sql, field: PrimitiveField) => Sql
  /** Ends the query that groups, if a condition on groups could otherwise be moved into it. */
  readonly end: Sql
  /** Members as the JSON text of an object. */
  readonly object: (members: RowQuery['members']) => Sql
  /** True if the database does not know a time zone by its name. */
  readonly lacksZone: (fault: SqlFault) => boolean
  /** The numbers whose sum may have overflowed; `averages`: decimals whose average exceeds a double. */
  readonly overflows: (fault: SqlFault) => 'doubles' | 'decimals' | 'averages' | undefined
  readonly estimate: EstimateSyntax
}

/** The planner's estimate of a number of rows, and the time limit of a count. */
export type EstimateSyntax = {
  /** The estimate for the rows of a query, or for the whole of `collection` if given; undefined if not supported. */
  readonly guess: (rows: Sql, collection: Collection | undefined) => Sql | undefined
  readonly read: (rows: Rows) => number | undefined
  /** Undefined if a statement can be canceled from outside without cost. */
  readonly limit: Sql | undefined
}
