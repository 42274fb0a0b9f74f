/** What a page of a walk was asked by, which the answer of some databases is put together with. */
import type { Page } from '../../plan/plan.ts'
import { type Bindings, isPlaceholder } from '../../query/placeholder.ts'
import type { AnsweredWalk } from './row-query.ts'

/** Undefined for a page without cursors. */
export function answeredWalk(page: Page | undefined, bindings: Bindings): AnsweredWalk | undefined {
  if (page?.walk === undefined) return undefined
  const { limit, offset, walk } = page
  const { direction, isTold, start, asked } = walk
  const cursor = asked !== undefined && isPlaceholder(asked) ? (bindings(asked) ?? undefined) : asked
  return {
    direction,
    told: isTold ? { limit, isBehind: start !== undefined || offset > 0, asked: cursor } : undefined,
  }
}
