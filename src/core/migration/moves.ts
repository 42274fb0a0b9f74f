/**
 * Matches records with what a database has, by name and by the database's own ids: which have moved to another name.
 * Where an id is still there it decides, whoever has the name now. One that is gone leaves the record to the name, since
 * a table or column that replaced another is no rename, unless it is that of another record. What a record has by name and id is
 * nobody else's.
 */

type Known<R> = { readonly record: R; readonly name: string; readonly dbId: string | undefined }
type Found<T> = { readonly item: T; readonly name: string; readonly dbId: string | undefined }

export type Move<R, T> =
  /** Certain where the ids prove it; else there is exactly one item that it may be. */
  | { readonly kind: 'moved'; readonly record: R; readonly item: T; readonly certain: boolean }
  /** Something else has taken the name. */
  | { readonly kind: 'replaced'; readonly record: R }

export type Matching<R, T> = {
  readonly known: readonly Known<R>[]
  readonly found: readonly Found<T>[]
  /** Whether an item may be another one where no id proves it; all may be where this is absent. */
  readonly isOffered?: (item: T) => boolean
  /** Texts that are the same where one may be the other under another name. */
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
 * Whatever has exactly one candidate that is nobody else's. Two ids that differ are two things, so one of both is
 * without. Looks at each once, since thousands of tables may have gone while thousands have come.
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
