/**
 * Bounds how many requests of one account go on at a time: to one collection, so that those to one whose database is silent leave room
 * for others, and of all.
 */
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
  /** How many more wait. */
  readonly waiting: number
}

/** Milliseconds. */
const PATIENCE = 30_000

export function createRequestSlots(deps: RequestSlotsDeps): RequestSlots {
  const { ofCollection, ofAccount, waiting } = deps
  const limits = { most: Number.POSITIVE_INFINITY, waiting, patience: PATIENCE }
  const collections = createSharedSlots({ ...limits, ofShare: ofCollection })
  const accounts = createSharedSlots({ ...limits, ofShare: ofAccount })
  const both = (one: () => void, other: () => void) => () => {
    one()
    other()
  }
  return {
    takeNow(account, collection) {
      const one = collections.takeNow(`${account} ${collection}`)
      const other = one && accounts.takeNow(account)
      if (one !== undefined && other !== undefined) return both(one, other)
      one?.()
      return undefined
    },

    async take(account, collection, hasLeft) {
      const one = await collections.take(`${account} ${collection}`, hasLeft)
      try {
        return both(one, await accounts.take(account, hasLeft))
      } catch (error) {
        one()
        throw error
      }
    },
  }
}
