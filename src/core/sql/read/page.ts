/** Selects the rows of a page in the best way: by an index, by keys, or in two stretches. */
import type { Collection } from '../../model/model.ts'
import type { Order, Page, ReadPlan, Walk } from '../../plan/plan.ts'
import { isNullable } from '../../plan/walk.ts'
import { and } from '../../query/filter.ts'
import type { Operand } from '../../query/placeholder.ts'
import { empty, ident, join, param, type Sql, sql } from '../statement.ts'
import { orderBy, sortable } from './order.ts'
import { predicate } from './predicate.ts'
import type { RowQuery, RowsPart } from './row-query.ts'
import { column, type Scope, table } from './scope.ts'
import { behind, reversed } from './walk.ts'

type Rendered = { readonly scope: Scope; readonly row: RowQuery['row']; readonly condition: Sql | undefined }

/** The rows of a page, and how to select them. */
export function pageOf(
  collection: Collection,
  page: Page | undefined,
  { scope, row, condition }: Rendered,
): Omit<RowQuery, 'members' | 'row' | 'mark' | 'lock'> {
  if (page === undefined) {
    return { from: rowsOf(collection, condition, scope), page, order: undefined, isIndexed: false }
  }
  const how = paged(collection, page, { row, condition })
  if (page.walk === undefined) {
    return { from: rowsOf(collection, condition, scope), page, order: orderBy(page.order, scope), ...how }
  }
  const rows = stretches(collection, { ...page, walk: page.walk }, { scope, condition })
  const [first = { from: rowsOf(collection, condition, scope), order: undefined }] = rows
  return { ...first, ...(rows.length > 1 && { parts: rows }), ...withWalk(page, page.walk), ...how }
}

function withWalk(page: Page, walk: Walk): Pick<RowQuery, 'page' | 'walk'> {
  const { limit, offset } = page
  const { direction, start, sentCursor } = walk
  if (!walk.withCursors) return { page, walk: { direction, cursorOptions: undefined } }
  const cursorOptions = {
    limit,
    isBehind: start !== undefined || offset > 0,
    sentCursor: sentCursor === undefined ? undefined : param(sentCursor),
  }
  return { page: { limit: limit + 1, offset }, walk: { direction, cursorOptions } }
}

/**
 * The rows after a cursor, in the order of the walk: as one stretch, or as two if an index has the nulls of its first column at
 * another end than the rows after the cursor's value.
 */
function stretches(
  collection: Collection,
  { order, walk }: Page & { readonly walk: Walk },
  { scope, condition }: { readonly scope: Scope; readonly condition: Sql | undefined },
): readonly RowsPart[] {
  const terms = walk.direction === 'forward' ? order : reversed(order)
  const places = walk.start?.map((operand, index): CursorTerm => ({ term: terms[index] as Order, operand }))
  const stretch = (
    conditions: readonly Sql[],
    cursorTerms: readonly CursorTerm[],
    sorted: readonly Order[],
  ): RowsPart => {
    const cursor = cursorTerms.length === 0 ? [] : [behindAll(cursorTerms, scope)]
    const all = [...(condition === undefined ? [] : [condition]), ...conditions, ...cursor]
    return {
      from: rowsOf(collection, all.length === 0 ? undefined : join(all, sql` and `), scope),
      order: orderBy(sorted, scope, true),
    }
  }
  const [first, ...rest] = terms
  const [start, ...others] = places ?? []
  if (first === undefined || start === undefined || !mayBeSplit(collection, first)) {
    return [stretch([], places ?? [], terms)]
  }
  const field = column(first.field, scope)
  const filled: Order = { ...first, field: { ...first.field, isNullable: false } }
  const full = (cursorTerms: readonly CursorTerm[]) =>
    stretch([sql`${field} is not null`], cursorTerms, [filled, ...rest])
  const missing = (cursorTerms: readonly CursorTerm[]) =>
    stretch([sql`${field} is null`], cursorTerms, scope.dialect.splitsNulls ? rest : terms)
  if (start.operand === null) return first.nulls === 'first' ? [missing(others), full([])] : [missing(others)]
  const own = full([{ ...start, term: filled }, ...others])
  return first.nulls === 'last' ? [own, missing([])] : [own]
}

