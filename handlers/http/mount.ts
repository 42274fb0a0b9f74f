/**
 * Mounts one path with its methods, and runs around each handler: request id, credential, error response, log line.
 * There is no other middleware, so that the router calls a single handler.
 */
import type { Hono } from 'hono'
import type { Eventual } from '../../src/core/and-then.ts'
import { codedError, ServiceError } from '../../src/core/error.ts'
import { shortName } from '../../src/core/message-text.ts'
import type { Ports } from '../../src/ports/ports.ts'
import type { RequestOrigin } from '../../src/services/accounts/mails.ts'
import type { SessionClient } from '../../src/services/accounts/sessions.ts'
import { type Answer, EVENTS, failure, isFault, toResponse, withoutCredential } from './answer.ts'
import { discardBody } from './body.ts'
import type { Cors } from './cors.ts'
import { credentialOf, loggable } from './credentials.ts'
import { weakened } from './etag.ts'
import { type AppContext, answerRoom, callerOf, hasBody, headerOf, pacing, type Variables } from './request.ts'
import { endSlot } from './request-slots.ts'
import { phasesOf, serverTiming, startTiming } from './timing.ts'
import {
  type BindingHeader,
  refuseActAs,
  refusePart,
  refuseUnexpectedBody,
  requireKnownParameters,
  unreadHeaders,
} from './unexpected-input.ts'
import { encodedInParts } from './utf8.ts'

export type App = {
  readonly hono: Hono<{ Variables: Variables }>
  readonly ports: Ports
  /** Compresses a string, or text in UTF-8, by gzip; undefined if the platform compresses answers. */
  readonly compress: ((text: string | Uint8Array) => Promise<Uint8Array<ArrayBuffer>>) | undefined
  /** Includes the trace id of requests in events. */
  readonly isTraced: boolean
  /** Milliseconds from which a request is reported as slow. */
  readonly slowFrom: number
  /** Undefined if CORS is off. */
  readonly cors: Cors | undefined
  /** The client's IP address, if known (client-address.ts). */
  readonly addressOf: (c: AppContext) => string | undefined
}

/** Describes the origin of a request, for mails, limits and the audit log. */
export function requestOriginOf({ addressOf }: App, c: AppContext): RequestOrigin {
  return { address: addressOf(c), origin: new URL(c.req.url).origin }
}

/** Describes the client of a session: address and user agent. */
export function sessionClientOf({ addressOf }: App, c: AppContext): SessionClient {
  return { address: addressOf(c), userAgent: headerOf(c, 'user-agent') }
}

export type Handler = (c: AppContext) => Eventual<Answer>
type Method = 'GET' | 'QUERY' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
export type Methods = { readonly [Name in Method]?: Handler }

/** Exceptions of a route: which methods read the query string, and which input is ignored. */
export type RouteOptions = {
  /** Methods whose handlers refuse unknown query parameters themselves. */
  readonly strictQuery?: readonly Method[]
  /** Methods without a body, although such methods usually have one. */
  readonly bodiless?: readonly Method[]
  /** The binding headers that each method reads. */
  readonly headers?: { readonly [Name in Method]?: readonly BindingHeader[] }
  /** Replaces the 405 of an unknown method, and the 422 of a header: throws another error, or the same one. */
  readonly instead?: (error: unknown) => Eventual<never>
  /** True if its handlers read `Act-As` for GET and QUERY. */
  readonly actsAs?: boolean
  /** Ignores any credential and parameters. */
  readonly isProbe?: boolean
}

/** Methods not in `methods` are refused with 405 and `Allow`. */
export function mount(app: App, path: string, methods: Methods, options: RouteOptions = {}): void {
  const { isProbe = false, actsAs = false, instead = rethrown } = options
  const allow = Object.keys(methods).flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
  const refuse: Handler = () =>
    instead(
      new ServiceError('methodNotAllowed', `Allowed methods: ${allow.join(', ')}`, {
        meta: { allow: allow.join(', ') },
      }),
    )
  const strict = isProbe ? methods : mapped(methods, (handler, method) => strictly(handler, method, options))
  const byMethod = new Map<string, Handler | undefined>(Object.entries({ ...strict, HEAD: strict.GET }))
  const takesQuery = methods.QUERY !== undefined
  app.hono.all(path, (c) =>
    respond(app, c, { route: path, handler: byMethod.get(c.req.method) ?? refuse, isProbe, takesQuery, actsAs }),
  )
}

