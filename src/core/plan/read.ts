/**
 * Plans a read from ReadQuery, Model and Access. Joins the caller's row filter to the request's by `and`, and enforces
 * the limits of docs/contract.md#bounds-of-a-request that depend on the model.
 */

import { type Granted, linkRows, type Viewer, visibility } from '../access/access.ts'
import { shortName } from '../message-text.ts'
import type { Collection, PrimitiveField, RelationField } from '../model/model.ts'
import type { BracketNode } from '../query/brackets.ts'
import { all, and, type FieldRef, type Filter, none } from '../query/filter.ts'
import {
  type DeepArguments,
  type ListArguments,
  MAX_RELATION_DEPTH,
  MAX_SELECTED_FIELDS,
  noArguments,
  queryFault,
  type ReadQuery,
  type RelationArguments,
  tooManyRelations,
} from '../query/parse.ts'
import { hidesNothing } from '../query/visible-filter.ts'
import { type Rows, requireRowBudget, USUAL_LIST } from './budget.ts'
import { readableField, relatedAccess } from './names.ts'
import { pathField } from './path-field.ts'
import type {
  Aggregate,
  Order,
  Page,
  ReadPlan,
  Selected,
  SelectedAggregates,
  SelectedField,
  SelectedRelation,
  Selection,
} from './plan.ts'
import { planWalk } from './walk.ts'
import { requestFilter } from './where.ts'

export type PageLimits = { readonly default: number; readonly max: number }

export type ReadContext = {
  readonly viewer: Viewer
  readonly collection: Collection
  readonly access: Granted
  readonly limits: PageLimits
  /** Maximum number of rows in one read (SERVICE_QUERY__MAX_ROWS). */
  readonly maxRows: number
  /** Rows that the reads of a request with several calls may return; increased as they are planned. */
  readonly spent?: { rows: number } | undefined
  /** Undefined until it is loaded (`Unloaded`). */
  readonly planInList?: PlanInList | undefined
}

/** Plans the aggregates of a related list in the context of its collection; `node` was sent at `path`. */
export type PlanInList = (context: ReadContext, node: BracketNode, path: string) => readonly Aggregate[]

/** Thrown if `planInList` is needed but not loaded: the caller loads it and plans again. */
export class Unloaded extends Error {}

/** Plans a list. `query` is the result of `parseListQuery`. */
export function planList(context: ReadContext, query: ReadQuery): ReadPlan {
  const selection = planFields(context, query)
  const requested = requestFilter(context.viewer, context.collection, query.filter, 'filter')
  const where = and([context.access.rows, requested])
  const isSeen = context.access.rows.kind === 'all' && hidesNothing(requested)
  const page = planPage(context, query, { default: context.limits.default, path: '' })
  spendRows(context, selection, { own: page.limit, isPage: true })
  return {
    kind: 'read',
    collection: context.collection,
    selection,
    where,
    page,
    count: query.totalCount,
    ...(query.totalEstimate && { estimate: isSeen ? 'planned' : 'counted' }),
  }
}

/** Plans the read of the one item that `where` matches. */
export function planOne(context: ReadContext, query: ReadQuery, where: Filter): ReadPlan {
  return {
    kind: 'read',
    collection: context.collection,
    selection: planSelection(context, query, { rows: 1 }),
    where: and([context.access.rows, where, requestFilter(context.viewer, context.collection, query.filter, 'filter')]),
    page: undefined,
    count: false,
  }
}

/**
 * Plans the selection for at most `rows` rows; without `fields`, all primitive fields that the caller may read. Rows
 * outside of `within` have only null values; only writes return such rows.
 */
export function planSelection(
  context: ReadContext,
  query: Pick<ReadQuery, 'fields' | 'deep'>,
  { rows, within = all }: { readonly rows: number; readonly within?: Filter },
): Selection {
  const selection = planFields(context, query)
  spendRows(context, selection, { own: rows, isPage: false })
  if (within.kind === 'all') return selection
  return selection.map((selected) => ({ ...selected, visible: and([within, selected.visible]) }))
}

