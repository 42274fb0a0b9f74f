/** Compiles about how many rows a list has: those that can be counted in a moment, and what the planner makes of them. */
import type { ReadPlan } from '../../plan/plan.ts'
import type { AggregateSyntax, Dialect } from '../dialect.ts'
import { compileTemplate, empty, ident, integer, type Sql, type StatementTemplate, sql } from '../statement.ts'
import { predicate } from './predicate.ts'
import { rootScope, table } from './scope.ts'

/** Up to which rows are counted one by one. */
export const MOST_COUNTED = 1_000

export type CompiledEstimate = {
  /** What goes before the count in its transaction, to end it in time; undefined where it has to be ended from here. */
  readonly limit: StatementTemplate | undefined
  /** One more than MOST_COUNTED where there are more. */
  readonly count: StatementTemplate
  /** Undefined where the planner would tell of hidden rows, or cannot tell. */
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
