/** DDL that all dialects share: `alter table`, column definitions, constants. */
import { boundText } from '../query/placeholder.ts'
import type { ColumnDefinition, TableRef } from './change.ts'
import type { Dialect } from './dialect.ts'
import { table } from './read.ts'
import { empty, ident, join, literal, type Sql, sql } from './statement.ts'

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
  // MariaDB may treat a timestamp without `null` as not null.
  const nullability = column.isNullable ? sql`null` : sql`not null`
  const counting = column.isAutoincrement ? sql` ${dialect.ddl.autoincrement}` : empty
  return sql`${ident(column.dbName)} ${columnType(column, dialect)} ${nullability}${counting}`
}

/** DDL takes no parameters, so values become constants. */
export function withoutParams({ parts }: Sql): Sql {
  return join(
    parts.map((part) => {
      if (part.kind !== 'param') return { parts: [part] }
      return part.value === null ? sql`null` : literal(boundText(part.value))
    }),
    empty,
  )
}
