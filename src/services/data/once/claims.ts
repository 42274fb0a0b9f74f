/**
 * Writes under a key where no ledger is in the database of the write: the key is claimed in the system database before,
 * and the answer kept after it. So a write whose end nobody saw is not done again.
 */
import { codedError, ServiceError } from '../../../core/error.ts'
import { tellsWhetherSent } from '../../../core/sql/address.ts'
import { SqlFault } from '../../../core/sql/fault.ts'
import type { LedgerEntry } from '../../../core/sql/write/ledger.ts'
import type { OnceOutcome } from '../../../sources/source.ts'
import { claimKey, doubtEntry, findEntry, finishEntry, releaseEntry } from '../../../store/ledger-claims.ts'
import type { OnceWritesDeps } from './once-request.ts'

export type ClaimsDeps = OnceWritesDeps

export type Claims = {
  run<Answer>(entry: LedgerEntry, claimed: ClaimedWrite<Answer>): Promise<OnceOutcome<Answer>>
}

export type ClaimedWrite<Answer> = {
  /** Of the data source that is written. */
  readonly provider: string
  readonly write: (idempotencyKey: string) => Promise<Written<Answer>>
}

export type Written<Answer> = {
  readonly answer: Answer
  readonly kept: { readonly body: string | null; readonly itemKeys: string | null }
  /** Whether nothing was there to be written. */
  readonly isUndone: boolean
}

export function createClaims(deps: ClaimsDeps): Claims {
  const { ports, timeLimit } = deps
  const { database, observe } = ports
  /** A write that has not ended by then is taken for one whose end nobody saw. */
  const longest = timeLimit === 0 ? LONGEST : 2 * timeLimit + MINUTE

  async function known<Answer>(entry: LedgerEntry): Promise<OnceOutcome<Answer>> {
    const row = await findEntry(database, entry.scope, entry.startedAt)
    if (row === undefined) return { kind: 'gone' }
    if (row.fingerprint !== entry.fingerprint) throw codedError('4221')
    if (row.outcome !== 'running') return { kind: 'known', row, completed: async (kept) => kept }
    if (entry.startedAt - row.startedAt > longest) throw codedError('4093')
    return { kind: 'running' }
  }

  async function written<Answer>({ scope }: LedgerEntry, { provider, write }: ClaimedWrite<Answer>) {
    try {
      return await write(scope)
    } catch (error) {
      const ending = leftNothing(error, provider) ? releaseEntry : doubtEntry
      await ending(database, scope).catch((fault: unknown) => observe({ kind: 'fault', error: fault }))
      throw error
    }
  }

  return {
    async run(entry, claimed) {
      if (!(await claimKey(database, entry))) return known(entry)
      const { answer, kept, isUndone } = await written(entry, claimed)
      const ending = isUndone ? releaseEntry(database, entry.scope) : finishEntry(database, entry.scope, kept)
      // It is written, so no error may say otherwise.
      await ending.catch((error: unknown) => observe({ kind: 'fault', error }))
      return { kind: 'written', answer, prune: async () => {} }
    },
  }
}

const MINUTE = 60_000
const LONGEST = 15 * MINUTE

/** Whether a write that failed has certainly changed nothing: otherwise it may have been done before its answer was lost. */
function leftNothing(error: unknown, provider: string): boolean {
  const fault = faultOf(error)
  if (fault === undefined) return error instanceof ServiceError && !uncertain.has(error.kind)
  if (!fault.state.startsWith('08') || fault.state === '08004') return true
  return fault.state === '08000' && tellsWhetherSent(provider)
}

const uncertain: ReadonlySet<string> = new Set(['failed', 'unavailable'])

function faultOf(error: unknown): SqlFault | undefined {
  if (error instanceof SqlFault) return error
  return error instanceof Error ? faultOf(error.cause) : undefined
}
