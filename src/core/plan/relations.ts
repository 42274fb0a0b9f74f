/**
 * Handles relations that a plan's source cannot follow itself: splits selections, so that the related rows can be
 * looked up and inserted, and finds the conditions on such relations, so that they can be resolved first.
 */
import type { ItemText } from '../json-cut.ts'
import type { PrimitiveField, RelationField } from '../model/model.ts'
import { all, type Filter, mapFilter } from '../query/filter.ts'
import type {
  Aggregate,
  BatchPlan,
  Grouping,
  Order,
  Page,
  PathStep,
  Plan,
  Selected,
  SelectedRelation,
  Selection,
  Step,
} from './plan.ts'

/** Returns true if the source that runs the plan has both ends of the relation. */
export type IsLocal = (relation: RelationField) => boolean

/** A selection that a source can run by itself, and the parts to add. */
export type SplitSelection = {
  readonly local: Selection
  /** In the order of the request. */
  readonly parts: readonly SelectionPart[]
  readonly isWhole: boolean
}

export type SelectionPart =
  | { readonly kind: 'own'; readonly name: string }
  /** A relation within the source whose rows have parts to add. */
  | { readonly kind: 'within'; readonly name: string; readonly isList: boolean; readonly split: SplitSelection }
  /** Rows of another source; `columns` are the additional members of a row that join them. */
  | { readonly kind: 'elsewhere'; readonly selected: SelectedRelation; readonly columns: readonly string[] }

export function splitSelection(selection: Selection, isLocal: IsLocal): SplitSelection {
  const local: Selected[] = []
  const joined: Selected[] = []
  const parts = selection.map((selected): SelectionPart => {
    if (selected.kind !== 'relation') {
      local.push(selected)
      return { kind: 'own', name: selected.name }
    }
    if (!isLocal(selected.relation)) {
      const columns = selected.relation.joins.map(({ own: field }) => {
        const name = `${OWN_COLUMN}${joined.length}`
        joined.push({ kind: 'field', name, field, visible: selected.visible })
        return name
      })
      return { kind: 'elsewhere', selected, columns }
    }
    const split = splitSelection(selected.selection, isLocal)
    local.push({ ...selected, selection: split.local })
    const { name, page } = selected
    return split.isWhole ? { kind: 'own', name } : { kind: 'within', name, isList: page !== undefined, split }
  })
  return { local: [...local, ...joined], parts, isWhole: parts.every(({ kind }) => kind === 'own') }
}

/**
 * Internal members: a row's columns that join related rows, and the key by which a related row is found. API names
 * begin with a letter, so they never collide.
 */
const OWN_COLUMN = '__own'
const FAR_KEY = '__key'

export function isLookupColumn(name: string): boolean {
  return name.startsWith('__')
}

/** True if lists of the plan have aggregates, whose code is loaded late. */
export function hasAggregatesInLists(plan: Plan | BatchPlan): boolean {
  if (plan.kind === 'batch') return plan.operations.some((operation) => hasAggregatesInLists(operation.plan))
  const forms = plan.kind === 'program' ? plan.steps.flatMap((step) => (step.kind === 'match' ? step.forms : [])) : []
  return [plan.selection, ...forms].some(hasAggregates)
}

function hasAggregates(selection: Selection): boolean {
  return selection.some((selected) => {
    if (selected.kind !== 'relation') return selected.kind === 'aggregates'
    return selected.aggregates !== undefined || hasAggregates(selected.selection)
  })
}

export type Related = Extract<Filter, { readonly kind: 'related' }>

/** The conditions on non-local relations, anywhere in the plan. */
export function crossSourceConditions(plan: Plan, isLocal: IsLocal): readonly Related[] {
  return filtersOf(plan, isLocal).flatMap((filter) => relatedIn(filter, isLocal))
}

/** The non-local relations that the plan sorts by. */
export function ordersElsewhere(plan: Plan, isLocal: IsLocal): readonly RelationField[] {
  const found = plan.kind === 'program' ? plan.steps.flatMap((step) => (step.kind === 'find' ? [step] : [])) : []
  const pages = [...(plan.kind === 'read' ? [plan.page] : found), ...pagesOf(plan.selection, isLocal)]
  const relations = pages.flatMap((page) => (page?.order ?? []).flatMap(({ path }) => path))
  return relations.map(({ relation }) => relation).filter((relation) => !isLocal(relation))
}

