/** The calls on the items of one collection, as requests and as operations of a batch. */
import { type Call, createCall } from './call.ts'
import type { Answer, Options, Outgoing, Sender } from './send.ts'
import { jsonOf, keyPath, parametersOf, queryString } from './wire.ts'

/** A longer address is sent as QUERY, with its query as a body. */
const LONGEST_ADDRESS = 6_000

type Query = Options & { readonly [name: string]: unknown }

/** What a call asks. Without `key` it is about many items, but for a create of one, `isOne`. */
export type ItemRequest = {
  readonly kind: keyof typeof methods
  readonly collection: string
  readonly key?: unknown
  readonly isOne?: boolean
  readonly query: Query
  readonly data?: unknown
}

const methods = {
  create: 'POST',
  upsert: 'POST',
  update: 'PATCH',
  delete: 'DELETE',
  read: 'GET',
  aggregate: 'GET',
} as const

type ItemsDeps = { readonly collection: string; readonly base: string; readonly send: Sender }

/** `base` is the address of the workspace. */
export function createItems({ collection, base, send }: ItemsDeps): object {
  const call = (kind: ItemRequest['kind'], parts: Omit<ItemRequest, 'kind' | 'collection'>): Call<unknown> => {
    const request = { kind, collection, ...parts }
    const prefix = request.isOne ? '[0].' : 'key' in request ? '.' : ''
    return createCall(async () => itemsOf(request, await send(requestOf(base, request))), { request, prefix })
  }
  /** One item by its key, or those that a filter finds. */
  const change = (kind: ItemRequest['kind'], which: unknown, query: Query, data?: unknown) =>
    call(kind, { ...(isSearch(which) ? { query: { ...query, ...which } } : { key: which, query }), data })

  const create = (kind: 'create' | 'upsert', data: unknown, query: Query) =>
    Array.isArray(data) ? call(kind, { data, query }) : call(kind, { data: [data], query, isOne: true })
  async function* pages({ after, ...query }: Query = {}) {
    let next = after
    while (next !== null) {
      const result = (await call('read', { query: { ...query, after: next, meta: 'cursor' } })) as Answer
      const data = result.orThrow() as unknown[]
      // Without one it would begin again.
      next = (result as { meta: { next?: string | null } }).meta.next ?? null
      yield { data, next }
    }
  }

  return {
    list: (query: Query = {}) => call('read', { query }),
    get: (key: unknown, query: Query = {}) => call('read', { key, query }),
    create: (data: unknown, query: Query = {}) => create('create', data, query),
    upsert: (data: unknown, { on, do: act = 'update', ...query }: Query) =>
      create('upsert', data, { ...query, 'conflict[fields]': String(on), 'conflict[do]': act }),
    update: (which: unknown, data: unknown, query: Query = {}) =>
      isList(which)
        ? call('update', { data: which, query: (data ?? {}) as Query })
        : change('update', which, query, data),
    delete: (which: unknown, query: Query = {}) => change('delete', which, query),
    aggregate: (query: Query) => call('aggregate', { query }),
    pages,
    async *each(query?: Query) {
      for await (const { data } of pages(query)) yield* data
    },
  }
}

/** Items, and not the values of a key of several fields. */
const isList = (which: unknown) => Array.isArray(which) && which.every(isSearch)

/** References to other calls can be written as JSON; searches cannot. */
const isSearch = (which: unknown): which is object =>
  typeof which === 'object' && which !== null && !Array.isArray(which) && !('toJSON' in which)

function requestOf(base: string, request: ItemRequest): Outgoing {
  const { kind, collection, data } = request
  const { options, parameters } = split(request.query)
  const method = methods[kind]
  const path = `${kind === 'aggregate' ? 'aggregates' : 'items'}/${encodeURIComponent(collection)}`
  const address = `${base}${path}${'key' in request ? `/${keyPath(request.key)}` : ''}`
  const url = address + queryString(parameters)
  if (method === 'GET' && !('key' in request) && url.length > LONGEST_ADDRESS)
    return { method: 'QUERY', url: address, options, body: jsonOf(parameters) }
  return { method, url, options, ...(data !== undefined && { body: jsonOf(data) }) }
}

/** What is of the request and not of the question. Names that nobody knows are of the question, so the service refuses them. */
export function split(query: Query): {
  readonly options: Options
  readonly parameters: Readonly<Record<string, unknown>>
} {
  const { signal, headers, fetch, timeout, ifMatch, ifNoneMatch, idempotencyKey, ...rest } = query
  const options = { signal, headers, fetch, timeout, ifMatch, ifNoneMatch, idempotencyKey } as Options
  return { options, parameters: parametersOf(rest) }
}

/** What lies under `data`, and `meta` beside it. */
export function itemsOf({ isOne }: Pick<ItemRequest, 'isOne'>, answer: Answer): Answer {
  if (!answer.ok) return answer
  const { data: items, meta } = (answer.data ?? {}) as { data?: unknown; meta?: unknown }
  const data = isOne ? (items as unknown[] | undefined)?.[0] : (items ?? undefined)
  return { ...answer, data, ...(meta !== undefined && meta !== null && { meta }), orThrow: () => data }
}

/** What lies under `data` of the answer. */
export function under<T>(call: Call<unknown>): Call<T> {
  return createCall(async () => itemsOf({}, (await call) as Answer) as Awaited<Call<T>>)
}
