/** docs/contract.md#license-status: every row of the table, at the millisecond where it turns. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type License, starterLimits } from '../../../src/core/license/license.ts'
import {
  type LicenseState,
  licenseStatus,
  licenseWarnings,
  nextRevalidation,
  type Verdict,
} from '../../../src/core/license/status.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const expiresAt = 1_000 * DAY
const grace = 7 * DAY
const environmentId = '0190a1b2-0000-7000-8000-0000075bcd15'

const license: License = {
  id: 'license-1',
  customer: 'tests',
  plan: 'team',
  issuedAt: 0,
  expiresAt,
  grace,
  revalidate: DAY,
  isOffline: false,
  instances: 1,
  limits: starterLimits,
}

describe('license status', () => {
  it.each([
    ['before its expiry', expiresAt - 1, 'active'],
    ['at its expiry', expiresAt, 'grace'],
    ['at the end of grace', expiresAt + grace - 1, 'grace'],
    ['after grace', expiresAt + grace, 'locked'],
  ] as const)('of a license %s', (_, now, status) => {
    expect(licenseStatus(activated('valid'), now)).toBe(status)
    expect(licenseStatus({ kind: 'offline', license }, now)).toBe(status)
  })

  it.each(['expired', 'suspended', 'canceled'] as const)('is locked at once where the service says %s', (verdict) => {
    expect(licenseStatus(activated(verdict), 0)).toBe('locked')
    expect(licenseStatus(activated(verdict), expiresAt + 1)).toBe('locked')
  })

  it('is active again with a renewed license, from grace and from locked', () => {
    const renewed = activated('valid', { license: { ...license, expiresAt: expiresAt + 365 * DAY } })

    expect(licenseStatus(renewed, expiresAt + 1)).toBe('active')
    expect(licenseStatus(renewed, expiresAt + grace + 1)).toBe('active')
  })

  it('of the starter plan never ends', () => {
    expect(licenseStatus({ kind: 'starter' }, Number.MAX_SAFE_INTEGER)).toBe('active')
  })

  it('has no grace where the license grants none', () => {
    const state = activated('valid', { license: { ...license, grace: 0 } })

    expect(licenseStatus(state, expiresAt)).toBe('locked')
  })

  it('keeps what it was while the service cannot be reached', () => {
    const fault = { kind: 'unreachable', message: 'no connection' } as const

    return fc.assert(
      fc.property(verdicts, times, (verdict, now) => {
        expect(licenseStatus(activated(verdict, { fault }), now)).toBe(licenseStatus(activated(verdict), now))
      }),
    )
  })

  it('only gets worse as time passes', () => {
    const order = ['active', 'grace', 'locked']

    return fc.assert(
      fc.property(verdicts, times, times, (verdict, one, other) => {
        const [earlier, later] = [Math.min(one, other), Math.max(one, other)]
        const rank = (now: number) => order.indexOf(licenseStatus(activated(verdict), now))

        expect(rank(earlier)).toBeLessThanOrEqual(rank(later))
      }),
    )
  })
})

describe('license warnings', () => {
  it.each([
    ['none 14 days and a moment before expiry', expiresAt - 14 * DAY - 1, []],
    ['from 14 days before expiry', expiresAt - 14 * DAY, ['expiry']],
    ['up to expiry', expiresAt - 1, ['expiry']],
    ['throughout grace', expiresAt, ['grace']],
    ['to its last moment', expiresAt + grace - 1, ['grace']],
    ['when locked', expiresAt + grace, ['locked']],
  ] as const)('%s', (_, now, kinds) => {
    expect(licenseWarnings(activated('valid'), now).map(({ kind }) => kind)).toEqual(kinds)
  })

  it('say that the service cannot be reached', () => {
    const fault = {
      kind: 'unreachable',
      message: 'The licensing service cannot be reached (SERVICE_LICENSE__URL): no connection',
    } as const

    expect(licenseWarnings(activated('valid', { fault }), 0)).toEqual([fault])
  })

  it('name what the service reported', () => {
    expect(licenseWarnings(activated('suspended'), 0)).toMatchObject([
      { kind: 'locked', message: expect.stringContaining('suspended') },
    ])
  })
})

describe('the time of the next revalidation', () => {
  const intervals = fc.integer({ min: 0, max: 400 * DAY })
  const attempts = fc.integer({ min: 0, max: 100_000 * DAY })

  it('is at least an hour after the last attempt, and at most an hour beyond one interval', () => {
    return fc.assert(
      fc.property(intervals, attempts, fc.uuid(), (revalidate, attemptedAt, environment) => {
        const next = nextRevalidation(asked({ revalidate, attemptedAt }), environment)

        expect(next).toBeGreaterThanOrEqual(attemptedAt + HOUR)
        expect(next).toBeLessThanOrEqual(attemptedAt + Math.max(revalidate, HOUR) + HOUR)
      }),
    )
  })

  it('is the same for replicas that last asked at different times of one interval', () => {
    const next = nextRevalidation(asked({ revalidate: DAY, attemptedAt: 500 * DAY }), environmentId)

    const others = [next - 2 * HOUR, next - 5 * HOUR, next - 20 * HOUR].map((attemptedAt) =>
      nextRevalidation(asked({ revalidate: DAY, attemptedAt }), environmentId),
    )

    expect(new Set([next, ...others]).size).toBe(1)
  })

  it('comes once per interval', () => {
    const first = nextRevalidation(asked({ revalidate: DAY, attemptedAt: 500 * DAY }), environmentId)
    const second = nextRevalidation(asked({ revalidate: DAY, attemptedAt: first }), environmentId)

    expect(second - first).toBe(DAY)
  })

  it('is a whole interval later where its place is less than an hour away', () => {
    const place = nextRevalidation(asked({ revalidate: DAY, attemptedAt: 500 * DAY }), environmentId)

    expect(nextRevalidation(asked({ revalidate: DAY, attemptedAt: place - HOUR + 1 }), environmentId)).toBe(place + DAY)
  })

  it('is elsewhere in the interval for another environment', () => {
    const other = environmentId.replace('cd15', 'cd16')

    const places = [environmentId, other].map((environment) =>
      nextRevalidation(asked({ revalidate: DAY, attemptedAt: 500 * DAY }), environment),
    )

    expect(new Set(places).size).toBe(2)
  })

  it('is an hour after an attempt that nobody answered', () => {
    const state = activated('valid', { attemptedAt: 7, fault: { kind: 'unreachable', message: '' } })

    expect(nextRevalidation(state, environmentId)).toBe(7 + HOUR)
  })

  function asked({ revalidate, attemptedAt }: { revalidate: number; attemptedAt: number }) {
    return activated('valid', { license: { ...license, revalidate }, attemptedAt })
  }
})

type Activated = Extract<LicenseState, { kind: 'activated' }>

const verdicts = fc.constantFrom<Verdict>('valid', 'expired', 'suspended', 'canceled')
const times = fc.integer({ min: 0, max: 2 * expiresAt })

function activated(verdict: Verdict, more: Partial<Activated> = {}): Activated {
  return { kind: 'activated', license, verdict, validatedAt: 0, attemptedAt: 0, fault: null, ...more }
}