function spendRows({ maxRows: most, spent = { rows: 0 } }: ReadContext, selection: Selection, rows: Rows): void {
  spent.rows += requireRowBudget(selection, rows, { most, spent: spent.rows })
}

function planFields(context: ReadContext, query: Pick<ReadQuery, 'fields' | 'deep'>): Selection {
  const wanted: Wanted = { fields: new Set(), relations: new Map() }
  for (const path of query.fields ?? ['*']) want(wanted, path.split('.'))
  // A table may have more fields than can be selected by name: `*` does not count against the limit.
  const own = wanted.fields.has('*') ? shownFields(context.collection, context.access).length : 0
  const most = own + MAX_SELECTED_FIELDS
  const counter = { selected: 0, aggregated: 0, most }
  return select(context, wanted, { deep: query.deep, path: 'fields', depth: 0, counter })
}

/** The paths of one level as a tree: `author.name` and `author.posts.title` share the node `author`. */
type Wanted = { readonly fields: Set<string>; readonly relations: Map<string, Wanted> }

function want(wanted: Wanted, path: readonly string[]): void {
  let level = wanted
  for (const name of path.slice(0, -1)) {
    const below: Wanted = level.relations.get(name) ?? { fields: new Set(), relations: new Map() }
    level.relations.set(name, below)
    level = below
  }
  level.fields.add(path.at(-1) ?? '')
}

type Level = {
  readonly deep: DeepArguments
  readonly path: string
  readonly depth: number
  readonly counter: { selected: number; aggregated: number; readonly most: number }
}

function select(context: ReadContext, wanted: Wanted, level: Level): Selection {
  const { viewer, collection, access } = context
  const selected = new Map<string, Selected>()
  const relations = new Map(wanted.relations)
  for (const name of wanted.fields) {
    if (name === '*') {
      for (const field of shownFields(collection, access)) selected.set(field.name, field)
      continue
    }
    if (name === TAG) {
      selected.set(name, { kind: 'tag', name, visible: all, shown: shownFields(collection, access) })
      continue
    }
    const path = `${level.path}.${shortName(name)}`
    const { field, visible } = readableField(viewer, collection, access, name, path)
    if (field.kind === 'primitive') selected.set(name, { kind: 'field', name, field, visible })
    else {
      const below = relations.get(name) ?? { fields: new Set(), relations: new Map() }
      relations.set(name, { ...below, fields: new Set([...below.fields, '*']) })
    }
  }
  for (const [name, below] of relations) {
    const path = `${level.path}.${shortName(name)}`
    const { field, visible } = readableField(viewer, collection, access, name, path)
    if (field.kind === 'primitive') throw queryFault(path, 'is a primitive field and takes no nested selection')
    selected.set(name, selectRelation(context, { relation: field, visible, below }, { ...level, path }))
  }
  for (const [name, { aggregate, path }] of level.deep) {
    if (aggregate === undefined || selected.has(name)) continue
    const { field, visible } = readableField(viewer, collection, access, name, path)
    if (field.kind === 'primitive') throw queryFault(path, 'is a primitive field and takes no arguments')
    selected.set(name, selectRelation(context, { relation: field, visible, below: undefined }, { ...level, path }))
  }
  level.counter.selected += selected.size
  if (level.counter.selected > level.counter.most) {
    throw queryFault('fields', `selects more than ${MAX_SELECTED_FIELDS} fields`)
  }
  refuseUnexpectedArguments(context, level.deep, selected)
  return [...selected.values()]
}

/** No API name begins with `_`. */
const TAG = '_etag'

/** The default selection of an item: all primitive fields that the caller may read, in the model's order. */
export function shownFields(collection: Collection, access: Granted): readonly SelectedField[] {
  return collection.primitives.flatMap((field) => {
    const visible = visibility(access, field)
    return visible === undefined ? [] : [{ kind: 'field', name: field.apiName, field, visible } as const]
  })
}

