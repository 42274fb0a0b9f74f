/**
 * Limits the rows that a read may return, computed from its page limits: they multiply along a path of relations, and to-one
 * relations count once. An aggregate of a list counts as a list. A read over the budget is refused before it runs
 * (docs/decisions/038, 087).
 */
import { nested } from '../error.ts'
import { QUERY_FAILED } from '../error-codes.ts'
import type { Selected, Selection } from './plan.ts'

/** Default maximum of related items in a list, and the assumed number of rows of an aggregate. */
export const USUAL_LIST = 100

/** A path to an innermost list: the names of its relations, and the limits of its lists, outermost first. */
type Path = {
  readonly names: readonly string[]
  readonly limits: readonly number[]
  /** True if the list is only aggregated. */
  readonly isAggregated?: boolean
}

/** The rows of a read. `own` are those of the outer list; without nested lists, they count only if they are a page. */
export type Rows = { readonly own: number; readonly isPage: boolean }

/** `spent` is the number of rows that other reads of the request may return. */
export type RowBudget = { readonly most: number; readonly spent: number }

/**
 * Returns how many rows all paths of `selection` together may return. Throws 422 with code 4014 and the largest path if the
 * budget is exceeded.
 */
export function requireRowBudget(selection: Selection, { own, isPage }: Rows, { most, spent }: RowBudget): number {
  let total = 0
  let widest: Path | undefined
  let widestRows = 0
  const count = (path: Path): void => {
    const rows = productOf(path.limits)
    total += rows
    if (rows > widestRows) {
      widest = path
      widestRows = rows
    }
  }
  countLists(selection, { names: [], limits: [own] }, count)
  if (widest === undefined && isPage) count({ names: [], limits: [own] })
  if (spent + total > most && widest !== undefined) throw overBudget(widest, { total, rows: widestRows, most })
  return total
}

/** Counts the `rows` of a cached plan against the budget; throws 422 with code 4014 if it is exceeded. */
export function spendPlanned(
  rows: number,
  { most, spent }: { readonly most: number; readonly spent: { rows: number } },
): void {
  const together = spent.rows + rows
  if (together <= most) {
    spent.rows = together
    return
  }
  // A refused read returns nothing, so it is not counted.
  const reason = `the calls of this request may bring ${together} items together; a request may bring ${most}, so ask for smaller limits`
  throw nested('invalid', [QUERY_FAILED, 'limit', reason], { code: '4014', meta: { product: rows, max: most } })
}

/** Calls `count` for every innermost list. Returns true if there is one. */
function countLists(selection: Selection, above: Path, count: (path: Path) => void): boolean {
  let hasList = false
  for (const selected of selection) {
    const isAggregated = countAggregates(selected, above, count)
    if (isAggregated) hasList = true
    if (selected.kind !== 'relation') continue
    const { name, page } = selected
    const { names, limits } = above
    const path = { names: [...names, name], limits: page === undefined ? limits : [...limits, page.limit] }
    const hasListBelow = countLists(selected.selection, path, count)
    if (page !== undefined && !hasListBelow) count(path)
    if (page !== undefined || hasListBelow) hasList = true
  }
  return hasList
}

/** Counts an aggregate as a list of usual length, because the number of its rows is unknown before the read. */
function countAggregates(selected: Selected, { names, limits }: Path, count: (path: Path) => void): boolean {
  if (selected.kind !== 'relation' && selected.kind !== 'aggregates') return false
  const { name, aggregates } = selected
  if (aggregates === undefined) return false
  count({ names: [...names, name], limits: [...limits, aggregates.length, USUAL_LIST], isAggregated: true })
  return true
}

function productOf(limits: readonly number[]): number {
  return limits.reduce((product, limit) => product * limit, 1)
}

function overBudget(
  { names, limits, isAggregated = false }: Path,
  { total, rows, most }: { readonly total: number; readonly rows: number; readonly most: number },
) {
  const product = limits.reduce((one, limit) => one * BigInt(limit), 1n)
  const factors = limits.length > 1 ? ` (${limits.join(' × ')})` : ''
  const others =
    total <= most ? ', with the operations before it even more' : total > rows ? ', with the other lists even more' : ''
  const [counts, advice] = isAggregated
    ? ['counts as', `smaller limits or fewer aggregates: each counts as a list of ${USUAL_LIST}`]
    : ['may bring', 'smaller limits']
  const reason = `${counts} ${product} items${factors}${others}; a read may bring ${most}, so ask for ${advice}`
  const path = names.join('.')
  const target = isAggregated ? `deep.${path}._aggregate` : path === '' ? 'limit' : `fields.${path}`
  return nested('invalid', [QUERY_FAILED, target, reason], {
    code: '4014',
    meta: { path, product: rows, max: most },
  })
}
