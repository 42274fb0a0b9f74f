/**
 * Connections where none outlives the request that opened it, as on Workers: those of a request are used again by its
 * next statements, and closed when it ends. Outside of a request every connection is used once.
 */

/** What runs when a request ends. Identifies the request. */
export type RequestEnd = Set<() => void>

export type LendingOptions<C> = {
  readonly open: () => Promise<C>
  /** Closes a connection; must not throw. */
  readonly close: (connection: C) => void
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

export function createLending<C>({ open, close, isOpen, request }: LendingOptions<C>): Lending<C> {
  const unused = new WeakMap<RequestEnd, C[]>()

  function unusedOf(ending: RequestEnd): C[] {
    const known = unused.get(ending)
    if (known !== undefined) return known
    const connections: C[] = []
    unused.set(ending, connections)
    ending.add(() => connections.splice(0).forEach(close))
    return connections
  }

  return {
    async take() {
      const ending = request()
      const connections = ending === undefined ? [] : unusedOf(ending)
      for (let known = connections.pop(); known !== undefined; known = connections.pop()) {
        if (isOpen(known)) return known
      }
      return open()
    },

    giveBack(connection) {
      const ending = request()
      if (ending === undefined) close(connection)
      else unusedOf(ending).push(connection)
    },
  }
}
