/** Comparisons of filters in SQL. */
import type { Comparison, JsonStep } from '../query/filter.ts'
import { type Sql, sql } from './statement.ts'

export const comparison: Readonly<Record<Comparison, Sql>> = {
  '=': sql`=`,
  '<>': sql`<>`,
  '<': sql`<`,
  '<=': sql`<=`,
  '>': sql`>`,
  '>=': sql`>=`,
}

/**
 * Combines a comparison by collation, which may treat different texts as equal but can use an index, with one by bytes.
 * Texts are ordered by the collation, then by bytes.
 */
export function compareExactly(operator: Comparison, plain: (how: Comparison) => Sql, exact: Sql): Sql {
  switch (operator) {
    case '=':
      return sql`(${plain('=')} and ${exact})`
    case '<>':
      return exact
    case '<':
    case '<=':
      return sql`(${plain('<=')} and (${plain('<')} or ${exact}))`
    case '>':
    case '>=':
      return sql`(${plain('>=')} and (${plain('>')} or ${exact}))`
  }
}

/** A path into JSON as every database writes it: `$."address"."lines"[0]`. */
export function jsonPath(steps: readonly JsonStep[]): string {
  return `$${steps.map((step) => (typeof step === 'number' ? `[${step}]` : `.${JSON.stringify(step)}`)).join('')}`
}
