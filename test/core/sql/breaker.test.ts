import { expect, it } from 'vitest'
import { afterEvent, type Breaker, closedBreaker, isRefusing } from '../../../src/core/sql/breaker.ts'

function fail(breaker: Breaker, times: number, now: number): Breaker {
  return Array.from({ length: times }).reduce<Breaker>((state) => afterEvent(state, 'unreachable', now), breaker)
}

it('lets everything through until five connections in a row could not be made', () => {
  expect(isRefusing(fail(closedBreaker, 4, 0), 0)).toBe(false)
  expect(isRefusing(fail(closedBreaker, 5, 0), 0)).toBe(true)
})

it('begins to count anew once the database was reached', () => {
  const reached = afterEvent(fail(closedBreaker, 4, 0), 'reached', 0)

  expect(isRefusing(fail(reached, 4, 0), 0)).toBe(false)
})

it('lets one request try after the pause, and nobody beside it', () => {
  const open = fail(closedBreaker, 5, 1_000)
  const trying = afterEvent(open, 'started', 1_500)

  expect(isRefusing(open, 1_499)).toBe(true)
  expect(isRefusing(open, 1_500)).toBe(false)
  expect(isRefusing(trying, 1_501)).toBe(true)
  expect(afterEvent(trying, 'reached', 1_600)).toEqual(closedBreaker)
})

it('pauses longer each time that a trial fails, up to five seconds', () => {
  let breaker = fail(closedBreaker, 5, 0)
  const pauses: number[] = []
  let now = 0
  for (let trial = 0; trial < 6; trial += 1) {
    const { until } = breaker as { until: number }
    pauses.push(until - now)
    now = until
    breaker = afterEvent(afterEvent(breaker, 'started', now), 'unreachable', now)
  }

  expect(pauses).toEqual([500, 1_000, 2_000, 4_000, 5_000, 5_000])
})

it('counts those that failed together once', () => {
  expect(fail(closedBreaker, 50, 0)).toEqual(fail(closedBreaker, 5, 0))
})

it('gives up a trial that tells nothing', () => {
  const trying = afterEvent(fail(closedBreaker, 5, 0), 'started', 500)

  expect(isRefusing(trying, 15_499)).toBe(true)
  expect(isRefusing(trying, 15_500)).toBe(false)
})
