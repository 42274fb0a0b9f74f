/** Says where a text stops being JSON: the words of the engines differ, and for short texts they name no place. */

/** The reason why a text that `JSON.parse` refuses is not JSON; lines and columns count from 1. */
export function jsonFault(text: string): string {
  const end = faultAt(text)
  const before = text.slice(0, end)
  const line = before.split('\n').length
  return `is not JSON: line ${line}, column ${end - before.lastIndexOf('\n')}`
}

type Awaited = 'value' | 'valueOrEnd' | 'name' | 'nameOrEnd' | 'colon' | 'commaOrEnd'

/** The index of the first character that cannot stand where it does; the length where the text ends too early. */
function faultAt(text: string): number {
  const open: ('[' | '{')[] = []
  let awaited: Awaited = 'value'
  let index = 0
  while (index < text.length) {
    const character = text[index] ?? ''
    const inside = open.at(-1)
    let next = index + 1
    if (/[ \t\n\r]/.test(character)) {
      index = next
      continue
    }
    if (awaited === 'commaOrEnd' || awaited === 'valueOrEnd' || awaited === 'nameOrEnd') {
      if (inside !== undefined && character === (inside === '[' ? ']' : '}')) {
        open.pop()
        awaited = 'commaOrEnd'
        index = next
        continue
      }
    }
    if (awaited === 'commaOrEnd') {
      if (inside === undefined || character !== ',') return index
      awaited = inside === '[' ? 'value' : 'name'
    } else if (awaited === 'colon') {
      if (character !== ':') return index
      awaited = 'value'
    } else if (awaited === 'name' || awaited === 'nameOrEnd') {
      if (character !== '"') return index
      next = endOfString(text, index)
      awaited = 'colon'
    } else if (character === '[' || character === '{') {
      open.push(character)
      awaited = character === '[' ? 'valueOrEnd' : 'nameOrEnd'
    } else {
      next = character === '"' ? endOfString(text, index) : endOf(scalar, text, index)
      if (next === index) return index
      awaited = 'commaOrEnd'
    }
    if (next < 0) return -next
    index = next
  }
  return text.length
}

const scalar = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null/y
const escaped = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y

/** The index behind a match at `index`; `index` where there is none. */
function endOf(pattern: RegExp, text: string, index: number): number {
  pattern.lastIndex = index
  return pattern.test(text) ? pattern.lastIndex : index
}

/** The index behind the string that begins at `start`; negative: that of the character that cannot stand in it. */
function endOfString(text: string, start: number): number {
  let index = start + 1
  while (index < text.length) {
    const character = text[index] ?? ''
    if (character === '"') return index + 1
    const next = character === '\\' ? endOf(escaped, text, index) : character < ' ' ? index : index + 1
    if (next === index) return -index
    index = next
  }
  return -index
}
