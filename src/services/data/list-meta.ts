/** What a list is told of beside its items, where it was asked for. */
import type { ListAnswer } from '../../sources/source.ts'

export type ListMeta = {
  readonly totalCount?: number
  readonly next?: string | null
  readonly previous?: string | null
}

/** Undefined where nothing was asked for. */
export function listMeta({ total, cursors }: Partial<ListAnswer>): ListMeta | undefined {
  if (total === undefined && cursors === undefined) return undefined
  return { ...(total !== undefined && { totalCount: total }), ...cursors }
}
