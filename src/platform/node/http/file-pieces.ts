/** Bounds how many pieces of files are read in one iteration of the event loop, so that however many are sent, others are answered between them. */
import { setImmediate as nextIteration } from 'node:timers'

const MOST = 8

/** Returns what a piece waits for, in the order in which they come; undefined where it need not. */
export function createPieceRate(most = MOST): () => Promise<void> | undefined {
  let left = most
  let isCounting = false
  const waiting: (() => void)[] = []

  function count(): void {
    if (isCounting) return
    isCounting = true
    nextIteration(() => {
      isCounting = false
      const free = waiting.splice(0, most)
      left = most - free.length
      if (free.length > 0) count()
      for (const read of free) read()
    })
  }

  return () => {
    count()
    if (left === 0) return new Promise((resolve) => waiting.push(resolve))
    left -= 1
    return undefined
  }
}
