/** The member `meta` of a list, with the parts that the request asked for. */
import type { ListAnswer } from '../../sources/source.ts'

export type ListMeta = {
  readonly totalCount?: number
  readonly totalEstimate?: number | null
  readonly next?: string | null
  readonly previous?: string | null
}

/** Undefined if the request asked for no part of `meta`. */
export function listMeta({ total, cursors, estimate }: Partial<ListAnswer>): ListMeta | undefined {
  if (total === undefined && cursors === undefined && estimate === undefined) return undefined
  return {
    ...(total !== undefined && { totalCount: total }),
    ...(estimate !== undefined && { totalEstimate: estimate }),
    ...cursors,
  }
}
