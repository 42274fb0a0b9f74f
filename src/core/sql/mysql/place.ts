/** A table in information_schema of MariaDB and MySQL. */
import type { TableRef } from '../change.ts'
import { literal, type Sql, sql } from '../statement.ts'

export function schemaOf({ schema }: TableRef): Sql {
  return schema === undefined ? sql`database()` : literal(schema)
}

export function inTable(ref: TableRef): Sql {
  return sql`table_schema = ${schemaOf(ref)} and table_name = ${literal(ref.dbName)}`
}
