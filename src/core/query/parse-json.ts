/**
 * The arguments of a read as JSON → ReadQuery, for callers that send no query string (MCP). The same names, limits and
 * faults as in bracket notation; only operands of filters are JSON values here, not texts.
 */
import type { BracketNode } from './brackets.ts'
import { type DeepArguments, parseItemQuery, parseListQuery, type RawFilter, type ReadQuery } from './parse.ts'

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
    [...deep].map(([name, { own, deeper, place }]) => [
      name,
      { own: { ...own, filter: jsonForm(own.filter) }, deeper: deepAsJson(deeper), place },
    ]),
  )
}
