/** What a read asks for, as it was sent, and how each form of it is read. */
import { type BracketTree, parseBrackets } from './brackets.ts'
import { parseAnswerQuery, parseCreateQuery, parseItemQuery, parseListQuery, parseManyQuery } from './parameters.ts'
import type { ReadQuery } from './parse.ts'
import {
  type JsonArguments,
  parseCreateArguments,
  parseItemArguments,
  parseListArguments,
  parseListBody,
  parseManyArguments,
  type QueryBody,
  withJsonTexts,
} from './parse-json.ts'

/** The text of a query string without its credential, or arguments as JSON. */
export type RawQuery = string | JsonArguments

/** What a list may be asked by. */
export type RawListQuery = RawQuery | QueryBody

/** A text that names the query among all others: no query string has a line break. */
export function textOf(query: string | object): string {
  return typeof query === 'string' ? query : `\n${JSON.stringify(query)}`
}

export function parseList(query: RawListQuery): ReadQuery {
  if (typeof query === 'string') return parseListTree(parseBrackets(query))
  return 'body' in query ? parseListBody(query) : parseListArguments(query)
}

export function parseItem(query: RawQuery): ReadQuery {
  return typeof query === 'string' ? parseItemTree(parseBrackets(query)) : parseItemArguments(query)
}

/** What of an item is answered, where a query says nothing else. */
export function parseAnswer(query: string): ReadQuery {
  return parseAnswerTree(parseBrackets(query))
}

/** Of new items. */
export function parseCreate(query: RawQuery): ReadQuery {
  return typeof query === 'string' ? parseCreateTree(parseBrackets(query)) : parseCreateArguments(query)
}

/** Of a write of all items that match. */
export function parseMany(query: RawQuery): ReadQuery {
  return typeof query === 'string' ? parseManyTree(parseBrackets(query)) : parseManyArguments(query)
}

export const parseListTree: (tree: BracketTree) => ReadQuery = withJsonTexts(parseListQuery)
const parseItemTree = withJsonTexts(parseItemQuery)
const parseManyTree = withJsonTexts(parseManyQuery)
const parseAnswerTree = withJsonTexts(parseAnswerQuery)
const parseCreateTree = withJsonTexts(parseCreateQuery)
