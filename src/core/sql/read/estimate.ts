/** Compiles the estimate of a list's size: a limited count, and the planner's estimate. */
import type { ReadPlan } from '../../plan/plan.ts'
import type { AggregateSyntax, Dialect } from '../dialect.ts'
import { compileTemplate, empty, ident, integer, type Sql, type StatementTemplate, sql } from '../statement.ts'
import { predicate } from './predicate.ts'
import { rootScope, table } from './scope.ts'

/** Maximum number of rows that are counted. */
export const MOST_COUNTED = 1_000

export type CompiledEstimate = {
  /** The statement before the count in its transaction that limits its time; undefined if it must be canceled from outside. */
  readonly limit: StatementTemplate | undefined
  /** Counts up to MOST_COUNTED + 1. */
  readonly count: StatementTemplate
  /** Undefined if the planner would reveal hidden rows, or has no estimate. */
  readonly guess: StatementTemplate | undefined
}

export function compileEstimate(
  plan: ReadPlan,
  { dialect, syntax }: { readonly dialect: Dialect; readonly syntax: AggregateSyntax },
): CompiledEstimate {
  const { collection, where } = plan
  const matching = (end: Sql) => {
    const scope = rootScope(dialect)
    const condition = where.kind === 'all' ? empty : sql` where ${predicate(where, scope)}`
    return sql`select 1 from ${table(collection)} ${ident(scope.alias)}${condition}${end}`
  }
  const counted = matching(sql` limit ${integer(MOST_COUNTED + 1)}`)
  const { estimate } = syntax
  const guess =
    plan.estimate === 'planned'
      ? estimate.guess(matching(empty), where.kind === 'all' ? collection : undefined)
      : undefined
  return {
    limit: estimate.limit && compileTemplate(estimate.limit, dialect),
    count: compileTemplate(sql`select count(*) from (${counted}) ${ident('counted')}`, dialect),
    guess: guess && compileTemplate(guess, dialect),
  }
}
