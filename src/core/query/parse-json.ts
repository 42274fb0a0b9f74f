/**
 * Parses read arguments in JSON into ReadQuery: all arguments of callers without a query string (MCP), or single
 * parameters of a query string. Names, limits and errors are those of bracket notation; only operands of filters are
 * JSON values instead of texts.
 */
import { parseExactJson, plainNumber } from '../exact-json.ts'
import { exceedsLimits, hasPrototypeMember, oversizedJson } from '../json-limits.ts'
import { type BracketNode, type BracketTree, queryBounds } from './brackets.ts'
import {
  type DeepArguments,
  parseItemQuery,
  parseListQuery,
  queryFault,
  type RawFilter,
  type ReadQuery,
} from './parse.ts'

export type JsonArguments = {
  readonly fields?: unknown
  readonly filter?: unknown
  readonly sort?: unknown
  readonly limit?: unknown
  readonly offset?: unknown
  readonly deep?: unknown
  readonly meta?: unknown
}

export function parseListArguments(sent: JsonArguments): ReadQuery {
  return asJson(parseListQuery(tree(sent)))
}

/** Parses `fields` and `deep`, for calls that return the written items. */
export function parseItemArguments(sent: JsonArguments): ReadQuery {
  return asJson(parseItemQuery(tree(sent)))
}

/** Parameters of a query string that may be JSON text. */
const jsonTexts = ['filter', 'sort', 'deep'] as const

/** Wraps `parse`, so that `filter`, `sort` and `deep` of the query string may be JSON texts. */
export function withJsonTexts(parse: (tree: BracketTree) => ReadQuery): (tree: BracketTree) => ReadQuery {
  return (sent) => {
    const named = jsonTexts.filter((name) => isJsonText(sent[name]))
    if (named.length === 0) return parse(sent)
    const values = named.map((name) => [name, readJsonText(sent[name] as string, name)] as const)
    const query = parse({
      ...sent,
      ...Object.fromEntries(values.map(([name, value]) => [name, name === 'filter' ? raw(value) : texts(value)])),
    })
    return {
      ...query,
      filter: named.includes('filter') ? jsonForm(query.filter) : query.filter,
      deep: named.includes('deep') ? deepAsJson(query.deep) : query.deep,
    }
  }
}

function isJsonText(node: BracketNode | undefined): boolean {
  return typeof node === 'string' && /^\s*[[{]/.test(node)
}

function readJsonText(text: string, name: string): unknown {
  const tooMuch = oversizedJson(text, { depth: queryBounds.depth, members: queryBounds.elements })
  if (tooMuch !== undefined) throw queryFault(name, tooMuch)
  let value: unknown
  try {
    value = parseExactJson(text)
  } catch {
    throw queryFault(name, 'is not readable as JSON')
  }
  const excess = hasPrototypeMember(text, value) ? 'must not use the key __proto__' : exceedsLimits(value, queryBounds)
  if (excess !== undefined) throw queryFault(name, excess)
  return value
}

function tree(sent: JsonArguments): { readonly [name: string]: BracketNode } {
  const given = Object.entries(sent).filter(([, value]) => value !== undefined)
  return Object.fromEntries(given.map(([name, value]) => [name, name === 'filter' ? raw(value) : texts(value)]))
}

/** Converts numbers, such as that of `limit`, to the texts of a query string; filters stay unchanged. */
function texts(sent: unknown): BracketNode {
  const value = plainNumber(sent)
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (Array.isArray(value)) return value.map(texts)
  if (typeof value !== 'object' || value === null) return raw(value)
  const members = Object.entries(value).map(([name, member]) => [
    name,
    name === '_filter' ? raw(member) : texts(member),
  ])
  return Object.fromEntries(members) as { readonly [name: string]: BracketNode }
}

/** Safe, since the parser checks the type of every node before using it. */
function raw(value: unknown): BracketNode {
  return (value === null ? '' : value) as BracketNode
}

function asJson(query: ReadQuery): ReadQuery {
  return { ...query, filter: jsonForm(query.filter), deep: deepAsJson(query.deep) }
}

function jsonForm(filter: RawFilter | undefined): RawFilter | undefined {
  return filter && { form: 'json', value: filter.value }
}

function deepAsJson(deep: DeepArguments): DeepArguments {
  return new Map(
    [...deep].map(([name, { own, deeper, path }]) => [
      name,
      { own: { ...own, filter: jsonForm(own.filter) }, deeper: deepAsJson(deeper), path },
    ]),
  )
}
