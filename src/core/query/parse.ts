/**
 * The parsed query of items, and the parsing of each parameter from a bracket tree, without knowledge of the model: names and
 * operands stay as sent, and `core/plan` resolves them.
 */
import { nested, type ServiceError } from '../error.ts'
import { QUERY_FAILED, type ServiceErrorCode } from '../error-codes.ts'
import { bracketed, shortName } from '../message-text.ts'
import { didYouMean } from '../nearest.ts'
import type { BracketNode, BracketTree } from './brackets.ts'

/** A filter as sent. Operands of a query string are strings, which are decoded by the types of their fields. */
export type RawFilter = {
  readonly form: 'text' | 'json'
  readonly value: unknown
  /** True if lists of operands may be long, because they come from a body instead of parameters. */
  readonly isLong?: boolean
  /** Set if the filter belongs to a query template. */
  readonly template?: FilterTemplate
}

export type FilterTemplate = {
  /** Returns the index of the template's value that a leaf stands for. */
  readonly indexOf: (leaf: symbol) => number
  /** Returns a leaf's cursor; the queries of a template share only its order and which of its values are null. */
  readonly cursorOf: (leaf: symbol) => Cursor | undefined
  /** Called if a comparison depends on its value, so that each query needs its own plan. */
  refuse(): void
}

export type SortEntry = {
  /** The relations that lead to the field, and the field: `['author', 'name']`. */
  readonly names: readonly string[]
  readonly direction: 'asc' | 'desc'
  readonly nulls: 'first' | 'last' | undefined
}

/** Arguments of one list: of the requested collection, or of a relation in `deep`. */
export type ListArguments = {
  readonly filter: RawFilter | undefined
  readonly sort: readonly SortEntry[]
  /** `undefined` means the default, 0 and -1 the maximum. */
  readonly limit: number | undefined
  readonly offset: number
  /** The cursor after which the page begins, or before which it ends. */
  readonly start: { readonly side: 'after' | 'before'; readonly cursor: CursorSent } | undefined
  /** True if the answer contains the cursors of the adjacent pages. */
  readonly withCursors: boolean
}

export const noArguments: ListArguments = {
  filter: undefined,
  sort: [],
  limit: undefined,
  offset: 0,
  start: undefined,
  withCursors: false,
}

/** The content of a cursor: the digest of its order, and the value of each term of the order. */
export type Cursor = { readonly digest: string; readonly values: readonly unknown[] }

/** A cursor as sent; a symbol stands for a value of a template. */
export type CursorSent = { readonly sent: string | symbol; readonly template?: FilterTemplate }

/** Arguments of relations, keyed by relation name. */
export type DeepArguments = ReadonlyMap<string, RelationArguments>

export type RelationArguments = {
  readonly own: ListArguments
  readonly deeper: DeepArguments
  readonly path: string
  /** As sent, because its parser is loaded late (decision 077). */
  readonly aggregate: BracketNode | undefined
}

export type ReadQuery = ListArguments & {
  /** Dotted paths without duplicates; `undefined` if not sent. */
  readonly fields: readonly string[] | undefined
  readonly deep: DeepArguments
  readonly totalCount: boolean
  /** True if the answer contains an estimated number of items. */
  readonly totalEstimate: boolean
  /** The maximum number of items that a write of many may change; `undefined` if not sent. */
  readonly max: number | undefined
  /** How to find an existing item in place of a new one; `undefined` if not sent. */
  readonly conflict: Conflict | undefined
}

/** The fields of a unique index, and what to do with an existing item. */
export type Conflict = { readonly fields: readonly string[]; readonly do: 'update' | 'ignore' }

export const MAX_SELECTED_FIELDS = 200
/** Maximum number of relations in a path of `fields`, a filter or a nested write. */
export const MAX_RELATION_DEPTH = 8
const MAX_SORTED_FIELDS = 200

/** An error of an item query: `Failed to execute query` > path (`body` if empty) > reason (docs/contract.md#errors). */
export function queryFault(path: string, reason: string, code: ServiceErrorCode = '4009'): ServiceError {
  return nested('invalid', [QUERY_FAILED, path === '' ? 'body' : path, reason], { code })
}

/** Marks the query's outer filter and its cursor as those of a template. */
export function withTemplate(query: ReadQuery, template: FilterTemplate): ReadQuery {
  const { filter, start } = query
  return {
    ...query,
    filter: filter && { ...filter, template },
    start: start && { ...start, cursor: { ...start.cursor, template } },
  }
}

