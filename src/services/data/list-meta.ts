/** What a list is told of beside its items, where it was asked for. */
import type { ListAnswer } from '../../sources/source.ts'

export type ListMeta = {
  readonly totalCount?: number
  readonly totalEstimate?: number | null
  readonly next?: string | null
  readonly previous?: string | null
}

/** Undefined where nothing was asked for. */
export function listMeta({ total, cursors, estimate }: Partial<ListAnswer>): ListMeta | undefined {
  if (total === undefined && cursors === undefined && estimate === undefined) return undefined
  return {
    ...(total !== undefined && { totalCount: total }),
    ...(estimate !== undefined && { totalEstimate: estimate }),
    ...cursors,
  }
}
