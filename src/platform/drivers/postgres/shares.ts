/** Chooses the reader for a statement, so that slow ones of a workspace do not hold all of them, nor those of one account all of its workspace. */
import { isFirst, type PendingStatement, type Reader } from './reader.ts'

/** Why a statement waits: its account or its share holds as many readers as it may, or none has room. */
export type Refusal = 'used-up' | 'no-room'

type Readers = readonly (Reader | undefined)[]

/**
 * Readers that share what is asked, as long as they are not silent; how many there may be; and of how many the statements of one
 * workspace, and of one account in it, are the silent ones.
 */
const AT_ONCE = 2
const MAX_READERS = 10
const MAX_OF_SHARE = 6
const MAX_OF_ACCOUNT = 5

/**
 * The place of that of the first two that accept the statement which has the fewest unanswered statements, or of one that has to be
 * opened.
 */
export function placeFor(pending: PendingStatement, readers: Readers): number | Refusal {
  const most = mostFor(pending, readers)
  if (most <= 0) return 'used-up'
  let best: number | undefined
  let least = Number.POSITIVE_INFINITY
  let sharing = 0
  for (let place = 0; place < MAX_READERS && sharing < most; place += 1) {
    const reader = readers[place]
    // Another connection is opened only for a statement that would queue behind another.
    if (reader === undefined) return best === undefined || least > 0 ? place : best
    if (!reader.accepts(pending)) continue
    sharing += 1
    if (reader.isFull() || reader.load() >= least) continue
    best = place
    least = reader.load()
  }
  // Others may have the choice among more.
  return best ?? (most < AT_ONCE ? 'used-up' : 'no-room')
}

/**
 * Among how many readers a statement has the choice: those on which it is asked may all turn out silent. What has to be first keeps
 * its reader from others as soon as it is sent, everything else once it is silent. The last reader is for a share that keeps none.
 */
function mostFor(pending: PendingStatement, readers: Readers): number {
  const { share, account } = pending.context
  if (share === undefined) return AT_ONCE
  let [kept, ofShare, ofAccount] = [0, 0, 0]
  for (const reader of readers) {
    const holder = reader?.holder(isFirst(pending))?.context
    if (holder === undefined) continue
    kept += 1
    if (holder.share !== share) continue
    ofShare += 1
    if (holder.account === account) ofAccount += 1
  }
  if (ofShare > 0 && kept >= MAX_READERS - AT_ONCE) return 0
  return Math.min(AT_ONCE, MAX_OF_SHARE - ofShare, MAX_OF_ACCOUNT - ofAccount)
}
