/**
 * The arguments of a read as JSON → ReadQuery: all of them from callers that send no query string (MCP), or single
 * parameters of a query string that are one JSON text each. The same names, limits and faults as in bracket notation; only
 * operands of filters are JSON values here, not texts.
 */
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

/** Of calls that answer what they wrote: `fields` and `deep`. */
export function parseItemArguments(sent: JsonArguments): ReadQuery {
  return asJson(parseItemQuery(tree(sent)))
}

/** Parameters of a query string that may each be one JSON text instead of brackets. */
const jsonTexts = ['filter', 'sort', 'deep'] as const

/** `parse` for a query string of which `filter`, `sort` and `deep` may be JSON texts. */
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
    value = JSON.parse(text)
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

/** Numbers of `limit` and its like as the texts that they are in a query string; filters stay as they are. */
function texts(value: unknown): BracketNode {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (Array.isArray(value)) return value.map(texts)
  if (typeof value !== 'object' || value === null) return raw(value)
  const members = Object.entries(value).map(([name, member]) => [
    name,
    name === '_filter' ? raw(member) : texts(member),
  ])
  return Object.fromEntries(members) as { readonly [name: string]: BracketNode }
}

/** Whoever parses it asks what it is before using it, as of anything that was sent. */
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
