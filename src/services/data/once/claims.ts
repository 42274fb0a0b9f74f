/**
 * Writes under a key where no ledger is in the database of the write: the key is claimed in the system database before,
 * and the answer kept after it. So a write whose end nobody saw is not done again.
 */
import { codedError, ServiceError } from '../../../core/error.ts'
import { tellsWhetherSent } from '../../../core/sql/address.ts'
import { SqlFault } from '../../../core/sql/fault.ts'
import { type Keeping, keySelection, type LedgerEntry, MAX_BODY } from '../../../core/sql/write/ledger.ts'
import type { OnceOutcome } from '../../../sources/source.ts'
import { claimKey, doubtEntry, findEntry, finishEntry, releaseEntry } from '../../../store/ledger-claims.ts'
import type { OnceRequest, OnceWritesDeps } from './once-request.ts'
import { withoutKeys } from './reread.ts'

export type ClaimsDeps = OnceWritesDeps

export type Claims = {
  run(asked: OnceRequest, how: { readonly entry: LedgerEntry; readonly keeping: Keeping }): Promise<OnceOutcome>
}

export function createClaims(deps: ClaimsDeps): Claims {
  const { ports, bindings, timeLimit } = deps
  const { database, observe } = ports
  /** A write that has not ended by then is taken for one whose end nobody saw. */
  const longest = timeLimit === 0 ? LONGEST : 2 * timeLimit + MINUTE

  async function known(entry: LedgerEntry): Promise<OnceOutcome> {
    const row = await findEntry(database, entry.scope, entry.startedAt)
    if (row === undefined) return { kind: 'gone' }
    if (row.fingerprint !== entry.fingerprint) throw codedError('4221')
    if (row.outcome !== 'running') return { kind: 'known', row, completed: async (text) => text }
    if (entry.startedAt - row.startedAt > longest) throw codedError('4093')
    return { kind: 'running' }
  }

  async function write({ source, plan, rights, model }: OnceRequest, entry: LedgerEntry, keeping: Keeping) {
    const { collection } = rights.request
    const selection = keeping === 'body' ? plan.selection : [...plan.selection, ...keySelection(collection)]
    try {
      const text = await source.prepareWrite({ ...plan, selection })(bindings(), { idempotencyKey: entry.scope })
      return keeping === 'body' ? { items: text, keys: null } : withoutKeys(collection, text)
    } catch (error) {
      const provider = model.sources.get(collection.sourceId)?.provider ?? ''
      const ending = leftNothing(error, provider) ? releaseEntry : doubtEntry
      await ending(database, entry.scope).catch((fault: unknown) => observe({ kind: 'fault', error: fault }))
      throw error
    }
  }

  return {
    async run(asked, { entry, keeping }) {
      if (!(await claimKey(database, entry))) return known(entry)
      const { items, keys } = await write(asked, entry, keeping)
      const isShort = keeping === 'body' || (keeping === 'bySize' && byteLength(items) <= MAX_BODY)
      const kept = isShort ? { body: items, itemKeys: null } : { body: null, itemKeys: keys }
      const isUndone = asked.isOne && items === '[]'
      const ending = isUndone ? releaseEntry(database, entry.scope) : finishEntry(database, entry.scope, kept)
      // It is written, so no error may say otherwise.
      await ending.catch((error: unknown) => observe({ kind: 'fault', error }))
      return { kind: 'written', text: items, prune: async () => {} }
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

function byteLength(text: string): number {
  return new TextEncoder().encode(text).length
}
