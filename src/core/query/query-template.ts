/**
 * Splits a query string into its values and a fingerprint, the same for all requests that differ only in compared
 * values, so that a read is planned and compiled once per fingerprint. Only plain comparisons of the outer filter are
 * parameterized; the rest of the query is part of the fingerprint.
 */
import { decodeValue, parseBrackets } from './brackets.ts'
import { nullPattern, readCursor, readValue } from './cursor.ts'
import { type Cursor, type ReadQuery, withTemplate } from './parse.ts'
import type { Placeholder } from './placeholder.ts'
import { parseListTree } from './raw-query.ts'
import { readOperand } from './resolve.ts'

export type QueryTemplate = {
  /** The query string without the values. */
  readonly fingerprint: string
  readonly values: readonly TemplateValue[]
}

/** Name and text as sent; a cursor is parsed at once, because the plan depends on its order. */
type TemplateValue = { readonly name: string; readonly text: string; readonly cursor?: Cursor }

/** Longer queries are not expected to repeat and are not cached. */
const MAX_LENGTH = 8_192
const COMPARISON = /^filter(?:\[[^[\]]+\])*\[(?:_(?:eq|neq|lte?|gte?)|[A-Za-z][^[\]]*)\]$/
const OPEN = /(?:^|&)(?:filter\[|after=|before=)/
/** Prefix of a cursor's replacement, which no sent text can equal, because no query string has a line break. */
const OPENED = '\n'
const nothing: readonly TemplateValue[] = []

export function toQueryTemplate(text: string): QueryTemplate {
  if (!OPEN.test(text)) return { fingerprint: text, values: nothing }
  if (text.length > MAX_LENGTH) return { fingerprint: text, values: nothing }
  const values: TemplateValue[] = []
  let fingerprint = ''
  let kept = 0
  for (let start = 0, end = 0; start < text.length; start = end + 1) {
    end = text.indexOf('&', start)
    if (end < 0) end = text.length
    const equals = text.indexOf('=', start)
    if (equals < 0 || equals > end) continue
    const name = text.slice(start, equals)
    const value = { name, text: text.slice(equals + 1, end) }
    if (name === 'after' || name === 'before') {
      const cursor = readCursor(value.text)
      if (cursor === undefined) continue
      fingerprint += `${text.slice(kept, equals + 1)}${OPENED}${cursor.digest}.${nullPattern(cursor)}`
      values.push({ ...value, cursor })
    } else if (COMPARISON.test(name)) {
      fingerprint += text.slice(kept, equals + 1)
      values.push(value)
    } else continue
    kept = end
  }
  return { fingerprint: fingerprint + text.slice(kept), values }
}

/**
 * Returns the list query of a template, with its values left open. After the query is resolved, `isUncacheable` returns whether
 * a comparison depends on its value, so that each query needs its own plan.
 */
export function parseTemplate({ fingerprint, values }: QueryTemplate): {
  readonly query: ReadQuery
  readonly isUncacheable: () => boolean
} {
  const leaves: symbol[] = []
  const tree = parseBrackets(fingerprint, (name) => {
    if (values[leaves.length]?.name !== name) return undefined
    const leaf = Symbol(name)
    leaves.push(leaf)
    return leaf
  })
  let isUncacheable = false
  const template = {
    indexOf: (leaf: symbol) => leaves.indexOf(leaf),
    cursorOf: (leaf: symbol) => values[leaves.indexOf(leaf)]?.cursor,
    refuse() {
      isUncacheable = true
    },
  }
  return { query: withTemplate(parseListTree(tree), template), isUncacheable: () => isUncacheable }
}

/** The database text of a value of the query's cursor; throws for an invalid value. */
export function bindCursorValue(
  { index, ...term }: Extract<Placeholder, { readonly kind: 'cursorValue' }>,
  values: QueryTemplate['values'],
): string {
  return readValue(cursorAt(values, index), term)
}

export function bindCursorText(index: number, values: QueryTemplate['values']): string {
  cursorAt(values, index)
  return values[index]?.text ?? ''
}

function cursorAt(values: QueryTemplate['values'], index: number): Cursor {
  const cursor = values[index]?.cursor
  if (cursor === undefined) throw new Error(`the query has no cursor ${index}`)
  return cursor
}

/** The database text of a value of the query; throws for an invalid value. */
export function bindQueryValue(
  { index, type, path }: Extract<Placeholder, { readonly kind: 'queryValue' }>,
  values: QueryTemplate['values'],
): string {
  const value = values[index]
  if (value === undefined) throw new Error(`the query has no value ${index}`)
  return readOperand(type, decodeValue(value.text, value.name), { form: 'text', path })
}
