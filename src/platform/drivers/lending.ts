/**
 * Connections where none outlives the request that opened it, as on Workers: those of a request are used again by its
 * next statements, and closed when it ends. Outside of a request every connection is used once. Requests cannot wait for
 * each other's connections, so where the server has no more of them they try again.
 */
import { setTimeout as wait } from 'node:timers/promises'

/** What runs when a request ends. Identifies the request. */
export type RequestEnd = Set<() => void>

export type LendingOptions<C> = {
  readonly open: () => Promise<C>
  /** Closes a connection; must not throw. */
  readonly close: (connection: C) => void
  /** Whether `open` failed because the server has as many connections as it allows. */
  readonly isCrowded: (error: unknown) => boolean
  /** Whether an unused connection can still be used. */
  readonly isOpen: (connection: C) => boolean
  /** Returns the current request; undefined outside of one. */
  readonly request: () => RequestEnd | undefined
}

export type Lending<C> = {
  readonly take: () => Promise<C>
  /** Takes a connection back that another statement may use. */
  readonly giveBack: (connection: C) => void
}

/** Milliseconds to try for, and before the first further attempt; each pause is up to twice as long as the last. */
const PATIENCE = 10_000
const FIRST_PAUSE = 25

export function createLending<C>({ open, close, isOpen, isCrowded, request }: LendingOptions<C>): Lending<C> {
  const unused = new WeakMap<RequestEnd, C[]>()
  const ended = new WeakSet<RequestEnd>()

  function unusedOf(ending: RequestEnd): C[] {
    const known = unused.get(ending)
    if (known !== undefined) return known
    const connections: C[] = []
    unused.set(ending, connections)
    ending.add(() => {
      ended.add(ending)
      connections.splice(0).forEach(close)
    })
    return connections
  }

  async function openAtLast(): Promise<C> {
    const last = performance.now() + PATIENCE
    for (let pause = FIRST_PAUSE; ; pause *= 2) {
      try {
        return await open()
      } catch (error) {
        if (!isCrowded(error) || performance.now() + pause > last) throw error
      }
      // At random, so that those who were refused together do not come back together.
      await wait(pause * (0.5 + Math.random() / 2))
    }
  }

  return {
    async take() {
      const ending = request()
      const connections = ending === undefined ? [] : unusedOf(ending)
      for (let known = connections.pop(); known !== undefined; known = connections.pop()) {
        if (isOpen(known)) return known
      }
      return openAtLast()
    },

    giveBack(connection) {
      const ending = request()
      // What runs on behind an answer has nobody left who would close it.
      if (ending === undefined || ended.has(ending)) close(connection)
      else unusedOf(ending).push(connection)
    },
  }
}
