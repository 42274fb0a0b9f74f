/**
 * Joins the keys of one `_connect`, so that thousands of rows are found by few statements. Joins only keys whose columns have
 * types with one text per value: then the number of rows must equal the number of different keys.
 */
import type { TypeName } from '../model/field-type.ts'
import type { PrimitiveField } from '../model/model.ts'
import { and, type Filter, or } from '../query/filter.ts'
import { isPlaceholder } from '../query/placeholder.ts'

/** The text of each column of a key. */
type KeyTexts = ReadonlyMap<PrimitiveField, string>

/** Rows to find, one for each key; undefined for a key whose text may differ from that of its row. */
export type WantedRows = { readonly where: Filter; readonly keys: readonly (KeyTexts | undefined)[] }

/** Maximum conditions per statement, which limits the statement and its result. */
const MAX_CONDITIONS = 1_000

/** Each key is a list of conditions that identify one row. */
export function* joinKeys(keys: Iterable<readonly Filter[]>): Generator<WantedRows, void, undefined> {
  const alike = new Map<string, Map<string, readonly Single[]>>()
  for (const conditions of keys) {
    if (!conditions.every(isSingle)) {
      yield { where: and(conditions), keys: [undefined] }
      continue
    }
    const sorted = conditions.toSorted((one, other) => (one.field.id < other.field.id ? -1 : 1))
    const fields = JSON.stringify(sorted.map(({ field }) => field.id))
    const known = alike.get(fields) ?? new Map()
    alike.set(fields, known)
    known.set(JSON.stringify(sorted.map(({ operand }) => operand)), sorted)
  }
  for (const known of alike.values()) {
    const all = [...known.values()]
    const most = Math.floor(MAX_CONDITIONS / Math.max(1, all[0]?.length ?? 1))
    for (let start = 0; start < all.length; start += most) {
      const some = all.slice(start, start + most)
      yield { where: anyOf(some), keys: some.map(textsOf) }
    }
  }
}

/** Keys of one column become a list of operands, which every database looks up in an index. */
function anyOf(keys: readonly (readonly Single[])[]): Filter {
  const [[first, ...more] = []] = keys
  if (first === undefined || more.length > 0 || keys.length === 1) return or(keys.map(and))
  const { field, visible } = first
  return {
    kind: 'in',
    field,
    visible,
    negated: false,
    operands: keys.flatMap((key) => key.map(({ operand }) => operand)),
  }
}

function textsOf(key: readonly Single[]): KeyTexts {
  return new Map(key.map(({ field, operand }) => [field, operand]))
}

type Single = Extract<Filter, { readonly kind: 'compare' }> & { readonly operand: string }

function isSingle(filter: Filter): filter is Single {
  if (filter.kind !== 'compare' || filter.operator !== '=' || isPlaceholder(filter.operand)) return false
  const { native, type } = filter.field
  return native === null && hasOneText[type.name]
}

/** Whether values of the type are equal only if their texts are. For native types the database decides. */
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
