/**
 * Talks to the licensing service: activation, validation, and storing the results (docs/contract.md#licensing). One
 * process or isolate at a time does so, under a lease in the system database; the others use its result.
 */

import type { Config } from '../../config.ts'
import { type LicensingAnswer, parseActivation, parseValidation, refused } from '../../core/license/answer.ts'
import type { License } from '../../core/license/license.ts'
import type { ContactFault, LicenseState, Verdict } from '../../core/license/status.ts'
import type { Sql, Statement } from '../../core/sql/statement.ts'
import { withoutTrailing } from '../../core/trailing.ts'
import type { Instant } from '../../ports/clock.ts'
import type { Ports } from '../../ports/ports.ts'
import {
  type LicenseRecord,
  type LicenseRow,
  loadLicense,
  releaseLease,
  saveLicense,
  takeLease,
} from '../../store/licenses.ts'
import { sha256Hex } from '../caller/digest.ts'
import type { ReadDocument } from './documents.ts'

export type Activated = Extract<LicenseState, { kind: 'activated' }>

/** The stored row as it applies to our key; `state` is undefined for another key, or for an invalid document. */
export type KnownLicense = { readonly version: number; readonly state: Activated | undefined; readonly row: LicenseRow }

export type RefreshReason = {
  /** The start that validates; undefined while running. */
  readonly startId: string | undefined
  /** Returns the audit statements for the outcome. */
  readonly audit: (outcome: RefreshOutcome, provided: Sql) => readonly Statement[]
}

/** The outcome of an attempt: the new state, and whether it differs from the previous one. */
export type RefreshOutcome = {
  readonly state: Activated | undefined
  readonly fault: ContactFault | null
  readonly isNews: boolean
}

export type LicenseContact = {
  /** Loads the stored row. */
  load(): Promise<KnownLicense>
  /**
   * Validates the license, unless another process does or has done so since `seen` was read. Returns the row
   * afterwards; a contact fault is part of it.
   */
  ask(seen: KnownLicense, reason: RefreshReason): Promise<KnownLicense>
}

/**
 * Longer than the longest attempt (two requests of four tries that all time out). A disconnecting client can end a
 * lease holder without releasing the lease.
 */
const LEASE_SECONDS = 60
const PATIENCE = 250

export type LicenseContactDeps = {
  readonly ports: Pick<Ports, 'clock' | 'database' | 'ids' | 'licensing'>
  readonly config: Config
  readonly readDocument: ReadDocument
  readonly environmentId: string
}

