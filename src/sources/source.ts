/** A data source as services see it, whatever is behind it. Answers are JSON texts, which a database has rendered. */
import type { PrimitiveField } from '../core/model/model.ts'
import type { ReadPlan, WritePlan } from '../core/plan/plan.ts'
import type { Bindings } from '../core/sql/statement.ts'
import type { QueryContext } from '../ports.ts'

export type ListAnswer = { readonly data: string; readonly total: number | undefined }

/** Whether an answer that was kept from earlier will do; only connectors keep any. */
export type Freshness = 'kept' | 'fresh'

/** A long list in pieces that come as they are taken: rows of one text, some items with commas between. */
export type LongAnswer = { readonly pieces: AsyncIterator<readonly (string | null)[]> }

/** A plan compiled once and executed many times; `bindings` supplies the values of its placeholders. */
export type Prepared<Answer> = (bindings: Bindings, options?: ReadOptions) => Promise<Answer>

/** Whoever reads, and how old what they get may be. */
export type ReadOptions = QueryContext & { readonly freshness?: Freshness }

/** Rows whose field has one of these values. */
export type LookupKeys = { readonly field: PrimitiveField; readonly values: readonly string[] }

export interface Source {
  /** The items of a list, as the text of a JSON array. Running it throws ServiceError `Query failed` over its cause. */
  prepareList(plan: ReadPlan): Prepared<ListAnswer>
  /** A list that may be better sent in pieces; undefined where it is not, or the source cannot. */
  prepareLong?(plan: ReadPlan): Prepared<ListAnswer | LongAnswer> | undefined
  /** One item as JSON text; undefined where no row matches. */
  prepareOne(plan: ReadPlan): Prepared<string | undefined>
  /** The items of a list that have one of the keys, for relations from another source: never one call per row. */
  prepareLookup(plan: ReadPlan, keys: LookupKeys): Prepared<string>
  /** Writes all or nothing; the written items as the text of a JSON array, `{}` each where nothing is selected. */
  prepareWrite(plan: WritePlan): Prepared<string>
}
