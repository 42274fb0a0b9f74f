/**
 * The filter type of requests and policies, with names resolved to fields and operands in the database's text form. It
 * has SQL's three-valued logic; `related` is always true or false.
 */
import type { Collection, PrimitiveField, RelationField } from '../model/model.ts'
import { isPlaceholder, type Operand } from './placeholder.ts'

export type Filter =
  | { readonly kind: 'all' }
  | { readonly kind: 'none' }
  | { readonly kind: 'and'; readonly filters: readonly Filter[] }
  | { readonly kind: 'or'; readonly filters: readonly Filter[] }
  | { readonly kind: 'not'; readonly filter: Filter }
  /** Maps unknown to false. `isSight`: a relation's visibility, which the caller's policies say, not the request. */
  | { readonly kind: 'isTrue'; readonly filter: Filter; readonly isSight?: true }
  | (FieldRef & { readonly kind: 'compare'; readonly operator: Comparison; readonly operand: Operand })
  | (FieldRef & { readonly kind: 'match'; readonly match: Match; readonly negated: boolean; readonly operand: string })
  | (FieldRef & { readonly kind: 'between'; readonly negated: boolean; readonly low: Operand; readonly high: Operand })
  | (FieldRef & { readonly kind: 'in'; readonly negated: boolean; readonly operands: readonly string[] })
  | (FieldRef & { readonly kind: 'null'; readonly negated: boolean })
  /** For a list: whether it contains the one operand, any of them, or all. */
  | (FieldRef & {
      readonly kind: 'elements'
      readonly quantity: 'one' | 'any' | 'all'
      readonly negated: boolean
      readonly operands: readonly string[]
    })
  | (FieldRef & { readonly kind: 'empty'; readonly negated: boolean })
  | (FieldRef & { readonly kind: 'json'; readonly test: JsonTest; readonly negated: boolean })
  | {
      readonly kind: 'related'
      readonly relation: RelationField
      readonly target: Collection
      readonly quantifier: 'some' | 'every' | 'none'
      /** The related rows that the caller can see. */
      readonly rows: Filter
      readonly filter: Filter
    }

/** A field as the caller sees it: null in rows where `visible` does not hold. */
export type FieldRef = { readonly field: PrimitiveField; readonly visible: Filter }

export type Comparison = '=' | '<>' | '<' | '<=' | '>' | '>='

/** For each comparison, whether it holds for an order: negative, zero or positive. */
export const comparisons: Readonly<Record<Comparison, (order: number) => boolean>> = {
  '=': (one) => one === 0,
  '<>': (one) => one !== 0,
  '<': (one) => one < 0,
  '<=': (one) => one <= 0,
  '>': (one) => one > 0,
  '>=': (one) => one >= 0,
}

/** A test of a JSON value; unknown for null. */
export type JsonTest =
  /** Containment of a JSON text, as in jsonb; `place` is its path in the request, for messages. */
  | { readonly kind: 'contains'; readonly operand: string; readonly place: string }
  /** True for an object with this member. */
  | { readonly kind: 'key'; readonly operand: string }
  /** Compares the scalar at a path; unknown if there is none of the type. Numbers and booleans are JSON texts. */
  | {
      readonly kind: 'at'
      readonly path: readonly JsonStep[]
      readonly type: JsonScalar
      readonly comparison: Comparison | 'in'
      readonly operands: readonly string[]
    }

/** The name of a member, or the index in a list. */
export type JsonStep = string | number

export type JsonScalar = 'string' | 'number' | 'boolean'

export type Match = { readonly part: 'contains' | 'starts' | 'ends'; readonly ignoreCase: boolean }

export const all: Filter = { kind: 'all' }
export const none: Filter = { kind: 'none' }

export function and(filters: readonly Filter[]): Filter {
  const useful = filters.filter(({ kind }) => kind !== 'all')
  if (useful.some(({ kind }) => kind === 'none')) return none
  const [first] = useful
  if (first === undefined) return all
  return useful.length === 1 ? first : { kind: 'and', filters: useful }
}

export function or(filters: readonly Filter[]): Filter {
  const useful = filters.filter(({ kind }) => kind !== 'none')
  if (useful.some(({ kind }) => kind === 'all')) return all
  const [first] = useful
  if (first === undefined) return none
  return useful.length === 1 ? first : { kind: 'or', filters: useful }
}

