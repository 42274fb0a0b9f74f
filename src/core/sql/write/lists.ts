/** JSON lists as texts, since nobody parses what a database has rendered. */

/** Concatenates JSON arrays given as texts. */
export function concatenate(lists: readonly string[]): string {
  const [only] = lists
  if (only !== undefined && lists.length === 1) return only
  const contents = lists.map((text) => text.slice(1, -1)).filter((text) => text !== '')
  return `[${contents.join(',')}]`
}
