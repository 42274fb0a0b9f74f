/**
 * Suggests the known name that was probably meant, for messages: at an edit distance of one or two. Callers pass
 * candidates that the request's caller is allowed to know.
 */

/** Names are short; longer input is no misspelled name. */
const MAX_LENGTH = 64

/** Returns `; did you mean title?`, or an empty text where no candidate is near. */
export function didYouMean(name: string, candidates: Iterable<string>): string {
  const nearest = nearestName(name, candidates)
  return nearest === undefined ? '' : `; did you mean ${nearest}?`
}

/** Returns the same suggestion, or else the list of all known names: `; allowed: data, filter`. */
export function listKnown(name: string, known: readonly string[]): string {
  const hint = didYouMean(name, known)
  if (hint !== '' || known.length === 0) return hint
  return `; allowed: ${known.join(', ')}`
}

/** Returns the first of the nearest candidates; undefined where none is near. */
export function nearestName(name: string, candidates: Iterable<string>): string | undefined {
  if (name.length > MAX_LENGTH) return undefined
  const wanted = plain(name)
  let most = wanted.length < 6 ? 1 : 2
  let nearest: string | undefined
  for (const candidate of candidates) {
    const distance = distanceWithin(wanted, plain(candidate), most)
    if (distance === undefined) continue
    nearest = candidate
    if (distance === 0) return nearest
    most = distance - 1
  }
  return nearest
}

/** Ignores case and the way words are joined. */
function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[_\s-]/g, '')
}

/**
 * Returns the edit distance (insertions, deletions, replacements, swaps of neighbours); undefined where it exceeds
 * `most`.
 */
function distanceWithin(from: string, to: string, most: number): number | undefined {
  if (from === '' || Math.abs(from.length - to.length) > most) return undefined
  let beforeLast: readonly number[] = []
  let last: readonly number[] = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row]
    for (let column = 1; column <= to.length; column += 1) {
      const isSame = from[row - 1] === to[column - 1]
      const changed = (last[column - 1] ?? 0) + (isSame ? 0 : 1)
      const shifted = Math.min(last[column] ?? 0, current[column - 1] ?? 0) + 1
      const isSwapped = row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]
      const swapped = isSwapped ? (beforeLast[column - 2] ?? 0) + 1 : shifted
      current.push(Math.min(changed, shifted, swapped))
    }
    if (Math.min(...current) > most) return undefined
    beforeLast = last
    last = current
  }
  const distance = last[to.length] ?? 0
  return distance <= most ? distance : undefined
}
