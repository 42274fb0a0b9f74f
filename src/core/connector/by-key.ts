/** Binds the operands of plans, and finds the one item that a filter selects by its key. */
import type { Collection } from '../model/model.ts'
import { wireValue } from '../model/wire.ts'
import { and, type Filter, mapFilter } from '../query/filter.ts'
import { type Bindings, boundText, isPlaceholder, type Operand } from '../query/placeholder.ts'
import { type ConnectorFilter, type Key, typed } from './protocol.ts'

/** Binds every placeholder of the filter. */
export function bindFilter(filter: Filter, bindings: Bindings): Filter {
  const text = (operand: Operand) => bindText(operand, bindings) ?? ''
  const bound = mapFilter(filter, (inner) => bindFilter(inner, bindings))
  switch (bound.kind) {
    case 'compare':
      return { ...bound, operand: text(bound.operand) }
    case 'between':
      return { ...bound, low: text(bound.low), high: text(bound.high) }
    default:
      return bound
  }
}

/** Returns the text of an operand, or of the placeholder that it is. */
export function bindText(operand: Operand, bindings: Bindings): string | null {
  return isPlaceholder(operand) ? bindings(operand) : operand
}

/**
 * Returns the key that `filter` requires by `and`, and its other conditions; undefined where the filter may match
 * several items.
 */
export function keyFromFilter(
  { primaryKey }: Collection,
  filter: Filter,
): { readonly key: Key; readonly rest: Filter } | undefined {
  if (primaryKey.length === 0) return undefined
  const parts = conjuncts(filter)
  const used = new Set<Filter>()
  const rest: Filter[] = []
  const key = primaryKey.map((field) => {
    const found = parts.find((part) => part.kind === 'compare' && part.operator === '=' && part.field.id === field.id)
    if (found?.kind !== 'compare') return undefined
    used.add(found)
    // Rows in which the key is hidden must not match.
    rest.push(found.visible)
    return { field, text: boundText(found.operand) }
  })
  if (key.some((part) => part === undefined)) return undefined
  return {
    key: key.filter((part) => part !== undefined),
    rest: and([...rest, ...parts.filter((part) => !used.has(part))]),
  }
}

function conjuncts(filter: Filter): readonly Filter[] {
  return filter.kind === 'and' ? filter.filters.flatMap(conjuncts) : [filter]
}

export function keyValues(key: Key): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    key.map(({ field, text }) => [field.dbName, wireValue({ type: field.type, isList: false }, text)]),
  )
}

/** The filter for a key: a look-up that every connector must serve. */
export function keyFilter(key: Key): ConnectorFilter {
  const values = keyValues(key)
  const tests = key.map(({ field }) => ({ ...typed(field), operator: 'eq', value: values[field.dbName] }))
  const [only] = tests
  return tests.length === 1 && only !== undefined ? only : { and: tests }
}
