/**
 * Compiles a ReadPlan whose rows are groups: a derived table groups the rows; its filter, order, page and rendering are those
 * of any list.
 */
import type { ServiceError } from '../../error.ts'
import type { PrimitiveField } from '../../model/model.ts'
import type { AggregateFunction } from '../../model/vocabulary.ts'
import type { Aggregate, Group, Grouping, PathStep, ReadPlan } from '../../plan/plan.ts'
import type { Filter } from '../../query/filter.ts'
import { queryFault } from '../../query/parse.ts'
import type { AggregatedRows, AggregateSyntax, Dialect } from '../dialect.ts'
import type { SqlFault } from '../fault.ts'
import { rendered } from '../read.ts'
import { compileTemplate, empty, ident, integer, join, type Sql, type StatementTemplate, sql } from '../statement.ts'
import { orderBy } from './order.ts'
import { conjuncts, predicate, whereVisible } from './predicate.ts'
import type { RowQuery } from './row-query.ts'
import { joined, rootScope, type Scope, table } from './scope.ts'

/** The error for an unknown time zone or an overflow; undefined for other faults. */
export function explainGroups(
  fault: SqlFault,
  { groups, aggregates }: Grouping,
  syntax: AggregateSyntax,
): ServiceError | undefined {
  if (syntax.lacksZone(fault)) {
    const named = groups.flatMap(({ truncation }) => (truncation?.zone.kind === 'named' ? [truncation.zone] : []))
    const zone = named.find(({ name }) => fault.message.includes(`"${name}"`)) ?? named[0]
    const reason = 'is not known to the database: use an offset such as +02:00'
    return zone && queryFault(zone.path, reason, '4010')
  }
  const summed = syntax.overflows(fault)
  if (summed === undefined) return undefined
  const [sum] = aggregates.filter((one) => isSumOf(summed, one)).toSorted(byDigits)
  return sum && queryFault(`aggregate.${sum.output.apiName}`, unfit[summed], '1001')
}

const unfit = {
  doubles: 'is more than a double can hold',
  decimals: 'is more than its database adds up exactly',
  averages: 'is more than a double can hold',
}

function isSumOf(numbers: keyof typeof unfit, aggregate: Aggregate): boolean {
  if (aggregate.function !== 'avg' && (aggregate.function !== 'sum' || numbers === 'averages')) return false
  const { name } = aggregate.field.type
  return numbers === 'doubles' ? name === 'float32' || name === 'float64' : name === 'decimal'
}

/** Longest decimals first, whose sums are the first to overflow. */
function byDigits(one: Aggregate, other: Aggregate): number {
  return digitsOf(other) - digitsOf(one)
}

function digitsOf(aggregate: Aggregate): number {
  if (aggregate.function === 'rows') return 0
  const { type } = aggregate.field
  return type.name === 'decimal' && type.params.kind === 'constrained' ? type.params.precision : 0
}

export function compileGroups(
  plan: ReadPlan,
  grouping: Grouping,
  { dialect, syntax }: { readonly dialect: Dialect; readonly syntax: AggregateSyntax },
): StatementTemplate {
  const scope = rootScope(dialect, 'g')
  const { row, members } = rendered(plan.selection, scope)
  const count = grouping.groups.length
  const rows: RowQuery = {
    row,
    members: [{ name: 'group', value: syntax.object(members.slice(0, count)) }, ...members.slice(count)],
    from: groupsOf(plan, grouping, { scope, syntax }),
    order: plan.page && orderBy(plan.page.order, scope),
    page: plan.page,
    isIndexed: false,
  }
  return compileTemplate(
    dialect.list(rows, plan.count ? countGroups(plan, grouping, { dialect, syntax }) : undefined),
    dialect,
  )
}

function countGroups(
  plan: ReadPlan,
  grouping: Grouping,
  { dialect, syntax }: { readonly dialect: Dialect; readonly syntax: AggregateSyntax },
): Sql {
  return sql`select count(*)${groupsOf(plan, grouping, { scope: rootScope(dialect, 'g'), syntax })}`
}

type Using = { readonly scope: Scope; readonly syntax: AggregateSyntax }

