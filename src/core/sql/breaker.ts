/**
 * A circuit breaker: after repeated failures to reach a database, requests fail at once for a pause; then one trial
 * request is let through. Lost connections do not count, since the next connection may succeed.
 */
export type Breaker =
  | { readonly kind: 'closed'; readonly failures: number }
  /** `failures` is kept so that pauses grow. */
  | { readonly kind: 'open'; readonly failures: number; readonly until: number }
  | { readonly kind: 'trying'; readonly failures: number; readonly until: number }

export type BreakerEvent = 'started' | 'reached' | 'unreachable'

export const closedBreaker: Breaker = { kind: 'closed', failures: 0 }

/** Failures in a row that open the breaker, and the pauses that follow, in milliseconds. */
const LIMIT = 5
const FIRST_PAUSE = 500
const LONGEST_PAUSE = 5_000
/** A trial without a result for this long, in milliseconds, is abandoned. */
const TRIAL = 15_000

export function isRefusing(breaker: Breaker, now: number): boolean {
  return breaker.kind !== 'closed' && now < breaker.until
}

/** `started`: a request was let through. */
export function afterEvent(breaker: Breaker, event: BreakerEvent, now: number): Breaker {
  switch (event) {
    case 'started':
      return breaker.kind === 'closed' ? breaker : { ...breaker, kind: 'trying', until: now + TRIAL }
    case 'reached':
      return closedBreaker
    case 'unreachable': {
      const failures = breaker.failures + 1
      if (failures < LIMIT) return { kind: 'closed', failures }
      // Concurrent failures count as one.
      if (breaker.kind === 'open') return breaker
      return { kind: 'open', failures, until: now + Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** (failures - LIMIT)) }
    }
    default:
      return event satisfies never
  }
}
