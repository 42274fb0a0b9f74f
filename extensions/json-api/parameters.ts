/**
 * Translates a request for a collection to the API's parameters. All conditions must hold together, each as its own
 * parameter; a condition without a parameter is refused, never dropped. Look-ups by key read the single items.
 */
import { type Comparison, type Filter, QueryRejected, type QueryRequest } from 'governed-data-service/connector-kit'
import type { Resource } from './config.ts'

export type ReadPlan =
  | { readonly kind: 'keys'; readonly keys: readonly unknown[] }
  | { readonly kind: 'list'; readonly parameters: Readonly<Record<string, string>> }

/** Maximum keys of one look-up, since each needs a request. */
const MOST_KEYS = 100

export function toParameters(resource: Resource, request: Extract<QueryRequest, { operation: 'readMany' }>): ReadPlan {
  const comparisons = conditions(request.filter)
  const [first] = comparisons
  if (comparisons.length === 1 && first !== undefined && isKeyLookup(first, resource)) {
    return { kind: 'keys', keys: keysOf(first) }
  }
  const parameters: Record<string, string> = {}
  for (const { field, operator, value } of comparisons) {
    const name = resource.filter[field]?.[operator]
    if (name === undefined) throw new Error(`${operator} on ${field} was never declared`)
    if (name in parameters) throw new QueryRejected(`the API takes one condition on ${field}, not two`)
    parameters[name] = Array.isArray(value) ? value.join(',') : String(value)
  }
  return { kind: 'list', parameters: { ...parameters, ...order(resource, request) } }
}

function conditions(filter: Filter | undefined): readonly Comparison[] {
  if (filter === undefined) return []
  if ('and' in filter) return filter.and.flatMap(conditions)
  if ('operator' in filter) return [filter]
  throw new QueryRejected('the API takes conditions that all hold, no alternatives')
}

function isKeyLookup({ field, operator }: Comparison, { key, filter }: Resource): boolean {
  return field === key && (operator === 'eq' || operator === 'in') && filter[key]?.[operator] === undefined
}

function keysOf({ value }: Comparison): readonly unknown[] {
  const keys = Array.isArray(value) ? [...new Set<unknown>(value)] : [value]
  if (keys.length > MOST_KEYS) throw new QueryRejected(`at most ${MOST_KEYS} items can be looked up at once`)
  return keys
}

function order({ sort }: Resource, { sort: sorts = [] }: Extract<QueryRequest, { operation: 'readMany' }>) {
  if (sorts.length === 0 || sort === undefined) return {}
  return {
    [sort.parameter]: sorts.map(({ field, direction }) => (direction === 'asc' ? field : `-${field}`)).join(','),
  }
}
