/** The request of a screen, as it would be sent now, and the address that it goes to. */
import { pathTo, quotedParts } from '../../app/router.ts'
import type { CollectionModel } from '../grid/model.ts'
import { fieldsOf, queryOf, type View } from '../grid/request.ts'
import type { Row } from '../grid/values.ts'

export type CodeRequest = ItemsRequest | ReadRequest

export type ItemsRequest = {
  readonly workspace: string
  readonly collection: string
  readonly method: 'GET' | 'POST' | 'PATCH'
  /** Whether it is of groups of items. */
  readonly isAggregate?: true
  /** Of one item, by the names of its key; absent for many, and for a new one. */
  readonly key?: Readonly<Record<string, unknown>>
  /** As the API takes it. */
  readonly query: Readonly<Record<string, unknown>>
  /** What is written. */
  readonly data?: object
  /** The tag that the item must still have. */
  readonly etag?: string
}

/** Of what is no item. */
export type ReadRequest = {
  /** Undefined of the whole instance. */
  readonly workspace: string | undefined
  /** Below `/api`. */
  readonly path: string
  readonly query: Readonly<Record<string, unknown>>
  /** The same by the typed client: the function of its module `system`, and the members below. */
  readonly call: readonly [of: 'system' | 'workspace' | 'schema', name: string]
}

/** No single quote is left in it, so that it may stand between two of them. */
export function addressOf(request: CodeRequest): string {
  const texts = Object.entries(request.query).flatMap(([name, value]) =>
    'collection' in request
      ? [[name, typeof value === 'object' ? JSON.stringify(value) : String(value)]]
      : inBrackets(name, value),
  )
  const path = `/api${'collection' in request ? itemsPath(request) : request.path}`.replaceAll("'", '%27')
  // A comma needs no escape there, and lists of fields are read.
  const query = new URLSearchParams(texts).toString().replaceAll('%2C', ',')
  return `${location.origin}${path}${texts.length > 0 ? `?${query}` : ''}`
}

/** Lists of what is no item take no JSON texts. */
function inBrackets(name: string, value: unknown): readonly string[][] {
  if (typeof value !== 'object' || value === null) return [[name, String(value)]]
  return Object.entries(value).flatMap(([key, below]) => inBrackets(`${name}[${key}]`, below))
}

function itemsPath({ workspace, collection, key, isAggregate }: ItemsRequest): string {
  const item = key === undefined ? '' : `/${quotedParts(Object.values(key)).map(encodeURIComponent).join()}`
  return pathTo(workspace, isAggregate ? 'aggregates' : 'items', collection) + item
}

/** What is sent, as JSON without a single quote; undefined where nothing is. New items are sent as a list. */
export function bodyOf(request: CodeRequest): string | undefined {
  if (!('collection' in request)) return undefined
  const { method, data } = request
  return data && JSON.stringify(method === 'POST' ? [data] : data, null, 2).replaceAll("'", '\\u0027')
}

export function agentAddress(workspace: string): string {
  return `${location.origin}/api${pathTo(workspace, 'mcp')}`
}

const LIMIT = 100

/** The first rows of a view. */
export function listRequest(workspace: string, model: CollectionModel, view: View): ItemsRequest {
  return { workspace, collection: model.name, method: 'GET', query: { ...queryOf(model, view), limit: LIMIT } }
}

/** An item as it is read, or what was typed of it as it would be saved. */
export function itemRequest(workspace: string, model: CollectionModel, row: Row, typed: Row): ItemsRequest {
  const key = Object.fromEntries(model.key.map((name) => [name, row[name]]))
  const of = { workspace, collection: model.name, key }
  if (Object.keys(typed).length === 0) return { ...of, method: 'GET', query: { fields: fieldsOf(model).join() } }
  return { ...of, method: 'PATCH', query: {}, data: typed, etag: String(row._etag) }
}
