/** The member `meta` of a list, as far as the request named it. */
import type { ListAnswer } from '../../sources/source.ts'

export type ListMeta = {
  readonly totalCount?: number
  readonly totalEstimate?: number | null
  readonly next?: string | null
  readonly previous?: string | null
}

/** Undefined where the request named nothing in `meta`. */
export function listMeta({ total, cursors, estimate }: Partial<ListAnswer>): ListMeta | undefined {
  if (total === undefined && cursors === undefined && estimate === undefined) return undefined
  return {
    ...(total !== undefined && { totalCount: total }),
    ...(estimate !== undefined && { totalEstimate: estimate }),
    ...cursors,
  }
}