function rethrown(error: unknown): never {
  throw error
}

function mapped(methods: Methods, change: (handler: Handler, method: Method) => Handler): Methods {
  const entries = Object.entries(methods) as [Method, Handler][]
  return Object.fromEntries(entries.map(([method, handler]) => [method, change(handler, method)]))
}

/** Wraps a handler so that it refuses input that it does not read. */
function strictly(handler: Handler, method: Method, options: RouteOptions): Handler {
  const { strictQuery = [], bodiless = [], headers = {}, instead = rethrown } = options
  const readsQuery = strictQuery.includes(method)
  const readsBody = withBody.has(method) && !bodiless.includes(method)
  const unread = unreadHeaders(headers[method] ?? [])
  return (c) => {
    const mayHaveBody = readsBody || hasBody(c)
    const refused = unread(c) ?? (mayHaveBody ? refusePart(c) : undefined)
    // A client that is still sending sees the answer only after its body was read.
    if (refused !== undefined) return mayHaveBody ? discardBody(c).then(() => instead(refused)) : instead(refused)
    if (!readsQuery) requireKnownParameters(c, [])
    return readsBody || !mayHaveBody ? handler(c) : refuseUnexpectedBody(c).then(() => handler(c))
  }
}

const withBody: ReadonlySet<Method> = new Set(['QUERY', 'POST', 'PUT', 'PATCH'])

type Routed = {
  readonly route: string
  readonly handler: Handler
  readonly isProbe?: boolean
  readonly takesQuery?: boolean
  /** True if its reads take `Act-As`. */
  readonly actsAs?: boolean
}

/** Runs `handler` for a request and records the request. */
export async function respond(
  app: App,
  c: AppContext,
  { route, handler, isProbe = false, takesQuery = false, actsAs = false }: Routed,
): Promise<Response> {
  const { ports, cors, slowFrom } = app
  const { clock, ids, observe } = ports
  const requestId = ids.next()
  const start = clock.now()
  const timing = startTiming()
  c.set('timing', timing)
  c.set('addressOf', app.addressOf)
  const answer = cors?.preflight(c) ?? (await answerOf(ports, c, { requestId, handler, isProbe, actsAs }))
  const { method } = c.req
  const milliseconds = clock.now() - start
  observe({
    kind: 'request',
    requestId,
    method,
    path: loggable(c.req.url),
    route,
    status: answer.status,
    milliseconds,
    ...(answer.isCallers === true && { isCallers: true }),
    ...(app.isTraced && { traceparent: headerOf(c, 'traceparent') }),
  })
  if (milliseconds > slowFrom) {
    const collection = c.req.param('collection')
    const named = collection === undefined ? {} : { collection: shortName(collection) }
    observe({ kind: 'slow', requestId, method, route, ...named, milliseconds, ...phasesOf(timing) })
  }
  try {
    const sent = await packed(app, c, answer)
    return toResponse(sent, { requestId, timing: serverTiming(timing), cors: cors?.headersFor(c), takesQuery })
  } finally {
    endSlot(c)
  }
}

/** Shorter bodies, in characters or bytes, are not worth compressing. */
const COMPRESSED_FROM = 1_400

/** Longer strings are encoded in parts. */
const ENCODED_FROM = 64 * 1024

