/** Usage against limits: what exceeds them, and how that is told. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { entitlementNames, entitlements, type LicenseLimits, starterLimits } from '../../../src/core/license/license.ts'
import { type Count, findViolations, limitExceeded, reportLine, usageOf } from '../../../src/core/license/usage.ts'

const limits: LicenseLimits = {
  ...starterLimits,
  custom_roles: { limit: 5, kind: 'hard' },
  custom_policies: { limit: 10, kind: 'hard' },
  sso_enabled: { limit: false, kind: 'hard' },
  seats: { limit: 3, kind: 'soft' },
  workspaces: { limit: null, kind: 'hard' },
}

it('is within a limit that it has just reached, and over it with one more', () => {
  expect(findViolations([count('custom_roles', 5, 'shop')], limits, 'hard')).toEqual([])
  expect(findViolations([count('custom_roles', 6, 'shop')], limits, 'hard')).toEqual([
    { entitlement: 'custom_roles', usage: 6, limit: 5, workspace: 'shop' },
  ])
})

it('is over a flag that is not allowed', () => {
  expect(findViolations([count('sso_enabled', 1)], limits, 'hard')).toEqual([
    { entitlement: 'sso_enabled', usage: true, limit: false },
  ])
  expect(findViolations([count('custom_permission_rules_enabled', 1, 'shop')], limits, 'hard')).toEqual([])
})

it('is never over a limit without end', () => {
  expect(findViolations([count('workspaces', 1e9)], limits, 'hard')).toEqual([])
})

it('is told apart by hard and soft limits, and per workspace', () => {
  const counts = [count('seats', 4, 'shop'), count('seats', 3, 'store'), count('custom_policies', 11, 'store')]

  expect(findViolations(counts, limits, 'soft')).toMatchObject([{ entitlement: 'seats', workspace: 'shop' }])
  expect(findViolations(counts, limits, 'hard')).toMatchObject([{ entitlement: 'custom_policies', workspace: 'store' }])
})

it('is a number or a flag per entitlement, the highest of all workspaces', () => {
  const counts = [count('seats', 2, 'one'), count('seats', 4, 'two'), count('sso_enabled', 1)]

  expect(usageOf(counts)).toEqual({
    workspaces: 0,
    service_accounts: 0,
    sso_enabled: true,
    seats: 4,
    custom_roles: 0,
    custom_permission_rules_enabled: false,
    custom_policies: 0,
  })
})

it('is reported line by line, with entitlement, usage, limit, workspace and a note', () => {
  const [ofWorkspace, ofInstance] = [
    reportLine({ entitlement: 'seats', usage: 6, limit: 5, workspace: 'shop' }),
    reportLine({ entitlement: 'sso_enabled', usage: true, limit: false }),
  ]

  expect(ofWorkspace).toMatch(/^entitlement seats, usage 6, limit 5, workspace shop: .*seat/)
  expect(ofInstance).toMatch(/^entitlement sso_enabled, usage true, limit false: .*provider/)
})

it('has a code of its own for every entitlement', () => {
  const codes = entitlementNames.map((entitlement) => limitExceeded([{ entitlement, usage: 2, limit: 1 }]).code)

  expect(codes.toSorted()).toEqual(['6001', '6002', '6003', '6004', '6005', '6006', '6007'])
})

it('is over exactly where it is higher than the limit', () => {
  const counted = entitlementNames.filter((name) => entitlements[name].measure === 'count')

  return fc.assert(
    fc.property(fc.constantFrom(...counted), fc.nat(), fc.nat(), (entitlement, usage, limit) => {
      const stated = { ...limits, [entitlement]: { limit, kind: 'hard' } }

      expect(findViolations([count(entitlement, usage)], stated, 'hard').length).toBe(usage > limit ? 1 : 0)
    }),
  )
})

function count(entitlement: Count['entitlement'], amount: number, workspace: string | null = null): Count {
  return { entitlement, workspace, count: amount }
}
