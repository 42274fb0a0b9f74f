/**
 * Compiles a ReadPlan of any depth into one statement. Every table gets its own alias, every column is qualified by
 * one, and filters of policies and requests are compiled by the same code.
 */
import type { Collection, PrimitiveField, RelationField } from '../model/model.ts'
import type { Order, ReadPlan, Selection } from '../plan/plan.ts'
import { all, and, type FieldRef, type Filter, type Match } from '../query/filter.ts'
import type { Dialect, RowQuery } from './dialect.ts'
import { compileTemplate, empty, ident, join, type Sql, type StatementTemplate, sql } from './statement.ts'

export function compileRead(plan: ReadPlan, dialect: Dialect): StatementTemplate {
  const { page } = plan
  const rows = listed(plan, rootScope(dialect))
  if (page === undefined) return compileTemplate(dialect.one(rows), dialect)
  const statement = compileTemplate(dialect.list(rows, plan.count ? countAll(plan, dialect) : undefined), dialect)
  return page.limit > LARGE_PAGE ? { ...statement, isLarge: true } : statement
}

/** Compiles a long list in pieces (see `Dialect`); undefined where it is better read at once. */
export function compilePieces(plan: ReadPlan, dialect: Dialect): StatementTemplate | undefined {
  const { page } = plan
  if (page === undefined || page.limit <= LARGE_PAGE || plan.count || dialect.pieces === undefined) return undefined
  return compileTemplate(dialect.pieces(listed(plan, rootScope(dialect))), dialect)
}

function listed(plan: ReadPlan, scope: Scope): RowQuery {
  const { selection, where, page } = plan
  const parts = scope.dialect.splitsNulls ? nullsApart(plan, scope) : undefined
  return {
    members: members(selection, scope),
    from: rowsOf(plan.collection, where, scope),
    order: page === undefined ? undefined : orderBy(page.order, scope),
    page,
    ...(parts !== undefined && { parts }),
  }
}

function rowsOf(collection: Collection, where: Filter, scope: Scope): Sql {
  return sql` from ${table(collection)} ${ident(scope.alias)}${whereClause(where, scope)}`
}

/** Rows with and without a value in the first column of the order, where an index begins with it. */
function nullsApart({ collection, where, page }: ReadPlan, scope: Scope): RowQuery['parts'] {
  const [first, ...rest] = page?.order ?? []
  if (first?.field.isNullable !== true || first.visible.kind !== 'all') return undefined
  const { field, visible } = first
  if (!collection.indexes.some(({ fields }) => fields[0] === field)) return undefined
  const part = (negated: boolean, order: readonly Order[]) => ({
    from: rowsOf(collection, and([where, { kind: 'null', field, visible, negated }]), scope),
    order: orderBy(order, scope),
  })
  const withValue = part(true, [{ ...first, field: { ...field, isNullable: false } }, ...rest])
  const without = part(false, rest)
  return first.nulls === 'last' ? [withValue, without] : [without, withValue]
}

/** Number of rows from which a list counts as large. */
const LARGE_PAGE = 1_000

/** The alias of the current rows, and how to create further aliases. */
export type Scope = { readonly dialect: Dialect; readonly alias: string; readonly next: () => Scope }

/** `alias` names the first rows; it must differ from the generated ones (`t1`, `t2`, …). */
export function rootScope(dialect: Dialect, alias = 't0'): Scope {
  let count = 1
  const next = (): Scope => ({ dialect, alias: `t${count++}`, next })
  return { dialect, alias, next }
}

export function table(collection: Pick<Collection, 'schema' | 'dbName'>): Sql {
  return collection.schema === undefined ? ident(collection.dbName) : ident(collection.schema, collection.dbName)
}

function countAll({ collection, where }: ReadPlan, dialect: Dialect): Sql {
  const scope = rootScope(dialect)
  return sql`select count(*) from ${table(collection)} ${ident(scope.alias)}${whereClause(where, scope)}`
}

function whereClause(filter: Filter, scope: Scope): Sql {
  return filter.kind === 'all' ? empty : sql` where ${predicate(filter, scope)}`
}

/** The selected members of each row, as named expressions. */
export function members(selection: Selection, scope: Scope): RowQuery['members'] {
  const { dialect } = scope
  return selection.map((selected) => {
    if (selected.kind === 'field') {
      return { name: selected.name, value: rendered(selected, scope) }
    }
    const inner = scope.next()
    const { relation, where, page } = selected
    const rows: RowQuery = {
      members: members(selected.selection, inner),
      from: sql` from ${table(relation.target)} ${ident(inner.alias)} where ${join(
        [...linked(relation, selected.links ?? all, { own: scope, target: inner }), ...conjuncts(where, inner)],
        sql` and `,
      )}`,
      order: page === undefined ? undefined : orderBy(page.order, inner),
      page,
    }
    const value = page === undefined ? dialect.nestedOne(rows) : dialect.nestedMany(rows)
    return { name: selected.name, value: whereVisible(value, selected.visible, scope) }
  })
}

