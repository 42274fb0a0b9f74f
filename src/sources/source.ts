/** A data source as services see it, whatever is behind it. Answers are JSON texts that the database rendered. */
import type { ReadPlan, WritePlan } from '../core/plan/plan.ts'
import type { Fill } from '../core/sql/statement.ts'

export type ListAnswer = { readonly data: string; readonly total: number | undefined }

/** A plan made ready once and run many times; `fill` gives the values for the holes of its plan. */
export type Prepared<Answer> = (fill: Fill) => Promise<Answer>

export interface Source {
  /** The items of a list, as the text of a JSON array. Running it throws ServiceError `Query failed` over its cause. */
  prepareList(plan: ReadPlan): Prepared<ListAnswer>
  /** One item as JSON text; undefined where no row matches. */
  prepareOne(plan: ReadPlan): Prepared<string | undefined>
  /** Writes all or nothing; the written items as the text of a JSON array, `{}` each where nothing is selected. */
  prepareWrite(plan: WritePlan): Prepared<string>
}
