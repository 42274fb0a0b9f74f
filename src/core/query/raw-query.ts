/** The query of a read as sent, and the parsers for its forms. */
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

/** The forms of a list's query. */
export type RawListQuery = RawQuery | QueryBody

/** A string that identifies the query: JSON arguments begin with a line break, which no query string has. */
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

/** Parses a query that only selects the answer. */
export function parseAnswer(query: string): ReadQuery {
  return parseAnswerTree(parseBrackets(query))
}

/** Parses the query of new items. */
export function parseCreate(query: RawQuery): ReadQuery {
  return typeof query === 'string' ? parseCreateTree(parseBrackets(query)) : parseCreateArguments(query)
}

/** Parses the query of a write of all matching items. */
export function parseMany(query: RawQuery): ReadQuery {
  return typeof query === 'string' ? parseManyTree(parseBrackets(query)) : parseManyArguments(query)
}

export const parseListTree: (tree: BracketTree) => ReadQuery = withJsonTexts(parseListQuery)
const parseItemTree = withJsonTexts(parseItemQuery)
const parseManyTree = withJsonTexts(parseManyQuery)
const parseAnswerTree = withJsonTexts(parseAnswerQuery)
const parseCreateTree = withJsonTexts(parseCreateQuery)