/** Without `below`, no related rows are selected, only their aggregates. */
function selectRelation(
  context: ReadContext,
  input: { readonly relation: RelationField; readonly visible: Filter; readonly below: Wanted | undefined },
  level: Level,
): SelectedRelation | SelectedAggregates {
  const { relation, visible, below } = input
  if (level.depth >= MAX_RELATION_DEPTH) throw tooManyRelations(level.path)
  const access = relatedAccess(context.viewer, relation.target)
  const target: ReadContext = { ...context, collection: relation.target, access }
  const deep = level.deep.get(relation.apiName)
  if (deep !== undefined) refuseUselessArguments(relation, deep)
  const filter = requestFilter(context.viewer, relation.target, deep?.own.filter, `${deep?.path}._filter`)
  const behind = {
    name: relation.apiName,
    relation,
    visible,
    ...(relation.through !== undefined && { links: linkRows(context.viewer, relation) ?? none }),
    where: and([access.rows, filter]),
  }
  const aggregates = aggregatesOf(target, deep, level)
  if (below === undefined) {
    if (deep !== undefined) refuseUnlisted(deep)
    return { kind: 'aggregates', ...behind, aggregates: aggregates ?? [] }
  }
  return {
    kind: 'relation',
    ...behind,
    selection: select(target, below, { ...level, deep: deep?.deeper ?? new Map(), depth: level.depth + 1 }),
    page: relation.isList
      ? planPage(target, deep?.own ?? noArguments, { default: USUAL_LIST, path: `${deep?.path}._` })
      : undefined,
    ...(aggregates !== undefined && { aggregates }),
  }
}

function aggregatesOf(
  target: ReadContext,
  deep: RelationArguments | undefined,
  { counter }: Level,
): readonly Aggregate[] | undefined {
  if (deep?.aggregate === undefined) return undefined
  if (target.planInList === undefined) throw new Unloaded('aggregates in lists')
  const aggregates = target.planInList(target, deep.aggregate, `${deep.path}._aggregate`)
  counter.aggregated += aggregates.length
  if (counter.aggregated <= MAX_SELECTED_FIELDS) return aggregates
  throw queryFault('deep', `names more than ${MAX_SELECTED_FIELDS} aggregates`)
}

/** Refuses arguments of rows that are not selected. */
function refuseUnlisted({ own, deeper, path }: RelationArguments): void {
  const below = deeper.values().next().value
  if (below !== undefined) throw queryFault(below.path, 'is not selected in fields')
  const [name] = pageArguments(own)
  if (name !== undefined) throw queryFault(`${path}.${name}`, 'needs items of the relation selected in fields')
}

function refuseUselessArguments(relation: RelationField, { own, aggregate, path }: RelationArguments): void {
  if (relation.isList) return
  const hasFilter = own.filter !== undefined && !relation.isNullable
  const [name] = [
    ...pageArguments(own),
    ...(aggregate === undefined ? [] : ['_aggregate']),
    ...(hasFilter ? ['_filter'] : []),
  ]
  if (name === undefined) return
  throw queryFault(
    `${path}.${name}`,
    `is not an argument of a ${relation.isNullable ? 'nullable' : 'required'} to-one relation`,
  )
}

/** The names of the arguments that select or order the rows of a list. */
function pageArguments(own: ListArguments): readonly string[] {
  const given = [
    ['_sort', own.sort.length > 0],
    ['_limit', own.limit !== undefined],
    ['_offset', own.offset > 0],
    ['_after', own.start !== undefined],
    ['_meta', own.withCursors],
  ] as const
  return given.flatMap(([name, isGiven]) => (isGiven ? [name] : []))
}

