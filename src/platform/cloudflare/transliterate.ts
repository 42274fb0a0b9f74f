/**
 * The port LoadTransliterate on Workers. The table of the package `@sindresorhus/transliterate` is a tenth of what a Worker
 * would be uploaded with, and few ever need it: it lies among the assets (scripts/package-assets.ts), and is applied here
 * as the package does.
 */
import type { Assets, LoadTransliterate } from '../../ports.ts'

/** The table as JSON: pairs of what is replaced and by what. */
export const TRANSLITERATION_FILE = 'transliteration.json'

export function createTransliterate(assets: Assets): LoadTransliterate {
  return async () => {
    const table = new Map(JSON.parse(await assets(TRANSLITERATION_FILE)) as readonly (readonly [string, string])[])
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
