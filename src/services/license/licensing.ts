/**
 * The license of the instance (docs/contract.md#license-status): its state in memory, from which every item request is
 * admitted without a call; what it allows; when the licensing service is asked. The rules are in core/license.
 */
import type { Config } from '../../config.ts'
import { requireEntitlement } from '../../core/access/principal.ts'
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
import { loadEnvironmentId } from '../../store/accounts.ts'
import { isStarted } from '../../store/licenses.ts'
import { loadCounts, writesWithinLimits } from '../../store/usage.ts'
import { type AuditEvent, actorOf, recordEvent } from '../caller/audit.ts'
import { type Caller, type RequestScope, requireAdministrator } from '../caller/callers.ts'
import { createLicenseContact, type KnownLicense, type LicenseContact, type RefreshReason } from './contact.ts'
import { documentReader } from './documents.ts'

/** As `GET /api/system/info` tells it. */
export type LicenseInfo = {
  readonly status: LicenseStatus
  readonly plan: string
  readonly source: 'starter' | 'key' | 'token'
  readonly expiresAt: string | null
  readonly graceEndsAt: string | null
  readonly lastValidatedAt: string | null
  /** Whether the licensing service answered last time; null where it is never asked. */
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
   * Throws 402 while the license is locked. Answers at once, from memory, but for two cases: `version`, which every
   * request brings along, says that there is a new state, or the license is locked, and another look is due.
   */
  admit(version?: number): Promise<void> | undefined
  /** Warnings are for administrators of the instance. */
  info(caller: Caller): Promise<LicenseInfo>
  ofInstance(caller: Caller): Promise<LicenseReport>
  ofWorkspace(scope: RequestScope): Promise<LicenseReport>
  /** Asks the licensing service now. Throws 409 where the license is not one by key. */
  refresh(caller: Caller): Promise<LicenseReport>
  /** Asks the licensing service if it is time, and answers when to be woken next; undefined for never. */
  wake(): Promise<Instant | undefined>
}

export type LicenseGuard = {
  /** `writes` for a batch that fails where they would raise usage above a hard limit (see store/usage.ts). */
  within(
    names: readonly LicenseEntitlement[],
    workspaceId: string | undefined,
    writes: readonly Statement[],
  ): readonly Statement[]
}

/** How long a locked state is believed without a look, in milliseconds. */
const LOCKED_MAX_AGE = 1_000

/** Opens the license. Throws ServiceError with the reason for which the instance may not start. */
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
    // Names of workspaces are for the operator's log; the reason itself is told to whoever asks `ready`.
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
    // Another request of this process may have read a later one meanwhile.
    if (known.version < version) return
    version = known.version
    // A row of another key or under another public key says nothing of the license that this process runs on.
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
      // Whether it is due is decided on what the lease is asked for with: a replica that was quicker is noticed there.
      const seen = await contact.load()
      adopt(seen)
      const due = next()
      if (due === undefined || clock.now() < due) return due
      await ask(seen, occasion({ actor: { kind: 'system' } }, 'news'))
      return next()
    },
  }
}

/** Asks at every start, once for all isolates of one; whatever is not an answer keeps the instance from starting. */
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
