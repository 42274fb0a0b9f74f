/**
 * Parses the queries of the aggregates route and of `_aggregate` in `deep` (docs/contract.md#aggregates), without knowledge of
 * the model: names stay as sent, and `core/plan/aggregate.ts` resolves them.
 */
import { shortName } from '../message-text.ts'
import { type AggregateFunction, aggregateFunctions } from '../model/vocabulary.ts'
import { didYouMean } from '../nearest.ts'
import { type BracketNode, type BracketTree, parseBrackets } from './brackets.ts'
import {
  parseFilter,
  parseInteger,
  parseMeta,
  parseSort,
  queryFault,
  type RawFilter,
  refuseUnknown,
  type SortEntry,
} from './parse.ts'
import { jsonForm, type QueryBody, readJsonTexts, toTree } from './parse-json.ts'

export const truncationUnits = ['year', 'quarter', 'month', 'week', 'day', 'hour', 'minute'] as const
export type TruncationUnit = (typeof truncationUnits)[number]

/** `field` is `*` for counting rows. */
export type SentAggregate = {
  readonly name: string
  readonly function: AggregateFunction
  readonly field: string
  readonly path: string
}

export type SentGroup = {
  readonly name: string
  /** A dotted path through to-one relations. */
  readonly field: string
  readonly trunc: TruncationUnit | undefined
  readonly zone: string | undefined
  readonly path: string
}

export type AggregateQuery = {
  readonly aggregates: readonly SentAggregate[]
  readonly groups: readonly SentGroup[]
  readonly filter: RawFilter | undefined
  readonly having: RawFilter | undefined
  readonly sort: readonly SortEntry[]
  readonly limit: number | undefined
  readonly offset: number
  readonly totalCount: boolean
}

export type AggregateArguments = {
  readonly aggregate?: unknown
  readonly group?: unknown
  readonly filter?: unknown
  readonly having?: unknown
  readonly sort?: unknown
  readonly limit?: unknown
  readonly offset?: unknown
  readonly meta?: unknown
}

/** The text of a query string, arguments as JSON, or the body of QUERY. */
export type RawAggregateQuery = string | AggregateArguments | QueryBody<AggregateArguments>

const MAX_AGGREGATES = 20
const MAX_GROUPS = 8

const parameters = ['aggregate', 'group', 'filter', 'having', 'sort', 'limit', 'offset', 'meta']
const jsonTexts = ['aggregate', 'group', 'filter', 'having', 'sort'] as const

export function parseAggregateQuery(sent: RawAggregateQuery): AggregateQuery {
  if (typeof sent === 'string') {
    const { tree, named } = readJsonTexts(parseBrackets(sent), jsonTexts)
    const query = parse(tree)
    return {
      ...query,
      filter: named.includes('filter') ? jsonForm(query.filter) : query.filter,
      having: named.includes('having') ? jsonForm(query.having) : query.having,
    }
  }
  const isBody = 'body' in sent
  const query = parse(toTree(isBody ? sent.body : sent))
  const form = (filter: RawFilter | undefined): RawFilter | undefined =>
    filter && { form: 'json', value: filter.value, isLong: isBody }
  return { ...query, filter: form(query.filter), having: form(query.having) }
}

function parse(tree: BracketTree): AggregateQuery {
  refuseUnknown(tree, parameters)
  const aggregates = parseAggregates(tree.aggregate, 'aggregate')
  if (aggregates.some(({ name }) => name === 'group')) {
    throw queryFault('aggregate.group', 'is the name of the member for groups')
  }
  const groups = parseGroups(tree.group)
  if (aggregates.length + groups.length === 0) throw queryFault('aggregate', `must be given${hint('aggregate')}`)
  const names = new Set<string>()
  for (const { name, path } of [...groups, ...aggregates]) {
    if (names.has(name)) throw queryFault(path, `has the name ${shortName(name)} of another; a group is renamed by as`)
    names.add(name)
  }
  return {
    aggregates,
    groups,
    filter: parseFilter(tree.filter, 'filter'),
    having: parseFilter(tree.having, 'having'),
    sort: parseSort(tree.sort, 'sort'),
    limit: parseInteger(tree.limit, 'limit', -1),
    offset: parseInteger(tree.offset, 'offset', 0) ?? 0,
    totalCount: parseMeta(tree.meta, 'meta', ['totalCount']).totalCount,
  }
}

