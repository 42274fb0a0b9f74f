/** The name that somebody may have meant. */

/** `; did you mean …?`, or nothing where no name is near. */
export function nearest(name: string, names: readonly string[]): string {
  const [best] = names
    .map((other) => ({ other, far: distance(name.toLowerCase(), other.toLowerCase()) }))
    .filter(({ far }) => far <= Math.ceil(name.length / 3))
    .sort((one, other) => one.far - other.far)
  return best === undefined ? '' : `; did you mean ${best.other}?`
}

/** How many letters are to be changed, added or taken away. */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (const [at, letter] of [...one].entries()) {
    const next = [at + 1]
    for (const [index, opposite] of [...other].entries()) {
      const changed = (row[index] ?? 0) + (letter === opposite ? 0 : 1)
      next.push(Math.min(changed, (row[index + 1] ?? 0) + 1, (next[index] ?? 0) + 1))
    }
    row = next
  }
  return row[other.length] ?? 0
}
