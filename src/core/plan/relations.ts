/**
 * Handles relations that a plan's source cannot follow itself: splits selections, so that the related rows can be
 * looked up and inserted, and finds the conditions on such relations, so that they can be resolved first.
 */
import type { PrimitiveField, RelationField } from '../model/model.ts'
import { all, type Filter, mapFilter } from '../query/filter.ts'
import type { Plan, Selected, Selection, Step } from './plan.ts'

/** Returns true if the source that runs the plan has both ends of the relation. */
export type IsLocal = (relation: RelationField) => boolean

export type SelectedRelation = Extract<Selected, { readonly kind: 'relation' }>

/** A selection that a source can run by itself, and the parts to add. */
export type SplitSelection = {
  readonly local: Selection
  /** In the order of the request. */
  readonly parts: readonly SelectionPart[]
  readonly isWhole: boolean
}

export type SelectionPart =
  | { readonly kind: 'own'; readonly name: string }
  /** A relation within the source; its rows have parts to add. */
  | { readonly kind: 'within'; readonly name: string; readonly isList: boolean; readonly split: SplitSelection }
  /** Rows of another source; `columns` are the additional members of a row that join them. */
  | { readonly kind: 'elsewhere'; readonly selected: SelectedRelation; readonly columns: readonly string[] }

export function splitSelection(selection: Selection, isLocal: IsLocal): SplitSelection {
  const local: Selected[] = []
  const joined: Selected[] = []
  const parts = selection.map((selected): SelectionPart => {
    if (selected.kind === 'field') {
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

export type Related = Extract<Filter, { readonly kind: 'related' }>

/** The conditions on relations that are not local, anywhere in the plan. */
export function crossSourceConditions(plan: Plan, isLocal: IsLocal): readonly Related[] {
  return filtersOf(plan, isLocal).flatMap((filter) => relatedIn(filter, isLocal))
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
        page: plan.page && {
          ...plan.page,
          order: plan.page.order.map((order) => ({ ...order, visible: filter(order.visible) })),
        },
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

export function lookupKeyOf(row: Readonly<Record<string, unknown>>): unknown {
  return row[FAR_KEY]
}

function replacedStep(step: Step, filter: (one: Filter) => Filter): Step {
  return 'where' in step ? { ...step, where: filter(step.where) } : step
}

function replacedSelection(selection: Selection, filter: (one: Filter) => Filter): Selection {
  return selection.map((selected): Selected => {
    const visible = filter(selected.visible)
    if (selected.kind === 'field') return { ...selected, visible }
    const { page } = selected
    return {
      ...selected,
      visible,
      ...(selected.links !== undefined && { links: filter(selected.links) }),
      where: filter(selected.where),
      selection: replacedSelection(selected.selection, filter),
      page: page && { ...page, order: page.order.map((order) => ({ ...order, visible: filter(order.visible) })) },
    }
  })
}

function replaced(filter: Filter, replace: ReadonlyMap<Related, Filter>): Filter {
  const other = filter.kind === 'related' ? replace.get(filter) : undefined
  return other ?? mapFilter(filter, (inner) => replaced(inner, replace))
}

function filtersOf(plan: Plan, isLocal: IsLocal): readonly Filter[] {
  const selected = filtersOfSelection(plan.selection, isLocal)
  switch (plan.kind) {
    case 'read':
      return [plan.where, ...(plan.page?.order.map(({ visible }) => visible) ?? []), ...selected]
    case 'create':
      return selected
    case 'update':
    case 'delete':
      return [plan.where, ...selected]
    case 'program':
      return [...plan.steps.flatMap((step) => ('where' in step ? [step.where] : [])), ...selected]
  }
}

/** Selections behind a non-local relation are left to its source. */
function filtersOfSelection(selection: Selection, isLocal: IsLocal): readonly Filter[] {
  return selection.flatMap((selected) =>
    selected.kind === 'field' || !isLocal(selected.relation)
      ? [selected.visible]
      : [
          selected.visible,
          selected.links ?? all,
          selected.where,
          ...(selected.page?.order.map(({ visible }) => visible) ?? []),
          ...filtersOfSelection(selected.selection, isLocal),
        ],
  )
}

/** The outermost ones only; conditions inside of them are left to their source. */
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
