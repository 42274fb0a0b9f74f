/**
 * The use cases of the license: its report for callers, and its validation. `held-license.ts` holds the state that admits
 * requests; core/license has the rules.
 */
import type { Config } from '../../config.ts'
import { requireEntitlement } from '../../core/access/principal.ts'
import { ServiceError } from '../../core/error.ts'
import type { LicenseLimits } from '../../core/license/license.ts'
import {
  type LicenseState,
  type LicenseStatus,
  type LicenseWarning,
  licenseStatus,
  licenseWarnings,
  nextRevalidation,
} from '../../core/license/status.ts'
import { findViolations, limitWarning, usageOf } from '../../core/license/usage.ts'
import type { Instant } from '../../ports/clock.ts'
import type { Ports } from '../../ports/ports.ts'
import { loadEnvironmentId } from '../../store/instance.ts'
import { loadCounts } from '../../store/usage.ts'
import { type AuditEvent, actorOf, recordEvent } from '../caller/audit.ts'
import { type Caller, requireAdministrator } from '../caller/caller.ts'
import type { RequestScope } from '../caller/callers.ts'
import { createLicenseContact, type KnownLicense, type RefreshReason } from './contact.ts'
import { documentReader } from './documents.ts'
import { createHeldLicense, type HeldLicense, limitsOf } from './held-license.ts'
import { loadLicenseAtStart } from './start.ts'

/** As in `GET /api/system/info`. */
export type LicenseInfo = {
  readonly status: LicenseStatus
  readonly plan: string
  readonly source: 'starter' | 'key' | 'token'
  readonly expiresAt: string | null
  readonly graceEndsAt: string | null
  readonly lastValidatedAt: string | null
  /** True if the licensing service answered the last attempt; null if it is never asked. */
  readonly reachable: boolean | null
  readonly warnings: readonly LicenseWarning[]
}

export type LicenseReport = {
  readonly status: LicenseStatus
  readonly entitlements: LicenseLimits
  readonly usage: ReturnType<typeof usageOf>
}

export type Licensing = Pick<HeldLicense, 'admit' | 'within'> & {
  /** Only administrators of the instance get warnings. */
  info(caller: Caller): Promise<LicenseInfo>
  /** The license with the usage of the whole instance, for its administrators (403). */
  ofInstance(caller: Caller): Promise<LicenseReport>
  /** The license with the usage of one workspace; requires workspace:read (403). */
  ofWorkspace(scope: RequestScope): Promise<LicenseReport>
  /** Validates the license now. Throws 409 for a license without a key. */
  refresh(caller: Caller): Promise<LicenseReport>
  /** Validates the license if it is due, and returns the time of the next validation; undefined for never. */
  wake(): Promise<Instant | undefined>
}

export type LicensingDeps = { readonly ports: Ports; readonly config: Config }

/** Opens the license. Throws a ServiceError with the reason why the instance may not start. */
export async function openLicensing(deps: LicensingDeps): Promise<Licensing> {
  const { ports, config } = deps
  const { clock, database, ids, licensing, observe } = ports
  const environmentId = await loadEnvironmentId(database)
  const readDocument = documentReader(config.SERVICE_LICENSE__PUBLIC_KEY ?? '{}')
  const contact = createLicenseContact({ ports, config, readDocument, environmentId })
  const initial = await loadLicenseAtStart({ ports, config, contact, readDocument })
  const held = createHeldLicense({ clock, contact, initial })
  await setAlarm()

  function next(): Instant | undefined {
    const state = held.state()
    return state.kind === 'activated' ? nextRevalidation(state, environmentId) : undefined
  }

  async function setAlarm(): Promise<void> {
    const at = next()
    if (at !== undefined) await licensing.alarm.set(at)
  }

  const refreshReason = (event: Omit<AuditEvent, 'action'>, audited: 'always' | 'news'): RefreshReason => ({
    startId: undefined,
    audit: (outcome, provided) => {
      if (audited === 'news' && !outcome.isNews) return []
      const { verdict } = outcome.state ?? {}
      const payload = { verdict, ...(outcome.fault !== null && { fault: outcome.fault.message }) }
      return [recordEvent(ids, { ...event, action: 'license.refresh.v1', payload }, provided)]
    },
  })

  async function ask(seen: KnownLicense, why: RefreshReason): Promise<void> {
    held.adopt(await contact.ask(seen, why))
    const state = held.state()
    if (state.kind === 'activated' && state.fault !== null) observe({ kind: 'warning', message: state.fault.message })
  }

  async function report(workspaceId?: string): Promise<LicenseReport> {
    await held.reload()
    const state = held.state()
    return {
      status: licenseStatus(state, clock.now()),
      entitlements: limitsOf(state),
      usage: usageOf(await loadCounts(database, workspaceId)),
    }
  }

  async function warnings(state: LicenseState): Promise<readonly LicenseWarning[]> {
    const limits = limitsOf(state)
    const hasSoft = Object.values(limits).some(({ kind }) => kind === 'soft')
    const over = hasSoft ? findViolations(await loadCounts(database), limits, 'soft') : []
    const ofUsage = over.map((violation) => ({ kind: 'usage', message: limitWarning(violation), ...violation }))
    return [...licenseWarnings(state, clock.now()), ...ofUsage]
  }

  return {
    admit: held.admit,

    within: held.within,

    async info(caller) {
      await held.reload()
      const state = held.state()
      const showsWarnings = caller.kind === 'user' && caller.isAdministrator
      return { ...describe(state, clock.now()), warnings: showsWarnings ? await warnings(state) : [] }
    },

    async ofInstance(caller) {
      requireAdministrator(caller)
      return report()
    },

    async ofWorkspace({ rights, workspace }) {
      requireEntitlement(rights, 'workspace:read')
      return report(workspace.id)
    },

    async refresh(caller) {
      requireAdministrator(caller)
      if (held.state().kind !== 'activated') {
        throw new ServiceError('conflict', 'Only a license by key can be refreshed, this instance has none')
      }
      await ask(await contact.load(), refreshReason({ actor: actorOf(caller) }, 'always'))
      await setAlarm()
      return report()
    },

    async wake() {
      if (held.state().kind !== 'activated') return undefined
      // Decides on the row that the lease is requested for, so that a validation by a faster replica is noticed.
      const seen = await contact.load()
      held.adopt(seen)
      const due = next()
      if (due === undefined || clock.now() < due) return due
      await ask(seen, refreshReason({ actor: { kind: 'system' } }, 'news'))
      return next()
    },
  }
}

function describe(state: LicenseState, now: Instant): Omit<LicenseInfo, 'warnings'> {
  const status = licenseStatus(state, now)
  if (state.kind === 'starter') return { status, plan: 'starter', source: 'starter', ...unlimited }
  const { plan, expiresAt, grace } = state.license
  const term = { plan, expiresAt: show(expiresAt), graceEndsAt: show(expiresAt + grace) }
  if (state.kind === 'offline') return { status, source: 'token', ...term, lastValidatedAt: null, reachable: null }
  const reachable = state.fault?.kind !== 'unreachable'
  return { status, source: 'key', ...term, lastValidatedAt: show(state.validatedAt), reachable }
}

const unlimited = { expiresAt: null, graceEndsAt: null, lastValidatedAt: null, reachable: null } as const

function show(instant: Instant): string {
  return new Date(instant).toISOString()
}
