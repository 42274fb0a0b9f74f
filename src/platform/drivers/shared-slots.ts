/**
 * Limits how many go on at a time, in total and of one share (a workspace); the others wait, and those of whose share the fewest go on are
 * first, share by share, and account by account within one. The last slot is for a share that has none, so that two cannot take them
 * all.
 */
import { BUSY, CANCELED, SqlFault } from '../../core/sql/fault.ts'

export type SlotLimits = {
  readonly most: number
  readonly ofShare: number
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
  takeNow(share: string): (() => void) | undefined
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
  patience,
  waiting: line = Number.POSITIVE_INFINITY,
}: SlotLimits): SharedSlots {
  const taken = new Map<string, number>()
  let total = 0
  let waiting: readonly Waiting[] = []

  const countOf = (share: string) => taken.get(share) ?? 0
  const hasRoom = (share: string) => total < most && hasShare(countOf(share))
  const hasShare = (count: number) => count === 0 || (count < ofShare && total < most - 1)

  function add(share: string, change: 1 | -1): void {
    total += change
    const count = countOf(share) + change
    if (count > 0) taken.set(share, count)
    else taken.delete(share)
  }

  function begin(share: string): () => void {
    add(share, 1)
    let isEnded = false
    return () => {
      if (isEnded) return
      isEnded = true
      add(share, -1)
      handOut()
    }
  }

  /** The first of those of whose share the fewest go on. */
  function next(): Waiting | undefined {
    const able = waiting.filter(({ share }) => hasRoom(share))
    const fewest = Math.min(...able.map(({ share }) => countOf(share)))
    return able.find(({ share }) => countOf(share) === fewest)
  }

  function handOut(): void {
    dropLeavers()
    for (let one = next(); one !== undefined; one = next()) {
      const { share, account } = one
      // Behind the others, however many of its account, or of its share, came before them.
      const distance = (other: Waiting) => (other.share !== share ? 0 : other.account !== account ? 1 : 2)
      waiting = waiting.filter((other) => other !== one).toSorted((a, b) => distance(a) - distance(b))
      one.admit(begin(share))
    }
  }

  function dropLeavers(): void {
    const leavers = waiting.filter(({ hasLeft }) => hasLeft())
    waiting = waiting.filter((one) => !leavers.includes(one))
    for (const { refuse } of leavers) refuse(new SqlFault('the client has disconnected', { state: CANCELED }))
  }

  return {
    takeNow: (share) => (hasRoom(share) ? begin(share) : undefined),

    async take(share, hasLeft = () => false, account = '') {
      if (hasRoom(share)) return begin(share)
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
