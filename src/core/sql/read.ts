/**
 * Compiles a ReadPlan of any depth into one statement. Every table gets its own alias, every column is qualified by
 * one, and filters of policies and requests are compiled by the same code.
 */
import type { Collection, PrimitiveField, RelationField } from '../model/model.ts'
import type {
  Aggregate,
  Order,
  Page,
  ReadPlan,
  SelectedAggregates,
  SelectedRelation,
  Selection,
  Walk,
} from '../plan/plan.ts'
import { isNullable } from '../plan/walk.ts'
import { cursorHead } from '../query/cursor.ts'
import { all, and, type FieldRef, type Filter, type Match } from '../query/filter.ts'
import type { Operand } from '../query/placeholder.ts'
import type { Dialect, RowQuery, RowsPart } from './dialect.ts'
import { behind, reversed } from './read/walk.ts'
import {
  compileTemplate,
  empty,
  ident,
  join,
  literal,
  param,
  type Sql,
  type StatementTemplate,
  sql,
} from './statement.ts'

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

type Rendered = { readonly scope: Scope; readonly row: RowQuery['row']; readonly condition: Sql | undefined }

/** The rows of a page, and how it is chosen. */
function pageOf(
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
  return { ...first, ...(rows.length > 1 && { parts: rows }), ...walked(page, page.walk), ...how }
}

function walked(page: Page, walk: Walk): Pick<RowQuery, 'page' | 'walk'> {
  const { limit, offset } = page
  const { direction, start, asked } = walk
  if (!walk.isTold) return { page, walk: { direction, told: undefined } }
  const told = {
    limit,
    isBehind: start !== undefined || offset > 0,
    asked: asked === undefined ? undefined : param(asked),
  }
  return { page: { limit: limit + 1, offset }, walk: { direction, told } }
}

/** The JSON text of the cursor of a row. */
function markOf(order: readonly Order[], digest: string, scope: Scope): Sql {
  const values = order.map((term) => {
    const value = reached(term, scope, (own) => scope.dialect.mark(column(term.field, own), term.field))
    return sql`coalesce(${value}, 'null')`
  })
  return sql`concat(${literal(cursorHead(digest))}, ${join(values, sql`, ',', `)}, ']')`
}

/**
 * The rows behind a cursor, in the order of the walk: as one stretch, or as two where an index has those without a value in
 * its first column at another end than those behind the value of the cursor.
 */
