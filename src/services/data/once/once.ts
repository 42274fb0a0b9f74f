/**
 * Writes with an Idempotency-Key (docs/contract.md#idempotency): each runs once, and a retry gets its answer. With a ledger in
 * the database of the write, exactly once; elsewhere at most once, by a claim before the write.
 */
import { codedError, type ServiceError } from '../../../core/error.ts'
import { isSystemSource, type SourceRecord } from '../../../core/model/model.ts'
import { queryFault } from '../../../core/query/parse.ts'
import { keepingsOf } from '../../../core/sql/write/kept-lists.ts'
import type { LedgerEntry } from '../../../core/sql/write/ledger.ts'
import { type LedgerTable, ledgerOf, systemLedger } from '../../../core/sql/write/ledger-table.ts'
import { type Age, startAge } from '../../../ports/clock.ts'
import type { KeptAnswer, OnceOutcome } from '../../../sources/source.ts'
import { personOf } from '../../caller/caller.ts'
import { createClaims, type WriteSending } from './claims.ts'
import { replayed, written } from './kept-answers.ts'
import { createKeptBytes } from './kept-bytes.ts'
import { type OnceRequest, type OnceWrites, type OnceWritesDeps, requireSame } from './once-request.ts'

export { watched } from './rights.ts'

/** Milliseconds that a request waits for another one with the same key. */
const MOST_WAITED = 5_000
const PRUNE_INTERVAL = 15 * 60_000
/** Milliseconds after which an unfinished attempt no longer counts, because its request may have been killed. */
const LONGEST_TRY = 60_000

export function createOnceWrites(deps: OnceWritesDeps): OnceWrites {
  const { ports, bindings, timeToLive } = deps
  const claims = createClaims(deps)
  const keptBytes = createKeptBytes(deps)
  /** When this process last deleted expired entries, by the name of a data source's ledger. */
  const pruned = new Map<string, Age>()
  /** Ages of this process's unfinished first attempts, by the scope of their entry. */
  const trying = new Map<string, Age>()

  function isTried(scope: string): boolean {
    for (const [known, age] of trying) {
      if (age() < LONGEST_TRY) break
      trying.delete(known)
    }
    return trying.has(scope)
  }

  /**
   * Runs an attempt in a database with a ledger. The first attempt may wait for its table before its claim is visible, so later
   * requests with the key wait in this process. Once it has ended, all of them try at once.
   */
  async function behindFirst(
    { scope }: LedgerEntry,
    hasWaited: boolean,
    attempt: () => Promise<OnceOutcome>,
  ): Promise<OnceOutcome> {
    if (isTried(scope)) return { kind: 'running' }
    if (hasWaited) return attempt()
    const age = startAge(ports.clock)
    trying.set(scope, age)
    const tried = attempt().finally(() => {
      if (trying.get(scope) === age) trying.delete(scope)
    })
    // On Workers the request may end before the attempt does.
    ports.background(tried.catch(() => {}))
    return tried
  }

  function isDue({ dbName }: LedgerTable): boolean {
    if ((pruned.get(dbName)?.() ?? PRUNE_INTERVAL) < PRUNE_INTERVAL) return false
    pruned.set(dbName, startAge(ports.clock))
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
      scope: await ports.tagOf(JSON.stringify([workspace.id, caller.userId, once.key])),
      workspaceId: workspace.id,
      fingerprint: await ports.tagOf(JSON.stringify([once.request, body])),
      rights: await rights.digest(),
      ...keptBytes.boundsFor(caller.userId, ports.clock.now()),
    }
  }

  /** Retries until the write is done, by this request or another one. */
  async function untilDone(
    request: OnceRequest,
    ledger: LedgerTable | undefined,
    attempt: (entry: LedgerEntry, hasWaited: boolean) => Promise<OnceOutcome>,
  ): Promise<KeptAnswer> {
    const named = await entryOf(request)
    const { once } = request
    for (let pause = 20; ; pause = Math.min(2 * pause, 250)) {
      const startedAt = ports.clock.now()
      const entry: LedgerEntry = { ...named, startedAt, expiresAt: startedAt + timeToLive }
      const tried = await attempt(entry, once.waited > 0)
      if (tried.kind === 'written') {
        if (ledger !== undefined && ledger !== systemLedger && isDue(ledger)) {
          ports.background(tried.prune())
        }
        return tried.answer
      }
      if (tried.kind === 'known') {
        requireSame(tried.row, entry)
        const answer = await replayed(request, tried, bindings)
        once.onReplay()
        return answer
      }
      if (tried.kind === 'gone') continue
      if (once.waited >= MOST_WAITED) throw stillRunning()
      await ports.licensing.pause(pause)
      once.waited += pause
    }
  }

  return {
    async run(request) {
      const { model, plan, values, source, rights, scope } = request
      const [{ collection } = {}] = plan.operations
      const record = model.sources.get(collection?.sourceId ?? '')
      const table = ledgerIn(record)
      const keepings = keepingsOf(plan, rights.readsByRow())
      const claimed = {
        provider: record?.provider ?? '',
        // A connector's batch has one operation, so `collection` is the one that it writes.
        isRepeatable: async () => collection !== undefined && ((await source.repeatsByKey?.(collection)) ?? false),
      }
      const attempt = (entry: LedgerEntry, hasWaited: boolean) => {
        if (table !== undefined) {
          const { caller, term } = scope
          const write = () =>
            source.writeOnce({
              plan,
              bindings: bindings({ ...values, caller }),
              table,
              entry,
              keepings,
              term,
              account: personOf(caller),
            })
          return behindFirst(entry, hasWaited, write)
        }
        const write = (sending: WriteSending) => written(request, { bindings, keepings, bounds: entry, sending })
        return claims.run(entry, { ...claimed, write })
      }
      const answer = await untilDone(request, table, async (entry, hasWaited) => {
        const outcome = await attempt(entry, hasWaited)
        if (outcome.kind === 'written' && scope.caller.kind !== 'anonymous') {
          keptBytes.note(scope.caller.userId, entry, keepings, outcome.answer)
        }
        return outcome
      })
      return answer.map((list) => list ?? { data: '[]', total: undefined })
    },
  }
}

/** The ledger in the database of a source; undefined if the database has none. */
function ledgerIn(source: SourceRecord | undefined): LedgerTable | undefined {
  if (isSystemSource(source)) return systemLedger
  const { id = '', ledgerSchema } = source ?? {}
  return ledgerSchema === undefined ? undefined : ledgerOf({ id, ledgerSchema })
}

function stillRunning(): ServiceError {
  return codedError('4091', { meta: { retryAfter: MOST_WAITED / 1_000 } })
}
