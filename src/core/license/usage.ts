/**
 * Compares usage with limits, for starts, writes and the license endpoints: counts of the system database (from
 * store/licenses.ts only) in, violations of the license out.
 */
import { codedError, type ServiceError } from '../error.ts'
import {
  entitlementNames,
  entitlements,
  type LicenseEntitlement,
  type LicenseLimit,
  type LicenseLimits,
} from './license.ts'

/** The count of one workspace, or of the instance where `workspace` is null. */
export type Count = {
  readonly entitlement: LicenseEntitlement
  readonly workspace: string | null
  /** 1 for a flag that is in use. */
  readonly count: number
}

export type UsageValue = number | boolean

export type Violation = {
  readonly entitlement: LicenseEntitlement
  readonly usage: UsageValue
  readonly limit: UsageValue
  readonly workspace?: string
}

/** Returns the maximum count; undefined is unlimited. */
export function numericLimit({ limit }: LicenseLimit): number | undefined {
  if (limit === null || limit === true) return undefined
  return limit === false ? 0 : limit
}

/** Returns the counts that exceed a limit of this kind. */
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
 * Usage per entitlement for the license endpoints: of one workspace and the instance, or, for counts of many
 * workspaces, the highest count, since each limit applies per workspace.
 */
export function usageOf(counts: readonly Count[]): { readonly [Name in LicenseEntitlement]: UsageValue } {
  const highest = (name: LicenseEntitlement) =>
    counts.reduce((most, { entitlement, count }) => (entitlement === name && count > most ? count : most), 0)
  const entries = entitlementNames.map((name) => [name, usageValue(name, highest(name))])
  // `entries` has every name.
  return Object.fromEntries(entries) as { [Name in LicenseEntitlement]: UsageValue }
}

/** One line of the report of a start that fails on a hard limit. */
export function reportLine({ entitlement, usage, limit, workspace }: Violation): string {
  const place = workspace === undefined ? '' : `, workspace ${workspace}`
  return `entitlement ${entitlement}, usage ${usage}, limit ${limit}${place}: ${notes[entitlement]}`
}

export function limitWarning({ entitlement, usage, limit, workspace }: Violation): string {
  const place = workspace === undefined ? '' : ` in workspace ${workspace}`
  return `Usage is above what the license allows: ${entitlement}${place} is ${usage}, the limit is ${limit}`
}

/** The error of a write that would exceed hard limits; the first violation gives the code. */
export function limitExceeded(violations: readonly [Violation, ...Violation[]]): ServiceError {
  return codedError(entitlements[violations[0].entitlement].code, { meta: { violations } })
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
