/**
 * What differs between databases, as values and functions. Compilers call these and never ask for a dialect's name.
 * A dialect renders rows as JSON texts; `answerList` and `answerOne` read what its statements bring back.
 */
import type { ServiceError } from '../error.ts'
import type { FieldType } from '../model/field-type.ts'
import type { PrimitiveField, ReferentialAction } from '../model/model.ts'
import type { Comparison } from '../query/filter.ts'
import type { Change } from './change.ts'
import type { SqlFault } from './fault.ts'
import type { Sql, SqlParam, SqlSyntax, Statement } from './statement.ts'

/** Rows still to be rendered: their members, where they come from, and which of them. */
export type RowQuery = {
  readonly members: readonly { readonly name: string; readonly value: Sql }[]
  /** ` from … where …` */
  readonly from: Sql
  /** What follows `order by`. */
  readonly order: Sql | undefined
  readonly page: { readonly limit: number; readonly offset: number } | undefined
}

export type Rows = readonly (readonly SqlParam[])[]

/**
 * Rows that later statements of the same transaction build on, kept by number in the session. A kept row holds the
 * columns that its statement named, and is read by their position.
 */
export type Slots = {
  /** Keeps the rows ` from … where …` has, locked against other writers, in that order. */
  readonly keep: (
    slot: number,
    rows: {
      readonly columns: readonly KeptColumn[]
      readonly from: Sql
      /** Rows that are only referred to need not be locked against those who refer to them as well. */
      readonly lock?: 'change' | 'reference'
    },
  ) => readonly Sql[]
  /** Inserts rows and keeps them in the order given. */
  readonly keepInserted: (slot: number, insertion: Insertion) => readonly Sql[]
  /** A column of the first kept row; null where there is none. */
  readonly value: (slot: number, position: number, type: FieldType) => Sql
  readonly isFilled: (slot: number) => Sql
  /** All kept rows as a table: columns `c0`, `c1`, … and `n`, their place. */
  readonly rows: (slot: number, types: readonly FieldType[]) => Sql
  /** A statement that fails with `marker` in its message where `condition` does not hold. */
  readonly assertion: (condition: Sql, marker: string) => Sql
}

export type KeptColumn = { readonly value: Sql; readonly type: FieldType }

/** Rows to insert, cell by cell; an undefined cell takes the column's default. */
export type Insertion = {
  readonly table: Sql
  /** The primary key. */
  readonly key: readonly PrimitiveField[]
  readonly fields: readonly PrimitiveField[]
  readonly rows: readonly (readonly (Sql | undefined)[])[]
  /** Nothing is inserted where this does not hold. */
  readonly provided: Sql | undefined
  /** What is kept of each row. */
  readonly kept: readonly PrimitiveField[]
}

/** The rows of `table` that a write is for: those where `where` holds, which may compare them with rows `among`. */
export type Targets = {
  readonly table: Sql
  readonly alias: string
  readonly among: Sql | undefined
  readonly where: Sql
}

export type Setting = { readonly column: string; readonly value: Sql }

/** A write of rows of the table `name`, whatever those are called in the statement. */
export type DirectWrite =
  | { readonly kind: 'insert'; readonly name: string; readonly insertion: Insertion }
  | {
      readonly kind: 'update'
      readonly name: string
      readonly targets: (alias: string) => Targets
      readonly settings: readonly Setting[]
    }
  | { readonly kind: 'delete'; readonly name: string; readonly targets: (alias: string) => Targets }

export type Comparing = { readonly operator: Comparison; readonly operand: string }
export type Matching = { readonly pattern: string; readonly ignoreCase: boolean }