function stretches(
  collection: Collection,
  { order, walk }: Page & { readonly walk: Walk },
  { scope, condition }: { readonly scope: Scope; readonly condition: Sql | undefined },
): readonly RowsPart[] {
  const terms = walk.direction === 'forward' ? order : reversed(order)
  const places = walk.start?.map((operand, index): Placed => ({ term: terms[index] as Order, operand }))
  const stretch = (conditions: readonly Sql[], placed: readonly Placed[], sorted: readonly Order[]): RowsPart => {
    const cursor = placed.length === 0 ? [] : [behindAll(placed, scope)]
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
  const full = (placed: readonly Placed[]) => stretch([sql`${field} is not null`], placed, [filled, ...rest])
  const missing = (placed: readonly Placed[]) =>
    stretch([sql`${field} is null`], placed, scope.dialect.splitsNulls ? rest : terms)
  if (start.operand === null) return first.nulls === 'first' ? [missing(others), full([])] : [missing(others)]
  const own = full([{ ...start, term: filled }, ...others])
  return first.nulls === 'last' ? [own, missing([])] : [own]
}

type Placed = { readonly term: Order; readonly operand: Operand | null }

function behindAll(places: readonly Placed[], scope: Scope): Sql {
  const terms = places.map(({ term, operand }) => ({
    direction: term.direction,
    nulls: term.nulls,
    value: sortable(term, scope, true),
    operand: operand === null ? undefined : scope.dialect.placed(term.field, operand),
    isNullable: isNullable(term),
  }))
  return behind(terms, scope.dialect)
}

/** Whether rows with and without a value in the first column of an order may be read apart. */
function mayBeSplit({ indexes }: Collection, { field, visible, path }: Order): boolean {
  const isBare = visible.kind === 'all' && path.length === 0
  return isBare && field.isNullable && indexes.some(({ fields }) => fields[0] === field)
}

/** How a page is best chosen. */
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
 * A page is chosen by keys, whose rows are then looked up, where what is skipped or sorted is better as narrow as can be:
 * to look a row up costs what it costs to skip as many, or to sort them with as many columns more.
 */
const SKIPPED_PER_LOOK_UP = 40
const SORTED_PER_LOOK_UP = 2

/** Parts of a condition up to which it is written twice; a statement has a maximum of parts, and of parameters. */
const MOST_REPEATED = 1_000

function rowsOf(collection: Collection, condition: Sql | undefined, scope: Scope): Sql {
  const where = condition === undefined ? empty : sql` where ${condition}`
  return sql` from ${table(collection)} ${ident(scope.alias)}${where}`
}

/** Rows with and without a value in the first column of the order, where an index begins with it. */
function nullsApart({ collection, where, page }: ReadPlan, scope: Scope): RowQuery['parts'] {
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

/** Number of rows from which a list counts as large. */
const LARGE_PAGE = 1_000

/**
 * The alias of the current rows, how to create further aliases, and what ends each `select` of a condition. `named`
 * gathers the columns that are compiled in it.
 */
export type Scope = {
  readonly dialect: Dialect
  readonly alias: string
  readonly next: () => Scope
  readonly lock: Sql
  readonly named: Set<string>
  /** Whether so many operands more may stand in the text one by one, instead of in one array. */
  readonly mayCount: (operands: number) => boolean
}

/** Policies may have thousands of lists of a few operands each. */
const MOST_COUNTED = 200

/** `alias` names the first rows; it must differ from the generated ones (`t1`, `t2`, …). */
export function rootScope(dialect: Dialect, alias = 't0', lock = empty): Scope {
  let count = 1
  let counted = 0
  const mayCount = (operands: number) => {
    counted += operands
    return counted <= MOST_COUNTED
  }
  const next = (): Scope => ({ dialect, alias: `t${count++}`, next, lock, named: new Set(), mayCount })
  return { dialect, alias, next, lock, named: new Set(), mayCount }
}

export function table(collection: Pick<Collection, 'schema' | 'dbName'>): Sql {
  return collection.schema === undefined ? ident(collection.dbName) : ident(collection.schema, collection.dbName)
}

export function countAll({ collection, where }: ReadPlan, dialect: Dialect): Sql {
  const scope = rootScope(dialect)
  return sql`select count(*) from ${table(collection)} ${ident(scope.alias)}${whereClause(where, scope)}`
}

function whereClause(filter: Filter, scope: Scope): Sql {
  return filter.kind === 'all' ? empty : sql` where ${predicate(filter, scope)}`
}

/** The selected members of each row, as named expressions, and the columns of the row that they name. */
export function rendered(selection: Selection, scope: Scope, page?: Page): Pick<RowQuery, 'members' | 'row' | 'mark'> {
  const shown: Scope = { ...scope, named: new Set() }
  const rendering = members(selection, shown)
  const told = page?.walk?.isTold === true ? { mark: markOf(page.order, page.walk.digest, shown) } : {}
  return { members: rendering, ...told, row: { alias: scope.alias, columns: [...shown.named] } }
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

/** Which rows of the target are related to a row of `scope`, and seen. */
function behindRelation(
  { relation, links = all, where }: SelectedRelation | SelectedAggregates,
  target: Scope,
  scope: Scope,
): Sql {
  return join([...linked(relation, links, { own: scope, target }), ...conjuncts(where, target)], sql` and `)
}

/** The tag of a row's text, as reading this selection renders it. */
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

export function conjuncts(filter: Filter, scope: Scope): readonly Sql[] {
  return filter.kind === 'all' ? [] : [predicate(filter, scope)]
}

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

/** What a row is sorted by, in a walk by what a cursor is compared with. */
function sortable(term: Order, scope: Scope, isWalk: boolean): Sql {
  const isBare = term.path.length === 0 && term.visible.kind === 'all'
  if (isBare && !isWalk) return sortableColumn(term, scope)
  return reached(term, scope, (own) => scope.dialect.ranked(column(term.field, own), term.field))
}

/** A field of an order. A related row that is hidden, or missing, counts as null, as reading shows it. */
function reached({ path: [step, ...path], ...term }: Order, scope: Scope, value: (own: Scope) => Sql): Sql {
  if (step === undefined) return whereVisible(value(scope), term.visible, scope)
  const inner = scope.next()
  const { relation, rows, visible } = step
  const where = join([...joined(relation, inner, scope), ...conjuncts(rows, inner)], sql` and `)
  const from = sql`${table(relation.target)} ${ident(inner.alias)}`
  const found = sql`(select ${reached({ ...term, path }, inner, value)} from ${from} where ${where} limit 1)`
  return whereVisible(found, visible, scope)
}

function column(field: PrimitiveField, scope: Scope): Sql {
  scope.named.add(field.dbName)
  return ident(scope.alias, field.dbName)
}

export function joined({ joins }: RelationField, target: Scope, own: Scope): readonly Sql[] {
  return joins.map((pair) => sql`${keyColumn(pair.other, target)} = ${keyColumn(pair.own, own)}`)
}

/** A column of a key, as it is compared with another. */
export function keyColumn(field: PrimitiveField, scope: Scope): Sql {
  const own = column(field, scope)
  return field.native ? scope.dialect.compared(own, field) : own
}

/** Not the form of what is visible, since the form may name its column several times. */
function onWire({ field, visible }: FieldRef, scope: Scope): Sql {
  return whereVisible(scope.dialect.wire(column(field, scope), field), visible, scope)
}

/** A field as its reader sees it: null where it is not visible. */
function reference(ref: FieldRef, scope: Scope): Sql {
  return whereVisible(column(ref.field, scope), ref.visible, scope)
}

function comparable(ref: FieldRef, scope: Scope): Sql {
  return whereVisible(scope.dialect.compared(column(ref.field, scope), ref.field), ref.visible, scope)
}

/** A column of a type that has an order: a cast would keep its index from serving it, and JSON has another one. */
function sortableColumn(ref: FieldRef, scope: Scope): Sql {
  return ref.field.native?.isOrdered === true ? reference(ref, scope) : comparable(ref, scope)
}

export function whereVisible(value: Sql, visible: Filter, scope: Scope): Sql {
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
      return sql`${reference(filter, scope)} ${filter.negated ? sql`is not null` : sql`is null`}`
    case 'related':
      return related(filter, scope)
  }
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
  const inner = scope.next()
  const { relation, target, quantifier } = filter
  const joins = joined(relation, inner, scope)
  const condition =
    quantifier === 'every' ? [sql`(${predicate(filter.filter, inner)}) is not true`] : conjuncts(filter.filter, inner)
  const where = join([...joins, ...conjuncts(filter.rows, inner), ...condition], sql` and `)
  const found = sql`select 1 from ${table(target)} ${ident(inner.alias)} where ${where}`
  return quantifier === 'some' ? sql`exists (${found}${scope.lock})` : scope.dialect.without(found, scope.lock)
}
