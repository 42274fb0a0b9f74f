/** The differences between databases in DDL. */
import type { FieldType } from '../../model/field-type.ts'
import type { ColumnShape, ReferentialAction } from '../../model/model.ts'
import type { RowQuery } from '../read/row-query.ts'
import type { Sql, SqlSyntax, Statement, TemplateParam } from '../statement.ts'
import type { Slots } from '../write/slots.ts'
import type { Change, ColumnDefinition, InitialValue, Recorded, TableRef } from './change.ts'

/** The parts of a dialect that DDL needs. */
export type DdlDialect = SqlSyntax & {
  /** Name of the database in messages. */
  readonly title: string
  /** The column type for a definition; undefined if this database cannot store the type. */
  readonly columnType: (type: FieldType, isList: boolean) => Sql | undefined
  /** A parameter text converted to the column's type for an assignment; some databases infer the type from the column. */
  readonly assigned: (shape: ColumnShape, value: TemplateParam) => Sql
  /** A column in the form of answers. */
  readonly wire: (column: Sql, shape: ColumnShape) => Sql
  /** The entity tag of a row with these members, computed from its text in answers (`TagOf` of ports). */
  readonly tag: (members: RowQuery['members']) => Sql
  readonly slots: Slots
  readonly ddl: Ddl
  /** The dialect for a dry run, which shows the statements that others generate from the catalog (`onRows`). */
  readonly shown?: () => DdlDialect
}

export type ChangeOf<Kind extends Change['kind']> = Extract<Change, { readonly kind: Kind }>

type Statements = readonly Sql[]

/**
 * The lock for changing or reading the schema of a database: a crashed process may have left a running statement, for which the
 * next process must wait.
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
  /** True if a key or an index may contain the type. */
  readonly isIndexable: (type: FieldType) => boolean
  /** Minimum and maximum number of columns of a table. */
  readonly columnCount: { readonly least: 0 | 1; readonly most: number }
  readonly referentialActions: ReadonlySet<ReferentialAction>

  /** Follows the type of an auto-increment column. */
  readonly autoincrement: Sql
  /** Follows `default`; also the value of existing rows. */
  readonly initial: (column: ColumnDefinition, value: InitialValue, dialect: DdlDialect) => Sql
  /** Additional lines of a table, for auto-increment columns. */
  readonly extraKeys: (change: ChangeOf<'createTable'>) => Statements
  /** Ends `create table`. */
  readonly tableOptions: Sql
  readonly dropSchema: (change: ChangeOf<'dropSchema'>, dialect: DdlDialect) => Statements
  readonly renameTable: (change: ChangeOf<'renameTable'>) => Statements
  readonly addColumn: (change: ChangeOf<'addColumn'>, dialect: DdlDialect) => Statements
  readonly changeColumnType: (change: ChangeOf<'changeColumnType'>, dialect: DdlDialect) => Statements
  readonly setNullable: (change: ChangeOf<'setNullable'>, dialect: DdlDialect) => Statements
  readonly setDefault: (change: ChangeOf<'setDefault'>, dialect: DdlDialect) => Statements
  readonly takeCollation: (change: ChangeOf<'takeCollation'>, dialect: DdlDialect) => Statements
  readonly dropIndex: (change: ChangeOf<'dropIndex'>) => Statements
  readonly keepIndex: (change: ChangeOf<'keepIndex'>, dialect: DdlDialect) => Statements
  readonly dropForeignKey: (change: ChangeOf<'dropForeignKey'>, dialect: DdlDialect) => Statements

  /** Undefined if the database cannot record changes by triggers. */
  readonly history: HistoryDdl | undefined

  /** A condition for texts that do not convert to the type; undefined if the conversion itself fails. */
  readonly misreads: (type: FieldType, column: Sql) => Sql | undefined
  /** An aggregate that converts each text as the type change does, and fails alike; undefined if it never fails. */
  readonly tried: ((column: ColumnDefinition, text: Sql, dialect: DdlDialect) => Sql) | undefined
  /** A condition for texts that `tried` cannot read, which older releases refuse; undefined as `tried` is. */
  readonly unread: ((column: ColumnDefinition, text: Sql, dialect: DdlDialect) => Sql) | undefined
  /** The elements of a list as the table `e`, whose column is `v`; undefined without lists. */
  readonly elements: ((list: Sql) => Sql) | undefined
  /**
   * A scalar query: 1 if a column has a native type, or as a text its own collation, whose rules would be lost with another
   * type.
   */
  readonly hasOwnRules: (ref: TableRef, column: string, to: FieldType) => Sql
  /** Undefined if a failed migration is rolled back, so that nothing must be checked before. */
  readonly catalog: CatalogQuestions | undefined
}

export type HistoryDdl = {
  readonly record: (change: ChangeOf<'recordHistory'>, dialect: DdlDialect) => Statements
  readonly end: (change: ChangeOf<'endHistory'>) => Statements
  /** Removes the values of these fields from all recorded changes of the collection. */
  readonly forget: (recorded: Recorded, fieldIds: readonly string[]) => Statements
}

/** Scalar queries that count obstacles of a change; `views` returns a text. */
export type CatalogQuestions = {
  /** Tables of this name, except those that the migration deletes before. */
  readonly tables: (ref: TableRef, gone: readonly TableRef[]) => Sql
  readonly columns: (ref: TableRef, column: string) => Sql
  /** Foreign keys of other tables, except those with these names. */
  readonly referrers: (ref: TableRef, dropped: readonly string[]) => Sql
  /** 1 if a key of these columns is too long. */
  readonly tooLongKey: (ref: TableRef, columns: readonly string[]) => Sql
  /** Counts the attributes that a column would lose if it were redefined. */
  readonly lost: (ref: TableRef, column: ColumnDefinition, isCast: boolean) => Sql
  /** 1 if a column has a default that the catalog cannot show and the change must repeat; may fail. */
  readonly unreadableDefault: ((ref: TableRef, column: string) => Sql) | undefined
  /** Counts the parts of the table that need a column, except its `dropped` columns. */
  readonly users: (ref: TableRef, column: string, dropped: readonly string[]) => Sql
  /** Triggers that read or write a column. */
  readonly triggers: (ref: TableRef, column: string) => Sql
  /** A text for `usingViews`, or null. */
  readonly views: (ref: TableRef) => Sql
  /** The names of the views that use the table, or a column of it. */
  readonly usingViews: (text: string, ref: TableRef, column?: string) => readonly string[]
}
