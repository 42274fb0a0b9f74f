/** The condition for the rows after a cursor, in forms that an index serves (docs/contract.md#keyset-pages). */
import type { Order } from '../../plan/plan.ts'
import { join, type Sql, sql } from '../statement.ts'

/** A term of an order, and the cursor's value for it; undefined for null. */
export type WalkTerm = Pick<Order, 'direction' | 'nulls'> & {
  readonly value: Sql
  readonly operand: Sql | undefined
  readonly isNullable: boolean
}

/**
 * `comparesRows` says whether the database uses an index for row comparisons. A database that does not derives index ranges
 * from comparisons of each term. For the other one, the condition begins with a comparison that all matching rows meet.
 */
export function behind(terms: readonly WalkTerm[], { comparesRows }: { readonly comparesRows: boolean }): Sql {
  const operands = terms.flatMap(({ operand, isNullable }) => (operand === undefined || isNullable ? [] : [operand]))
  const [first] = terms
  const isPlain = operands.length === terms.length && terms.every(({ direction }) => direction === first?.direction)
  if (!comparesRows) return behindTerms(terms, (all) => all)
  if (first === undefined || !isPlain || terms.length === 1) return behindTerms(terms, guarded)
  return sql`(${join(terms.map(({ value }) => value))}) ${further(first)} (${join(operands)})`
}

type BoundTerm = WalkTerm & { readonly operand: Sql }

/** Adds a first comparison that bounds the index range. */
function guarded(all: Sql, term: BoundTerm): Sql {
  return sql`(${term.value} ${further(term)}= ${term.operand} and ${all})`
}

/** Compares further terms only for equal values: MariaDB would else read all rows with the same first value. */
function behindTerms([term, ...rest]: readonly WalkTerm[], wrap: (all: Sql, term: BoundTerm) => Sql): Sql {
  if (term === undefined) return sql`1 = 0`
  const { value, operand, isNullable, nulls } = term
  if (operand === undefined) {
    if (nulls === 'last') return rest.length === 0 ? sql`1 = 0` : sql`(${value} is null and ${behindTerms(rest, wrap)})`
    return rest.length === 0 ? sql`${value} is not null` : sql`(${value} is not null or ${behindTerms(rest, wrap)})`
  }
  const strictlyBehind = sql`${value} ${further(term)} ${operand}`
  const all =
    rest.length === 0
      ? strictlyBehind
      : wrap(sql`(${strictlyBehind} or (${value} = ${operand} and ${behindTerms(rest, wrap)}))`, { ...term, operand })
  return isNullable && nulls === 'last' ? sql`(${all} or ${value} is null)` : all
}

function further({ direction }: Pick<Order, 'direction'>): Sql {
  return direction === 'asc' ? sql`>` : sql`<`
}

/** Reverses the order. */
export function reversed(order: readonly Order[]): readonly Order[] {
  return order.map((term) => ({
    ...term,
    direction: term.direction === 'asc' ? 'desc' : 'asc',
    nulls: term.nulls === 'first' ? 'last' : 'first',
  }))
}
