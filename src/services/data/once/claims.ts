/**
 * Writes with an idempotency key to databases without a ledger. The key is claimed in the system database before the write, and
 * the answer is stored after it. A write with unknown outcome is not repeated, unless its data source ensures idempotency
 * itself.
 */
import { codedError, ServiceError } from '../../../core/error.ts'
import { isUnsent } from '../../../core/sql/address.ts'
import { isInDoubt, SqlFault } from '../../../core/sql/fault.ts'
import type { LedgerEntry } from '../../../core/sql/write/ledger.ts'
import type { BatchAnswer, OnceOutcome } from '../../../sources/source.ts'
import {
  claimKey,
  doubtEntry,
  findEntry,
  finishEntry,
  releaseEntry,
  retakeEntry,
} from '../../../store/ledger-claims.ts'
import type { OnceWritesDeps } from './once-request.ts'

export type ClaimsDeps = OnceWritesDeps

export type Claims = {
  run(entry: LedgerEntry, claimed: ClaimedWrite): Promise<OnceOutcome>
}

export type ClaimedWrite = {
  /** The provider of the written data source. */
  readonly provider: string
  readonly write: (sending: WriteSending) => Promise<Written>
  /** True if the data source itself runs a write with the same idempotency key only once. */
  readonly isRepeatable: () => Promise<boolean>
}

export type WriteSending = { readonly idempotencyKey: string; readonly onSend: () => void }

export type Written = {
  readonly answer: BatchAnswer
  readonly kept: { readonly body: string | null; readonly itemKeys: string | null }
}

export function createClaims(deps: ClaimsDeps): Claims {
  const { ports, timeLimit } = deps
  const { database, observe } = ports
  /** Milliseconds after which an unfinished write counts as one with unknown outcome. */
  const longest = timeLimit === 0 ? LONGEST : 2 * timeLimit + MINUTE

  /** The outcome of a write that another request has claimed. Retries an unknown outcome if the source is idempotent. */
  async function known(entry: LedgerEntry, claimed: ClaimedWrite): Promise<OnceOutcome> {
    const row = await findEntry(database, entry.scope, entry.startedAt)
    if (row === undefined) return { kind: 'gone' }
    if (row.fingerprint !== entry.fingerprint) throw codedError('4221')
    if (row.outcome === 'done') return { kind: 'known', row, completed: async (kept) => kept }
    if (row.outcome === 'running' && entry.startedAt - row.startedAt <= longest) return { kind: 'running' }
    if (!(await claimed.isRepeatable())) throw codedError('4093')
    const isOurs = await retakeEntry(database, entry, row.startedAt)
    return isOurs ? finished(entry, await repeated(entry, claimed)) : { kind: 'running' }
  }

  async function first({ scope }: LedgerEntry, { provider, write }: ClaimedWrite) {
    try {
      return await write({ idempotencyKey: scope, onSend: () => {} })
    } catch (error) {
      await ended(scope, leftNothing(error, provider))
      throw error
    }
  }

  /**
   * Retries a write: an idempotent data source returns its earlier answer. A refusal before the write is sent may be due to a
   * change by the first attempt, so it proves nothing.
   */
  async function repeated({ scope }: LedgerEntry, { provider, write }: ClaimedWrite) {
    let isSent = false
    const sending = { idempotencyKey: scope, onSend: () => (isSent = true) }
    const tried = await write(sending).catch(async (error: unknown) => {
      const isRefused = leftNothing(error, provider)
      await ended(scope, isSent && isRefused)
      if (isSent || !isRefused) throw error
      throw codedError('4093')
    })
    if (isSent) return tried
    await ended(scope, false)
    throw codedError('4093')
  }

  async function ended(scope: string, isReleased: boolean): Promise<void> {
    const ending = isReleased ? releaseEntry : doubtEntry
    await ending(database, scope).catch((fault: unknown) => observe({ kind: 'fault', error: fault }))
  }

  async function finished({ scope }: LedgerEntry, { answer, kept }: Written): Promise<OnceOutcome> {
    // The write is done, so a failure to store its answer must not be reported as an error.
    await finishEntry(database, scope, kept).catch((error: unknown) => observe({ kind: 'fault', error }))
    return { kind: 'written', answer, prune: async () => {} }
  }

  return {
    async run(entry, claimed) {
      if (!(await claimKey(database, entry))) return known(entry, claimed)
      return finished(entry, await first(entry, claimed))
    },
  }
}

const MINUTE = 60_000
const LONGEST = 15 * MINUTE

/** True if a failed write has certainly changed nothing; otherwise it may have run before its answer was lost. */
function leftNothing(error: unknown, provider: string): boolean {
  const fault = faultOf(error)
  if (fault === undefined) return error instanceof ServiceError && !uncertain.has(error.kind)
  return !isInDoubt(fault) || isUnsent(fault, provider)
}

const uncertain: ReadonlySet<string> = new Set(['failed', 'unavailable'])

function faultOf(error: unknown): SqlFault | undefined {
  if (error instanceof SqlFault) return error
  return error instanceof Error ? faultOf(error.cause) : undefined
}
