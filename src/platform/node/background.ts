/** Background work in this process: errors are observed, and shutdown waits for it. */
import type { Observe } from '../../ports/observe.ts'
import type { Background } from '../../ports/ports.ts'

export type NodeBackground = {
  readonly background: Background
  /** Resolves when no work is running. */
  settled(): Promise<void>
}

export function createNodeBackground(observe: Observe): NodeBackground {
  const running = new Set<Promise<void>>()

  return {
    background(work) {
      const watched = work.then(
        () => {},
        (error) => observe({ kind: 'fault', error }),
      )
      running.add(watched)
      void watched.then(() => running.delete(watched))
    },

    async settled() {
      while (running.size > 0) await Promise.all(running)
    },
  }
}
