/** DDL that all dialects share: `alter table`, column definitions, constants. */
import { boundText } from '../../query/placeholder.ts'
import { table } from '../read/scope.ts'
import { empty, ident, join, literal, type Sql, sql } from '../statement.ts'
import type { ColumnDefinition, TableRef } from './change.ts'
import type { DdlDialect } from './dialect.ts'

export function alter(ref: TableRef): Sql {
  return sql`alter table ${table(ref)}`
}

export function columnType({ type, isList }: ColumnDefinition, dialect: DdlDialect): Sql {
  const text = dialect.columnType(type, isList)
  if (text === undefined)
    throw new TypeError(`${dialect.title} cannot store ${type.name}, and the migration let it pass`)
  return text
}

export function columnDefinition(column: ColumnDefinition, dialect: DdlDialect): Sql {
  // MariaDB may treat a timestamp without `null` as not null.
  const nullability = column.isNullable ? sql`null` : sql`not null`
  const counting = column.isAutoincrement ? sql` ${dialect.ddl.autoincrement}` : empty
  const initial = column.initial ? sql` default ${dialect.ddl.initial(column, column.initial, dialect)}` : empty
  return sql`${ident(column.dbName)} ${columnType(column, dialect)} ${nullability}${counting}${initial}`
}

/** MySQL would otherwise require a value for a nullable column. */
export function changeInitial(ref: TableRef, column: ColumnDefinition, dialect: DdlDialect): Sql {
  const { initial, isNullable } = column
  const none = isNullable ? sql`set default null` : sql`drop default`
  const action = initial ? sql`set default ${dialect.ddl.initial(column, initial, dialect)}` : none
  return sql`${alter(ref)} alter column ${ident(column.dbName)} ${action}`
}

/** DDL takes no parameters, so values become constants. */
export function withoutParams(fragment: Sql): Sql {
  return parameterless(fragment, literal)
}

/** Replaces parameters by `written` texts. */
export function parameterless({ parts }: Sql, written: (text: string) => Sql): Sql {
  return join(
    parts.map((part) => {
      if (part.kind !== 'param') return { parts: [part] }
      return part.value === null ? sql`null` : written(boundText(part.value))
    }),
    empty,
  )
}
