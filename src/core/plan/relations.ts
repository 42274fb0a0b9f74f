/**
 * What a plan asks of relations that its source cannot follow itself: selections are taken apart, so that the far rows
 * can be looked up and put back in place, and conditions on them are found, so that they can be answered beforehand.
 */
import type { PrimitiveField, RelationField } from '../model/model.ts'
import { type Filter, mapFilter } from '../query/filter.ts'
import type { Plan, Selected, Selection, Step } from './plan.ts'

/** Whether the source that runs the plan has both ends of a relation. */
export type IsLocal = (relation: RelationField) => boolean

export type SelectedRelation = Extract<Selected, { readonly kind: 'relation' }>

/** A selection that a source can serve by itself, and what is missing from it. */
export type SplitSelection = {
  readonly local: Selection
  /** In the order of the request. */
  readonly parts: readonly SelectionPart[]
  readonly isWhole: boolean
}

export type SelectionPart =
  | { readonly kind: 'own'; readonly name: string }
  /** A relation of the source's own, of whose rows something is missing. */
  | { readonly kind: 'within'; readonly name: string; readonly isList: boolean; readonly split: SplitSelection }
  /** Rows of elsewhere; `columns` are the members of a row that join them, beside what was asked for. */
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
 * Members that are only for putting rows together: the columns of a row that lead to far ones, and the key by which a far row
 * is found again. API names begin with a letter, so that no field of a request is called like them.
 */
const OWN_COLUMN = '__own'
const FAR_KEY = '__key'

export function isLookupColumn(name: string): boolean {
  return name.startsWith('__')
}

export type Related = Extract<Filter, { readonly kind: 'related' }>

/** The conditions on relations that are not local, wherever they stand in the plan. */
export function crossSourceConditions(plan: Plan, isLocal: IsLocal): readonly Related[] {
  return filtersOf(plan, isLocal).flatMap((filter) => relatedIn(filter, isLocal))
}

/** The same plan with other filters in place of those that `replace` knows. */
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

/** A field of a row of the far collection that joins it, for reading it back. */
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

/** What is asked of far rows is a matter of their own source. */
function filtersOfSelection(selection: Selection, isLocal: IsLocal): readonly Filter[] {
  return selection.flatMap((selected) =>
    selected.kind === 'field' || !isLocal(selected.relation)
      ? [selected.visible]
      : [
          selected.visible,
          selected.where,
          ...(selected.page?.order.map(({ visible }) => visible) ?? []),
          ...filtersOfSelection(selected.selection, isLocal),
        ],
  )
}

/** The outermost ones: what stands inside of one is a matter of its own source. */
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