/** Excludes pages behind a non-local relation, which the other source handles. */
function pagesOf(selection: Selection, isLocal: IsLocal): readonly (Page | undefined)[] {
  return selection.flatMap((selected) =>
    selected.kind === 'relation' && isLocal(selected.relation)
      ? [selected.page, ...pagesOf(selected.selection, isLocal)]
      : [],
  )
}

/** Omits the forms of an item that its source cannot read alone, because it cannot compare their tags. */
export function withLocalForms(plan: Plan, isLocal: IsLocal): Plan {
  if (plan.kind !== 'program' || !plan.steps.some(({ kind }) => kind === 'match')) return plan
  const steps = plan.steps.map((step) => {
    if (step.kind !== 'match') return step
    return { ...step, forms: step.forms.filter((form) => splitSelection(form, isLocal).isWhole) }
  })
  return { ...plan, steps }
}

/** Replaces the conditions in `replace` by other filters. */
export function withConditions<P extends Plan>(plan: P, replace: ReadonlyMap<Related, Filter>): P {
  if (replace.size === 0) return plan
  const filter = (one: Filter) => replaced(one, replace)
  const selection = replacedSelection(plan.selection, filter)
  switch (plan.kind) {
    case 'read':
      return {
        ...plan,
        selection,
        where: filter(plan.where),
        page: replacedPage(plan.page, filter),
        ...(plan.grouping !== undefined && { grouping: replacedGrouping(plan.grouping, filter) }),
      }
    case 'create':
      return { ...plan, selection }
    case 'update':
    case 'delete':
      return { ...plan, selection, where: filter(plan.where) }
    case 'program':
      return { ...plan, selection, steps: plan.steps.map((step) => replacedStep(step, filter)) }
    default:
      return plan satisfies never
  }
}

export function withSelection<P extends Plan>(plan: P, selection: Selection): P {
  return { ...plan, selection }
}

/** Selects a join column of the related collection. */
export function lookupColumn(field: PrimitiveField): Selected {
  return { kind: 'field', name: FAR_KEY, field, visible: { kind: 'all' } }
}

/** The text of the look-up column. */
export function lookupKeyOf(row: ItemText): string | undefined {
  return row.get(FAR_KEY)
}

function replacedGrouping(grouping: Grouping, filter: (one: Filter) => Filter): Grouping {
  const step = (one: PathStep) => ({ ...one, visible: filter(one.visible), rows: filter(one.rows) })
  return {
    ...grouping,
    where: filter(grouping.where),
    groups: grouping.groups.map((one) => ({ ...one, visible: filter(one.visible), path: one.path.map(step) })),
    aggregates: replacedAggregates(grouping.aggregates, filter),
  }
}

function replacedAggregates(aggregates: readonly Aggregate[], filter: (one: Filter) => Filter): readonly Aggregate[] {
  return aggregates.map((one) => (one.function === 'rows' ? one : { ...one, visible: filter(one.visible) }))
}

function replacedStep(step: Step, filter: (one: Filter) => Filter): Step {
  if (step.kind === 'match') return { ...step, forms: step.forms.map((form) => replacedSelection(form, filter)) }
  if (!('where' in step)) return step
  if (step.kind !== 'find') return { ...step, where: filter(step.where) }
  return { ...step, where: filter(step.where), order: replacedOrder(step.order, filter) }
}

function replacedSelection(selection: Selection, filter: (one: Filter) => Filter): Selection {
  return selection.map((selected): Selected => {
    const visible = filter(selected.visible)
    if (selected.kind === 'field') return { ...selected, visible }
    if (selected.kind === 'tag') {
      return { ...selected, visible, shown: selected.shown.map((one) => ({ ...one, visible: filter(one.visible) })) }
    }
    const { links, aggregates } = selected
    const behind = {
      visible,
      ...(links !== undefined && { links: filter(links) }),
      where: filter(selected.where),
      ...(aggregates !== undefined && { aggregates: replacedAggregates(aggregates, filter) }),
    }
    if (selected.kind === 'aggregates') return { ...selected, ...behind }
    const selection = replacedSelection(selected.selection, filter)
    return { ...selected, ...behind, selection, page: replacedPage(selected.page, filter) }
  })
}