/** A many-to-many field has each row once, however often the junction links it. */
function linked(
  relation: RelationField,
  links: Filter,
  { own, target }: { readonly own: Scope; readonly target: Scope },
): readonly Sql[] {
  const { through } = relation
  if (through === undefined) return joined(relation, target, own)
  const link = own.next()
  const where = join(
    [...joined(through.near, link, own), ...joined(through.far, target, link), ...conjuncts(links, link)],
    sql` and `,
  )
  return [sql`exists (select 1 from ${table(through.near.target)} ${ident(link.alias)} where ${where})`]
}

function conjuncts(filter: Filter, scope: Scope): readonly Sql[] {
  return filter.kind === 'all' ? [] : [predicate(filter, scope)]
}

function orderBy(order: readonly Order[], scope: Scope): Sql | undefined {
  if (order.length === 0) return undefined
  return join(
    order.map((part) =>
      scope.dialect.ordered(sortable(part, scope), {
        direction: part.direction,
        nulls: part.nulls,
        isNullable: part.field.isNullable || part.visible.kind !== 'all',
      }),
    ),
  )
}

function column(field: PrimitiveField, scope: Scope): Sql {
  return ident(scope.alias, field.dbName)
}

function joined({ joins }: RelationField, target: Scope, own: Scope): readonly Sql[] {
  return joins.map((pair) => sql`${keyColumn(pair.other, target)} = ${keyColumn(pair.own, own)}`)
}

/** A column of a key, as it is compared with another. */
export function keyColumn(field: PrimitiveField, scope: Scope): Sql {
  const own = column(field, scope)
  return field.native ? scope.dialect.compared(own, field) : own
}

/** Not the form of what is visible, since the form may name its column several times. */
function rendered({ field, visible }: FieldRef, scope: Scope): Sql {
  return whereVisible(scope.dialect.wire(column(field, scope), field), visible, scope)
}

/** A field as its reader sees it: null where it is not visible. */
function reference(ref: FieldRef, scope: Scope): Sql {
  return whereVisible(column(ref.field, scope), ref.visible, scope)
}

function comparable(ref: FieldRef, scope: Scope): Sql {
  return whereVisible(scope.dialect.compared(column(ref.field, scope), ref.field), ref.visible, scope)
}

/** A cast to its own type would keep a column's index from serving the order. */
function sortable(ref: FieldRef, scope: Scope): Sql {
  const { native, type } = ref.field
  return native?.isOrdered === true && type.name !== 'json' ? reference(ref, scope) : comparable(ref, scope)
}

function whereVisible(value: Sql, visible: Filter, scope: Scope): Sql {
  return visible.kind === 'all' ? value : sql`case when ${predicate(visible, scope)} then ${value} end`
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
        filter.filters.map((part) => predicate(part, scope)),
        sql` or `,
      )})`
    case 'not':
      return sql`not (${predicate(filter.filter, scope)})`
    case 'isTrue':
      return sql`(${predicate(filter.filter, scope)}) is true`
    case 'compare':
      return dialect.compare(comparable(filter, scope), filter.field, filter)
    case 'match': {
      const match = dialect.matches(comparable(filter, scope), filter.field, {
        pattern: pattern(filter.match, filter.operand),
        ignoreCase: filter.match.ignoreCase,
      })
      return filter.negated ? sql`not (${match})` : match
    }
    case 'between': {
      const low = dialect.typed(filter.field, filter.low)
      const high = dialect.typed(filter.field, filter.high)
      return sql`${comparable(filter, scope)} ${filter.negated ? sql`not between` : sql`between`} ${low} and ${high}`
    }
    case 'in': {
      const match = dialect.isOneOf(comparable(filter, scope), filter.field, filter.operands)
      return filter.negated ? sql`not (${match})` : match
    }
    case 'null':
      return sql`${reference(filter, scope)} ${filter.negated ? sql`is not null` : sql`is null`}`
    case 'related':
      return related(filter, scope)
  }
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
  const inner = scope.next()
  const { relation, target, quantifier } = filter
  const joins = joined(relation, inner, scope)
  const condition =
    quantifier === 'every' ? [sql`(${predicate(filter.filter, inner)}) is not true`] : conjuncts(filter.filter, inner)
  const where = join([...joins, ...conjuncts(filter.rows, inner), ...condition], sql` and `)
  const exists = sql`exists (select 1 from ${table(target)} ${ident(inner.alias)} where ${where})`
  return quantifier === 'some' ? exists : sql`not ${exists}`
}
