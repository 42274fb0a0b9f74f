/**
 * First come, first served: one line per key, its first waiter has the turn. In memory, so it orders one process or
 * one Durable Object. Whoever waits too long steps out of the line without moving the others.
 */
export type KeyedLocks = {
  /** Waits for the turn; answers how to give it back, or undefined after `waitLimit` milliseconds. */
  readonly take: (key: string, waitLimit: number) => Promise<(() => void) | undefined>
}

export function createKeyedLocks(): KeyedLocks {
  const lines = new Map<string, (() => void)[]>()

  return {
    take: (key, waitLimit) =>
      new Promise((resolve) => {
        const line = lines.get(key) ?? []
        lines.set(key, line)

        const start = () => {
          clearTimeout(timer)
          resolve(leave)
        }
        const leave = () => {
          const place = line.indexOf(start)
          if (place === -1) return
          line.splice(place, 1)
          if (line.length === 0) lines.delete(key)
          else if (place === 0) line[0]?.()
        }
        const timer = setTimeout(() => {
          leave()
          resolve(undefined)
        }, waitLimit)

        line.push(start)
        if (line[0] === start) start()
      }),
  }
}
