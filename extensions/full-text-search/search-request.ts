/** Translates a request for a collection to a search request: words, filter expression and order. */
import { type Comparison, type Filter, QueryRejected, type QueryRequest } from 'governed-data-service/connector-kit'
import type { Config } from './config.ts'

export type SearchRequest = {
  readonly q: string
  readonly attributesToSearchOn?: readonly string[]
  readonly filter?: string
  readonly sort?: readonly string[]
}

export function toSearchRequest(
  config: Config,
  request: Extract<QueryRequest, { operation: 'readMany' }>,
): SearchRequest {
  const { search, others } = split(request.filter)
  const filter = others.map((part) => expression(part, config)).join(' AND ')
  const sort = (request.sort ?? []).map(({ field, direction }) => `${field}:${direction}`)
  return {
    q: search === undefined ? '' : String(search.value),
    ...(search !== undefined && { attributesToSearchOn: [search.field] }),
    ...(filter !== '' && { filter }),
    ...(sort.length > 0 && { sort }),
  }
}

/** A search has one text, which must be a top-level condition, combined with the others by `and`. */
function split(filter: Filter | undefined): { readonly search?: Comparison; readonly others: readonly Filter[] } {
  const parts = filter === undefined ? [] : 'and' in filter ? filter.and : [filter]
  const searches = parts.filter((part): part is Comparison => 'operator' in part && part.operator === 'contains')
  const others = parts.filter((part) => !('operator' in part && part.operator === 'contains'))
  const [search] = searches
  if (searches.length > 1) throw new QueryRejected('only one text can be searched at a time')
  return { ...(search !== undefined && { search }), others }
}

function expression(filter: Filter, config: Config): string {
  if ('and' in filter) return group(filter.and, 'AND', config)
  if ('or' in filter) return group(filter.or, 'OR', config)
  if ('not' in filter) return `NOT (${expression(filter.not, config)})`
  return comparison(filter, config)
}

function group(parts: readonly Filter[], word: 'AND' | 'OR', config: Config): string {
  return `(${parts.map((part) => expression(part, config)).join(` ${word} `)})`
}

const symbols: Readonly<Record<string, string>> = { eq: '=', neq: '!=', lt: '<', lte: '<=', gt: '>', gte: '>=' }

/** In the protocol a null matches no comparison, but the engine's `!=` would match it. */
function comparison({ field, operator, value }: Comparison, { fields }: Config): string {
  if (!(field in fields)) throw new Error(`${field} was never declared`)
  if (operator === 'contains') throw new QueryRejected('a search cannot be part of an alternative')
  if (operator === 'null') return value === true ? `${field} IS NULL` : `${field} IS NOT NULL`
  if (operator === 'in') return `${field} IN [${list(value)}]`
  if (operator === 'nin') return `(${field} NOT IN [${list(value)}] AND ${field} IS NOT NULL)`
  const symbol = symbols[operator]
  if (symbol === undefined) throw new Error(`${operator} was never declared`)
  const plain = `${field} ${symbol} ${JSON.stringify(value)}`
  return operator === 'neq' ? `(${plain} AND ${field} IS NOT NULL)` : plain
}

function list(value: unknown): string {
  return Array.isArray(value) ? value.map((one) => JSON.stringify(one)).join(', ') : ''
}
