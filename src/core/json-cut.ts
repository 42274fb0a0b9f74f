/**
 * Cuts the text of items into the texts of their members, so that what a database printed is passed on without being
 * parsed: a value of many numbers costs as much as a string of its length. All texts are JSON; of others the result is
 * unspecified.
 */

/** The texts of an item's members, by name. */
export type ItemText = ReadonlyMap<string, string>

const OPEN_LIST = 0x5b
const CLOSE_LIST = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const QUOTE = 0x22
const COMMA = 0x2c
const BACKSLASH = 0x5c
/** No other whitespace of JSON has a higher code. */
const SPACE = 0x20

/** The texts of the elements of `list`, the JSON of a list. Throws where an element is missing. */
export function elementsOf(list: string): readonly string[] {
  const elements: string[] = []
  let at = behindSpace(list, list.indexOf('[') + 1)
  while (at < list.length && list.charCodeAt(at) !== CLOSE_LIST) {
    const end = endOfValue(list, at)
    if (end === at) throw new SyntaxError('a list lacks an element')
    elements.push(list.slice(at, end))
    at = behindComma(list, end)
  }
  return elements
}

/** The texts of the members of `item`, the JSON of an object. */
export function membersOf(item: string): ItemText {
  const members = new Map<string, string>()
  let at = behindSpace(item, item.indexOf('{') + 1)
  while (at < item.length && item.charCodeAt(at) !== CLOSE_OBJECT) {
    const endOfName = endOfString(item, at)
    const name = item.slice(at + 1, endOfName)
    const start = behindSpace(item, behindSpace(item, endOfName + 1) + 1)
    const end = endOfValue(item, start)
    members.set(name.includes('\\') ? String(JSON.parse(`"${name}"`)) : name, item.slice(start, end))
    at = behindComma(item, end)
  }
  return members
}

/** The JSON of a list of these elements. */
export function listText(elements: readonly string[]): string {
  return `[${elements.join()}]`
}

/** The JSON of an object of these members; one without a text is left out. */
export function itemText(members: Iterable<readonly [string, string | undefined]>): string {
  let text = ''
  for (const [name, value] of members) {
    if (value !== undefined) text += `${text === '' ? '' : ','}${JSON.stringify(name)}:${value}`
  }
  return `{${text}}`
}

/** The index of the quote that ends the string which begins at `start`; the length where none does. */
export function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) return at
    if (code === BACKSLASH) at++
  }
  return text.length
}

/** The index behind the value that begins at `start`. */
function endOfValue(text: string, start: number): number {
  let depth = 0
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      at = endOfString(text, at)
      if (depth === 0) return at + 1
    } else if (code === OPEN_LIST || code === OPEN_OBJECT) depth++
    else if (code === CLOSE_LIST || code === CLOSE_OBJECT) {
      depth--
      if (depth <= 0) return depth < 0 ? at : at + 1
    } else if (depth === 0 && (code === COMMA || code <= SPACE)) return at
  }
  return text.length
}

function behindSpace(text: string, start: number): number {
  let at = start
  while (text.charCodeAt(at) <= SPACE) at++
  return at
}

/** Where the next element or member begins, or the list or object ends. */
function behindComma(text: string, end: number): number {
  const at = behindSpace(text, end)
  return text.charCodeAt(at) === COMMA ? behindSpace(text, at + 1) : at
}
