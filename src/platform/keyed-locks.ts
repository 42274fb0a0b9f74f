/**
 * Locks by key, served first come, first served. In memory: they order one process or one Durable Object. A waiter that
 * times out leaves the queue without affecting the others.
 */
export type KeyedLocks = {
  /** Waits for the lock; returns its release function, or undefined after `waitLimit` milliseconds. */
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
