/**
 * The state of the license (docs/contract.md#license-status): a pure function of the document, the last accepted answer
 * of the licensing service, and the time. Also decides when to validate next, and which warnings administrators get.
 */
import type { License } from './license.ts'

type Instant = number

/** The last verdict of the licensing service. */
export type Verdict = 'valid' | 'expired' | 'suspended' | 'canceled'

/** Why the last validation did not count: no answer, or an answer without a verdict. */
export type ContactFault = { readonly kind: 'unreachable' | 'refused'; readonly message: string }

/** What the instance stores about its license. */
export type LicenseState =
  | { readonly kind: 'starter' }
  | { readonly kind: 'offline'; readonly license: License }
  | {
      readonly kind: 'activated'
      readonly license: License
      readonly verdict: Verdict
      /** Time of the last accepted answer. */
      readonly validatedAt: Instant
      /** Time of the last attempt, successful or not. */
      readonly attemptedAt: Instant
      readonly fault: ContactFault | null
    }

export type LicenseStatus = 'active' | 'grace' | 'locked'

export function licenseStatus(state: LicenseState, now: Instant): LicenseStatus {
  if (state.kind === 'starter') return 'active'
  if (state.kind === 'activated' && state.verdict !== 'valid') return 'locked'
  const { expiresAt, grace } = state.license
  if (now < expiresAt) return 'active'
  return now < expiresAt + grace ? 'grace' : 'locked'
}

const HOUR = 3_600_000
const DAY = 24 * HOUR
const WARNED_BEFORE = 14 * DAY

/**
 * Returns the time of the next validation: at a fixed offset within the license's interval, derived from the
 * environment id so that all replicas agree, and at least an hour after the last attempt. After an attempt without an
 * answer: one hour later.
 */
export function nextRevalidation(
  { license, attemptedAt, fault }: Extract<LicenseState, { kind: 'activated' }>,
  environmentId: string,
): Instant {
  const earliest = attemptedAt + HOUR
  if (fault !== null) return earliest
  const interval = Math.max(license.revalidate, HOUR)
  const place = Number.parseInt(environmentId.slice(-12), 16) % interval
  const passed = Math.floor((attemptedAt - place) / interval)
  const next = place + (passed + 1) * interval
  return next < earliest ? next + interval : next
}

export type LicenseWarning = { readonly kind: string; readonly message: string }

/** Warnings about the license itself; usage.ts has those about usage. */
export function licenseWarnings(state: LicenseState, now: Instant): readonly LicenseWarning[] {
  if (state.kind === 'starter') return []
  const warnings: LicenseWarning[] = []
  const { expiresAt, grace } = state.license
  const status = licenseStatus(state, now)
  if (state.kind === 'activated' && state.verdict !== 'valid') {
    const message = `The licensing service reports the license as ${state.verdict}: items are locked`
    warnings.push({ kind: 'locked', message })
  } else if (status === 'locked') {
    warnings.push({ kind: 'locked', message: `The license expired at ${show(expiresAt)}: items are locked` })
  } else if (status === 'grace') {
    const message = `The license expired at ${show(expiresAt)}; items are locked at ${show(expiresAt + grace)}`
    warnings.push({ kind: 'grace', message })
  } else if (now >= expiresAt - WARNED_BEFORE) {
    warnings.push({ kind: 'expiry', message: `The license expires at ${show(expiresAt)}` })
  }
  if (state.kind === 'activated' && state.fault !== null) warnings.push(state.fault)
  return warnings
}

function show(instant: Instant): string {
  return new Date(instant).toISOString()
}
