/** What databases write differently when a schema changes, and what all of those ways begin with. */
import type { FieldType } from '../model/field-type.ts'
import type { ReferentialAction } from '../model/model.ts'
import type { Change, ColumnDefinition, TableRef } from './change.ts'
import type { Dialect } from './dialect.ts'
import { table } from './read.ts'
import { empty, ident, join, literal, type Sql, type Statement, sql } from './statement.ts'

export type ChangeOf<Kind extends Change['kind']> = Extract<Change, { readonly kind: Kind }>
type Statements = readonly Sql[]

/**
 * One at a time changes or reads the schema of a database: a process that died may have left a statement running there,
 * which whoever comes next has to wait for.
 */
export type SchemaTurn = {
  /** Begins a batch; fails where it has to wait too long. */
  readonly take: Statement
  /** Ends it. */
  readonly leave: readonly Statement[]
  /** Whether a batch that fails leaves no change of the schema behind. */
  readonly isTransaction: boolean
}

export type Ddl = {
  readonly turn: SchemaTurn
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

export function alter(ref: TableRef): Sql {
  return sql`alter table ${table(ref)}`
}

export function columnType({ type, isList }: ColumnDefinition, dialect: Dialect): Sql {
  const text = dialect.columnType(type, isList)
  if (text === undefined)
    throw new TypeError(`${dialect.title} cannot store ${type.name}, and the migration let it pass`)
  return text
}

export function columnDefinition(column: ColumnDefinition, dialect: Dialect): Sql {
  // MariaDB may take a time of which nothing is said for one that must not be null.
  const nullability = column.isNullable ? sql`null` : sql`not null`
  const counting = column.isAutoincrement ? sql` ${dialect.ddl.autoincrement}` : empty
  return sql`${ident(column.dbName)} ${columnType(column, dialect)} ${nullability}${counting}`
}

/** A parameter has no place in DDL, so values become constants. */
export function withoutParams({ parts }: Sql): Sql {
  return join(
    parts.map((part) => {
      if (part.kind !== 'param') return { parts: [part] }
      return part.value === null ? sql`null` : literal(part.value)
    }),
    empty,
  )
}
