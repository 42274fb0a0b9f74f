/** What a grid asks: one description, for the request that is sent and for the code that is shown of it. */
import { relationColumnId, SOME } from './columns.ts'
import { type Layout, layoutIn } from './layouts.ts'
import type { CollectionModel, FieldModel, ToOne } from './model.ts'
import { parse } from './values.ts'

export type Condition = {
  /** Names from the collection to the field, relations before it. */
  readonly path: readonly string[]
  readonly operator: string
  /** As they were typed; as many as the operator takes. */
  readonly operands: readonly string[]
}

export type SortBy = { readonly path: readonly string[]; readonly direction: 'asc' | 'desc' }

/** What of the address a grid reads: `?sort=-title&filter={…}&columns=…&layout=calendar.day&month=2026-01&view=…`. */
export type View = {
  readonly sort: SortBy | undefined
  readonly filter: object | undefined
  /** Ids of the columns that are shown, in their order; undefined for all in that of the model. */
  readonly columns?: readonly string[] | undefined
  /** Undefined for a table. */
  readonly layout?: Layout | undefined
  /** That of a calendar; undefined for the one with the item that is nearest to today. */
  readonly month?: string | undefined
  /** The id of the saved view that it began with. */
  readonly saved?: string | undefined
}

export function viewOf(parameters: URLSearchParams): View {
  const sort = parameters.get('sort') ?? ''
  const path = sort.replace(/^-/, '').split('.').filter(Boolean)
  return {
    sort: path.length === 0 ? undefined : { path, direction: sort.startsWith('-') ? 'desc' : 'asc' },
    filter: objectOf(parameters.get('filter')),
    columns: parameters.get('columns')?.split(',').filter(Boolean),
    layout: layoutIn(...((parameters.get('layout') ?? '').split(/\.(.*)/) as [string, string])),
    month: /^\d{4}-(0[1-9]|1[0-2])$/.exec(parameters.get('month') ?? '')?.[0],
    saved: parameters.get('view') ?? undefined,
  }
}

