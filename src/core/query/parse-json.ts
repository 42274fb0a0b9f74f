/**
 * Parses read arguments in JSON into ReadQuery: all arguments of callers without a query string (MCP, the body of QUERY), or
 * single parameters of a query string. Names, limits and errors are those of bracket notation; only operands of filters are
 * JSON values instead of strings.
 */
import { parseExactJson, plainNumber } from '../exact-json.ts'
import { jsonFault } from '../json-fault.ts'
import { exceedsLimits, hasPrototypeMember, type JsonLimits, oversizedJson } from '../json-limits.ts'
import { isObject } from '../json-object.ts'
import { type BracketNode, type BracketTree, queryBounds } from './brackets.ts'
import { parseCreateQuery, parseItemQuery, parseListQuery, parseManyQuery } from './parameters.ts'
import { type DeepArguments, queryFault, type RawFilter, type ReadQuery, shorthandTerms } from './parse.ts'

export type JsonArguments = {
  readonly fields?: unknown
  readonly filter?: unknown
  readonly sort?: unknown
  readonly limit?: unknown
  readonly offset?: unknown
  readonly after?: unknown
  readonly before?: unknown
  readonly deep?: unknown
  readonly meta?: unknown
  readonly max?: unknown
  readonly conflict?: unknown
}

export function parseListArguments(sent: JsonArguments): ReadQuery {
  return asJson(parseListQuery(toTree(sent)))
}

/** Maximum number of scalars, empty lists and empty objects of a body: 10,000 in a list, and others beside it. */
export const MAX_BODY_VALUES = 10_500

/** Bounds of a body; its length is checked while it arrives. */
const bodyBounds: Partial<JsonLimits> = {
  ...queryBounds,
  values: MAX_BODY_VALUES,
  elements: 10_000,
  length: Number.POSITIVE_INFINITY,
}

/** The unparsed arguments in the body of QUERY. */
export function readQueryBody(body: unknown): QueryBody {
  if (!isObject(body)) throw queryFault('', 'must be an object')
  const excess = exceedsLimits(body, bodyBounds)
  if (excess !== undefined) throw queryFault('', excess)
  return { body }
}

/** Arguments with possibly long lists of operands. */
export type QueryBody<Arguments = JsonArguments> = { readonly body: Arguments }

export function parseListBody({ body }: QueryBody): ReadQuery {
  return withLongLists(parseListArguments(body))
}

/** Like `parseListBody`, for an item, which has no page. */
export function parseItemBody({ body }: QueryBody): ReadQuery {
  return withLongLists(parseItemArguments(body))
}

/** Like `parseListBody`, for new items. */
export function parseCreateBody({ body }: QueryBody): ReadQuery {
  return withLongLists(parseCreateArguments(body))
}

/** Like `parseListBody`, for a write of many items. */
export function parseManyBody({ body }: QueryBody): ReadQuery {
  return withLongLists(parseManyArguments(body))
}

function withLongLists(query: ReadQuery): ReadQuery {
  return { ...query, filter: long(query.filter), deep: mapFilters(query.deep, long) }
}

function long(filter: RawFilter | undefined): RawFilter | undefined {
  return filter && { ...filter, isLong: true }
}

/** Parses `fields` and `deep`, for calls that return the written items. */
export function parseItemArguments(sent: JsonArguments): ReadQuery {
  return asJson(parseItemQuery(toTree(sent)))
}

/** Parses the parameters of new items, such as `conflict`. */
export function parseCreateArguments(sent: JsonArguments): ReadQuery {
  return asJson(parseCreateQuery(toTree(sent)))
}

/** Parses the parameters of writes of many items, such as `max`. */
export function parseManyArguments(sent: JsonArguments): ReadQuery {
  return asJson(parseManyQuery(toTree(sent)))
}

/** Parameters of a query string that may be JSON text. */
const jsonTexts = ['filter', 'sort', 'deep', 'conflict'] as const

/** Wraps `parse`, so that these parameters of the query string may be JSON texts. */
export function withJsonTexts(parse: (tree: BracketTree) => ReadQuery): (tree: BracketTree) => ReadQuery {
  return (sent) => {
    const { tree, named } = readJsonTexts(sent, jsonTexts)
    if (named.length === 0) return parse(tree)
    const query = parse(tree)
    return {
      ...query,
      filter: named.includes('filter') ? jsonForm(query.filter) : query.filter,
      deep: named.includes('deep') ? mapFilters(query.deep, jsonForm) : query.deep,
    }
  }
}

/** `sent` with its JSON texts parsed, and the names of the parsed parameters. */
export function readJsonTexts<Name extends string>(
  sent: BracketTree,
  names: readonly Name[],
): { readonly tree: BracketTree; readonly named: readonly Name[] } {
  const named = names.filter((name) => isJsonText(sent[name]))
  if (named.length === 0) return { tree: sent, named }
  const values = named.map((name) => [name, nodeOf(name, readJsonText(sent[name] as string, name))])
  return { tree: { ...sent, ...Object.fromEntries(values) }, named }
}

/** Filters stay JSON. */
function nodeOf(name: string, value: unknown): BracketNode {
  return name === 'filter' || name === 'having' ? raw(value) : texts(value)
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
    throw queryFault(name, jsonFault(text))
  }
  const excess = hasPrototypeMember(text, value) ? 'must not use the key __proto__' : exceedsLimits(value, queryBounds)
  if (excess !== undefined) throw queryFault(name, excess)
  return value
}

/** Structures that the parser of brackets would refuse with messages about query strings. */
const structures = new Map<string, readonly [isRight: (value: unknown) => boolean, words: string]>([
  ['filter', [isObject, 'must be an object']],
  ['deep', [isObject, 'must be an object']],
  ['sort', [Array.isArray, 'must be a list']],
  ['aggregate', [isObject, 'must be an object']],
  ['group', [Array.isArray, 'must be a list']],
  ['having', [isObject, 'must be an object']],
  ['conflict', [isObject, 'must be an object']],
])

export function toTree(sent: object): BracketTree {
  const given = Object.entries(sent).filter(([, value]) => value !== undefined)
  for (const [name, value] of given) {
    const [isRight, words] = structures.get(name) ?? [() => value !== null, 'must not be null']
    if (!isRight(value)) throw queryFault(name, name === 'sort' ? `${words}${sortHint(value)}` : words)
  }
  return Object.fromEntries(given.map(([name, value]) => [name, nodeOf(name, value)]))
}

/** The JSON form of a shorthand such as `-price`. */
function sortHint(value: unknown): string {
  const terms = shorthandTerms(value).map(({ name, direction }) => ({ [name]: { direction } }))
  return terms.length === 0 ? '' : `, such as ${JSON.stringify(terms)}`
}

/** Converts numbers, such as that of `limit`, to the strings of a query string; filters stay unchanged. */
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

/** The cast is safe, because the parser checks the type of every node before using it. */
function raw(value: unknown): BracketNode {
  return (value === null ? '' : value) as BracketNode
}

function asJson(query: ReadQuery): ReadQuery {
  return { ...query, filter: jsonForm(query.filter), deep: mapFilters(query.deep, jsonForm) }
}

export function jsonForm(filter: RawFilter | undefined): RawFilter | undefined {
  return filter && { form: 'json', value: filter.value }
}

function mapFilters(deep: DeepArguments, change: typeof jsonForm): DeepArguments {
  return new Map(
    [...deep].map(([name, { own, deeper, ...others }]) => [
      name,
      { ...others, own: { ...own, filter: change(own.filter) }, deeper: mapFilters(deeper, change) },
    ]),
  )
}
