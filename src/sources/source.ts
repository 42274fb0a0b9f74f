/** A data source as services see it, independent of its kind. Answers are JSON texts, from the database if possible. */
import type { PrimitiveField } from '../core/model/model.ts'
import type { ReadPlan, WritePlan } from '../core/plan/plan.ts'
import type { Bindings } from '../core/query/placeholder.ts'
import type { QueryContext } from '../ports.ts'

export type ListAnswer = { readonly data: string; readonly total: number | undefined }

/** Whether a cached answer may be returned; only connectors cache answers. */
export type Freshness = 'kept' | 'fresh'

/** A long list in pieces, produced on demand: rows of one text column, each with some items separated by commas. */
export type LongAnswer = { readonly pieces: AsyncIterator<readonly (string | null)[]> }

/** A plan compiled once and executed many times; `bindings` supplies the values of its placeholders. */
export type Prepared<Answer> = (bindings: Bindings, options?: ReadOptions) => Promise<Answer>

/** The request that reads, and how old its answer may be. */
export type ReadOptions = QueryContext & { readonly freshness?: Freshness }

/** Rows whose `field` has one of these values. */
export type LookupKeys = { readonly field: PrimitiveField; readonly values: readonly string[] }

export interface Source {
  /** Returns the items of a list as JSON array text. Running it throws ServiceError `Query failed` with its cause. */
  prepareList(plan: ReadPlan): Prepared<ListAnswer>
  /** Prepares a list that may be streamed; undefined if the list or the source does not support it. */
  prepareLong?(plan: ReadPlan): Prepared<ListAnswer | LongAnswer> | undefined
  /** Returns one item as JSON text; undefined if no row matches. */
  prepareOne(plan: ReadPlan): Prepared<string | undefined>
  /**
   * Returns the items of a list that have one of the keys, for relations from another source; called once per batch.
   */
  prepareLookup(plan: ReadPlan, keys: LookupKeys): Prepared<string>
  /** Writes everything or nothing. Returns the written items as JSON array text, each `{}` if nothing is selected. */
  prepareWrite(plan: WritePlan): Prepared<string>
}
