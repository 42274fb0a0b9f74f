/** Compiles filters, of policies and of requests alike, into conditions. */
import type { FieldRef, Filter, Match } from '../../query/filter.ts'
import { empty, ident, join, type Sql, sql } from '../statement.ts'
import { column, joined, type Scope, table } from './scope.ts'

export function conjuncts(filter: Filter, scope: Scope): readonly Sql[] {
  return filter.kind === 'all' ? [] : [predicate(filter, scope)]
}

export function whereVisible(value: Sql, visible: Filter, scope: Scope): Sql {
  return visible.kind === 'all' ? value : sql`case when ${predicate(visible, scope)} then ${value} end`
}

/** A field as its reader sees it: null where it is not visible. */
export function reference(ref: FieldRef, scope: Scope): Sql {
  return whereVisible(column(ref.field, scope), ref.visible, scope)
}

export function comparable(ref: FieldRef, scope: Scope): Sql {
  return whereVisible(scope.dialect.compared(column(ref.field, scope), ref.field), ref.visible, scope)
}

export function predicate(filter: Filter, scope: Scope): Sql {
  const { dialect } = scope
  switch (filter.kind) {
    case 'all':
      return sql`1 = 1`
    case 'none':
      return sql`1 = 0`
    case 'and':
      return sql`(${join(
        filter.filters.map((part) => predicate(part, scope)),
        sql` and `,
      )})`
    case 'or':
      return sql`(${join(
        filter.filters.map((part) => predicate(part, alternative(scope))),
        sql` or `,
      )})`
    case 'not':
      return sql`not (${predicate(filter.filter, alternative(scope))})`
    case 'isTrue':
      return sql`(${predicate(filter.filter, alternative(scope))}) is true`
    case 'compare':
      return dialect.compare(comparable(filter, scope), filter.field, filter)
    case 'match': {
      const match = dialect.matches(comparable(filter, scope), filter.field, {
        pattern: pattern(filter.match, filter.operand),
        ignoreCase: filter.match.ignoreCase,
      })
      return unless(filter.negated, match)
    }
    case 'between': {
      const low = dialect.typed(filter.field, filter.low)
      const high = dialect.typed(filter.field, filter.high)
      return sql`${comparable(filter, scope)} ${filter.negated ? sql`not between` : sql`between`} ${low} and ${high}`
    }
    case 'in': {
      const match = dialect.isOneOf(comparable(filter, scope), filter.field, filter.operands, scope.mayCount)
      return unless(filter.negated, match)
    }
    case 'elements':
      return unless(filter.negated, dialect.elements(comparable(filter, scope), filter.field, filter))
    case 'empty':
      return unless(filter.negated, dialect.isEmpty(reference(filter, scope)))
    case 'json':
      return unless(filter.negated, dialect.testJson(comparable(filter, scope), filter.test))
    case 'null':
      return isNull(reference(filter, scope), filter)
    case 'related':
      return related(filter, scope)
  }
}

/** For a composite value, SQL's `is null` tests all of its members, so this compares with null instead. */
function isNull(value: Sql, { field, negated }: Extract<Filter, { kind: 'null' }>): Sql {
  if (field.native?.members)
    return sql`${value} ${negated ? sql`is distinct from null` : sql`is not distinct from null`}`
  return sql`${value} ${negated ? sql`is not null` : sql`is null`}`
}

/** Marks rows behind `or` or `not` within a condition, where a database may plan each `exists` twice. */
function alternative(scope: Scope): Scope {
  return scope.place === 'condition' ? { ...scope, place: 'alternative' } : scope
}

function unless(isNegated: boolean, condition: Sql): Sql {
  return isNegated ? sql`not (${condition})` : condition
}

const patterns: Readonly<Record<Match['part'], (text: string) => string>> = {
  starts: (text) => `${text}%`,
  ends: (text) => `%${text}`,
  contains: (text) => `%${text}%`,
}

/** The operand of `like` with `escape '!'`. */
function pattern({ part }: Match, operand: string): string {
  return patterns[part](operand.replace(/[!%_]/g, '!$&'))
}

function related(filter: Extract<Filter, { kind: 'related' }>, scope: Scope): Sql {
  const inner: Scope = { ...scope.next(), place: 'condition' }
  const { relation, target, quantifier } = filter
  const joins = joined(relation, inner, scope)
  const condition =
    quantifier === 'every'
      ? [sql`(${predicate(filter.filter, alternative(inner))}) is not true`]
      : conjuncts(filter.filter, inner)
  const where = join([...joins, ...conjuncts(filter.rows, inner), ...condition], sql` and `)
  const once = scope.place === 'alternative' ? scope.dialect.plannedOnce : empty
  const found = sql`select 1 from ${table(target)} ${ident(inner.alias)} where ${where}${once}`
  return quantifier === 'some' ? sql`exists (${found}${scope.lock})` : scope.dialect.without(found, scope.lock)
}
