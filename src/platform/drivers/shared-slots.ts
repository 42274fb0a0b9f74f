/**
 * Limits how many go on at a time, in total and of one share (a workspace); the others wait, and those of whose share the fewest go on are
 * first. The last slot is for a share that has none, so that two cannot take them all.
 */
import { BUSY, SqlFault } from '../../core/sql/fault.ts'

export type SlotLimits = {
  readonly most: number
  readonly ofShare: number
  /** Milliseconds that one waits. */
  readonly patience: number
}

export type SharedSlots = {
  /** Returns what frees the slot, which counts once. Throws SqlFault BUSY where none became free in time. */
  take(share: string): Promise<() => void>
}

type Waiting = { readonly share: string; readonly admit: (end: () => void) => void }

export function createSharedSlots({ most, ofShare, patience }: SlotLimits): SharedSlots {
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
    for (let one = next(); one !== undefined; one = next()) {
      waiting = waiting.filter((other) => other !== one)
      one.admit(begin(one.share))
    }
  }

  return {
    take(share) {
      if (hasRoom(share)) return Promise.resolve(begin(share))
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          waiting = waiting.filter((other) => other !== one)
          reject(new SqlFault('no connection became free in time', { state: BUSY }))
        }, patience)
        const admit = (end: () => void) => {
          clearTimeout(timer)
          resolve(end)
        }
        const one: Waiting = { share, admit }
        waiting = [...waiting, one]
      })
    },
  }
}
