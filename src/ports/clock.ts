/** Time, which tests set. */

/** Milliseconds since the epoch. */
export type Instant = number

export type Clock = {
  readonly now: () => Instant
  /** Milliseconds by a clock that nobody sets; absent for that of the platform. */
  readonly elapsed?: () => number
}

/** Milliseconds since a call of `startAge`. */
export type Age = () => number

/**
 * Starts to measure an age, by the clock that moves more: one that was set back would keep what is cached, and the
 * other may stand still while its machine sleeps.
 */
export function startAge(clock: Clock): Age {
  const { now } = clock
  const elapsed = elapsedOf(clock)
  const [at, startedAt] = [now(), elapsed()]
  return () => Math.max(now() - at, elapsed() - startedAt)
}

/**
 * Resolves after the milliseconds, and after everything else that is ready to run. Whoever waits for another request looks again
 * and again, with a pause between, since Workers share no promise between requests.
 *
 * Of those who only give way, without milliseconds, one goes on at a time, in the order of their pauses: requests that come
 * meanwhile wait for what one of them does, and not for all.
 */
export function pause(milliseconds = 0): Promise<void> {
  if (milliseconds > 0) return new Promise((resolve) => setTimeout(resolve, milliseconds))
  return new Promise((resolve) => {
    const own = { seen: performance.now() }
    waiting.add(own)
    const look = () => {
      if (isNext(own)) resolve()
      else setTimeout(look)
    }
    setTimeout(look)
  })
}

/** Those who gave way, with when each last looked whether it may go on. */
const waiting = new Set<{ seen: number }>()

/** When somebody went on, until others had their turn. */
let wentOn: number | undefined

/** Milliseconds without a look after which somebody is gone: Workers drop what they do for clients who have left. */
const GONE = 100

function isNext(own: { seen: number }): boolean {
  const now = performance.now()
  own.seen = now
  waiting.add(own)
  if (wentOn !== undefined && now - wentOn < GONE) return false
  for (const one of waiting) {
    if (one === own) break
    if (now - one.seen < GONE) return false
    waiting.delete(one)
  }
  waiting.delete(own)
  wentOn = now
  setTimeout(() => {
    wentOn = undefined
  })
  return true
}

/** Returns the clock that nobody sets. */
export function elapsedOf({ elapsed = () => performance.now() }: Clock): () => number {
  return elapsed
}