type CursorTerm = { readonly term: Order; readonly operand: Operand | null }

function behindAll(places: readonly CursorTerm[], scope: Scope): Sql {
  const terms = places.map(({ term, operand }) => ({
    direction: term.direction,
    nulls: term.nulls,
    value: sortable(term, scope, true),
    operand: operand === null ? undefined : scope.dialect.cursorValue(term.field, operand),
    isNullable: isNullable(term),
  }))
  return behind(terms, scope.dialect)
}

/** True if rows with and without a value in the first column of an order may be read separately. */
function mayBeSplit({ indexes }: Collection, { field, visible, path }: Order): boolean {
  const isBare = visible.kind === 'all' && path.length === 0
  return isBare && field.isNullable && indexes.some(({ fields }) => fields[0] === field)
}

/** Decides how to select a page. */
function paged(
  collection: Collection,
  page: Page,
  { row, condition }: { readonly row: RowQuery['row']; readonly condition: Sql | undefined },
): Pick<RowQuery, 'isIndexed' | 'keyed'> {
  const { identity, indexes, isView, isInherited } = collection
  const [first] = page.order
  const isIndexed =
    first?.visible.kind === 'all' &&
    first.path.length === 0 &&
    (!first.field.isNullable || (first.direction === 'asc') === (first.nulls === 'last')) &&
    indexes.some(({ fields }) => fields[0] === first.field)
  const isLong = condition !== undefined && condition.parts.length > MOST_REPEATED
  if (isView || isInherited || isLong || identity.length === 0) return { isIndexed }
  const key = identity.map(({ dbName }) => dbName)
  const others = row.columns.filter((name) => !key.includes(name)).length
  const isKeyed = isIndexed ? page.offset >= page.limit * SKIPPED_PER_LOOK_UP : others > SORTED_PER_LOOK_UP
  return isKeyed ? { isIndexed, keyed: { table: table(collection), key, condition } } : { isIndexed }
}

/**
 * A page is selected by keys, and its rows looked up afterwards, if narrow rows make skipping or sorting cheaper. Looking up a
 * row costs as much as skipping SKIPPED_PER_LOOK_UP rows, or as sorting with SORTED_PER_LOOK_UP more columns.
 */
const SKIPPED_PER_LOOK_UP = 40
const SORTED_PER_LOOK_UP = 2

/** Maximum parts of a condition that is written twice; a statement has a maximum of parts, and of parameters. */
const MOST_REPEATED = 1_000

export function rowsOf(collection: Collection, condition: Sql | undefined, scope: Scope): Sql {
  const where = condition === undefined ? empty : sql` where ${condition}`
  return sql` from ${table(collection)} ${ident(scope.alias)}${where}`
}

/** The rows with, and those without, a value in the first column of the order, if an index begins with that column. */
export function nullsApart({ collection, where, page }: ReadPlan, scope: Scope): RowQuery['parts'] {
  const [first, ...rest] = page?.order ?? []
  if (first === undefined || !mayBeSplit(collection, first)) return undefined
  const { field, visible } = first
  const isWalk = page?.walk !== undefined
  const part = (negated: boolean, order: readonly Order[]) => ({
    from: rowsOf(collection, predicate(and([where, { kind: 'null', field, visible, negated }]), scope), scope),
    order: orderBy(order, scope, isWalk),
  })
  const withValue = part(true, [{ ...first, field: { ...field, isNullable: false } }, ...rest])
  const without = part(false, rest)
  return first.nulls === 'last' ? [withValue, without] : [without, withValue]
}
