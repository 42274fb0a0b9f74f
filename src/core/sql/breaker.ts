/**
 * A database that cannot be reached is not asked again for a while, so that nobody waits for it in vain; then one request
 * tries whether it is back. Lost connections do not count: the next one may well be made.
 */
export type Breaker =
  | { readonly kind: 'closed'; readonly failures: number }
  /** `failures` counts on, so that the pauses grow. */
  | { readonly kind: 'open'; readonly failures: number; readonly until: number }
  | { readonly kind: 'trying'; readonly failures: number; readonly until: number }

export type BreakerEvent = 'asked' | 'reached' | 'unreachable'

export const closedBreaker: Breaker = { kind: 'closed', failures: 0 }

/** Failures in a row after which nobody is let through, and the pauses that follow, in milliseconds. */
const LIMIT = 5
const FIRST_PAUSE = 500
const LONGEST_PAUSE = 5_000
/** A trial that tells nothing for so long is given up. */
const TRIAL = 15_000

export function isRefusing(breaker: Breaker, now: number): boolean {
  return breaker.kind !== 'closed' && now < breaker.until
}

/** `asked` is said of requests that were let through. */
export function afterEvent(breaker: Breaker, event: BreakerEvent, now: number): Breaker {
  switch (event) {
    case 'asked':
      return breaker.kind === 'closed' ? breaker : { ...breaker, kind: 'trying', until: now + TRIAL }
    case 'reached':
      return closedBreaker
    case 'unreachable': {
      const failures = breaker.failures + 1
      if (failures < LIMIT) return { kind: 'closed', failures }
      // Those that were under way together are one failure.
      if (breaker.kind === 'open') return breaker
      return { kind: 'open', failures, until: now + Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** (failures - LIMIT)) }
    }
    default:
      return event satisfies never
  }
}