/** Refuses `totalEstimate` for anything but a list of items. */
export function refuseEstimate({ totalEstimate }: Pick<ReadQuery, 'totalEstimate'>): void {
  if (totalEstimate) throw queryFault('meta', 'totalEstimate is told of a list of items alone')
}

export function refuseUnknown(tree: BracketTree, known: readonly string[]): void {
  for (const name of Object.keys(tree)) requireKnown(name, known)
}

/** Throws 422 for a parameter that the route does not accept. */
export function requireKnown(name: string, known: readonly string[]): void {
  if (known.includes(name)) return
  const hint = didYouMean(name, known) || `; allowed: ${known.join(', ') || 'none'}`
  throw queryFault(shortName(name), `is not a parameter of this route${hint}`)
}

export function parseFields(node: BracketNode | undefined): readonly string[] | undefined {
  if (node === undefined) return undefined
  const texts = typeof node === 'string' ? [node] : node
  if (!isList(texts)) throw queryFault('fields', 'must be a comma-separated list of field names')
  const paths = new Set<string>()
  for (const text of texts) {
    if (typeof text !== 'string') throw queryFault('fields', 'must be a comma-separated list of field names')
    for (const fieldPath of text.split(',')) {
      if (fieldPath === '') continue
      refuseLongPath(fieldPath, `fields.${shortName(fieldPath)}`)
      paths.add(fieldPath)
      if (paths.size > MAX_SELECTED_FIELDS) throw queryFault('fields', `names more than ${MAX_SELECTED_FIELDS} fields`)
    }
  }
  if (paths.size === 0) throw queryFault('fields', 'Empty selection', '4010')
  return [...paths]
}

/** Checked before splitting: the result is nested as deep as the path has names. */
export function refuseLongPath(fieldPath: string, path: string): void {
  let relations = 0
  for (let dot = fieldPath.indexOf('.'); dot >= 0; dot = fieldPath.indexOf('.', dot + 1)) {
    relations++
    if (relations > MAX_RELATION_DEPTH) throw tooManyRelations(path)
  }
}

export function tooManyRelations(path: string): ServiceError {
  return queryFault(path, `relations are nested deeper than ${MAX_RELATION_DEPTH}`)
}

export function parseFilter(node: BracketNode | undefined, path: string): RawFilter | undefined {
  if (node === undefined) return undefined
  if (typeof node !== 'object' || isList(node)) {
    throw queryFault(path, `must be given in brackets, such as ${bracketed(path)}[title][_eq]=text${jsonToo(path)}`)
  }
  return { form: 'text', value: node }
}

export function parseConflict(node: BracketNode | undefined): Conflict | undefined {
  if (node === undefined) return undefined
  if (typeof node !== 'object' || isList(node)) {
    throw queryFault('conflict', 'must be given as conflict[fields]=email&conflict[do]=update, or as one JSON text')
  }
  const { fields, do: action, ...others } = node
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) throw queryFault(`conflict.${shortName(unknown)}`, 'is unknown; allowed: fields, do')
  const texts = typeof fields === 'string' ? fields.split(',') : fields
  const names = Array.isArray(texts) ? texts.filter((name) => typeof name === 'string' && name !== '') : []
  if (!Array.isArray(texts) || names.length !== texts.length || new Set(names).size !== names.length) {
    throw queryFault('conflict.fields', 'must be a comma-separated list of different field names')
  }
  if (action !== 'update' && action !== 'ignore') throw queryFault('conflict.do', 'must be update or ignore')
  return { fields: names, do: action }
}

export function parseSort(node: BracketNode | undefined, path: string): readonly SortEntry[] {
  if (node === undefined) return []
  if (!isList(node)) throw queryFault(path, sortHint(path, node))
  if (node.length > MAX_SORTED_FIELDS) throw queryFault(path, `names more than ${MAX_SORTED_FIELDS} fields`)
  return node.map((entry, index) => parseSortEntry(entry, `${path}[${index}]`, path))
}