function refuseUnexpectedArguments(
  context: ReadContext,
  deep: DeepArguments,
  selected: ReadonlyMap<string, Selected>,
): void {
  for (const [name, { path }] of deep) {
    const { kind } = selected.get(name) ?? {}
    if (kind === 'relation' || kind === 'aggregates') continue
    const { field } = readableField(context.viewer, context.collection, context.access, name, path)
    throw queryFault(
      path,
      field.kind === 'primitive' ? 'is a primitive field and takes no arguments' : 'is not selected in fields',
    )
  }
}

function planPage(
  context: ReadContext,
  query: ListArguments,
  rules: { readonly default: number; readonly path: string },
): Page {
  const order = planOrder(context, query, `${rules.path}sort`)
  const walk = planWalk({ collection: context.collection, access: context.access, order, path: rules.path }, query)
  return { limit: pageSize(context.limits, query.limit, rules), order, offset: query.offset, ...(walk && { walk }) }
}

/** The number of rows of a page: 0 and -1 mean the maximum. */
export function pageSize(
  { max }: PageLimits,
  limit: number | undefined,
  rules: { readonly default: number; readonly path: string },
): number {
  const size = limit ?? Math.min(rules.default, max)
  if (size > max) throw queryFault(`${rules.path}limit`, `must be at most ${max}`)
  return size <= 0 ? max : size
}

/**
 * The requested sort, followed by the key, which makes every order total. The key has the direction of the last requested term,
 * so that an index that ends in the key serves both directions (decision 063).
 */
function planOrder(context: ReadContext, query: Pick<ListArguments, 'sort'>, path: string): readonly Order[] {
  const { collection, access } = context
  const order: Order[] = []
  const named = new Set<string>()
  query.sort.forEach((entry, index) => {
    const { at, ...found } = pathField(context, entry.names, { at: `${path}[${index}]`, purpose: 'sort' })
    if (!isSortable(found.field)) throw queryFault(at, 'cannot be sorted by')
    const id = [...found.path.map(({ relation }) => relation.id), found.field.id].join('.')
    if (named.has(id)) return
    named.add(id)
    const { direction } = entry
    const nulls = entry.nulls ?? usualNulls(direction)
    order.push({ ...found, direction, nulls, origin: 'requested' })
  })
  const direction = order.at(-1)?.direction ?? 'asc'
  const nulls = usualNulls(direction)
  for (const part of tieBreakers(collection, access)) {
    // A field may occur as visible and as stored, but not twice in the same way.
    const isNamed = order.some(
      ({ path, field, visible }) => path.length === 0 && field === part.field && visible.kind === part.visible.kind,
    )
    if (!isNamed) order.push({ ...part, path: [], direction, nulls, origin: 'tie' })
  }
  return order
}

/** The default order of a list. */
export function usualOrder(context: ReadContext): readonly Order[] {
  return planOrder(context, { sort: [] }, '')
}

export function usualNulls(direction: Order['direction']): Order['nulls'] {
  return direction === 'asc' ? 'last' : 'first'
}

/**
 * Fields that distinguish any two rows. Rows without such fields are not sorted, because sorting a large table by all columns
 * costs more than a stable page is worth. If some of the fields are hidden from the caller, all visible fields come first, so
 * that the order of visibly different rows reveals nothing about hidden values.
 */
function tieBreakers(collection: Collection, access: Granted): readonly FieldRef[] {
  const sortable = collection.primitives.filter(isSortable)
  const identity = collection.identity
  const asStored = identity.map((field) => ({ field, visible: all }))
  if (identity.every((field) => visibility(access, field)?.kind === 'all')) return asStored
  const seen = sortable.flatMap((field) => {
    const visible = visibility(access, field)
    return visible === undefined ? [] : [{ field, visible }]
  })
  return [...seen, ...asStored.filter(({ field }) => visibility(access, field)?.kind !== 'all')]
}

/** Bytes, geometries and lists have no order. */
export function isSortable({ type, isList }: PrimitiveField): boolean {
  return !isList && type.name !== 'bytes' && type.name !== 'geometry'
}
