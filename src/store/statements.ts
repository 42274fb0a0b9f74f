/** Builds statements for the system database, which is always PostgreSQL. */
import { postgres } from '../core/sql/postgres/dialect.ts'
import { compile, param, type Sql, type Statement, sql } from '../core/sql/statement.ts'
import type { Instant } from '../ports/clock.ts'

export { empty, ident, join, param, type Sql, sql } from '../core/sql/statement.ts'

export function statement(fragment: Sql): Statement {
  return compile(fragment, postgres)
}

/** A value as JSON text. */
export function json(value: unknown): Sql {
  return param(JSON.stringify(value))
}

/** SQL subquery: the ids as rows of one column. */
export function uuids(ids: readonly string[]): Sql {
  return sql`select value::uuid from jsonb_array_elements_text(${json(ids)}::jsonb)`
}

/** A time as `timestamptz`; null stays null. */
export function timestamp(instant: Instant | null): Sql {
  return sql`${param(instant === null ? null : new Date(instant).toISOString())}::timestamptz`
}

/** A column's time as answers show it. */
export function isoTime(column: Sql): Sql {
  return sql`to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
}

/** The inverse of `timestamp`: a column's time in whole milliseconds since the epoch. */
export function milliseconds(column: Sql): Sql {
  return sql`floor(extract(epoch from ${column}) * 1000)`
}