function groupsOf({ where }: ReadPlan, grouping: Grouping, { scope, syntax }: Using): Sql {
  const groups = grouped(grouping, { scope: rootScope(scope.dialect), syntax })
  const condition = where.kind === 'all' ? empty : sql` where ${predicate(where, scope)}`
  return sql` from (${groups}) ${ident(scope.alias)}${condition}`
}

function grouped({ collection, where, groups, aggregates }: Grouping, using: Using): Sql {
  const { scope, syntax } = using
  const rows = { alias: scope.alias, shown: (value: Sql, visible: Filter) => whereVisible(value, visible, scope) }
  const known = { dialect: scope.dialect, syntax }
  const keyed = groups.map((group, index) => keyedGroup(group, index + 1, using))
  const columns = [
    ...groups.map(({ output }, index) => sql`${keyed[index]?.value ?? empty} as ${ident(output.dbName)}`),
    ...aggregates.map((one) => sql`${aggregated(one, rows, known)} as ${ident(one.output.dbName)}`),
  ]
  const condition = where.kind === 'all' ? empty : sql` where ${predicate(where, scope)}`
  const by = groups.length === 0 ? empty : sql` group by ${join(keyed.map(({ key }) => key))}`
  return sql`select ${join(columns)} from ${table(collection)} ${ident(scope.alias)}${condition}${by}${syntax.end}`
}

/**
 * A group's value, and the expression to group by: the value's position in the statement, because a database treats a repeated
 * expression with parameters as a different one. If the type's equality is too loose, the key distinguishes the values, and any
 * value of the group is used, since they are the same.
 */
function keyedGroup(group: Group, place: number, { scope, syntax }: Using): { readonly value: Sql; readonly key: Sql } {
  const value = groupValue(group, group.path, { scope, syntax })
  const key = syntax.key(value, group.output)
  return key === undefined ? { value, key: integer(place) } : { value: sql`min(${value})`, key }
}

/** The field behind to-one relations as a scalar query, so that no row counts twice. */
function groupValue(group: Group, [step, ...rest]: readonly PathStep[], { scope, syntax }: Using): Sql {
  if (step !== undefined) {
    const inner = scope.next()
    const { relation, rows, visible } = step
    const where = join([...joined(relation, inner, scope), ...conjuncts(rows, inner)], sql` and `)
    const value = groupValue(group, rest, { scope: inner, syntax })
    const found = sql`(select ${value} from ${table(relation.target)} ${ident(inner.alias)} where ${where} limit 1)`
    return whereVisible(found, visible, scope)
  }
  const { field, visible, truncation } = group
  const column = ident(scope.alias, field.dbName)
  const value = truncation === undefined ? syntax.value(column, field) : syntax.truncated(column, field, truncation)
  return whereVisible(value, visible, scope)
}

/** Gives a dialect the aggregates in lists; its `aggregates` loads `syntax`. */
export function withAggregatesInLists(dialect: Dialect, syntax: AggregateSyntax): Dialect {
  const inList: Dialect['inList'] = (aggregates, rows) =>
    syntax.object(
      aggregates.map((one) => {
        const { output } = one
        return { name: output.apiName, value: dialect.wire(aggregated(one, rows, { dialect, syntax }), output) }
      }),
    )
  return { ...dialect, inList }
}

type Known = { readonly dialect: Dialect; readonly syntax: AggregateSyntax }

function aggregated(aggregate: Aggregate, { alias, shown }: AggregatedRows, known: Known): Sql {
  if (aggregate.function === 'rows') return sql`count(*)`
  const { field, visible, function: called } = aggregate
  const column = ident(alias, field.dbName)
  return known.syntax.call(called, shown(operand(called, { column, field }, known), visible), field)
}

function operand(
  called: AggregateFunction,
  { column, field }: { readonly column: Sql; readonly field: PrimitiveField },
  { dialect, syntax }: Known,
): Sql {
  switch (called) {
    case 'count':
    case 'sum':
    case 'avg':
      return column
    case 'countDistinct':
      return syntax.value(column, field)
    case 'min':
    case 'max':
      return dialect.compared(column, field)
  }
}
