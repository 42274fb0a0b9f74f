/** Checks the primary key that a migration declares for a view. */
import type { TableRef } from './ddl/change.ts'
import type { Dialect, Rows } from './dialect.ts'
import { compile, ident, join, type Statement, sql } from './statement.ts'

/** A declared key of a view, whose rows are not checked yet. */
export type DeclaredKey = {
  readonly sourceId: string
  /** The index of the operation. */
  readonly operation: number
  readonly table: TableRef
  readonly columns: readonly string[]
}

/** Counts duplicate and incomplete keys; texts that are equal by the column's collation are duplicates. */
export function keyQuestion({ table, columns: names }: DeclaredKey, dialect: Dialect): Statement {
  const columns = names.map((name) => ident(name))
  const place = table.schema === undefined ? ident(table.dbName) : ident(table.schema, table.dbName)
  const hasNull = join(
    columns.map((column) => sql`${column} is null`),
    sql` or `,
  )
  const groups = sql`select case when ${hasNull} then 1 else 0 end as lacking, count(*) as n from ${place} group by ${join(columns)}`
  return compile(
    sql`select sum(case when lacking = 0 then n - 1 else 0 end), sum(case when lacking = 1 then n else 0 end) from (${groups}) d`,
    dialect,
  )
}

/** The message for callers who may not read all rows. */
export const NO_KEY = 'the fields are no key: rows are in the way'

/** The reason why the rows of `keyQuestion` refute the key; undefined if they do not. */
export function keyFault([row = []]: Rows): string | undefined {
  const [duplicates = 0, lacking = 0] = row.map(Number)
  if (duplicates > 0) return `the fields are no key: rows that have the key of another row: ${duplicates}`
  return lacking > 0 ? `the fields are no key: rows that lack a part of it: ${lacking}` : undefined
}
