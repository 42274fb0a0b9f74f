/** The parameters that each route accepts, and their parsing from its bracket tree (docs/contract.md#items). */
import type { BracketTree } from './brackets.ts'
import { parseDeep } from './deep.ts'
import {
  parseConflict,
  parseFields,
  parseFilter,
  parseInteger,
  parseMeta,
  parseSort,
  parseStart,
  queryFault,
  type ReadQuery,
  refuseUnknown,
} from './parse.ts'

const readParameters = ['fields', 'filter', 'sort', 'limit', 'offset', 'after', 'before', 'meta', 'deep']
const oneParameters = ['fields', 'filter', 'deep']
const manyParameters = [...oneParameters, 'max']
const answerParameters = ['fields', 'deep']
const createParameters = [...answerParameters, 'conflict']

export const parseListQuery = taking(readParameters)

/** For routes that return the items they read, wrote or deleted, without paging. */
export const parseItemQuery = taking(oneParameters)

/** For queries that only select the answer. */
export const parseAnswerQuery = taking(answerParameters)

/** For new items. */
export const parseCreateQuery = taking(createParameters)

/** For writes of all items that match a filter. */
export const parseManyQuery = taking(manyParameters)

/** Parses a query with these parameters; throws 422 for any other. */
function taking(names: readonly string[]): (tree: BracketTree) => ReadQuery {
  return (tree) => {
    refuseUnknown(tree, names)
    return parseQuery(tree)
  }
}

/** Parses a query string with one parameter, `name=true` or `name=false`; returns `absent` without it. */
export function parseFlag(tree: BracketTree, name: string, absent: boolean): boolean {
  refuseUnknown(tree, [name])
  const { [name]: flag = `${absent}` } = tree
  if (flag !== 'true' && flag !== 'false') throw queryFault(name, 'must be true or false')
  return flag === 'true'
}

/** The requested part of the manifest: the names in `collections=a,b`, or `usable=true`; undefined for the whole. */
export function parseManifestPart(tree: BracketTree): readonly string[] | 'usable' | undefined {
  refuseUnknown(tree, ['collections', 'usable'])
  const { collections, usable = 'false' } = tree
  if (usable !== 'false' && usable !== 'true') throw queryFault('usable', 'must be true or false')
  if (collections === undefined) return usable === 'true' ? 'usable' : undefined
  if (usable === 'true') throw queryFault('usable', 'must not be sent together with collections')
  const names = typeof collections === 'string' ? collections.split(',') : []
  if (names.length === 0 || names.includes('')) {
    throw queryFault('collections', 'must be a comma-separated list of names')
  }
  return names
}

function parseQuery(tree: BracketTree): ReadQuery {
  return {
    fields: parseFields(tree.fields),
    filter: parseFilter(tree.filter, 'filter'),
    sort: parseSort(tree.sort, 'sort'),
    limit: parseInteger(tree.limit, 'limit', -1),
    offset: parseInteger(tree.offset, 'offset', 0) ?? 0,
    start: parseStart(tree, ''),
    ...parseMeta(tree.meta, 'meta', ['totalCount', 'totalEstimate', 'cursor']),
    deep: parseDeep(tree.deep, 'deep'),
    max: parseInteger(tree.max, 'max', 1),
    conflict: parseConflict(tree.conflict),
  }
}
