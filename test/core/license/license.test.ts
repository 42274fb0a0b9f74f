/** What a license document says (docs/contract.md#licensing). */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { entitlementNames, parseLicense, starterLimits } from '../../../src/core/license/license.ts'

const document = {
  jti: 'license-1',
  sub: 'A customer',
  product: 'service',
  plan: 'team',
  iat: 1_000,
  exp: 2_000,
  grace: 300,
  offline: false,
  revalidate: 86_400,
  instances: 2,
  entitlements: {
    seats: { limit: 10, kind: 'soft' },
    sso_enabled: { limit: true, kind: 'hard' },
    workspaces: { limit: null, kind: 'hard' },
  },
}

it('has its times in milliseconds and its limits as they are stated', () => {
  expect(parseLicense(document)).toEqual({
    kind: 'license',
    license: {
      id: 'license-1',
      customer: 'A customer',
      plan: 'team',
      issuedAt: 1_000_000,
      expiresAt: 2_000_000,
      grace: 300_000,
      revalidate: 86_400_000,
      isOffline: false,
      instances: 2,
      limits: {
        ...starterLimits,
        seats: { limit: 10, kind: 'soft' },
        sso_enabled: { limit: true, kind: 'hard' },
        workspaces: { limit: null, kind: 'hard' },
      },
    },
  })
})

it('has the limits of the starter plan where it states none', () => {
  const reading = parseLicense({ ...document, entitlements: {} })

  expect(reading).toMatchObject({ license: { limits: starterLimits } })
})

it('leaves members and entitlements alone that a later release may know', () => {
  const later = { ...document, colour: 'red', entitlements: { ...document.entitlements, rockets: { limit: 1 } } }

  expect(parseLicense(later)).toEqual(parseLicense(document))
})

it.each([
  ['another product', { product: 'teapot' }, 'is issued for another product'],
  ['no plan', { plan: undefined }, 'is malformed at plan'],
  ['no term', { exp: undefined }, 'is malformed at exp'],
  ['a term that is a text', { exp: '2000' }, 'is malformed at exp'],
  ['a term that no date has', { exp: 9e15 }, 'is malformed at exp'],
  ['a negative grace', { grace: -1 }, 'is malformed at grace'],
  ['a grace whose end no date has', { exp: 4e12, grace: 5e12 }, 'is malformed at grace'],
  ['an interval of centuries', { revalidate: 8e12 }, 'is malformed at revalidate'],
  ['no instances', { instances: 0 }, 'is malformed at instances'],
  ['a number for a flag', { offline: 1 }, 'is malformed at offline'],
  [
    'a flag for a count',
    { entitlements: { seats: { limit: true, kind: 'hard' } } },
    'is malformed at entitlements.seats.limit',
  ],
  [
    'a count for a flag',
    { entitlements: { sso_enabled: { limit: 1, kind: 'hard' } } },
    'is malformed at entitlements.sso_enabled.limit',
  ],
  [
    'an unknown kind',
    { entitlements: { seats: { limit: 1, kind: 'firm' } } },
    'is malformed at entitlements.seats.kind',
  ],
  [
    'half a seat',
    { entitlements: { seats: { limit: 1.5, kind: 'hard' } } },
    'is malformed at entitlements.seats.limit',
  ],
])('refuses a document with %s', (_, change, message) => {
  expect(parseLicense({ ...document, ...change })).toEqual({ kind: 'fault', message })
})

it('never throws, whatever the payload is', () => {
  return fc.assert(
    fc.property(fc.oneof(fc.jsonValue(), fc.anything()), (payload) => {
      expect(['license', 'fault']).toContain(parseLicense(payload).kind)
    }),
  )
})

it('has a limit for every entitlement, whatever is left out', () => {
  return fc.assert(
    fc.property(fc.subarray(Object.keys(document.entitlements)), (kept) => {
      const stated = Object.fromEntries(Object.entries(document.entitlements).filter(([name]) => kept.includes(name)))
      const reading = parseLicense({ ...document, entitlements: stated })

      const limits = reading.kind === 'license' ? reading.license.limits : {}
      expect(Object.keys(limits).sort()).toEqual([...entitlementNames].sort())
    }),
  )
})
