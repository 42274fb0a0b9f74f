/**
 * Finds renames by comparing records with what a database has, by name and by the database's own ids. An id that still exists
 * decides, whatever has the name now. If the id is gone, the record keeps its name, because a replaced table or column is no
 * rename, unless another record has the new id. A record that matches by name and id is never moved.
 */

type Known<R> = { readonly record: R; readonly name: string; readonly dbId: string | undefined }
type Found<T> = { readonly item: T; readonly name: string; readonly dbId: string | undefined }

export type Move<R, T> =
  /** Certain if the ids prove it; otherwise there is exactly one candidate. */
  | { readonly kind: 'moved'; readonly record: R; readonly item: T; readonly certain: boolean }
  /** Something else has the name now. */
  | { readonly kind: 'replaced'; readonly record: R }

export type Matching<R, T> = {
  readonly known: readonly Known<R>[]
  readonly found: readonly Found<T>[]
  /** Whether an item may be an uncertain rename; absent if all may. */
  readonly isOffered?: (item: T) => boolean
  /** Records and items are candidates for each other if these texts are equal. */
  readonly kindOf: (record: R) => string
  readonly kindOfFound: (item: T) => string
}

export function findMoves<R, T>(matching: Matching<R, T>): readonly Move<R, T>[] {
  const { known, found, isOffered = () => true } = matching
  const byName = new Map(found.map((one) => [one.name, one]))
  const byId = new Map(found.flatMap((one) => (one.dbId === undefined ? [] : [[one.dbId, one] as const])))
  const owned = new Set(known.map(({ dbId }) => dbId))
  const settled = new Set(known.filter(({ name, dbId }) => byName.get(name)?.dbId === dbId).map(({ dbId }) => dbId))
  const lost: Known<R>[] = []
  const certain = known.flatMap((one): readonly Move<R, T>[] => {
    const { record, dbId } = one
    const there = byName.get(one.name)
    const isOther = there?.dbId !== undefined && there.dbId !== dbId
    const now = dbId === undefined || (there?.dbId !== dbId && settled.has(dbId)) ? undefined : byId.get(dbId)
    const isTaken = isOther && (now !== undefined || owned.has(there.dbId))
    if (there !== undefined && !isTaken) return []
    if (now !== undefined) return [{ kind: 'moved', record, item: now.item, certain: true }]
    if (isTaken) return [{ kind: 'replaced', record }]
    lost.push(one)
    return []
  })
  const names = new Set(known.map(({ name }) => name))
  const taken = new Set(certain.flatMap((move) => (move.kind === 'moved' ? move.item : [])))
  const fresh = found.filter(({ name, item }) => !names.has(name) && !taken.has(item) && isOffered(item))
  return [...certain, ...likelyMoves({ ...matching, known: lost, found: fresh })]
}

/**
 * Finds records with exactly one candidate that is no other record's. Two different ids are two different things, so one of the
 * two has no id. Linear, because thousands of tables may have disappeared while thousands have appeared.
 */
function likelyMoves<R, T>({ known, found, kindOf, kindOfFound }: Matching<R, T>): readonly Move<R, T>[] {
  const rivals = Map.groupBy(known, ({ record }) => kindOf(record))
  if (rivals.size === 0) return []
  const candidates = Map.groupBy(found, ({ item }) => kindOfFound(item))
  return [...rivals].flatMap(([kind, records]) => {
    const items = candidates.get(kind) ?? []
    const [freeRecords, freeItems] = [records.filter(isWithoutId), items.filter(isWithoutId)]
    return records.flatMap((one): readonly Move<R, T>[] => {
      const those = isWithoutId(one) ? items : freeItems
      const [other] = those
      if (other === undefined || those.length > 1) return []
      if ((isWithoutId(other) ? records : freeRecords).length > 1) return []
      return [{ kind: 'moved', record: one.record, item: other.item, certain: false }]
    })
  })
}

const isWithoutId = ({ dbId }: { readonly dbId: string | undefined }) => dbId === undefined