/** Compresses the answer if it is large enough and the client accepts gzip. */
function packed(app: App, c: AppContext, answer: Answer): Eventual<Answer> {
  const { compress } = app
  const { body, headers } = answer
  if (compress === undefined || body === null) return answer
  if (typeof body === 'string' && body.length >= ENCODED_FROM)
    return encoded(c, body).then((bytes) => packed(app, c, { ...answer, body: bytes }))
  if (!(body instanceof ReadableStream) && body.length < COMPRESSED_FROM) return answer
  // Bytes without a content type are JSON; pictures are not compressed.
  if (body instanceof Uint8Array && headers?.['Content-Type']?.startsWith('text/') === false) return answer
  // A file is sent uncompressed.
  if (headers?.['Content-Length'] !== undefined) return answer
  if (headers?.['Content-Encoding'] !== undefined || !accepts(headerOf(c, 'accept-encoding'), 'gzip')) return answer
  // Compression would delay events.
  if (headers?.['Content-Type'] === EVENTS) return answer
  const announced = { ...weakened(headers), 'Content-Encoding': 'gzip', Vary: 'Accept-Encoding' }
  if (!(body instanceof ReadableStream)) {
    return compress(body).then((bytes) => {
      if (body.length >= HELD_FROM) answerRoom(c)?.hold(bytes.length)
      return { ...answer, body: bytes, headers: announced }
    })
  }
  return { ...answer, body: body.pipeThrough(new CompressionStream('gzip')), headers: announced }
}

/** Encodes the text in UTF-8; the memory of answers counts its bytes from now on. */
async function encoded(c: AppContext, text: string): Promise<Uint8Array<ArrayBuffer>> {
  const end = await pacing(c)?.takeEncoding(callerOf(c) ?? '')
  try {
    const bytes = await encodedInParts(text)
    answerRoom(c)?.hold(bytes.length)
    return bytes
  } finally {
    end?.()
  }
}

/** Returns true if a list such as `gzip, br;q=0.5` has `coding`, or a media type, with a weight above zero. */
export function accepts(list: string | undefined, coding: string): boolean {
  return (list ?? '').split(',').some((part) => {
    const [name = '', weight = ''] = part.trim().split(';', 2)
    return name.trim().toLowerCase() === coding && !/^\s*q=0(\.0*)?\s*$/i.test(weight)
  })
}

/** The methods that support `Act-As`. */
const reading: ReadonlySet<string> = new Set(['GET', 'QUERY'])

type Run = Required<Pick<Routed, 'handler' | 'isProbe' | 'actsAs'>> & { readonly requestId: string }

async function answerOf(
  { observe }: Ports,
  c: AppContext,
  { requestId, handler, isProbe, actsAs }: Run,
): Promise<Answer> {
  try {
    if (!isProbe) c.set('credential', credentialOf(c))
    if (!(actsAs && reading.has(c.req.method))) refuseActAs(c)
    return held(c, await handler(c))
  } catch (caught) {
    const error = await unlessGone(c, caught)
    if (isFault(error)) observe({ kind: 'fault', requestId, error })
    return failure(c.get('isAnonymous') === true ? withoutCredential(error) : error)
  }
}

/** Kinds of errors that the deletion of the workspace during the request may cause. */
const missing: ReadonlySet<string> = new Set(['failed', 'unfit', 'conflict'])

/** `error`, or the 404 of a workspace that was deleted while the request ran. */
async function unlessGone(c: AppContext, error: unknown): Promise<unknown> {
  if (error instanceof ServiceError && !missing.has(error.kind)) return error
  try {
    await c.get('requireThere')?.()
    return error
  } catch (gone) {
    return gone instanceof ServiceError ? gone : error
  }
}

/** Shorter bodies, in characters or bytes, do not count as memory of unsent answers. */
const HELD_FROM = 64 * 1024

/** Seconds for `Retry-After`. */
const ROOM_AFTER = 2

/** Throws 503 for a read without room in memory. A write is done already, so other answers are dropped instead. */
function held(c: AppContext, answer: Answer): Answer {
  const { body } = answer
  if (body === null || body instanceof ReadableStream || body.length < HELD_FROM) return answer
  const room = answerRoom(c)
  if (room === undefined || room.hold(body.length)) return answer
  if (c.req.method === 'HEAD' || reading.has(c.req.method)) {
    room.hold(0)
    throw codedError('5008', { meta: { retryAfter: ROOM_AFTER } })
  }
  room.makeRoom()
  return answer
}
