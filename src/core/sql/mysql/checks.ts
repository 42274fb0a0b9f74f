/** Check constraints of MariaDB and MySQL in the format of `information_schema.check_constraints`. */
import type { Check } from '../../model/checks.ts'
import type { ReadCheck, Writing } from '../checks/expression.ts'
import { type AnyRow, placeKey } from './catalog.ts'
import { QUOTED_NAME, unquotedName } from './names.ts'

/** `json` marks the check of MariaDB's JSON columns, which are texts. */
export type ChecksByColumn = ReadonlyMap<string, readonly (Check | 'json')[]>

export function checksByColumn(rows: readonly AnyRow[], readCheck: ReadCheck | undefined): ChecksByColumn {
  const nameOf = ({ schema, name }: { readonly schema: string; readonly name: string }) => `${schema}\0${name}`
  const tables = new Map(rows.flatMap((row) => (row.kind === 'enforced' ? [[nameOf(row), row.table] as const] : [])))
  const found = rows.flatMap((row): readonly { readonly at: string; readonly check: Check | 'json' }[] => {
    if (row.kind !== 'check') return []
    const table = row.table || tables.get(nameOf(row))
    if (table === undefined) return []
    const at = (column: string) => placeKey({ schema: row.schema, table }, column)
    const json = jsonCheck.exec(row.clause)?.[1]
    if (json !== undefined) return [{ at: at(unquotedName(json)), check: 'json' }]
    const check = readCheck?.(plainClause(row.clause), clauses)
    return check === undefined ? [] : [{ at: at(check.column), check: { name: row.name, limits: check.limits } }]
  })
  const grouped = Map.groupBy(found, ({ at }) => at)
  return new Map([...grouped].map(([at, own]) => [at, own.map(({ check }) => check)]))
}

const jsonCheck = new RegExp(`^json_valid\\((${QUOTED_NAME})\\)$`)

/** Collations that compare exactly, including trailing spaces. */
export const exactCollation = /_nopad_bin$|_0900_bin$/

/** The syntax of `information_schema.check_constraints`. */
export const clauses: Writing = {
  text: "(?:_[a-z]\\w*)?'(?:[^'\\\\]|''|\\\\[\\s\\S])*'",
  unquoted: (text) => text.slice(text.indexOf("'") + 1, -1).replace(/\\([\s\S])|''/g, (_, escaped = "'") => escaped),
  countsBytes: true,
  // In these databases `$` also matches before a line break.
  hasPatterns: false,
}

/** MySQL prints a clause with a backslash before each quote and backslash, and the character set before each text. */
export function plainClause(clause: string): string {
  return /\b_\w+\\'/.test(clause) ? clause.replace(/\\([\s\S])/g, '$1') : clause
}
