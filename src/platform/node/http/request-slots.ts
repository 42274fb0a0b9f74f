/**
 * Bounds how many requests of one account go on at a time: to one collection, so that those to one whose database is silent leave room
 * for others, and of all. Each account has lines of its own, so that nobody looks through those of others.
 */
import { BUSY, SqlFault } from '../../../core/sql/fault.ts'
import { createSharedSlots } from '../../drivers/shared-slots.ts'

export type RequestSlots = {
  /** Returns what ends the slot, or undefined where none is free. `collection` is '' for what names none. */
  takeNow(account: string, collection: string): (() => void) | undefined
  /** Waits for one. Rejects where none became free in time, too many wait, or the client `hasLeft`. */
  take(account: string, collection: string, hasLeft: () => boolean): Promise<() => void>
}

export type RequestSlotsDeps = {
  readonly ofCollection: number
  readonly ofAccount: number
  /** How many more of the account wait. */
  readonly waiting: number
}

/** Milliseconds that a request waits for the slot of its collection, and then for that of its account. */
const [FIRST, THEN] = [20_000, 10_000]

export function createRequestSlots(deps: RequestSlotsDeps): RequestSlots {
  const { ofCollection, ofAccount, waiting } = deps
  /** Those of which requests go on or wait. */
  const accounts = new Map<string, ReturnType<typeof open>>()

  function open() {
    const most = Number.POSITIVE_INFINITY
    const collections = createSharedSlots({ most, ofShare: ofCollection, patience: FIRST })
    return { collections, all: createSharedSlots({ most, ofShare: ofAccount, patience: THEN }), going: 0, waiting: 0 }
  }

  function of(account: string) {
    const known = accounts.get(account) ?? open()
    accounts.set(account, known)
    return known
  }

  function forget(account: string): void {
    const known = accounts.get(account)
    if (known?.going === 0 && known.waiting === 0) accounts.delete(account)
  }

  /** Counts a request, and returns what ends it. */
  function begin(account: string, ...ends: readonly (() => void)[]): () => void {
    of(account).going += 1
    let isEnded = false
    return () => {
      if (isEnded) return
      isEnded = true
      of(account).going -= 1
      for (const end of ends) end()
      forget(account)
    }
  }

  return {
    takeNow(account, collection) {
      const { collections, all } = of(account)
      const one = collections.takeNow(collection)
      const other = one && all.takeNow('')
      if (one !== undefined && other !== undefined) return begin(account, one, other)
      one?.()
      return undefined
    },

    async take(account, collection, hasLeft) {
      const own = of(account)
      if (own.waiting >= waiting) throw new SqlFault('too many wait', { state: BUSY })
      own.waiting += 1
      try {
        const one = await own.collections.take(collection, hasLeft)
        const other = await own.all.take('', hasLeft).catch((fault: unknown) => {
          one()
          throw fault
        })
        return begin(account, one, other)
      } finally {
        own.waiting -= 1
        forget(account)
      }
    },
  }
}
