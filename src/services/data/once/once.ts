/**
 * Writes under an Idempotency-Key (docs/contract.md#idempotency): each happens once, and who sends it again gets its
 * answer. Exactly once where a ledger is in the database of the write; elsewhere at most once, by a claim before the write.
 */
import { codedError, type ServiceError } from '../../../core/error.ts'
import { isSystemSource, type SourceRecord } from '../../../core/model/model.ts'
import { queryFault } from '../../../core/query/parse.ts'
import type { LedgerEntry } from '../../../core/sql/write/ledger.ts'
import { keepingsOf } from '../../../core/sql/write/ledger-batch.ts'
import { type LedgerTable, ledgerOf, systemLedger } from '../../../core/sql/write/ledger-table.ts'
import type { KeptAnswer, OnceOutcome } from '../../../sources/source.ts'
import { createClaims, type WriteSending } from './claims.ts'
import { keepingOf, replayedItems, replayedLists, writtenBatch, writtenItems } from './kept-answers.ts'
import {
  type OnceBatchRequest,
  type OnceRequest,
  type OnceWrites,
  type OnceWritesDeps,
  requireSame,
} from './once-request.ts'

export { watched } from './rights.ts'

/** Milliseconds that a request waits for one with the same key. */
const MOST_WAITED = 5_000
const PRUNE_INTERVAL = 15 * 60_000
/** Milliseconds after which a try counts no longer that has not ended: its request may have been ended from outside. */
const LONGEST_TRY = 60_000

