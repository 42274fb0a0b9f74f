/** The client: its collections by name, and what is no collection below names with `$`. */
import { type Account, createAccount } from './account.ts'
import { createBatch } from './batch.ts'
import { type Call, createCall, type Data } from './call.ts'
import type { Collection } from './collection.ts'
import { createItems } from './items.ts'
import { type ClientOptions, createSender, type Options } from './send.ts'
import { jsonOf, queryString } from './wire.ts'

export type Client<S> = { readonly [C in keyof S & string]: Collection<S, C> } & {
  /** Calls on items as one: all are done, in their order, or none. */
  $batch<const A extends readonly Call<unknown, unknown>[]>(
    calls: A,
    options?: Options,
  ): Call<{ -readonly [I in keyof A]: Data<A[I]> }>
  /** Anything else: a path below `/api/{workspace}/`, or from `/`. Answers the body as it is. */
  $request<T = unknown>(method: string, path: string, options?: RequestOptions): Call<T>
  readonly $auth: Account
}

/** A blob is sent as its bytes, any other body as JSON. */
export type RequestOptions = Options & { readonly query?: object; readonly body?: unknown }

/** Any client, whatever its schema. */
export type Requesting = { $request<T>(method: string, path: string, options?: RequestOptions): Call<T> }

/** `url` is the address of the service, such as `https://data.example.com`. */
export function createClient<S>(url: string, options: ClientOptions): Client<S> {
  const origin = url.replace(/\/+$/, '')
  const base = `${origin}/api/${encodeURIComponent(options.workspace)}/`
  const send = createSender({ ...options, url: origin })
  const request = (method: string, path: string, { query, body, ...given }: RequestOptions = {}) => {
    const address = (path.startsWith('/') ? origin : base) + path + queryString(query ?? {})
    const bytes = body instanceof Blob ? body : jsonOf(body)
    const sent = { method, url: address, options: given, ...(body !== undefined && { body: bytes }) }
    return createCall(() => send(sent))
  }
  const members = new Map<string | symbol, unknown>([
    ['$batch', createBatch({ base, send })],
    ['$request', request],
    ['$auth', createAccount({ url: origin, auth: options.auth, send })],
  ])
  return new Proxy({} as Client<S>, {
    get(_, name) {
      if (!members.has(name) && typeof name === 'string')
        members.set(name, createItems({ collection: name, base, send }))
      return members.get(name)
    },
  })
}
