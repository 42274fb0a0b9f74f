/**
 * Writes under an Idempotency-Key (docs/contract.md#idempotency): each happens once, and who sends it again gets its
 * answer. Exactly once where a ledger is in the database of the write; elsewhere at most once, by a claim before the write.
 */
import { codedError, type ServiceError } from '../../../core/error.ts'
import { isSystemSource, type SourceRecord } from '../../../core/model/model.ts'
import { queryFault } from '../../../core/query/parse.ts'
import type { Keeping, LedgerEntry } from '../../../core/sql/write/ledger.ts'
import { type LedgerTable, ledgerOf, systemLedger } from '../../../core/sql/write/ledger-table.ts'
import type { OnceOutcome } from '../../../sources/source.ts'
import { sha256Hex } from '../../caller/digest.ts'
import { createClaims } from './claims.ts'
import { type OnceRequest, type OnceWrites, type OnceWritesDeps, requireSame } from './once-request.ts'
import { readAgain } from './reread.ts'

export { watched } from './rights.ts'

/** Milliseconds that a request waits for one with the same key. */
const MOST_WAITED = 5_000
const PRUNE_INTERVAL = 15 * 60_000

export function createOnceWrites(deps: OnceWritesDeps): OnceWrites {
  const { ports, bindings, timeToLive } = deps
  const claims = createClaims(deps)
  /** When this process last deleted what had expired, by the name of a ledger of a data source. */
  const pruned = new Map<string, number>()

  function isDue({ dbName }: LedgerTable, now: number): boolean {
    if (now - (pruned.get(dbName) ?? 0) < PRUNE_INTERVAL) return false
    pruned.set(dbName, now)
    return true
  }

  async function entryOf({
    scope,
    once,
    body,
    rights,
  }: OnceRequest): Promise<Omit<LedgerEntry, 'startedAt' | 'expiresAt'>> {
    const { caller, workspace } = scope
    if (caller.kind === 'anonymous') throw queryFault('Idempotency-Key', 'is only taken of callers who sign in')
    return {
      scope: await sha256Hex(JSON.stringify([workspace.id, caller.userId, once.key])),
      workspaceId: workspace.id,
      fingerprint: await sha256Hex(JSON.stringify([once.request, body])),
      rights: await rights.digest(),
    }
  }

  async function replayed(
    asked: OnceRequest,
    entry: LedgerEntry,
    known: Extract<OnceOutcome, { readonly kind: 'known' }>,
  ) {
    const { row, completed } = known
    requireSame(row, entry)
    const { source, rights, plan } = asked
    const text =
      row.itemKeys === undefined
        ? await completed(row.body ?? '[]')
        : await readAgain(
            { source, collection: rights.request.collection, selection: plan.selection, bindings },
            row.itemKeys,
          )
    asked.once.onReplay()
    return text
  }

  return {
    async run(asked) {
      const { model, rights, plan, source, isOne } = asked
      const { collection } = rights.request
      const ledger = ledgerIn(model.sources.get(collection.sourceId))
      const keeping = keepingOf(asked)
      const named = await entryOf(asked)
      let waited = 0
      for (let pause = 20; ; pause = Math.min(2 * pause, 250)) {
        const startedAt = ports.clock.now()
        const entry: LedgerEntry = { ...named, startedAt, expiresAt: startedAt + timeToLive }
        const kept = { collection, keeping, withoutItem: isOne ? NO_RECORD : undefined }
        const tried: OnceOutcome =
          ledger !== undefined && source.writeOnce !== undefined
            ? await source.writeOnce({ plan, bindings: bindings(), table: ledger, entry, kept })
            : await claims.run(asked, { entry, keeping })
        if (tried.kind === 'written') {
          if (ledger !== undefined && ledger !== systemLedger && isDue(ledger, startedAt)) {
            ports.background(tried.prune())
          }
          return tried.text
        }
        if (tried.kind === 'known') return replayed(asked, entry, tried)
        if (tried.kind === 'gone') continue
        if (waited >= MOST_WAITED) throw stillRunning()
        await ports.licensing.pause(pause)
        waited += pause
      }
    },
  }
}

/** The ledger in the database of a source; undefined where there is none. */
function ledgerIn(source: SourceRecord | undefined): LedgerTable | undefined {
  if (isSystemSource(source)) return systemLedger
  const { id = '', ledgerSchema } = source ?? {}
  return ledgerSchema === undefined ? undefined : ledgerOf({ id, ledgerSchema })
}

/** The assertion that fails where a write of one item has found none. */
const NO_RECORD = 'service:noRecord'

/** Deleted items cannot be read again, nor can those without a key. */
function keepingOf({ plan, rights }: OnceRequest): Keeping {
  const { collection } = rights.request
  const isDeleting = plan.kind === 'delete' || (plan.kind === 'program' && plan.steps.at(-1)?.kind === 'delete')
  if (isDeleting || collection.key.length === 0) return 'body'
  return rights.readsByRow() ? 'keys' : 'bySize'
}

function stillRunning(): ServiceError {
  return codedError('4091', { meta: { retryAfter: MOST_WAITED / 1_000 } })
}
