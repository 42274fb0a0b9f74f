/** Finds a member that an object of a JSON text has twice: `JSON.parse` would take the last, and say nothing. */
import { parseJson } from '../exact-json.ts'
import { endOfString } from '../json-cut.ts'

type Open = {
  readonly names: Set<string> | undefined
  /** Of the member or element that is being read. */
  at: string
  index: number
}

/** The place of the second one, such as `model.collections.articles`; undefined without one. `text` is JSON. */
export function repeatedMember(text: string): string | undefined {
  const open: Open[] = []
  /** Whether a string that comes now is a name. */
  let isName = false
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at)
    const here = open.at(-1)
    if (character === '{' || character === '[') {
      isName = character === '{'
      open.push({ names: isName ? new Set() : undefined, at: '', index: 0 })
    } else if (character === '}' || character === ']') {
      open.pop()
      isName = false
    } else if (character === ',' && here !== undefined) {
      here.index++
      isName = here.names !== undefined
    } else if (character === '"') {
      const end = endOfString(text, at)
      if (isName && here?.names !== undefined) {
        const name = text.slice(at + 1, end)
        here.at = name.includes('\\') ? String(parseJson(`"${name}"`)) : name
        if (here.names.size === here.names.add(here.at).size) return placeOf(open)
        isName = false
      }
      at = end
    }
  }
  return undefined
}

function placeOf(open: readonly Open[]): string {
  return open
    .map(({ names, at, index }) => (names === undefined ? `[${index}]` : `.${at.slice(0, 100)}`))
    .join('')
    .replace(/^\./, '')
}
