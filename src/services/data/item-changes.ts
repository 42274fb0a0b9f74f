/** Pages of the history of one item (docs/contract.md#history), loaded on the first request. */
import type { Collection } from '../../core/model/model.ts'
import {
  type ChangesPlan,
  changesCursor,
  changeText,
  parseChangesQuery,
  planChanges,
  type RecordedChanges,
} from '../../core/plan/history/changes.ts'
import type { ReadContext } from '../../core/plan/read.ts'
import { noRecord } from './only-item.ts'

/** A page of changes as JSON texts, newest first, and the cursor of the next page. */
export type ItemChanges = { readonly changes: readonly string[]; readonly next: string | null }

/** Throws 404 if the caller may not read the item, and 422 for an invalid query. */
export async function readItemChanges(
  { collection, access }: Pick<ReadContext, 'access'> & { readonly collection: Collection },
  { key, sent }: { readonly key: readonly string[]; readonly sent: string },
  run: (plan: ChangesPlan) => Promise<RecordedChanges>,
): Promise<ItemChanges> {
  const place = { collection, key }
  const plan = planChanges({ collection, access }, key, parseChangesQuery(sent, place))
  const { isThere, isLast, changes } = await run(plan)
  if (!isThere && !(plan.isWhole && (plan.before !== undefined || changes.length > 0))) noRecord()
  const last = changes.at(-1)
  return {
    changes: changes.map(changeText),
    next: isLast || last === undefined ? null : changesCursor(place, last.mark),
  }
}
