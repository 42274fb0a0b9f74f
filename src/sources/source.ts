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
  /** The pages beside this one, where they were asked for. */
  readonly cursors?: Cursors
  /** About how many items there are, where it was asked for; null where nobody knows. */
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
  /** Characters of its statements, as far as they are known. */
  weight?: number | undefined
}

/** Notes how much is kept with what is prepared. */
export function weighing<Answer>(run: Prepared<Answer>, weight: number | undefined): Prepared<Answer> {
  run.weight = weight
  return run
}

/** The request that reads, and how old its answer may be. */
export type ReadOptions = QueryContext & {
  readonly freshness?: Freshness
  /** Of a write: the same each time that it is sent, for connectors that know it. */
  readonly idempotencyKey?: string
  /** Called before a write leaves for its connector: until then nothing of it was done. */
  readonly onSend?: () => void
}

/** A batch under a key, the ledger of the source that has its entry, and what is kept of each operation. */
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

/** The lists of a batch; undefined for what was not kept. */
export type KeptAnswer = readonly (ListAnswer | undefined)[]

export type OnceOutcome =
  /** `prune` deletes what has expired in the ledger. */
  | { readonly kind: 'written'; readonly answer: KeptAnswer; readonly prune: () => Promise<unknown> }
  /** Another request has the key; it may end as if it had never been. */
  | { readonly kind: 'running' }
  /** The key was taken, and is free again. */
  | { readonly kind: 'gone' }
  /** `completed` adds to what was kept what other sources have of it. */
  | { readonly kind: 'known'; readonly row: LedgerRow; readonly completed: (kept: KeptAnswer) => Promise<KeptAnswer> }

export interface Source {
  /** Returns the items of a list as JSON array text. Running it throws ServiceError `Query failed` with its cause. */
  prepareList(plan: ReadPlan): Prepared<ListAnswer>
  /** Prepares a list that may be streamed; undefined if the list or the source does not support it. */
  prepareLong?(plan: ReadPlan): Prepared<ListAnswer | LongAnswer> | undefined
  /**
   * About how many items a list has (`ReadPlan.estimate`), in a moment; null where that is not known, and absent where it never
   * is. Running it does not throw.
   */
  prepareEstimate?(plan: ReadPlan): Prepared<number | null> | undefined
  /** Returns one item as JSON text; undefined if no row matches. */
  prepareOne(plan: ReadPlan): Prepared<string | undefined>
  /** Reads what was recorded of one item, in the table `changes`. Absent where nothing is recorded. */
  prepareChanges?(plan: ChangesPlan, changes: TableRef): Prepared<RecordedChanges>
  /**
   * Runs all operations or none, and returns the items of each as a list, each `{}` if nothing is selected. What fails in one
   * operation is thrown as OperationFault, where that is known.
   */
  prepareBatch(plan: BatchPlan): Prepared<BatchAnswer>
  /** The same with its entry in a ledger of the source, in one transaction. */
  writeOnce(write: OnceWrite): Promise<OnceOutcome>
  /** Of texts those that a column can hold; a comparison with others fails. Absent where a column holds every text. */
  heldTexts?(column: TextColumn, texts: readonly string[], options?: ReadOptions): Promise<readonly string[]>
  /** Whether the source itself does a write under a key once, however often it is sent. Absent for never. */
  repeatsByKey?(collection: Collection): Promise<boolean>
}
