/** What a write under a key is made of, and what stands against showing the answer of an earlier one. */
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
  /** Of the plan's placeholders, where it serves several requests. */
  readonly values?: Values
}

export type OnceWritesDeps = {
  readonly ports: Pick<Ports, 'background' | 'clock' | 'database' | 'licensing' | 'observe' | 'tagOf'>
  readonly bindings: BindingsOf
  /** How long keys are kept, in milliseconds. */
  readonly timeToLive: number
  /** Time limit of a statement, in milliseconds; 0 for none. */
  readonly timeLimit: number
}

export type OnceWrites = {
  /** Returns what the write itself does, or what the first try has: no item where that of a key is gone since. */
  run(request: OnceRequest): Promise<BatchAnswer>
}

/** Throws what stands against showing the answer of the entry. */
export function requireSame(row: LedgerRow, entry: LedgerEntry): void {
  if (row.fingerprint !== entry.fingerprint) throw codedError('4221')
  if (row.outcome === 'unknown') throw codedError('4093')
  if (row.outcome === 'done' && row.rights !== entry.rights) throw codedError('4092')
}
