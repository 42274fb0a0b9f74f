/** Chooses the reader for a statement, so that no workspace's slow statements hold all of them. */
import { isFirst, type PendingStatement, type Reader } from './reader.ts'

/** Why a statement waits: its share holds as many readers as it may, or none has room. */
export type Refusal = 'used-up' | 'no-room'

type Readers = readonly (Reader | undefined)[]

/** Readers that share what is asked, as long as they are not silent; how many there may be, and of how many one workspace's statements are the silent ones. */
const AT_ONCE = 2
const MAX_READERS = 10
const MAX_HELD = 5

/**
 * The place of that of the first two that accept the statement which has the fewest unanswered statements, or of one that has to be
 * opened.
 */
export function placeFor(pending: PendingStatement, readers: Readers): number | Refusal {
  if (isUsedUp(pending, readers)) return 'used-up'
  let best: number | undefined
  let least = Number.POSITIVE_INFINITY
  let sharing = 0
  for (let place = 0; place < MAX_READERS && sharing < AT_ONCE; place += 1) {
    const reader = readers[place]
    // Another connection is opened only for a statement that would queue behind another.
    if (reader === undefined) return best === undefined || least > 0 ? place : best
    if (!reader.accepts(pending)) continue
    sharing += 1
    if (reader.isFull() || reader.load() >= least) continue
    best = place
    least = reader.load()
  }
  return best ?? 'no-room'
}

/**
 * What has to be first keeps its reader from others as soon as it is sent, everything else once it is silent. The last reader is for
 * a share that keeps none.
 */
function isUsedUp(pending: PendingStatement, readers: Readers): boolean {
  const { share } = pending.context
  if (share === undefined) return false
  let [kept, own] = [0, 0]
  for (const reader of readers) {
    const holder = reader?.holder(isFirst(pending))
    if (holder === undefined) continue
    kept += 1
    if (holder.context.share === share) own += 1
  }
  // As many as are asked at once may be silent before that shows.
  return own >= MAX_HELD || (own > 0 && kept >= MAX_READERS - AT_ONCE)
}