export type Dialect = SqlSyntax & {
  /** How the database is called in messages. */
  readonly title: string

  /** A parameter text as a value of the column's type. */
  readonly typed: (type: FieldType, isList: boolean, value: SqlParam) => Sql
  /** The same for a column to take, where the database can tell its type by the column. */
  readonly assigned: (type: FieldType, isList: boolean, value: SqlParam) => Sql
  /**
   * A comparison with a parameter text. Texts are equal where they are the same, whatever the column's collation takes for
   * equal; before and after each other they are as the collation has it, and where it has them equal as their bytes are.
   */
  readonly compare: (column: Sql, field: PrimitiveField, how: Comparing) => Sql
  /** Whether `column` is one of `operands`; the text does not depend on their number where the database allows. */
  readonly isOneOf: (column: Sql, field: PrimitiveField, operands: readonly string[]) => Sql
  readonly matches: (column: Sql, field: PrimitiveField, how: Matching) => Sql
  /** A column as it is compared and ordered, where its own type in the database is not that of its field. */
  readonly compared: (column: Sql, field: PrimitiveField) => Sql
  /** One element of `order by`; `isNullable` false leaves the place of nulls unsaid, so that an index can serve. */
  readonly ordered: (
    expression: Sql,
    how: { readonly direction: 'asc' | 'desc'; readonly nulls: 'first' | 'last'; readonly isNullable: boolean },
  ) => Sql
  /** A column in the form in which it is rendered on the wire. */
  readonly wire: (column: Sql, type: FieldType, isList: boolean) => Sql

  /** The whole statement of a list; `total` is a scalar query that counts all matching rows. */
  readonly list: (rows: RowQuery, total: Sql | undefined) => Sql
  /**
   * The same list in pieces, one a row: some items each, with commas between. Undefined where a driver cannot make use of
   * that. Like every statement it fails where the whole is too large to be answered.
   */
  readonly pieces: ((rows: RowQuery) => Sql) | undefined
  readonly one: (rows: RowQuery) => Sql
  /** Scalar expressions for a relation inside a row. */
  readonly nestedOne: (rows: RowQuery) => Sql
  readonly nestedMany: (rows: RowQuery) => Sql
  readonly answerList: (rows: Rows, isCounted: boolean) => { readonly data: string; readonly total: number | undefined }
  readonly answerOne: (rows: Rows) => string | undefined

  /** Ends `insert into table` for a row of nothing but defaults. */
  readonly allDefaults: Sql
  readonly update: (targets: Targets, settings: readonly Setting[]) => Sql
  readonly delete: (targets: Targets) => Sql
  /** The list of the rows that `write` leaves behind, in one statement; undefined where the database cannot. */
  readonly written: (write: DirectWrite, rendered: (from: Sql, alias: string) => RowQuery) => Sql | undefined
  readonly slots: Slots

  /** The column type for a definition; undefined where this database cannot store the type. */
  readonly columnType: (type: FieldType, isList: boolean) => Sql | undefined
  readonly ddl: Ddl
  /** What the database's refusal means to a caller; undefined where it is no fault of the request. */
  readonly explain: (fault: SqlFault) => ServiceError | undefined
}

export type ChangeOf<Kind extends Change['kind']> = Extract<Change, { readonly kind: Kind }>

type Statements = readonly Sql[]

/**
 * One at a time changes or reads the schema of a database: a process that died may have left a statement running there,
 * which whoever comes next has to wait for.
 */
export type SchemaLock = {
  /** Begins a batch; fails where it has to wait too long. */
  readonly take: Statement
  /** Ends it. */
  readonly release: readonly Statement[]
  /** Whether a batch that fails leaves no change of the schema behind. */
  readonly isTransaction: boolean
}

export type Ddl = {
  readonly lock: SchemaLock
  /** Whether a key or an index may contain the type. */
  readonly isIndexable: (type: FieldType) => boolean
  readonly referentialActions: ReadonlySet<ReferentialAction>

  /** What follows the type of a column that counts up. */
  readonly autoincrement: Sql
  /** Further lines of a table, for columns that count up. */
  readonly extraKeys: (change: ChangeOf<'createTable'>) => Statements
  /** Ends `create table`. */
  readonly tableOptions: Sql
  readonly dropSchema: (change: ChangeOf<'dropSchema'>, dialect: Dialect) => Statements
  readonly renameTable: (change: ChangeOf<'renameTable'>) => Statements
  readonly addColumn: (change: ChangeOf<'addColumn'>, dialect: Dialect) => Statements
  readonly changeColumnType: (change: ChangeOf<'changeColumnType'>, dialect: Dialect) => Statements
  readonly setNullable: (change: ChangeOf<'setNullable'>, dialect: Dialect) => Statements
  readonly setDefault: (change: ChangeOf<'setDefault'>, dialect: Dialect) => Statements
  readonly dropIndex: (change: ChangeOf<'dropIndex'>) => Statements
  readonly dropForeignKey: (change: ChangeOf<'dropForeignKey'>, dialect: Dialect) => Statements
}
