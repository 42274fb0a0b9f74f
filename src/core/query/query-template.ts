/**
 * Splits a query string into its values and a fingerprint, the same for all requests that differ only in compared
 * values, so that a read is planned and compiled once per fingerprint. Only plain comparisons of the outer filter are
 * parameterized; the rest of the query is part of the fingerprint.
 */
import { decodeValue } from './brackets.ts'
import { placeholder } from './placeholder.ts'

export type QueryTemplate = {
  /** The query string with a placeholder for each value. */
  readonly fingerprint: string
  readonly values: readonly TemplateValue[]
}

/** Both as they were sent. */
type TemplateValue = { readonly name: string; readonly text: string }

/** Collected while the fingerprint is resolved. */
export type TemplateReaders = {
  /** By placeholder name: decodes a value as sent to the database's text; throws for an invalid value. */
  readonly readers: Map<string, (text: string) => string>
  /** The comparison depends on the value, so each query needs its own plan. */
  isUncacheable: boolean
}

/** Prefix of the placeholders that are bound to values of the query. */
const TEMPLATE_PREFIX = '?'

/** Longer queries are not expected to repeat and are not cached. */
const MAX_LENGTH = 8_192
const COMPARISON = /^filter(?:\[[^[\]]+\])*\[(?:_(?:eq|neq|lte?|gte?)|[A-Za-z][^[\]]*)\]$/
const nothing: readonly TemplateValue[] = []

export function toQueryTemplate(text: string): QueryTemplate {
  // A query that contains the placeholder mark is not parameterized: its text must not be taken for a placeholder.
  if (!text.startsWith('filter[') && !text.includes('&filter[')) return { fingerprint: text, values: nothing }
  if (text.length > MAX_LENGTH || text.includes('%00')) return { fingerprint: text, values: nothing }
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
    fingerprint += text.slice(kept, equals + 1) + placeholderAt(values.length)
    kept = end
    values.push({ name, text: text.slice(equals + 1, end) })
  }
  return { fingerprint: fingerprint + text.slice(kept), values }
}

const placeholders: string[] = []

/** The placeholder for a value, encoded for a query string. */
function placeholderAt(index: number): string {
  placeholders[index] ??= encodeURIComponent(placeholder(`${TEMPLATE_PREFIX}${index}`))
  return placeholders[index]
}

/** The database's text for the placeholder `name`; undefined if it is not one of the query's. */
export function bindTemplateValue(
  name: string,
  { values }: QueryTemplate,
  { readers }: TemplateReaders,
): string | undefined {
  if (!name.startsWith(TEMPLATE_PREFIX)) return undefined
  const value = values[Number(name.slice(TEMPLATE_PREFIX.length))]
  const decode = readers.get(name)
  if (value === undefined || decode === undefined) throw new Error(`no value for the placeholder ${name}`)
  return decode(decodeValue(value.text, value.name))
}
