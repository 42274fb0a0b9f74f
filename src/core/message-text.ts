/** Names, texts and paths from a request, bounded in length, for error messages. */

const LONGEST_NAME = 100

export function shortName(name: string): string {
  return truncate(name, LONGEST_NAME)
}

/** Returns why a name is refused that could pass for more than one line, or steer a terminal; undefined for others. */
export function lineFault(name: string): string | undefined {
  return /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u.test(name) ? NO_CONTROL : undefined
}

export const NO_CONTROL = 'must not have control characters'

/**
 * Cuts a longer text after `length` characters and appends `…`. The cut may split a surrogate pair, and the text may hold
 * half of one: an answer can carry neither, so both are replaced.
 */
export function truncate(text: string, length: number): string {
  return (text.length > length ? `${text.slice(0, length)}…` : text).toWellFormed()
}

/** A place such as `filter._and[0].title._in` as a query string names it: `filter[_and][0][title][_in]`. */
export function bracketed(place: string): string {
  return place.replaceAll(/\.([^.[]+)/g, '[$1]')
}

/** A path as text, such as `operations[0].data.dbName`, after the prefix `whole`. */
export function issuePath(path: readonly PropertyKey[], whole = ''): string {
  return path.reduce<string>((place, part) => {
    if (typeof part === 'number') return `${place}[${part}]`
    return place === '' ? shortName(String(part)) : `${place}.${shortName(String(part))}`
  }, whole)
}
