/**
 * The license as this process holds it in memory (docs/contract.md#license-status), so that item requests are admitted
 * and limits checked without I/O. Read again when another process has stored a newer state.
 */
import type { Eventual } from '../../core/and-then.ts'
import { ServiceError } from '../../core/error.ts'
import { type LicenseEntitlement, type LicenseLimits, starterLimits } from '../../core/license/license.ts'
import { type LicenseState, licenseStatus } from '../../core/license/status.ts'
import { numericLimit } from '../../core/license/usage.ts'
import type { Statement } from '../../core/sql/statement.ts'
import { type Clock, startAge } from '../../ports/clock.ts'
import { writesWithinLimits } from '../../store/usage.ts'
import type { KnownLicense, LicenseContact } from './contact.ts'

export type LicenseGuard = {
  /** Returns `writes` for a batch that fails if they would raise usage above a hard limit (see store/usage.ts). */
  within(
    names: readonly LicenseEntitlement[],
    workspaceId: string | undefined,
    writes: readonly Statement[],
  ): readonly Statement[]
}

export type HeldLicense = LicenseGuard & {
  state(): LicenseState
  /**
   * Throws 402 while the license is locked. Synchronous, except when `version`, which every request has, announces a
   * new state, or when a locked license is due for another look.
   */
  admit(version?: number): Eventual<void>
  /** Adopts a state that was read, unless this process has already read a later one. */
  adopt(known: KnownLicense): void
  /** Reads the stored state; only a license by key has a stored state. */
  reload(): Promise<void>
}

export type HeldLicenseDeps = {
  readonly clock: Clock
  readonly contact: Pick<LicenseContact, 'load'>
  readonly initial: VersionedLicense
}

/** `version` is the version of the stored row; 0 for a license that is not stored. */
export type VersionedLicense = { readonly state: LicenseState; readonly version: number }

/** How long a locked state is cached, in milliseconds. */
const LOCKED_MAX_AGE = 1_000

export function createHeldLicense(deps: HeldLicenseDeps): HeldLicense {
  const { clock, contact } = deps
  let { state, version } = deps.initial
  let lookedBefore = startAge(clock)

  function adopt(known: KnownLicense): void {
    lookedBefore = startAge(clock)
    // Another request of this process may have read a later state.
    if (known.version < version) return
    version = known.version
    // A row of another key or public key does not apply to this process's license.
    state = known.state ?? state
  }

  async function reload(): Promise<void> {
    if (state.kind === 'activated') adopt(await contact.load())
  }

  function requireUnlocked(): void {
    if (licenseStatus(state, clock.now()) !== 'locked') return
    throw new ServiceError('paymentRequired', 'System is locked. Please contact system administrator.')
  }

  return {
    state: () => state,

    admit(seen) {
      const isOutdated = seen !== undefined && seen > version && state.kind === 'activated'
      if (!isOutdated && licenseStatus(state, clock.now()) !== 'locked') return
      const isLookDue = isOutdated || lookedBefore() >= LOCKED_MAX_AGE
      return (isLookDue ? reload() : Promise.resolve()).then(requireUnlocked)
    },

    adopt,

    reload,

    within(names, workspaceId, writes) {
      const limits = limitsOf(state)
      const ceilings = names.flatMap((entitlement) => {
        const most = limits[entitlement].kind === 'hard' ? numericLimit(limits[entitlement]) : undefined
        return most === undefined ? [] : [{ entitlement, most }]
      })
      return writesWithinLimits(ceilings, workspaceId, writes)
    },
  }
}

export function limitsOf(state: LicenseState): LicenseLimits {
  return state.kind === 'starter' ? starterLimits : state.license.limits
}
