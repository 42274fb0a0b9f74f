/** A comparison of a filter → how SQL spells it, and what two of them say. */
import type { Comparison } from '../query/filter.ts'
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
 * A comparison with a collation that may have different texts equal, and byte by byte: what the first finds, by its index,
 * the second holds to the bytes. Before and after each other texts are as the collation has it, and where it has them equal
 * as their bytes are.
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