function parseSortEntry(entry: BracketNode, path: string, parameter: string): SortEntry {
  if (typeof entry !== 'object' || isList(entry)) throw queryFault(path, sortHint(parameter, entry))
  const [[field, options] = [], ...others] = Object.entries(entry)
  if (field === undefined || others.length > 0) throw queryFault(path, 'must name one field')
  const at = `${path}.${shortName(field)}`
  if (typeof options !== 'object' || isList(options)) throw queryFault(at, sortHint(parameter))
  refuseLongPath(field, at)
  const names = field.split('.')
  // Options are strings, so an object in brackets names a field of the related item.
  const isPath = Object.values(options).some((value) => typeof value === 'object' && !isList(value))
  if (!isPath) return { names, ...sortOptions(options, at) }
  const inner = parseSortEntry(options, at, parameter)
  if (names.length + inner.names.length > MAX_RELATION_DEPTH + 1) throw tooManyRelations(at)
  return { ...inner, names: [...names, ...inner.names] }
}

function sortOptions(options: BracketTree, path: string): Omit<SortEntry, 'names'> {
  let direction: SortEntry['direction'] = 'asc'
  let nulls: SortEntry['nulls']
  for (const [name, value] of Object.entries(options)) {
    const at = `${path}.${shortName(name)}`
    if (name === 'direction') {
      if (value !== 'asc' && value !== 'desc') throw queryFault(at, 'must be asc or desc')
      direction = value
    } else if (name === 'nulls') {
      if (value !== 'first' && value !== 'last') throw queryFault(at, 'must be first or last')
      nulls = value
    } else throw queryFault(at, 'is not an option of sort; allowed: direction, nulls')
  }
  return { direction, nulls }
}

function sortHint(parameter: string, sent?: unknown): string {
  const terms = shorthandTerms(sent)
  const shown = terms.length === 0 ? [{ name: 'field', direction: 'asc' }] : terms
  const texts = shown.map(
    ({ name, direction }, index) => `${bracketed(parameter)}[${index}][${name}][direction]=${direction}`,
  )
  return `must be given as ${texts.join('&')}${jsonToo(parameter)}`
}

/** Parses the shorthand `-price,name`, in which a minus sorts descending, for error messages; empty for anything else. */
export function shorthandTerms(sent: unknown): readonly { readonly name: string; readonly direction: string }[] {
  if (typeof sent !== 'string' || !/^-?\w+(\.\w+)*(,-?\w+(\.\w+)*)*$/.test(sent)) return []
  return sent
    .split(',', 3)
    .map((term) => ({ name: shortName(term.replace('-', '')), direction: term.startsWith('-') ? 'desc' : 'asc' }))
}

/** `deep` may be a JSON text only as a whole. */
function jsonToo(parameter: string): string {
  return parameter.includes('.') ? '' : ', or as one JSON text'
}

export function parseInteger(node: BracketNode | undefined, path: string, least: number): number | undefined {
  if (node === undefined) return undefined
  if (typeof node !== 'string' || !/^-?[0-9]{1,15}$/.test(node)) throw queryFault(path, 'must be an integer')
  const value = Number(node)
  if (value < least) throw queryFault(path, `must be at least ${least}`)
  return value
}

/** `path` is the prefix of a parameter's path, and `own` the prefix of its name: `_` or nothing. */
export function parseStart(tree: BracketTree, path: string, own = ''): ListArguments['start'] {
  const [after, before] = [tree[`${own}after`], tree[`${own}before`]]
  const side = after === undefined ? 'before' : 'after'
  const sent = after ?? before
  if (sent === undefined) return undefined
  if (typeof sent === 'object' || sent === '') throw queryFault(`${path}${side}`, 'must be a cursor')
  if (after !== undefined && before !== undefined) throw queryFault(`${path}before`, `must not stand beside after`)
  if (tree[`${own}offset`] !== undefined) throw queryFault(`${path}offset`, `must not stand beside ${side}`)
  return { side, cursor: { sent } }
}

export function parseMeta(
  node: BracketNode | undefined,
  path: string,
  known: readonly string[],
): { readonly totalCount: boolean; readonly totalEstimate: boolean; readonly withCursors: boolean } {
  const sent = node === undefined ? [] : isList(node) ? node : typeof node === 'string' ? node.split(',') : [node]
  if (sent.includes('etag')) throw queryFault(path, 'etag is told of a list of items alone')
  if (sent.some((name) => typeof name !== 'string' || !known.includes(name))) {
    throw queryFault(path, `must be ${known.join(' or ')}${known.length > 1 ? ', or several with commas between' : ''}`)
  }
  return {
    totalCount: sent.includes('totalCount'),
    totalEstimate: sent.includes('totalEstimate'),
    withCursors: sent.includes('cursor'),
  }
}

export function isList(node: BracketNode): node is readonly BracketNode[] {
  return Array.isArray(node)
}
