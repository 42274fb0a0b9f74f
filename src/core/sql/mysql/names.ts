/** Names in MariaDB and MySQL: quoted in statements, and plain in information_schema. */
import type { TableRef } from '../ddl/change.ts'
import { literal, type Sql, sql } from '../statement.ts'

export function schemaOf({ schema }: TableRef): Sql {
  return schema === undefined ? sql`database()` : literal(schema)
}

export function inTable(ref: TableRef): Sql {
  return sql`table_schema = ${schemaOf(ref)} and table_name = ${literal(ref.dbName)}`
}

/** A pattern of one quoted name. */
export const QUOTED_NAME = '`(?:[^`]|``)*`'

export function quotedName(name: string): string {
  return `\`${name.replaceAll('`', '``')}\``
}

export function unquotedName(quoted: string): string {
  return quoted.slice(1, -1).replaceAll('``', '`')
}
