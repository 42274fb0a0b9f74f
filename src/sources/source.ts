/** A data source as services see it, independent of its kind. Answers are JSON texts, from the database if possible. */
import type { Collection, PrimitiveField } from '../core/model/model.ts'
import type { ChangesPlan, RecordedChanges } from '../core/plan/history/changes.ts'
import type { BatchPlan, ReadPlan } from '../core/plan/plan.ts'
import type { Bindings } from '../core/query/placeholder.ts'
import type { TableRef } from '../core/sql/ddl/change.ts'
import type { Cursors } from '../core/sql/read/row-query.ts'
import type { Keeping } from '../core/sql/write/kept-lists.ts'
import type { LedgerEntry, LedgerRow } from '../core/sql/write/ledger.ts'
import type { LedgerTable } from '../core/sql/write/ledger-table.ts'
import type { QueryContext } from '../ports/database.ts'

export type ListAnswer = {
  readonly data: string
  readonly total: number | undefined
  /** The cursors of the adjacent pages, if requested. */
  readonly cursors?: Cursors
  /** The estimated number of items, if requested; null if unknown. */
  readonly estimate?: number | null
}

export type BatchAnswer = readonly ListAnswer[]

/** Whether a cached answer may be returned; only connectors cache answers. */
export type Freshness = 'kept' | 'fresh'

/** A long list in pieces, produced on demand: rows of one text column, each with some items separated by commas. */
export type LongAnswer = { readonly pieces: AsyncIterator<readonly (string | null)[]> }

/** A plan compiled once and executed many times; `bindings` supplies the values of its placeholders. */
export type Prepared<Answer> = {
  (bindings: Bindings, options?: ReadOptions): Promise<Answer>
  /** Characters of its statements, as far as they are compiled. */
  weight?: number | undefined
}

/** Sets the weight of a prepared plan, for the plan cache. */
export function weighing<Answer>(run: Prepared<Answer>, weight: number | undefined): Prepared<Answer> {
  run.weight = weight
  return run
}

/** The context of a read, and whether its answer may be cached. */
export type ReadOptions = QueryContext & {
  readonly freshness?: Freshness
  /** The idempotency key of a write, for connectors that support it. */
  readonly idempotencyKey?: string
  /** Called before a write is sent to its connector; before that, nothing was written. */
  readonly onSend?: () => void
}

/** A batch with an idempotency key, its ledger and entry, and what to store of each operation's answer. */
export type OnceWrite = {
  readonly plan: BatchPlan
  readonly bindings: Bindings
  readonly table: LedgerTable
  readonly entry: LedgerEntry
  readonly keepings: readonly Keeping[]
  readonly term?: QueryContext['term']
  readonly account?: QueryContext['account']
}

export type TextColumn = { readonly collection: Collection; readonly field: PrimitiveField }

/** The lists of a batch; undefined for lists that were not stored. */
export type KeptAnswer = readonly (ListAnswer | undefined)[]

export type OnceOutcome =
  /** `prune` deletes expired entries of the ledger. */
  | { readonly kind: 'written'; readonly answer: KeptAnswer; readonly prune: () => Promise<unknown> }
  /** Another request has claimed the key; that request may still fail and release it. */
  | { readonly kind: 'running' }
  /** The key was claimed and is free again. */
  | { readonly kind: 'gone' }
  /** `completed` adds far rows of other sources to the stored answer. */
  | { readonly kind: 'known'; readonly row: LedgerRow; readonly completed: (kept: KeptAnswer) => Promise<KeptAnswer> }

export interface Source {
  /** Returns the items of a list as JSON array text. Running it throws ServiceError `Query failed` with its cause. */
  prepareList(plan: ReadPlan): Prepared<ListAnswer>
  /** Prepares a list that may be streamed; undefined if the list or the source does not support it. */
  prepareLong?(plan: ReadPlan): Prepared<ListAnswer | LongAnswer> | undefined
  /**
   * Returns an estimate of a list's size (`ReadPlan.estimate`) within a short time; null if unknown, absent if never known.
   * Running it does not throw.
   */
  prepareEstimate?(plan: ReadPlan): Prepared<number | null> | undefined
  /** Returns one item as JSON text; undefined if no row matches. */
  prepareOne(plan: ReadPlan): Prepared<string | undefined>
  /** Reads the recorded changes of one item from the table `changes`. Absent if the source records no changes. */
  prepareChanges?(plan: ChangesPlan, changes: TableRef): Prepared<RecordedChanges>
  /**
   * Runs all operations or none. Returns the items of each as a list, each `{}` if nothing is selected. Throws an
   * OperationFault if it is known which operation failed.
   */
  prepareBatch(plan: BatchPlan): Prepared<BatchAnswer>
  /** Like `prepareBatch`, with an entry in a ledger of the source, in one transaction. */
  writeOnce(write: OnceWrite): Promise<OnceOutcome>
  /** Returns the texts that a column can hold; comparing it with others fails. Absent if columns hold every text. */
  heldTexts?(column: TextColumn, texts: readonly string[], options?: ReadOptions): Promise<readonly string[]>
  /** True if the source itself runs a write with the same idempotency key only once. Absent for never. */
  repeatsByKey?(collection: Collection): Promise<boolean>
}
