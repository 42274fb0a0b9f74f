/**
 * Reads the items of an earlier answer again: if it was too long to store, or if the caller's read rights depend on the rows.
 * Returns the current items under the current rights.
 */
import { parseJson } from '../../../core/exact-json.ts'
import { elementsOf, type ItemText, itemText, listText, membersOf } from '../../../core/json-cut.ts'
import type { Collection, PrimitiveField } from '../../../core/model/model.ts'
import { alone } from '../../../core/plan/batch/planned-operation.ts'
import { decodeKey } from '../../../core/plan/item-key.ts'
import { fieldEquals } from '../../../core/plan/names.ts'
import type { Page, ReadPlan, Selection } from '../../../core/plan/plan.ts'
import { all, and, type Filter, or } from '../../../core/query/filter.ts'
import { keySelection } from '../../../core/sql/write/ledger.ts'
import type { Source } from '../../../sources/source.ts'
import type { BindingsOf } from '../bindings.ts'

export type Reread = {
  readonly source: Source
  readonly collection: Collection
  readonly selection: Selection
  /** Excludes rows that the caller may no longer read. */
  readonly readable?: Filter
  readonly bindings: BindingsOf
}

/** Keys per statement. */
const MOST_KEYS = 500

/** Returns the items with these stored keys; items that were deleted are omitted. */
export async function readAgain(reread: Reread, keys: string): Promise<string> {
  const { source, collection, selection, readable = all, bindings } = reread
  const wantedKeys = elementsOf(keys).map((key) => keyOf(collection, membersOf(key)))
  const read = async (found: Filter, selected: Selection, page?: Page) => {
    const where = and([found, readable])
    const plan: ReadPlan = { kind: 'read', collection, where, selection: selected, page, count: false }
    const [list] = await source.prepareBatch(alone(plan, collection))(bindings())
    return list?.data ?? '[]'
  }
  const [only] = wantedKeys
  if (only !== undefined && wantedKeys.length === 1) return read(isKey(collection.key, only), selection)
  const found = new Map<string, string>()
  for (let start = 0; start < wantedKeys.length; start += MOST_KEYS) {
    const where = or(wantedKeys.slice(start, start + MOST_KEYS).map((key) => isKey(collection.key, key)))
    const text = await read(where, [...selection, ...keySelection(collection)], {
      order: [],
      limit: MOST_KEYS,
      offset: 0,
    })
    for (const item of elementsOf(text)) {
      const members = membersOf(item)
      found.set(JSON.stringify(keyOf(collection, members)), apart(collection, members).rest)
    }
  }
  return listText(wantedKeys.flatMap((key) => found.get(JSON.stringify(key)) ?? []))
}

/** Separates the keys from items that were selected with `keySelection`. */
export function withoutKeys(collection: Collection, text: string): { readonly items: string; readonly keys: string } {
  const parts = elementsOf(text).map((item) => apart(collection, membersOf(item)))
  return { items: listText(parts.map(({ rest }) => rest)), keys: listText(parts.map(({ key }) => key)) }
}

function apart(collection: Collection, item: ItemText): { readonly key: string; readonly rest: string } {
  const names = new Set(keySelection(collection).map(({ name }) => name))
  const members = [...item]
  return {
    key: itemText(members.filter(([name]) => names.has(name))),
    rest: itemText(members.filter(([name]) => !names.has(name))),
  }
}

/** The values of a key as database texts. */
function keyOf({ key: fields }: Collection, item: ItemText): readonly string[] {
  return fields.map((field, index) => {
    const json = item.get(`_key${index}`) ?? '""'
    // A number is not parsed, so that it keeps its digits.
    const value = json.startsWith('"') ? parseJson(json) : json
    return decodeKey([field], { kind: 'value', value })[0] ?? ''
  })
}

function isKey(fields: readonly PrimitiveField[], texts: readonly string[]): Filter {
  return and(fields.map((field, index) => fieldEquals(field, all, texts[index] ?? '')))
}