export function createOnceWrites(deps: OnceWritesDeps): OnceWrites {
  const { ports, bindings, timeToLive } = deps
  const claims = createClaims(deps)
  /** When this process last deleted what had expired, by the name of a ledger of a data source. */
  const pruned = new Map<string, number>()
  /** When first tries of this process began that have not ended, by the scope of their entry. */
  const trying = new Map<string, number>()

  function isTried(scope: string, now: number): boolean {
    for (const [known, began] of trying) {
      if (now - began < LONGEST_TRY) break
      trying.delete(known)
    }
    return trying.has(scope)
  }

  /**
   * A try in a database with a ledger. It may wait for its table before its claim, where nobody sees it, so that those that
   * come meanwhile are not tried beside it. When it has ended, all that have waited are tried at once.
   */
  async function behindFirst<Answer>(
    { scope, startedAt }: LedgerEntry,
    hasWaited: boolean,
    attempt: () => Promise<OnceOutcome<Answer>>,
  ): Promise<OnceOutcome<Answer>> {
    if (isTried(scope, startedAt)) return { kind: 'running' }
    if (hasWaited) return attempt()
    trying.set(scope, startedAt)
    const tried = attempt().finally(() => {
      if (trying.get(scope) === startedAt) trying.delete(scope)
    })
    // On Workers the request may be over before.
    ports.background(tried.catch(() => {}))
    return tried
  }

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
  }: OnceRequest | OnceBatchRequest): Promise<Omit<LedgerEntry, 'startedAt' | 'expiresAt'>> {
    const { caller, workspace } = scope
    if (caller.kind === 'anonymous') throw queryFault('Idempotency-Key', 'is only taken of callers who sign in')
    return {
      scope: await ports.tagOf(JSON.stringify([workspace.id, caller.userId, once.key])),
      workspaceId: workspace.id,
      fingerprint: await ports.tagOf(JSON.stringify([once.request, body])),
      rights: await rights.digest(),
    }
  }

  /** Tries until the write is done, by this request or another. */
  async function untilDone<Answer>(
    asked: OnceRequest | OnceBatchRequest,
    ledger: LedgerTable | undefined,
    { attempt, replayed }: Tries<Answer>,
  ): Promise<Answer> {
    const named = await entryOf(asked)
    let waited = 0
    for (let pause = 20; ; pause = Math.min(2 * pause, 250)) {
      const startedAt = ports.clock.now()
      const entry: LedgerEntry = { ...named, startedAt, expiresAt: startedAt + timeToLive }
      const tried = await attempt(entry, (work) => behindFirst(entry, waited > 0, work))
      if (tried.kind === 'written') {
        if (ledger !== undefined && ledger !== systemLedger && isDue(ledger, startedAt)) {
          ports.background(tried.prune())
        }
        return tried.answer
      }
      if (tried.kind === 'known') {
        requireSame(tried.row, entry)
        const answer = await replayed(tried)
        asked.once.onReplay()
        return answer
      }
      if (tried.kind === 'gone') continue
      if (waited >= MOST_WAITED) throw stillRunning()
      await ports.licensing.pause(pause)
      waited += pause
    }
  }

  return {
    run(asked) {
      const { model, plan, values, source, collection, isOne } = asked
      const { writeOnce } = source
      const record = model.sources.get(collection.sourceId)
      const table = ledgerIn(record)
      const keeping = keepingOf(asked)
      const kept = { collection, keeping, withoutItem: isOne ? NO_RECORD : undefined }
      const provider = record?.provider ?? ''
      const write = (sending: WriteSending) => writtenItems(asked, { bindings, keeping, sending })
      const isRepeatable = async () => source.repeatsByKey?.(collection) ?? false
      return untilDone<string>(asked, table, {
        attempt: async (entry, behind) =>
          table !== undefined && writeOnce !== undefined
            ? behind(() => writeOnce({ plan, bindings: bindings(values), table, entry, kept }))
            : claims.run(entry, { provider, write, isRepeatable }),
        replayed: (known) => replayedItems(asked, known, bindings),
      })
    },

    async runBatch(asked) {
      const { model, plan, source, rights } = asked
      const { batchOnce } = source
      const record = model.sources.get(plan.operations[0]?.collection.sourceId ?? '')
      const table = ledgerIn(record)
      const keepings = keepingsOf(plan, rights.readsByRow())
      const provider = record?.provider ?? ''
      const write = (sending: WriteSending) => writtenBatch(asked, { bindings, keepings, sending })
      const isRepeatable = async () => isRepeatableBatch(asked)
      const answer = await untilDone<KeptAnswer>(asked, table, {
        attempt: async (entry, behind) =>
          table !== undefined && batchOnce !== undefined
            ? behind(() => batchOnce({ plan, bindings: bindings(), table, entry, keepings }))
            : claims.run(entry, { provider, write, isRepeatable }),
        replayed: (known) => replayedLists(asked, known, bindings),
      })
      return answer.map((list) => list ?? { data: '[]', total: undefined })
    },
  }
}

type Behind<Answer> = (work: () => Promise<OnceOutcome<Answer>>) => Promise<OnceOutcome<Answer>>

type Tries<Answer> = {
  /** `behind` runs work that may wait before its claim. */
  readonly attempt: (entry: LedgerEntry, behind: Behind<Answer>) => Promise<OnceOutcome<Answer>>
  readonly replayed: (known: Extract<OnceOutcome<Answer>, { readonly kind: 'known' }>) => Promise<Answer>
}

/** The ledger in the database of a source; undefined where there is none. */
function ledgerIn(source: SourceRecord | undefined): LedgerTable | undefined {
  if (isSystemSource(source)) return systemLedger
  const { id = '', ledgerSchema } = source ?? {}
  return ledgerSchema === undefined ? undefined : ledgerOf({ id, ledgerSchema })
}

/** Connectors take batches of one operation. */
async function isRepeatableBatch({ plan, source }: OnceBatchRequest): Promise<boolean> {
  const [only] = plan.operations
  return only !== undefined && ((await source.repeatsByKey?.(only.collection)) ?? false)
}

/** The assertion that fails where a write of one item has found none. */
const NO_RECORD = 'service:noRecord'

function stillRunning(): ServiceError {
  return codedError('4091', { meta: { retryAfter: MOST_WAITED / 1_000 } })
}
