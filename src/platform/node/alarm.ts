/**
 * Alarm of a Node process: a look at the clock every so often, so that a machine that slept, a clock that was set and a
 * time weeks ahead (more than a timer holds) need no care. Every replica has its own; who acts is settled by a lease.
 */
import type { Alarm, Clock, Instant } from '../../ports.ts'

/** Calls `work` again and again with this pause; answers how to stop, which waits for work that has begun. */
export type Ticker = (milliseconds: number, work: () => Promise<void>) => () => Promise<void>

const TICK = 30_000
/** What failed for a reason of ours is tried again after this. */
const HOUR = 3_600_000

export type NodeAlarm = Alarm & {
  /** From now on `wake` is called when the time has come; it answers the next time. */
  start(wake: () => Promise<Instant | undefined>, onFault: (error: unknown) => void): void
  stop(): Promise<void>
}

export function createNodeAlarm(clock: Clock, ticker: Ticker = repeatEvery): NodeAlarm {
  let at: Instant | undefined
  let end: (() => Promise<void>) | undefined

  return {
    async set(wanted) {
      at = at === undefined ? wanted : Math.min(at, wanted)
    },
    start(wake, onFault) {
      end = ticker(TICK, async () => {
        if (at === undefined || clock.now() < at) return
        const due = at
        // Whoever sets one meanwhile asks for a time that counts.
        at = undefined
        const next = await wake().catch((error: unknown) => {
          onFault(error)
          return due + HOUR
        })
        if (next !== undefined) at = at === undefined ? next : Math.min(at, next)
      })
    },
    async stop() {
      await end?.()
    },
  }
}

/** By a timer that keeps no process alive. */
export function repeatEvery(milliseconds: number, work: () => Promise<void>): () => Promise<void> {
  let working: Promise<void> | undefined
  const timer = setInterval(() => {
    // One that takes longer than the pause is not begun again.
    working ??= work().finally(() => {
      working = undefined
    })
  }, milliseconds)
  timer.unref()
  return async () => {
    clearInterval(timer)
    await working
  }
}
