/** Derives names: API names from database names, and names of indexes. */

import { MAX_NAME_LENGTH } from '../model/api-name.ts'

/** Keeps letters, digits and underscores, and prefixes a name that does not start with a letter with `n`. */
export function deriveApiName(dbName: string, isTaken: (name: string) => boolean): string {
  const plain = dbName.replace(/[^A-Za-z0-9_]/g, '_')
  return uniqueName(withInitialLetter(plain), isTaken)
}

/**
 * Returns the API name of a newly introspected table or column, not yet numbered: transliterated to ASCII, words joined
 * in camelCase. Mixed capitals stay as they are; letters that cannot be transliterated are spelled as code points.
 */
export function conventionalName(dbName: string, transliterate: (text: string) => string): string {
  const letters = transliterate(dbName.normalize('NFKC'))
    .normalize('NFD')
    .replace(/[\u0300-\u036f'\u2019`]/g, '')
    .normalize('NFC')
  const ascii = letters.replace(/[^\x20-\x7e]/gu, (character) =>
    /[\p{L}\p{N}\p{M}]/u.test(character) ? `u${character.codePointAt(0)?.toString(16)}` : ' ',
  )
  const [first = '', ...rest] = ascii.split(/[^A-Za-z0-9]+/).filter((word) => word !== '')
  const isShouted = /\p{Lu}/u.test(dbName) && !/\p{Ll}/u.test(dbName)
  const cased = (text: string) => (isShouted ? text.toLowerCase() : text)
  const following = rest.map((word) => word.charAt(0).toUpperCase() + cased(word.slice(1)))
  return withInitialLetter([cased(first), ...following].join(''))
}

/** Strips the suffix of a foreign key column: `author_id` and `authorId` become `author`. */
export function withoutKeySuffix(dbName: string): string | undefined {
  const stem = dbName.replace(/[_\s-]+id$/i, '').replace(/(?<=[\p{Ll}\p{N}])I[dD]$/u, '')
  return stem === dbName || stem === '' ? undefined : stem
}

function withInitialLetter(name: string): string {
  return /^[A-Za-z]/.test(name) ? name : `n${name}`
}

const suffixes = { primary: 'pkey', unique: 'key', normal: 'idx' } as const

export function deriveIndexName(
  table: string,
  index: { readonly kind: keyof typeof suffixes; readonly columns: readonly string[] },
  isTaken: (name: string) => boolean,
): string {
  const words = index.kind === 'primary' ? [table] : [table, ...index.columns]
  const suffix = suffixes[index.kind]
  return uniqueName(`${cut(words.join('_'), MAX_NAME_LENGTH - suffix.length - 1)}_${suffix}`, isTaken)
}

/**
 * Appends a number from 2 if the name is taken. Searches by doubling and halving, so that a thousand equal names do not
 * cost a million look-ups.
 */
export function uniqueName(name: string, isTaken: (name: string) => boolean): string {
  const first = cutName(name)
  if (!isTaken(first)) return first
  const numbered = (number: number) => `${cut(name, MAX_NAME_LENGTH - String(number).length - 1)}_${number}`
  let free = 2
  while (isTaken(numbered(free))) free *= 2
  let taken = free / 2
  while (free - taken > 1) {
    const middle = (free + taken) / 2
    if (isTaken(numbered(Math.floor(middle)))) taken = Math.floor(middle)
    else free = Math.floor(middle)
  }
  return numbered(free)
}

export function cutName(name: string): string {
  return cut(name, MAX_NAME_LENGTH)
}

/** Returns the longest prefix of at most `length` bytes in UTF-8. */
function cut(name: string, length: number): string {
  if (name.length * 3 <= length || byteLength(name) <= length) return name
  let bytes = 0
  let result = ''
  for (const character of name) {
    bytes += byteLength(character)
    if (bytes > length) return result
    result += character
  }
  return result
}

const encoder = new TextEncoder()

export function byteLength(text: string): number {
  return encoder.encode(text).length
}
