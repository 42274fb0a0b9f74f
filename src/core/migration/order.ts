/**
 * Orders the operations inside one collection (docs/contract.md#migrations): operations that free a name or field run
 * before those that use it, and of two renames the one that frees a name runs first.
 */
import type { CollectionChange } from './operation.ts'

type Names = { readonly apiName: string; readonly dbName: string }

const ranks: Readonly<Record<CollectionChange['kind'], number>> = {
  deleteIndex: 0,
  deletePrimitiveField: 1,
  changeApiName: 2,
  changeDbName: 2,
  changeHasHistory: 2,
  updatePrimitiveField: 3,
  createPrimitiveField: 4,
  createIndex: 5,
}

/** `namesOf` returns the names of a field before the first operation. */
export function orderOperations<T extends CollectionChange>(
  operations: readonly T[],
  namesOf: (fieldId: string) => Names | undefined,
): readonly T[] {
  const ranked = [...operations].sort((one, other) => ranks[one.kind] - ranks[other.kind])
  const first = ranked.findIndex(({ kind }) => kind === 'updatePrimitiveField')
  if (first === -1) return ranked
  const updates = ranked.filter(({ kind }) => kind === 'updatePrimitiveField')
  return [...ranked.slice(0, first), ...orderRenames(updates, namesOf), ...ranked.slice(first + updates.length)]
}

/** All updates of one field, in the order in which they were sent. */
type Group<T> = { readonly updates: T[]; waitsFor: number; readonly blocks: Group<T>[] }

/** Circular renames stay in the order sent; the first of them is refused later. */
function orderRenames<T extends CollectionChange>(
  updates: readonly T[],
  namesOf: (fieldId: string) => Names | undefined,
): readonly T[] {
  const groups = new Map<string, Group<T>>()
  for (const update of updates) {
    if (update.kind !== 'updatePrimitiveField') continue
    const group = groups.get(update.data.id)
    if (group === undefined) groups.set(update.data.id, { updates: [update], waitsFor: 0, blocks: [] })
    else group.updates.push(update)
  }
  const holders = new Map<string, Group<T>>()
  for (const [fieldId, group] of groups) {
    const names = namesOf(fieldId)
    if (names === undefined) continue
    holders.set(`api ${names.apiName}`, group)
    holders.set(`db ${names.dbName}`, group)
  }
  for (const group of groups.values()) {
    for (const name of group.updates.flatMap(wantedNames)) {
      const holder = holders.get(name)
      if (holder === undefined || holder === group) continue
      holder.blocks.push(group)
      group.waitsFor += 1
    }
  }
  const ordered = new Set<Group<T>>([...groups.values()].filter(({ waitsFor }) => waitsFor === 0))
  // Iterating over a set includes elements added during the iteration.
  for (const group of ordered) {
    for (const next of group.blocks) {
      next.waitsFor -= 1
      if (next.waitsFor === 0) ordered.add(next)
    }
  }
  for (const group of groups.values()) ordered.add(group)
  return [...ordered].flatMap((group) => group.updates)
}

function wantedNames(update: CollectionChange): readonly string[] {
  if (update.kind !== 'updatePrimitiveField') return []
  return update.data.operations.flatMap((change) => {
    if (change.kind === 'changeApiName') return [`api ${change.data.apiName}`]
    return change.kind === 'changeDbName' ? [`db ${change.data.dbName}`] : []
  })
}
