/**
 * Usage against limits: what the system database counted (store/licenses.ts, the one place) comes in, what exceeds the
 * license comes out, for the start, for writes and for the license endpoints alike.
 */
import { ServiceError } from '../error.ts'
import {
  entitlementNames,
  entitlements,
  type LicenseEntitlement,
  type LicenseLimit,
  type LicenseLimits,
} from './license.ts'

/** Of one workspace, or of the whole instance where `workspace` is null. */
export type Count = {
  readonly entitlement: LicenseEntitlement
  readonly workspace: string | null
  /** A flag counts 1 where it is used. */
  readonly count: number
}

export type UsageValue = number | boolean

export type Violation = {
  readonly entitlement: LicenseEntitlement
  readonly usage: UsageValue
  readonly limit: UsageValue
  readonly workspace?: string
}

/** The most that may be counted; undefined is without end. */
export function numericLimit({ limit }: LicenseLimit): number | undefined {
  if (limit === null || limit === true) return undefined
  return limit === false ? 0 : limit
}

/** What of `counts` is above a limit of this kind. */
export function findViolations(
  counts: readonly Count[],
  limits: LicenseLimits,
  kind: LicenseLimit['kind'],
): readonly Violation[] {
  return counts.flatMap((count) => {
    const limit = limits[count.entitlement]
    const most = numericLimit(limit)
    return limit.kind === kind && most !== undefined && count.count > most ? [violation(count, most)] : []
  })
}

export function violation({ entitlement, workspace, count }: Count, most: number): Violation {
  const value = (amount: number) => usageValue(entitlement, amount)
  return { entitlement, usage: value(count), limit: value(most), ...(workspace !== null && { workspace }) }
}

/**
 * Usage per entitlement as the license endpoints answer it: of one workspace and the instance around it, or, where
 * `counts` are of many workspaces, the highest of them, because a limit holds for each separately.
 */
export function usageOf(counts: readonly Count[]): { readonly [Name in LicenseEntitlement]: UsageValue } {
  const highest = (name: LicenseEntitlement) =>
    counts.reduce((most, { entitlement, count }) => (entitlement === name && count > most ? count : most), 0)
  const entries = entitlementNames.map((name) => [name, usageValue(name, highest(name))])
  // Every name has its entry.
  return Object.fromEntries(entries) as { [Name in LicenseEntitlement]: UsageValue }
}

/** One line of the report that a start over a hard limit ends with. */
export function reportLine({ entitlement, usage, limit, workspace }: Violation): string {
  const place = workspace === undefined ? '' : `, workspace ${workspace}`
  return `entitlement ${entitlement}, usage ${usage}, limit ${limit}${place}: ${notes[entitlement]}`
}

export function limitWarning({ entitlement, usage, limit, workspace }: Violation): string {
  const place = workspace === undefined ? '' : ` in workspace ${workspace}`
  return `Usage is above what the license allows: ${entitlement}${place} is ${usage}, the limit is ${limit}`
}

/** What a write is refused with that would exceed hard limits; the first one gives the code. */
export function limitExceeded(violations: readonly [Violation, ...Violation[]]): ServiceError {
  return new ServiceError('paymentRequired', 'The requested operation would exceed licensed hard limits', {
    code: entitlements[violations[0].entitlement].code,
    meta: { violations },
  })
}

function usageValue(entitlement: LicenseEntitlement, amount: number): UsageValue {
  return entitlements[entitlement].measure === 'flag' ? amount > 0 : amount
}

const notes: Readonly<Record<LicenseEntitlement, string>> = {
  workspaces: 'every workspace counts; delete one, or get a license for more',
  service_accounts: 'every service account counts; delete some, or get a license for more',
  sso_enabled: 'a sign-in provider other than password exists; a disabled one counts until it is deleted',
  seats: 'active members and open invitations count; suspending a member frees the seat',
  custom_roles: 'every role but Administrator and Public counts',
  custom_policies: 'every policy counts, attached to a role or not',
  custom_permission_rules_enabled: 'a policy has an item filter, a selection of fields or a validation rule',
}
