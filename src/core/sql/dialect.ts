/**
 * The differences between databases, as values and functions. Compilers call these and never check a dialect's name. A
 * dialect renders rows as JSON texts; `answerList` and `answerOne` read the results of its statements.
 */
import type { ServiceError } from '../error.ts'
import type { FieldType } from '../model/field-type.ts'
import type { ColumnShape, PrimitiveField, ReferentialAction } from '../model/model.ts'
import type { Comparison } from '../query/filter.ts'
import type { Operand } from '../query/placeholder.ts'
import type { Change } from './change.ts'
import type { SqlFault } from './fault.ts'
import type { Sql, SqlParam, SqlSyntax, Statement, TemplateParam } from './statement.ts'

/** Rows to render: their members, their source and their filter. */
export type RowQuery = {
  readonly members: readonly { readonly name: string; readonly value: Sql }[]
  /** ` from … where …` */
  readonly from: Sql
  /** The terms of `order by`. */
  readonly order: Sql | undefined
  readonly page: { readonly limit: number; readonly offset: number } | undefined
  /** The same rows one part after the other, each in an order that an index serves, where that of all has none. */
  readonly parts?: readonly RowsPart[]
}

export type RowsPart = { readonly from: Sql; readonly order: Sql | undefined }

export type Rows = readonly (readonly SqlParam[])[]

/**
 * Rows that later statements of the same transaction use, kept in the session by number. A kept row has the columns
 * that its statement named, identified by position.
 */
export type Slots = {
  /** Keeps the rows of ` from … where …` in that order, locked against other writers. */
  readonly keep: (
    slot: number,
    rows: {
      readonly columns: readonly KeptColumn[]
      readonly from: Sql
      /** `reference` locks only against deletion and key changes, so that others can refer to the rows concurrently. */
      readonly lock?: 'change' | 'reference'
    },
  ) => readonly Sql[]
  /** Inserts rows and keeps them in the given order. */
  readonly keepInserted: (slot: number, insertion: Insertion) => readonly Sql[]
  /** A column of the first kept row; null if there is none. */
  readonly value: (slot: number, position: number, shape: ColumnShape) => Sql
  readonly isFilled: (slot: number) => Sql
  /** All kept rows as a table with the columns `c0`, `c1`, … and `n`, their position. */
  readonly rows: (slot: number, shapes: readonly ColumnShape[]) => Sql
  /** A statement that fails with `marker` in its message if `condition` is not true. */
  readonly assertion: (condition: Sql, marker: string) => Sql
}

export type KeptColumn = { readonly value: Sql; readonly shape: ColumnShape }

/** Rows to insert as cells; an undefined cell takes the column's default. */
export type Insertion = {
  readonly table: Sql
  /** The primary key. */
  readonly key: readonly PrimitiveField[]
  readonly fields: readonly PrimitiveField[]
  readonly rows: readonly (readonly (Sql | undefined)[])[]
  /** Nothing is inserted if this condition is not true. */
  readonly provided: Sql | undefined
  /** The columns that are kept of each row. */
  readonly kept: readonly PrimitiveField[]
}

/** The rows of `table` to write: those that meet `where`, which may compare them with the rows `among`. */
export type Targets = {
  readonly table: Sql
  readonly alias: string
  readonly among: Sql | undefined
  readonly where: Sql
}

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

