/** Sends a request and makes its answer a result: credentials, a second try where that does no harm, time limit. */
import type { Auth } from './auth.ts'
import type { Result } from './call.ts'
import { type ErrorBody, ServiceError } from './error.ts'

/** What any call takes beside its query. */
export type Options = {
  readonly signal?: AbortSignal
  readonly headers?: HeadersLike
  readonly fetch?: typeof fetch
  /** In milliseconds, for all tries together. */
  readonly timeout?: number
  /** A tag, as `etag` of a result: the write happens only where the item still has it. */
  readonly ifMatch?: string
  /** A tag: what still has it is answered without `data`, with status 304. */
  readonly ifNoneMatch?: string
  /** Under a key a write is done once, however often it is sent; `true` makes one. */
  readonly idempotencyKey?: string | true
}

/** What a client is made with. */
export type ClientOptions = {
  readonly workspace: string
  /** Without it the client is nobody. */
  readonly auth?: Auth
  readonly fetch?: typeof fetch
  readonly headers?: HeadersLike
  /** In milliseconds; none where not said. */
  readonly timeout?: number
  /** How often a request is sent again, 2 where not said. */
  readonly retries?: number
}

export type HeadersLike = ConstructorParameters<typeof Headers>[0]

export type Outgoing = {
  readonly method: string
  readonly url: string
  /** JSON, or bytes. */
  readonly body?: string | Blob
  readonly options?: Options
  /** Whether it comes without a credential of the client, but for cookies. */
  readonly isAnonymous?: boolean
}

export type Answer = Result<unknown, { readonly meta?: unknown }>

/** Longer than this nobody waits for a `Retry-After`: the answer is what it says. */
const LONGEST_PAUSE = 60_000

/** Methods that change nothing, or twice no more than once. */
const repeatable = ['GET', 'QUERY', 'PUT']

export type Sender = (sent: Outgoing) => Promise<Answer>

/** `url` is the origin of the service, without a slash at its end. */
type SenderDeps = ClientOptions & { readonly url: string }

export function createSender(client: SenderDeps): Sender {
  return async (sent) => {
    const { timeout = client.timeout, signal } = sent.options ?? {}
    const limit = timeout === undefined ? undefined : AbortSignal.timeout(timeout)
    const signals = [signal, limit].filter((given) => given !== undefined)
    const ended = signals.length > 1 ? AbortSignal.any(signals) : signals[0]
    try {
      return await attempt({ client, sent, headers: headersOf(client, sent), signal: ended }, 0)
    } catch (cause) {
      if (cause instanceof ServiceError) return failure(cause)
      const code = signal?.aborted ? 'aborted' : limit?.aborted ? 'timeout' : 'network'
      const message = cause instanceof Error ? cause.message : String(cause)
      return failure(new ServiceError(0, { message, code }, { cause }))
    }
  }
}

type Request = {
  readonly client: SenderDeps
  readonly sent: Outgoing
  readonly headers: Headers
  readonly signal: AbortSignal | undefined
}

/** All but the credential: those of the client, of what is sent, of the call. */
function headersOf(client: SenderDeps, { body, options = {} }: Outgoing): Headers {
  const headers = new Headers(client.headers)
  const { ifMatch, ifNoneMatch, idempotencyKey: key } = options
  if (typeof body === 'string') headers.set('Content-Type', 'application/json')
  if (ifMatch !== undefined) headers.set('If-Match', quoted(ifMatch))
  if (ifNoneMatch !== undefined) headers.set('If-None-Match', quoted(ifNoneMatch))
  if (key !== undefined) headers.set('Idempotency-Key', key === true ? crypto.randomUUID() : key)
  for (const [name, value] of new Headers(options.headers)) headers.set(name, value)
  return headers
}

/** A tag as headers have it; in items it has no quotes. */
const quoted = (tag: string) => (/^(\*$|"|W\/")/.test(tag) ? tag : `"${tag}"`)

