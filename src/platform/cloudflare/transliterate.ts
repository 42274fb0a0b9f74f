/**
 * LoadTransliterate on Workers. The table of `@sindresorhus/transliterate` is a tenth of the Worker's upload and rarely
 * needed, so it is a static asset (scripts/package-assets.ts), applied here the way the package does it.
 */
import { parseJson } from '../../core/exact-json.ts'
import type { LoadTransliterate } from '../../ports/ports.ts'

/** The table as JSON: pairs of a text and its replacement. */
export const TRANSLITERATION_FILE = 'transliteration.json'

export function createTransliterate(assets: (name: string) => Promise<string>): LoadTransliterate {
  return async () => {
    const table = new Map(parseJson(await assets(TRANSLITERATION_FILE)) as readonly (readonly [string, string])[])
    const longestFirst = [...table.keys()].sort((one, other) => other.length - one.length)
    const escaped = longestFirst.map((key) => key.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    const pattern = new RegExp(escaped.join('|'), 'gu')
    return (text) =>
      text
        .normalize()
        .replace(pattern, (match) => table.get(match) ?? match)
        .normalize('NFD')
        .replaceAll(/\p{Diacritic}/gu, '')
        .normalize()
        .replaceAll(/\p{Dash_Punctuation}/gu, '-')
  }
}
