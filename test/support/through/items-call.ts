/**
 * A request as the call of the client that sends it. What an address says of items becomes the arguments that a person
 * would write; what no arguments can say (malformed texts, names that stand twice) is asked as it stands.
 */
import { parse } from 'qs'
import type { Call, Client } from '../../../packages/client/src/index.ts'

export type ItemsRequest = {
  readonly method: string
  /** Of the service. */
  readonly origin: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

type Query = Record<string, unknown>

/** Any collection. */
type Items = {
  list(query: Query): Call<unknown>
  get(key: string, query: Query): Call<unknown>
  create(data: unknown, query: Query): Call<unknown>
  upsert(data: unknown, query: Query): Call<unknown>
  update(which: unknown, data: unknown, query?: Query): Call<unknown>
  delete(which: unknown, query: Query): Call<unknown>
  aggregate(query: Query): Call<unknown>
}

/** The call on items that asks the same; undefined where there is none. */
export function itemsCallOf(db: Client<object>, request: ItemsRequest, options: Query): Call<unknown> | undefined {
  const [address = '', text = ''] = request.path.split(/\?(.*)/s)
  const [, kind, name = '', key] = /^\/api\/\w+\/(items|aggregates)\/(\w+)(?:\/(\w[\w-]*))?$/.exec(address) ?? []
  const query = queryOf(text)
  const data = bodyOf(request.body)
  if (kind === undefined || query === undefined || (request.body !== undefined && data === undefined)) return undefined
  const items = (db as Record<string, unknown>)[name] as Items
  const all = { ...query, ...options }
  if (kind === 'aggregates') return request.method === 'GET' && key === undefined ? items.aggregate(all) : undefined
  switch (request.method) {
    case 'GET':
      return key === undefined ? items.list(all) : items.get(key, all)
    case 'POST':
      return key === undefined && Array.isArray(data) ? createCall(items, data, all) : undefined
    case 'PATCH':
      return updateCall(items, key, data, all)
    case 'DELETE':
      return deleteCall(items, key, all)
    default:
      return undefined
  }
}

function createCall(items: Items, data: unknown, { conflict, ...query }: Query): Call<unknown> | undefined {
  if (conflict === undefined) return items.create(data, query)
  const { fields, do: act, ...others } = conflict as Query
  if (typeof fields !== 'string' || act === undefined || Object.keys(others).length > 0) return undefined
  return items.upsert(data, { ...query, on: fields.split(','), do: act })
}

function updateCall(items: Items, key: string | undefined, data: unknown, all: Query): Call<unknown> | undefined {
  if (data === undefined) return undefined
  if (key !== undefined) return items.update(key, data, all)
  if (Array.isArray(data)) return data.every((item) => isObject(item)) ? items.update(data, all) : undefined
  const { filter, max, ...query } = all
  return isObject(filter) ? items.update(searched(filter, max), data, query) : undefined
}

function deleteCall(items: Items, key: string | undefined, all: Query): Call<unknown> | undefined {
  if (key !== undefined) return items.delete(key, all)
  const { filter, max, ...query } = all
  return isObject(filter) ? items.delete(searched(filter, max), query) : undefined
}

const searched = (filter: unknown, max: unknown) => ({ filter, ...(max !== undefined && { max }) })

/** The client asks by QUERY for what is longer. */
const LONGEST_TEXT = 5_000

const isName = (name: string) => /^\w*(\[[^[\]]*\])*$/.test(name)

/** Malformed texts, credentials in addresses, and brackets inside of JSON, where numbers and texts differ. */
const unsupported = /%(?![0-9A-Fa-f]{2})|%00|access_token=|\[_path\]|\[_contains\]\[/

/** The arguments that a query string stands for; undefined where there are none that would be sent as the same. */
function queryOf(text: string): Query | undefined {
  const names = text.split('&').map((part) => part.split('=')[0] ?? '')
  if (new Set(names).size < names.length || !names.every(isName) || unsupported.test(text)) return undefined
  if (text.length > LONGEST_TEXT) return undefined
  const { fields, sort, meta, ...others } = parse(text, { depth: 40, arrayLimit: 20_000, parameterLimit: 20_000 })
  const conditions = Object.entries(others).map(([name, value]) => [name, jsonOr(value)] as const)
  const order = sort === undefined ? undefined : sortOf(jsonOr(sort))
  const isPlain = [fields, meta, others.after, others.before].every(
    (value) => value === undefined || typeof value === 'string',
  )
  if (Object.values(others).some((value) => isObject(value) && holdsJson(value))) return undefined
  if (!isPlain || (sort !== undefined && order === undefined)) return undefined
  return {
    ...Object.fromEntries(conditions),
    ...(fields !== undefined && { fields: String(fields).split(',') }),
    ...(order !== undefined && { sort: order }),
    ...(meta !== undefined && { meta: String(meta).split(',') }),
  }
}

/** Filters and the like may be JSON; in brackets all is text, and what reads as a number or a truth value is one. */
function jsonOr(value: unknown): unknown {
  if (typeof value === 'string' && /^[[{]/.test(value)) return bodyOf(value) ?? value
  return JSON.parse(JSON.stringify(value), (_, text: unknown) => (isLiteral(text) ? JSON.parse(text) : text))
}

/**
 * Whether a text in brackets is JSON that `jsonOr` keeps as a text: a JSON field is compared with what it stands for,
 * any other field with the text, and only the service knows which of them it is.
 */
function holdsJson(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.values(value).some(holdsJson)
  return typeof value === 'string' && !isLiteral(value) && isJson(value)
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

const isLiteral = (text: unknown): text is string =>
  text === 'true' ||
  text === 'false' ||
  (typeof text === 'string' && text !== '' && text === String(Number(text)) && /^[\d.-]+$/.test(text))

/** `[{title: {direction: 'desc', nulls: 'last'}}]` as `[{title: 'desc nulls last'}]`; undefined where a person could not write it. */
function sortOf(sort: unknown): readonly unknown[] | undefined {
  if (!Array.isArray(sort) || !sort.every(isObject)) return undefined
  const items = sort.map(sortItemOf)
  return JSON.stringify(items).includes('null') ? undefined : items
}

function sortItemOf(item: unknown): unknown {
  if (!isObject(item)) return null
  const { direction, nulls, ...others } = item
  if (typeof direction === 'string' && Object.keys(others).length === 0)
    return nulls === undefined ? direction : typeof nulls === 'string' ? `${direction} nulls ${nulls}` : null
  return Object.fromEntries(Object.entries(item).map(([name, below]) => [name, sortItemOf(below)]))
}

/** Undefined where the text is no JSON, or would be written otherwise. */
function bodyOf(text: string | undefined): unknown {
  try {
    const value: unknown = JSON.parse(text ?? '')
    return JSON.stringify(value) === text ? value : undefined
  } catch {
    return undefined
  }
}

const isObject = (value: unknown): value is Query =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
