/** The system database is always PostgreSQL, so its statements are written as text with parameters. */
import { postgres } from '../core/sql/postgres/dialect.ts'
import { compile, param, type Sql, type Statement, sql } from '../core/sql/statement.ts'

export { empty, ident, join, param, type Sql, sql } from '../core/sql/statement.ts'

export function statement(fragment: Sql): Statement {
  return compile(fragment, postgres)
}

/** A value of ours as JSON text. */
export function json(value: unknown): Sql {
  return param(JSON.stringify(value))
}

/** Ids as rows of one column. */
export function uuids(ids: readonly string[]): Sql {
  return sql`select value::uuid from jsonb_array_elements_text(${json(ids)}::jsonb)`
}
