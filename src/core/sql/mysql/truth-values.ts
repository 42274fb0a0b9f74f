/** Finds columns of type `tinyint(1)`, which usually holds booleans, that hold other numbers. */
import type { Check } from '../../model/checks.ts'
import type { Dialect } from '../dialect.ts'
import { compile, ident, integer, join, literal, type Statement, sql } from '../statement.ts'
import { type AnyRow, type ColumnRow, placeKey } from './catalog.ts'
import { TRUTH } from './catalog-types.ts'

/** True if a default or a check of such a column implies other numbers than 0 and 1. */
export function isNumeric({ default: text, full }: ColumnRow, checks: readonly (Check | 'json')[]): boolean {
  if (full !== TRUTH) return false
  const given = Number(text?.replaceAll("'", '') ?? 0)
  return (given !== 0 && given !== 1 && !Number.isNaN(given)) || checks.some(limitsNumbers)
}

function limitsNumbers(check: Check | 'json'): boolean {
  if (check === 'json') return false
  const { minimum = 0, maximum = 1, exclusiveMinimum = -1, exclusiveMaximum = 2 } = check.limits
  const isOutside = [minimum, maximum].some((limit) => Number(limit) < 0 || Number(limit) > 1)
  return isOutside || Number(exclusiveMinimum) < -1 || Number(exclusiveMinimum) >= 1 || Number(exclusiveMaximum) > 2
}

/**
 * Queries which such columns contain other numbers. An index that begins with the column answers at once; for other columns
 * only the first rows are read, because a full scan would take too long on large tables.
 */
export function inspection(rows: readonly AnyRow[], dialect: Dialect): Statement | undefined {
  const tables = new Set(rows.flatMap((row) => (row.kind === 'table' && row.form !== 'VIEW' ? [placeKey(row)] : [])))
  const served = new Set(
    rows.flatMap((row) => (row.kind === 'index' && row.position === 1 ? [placeKey(row, row.column ?? '')] : [])),
  )
  const questions = rows.flatMap((row) => {
    if (row.kind !== 'column' || row.full !== TRUTH || !tables.has(placeKey(row))) return []
    const { schema, table, name } = row
    const all = ident(schema, table)
    const values = served.has(placeKey(row, name))
      ? all
      : sql`(select ${ident(name)} from ${all} limit ${integer(MOST)}) d`
    const found = sql`select 1 from ${values} where ${ident(name)} not in (0, 1)`
    const answer = sql`json_object('kind', 'number', 'schema', ${literal(schema)}, 'table', ${literal(table)}, 'column', ${literal(name)})`
    return [sql`select ${answer} as r from (select 1) d where exists (${found})`]
  })
  return questions.length === 0 ? undefined : compile(join(questions, sql` union all `), dialect)
}

/** Maximum rows of a table that an import scans. */
const MOST = 100_000
