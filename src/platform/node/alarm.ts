/**
 * Alarm of a Node process: polls the clock, which copes with a sleeping machine, a changed clock and a time beyond the
 * range of timers. Every replica has its own; a lease decides which one acts.
 */
import type { Clock, Instant } from '../../ports/clock.ts'
import type { Alarm } from '../../ports/licensing.ts'

/** Calls `work` repeatedly at this interval; returns a stop function, which waits for running work. */
export type Ticker = (milliseconds: number, work: () => Promise<void>) => () => Promise<void>

const TICK = 30_000
/** Delay before the next attempt after an error. */
const HOUR = 3_600_000

export type NodeAlarm = Alarm & {
  /** Starts calling `wake` when an alarm is due; `wake` returns the time of the next one. */
  start(wake: () => Promise<Instant | undefined>, onFault: (error: unknown) => void): void
  stop(): Promise<void>
}

export type NodeAlarmDeps = { readonly clock: Clock; readonly ticker?: Ticker | undefined }

export function createNodeAlarm(deps: NodeAlarmDeps): NodeAlarm {
  const { clock, ticker = repeatEvery } = deps
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
        // An alarm set while `wake` runs must not be lost.
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

/** Uses a timer that does not keep the process alive. */
export function repeatEvery(milliseconds: number, work: () => Promise<void>): () => Promise<void> {
  let working: Promise<void> | undefined
  const timer = setInterval(() => {
    // Skips a tick while the previous work is still running.
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