function replacedPage(page: Page | undefined, filter: (one: Filter) => Filter): Page | undefined {
  return page && { ...page, order: replacedOrder(page.order, filter) }
}

function replacedOrder(terms: readonly Order[], filter: (one: Filter) => Filter): readonly Order[] {
  return terms.map((order) => ({
    ...order,
    path: order.path.map((step) => ({ ...step, visible: filter(step.visible), rows: filter(step.rows) })),
    visible: filter(order.visible),
  }))
}

function replaced(filter: Filter, replace: ReadonlyMap<Related, Filter>): Filter {
  const other = filter.kind === 'related' ? replace.get(filter) : undefined
  return other ?? mapFilter(filter, (inner) => replaced(inner, replace))
}

function filtersOf(plan: Plan, isLocal: IsLocal): readonly Filter[] {
  const selected = filtersOfSelection(plan.selection, isLocal)
  switch (plan.kind) {
    case 'read':
      return [plan.where, ...filtersOfPage(plan.page), ...selected, ...filtersOfGrouping(plan.grouping)]
    case 'create':
      return selected
    case 'update':
    case 'delete':
      return [plan.where, ...selected]
    case 'program':
      return [...plan.steps.flatMap((step) => filtersOfStep(step, isLocal)), ...selected]
  }
}

function filtersOfStep(step: Step, isLocal: IsLocal): readonly Filter[] {
  if (step.kind === 'match') return step.forms.flatMap((form) => filtersOfSelection(form, isLocal))
  if (!('where' in step)) return []
  return step.kind === 'find' ? [step.where, ...filtersOfOrder(step.order)] : [step.where]
}

function filtersOfGrouping(grouping: Grouping | undefined): readonly Filter[] {
  if (grouping === undefined) return []
  const { where, groups, aggregates } = grouping
  return [
    where,
    ...groups.flatMap(({ visible, path }) => [visible, ...path.flatMap((step) => [step.visible, step.rows])]),
    ...filtersOfAggregates(aggregates),
  ]
}

function filtersOfAggregates(aggregates: readonly Aggregate[]): readonly Filter[] {
  return aggregates.flatMap((one) => (one.function === 'rows' ? [] : [one.visible]))
}

/** Excludes selections behind a non-local relation, which the other source handles. */
function filtersOfSelection(selection: Selection, isLocal: IsLocal): readonly Filter[] {
  return selection.flatMap((selected) => {
    const { visible } = selected
    if (selected.kind === 'tag') return [visible, ...selected.shown.map((one) => one.visible)]
    if (selected.kind === 'field' || !isLocal(selected.relation)) return [visible]
    const { links = all, where, aggregates = [] } = selected
    const own = [visible, links, where, ...filtersOfAggregates(aggregates)]
    if (selected.kind === 'aggregates') return own
    return [...own, ...filtersOfPage(selected.page), ...filtersOfSelection(selected.selection, isLocal)]
  })
}

function filtersOfPage(page: Page | undefined): readonly Filter[] {
  return filtersOfOrder(page?.order ?? [])
}

function filtersOfOrder(terms: readonly Order[]): readonly Filter[] {
  return terms.flatMap(({ path, visible }) => [...path.flatMap((step) => [step.visible, step.rows]), visible])
}

/** Finds the outermost conditions only; their source handles conditions inside of them. */
function relatedIn(filter: Filter, isLocal: IsLocal): readonly Related[] {
  switch (filter.kind) {
    case 'all':
    case 'none':
      return []
    case 'and':
    case 'or':
      return filter.filters.flatMap((part) => relatedIn(part, isLocal))
    case 'not':
    case 'isTrue':
      return relatedIn(filter.filter, isLocal)
    case 'related':
      return isLocal(filter.relation)
        ? [...relatedIn(filter.rows, isLocal), ...relatedIn(filter.filter, isLocal)]
        : [filter]
    default:
      return relatedIn(filter.visible, isLocal)
  }
}