/** `aggregate[revenue][sum]=total`: each name with one function of one field. */
export function parseAggregates(node: BracketNode | undefined, path: string): readonly SentAggregate[] {
  if (node === undefined) return []
  if (!isTree(node)) throw queryFault(path, `must be given in brackets${hint(path)}`)
  const entries = Object.entries(node)
  if (entries.length > MAX_AGGREGATES) throw queryFault(path, `has more than ${MAX_AGGREGATES} aggregates`)
  return entries.map(([name, spec]) => {
    const at = `${path}.${shortName(name)}`
    requireName(name, at)
    const [[called, field] = [], ...others] = isTree(spec) ? Object.entries(spec) : []
    if (called === undefined || others.length > 0) throw queryFault(at, `must name one function${hint(path)}`)
    const place = `${at}.${shortName(called)}`
    const known = aggregateFunctions.find((one) => one === called)
    if (known === undefined) throw queryFault(place, `is not a function${allowed(called, aggregateFunctions)}`)
    if (typeof field !== 'string' || field === '') throw queryFault(place, 'must name one field')
    if (field === '*' && known !== 'count') throw queryFault(place, 'must name one field: only count takes *')
    return { name, function: known, field, path: place }
  })
}

function parseGroups(node: BracketNode | undefined): readonly SentGroup[] {
  if (node === undefined) return []
  if (!Array.isArray(node)) throw queryFault('group', 'must be given as group[0]=field, or as one JSON text')
  if (node.length > MAX_GROUPS) throw queryFault('group', `has more than ${MAX_GROUPS} groups`)
  return node.map((entry: BracketNode, index) => parseGroup(entry, `group[${index}]`))
}

function parseGroup(entry: BracketNode, path: string): SentGroup {
  if (typeof entry === 'string') return { name: entry, field: entry, trunc: undefined, zone: undefined, path }
  const [[field, options] = [], ...others] = isTree(entry) ? Object.entries(entry) : []
  if (field === undefined || others.length > 0) throw queryFault(path, 'must name one field')
  const at = `${path}.${shortName(field)}`
  if (!isTree(options)) throw queryFault(at, `must name options, such as ${path}[${shortName(field)}][trunc]=month`)
  refuseUnknownOptions(options, at)
  const { trunc, zone, as } = options
  const unit = truncationUnits.find((one) => one === trunc)
  if (trunc !== undefined && unit === undefined) {
    throw queryFault(`${at}.trunc`, `must be one of ${truncationUnits.join(', ')}`)
  }
  if (zone !== undefined && (typeof zone !== 'string' || unit === undefined)) {
    throw queryFault(`${at}.zone`, unit === undefined ? 'needs trunc beside it' : 'must be a time zone')
  }
  if (as !== undefined) requireName(as, `${at}.as`)
  return { name: as ?? field, field, trunc: unit, zone, path }
}

const groupOptions = ['trunc', 'zone', 'as']

function refuseUnknownOptions(options: BracketTree, path: string): void {
  const unknown = Object.keys(options).find((name) => !groupOptions.includes(name))
  if (unknown === undefined) return
  throw queryFault(`${path}.${shortName(unknown)}`, `is not an option of group${allowed(unknown, groupOptions)}`)
}

function allowed(name: string, names: readonly string[]): string {
  return didYouMean(name, names) || `; allowed: ${names.join(', ')}`
}

const NAME = /^[A-Za-z][A-Za-z0-9_]{0,62}$/

function requireName(name: BracketNode, path: string): asserts name is string {
  if (typeof name === 'string' && NAME.test(name)) return
  throw queryFault(path, 'must be a name of letters, digits and underscores that begins with a letter')
}

function hint(path: string): string {
  return `, such as ${path}[total][sum]=price or ${path}[items][count]=*`
}

function isTree(node: BracketNode | undefined): node is BracketTree {
  return typeof node === 'object' && !Array.isArray(node)
}