/** A text that is the same for equal filters. */
export function filterText(filter: Filter): string {
  // Objects of the model are circular, so their ids replace them.
  return JSON.stringify(filter, (name, part) => (ofModel.has(name) ? part.id : part))
}

const ofModel: ReadonlySet<string> = new Set(['field', 'relation', 'target'])

/**
 * Like `or`, but merges equality tests of one field into a list, which databases plan as fast as one test; policies of one role
 * often differ only in that value. Not for filters of requests, because their statements must not depend on whether two values
 * are equal.
 */
export function unite(filters: readonly Filter[]): Filter {
  return or(united(filters))
}

function united(filters: readonly Filter[]): readonly Filter[] {
  const result: Filter[] = []
  const tests = new Map<string, { readonly place: number; readonly operands: readonly string[] }>()
  for (const filter of new Set(filters)) {
    if (!isPlainTest(filter)) {
      result.push(filter)
      continue
    }
    const { field, visible, operand } = filter
    const known = tests.get(field.id)
    const operands = known?.operands ?? []
    if (operands.includes(operand)) continue
    const place = known?.place ?? result.length
    tests.set(field.id, { place, operands: [...operands, operand] })
    result[place] =
      known === undefined ? filter : { kind: 'in', field, visible, negated: false, operands: [...operands, operand] }
  }
  return result
}

/** An equality test with a known operand. */
type PlainTest = Extract<Filter, { readonly kind: 'compare' }> & { readonly operand: string }

/** JSON values cannot be compared by `=` in every database, and a list cannot contain placeholders. */
function isPlainTest(filter: Filter): filter is PlainTest {
  return (
    filter.kind === 'compare' &&
    filter.operator === '=' &&
    filter.visible.kind === 'all' &&
    filter.field.type.name !== 'json' &&
    !isPlaceholder(filter.operand)
  )
}

export function not(filter: Filter): Filter {
  if (filter.kind === 'all') return none
  if (filter.kind === 'none') return all
  return { kind: 'not', filter }
}

export function isTrue(filter: Filter): Filter {
  return filter.kind === 'all' || filter.kind === 'none' ? filter : { kind: 'isTrue', filter }
}

/** The condition that a relation is visible. */
export function isSeen(visible: Filter): Filter {
  const seen = isTrue(visible)
  return seen.kind === 'isTrue' ? { ...seen, isSight: true } : seen
}

/**
 * Returns the filter with its `isOpen` tests replaced so that it holds whenever the filter may hold (`met`), or only if the
 * filter certainly holds (`unmet`).
 */
export function withoutTests(filter: Filter, isOpen: (test: Filter) => boolean, as: 'met' | 'unmet'): Filter {
  const replaced = (one: Filter, instead: Filter): Filter => {
    switch (one.kind) {
      case 'and':
        return and(one.filters.map((inner) => replaced(inner, instead)))
      case 'or':
        return or(one.filters.map((inner) => replaced(inner, instead)))
      case 'not':
        return not(replaced(one.filter, instead === all ? none : all))
      case 'isTrue':
        return isTrue(replaced(one.filter, instead))
      default:
        return someFilter(one, isOpen) ? instead : one
    }
  }
  return replaced(filter, as === 'met' ? all : none)
}

/** True if `test` returns true for the filter or any filter within it. */
export function someFilter(filter: Filter, test: (one: Filter) => boolean): boolean {
  if (test(filter)) return true
  let isFound = false
  mapFilter(filter, (inner) => {
    isFound ||= someFilter(inner, test)
    return inner
  })
  return isFound
}

/** Applies `change` to every direct child of the filter. */
export function mapFilter(filter: Filter, change: (inner: Filter) => Filter): Filter {
  switch (filter.kind) {
    case 'all':
    case 'none':
      return filter
    case 'and':
    case 'or':
      return { ...filter, filters: filter.filters.map(change) }
    case 'not':
    case 'isTrue':
      return { ...filter, filter: change(filter.filter) }
    case 'related':
      return { ...filter, rows: change(filter.rows), filter: change(filter.filter) }
    default:
      return { ...filter, visible: change(filter.visible) }
  }
}
