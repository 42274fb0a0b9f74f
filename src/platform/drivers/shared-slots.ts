/**
 * Limits how many go on at a time, in total and of one share (a workspace); the others wait, and those of whose share the fewest go on are
 * first, share by share, and account by account within one. The last slot is for a share that has none, so that two cannot take them
 * all.
 */
import { BUSY, CANCELED, SqlFault } from '../../core/sql/fault.ts'
import type { QueryContext } from '../../ports/database.ts'

export type SlotLimits = {
  readonly most: number
  readonly ofShare: number
  /** How many of one account of a share; by default as many as of the share. */
  readonly ofAccount?: number
  /** Milliseconds that one waits. */
  readonly patience: number
  /** How many of one share may wait; by default any number. */
  readonly waiting?: number
}

export type SharedSlots = {
  /**
   * Returns what frees the slot, which counts once. Throws SqlFault BUSY where none became free in time or too many of the share
   * wait, CANCELED where whoever waited `hasLeft` by then.
   */
  take(share: string, hasLeft?: () => boolean, account?: string): Promise<() => void>
  /** The same without waiting; undefined where none is free. */
  takeNow(share: string, account?: string): (() => void) | undefined
}

type Waiting = {
  readonly share: string
  readonly account: string
  readonly hasLeft: () => boolean
  readonly admit: (end: () => void) => void
  readonly refuse: (fault: SqlFault) => void
}

export function createSharedSlots({
  most,
  ofShare,
  ofAccount = ofShare,
  patience,
  waiting: line = Number.POSITIVE_INFINITY,
}: SlotLimits): SharedSlots {
  const ofShares = new Map<string, number>()
  const ofAccounts = new Map<string, number>()
  let total = 0
  let waiting: readonly Waiting[] = []

  const hasRoom = (share: string, account: string) =>
    total < most && hasShare(ofShares.get(share) ?? 0) && (ofAccounts.get(accountKey(share, account)) ?? 0) < ofAccount
  const hasShare = (count: number) => count === 0 || (count < ofShare && total < most - 1)

  function add(share: string, account: string, change: 1 | -1): void {
    total += change
    count(ofShares, share, change)
    count(ofAccounts, accountKey(share, account), change)
  }

  function begin(share: string, account: string): () => void {
    add(share, account, 1)
    let isEnded = false
    return () => {
      if (isEnded) return
      isEnded = true
      add(share, account, -1)
      handOut()
    }
  }

  /** The first of those of whose share the fewest go on. */
  function next(): Waiting | undefined {
    const able = waiting.filter(({ share, account }) => hasRoom(share, account))
    const fewest = Math.min(...able.map(({ share }) => ofShares.get(share) ?? 0))
    return able.find(({ share }) => (ofShares.get(share) ?? 0) === fewest)
  }

  function handOut(): void {
    dropLeavers()
    for (let one = next(); one !== undefined; one = next()) {
      const { share, account } = one
      // Behind the others, however many of its account, or of its share, came before them.
      const distance = (other: Waiting) => (other.share !== share ? 0 : other.account !== account ? 1 : 2)
      waiting = waiting.filter((other) => other !== one).toSorted((a, b) => distance(a) - distance(b))
      one.admit(begin(share, account))
    }
  }

  function dropLeavers(): void {
    const leavers = waiting.filter(({ hasLeft }) => hasLeft())
    waiting = waiting.filter((one) => !leavers.includes(one))
    for (const { refuse } of leavers) refuse(new SqlFault('the client has disconnected', { state: CANCELED }))
  }

  return {
    takeNow: (share, account = '') => (hasRoom(share, account) ? begin(share, account) : undefined),

    async take(share, hasLeft = () => false, account = '') {
      if (hasRoom(share, account)) return begin(share, account)
      dropLeavers()
      const isFull = waiting.filter((one) => one.share === share).length >= line
      if (isFull) throw new SqlFault('too many wait', { state: BUSY })
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          waiting = waiting.filter((other) => other !== one)
          reject(new SqlFault('no connection became free in time', { state: BUSY }))
        }, patience)
        const admit = (end: () => void) => {
          clearTimeout(timer)
          resolve(end)
        }
        const refuse = (fault: SqlFault) => {
          clearTimeout(timer)
          reject(fault)
        }
        const one: Waiting = { share, account, hasLeft, admit, refuse }
        waiting = [...waiting, one]
      })
    },
  }
}

function accountKey(share: string, account: string): string {
  return `${share} ${account}`
}

function count(counts: Map<string, number>, name: string, change: 1 | -1): void {
  const changed = (counts.get(name) ?? 0) + change
  if (changed > 0) counts.set(name, changed)
  else counts.delete(name)
}

/**
 * Returns what `lend` lends in a slot of the context's share and account, which is free again when it is given back by one of the methods `ends`, and at once
 * where nothing is lent.
 */
export async function lendInSlot<Connection extends object>(
  slots: SharedSlots,
  { share = '', account, isDisconnected }: QueryContext,
  lend: () => Promise<Connection>,
  ends: readonly (keyof Connection & string)[],
): Promise<Connection> {
  const end = await slots.take(share, () => isDisconnected?.() === true, account)
  try {
    const connection = await lend()
    // Set anew for each time that it is lent.
    for (const name of ends) {
      const giveBack = connection[name] as (...how: unknown[]) => unknown
      const ending = (...how: unknown[]) => {
        end()
        return giveBack.apply(connection, how)
      }
      Object.assign(connection, { [name]: ending })
    }
    return connection
  } catch (error) {
    end()
    throw error
  }
}
