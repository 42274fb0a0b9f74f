/** True if a condition tests only what the caller may see, so that a planner's estimate reveals no hidden row. */
import type { Filter } from './filter.ts'

export function hidesNothing(filter: Filter): boolean {
  switch (filter.kind) {
    case 'all':
    case 'none':
      return true
    case 'and':
    case 'or':
      return filter.filters.every(hidesNothing)
    case 'not':
      return hidesNothing(filter.filter)
    case 'isTrue':
      return filter.isSight !== true && hidesNothing(filter.filter)
    case 'related':
      return filter.rows.kind === 'all' && hidesNothing(filter.filter)
    default:
      return filter.visible.kind === 'all'
  }
}
