/**
 * Splits a query string into its values and a fingerprint, the same for all requests that differ only in compared
 * values, so that a read is planned and compiled once per fingerprint. Only plain comparisons of the outer filter are
 * parameterized; the rest of the query is part of the fingerprint.
 */
import { decodeValue, parseBrackets } from './brackets.ts'
import { type ReadQuery, withTemplate } from './parse.ts'
import type { Placeholder } from './placeholder.ts'
import { parseListTree } from './raw-query.ts'
import { readOperand } from './resolve.ts'

export type QueryTemplate = {
  /** The query string without the values. */
  readonly fingerprint: string
  readonly values: readonly TemplateValue[]
}

/** Both as they were sent. */
type TemplateValue = { readonly name: string; readonly text: string }

/** Longer queries are not expected to repeat and are not cached. */
const MAX_LENGTH = 8_192
const COMPARISON = /^filter(?:\[[^[\]]+\])*\[(?:_(?:eq|neq|lte?|gte?)|[A-Za-z][^[\]]*)\]$/
const nothing: readonly TemplateValue[] = []

export function toQueryTemplate(text: string): QueryTemplate {
  if (!text.startsWith('filter[') && !text.includes('&filter[')) return { fingerprint: text, values: nothing }
  if (text.length > MAX_LENGTH) return { fingerprint: text, values: nothing }
  const values: TemplateValue[] = []
  let fingerprint = ''
  let kept = 0
  for (let start = 0, end = 0; start < text.length; start = end + 1) {
    end = text.indexOf('&', start)
    if (end < 0) end = text.length
    if (!text.startsWith('filter[', start)) continue
    const equals = text.indexOf('=', start)
    if (equals < 0 || equals > end) continue
    const name = text.slice(start, equals)
    if (!COMPARISON.test(name)) continue
    fingerprint += text.slice(kept, equals + 1)
    kept = end
    values.push({ name, text: text.slice(equals + 1, end) })
  }
  return { fingerprint: fingerprint + text.slice(kept), values }
}

/**
 * The list query that a template stands for, its values left open. `isUncacheable` says, once the query is resolved,
 * whether a comparison depends on its value, so that each query needs a plan of its own.
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
    refuse() {
      isUncacheable = true
    },
  }
  return { query: withTemplate(parseListTree(tree), template), isUncacheable: () => isUncacheable }
}

/** The database's text for a value of the query; throws what is wrong with it. */
export function bindQueryValue(
  { index, type, path }: Extract<Placeholder, { readonly kind: 'queryValue' }>,
  values: QueryTemplate['values'],
): string {
  const value = values[index]
  if (value === undefined) throw new Error(`the query has no value ${index}`)
  return readOperand(type, decodeValue(value.text, value.name), { form: 'text', path })
}