export function createLicenseContact(deps: LicenseContactDeps): LicenseContact {
  const { ports, config, readDocument, environmentId } = deps
  const { clock, database, ids, licensing } = ports
  const key = config.SERVICE_LICENSE__KEY ?? ''
  const service = withoutTrailing(config.SERVICE_LICENSE__URL ?? '', '/')

  async function load(): Promise<KnownLicense> {
    const row = await loadLicense(database)
    return { version: row.version, state: await stateOf(row), row }
  }

  async function stateOf(row: LicenseRow): Promise<Activated | undefined> {
    const { document, verdict, validatedAt, attemptedAt, fault } = row
    if (row.keyDigest !== (await sha256Hex(key)) || document === null || verdict === null) return undefined
    const reading = await readDocument(document)
    if (reading.kind === 'fault') return undefined
    return {
      kind: 'activated',
      license: reading.license,
      verdict,
      validatedAt: validatedAt ?? 0,
      attemptedAt: attemptedAt ?? 0,
      fault,
    }
  }

  async function activate(): Promise<LicensingAnswer> {
    const baseUrl = config.SERVICE_BASE_URL ?? null
    return parseActivation(await licensing.client.post(`${service}/activations`, { key, environmentId, baseUrl }))
  }

  async function validate(activationId: string): Promise<LicensingAnswer> {
    const url = `${service}/activations/${encodeURIComponent(activationId)}/validate`
    return parseValidation(await licensing.client.post(url, { key, environmentId }))
  }

  /** One exchange. An activation that the service no longer knows is created again, once. */
  async function converse({ state, row }: KnownLicense): Promise<RefreshFinding> {
    const activationId = state === undefined ? null : row.activationId
    const answer = activationId === null ? await activate() : await validate(activationId)
    return finding(answer.kind === 'unknown' ? await activate() : answer, { activationId, document: row.document })
  }

  async function finding(answer: LicensingAnswer, stored: Stored): Promise<RefreshFinding> {
    switch (answer.kind) {
      case 'fault':
        return answer
      case 'unknown':
        return refused('it does not know this activation')
      case 'activated':
        return genuine(answer.document, (license) => ({
          kind: 'verdict',
          verdict: 'valid',
          activationId: answer.activationId,
          document: answer.document,
          license,
        }))
      case 'validated':
        return validated(answer, stored)
    }
  }

  /** A negative verdict counts with any document; a positive one only with a genuine document. */
  async function validated(
    { verdict, document }: Validated,
    { activationId, document: kept }: Stored,
  ): Promise<RefreshFinding> {
    const found = (license: License, text: string): RefreshFinding => {
      return { kind: 'verdict', verdict, activationId: activationId ?? '', document: text, license }
    }
    const sent = await genuine(document ?? kept ?? '', (license) => found(license, document ?? kept ?? ''))
    if (sent.kind === 'verdict' || verdict === 'valid') return sent
    return genuine(kept ?? '', (license) => found(license, kept ?? ''))
  }

  async function genuine(document: string, found: (license: License) => RefreshFinding): Promise<RefreshFinding> {
    const reading = await readDocument(document)
    return reading.kind === 'license' ? found(reading.license) : refused(`the license that it sends ${reading.message}`)
  }

  async function settle(known: KnownLicense, leaseId: string, { startId, audit }: RefreshReason): Promise<void> {
    const found = await converse(known)
    const now = clock.now()
    const before = known.state
    const state = stateAfter(before, found, now)
    const fault = found.kind === 'fault' ? found.fault : null
    const isNews = state !== undefined && (before?.verdict !== state.verdict || before.license.id !== state.license.id)
    const { activationId, document } = found.kind === 'verdict' ? found : before === undefined ? nothing : known.row
    const record: LicenseRecord = {
      keyDigest: await sha256Hex(key),
      activationId,
      document,
      verdict: state?.verdict ?? null,
      validatedAt: state?.validatedAt ?? null,
      attemptedAt: now,
      fault,
    }
    await saveLicense(database, record, {
      leaseId,
      startId: fault === null ? startId : undefined,
      audit: (provided) => audit({ state, fault, isNews }, provided),
    })
  }

  return {
    load,

    async ask(seen, reason) {
      for (;;) {
        const leaseId = ids.next()
        if (await takeLease(database, { id: leaseId, seconds: LEASE_SECONDS, version: seen.version })) {
          try {
            await settle(seen, leaseId, reason)
          } finally {
            await releaseLease(database, leaseId)
          }
          return load()
        }
        const now = await load()
        if (now.version !== seen.version) return now
        await licensing.pause(PATIENCE)
      }
    },
  }
}

type Validated = Extract<LicensingAnswer, { kind: 'validated' }>

type Stored = { readonly activationId: string | null; readonly document: string | null }

const nothing: Stored = { activationId: null, document: null }

type RefreshFinding =
  | {
      readonly kind: 'verdict'
      readonly verdict: Verdict
      readonly activationId: string
      readonly document: string
      readonly license: License
    }
  | { readonly kind: 'fault'; readonly fault: ContactFault }

/** A contact fault only records itself. */
function stateAfter(before: Activated | undefined, found: RefreshFinding, now: Instant): Activated | undefined {
  if (found.kind === 'fault') return before && { ...before, attemptedAt: now, fault: found.fault }
  const { verdict, license } = found
  return { kind: 'activated', license, verdict, validatedAt: now, attemptedAt: now, fault: null }
}
