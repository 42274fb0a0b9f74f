/** A comparison of a filter → how SQL spells it. */
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
