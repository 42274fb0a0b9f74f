/**
 * Limits the rows that a read may return, computed from its limits alone: along a path of relations they multiply, and
 * to-one relations count once. A read over the budget is refused before it runs (docs/decisions/038).
 */
import { nested } from '../error.ts'
import { QUERY_FAILED } from '../error-codes.ts'
import type { Selection } from './plan.ts'

/** A path to an innermost list: the names of its relations, and the limits of its lists, outermost first. */
type Path = { readonly names: readonly string[]; readonly limits: readonly number[] }

/**
 * Throws 422 with code 4014 and the largest path, where all paths of `selection` together may return more than `most`
 * rows. `own` is the number of rows at the top; without nested lists, it is checked only where the rows are a page.
 */
export function requireRowBudget(
  selection: Selection,
  { own, isPage, most }: { readonly own: number; readonly isPage: boolean; readonly most: number },
): void {
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
  if (total > most && widest !== undefined) throw overBudget(widest, { total, rows: widestRows, most })
}

/** Calls `count` for every list without further lists below it. Returns true if there was one. */
function countLists(selection: Selection, { names, limits }: Path, count: (path: Path) => void): boolean {
  let hasList = false
  for (const selected of selection) {
    if (selected.kind !== 'relation') continue
    const { name, page } = selected
    const path = { names: [...names, name], limits: page === undefined ? limits : [...limits, page.limit] }
    const hasListBelow = countLists(selected.selection, path, count)
    if (page !== undefined && !hasListBelow) count(path)
    if (page !== undefined || hasListBelow) hasList = true
  }
  return hasList
}

function productOf(limits: readonly number[]): number {
  return limits.reduce((product, limit) => product * limit, 1)
}

function overBudget(
  { names, limits }: Path,
  { total, rows, most }: { readonly total: number; readonly rows: number; readonly most: number },
) {
  const product = limits.reduce((one, limit) => one * BigInt(limit), 1n)
  const factors = limits.length > 1 ? ` (${limits.join(' × ')})` : ''
  const others = total > rows ? ', with the other lists even more' : ''
  const reason = `may bring ${product} items${factors}${others}; a read may bring ${most}, so ask for smaller limits`
  const path = names.join('.')
  const target = path === '' ? 'limit' : `fields.${path}`
  return nested('invalid', [QUERY_FAILED, target, reason], {
    code: '4014',
    meta: { path, product: rows, max: most },
  })
}
