/** What a change made other, member by member, as an audit entry tells it (docs/contract.md#audit-log). */
import { conditions } from './access/policy.ts'
import { canonicalJson, isObject } from './json-object.ts'

/** Of two lists what was added and removed; of anything else what it was and is, absent where there was or is nothing. */
export type AuditChange = {
  readonly path: string
  readonly from?: unknown
  readonly to?: unknown
  readonly added?: unknown
  readonly removed?: unknown
}

/** Characters of JSON that one value, and all changes together, may have. */
const MAX_VALUE = 4_000
const MAX_ALL = 50_000

/**
 * Returns the members that differ by their paths, and how many of them were left out for their size. A value that is
 * too long is told by the start of its JSON and its length.
 */
export function auditChanges(
  before: object,
  after: object,
): { readonly changes: readonly AuditChange[]; readonly changesLeftOut?: number } {
  const all = [...differences([], before, after)]
  let length = 0
  const cutAt = all.findIndex((change) => {
    length += JSON.stringify(change).length
    return length > MAX_ALL
  })
  return cutAt < 0 ? { changes: all } : { changes: all.slice(0, cutAt), changesLeftOut: all.length - cutAt }
}

function* differences(names: readonly string[], from: unknown, to: unknown): Generator<AuditChange> {
  if (canonicalJson(from) === canonicalJson(to)) return
  const path = names.join('.')
  if (isObject(from) && isObject(to) && !isCondition(names.at(-1))) {
    for (const name of new Set([...Object.keys(from), ...Object.keys(to)])) {
      yield* differences([...names, name], from[name], to[name])
    }
  } else if (Array.isArray(from) && Array.isArray(to)) {
    const [added, removed] = [without(to, from), without(from, to)]
    if (added.length + removed.length > 0) yield { path, added: short(added), removed: short(removed) }
  } else yield { path, from: short(from), to: short(to) }
}

/** The members of a condition are no names: a change tells it whole. */
function isCondition(name: string | undefined): boolean {
  return conditions.some((condition) => condition === name)
}

function without(list: readonly unknown[], others: readonly unknown[]): readonly unknown[] {
  const known = new Set(others)
  return list.filter((one) => !known.has(one))
}

function short(value: unknown): unknown {
  const text = JSON.stringify(value) ?? ''
  return text.length <= MAX_VALUE ? value : { start: text.slice(0, MAX_VALUE).toWellFormed(), length: text.length }
}
