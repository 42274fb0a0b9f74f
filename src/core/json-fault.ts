/** Says where a text stops being JSON: the words of the engines differ, and for short texts they name no place. */

/** The reason why a text that `JSON.parse` refuses is not JSON; lines and columns count from 1. */
export function jsonFault(text: string): string {
  const end = faultAt(text)
  const before = text.slice(0, end)
  const line = before.split('\n').length
  return `is not JSON: line ${line}, column ${end - before.lastIndexOf('\n')}`
}

type Awaited = 'value' | 'valueOrEnd' | 'name' | 'nameOrEnd' | 'colon' | Behind
/** What is awaited behind a value: in a list, in an object, in neither. */
type Behind = 'restOfList' | 'restOfObject' | 'nothing'

/** Of what is awaited the first characters that may stand there, and what is awaited behind each; `s` is any other scalar. */
const value = { '"': 'behind', s: 'behind', '[': 'valueOrEnd', '{': 'nameOrEnd' } as const
const grammar: Readonly<Record<Awaited, Readonly<Record<string, Awaited | 'behind'>>>> = {
  value,
  valueOrEnd: { ...value, ']': 'behind' },
  name: { '"': 'colon' },
  nameOrEnd: { '"': 'colon', '}': 'behind' },
  colon: { ':': 'value' },
  restOfList: { ',': 'value', ']': 'behind' },
  restOfObject: { ',': 'name', '}': 'behind' },
  nothing: {},
}

/** The index of the first character that cannot stand where it does; the length where the text ends too early. */
function faultAt(text: string): number {
  const open: Behind[] = []
  let awaited: Awaited = 'value'
  let index = endOf(blank, text, 0)
  while (index < text.length) {
    const character = text[index] ?? ''
    const isMark = '[]{},:"'.includes(character)
    const next: Awaited | 'behind' | undefined = grammar[awaited][isMark ? character : 's']
    if (next === undefined) return index
    const end = character === '"' ? endOfString(text, index) : isMark ? index + 1 : endOfScalar(text, index)
    if (end < 0) return -end
    if (end === index) return index
    if (character === '[' || character === '{') open.push(character === '[' ? 'restOfList' : 'restOfObject')
    if (character === ']' || character === '}') open.pop()
    awaited = next === 'behind' ? (open.at(-1) ?? 'nothing') : next
    index = endOf(blank, text, end)
  }
  return text.length
}

const blank = /[ \t\n\r]*/y
const scalar = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null/y
const escaped = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y

/** The index behind the number, `true`, `false` or `null` at `index`; `index` where there is none. */
export function endOfScalar(text: string, index: number): number {
  return endOf(scalar, text, index)
}

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
