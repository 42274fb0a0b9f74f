/** What a write under a key is made of, and what stands against showing the answer of an earlier one. */
import { codedError } from '../../../core/error.ts'
import type { Collection, Model } from '../../../core/model/model.ts'
import type { BatchPlan, WritePlan } from '../../../core/plan/plan.ts'
import type { LedgerEntry, LedgerRow } from '../../../core/sql/write/ledger.ts'
import type { Ports } from '../../../ports.ts'
import type { BatchAnswer, Source } from '../../../sources/source.ts'
import type { RequestScope } from '../../caller/callers.ts'
import type { BindingsOf, Values } from '../bindings.ts'
import type { OnceKey } from '../planned.ts'
import type { WatchedRights } from './rights.ts'

type Once = {
  readonly scope: RequestScope
  readonly once: OnceKey
  /** The body as JSON text. */
  readonly body: string
  readonly model: Model
  readonly rights: WatchedRights
  readonly source: Source
}

export type OnceRequest = Once & {
  readonly collection: Collection
  readonly plan: WritePlan
  /** Of the plan's placeholders, where it serves several requests. */
  readonly values?: Values
  /** Whether the write is of one item, and nothing is done where there is none. */
  readonly isOne: boolean
}

export type OnceBatchRequest = Once & { readonly plan: BatchPlan }

export type OnceWritesDeps = {
  readonly ports: Pick<Ports, 'background' | 'clock' | 'database' | 'licensing' | 'observe' | 'tagOf'>
  readonly bindings: BindingsOf
  /** How long keys are kept, in milliseconds. */
  readonly timeToLive: number
  /** Time limit of a statement, in milliseconds; 0 for none. */
  readonly timeLimit: number
}

export type OnceWrites = {
  /** Returns the written items, as the write itself does, or those of the first try. */
  run(asked: OnceRequest): Promise<string>
  /** The same of a batch: a list for each operation, `[null]` for an item of a key that is gone since. */
  runBatch(asked: OnceBatchRequest): Promise<BatchAnswer>
}

/** Throws what stands against showing the answer of the entry. */
export function requireSame(row: LedgerRow, entry: LedgerEntry): void {
  if (row.fingerprint !== entry.fingerprint) throw codedError('4221')
  if (row.outcome === 'unknown') throw codedError('4093')
  if (row.outcome === 'done' && row.rights !== entry.rights) throw codedError('4092')
}
