/**
 * Limits the stored answers of one caller, so that a caller cannot fill the database. A caller with few gets answers of up to
 * 64 KiB stored, and in full if they cannot be read again; a caller with many long ones only short answers.
 */
import QuickLRU from 'quick-lru'
import type { Keeping } from '../../../core/sql/write/kept-lists.ts'
import type { KeptBounds, LedgerEntry } from '../../../core/sql/write/ledger.ts'
import type { KeptAnswer } from '../../../sources/source.ts'
import type { OnceWritesDeps } from './once-request.ts'

const MANY: KeptBounds = { mostAgain: 4 * 1024, mostElse: 4 * 1024 }
const FEW: KeptBounds = { mostAgain: 64 * 1024, mostElse: Number.MAX_SAFE_INTEGER }

/** Characters of long answers that a process has stored for a caller, above which they count as many. */
const MOST_KEPT = 4 * 1024 * 1024
const MAX_REMEMBERED = 10_000

export type KeptBytes = {
  readonly boundsFor: (userId: string, now: number) => KeptBounds
  /** Counts an answer that was stored for the caller under this entry. */
  readonly note: (userId: string, entry: LedgerEntry, keepings: readonly Keeping[], answer: KeptAnswer) => void
}

export type KeptBytesDeps = Pick<OnceWritesDeps, 'timeToLive'>

export function createKeptBytes(deps: KeptBytesDeps): KeptBytes {
  const { timeToLive } = deps
  const known = new QuickLRU<string, { readonly since: number; readonly size: number }>({ maxSize: MAX_REMEMBERED })
  const of = (userId: string, now: number) => {
    const found = known.get(userId)
    return found === undefined || now - found.since > timeToLive ? { since: now, size: 0 } : found
  }
  return {
    boundsFor: (userId, now) => (of(userId, now).size < MOST_KEPT ? FEW : MANY),
    note(userId, entry, keepings, answer) {
      const size = sizeOf(entry, keepings, answer)
      if (size <= MANY.mostAgain) return
      const { since, size: before } = of(userId, entry.startedAt)
      known.set(userId, { since, size: before + size })
    },
  }
}

/** Number of characters of the answer that are stored. */
function sizeOf({ mostAgain, mostElse }: KeptBounds, keepings: readonly Keeping[], answer: KeptAnswer): number {
  const ofThose = (...which: readonly Keeping[]) => {
    const lists = answer.filter((_, index) => which.includes(keepings[index] ?? 'nothing'))
    return lists.reduce((sum, list) => sum + (list?.data.length ?? 0), 0)
  }
  const [again, others] = [ofThose('bySize', 'ifShort'), ofThose('body')]
  return (again <= mostAgain ? again : 0) + (others <= mostElse ? others : 0)
}
