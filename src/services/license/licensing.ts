/**
 * The license of the instance (docs/contract.md#license-status): keeps its state in memory, so that item requests are
 * admitted without I/O, checks limits, and schedules validations. The rules are in core/license.
 */
import type { Config } from '../../config.ts'
import { requireEntitlement } from '../../core/access/principal.ts'
import type { Eventual } from '../../core/and-then.ts'
import { ServiceError } from '../../core/error.ts'
import { type LicenseEntitlement, type LicenseLimits, starterLimits } from '../../core/license/license.ts'
import {
  type LicenseState,
  type LicenseStatus,
  type LicenseWarning,
  licenseStatus,
  licenseWarnings,
  nextRevalidation,
} from '../../core/license/status.ts'
import { findViolations, limitWarning, numericLimit, reportLine, usageOf } from '../../core/license/usage.ts'
import type { Statement } from '../../core/sql/statement.ts'
import type { Instant, Ports } from '../../ports.ts'
import { loadEnvironmentId } from '../../store/instance.ts'
import { isStarted } from '../../store/licenses.ts'
import { loadCounts, writesWithinLimits } from '../../store/usage.ts'
import { type AuditEvent, actorOf, recordEvent } from '../caller/audit.ts'
import { type Caller, type RequestScope, requireAdministrator } from '../caller/callers.ts'
import { createLicenseContact, type KnownLicense, type LicenseContact, type RefreshReason } from './contact.ts'
import { documentReader } from './documents.ts'

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