export type Dialect = SqlSyntax & {
  /** Name of the database in messages. */
  readonly title: string

  /** A parameter text converted to the column's type. */
  readonly typed: (shape: ColumnShape, value: TemplateParam) => Sql
  /** Like `typed`, for an assignment, where some databases infer the type from the column. */
  readonly assigned: (shape: ColumnShape, value: TemplateParam) => Sql
  /**
   * A comparison with a parameter text. Texts are equal only if identical, even if the column's collation treats more
   * as equal; they are ordered by the collation, then by bytes.
   */
  readonly compare: (column: Sql, field: PrimitiveField, how: Comparing) => Sql
  /**
   * Tests if `column` is one of `operands`; where the database allows, the text is the same for any number of operands.
   */
  readonly isOneOf: (column: Sql, field: PrimitiveField, operands: readonly string[]) => Sql
  readonly matches: (column: Sql, field: PrimitiveField, how: Matching) => Sql
  /** A column as compared and ordered, where its type in the database is not that of its field. */
  readonly compared: (column: Sql, field: PrimitiveField) => Sql
  /**
   * One term of `order by`; with `isNullable` false the position of nulls is left out, so that an index can be used.
   */
  readonly ordered: (
    expression: Sql,
    how: { readonly direction: 'asc' | 'desc'; readonly nulls: 'first' | 'last'; readonly isNullable: boolean },
  ) => Sql
  /** True if no index can serve an order that has nulls last ascending, and first descending. */
  readonly splitsNulls: boolean
  /** A column in the form in which answers render it. */
  readonly wire: (column: Sql, shape: ColumnShape) => Sql

  /** The whole statement of a list; `total` is a scalar query that counts all matching rows. */
  readonly list: (rows: RowQuery, total: Sql | undefined) => Sql
  /**
   * The list in pieces, one per row: some items each, separated by commas. Undefined where a driver cannot use that.
   * Fails, like every statement, if the whole answer is too large.
   */
  readonly pieces: ((rows: RowQuery) => Sql) | undefined
  /** The list of rows that a write answers; those of a transaction have one bound together. */
  readonly writtenList: (rows: RowQuery) => Sql
  readonly one: (rows: RowQuery) => Sql
  /** Scalar expressions for a relation inside a row. */
  readonly nestedOne: (rows: RowQuery) => Sql
  readonly nestedMany: (rows: RowQuery) => Sql
  readonly answerList: (rows: Rows, isCounted: boolean) => { readonly data: string; readonly total: number | undefined }
  readonly answerOne: (rows: Rows) => string | undefined

  /** Ends `insert into table` for a row with defaults only. */
  readonly allDefaults: Sql
  readonly update: (targets: Targets, settings: readonly Setting[]) => Sql
  readonly delete: (targets: Targets) => Sql
  /** A single statement that runs `write` and returns the list of its rows; undefined where the database cannot. */
  readonly written: (write: DirectWrite, rendered: (from: Sql, alias: string) => RowQuery) => Sql | undefined
  readonly slots: Slots

  /** The column type for a definition; undefined where this database cannot store the type. */
  readonly columnType: (type: FieldType, isList: boolean) => Sql | undefined
  readonly ddl: Ddl
  /** Converts a database error to the caller's error; undefined where the request is not the cause. */
  readonly explain: (fault: SqlFault) => ServiceError | undefined
}

export type ChangeOf<Kind extends Change['kind']> = Extract<Change, { readonly kind: Kind }>

type Statements = readonly Sql[]

/**
 * The lock for changing or reading the schema of a database: a crashed process may have left a running statement, for
 * which the next one must wait.
 */
export type SchemaLock = {
  /** Starts a batch; fails after waiting too long. */
  readonly take: Statement
  /** Ends the batch. */
  readonly release: readonly Statement[]
  /** True if a failed batch leaves no schema change behind. */
  readonly isTransaction: boolean
}

export type Ddl = {
  readonly lock: SchemaLock
  /** Returns true if a key or an index may contain the type. */
  readonly isIndexable: (type: FieldType) => boolean
  readonly referentialActions: ReadonlySet<ReferentialAction>

  /** Follows the type of an auto-increment column. */
  readonly autoincrement: Sql
  /** Additional lines of a table, for auto-increment columns. */
  readonly extraKeys: (change: ChangeOf<'createTable'>) => Statements
  /** Ends `create table`. */
  readonly tableOptions: Sql
  readonly dropSchema: (change: ChangeOf<'dropSchema'>, dialect: Dialect) => Statements
  readonly renameTable: (change: ChangeOf<'renameTable'>) => Statements
  readonly addColumn: (change: ChangeOf<'addColumn'>, dialect: Dialect) => Statements
  readonly changeColumnType: (change: ChangeOf<'changeColumnType'>, dialect: Dialect) => Statements
  readonly setNullable: (change: ChangeOf<'setNullable'>, dialect: Dialect) => Statements
  readonly setDefault: (change: ChangeOf<'setDefault'>, dialect: Dialect) => Statements
  readonly takeCollation: (change: ChangeOf<'takeCollation'>, dialect: Dialect) => Statements
  readonly dropIndex: (change: ChangeOf<'dropIndex'>) => Statements
  readonly dropForeignKey: (change: ChangeOf<'dropForeignKey'>, dialect: Dialect) => Statements
}
