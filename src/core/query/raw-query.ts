/** What a read asks for, as it was sent, and how each form of it is read. */
import { type BracketTree, parseBrackets } from './brackets.ts'
import { parseItemQuery, parseListQuery, type ReadQuery } from './parse.ts'
import { type JsonArguments, parseItemArguments, parseListArguments, withJsonTexts } from './parse-json.ts'

/** The text of a query string without its credential, or arguments as JSON. */
export type RawQuery = string | JsonArguments

/** A text that names the query among all others: no query string has a line break. */
export function textOf(query: RawQuery): string {
  return typeof query === 'string' ? query : `\n${JSON.stringify(query)}`
}

export function parseList(query: RawQuery): ReadQuery {
  return typeof query === 'string' ? parseListTree(parseBrackets(query)) : parseListArguments(query)
}

export function parseItem(query: RawQuery): ReadQuery {
  return typeof query === 'string' ? parseItemTree(parseBrackets(query)) : parseItemArguments(query)
}

export const parseListTree: (tree: BracketTree) => ReadQuery = withJsonTexts(parseListQuery)
const parseItemTree = withJsonTexts(parseItemQuery)
