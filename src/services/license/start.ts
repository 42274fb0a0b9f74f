/**
 * The license that an instance starts with: none, a token that allows offline use, or a key that the licensing service must
 * confirm. Decides whether the instance may start.
 */
import type { Config } from '../../config.ts'
import { ServiceError } from '../../core/error.ts'
import type { LicenseLimits } from '../../core/license/license.ts'
import type { LicenseState } from '../../core/license/status.ts'
import { findViolations, reportLine } from '../../core/license/usage.ts'
import type { Ports } from '../../ports/ports.ts'
import { isStarted } from '../../store/licenses.ts'
import { loadCounts } from '../../store/usage.ts'
import type { KnownLicense, LicenseContact } from './contact.ts'
import type { ReadDocument } from './documents.ts'
import { limitsOf, type VersionedLicense } from './held-license.ts'

export type LicenseStartDeps = {
  readonly ports: Pick<Ports, 'database' | 'licensing' | 'observe'>
  readonly config: Config
  readonly contact: LicenseContact
  readonly readDocument: ReadDocument
}

/** Throws a ServiceError with the reason why the instance may not start: an invalid license, or usage above its hard limits. */
export async function loadLicenseAtStart(deps: LicenseStartDeps): Promise<VersionedLicense> {
  const license = await firstLicense(deps)
  await requireUsageWithin(limitsOf(license.state), deps.ports)
  return license
}

function firstLicense(deps: LicenseStartDeps): VersionedLicense | Promise<VersionedLicense> {
  const { SERVICE_LICENSE__KEY: key, SERVICE_LICENSE__TOKEN: token } = deps.config
  if (token !== undefined) return offline(token, deps.readDocument)
  return key === undefined ? { state: { kind: 'starter' }, version: 0 } : activated(deps)
}

async function offline(token: string, readDocument: ReadDocument): Promise<VersionedLicense> {
  const reading = await readDocument(token)
  if (reading.kind === 'fault') throw refusedStart(`SERVICE_LICENSE__TOKEN ${reading.message}`)
  if (!reading.license.isOffline)
    throw refusedStart('SERVICE_LICENSE__TOKEN is a license that does not allow offline use')
  const state: LicenseState = { kind: 'offline', license: reading.license }
  return { state, version: 0 }
}

/** Validates at every start, once for all isolates of a start; any other answer than a valid one prevents the start. */
async function activated({ ports, contact }: LicenseStartDeps): Promise<VersionedLicense> {
  const { startId } = ports.licensing
  const known = await contact.load()
  if (known.state !== undefined && (await isStarted(ports.database, startId))) return started(known)
  const answer = await contact.ask(known, { startId, audit: () => [] })
  if (answer.row.fault !== null) throw refusedStart(answer.row.fault.message)
  return started(answer)
}

function started({ state, version }: KnownLicense): VersionedLicense {
  if (state === undefined) throw refusedStart('Another license key is being activated for this instance')
  return { state, version }
}

async function requireUsageWithin(
  limits: LicenseLimits,
  { database, observe }: Pick<Ports, 'database' | 'observe'>,
): Promise<void> {
  const violations = findViolations(await loadCounts(database), limits, 'hard')
  if (violations.length === 0) return
  // Workspace names only go to the operator's log; `ready` shows the reason itself.
  for (const violation of violations) observe({ kind: 'warning', message: reportLine(violation) })
  const names = [...new Set(violations.map(({ entitlement }) => entitlement))].join(', ')
  throw refusedStart(`Usage exceeds hard limits of the license: ${names}`)
}

function refusedStart(reason: string): ServiceError {
  return new ServiceError('failed', reason)
}