export type Licensing = LicenseGuard & {
  /**
   * Throws 402 while the license is locked. Synchronous, except when `version`, which every request has, announces a
   * new state, or when a locked license is due for another check.
   */
  admit(version?: number): Eventual<void>
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

export type LicenseGuard = {
  /** Returns `writes` for a batch that fails if they would raise usage above a hard limit (see store/usage.ts). */
  within(
    names: readonly LicenseEntitlement[],
    workspaceId: string | undefined,
    writes: readonly Statement[],
  ): readonly Statement[]
}

/** How long a locked state is cached, in milliseconds. */
const LOCKED_MAX_AGE = 1_000

/** Opens the license. Throws a ServiceError with the reason why the instance may not start. */
export async function openLicensing(ports: Ports, config: Config): Promise<Licensing> {
  const { clock, database, ids, licensing, observe } = ports
  const environmentId = await loadEnvironmentId(database)
  const readDocument = documentReader(config.SERVICE_LICENSE__PUBLIC_KEY ?? '{}')
  const contact = createLicenseContact(ports, config, { readDocument, environmentId })
  let { state, version } = await openState()
  let lookedAt: Instant = clock.now()
  await requireUsageWithin(limitsOf(state))
  await setAlarm()

  async function openState(): Promise<{ readonly state: LicenseState; readonly version: number }> {
    const { SERVICE_LICENSE__KEY: key, SERVICE_LICENSE__TOKEN: token } = config
    if (token !== undefined) return { state: await openToken(token), version: 0 }
    return key === undefined ? { state: { kind: 'starter' }, version: 0 } : startWithKey(ports, contact)
  }

  async function openToken(token: string): Promise<LicenseState> {
    const reading = await readDocument(token)
    if (reading.kind === 'fault') throw refusedStart(`SERVICE_LICENSE__TOKEN ${reading.message}`)
    if (!reading.license.isOffline)
      throw refusedStart('SERVICE_LICENSE__TOKEN is a license that does not allow offline use')
    return { kind: 'offline', license: reading.license }
  }

  async function requireUsageWithin(limits: LicenseLimits): Promise<void> {
    const violations = findViolations(await loadCounts(database), limits, 'hard')
    if (violations.length === 0) return
    // Workspace names only go to the operator's log; `ready` shows the reason itself.
    for (const violation of violations) observe({ kind: 'warning', message: reportLine(violation) })
    const names = [...new Set(violations.map(({ entitlement }) => entitlement))].join(', ')
    throw refusedStart(`Usage exceeds hard limits of the license: ${names}`)
  }

  function next(): Instant | undefined {
    return state.kind === 'activated' ? nextRevalidation(state, environmentId) : undefined
  }

  async function setAlarm(): Promise<void> {
    const at = next()
    if (at !== undefined) await licensing.alarm.set(at)
  }

  function adopt(known: KnownLicense): void {
    lookedAt = clock.now()
    // Another request of this process may have read a later state.
    if (known.version < version) return
    version = known.version
    // A row of another key or public key does not apply to this process's license.
    state = known.state ?? state
  }

  async function look(): Promise<void> {
    if (state.kind === 'activated') adopt(await contact.load())
  }

  const occasion = (event: Omit<AuditEvent, 'action'>, isTold: 'always' | 'news'): RefreshReason => ({
    startId: undefined,
    audit: (outcome, provided) => {
      if (isTold === 'news' && !outcome.isNews) return []
      const { verdict } = outcome.state ?? {}
      const payload = { verdict, ...(outcome.fault !== null && { fault: outcome.fault.message }) }
      return [recordEvent(ids, { ...event, action: 'license.refresh.v1', payload }, provided)]
    },
  })

  async function ask(seen: KnownLicense, why: RefreshReason): Promise<void> {
    adopt(await contact.ask(seen, why))
    if (state.kind === 'activated' && state.fault !== null) observe({ kind: 'warning', message: state.fault.message })
  }

  function requireUnlocked(): void {
    if (licenseStatus(state, clock.now()) !== 'locked') return
    throw new ServiceError('paymentRequired', 'System is locked. Please contact system administrator.')
  }

  async function report(workspaceId?: string): Promise<LicenseReport> {
    await look()
    return {
      status: licenseStatus(state, clock.now()),
      entitlements: limitsOf(state),
      usage: usageOf(await loadCounts(database, workspaceId)),
    }
  }

  async function warnings(): Promise<readonly LicenseWarning[]> {
    const limits = limitsOf(state)
    const hasSoft = Object.values(limits).some(({ kind }) => kind === 'soft')
    const over = hasSoft ? findViolations(await loadCounts(database), limits, 'soft') : []
    const ofUsage = over.map((violation) => ({ kind: 'usage', message: limitWarning(violation), ...violation }))
    return [...licenseWarnings(state, clock.now()), ...ofUsage]
  }

  return {
    admit(seen) {
      const now = clock.now()
      const isOutdated = seen !== undefined && seen > version && state.kind === 'activated'
      if (!isOutdated && licenseStatus(state, now) !== 'locked') return
      const isLookDue = isOutdated || now - lookedAt >= LOCKED_MAX_AGE
      return (isLookDue ? look() : Promise.resolve()).then(requireUnlocked)
    },

    within(names, workspaceId, writes) {
      const limits = limitsOf(state)
      const ceilings = names.flatMap((entitlement) => {
        const most = limits[entitlement].kind === 'hard' ? numericLimit(limits[entitlement]) : undefined
        return most === undefined ? [] : [{ entitlement, most }]
      })
      return writesWithinLimits(ceilings, workspaceId, writes)
    },

    async info(caller) {
      await look()
      const isTold = caller.kind === 'user' && caller.isAdministrator
      return { ...describe(state, clock.now()), warnings: isTold ? await warnings() : [] }
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
      if (state.kind !== 'activated') {
        throw new ServiceError('conflict', 'Only a license by key can be refreshed, this instance has none')
      }
      await ask(await contact.load(), occasion({ actor: actorOf(caller) }, 'always'))
      await setAlarm()
      return report()
    },

    async wake() {
      if (state.kind !== 'activated') return undefined
      // Whether it is due is decided on the row that the lease is requested for, so that a faster replica is noticed.
      const seen = await contact.load()
      adopt(seen)
      const due = next()
      if (due === undefined || clock.now() < due) return due
      await ask(seen, occasion({ actor: { kind: 'system' } }, 'news'))
      return next()
    },
  }
}

/** Validates at every start, once for all isolates of it; anything but a valid answer prevents the start. */
async function startWithKey({ database, licensing }: Ports, contact: LicenseContact) {
  const { startId } = licensing
  const known = await contact.load()
  if (known.state !== undefined && (await isStarted(database, startId))) return started(known)
  const asked = await contact.ask(known, { startId, audit: () => [] })
  if (asked.row.fault !== null) throw refusedStart(asked.row.fault.message)
  return started(asked)
}

function started({ state, version }: KnownLicense): { readonly state: LicenseState; readonly version: number } {
  if (state === undefined) throw refusedStart('Another license key is being activated for this instance')
  return { state, version }
}

function refusedStart(reason: string): ServiceError {
  return new ServiceError('failed', reason)
}

function limitsOf(state: LicenseState): LicenseLimits {
  return state.kind === 'starter' ? starterLimits : state.license.limits
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