function objectOf(text: string | null): object | undefined {
  try {
    const value: unknown = JSON.parse(text ?? 'null')
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** The query string of a view, with its `?`. */
export function searchOf({ sort, filter, columns, layout, month, saved }: View): string {
  const parameters = new URLSearchParams()
  if (sort !== undefined) parameters.set('sort', (sort.direction === 'desc' ? '-' : '') + sort.path.join('.'))
  if (filter !== undefined && Object.keys(filter).length > 0) parameters.set('filter', JSON.stringify(filter))
  if (columns !== undefined) parameters.set('columns', columns.join())
  if (layout !== undefined) parameters.set('layout', `${layout.kind}.${layout.field}`)
  if (layout !== undefined && month !== undefined) parameters.set('month', month)
  if (saved !== undefined) parameters.set('view', saved)
  return parameters.size > 0 ? `?${parameters}` : ''
}

/** All that is shown of a row, in one request; with it what names the row and what a choice of another item sets. */
export function fieldsOf({ key, toOne, fields }: CollectionModel, columns?: View['columns']): readonly string[] {
  const tag = key.length > 0 ? ['_etag'] : []
  const isShown = (id: string) => columns?.includes(id) ?? true
  const relations = toOne.filter((relation) => isShown(relationColumnId(relation)))
  const own = fields.filter(({ name }) => isShown(name) || relations.some(({ by }) => by.includes(name)))
  const isAll = columns === undefined || own.length + relations.length === 0
  const shownBy = ({ name, display }: ToOne) => display.shows.map((field) => `${name}.${field}`)
  if (isAll) return ['*', ...tag, ...toOne.flatMap(shownBy)]
  return [...new Set([...key, ...own.map(({ name }) => name)]), ...tag, ...relations.flatMap(shownBy)]
}

export type ListQuery = Readonly<Record<string, unknown>>

export function queryOf(model: CollectionModel, view: View): ListQuery {
  // Columns are those of a table.
  const columns = view.layout === undefined ? view.columns : undefined
  return { fields: fieldsOf(model, columns).join(), ...savedQuery(view) }
}

/** What a saved view has of it, as the API takes it. */
export function savedQuery({ sort, filter }: View): ListQuery {
  return {
    ...(filter !== undefined && { filter }),
    ...(sort !== undefined && { sort: [nest(sort.path, { direction: sort.direction })] }),
  }
}

/** How a saved view shows it. */
export function savedLayout({ columns, layout }: View): SavedLayout | null {
  if (columns === undefined && layout === undefined) return null
  return { ...(columns !== undefined && { columns }), ...layout }
}

type SavedLayout = { readonly columns?: readonly string[] } & Partial<Layout>

type SavedQuery = { readonly filter?: unknown; readonly sort?: unknown }

/** The view of a saved query. Of several sorts it is the first; what a grid does not show is left out. */
export function viewIn(query: SavedQuery, layout?: { readonly [member: string]: unknown } | null): View {
  const path: string[] = []
  let at: unknown = Array.isArray(query.sort) ? query.sort[0] : undefined
  while (typeof at === 'object' && at !== null && !('direction' in at)) {
    const [entry] = Object.entries(at)
    path.push(entry?.[0] ?? '')
    at = entry?.[1]
  }
  const direction = (at as { readonly direction?: unknown } | undefined)?.direction === 'desc' ? 'desc' : 'asc'
  return {
    sort: path.length === 0 || at === undefined ? undefined : { path, direction },
    filter: objectOf(JSON.stringify(query.filter ?? null)),
    columns: Array.isArray(layout?.columns) ? layout.columns.map(String) : undefined,
    layout: layoutIn(layout?.kind, layout?.field),
  }
}

function nest(path: readonly string[], leaf: unknown): unknown {
  return path.reduceRight((inner, name) => ({ [name]: inner }), leaf)
}

/** Operators with two operands, with a list of them, and with yes or no. */
export function operandsOf(operator: string): 'one' | 'two' | 'list' | 'boolean' {
  if (['_between', '_nbetween'].includes(operator)) return 'two'
  if (['_in', '_nin', '_has_any', '_has_all'].includes(operator)) return 'list'
  return ['_null', '_empty'].includes(operator) ? 'boolean' : 'one'
}

/** The operators of a field that the builder offers; those at a path within JSON are for requests that are written by hand. */
export function offeredOperators({ operators, type, isList }: FieldModel): readonly string[] {
  const isJson = type === 'json' && !isList
  const ofJson = ['_eq', '_neq', '_contains', '_has_key', '_null']
  return operators.filter((name) => name !== '_path' && (!isJson || ofJson.includes(name)))
}

/** Whether all conditions of a filter must hold, or one of them. */
export type Match = 'all' | 'any'

/** The filter of conditions, or the place of the one that cannot be read. */
export function filterOf(
  conditions: readonly (Condition & { readonly field: FieldModel })[],
  match: Match,
): { readonly filter: object | undefined } | { readonly wrong: number } {
  const all: unknown[] = []
  for (const [index, { path, operator, operands, field }] of conditions.entries()) {
    const operand = operandOf(field, operator, operands)
    if (operand === undefined) return { wrong: index }
    all.push(nest(path, { [operator]: operand.value }))
  }
  if (all.length < 2) return { filter: all[0] as object | undefined }
  return { filter: match === 'all' ? { _and: all } : { _or: all } }
}

function operandOf(
  field: FieldModel,
  operator: string,
  operands: readonly string[],
): { readonly value: unknown } | undefined {
  const kind = operandsOf(operator)
  const [first = ''] = operands
  if (kind === 'boolean') return { value: first !== 'false' }
  // Parts of a text, and names of members, are no values of the field.
  const isPart = /contains|_with$|_has_key/.test(operator) && field.type !== 'json'
  if (isPart || operator === '_has_key') return { value: first }
  const one = { ...field, isList: field.isList && !operator.startsWith('_has'), isNullable: false }
  const texts = kind === 'list' ? first.split(',').map((text) => text.trim()) : operands
  const parsed = texts.map((text) => parse(one, text))
  const values = parsed.flatMap((result) => ('value' in result ? [result.value] : []))
  if (values.length !== parsed.length || (kind === 'two' && values.length !== 2)) return undefined
  return { value: kind === 'one' ? values[0] : values }
}

export type Conditions = { readonly match: Match; readonly conditions: readonly Condition[] }

/** What a filter says, where the builder can say it; undefined for any other. */
export function conditionsOf(filter: object | undefined): Conditions | undefined {
  const entries = Object.entries(filter ?? {})
  const [[name, list] = []] = entries
  const isList = entries.length === 1 && (name === '_and' || name === '_or') && Array.isArray(list)
  const match = isList && name === '_or' ? 'any' : 'all'
  const parts: readonly unknown[] = isList ? list : entries.map((entry) => Object.fromEntries([entry]))
  const found = parts.map(conditionsIn)
  if (found.some((one) => one === undefined || (match === 'any' && one.length !== 1))) return undefined
  return { match, conditions: found.flatMap((one) => one ?? []) }
}

/** Several operators of one field must all hold; of what several items may have they are of the same one, as no two conditions are. */
function conditionsIn(filter: unknown): readonly Condition[] | undefined {
  const path: string[] = []
  let at = filter
  for (;;) {
    if (typeof at !== 'object' || at === null || Array.isArray(at)) return undefined
    const entries = Object.entries(at)
    const isOperator = ([name]: readonly [string, unknown]) => name.startsWith('_') && name !== SOME
    if (path.length > 0 && entries.length > 0 && entries.every(isOperator)) {
      if (entries.length > 1 && path.includes(SOME)) return undefined
      return entries.map(([operator, operand]) => ({ path, operator, operands: typed(operator, operand) }))
    }
    const [entry, ...others] = entries
    if (entry === undefined || others.length > 0 || isOperator(entry)) return undefined
    path.push(entry[0])
    at = entry[1]
  }
}

function typed(operator: string, operand: unknown): readonly string[] {
  const text = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))
  if (!Array.isArray(operand) || operandsOf(operator) === 'one') return [text(operand)]
  return operandsOf(operator) === 'list' ? [operand.map(text).join(', ')] : operand.map(text)
}
