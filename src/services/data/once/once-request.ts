/** The parts of a write with an idempotency key, and the checks before an earlier answer is replayed. */
import { codedError } from '../../../core/error.ts'
import type { Model } from '../../../core/model/model.ts'
import type { BatchPlan } from '../../../core/plan/plan.ts'
import type { LedgerEntry, LedgerRow } from '../../../core/sql/write/ledger.ts'
import type { Ports } from '../../../ports/ports.ts'
import type { BatchAnswer, Source } from '../../../sources/source.ts'
import type { RequestScope } from '../../caller/callers.ts'
import type { BindingsOf, Values } from '../bindings.ts'
import type { OnceKey } from '../planned.ts'
import type { WatchedRights } from './rights.ts'

export type OnceRequest = {
  readonly scope: RequestScope
  readonly once: OnceKey
  /** The body as JSON text. */
  readonly body: string
  readonly model: Model
  readonly rights: WatchedRights
  readonly source: Source
  readonly plan: BatchPlan
  /** Values of the plan's placeholders, if several requests share the plan. */
  readonly values?: Values
}

export type OnceWritesDeps = {
  readonly ports: Pick<Ports, 'background' | 'clock' | 'database' | 'licensing' | 'observe' | 'tagOf'>
  readonly bindings: BindingsOf
  /** Milliseconds for which idempotency keys are stored. */
  readonly timeToLive: number
  /** Time limit of a statement, in milliseconds; 0 for none. */
  readonly timeLimit: number
}

export type OnceWrites = {
  /** Returns the answer of the write, or of the first attempt; items that were deleted since are missing. */
  run(request: OnceRequest): Promise<BatchAnswer>
}

/** Throws if the entry's answer must not be replayed: another request, unknown outcome, or other rights. */
export function requireSame(row: LedgerRow, entry: LedgerEntry): void {
  if (row.fingerprint !== entry.fingerprint) throw codedError('4221')
  if (row.outcome === 'unknown') throw codedError('4093')
  if (row.outcome === 'done' && row.rights !== entry.rights) throw codedError('4092')
}
