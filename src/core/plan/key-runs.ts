/**
 * Joins the keys of one `_connect`, so that thousands of rows are found by few statements. Keys are joined where each is
 * one column whose type has one text per value: then as many rows as different texts must be there.
 */
import type { TypeName } from '../model/field-type.ts'
import { and, type Filter } from '../query/filter.ts'
import { isPlaceholder } from '../query/placeholder.ts'

/** Rows to find, and how many of them there must be. */
export type WantedRows = { readonly where: Filter; readonly count: number }

/** In one statement: neither that nor what it keeps becomes too large. */
const MAX_KEYS = 1_000

/** Each key is a list of conditions that identify one row. */
export function* joinKeys(keys: Iterable<readonly Filter[]>): Generator<WantedRows, void, undefined> {
  const alike = new Map<string, { readonly first: Single; readonly operands: Set<string> }>()
  for (const conditions of keys) {
    const [only] = conditions
    if (conditions.length !== 1 || only === undefined || !isSingle(only)) {
      yield { where: and(conditions), count: 1 }
      continue
    }
    const known = alike.get(only.field.id) ?? { first: only, operands: new Set() }
    alike.set(only.field.id, known)
    known.operands.add(only.operand)
  }
  for (const { first, operands } of alike.values()) {
    const all = [...operands]
    for (let start = 0; start < all.length; start += MAX_KEYS) {
      const some = all.slice(start, start + MAX_KEYS)
      const { field, visible } = first
      yield some.length === 1
        ? { where: { ...first, operand: some[0] ?? '' }, count: 1 }
        : { where: { kind: 'in', field, visible, negated: false, operands: some }, count: some.length }
    }
  }
}

type Single = Extract<Filter, { readonly kind: 'compare' }> & { readonly operand: string }

function isSingle(filter: Filter): filter is Single {
  if (filter.kind !== 'compare' || filter.operator !== '=' || isPlaceholder(filter.operand)) return false
  const { native, type } = filter.field
  return native === null && hasOneText[type.name]
}

/** Whether values of the type are equal only if their texts are. Of a native type the database decides. */
const hasOneText: Readonly<Record<TypeName, boolean>> = {
  int8: true,
  int16: true,
  int32: true,
  int64: true,
  uint8: true,
  uint16: true,
  uint32: true,
  uint64: true,
  string: true,
  uuid: true,
  float32: false,
  float64: false,
  decimal: false,
  boolean: false,
  date: false,
  time: false,
  dateTime: false,
  dateTimeWithTimezone: false,
  json: false,
  bytes: false,
  geometry: false,
}
