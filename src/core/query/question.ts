/**
 * A query string in two halves: its shape, which is the same for all requests that differ only in what they compare
 * with, and those values. A read is planned and compiled once per shape. Only plain comparisons of the outer filter are
 * taken apart; whatever else a query says belongs to its shape.
 */
import { decodeValue } from './brackets.ts'
import { hole } from './hole.ts'

export type Question = {
  /** A query string that has a hole for each value. */
  readonly shape: string
  readonly values: readonly AskedValue[]
}

/** Both as they were sent. */
type AskedValue = { readonly name: string; readonly text: string }

/** What resolving a shape learns of its holes. */
export type Blanks = {
  /** By the names of the holes: the value as sent → the database's text. Throws what is wrong with it. */
  readonly readers: Map<string, (text: string) => string>
  /** How a field is compared depends on the value, so that each has to be planned for itself. */
  isUnfit: boolean
}

/** Names of holes that a value of the question fills. */
const BLANK = '?'

/** Beyond this length a query is no question that is asked again and again. */
const MAX_LENGTH = 8_192
const COMPARISON = /^filter(?:\[[^[\]]+\])*\[(?:_(?:eq|neq|lte?|gte?)|[A-Za-z][^[\]]*)\]$/
const nothing: readonly AskedValue[] = []

export function splitQuestion(text: string): Question {
  // Whoever writes the mark of a hole gets none: what they sent must not be taken for one.
  if (!text.startsWith('filter[') && !text.includes('&filter[')) return { shape: text, values: nothing }
  if (text.length > MAX_LENGTH || text.includes('%00')) return { shape: text, values: nothing }
  const values: AskedValue[] = []
  let shape = ''
  let kept = 0
  for (let start = 0, end = 0; start < text.length; start = end + 1) {
    end = text.indexOf('&', start)
    if (end < 0) end = text.length
    if (!text.startsWith('filter[', start)) continue
    const equals = text.indexOf('=', start)
    if (equals < 0 || equals > end) continue
    const name = text.slice(start, equals)
    if (!COMPARISON.test(name)) continue
    shape += text.slice(kept, equals + 1) + blankOf(values.length)
    kept = end
    values.push({ name, text: text.slice(equals + 1, end) })
  }
  return { shape: shape + text.slice(kept), values }
}

const blanks: string[] = []

/** The hole for a value, as a query string writes it. */
function blankOf(index: number): string {
  blanks[index] ??= encodeURIComponent(hole(`${BLANK}${index}`))
  return blanks[index]
}

/** The database's text for the hole called `name`; undefined where it is none of the question's. */
export function fillBlank(name: string, { values }: Question, { readers }: Blanks): string | undefined {
  if (!name.startsWith(BLANK)) return undefined
  const value = values[Number(name.slice(BLANK.length))]
  const read = readers.get(name)
  if (value === undefined || read === undefined) throw new Error(`nothing fills the hole ${name}`)
  return read(decodeValue(value.text, value.name))
}
