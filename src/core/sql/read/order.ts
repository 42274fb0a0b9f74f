/** Compiles the order of rows, and the cursors of that order. */
import type { Order } from '../../plan/plan.ts'
import { isNullable } from '../../plan/walk.ts'
import { cursorHead } from '../../query/cursor.ts'
import type { FieldRef } from '../../query/filter.ts'
import { ident, join, literal, type Sql, sql } from '../statement.ts'
import { comparable, conjuncts, reference, whereVisible } from './predicate.ts'
import { column, joined, type Scope, table } from './scope.ts'

export function orderBy(order: readonly Order[], scope: Scope, isWalk = false): Sql | undefined {
  if (order.length === 0) return undefined
  return join(
    order.map((part) =>
      scope.dialect.ordered(sortable(part, scope, isWalk), {
        direction: part.direction,
        nulls: part.nulls,
        isNullable: isNullable(part),
      }),
    ),
  )
}

/** The sort expression of a row; in a walk, the expression that is compared with a cursor. */
export function sortable(term: Order, scope: Scope, isWalk: boolean): Sql {
  const isBare = term.path.length === 0 && term.visible.kind === 'all'
  if (isBare && !isWalk) return sortableColumn(term, scope)
  return reached(term, scope, (own) => scope.dialect.ranked(column(term.field, own), term.field))
}

/** A column of a type with an order: a cast would keep its index from serving it, and JSON has another order. */
function sortableColumn(ref: FieldRef, scope: Scope): Sql {
  return ref.field.native?.isOrdered === true ? reference(ref, scope) : comparable(ref, scope)
}

/** A field of an order. A related row that is hidden or missing counts as null, as in answers. */
function reached({ path: [step, ...path], ...term }: Order, scope: Scope, value: (own: Scope) => Sql): Sql {
  if (step === undefined) return whereVisible(value(scope), term.visible, scope)
  const inner = scope.next()
  const { relation, rows, visible } = step
  const where = join([...joined(relation, inner, scope), ...conjuncts(rows, inner)], sql` and `)
  const from = sql`${table(relation.target)} ${ident(inner.alias)}`
  const found = sql`(select ${reached({ ...term, path }, inner, value)} from ${from} where ${where} limit 1)`
  return whereVisible(found, visible, scope)
}

/** The JSON text of the cursor of a row. */
export function markOf(order: readonly Order[], digest: string, scope: Scope): Sql {
  const values = order.map((term) => {
    const value = reached(term, scope, (own) => scope.dialect.mark(column(term.field, own), term.field))
    return sql`coalesce(${value}, 'null')`
  })
  return sql`concat(${literal(cursorHead(digest))}, ${join(values, sql`, ',', `)}, ']')`
}
