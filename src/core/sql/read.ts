/**
 * Compiles a ReadPlan of any depth into one statement. Every table gets its own alias, every column is qualified by
 * one, and filters of policies and requests are compiled by the same code.
 */
import type { RelationField } from '../model/model.ts'
import type { Aggregate, Page, ReadPlan, SelectedAggregates, SelectedRelation, Selection } from '../plan/plan.ts'
import { all, type FieldRef, type Filter } from '../query/filter.ts'
import type { Dialect } from './dialect.ts'
import { markOf } from './read/order.ts'
import { nullsApart, pageOf, rowsOf } from './read/page.ts'
import { conjuncts, predicate, whereVisible } from './read/predicate.ts'
import type { RowQuery } from './read/row-query.ts'
import { column, joined, rootScope, type Scope, table } from './read/scope.ts'
import { compileTemplate, empty, ident, join, type Sql, type StatementTemplate, sql } from './statement.ts'

export function compileRead(plan: ReadPlan, dialect: Dialect): StatementTemplate {
  const { page } = plan
  const rows = listed(plan, rootScope(dialect))
  if (page === undefined) return compileTemplate(dialect.one(rows), dialect)
  const statement = compileTemplate(dialect.list(rows, plan.count ? countAll(plan, dialect) : undefined), dialect)
  return page.limit > LARGE_PAGE ? { ...statement, isLarge: true } : statement
}

/**
 * The first stretch of a walk's page: it is the whole page if rows remain after it. Undefined for a page of one stretch, and if
 * the database itself reads the second stretch only after the first has ended.
 */
export function compileFirstStretch(plan: ReadPlan, dialect: Dialect): StatementTemplate | undefined {
  const { parts, ...rows } = listed(plan, rootScope(dialect))
  if (parts === undefined || rows.walk?.cursorOptions === undefined || dialect.splitsNulls) return undefined
  return compileTemplate(dialect.list(rows, plan.count ? countAll(plan, dialect) : undefined), dialect)
}

/** Compiles a long list in pieces (see `Dialect`); undefined if reading it at once is better. */
export function compilePieces(plan: ReadPlan, dialect: Dialect): StatementTemplate | undefined {
  const { page } = plan
  if (page === undefined || page.limit <= LARGE_PAGE || plan.count || dialect.pieces === undefined) return undefined
  if (page.walk !== undefined) return undefined
  return compileTemplate(dialect.pieces(listed(plan, rootScope(dialect))), dialect)
}

export function listed(plan: ReadPlan, scope: Scope): RowQuery {
  const { collection, selection, where, page } = plan
  const isSplit = scope.dialect.splitsNulls && page?.walk?.start === undefined
  const parts = isSplit ? nullsApart(plan, scope) : undefined
  const rows = rendered(selection, scope, page)
  const condition = where.kind === 'all' ? undefined : predicate(where, scope)
  return {
    ...rows,
    ...pageOf(collection, page, { scope, row: rows.row, condition }),
    ...(parts !== undefined && { parts }),
  }
}

/** Number of rows from which a list counts as large. */
const LARGE_PAGE = 1_000

export function countAll({ collection, where }: ReadPlan, dialect: Dialect): Sql {
  const scope = rootScope(dialect)
  return sql`select count(*) from ${table(collection)} ${ident(scope.alias)}${whereClause(where, scope)}`
}

function whereClause(filter: Filter, scope: Scope): Sql {
  return filter.kind === 'all' ? empty : sql` where ${predicate(filter, scope)}`
}

/** The selected members of each row as named expressions, and the row's columns that they use. */
export function rendered(selection: Selection, scope: Scope, page?: Page): Pick<RowQuery, 'members' | 'row' | 'mark'> {
  const shown: Scope = { ...scope, named: new Set() }
  const rendering = members(selection, shown)
  const marked = page?.walk?.withCursors === true ? { mark: markOf(page.order, page.walk.digest, shown) } : {}
  return { members: rendering, ...marked, row: { alias: scope.alias, columns: [...shown.named] } }
}

function members(selection: Selection, scope: Scope): RowQuery['members'] {
  return selection.map((selected) => {
    if (selected.kind === 'field') {
      return { name: selected.name, value: onWire(selected, scope) }
    }
    if (selected.kind === 'tag') {
      const tag = sql`concat('"', ${tagOf(selected.shown, scope)}, '"')`
      return { name: selected.name, value: whereVisible(tag, selected.visible, scope) }
    }
    const value =
      selected.kind === 'relation'
        ? relatedRows(selected, scope)
        : sql`concat('{"aggregate":', ${aggregatesOf(selected, selected.aggregates, scope)}, '}')`
    return { name: selected.name, value: whereVisible(value, selected.visible, scope) }
  })
}

function relatedRows(selected: SelectedRelation, scope: Scope): Sql {
  const { dialect } = scope
  const { relation, page, aggregates } = selected
  const inner = scope.next()
  const below = rendered(selected.selection, inner, page)
  const condition = behindRelation(selected, inner, scope)
  const rows: RowQuery = {
    ...below,
    lock: inner.lock,
    ...pageOf(relation.target, page, { scope: inner, row: below.row, condition }),
    ...(aggregates !== undefined && { aggregate: aggregatesOf(selected, aggregates, scope) }),
  }
  return page === undefined ? dialect.nestedOne(rows) : dialect.nestedMany(rows)
}

/** A scalar query over all related rows, whatever their page. */
function aggregatesOf(
  selected: SelectedRelation | SelectedAggregates,
  aggregates: readonly Aggregate[],
  scope: Scope,
): Sql {
  const { inList } = scope.dialect
  if (inList === undefined) throw new TypeError('the dialect has not loaded aggregates')
  const inner = scope.next()
  const shown = (value: Sql, visible: Filter) => whereVisible(value, visible, inner)
  const values = inList(aggregates, { alias: inner.alias, shown })
  const from = rowsOf(selected.relation.target, behindRelation(selected, inner, scope), inner)
  return sql`(select ${values}${from}${inner.lock})`
}

/** The condition for the target's rows that are related to a row of `scope`, and visible. */
function behindRelation(
  { relation, links = all, where }: SelectedRelation | SelectedAggregates,
  target: Scope,
  scope: Scope,
): Sql {
  return join([...linked(relation, links, { own: scope, target }), ...conjuncts(where, target)], sql` and `)
}

/** The entity tag of a row, from its text as reading this selection renders it. */
export function tagOf(selection: Selection, scope: Scope): Sql {
  return scope.dialect.tag(members(selection, scope))
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
  return [sql`exists (select 1 from ${table(through.near.target)} ${ident(link.alias)} where ${where}${own.lock})`]
}

/** Hides the rendered value instead of rendering the hidden one, because rendering may use its column several times. */
function onWire({ field, visible }: FieldRef, scope: Scope): Sql {
  return whereVisible(scope.dialect.wire(column(field, scope), field), visible, scope)
}