async function attempt(request: Request, before: number): Promise<Answer> {
  const { client, sent, headers, signal } = request
  // Under a tag a second PUT is refused for what the first has done.
  const isHarmless = repeatable.includes(sent.method) && !headers.has('If-Match')
  const mayRepeat = (isHarmless || headers.has('Idempotency-Key')) && before < (client.retries ?? 2)
  const again = async (pause = 200 * 2 ** before) => {
    await wait(pause, signal)
    return attempt(request, before + 1)
  }
  let response: Response
  let text: string
  try {
    response = await authorized(request)
    text = await response.text()
  } catch (cause) {
    if (!mayRepeat || signal?.aborted || cause instanceof ServiceError) throw cause
    return again()
  }
  if (mayRepeat && (response.status === 429 || response.status === 503)) {
    const pause = pauseOf(response)
    if (pause === undefined || pause <= LONGEST_PAUSE) return again(pause)
  }
  return read(response, text)
}

/** A 401 is sent again once, with what the client can say now, unless it is what the body says that was refused. */
async function authorized({ client, sent, headers, signal }: Request): Promise<Response> {
  const { auth, url } = client
  const fetch = sent.options?.fetch ?? client.fetch ?? globalThis.fetch
  const request = (credential?: HeadersLike) => {
    const all = new Headers(headers)
    for (const [name, value] of new Headers(credential)) if (!headers.has(name)) all.set(name, value)
    return fetch(sent.url, {
      method: sent.method,
      headers: all,
      body: sent.body ?? null,
      signal: signal ?? null,
      ...(auth?.credentials !== undefined && { credentials: auth.credentials }),
    })
  }
  if (auth === undefined || sent.isAnonymous) return request()
  const credential = await until(signal, auth.headers({ url, fetch, refused: false }))
  const response = await request(credential)
  if (response.status !== 401 || (sent.body !== undefined && (await isOfBody(response)))) return response
  const next = await until(signal, auth.headers({ url, fetch, refused: true, sent: credential }))
  if (next === undefined) return response
  await response.body?.cancel()
  return request(next)
}

/** A wrong password stays wrong, and the service counts how often it is tried. */
async function isOfBody(response: Response): Promise<boolean> {
  return (await response.clone().text()).includes('"Invalid credentials"')
}

function read(response: Response, text: string): Answer {
  const { status, headers } = response
  const isJson = /[/+]json\b/.test(headers.get('Content-Type') ?? '')
  const body: unknown = text === '' ? undefined : isJson ? JSON.parse(text) : text
  if (!response.ok && status !== 304) {
    const errorBody = isJson ? (body as ErrorBody) : { message: `The answer has status ${status}` }
    return failure(new ServiceError(status, errorBody, { requestId: headers.get('X-Request-Id') }), headers)
  }
  const etag = headers.get('ETag')
  return { ok: true, status, data: body, headers, ...(etag !== null && { etag }), orThrow: () => body }
}

function failure(error: ServiceError, headers?: Headers): Answer {
  return {
    ok: false,
    status: error.status,
    error,
    ...(headers !== undefined && { headers }),
    orThrow() {
      throw error
    },
  }
}

/** In milliseconds; undefined where the answer says nothing of it. */
function pauseOf({ headers }: Response): number | undefined {
  const after = headers.get('Retry-After')
  if (after === null) return undefined
  return Math.max(0, /^\d+$/.test(after) ? Number(after) * 1000 : Date.parse(after) - Date.now()) || 0
}

async function wait(pause: number, signal: AbortSignal | undefined): Promise<void> {
  let timer: unknown
  const passed = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, pause)
  })
  await until(signal, passed).finally(() => clearTimeout(timer as number))
}

/** Rejects as soon as the signal says so; what is waited for goes on, such as a refresh that others wait for, too. */
async function until<T>(signal: AbortSignal | undefined, awaited: T | Promise<T>): Promise<T> {
  if (signal === undefined) return awaited
  let end = () => {}
  const ended = new Promise<never>((_, reject) => {
    end = () => reject(signal.reason)
    if (signal.aborted) end()
    else signal.addEventListener('abort', end)
  })
  return Promise.race([awaited, ended]).finally(() => signal.removeEventListener('abort', end))
}
