/** Pages of the history of one item (docs/contract.md#history), loaded by the first request for one. */
import { codedError } from '../../core/error.ts'
import type { Collection } from '../../core/model/model.ts'
import {
  type ChangesPlan,
  changesCursor,
  parseChangesQuery,
  planChanges,
  shownChanges,
} from '../../core/plan/history/changes.ts'
import type { ReadContext } from '../../core/plan/read.ts'
import type { RecordedPage } from '../../core/sql/history/changes.ts'
import { noRecord } from './only-item.ts'

/** A page of changes as JSON texts, the newest first, and the cursor of the next one. */
export type ItemChanges = { readonly changes: readonly string[]; readonly next: string | null }

/** Throws 404 where the caller reads no such item, 422 for a query that is none. */
export async function readItemChanges(
  { collection, access }: Pick<ReadContext, 'access'> & { readonly collection: Collection },
  { key, sent }: { readonly key: readonly string[]; readonly sent: string },
  run: (plan: ChangesPlan) => Promise<RecordedPage>,
): Promise<ItemChanges> {
  const { limit, before: start } = parseChangesQuery(sent, { collection, key })
  const found: ReturnType<typeof shownChanges>[number][] = []
  let before = start
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    const plan = planChanges({ collection, access }, key, { before, limit: limit + 1 })
    const page = await run(plan)
    if (page.item === null && !(plan.isWhole && (before !== undefined || page.changes.length > 0))) noRecord()
    found.push(...shownChanges(plan, page))
    if (found.length > limit) {
      before = found[limit - 1]?.id
      break
    }
    if (page.isCut && page.changes.length === 0) throw codedError('1006')
    before = page.isCut || page.changes.length > limit ? page.changes.at(-1)?.id : undefined
    if (before === undefined || page.isCut) break
  }
  const changes = found.slice(0, limit).map(({ shown }) => shown)
  return { changes, next: before === undefined ? null : changesCursor({ collection, key }, before) }
}

/** Statements of one request: of a field that is hidden on a condition there may be any number of changes. */
const MOST_ROUNDS = 10
