/** Builds answers, from the `{ data }` envelope to errors. */
import { answeredBody, ServiceError, withReason } from '../../src/core/error.ts'
import { statusOf } from '../../src/core/error-codes.ts'
import { databaseError, systemUnreached } from '../../src/core/sql/database-error.ts'
import { BUSY, isUnreached, SqlFault } from '../../src/core/sql/fault.ts'
import { type BatchText, batchBody, type ListAnswer, type LongAnswer, listBody } from '../../src/services/data/items.ts'

/** A response without the headers that every response has, see `toResponse`. */
export type Answer = {
  readonly status: number
  readonly body: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | null
  readonly headers?: Readonly<Record<string, string>>
  /** Values of `Set-Cookie`. */
  readonly cookies?: readonly string[]
  /** Set on an error with a server status whose cause is the caller's input. */
  readonly isCallers?: boolean
}

/** The media type of an event stream. */
export const EVENTS = 'text/event-stream'

/** A body that is JSON text already. */
export function jsonText(body: string, status = 200): Answer {
  return { status, body }
}

export function json(value: unknown, status = 200): Answer {
  return { status, body: JSON.stringify(value) }
}

export function data(value: unknown, status = 200): Answer {
  return json({ data: value }, status)
}

/** Puts JSON text that the database rendered into `{ data }`, with an optional `meta`. */
export function dataText(
  text: string,
  { status, meta }: { readonly status?: number; readonly meta?: object } = {},
): Answer {
  return jsonText(`{"data":${text}${meta === undefined ? '' : `,"meta":${JSON.stringify(meta)}`}}`, status)
}

/** A list with its `meta`; `linkTo` returns the address of the page after a cursor, if that page can have an address. */
export function listText(answer: ListAnswer, linkTo?: (cursor: string) => string | undefined): Answer {
  const body = jsonText(listBody(answer))
  const next = answer.cursors?.next ?? undefined
  const address = next && linkTo?.(next)
  return address === undefined ? body : { ...body, headers: { Link: `<${address}>; rel="next"` } }
}

/** Puts the items of each operation of a batch into `{ data }`, with the `meta` of its reads. */
export function batchText({ data, meta }: BatchText): Answer {
  return jsonText(batchBody({ data: `[${data.join(',')}]`, metas: meta }))
}

/** Puts the pieces of a list into `{ data }`; each piece is requested when the previous one was sent. */
export function dataPieces({ pieces }: LongAnswer): Answer {
  const encoder = new TextEncoder()
  let before = '{"data":['
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await pieces.next()
        const end = before === ',' ? ']}' : `${before}]}`
        controller.enqueue(encoder.encode(done ? end : `${before}${value[0]}`))
        before = ','
        if (done) controller.close()
      },
      async cancel() {
        await pieces.return?.()
      },
    },
    { highWaterMark: 0 },
  )
  return { status: 200, body }
}

export function noContent(): Answer {
  return { status: 204, body: null }
}

/** Converts `error` for the caller: an unexpected error becomes an internal error without details. */
export function shownError(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error
  // The service's own statement was refused before it was sent.
  if (error instanceof SqlFault && error.state === BUSY) return databaseError('busy')
  if (error instanceof SqlFault && isUnreached(error)) return systemUnreached()
  return new ServiceError('failed', 'Internal error')
}

export function failure(error: unknown): Answer {
  const known = shownError(error)
  const answer = { ...json(answeredBody(known), statusOf[known.kind]), ...headersOf(known) }
  return known.kind === 'unfit' ? { ...answer, isCallers: true } : answer
}

/** Adds to a 403 that no credential was sent. */
export function withoutCredential(error: unknown): unknown {
  const isRefused = error instanceof ServiceError && error.kind === 'forbidden'
  return isRefused ? withReason(error, 'no credential was sent') : error
}

/** Headers that HTTP requires for some errors. */
function headersOf({ kind, meta, cause }: ServiceError): Pick<Answer, 'headers'> {
  if (kind === 'methodNotAllowed' && meta?.allow !== undefined) return { headers: { Allow: String(meta.allow) } }
  if (retried.has(kind) && meta?.retryAfter !== undefined) {
    return { headers: { 'Retry-After': String(meta.retryAfter) } }
  }
  return cause instanceof ServiceError ? headersOf(cause) : {}
}

/** Kinds of errors that may have a `Retry-After`. */
const retried: ReadonlySet<string> = new Set(['throttled', 'conflict', 'unavailable'])

/**
 * Returns true for internal errors and errors of sources, which operators should see; false for errors of the caller.
 */
export function isFault(error: unknown): boolean {
  return !(error instanceof ServiceError) || error.kind === 'failed' || isOutage(error.cause)
}

/** True if the system database was unreachable; unreachable sources are `failed`. */
function isOutage(cause: unknown): boolean {
  return cause instanceof SqlFault ? isUnreached(cause) : cause instanceof ServiceError && isOutage(cause.cause)
}

/** The parts of a response that depend on its request. */
export type ResponseContext = {
  readonly requestId: string
  /** For `Server-Timing`; undefined if no handler ran. */
  readonly timing?: string
  readonly cors?: Readonly<Record<string, string>> | undefined
  /** True if the path supports the method QUERY. */
  readonly takesQuery?: boolean
}

/**
 * Builds the response. Answers are private to their caller, so they are never cached, and other origins read them only by CORS.
 * Sets all headers at once: changing them later makes Node's adapter create a second response.
 */
export function toResponse(
  { status, body, headers, cookies }: Answer,
  { requestId, timing, cors, takesQuery }: ResponseContext,
): Response {
  const all: Record<string, string> = {
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'X-Request-Id': requestId,
  }
  if (body !== null) all['Content-Type'] = 'application/json'
  if (timing !== undefined) all['Server-Timing'] = timing
  if (takesQuery === true) all['Accept-Query'] = '"application/json"'
  if (cors !== undefined || headers !== undefined) Object.assign(all, cors, headers)
  if (cookies === undefined) return new Response(body, { status, headers: all })
  const pairs = cookies.map((cookie): [string, string] => ['Set-Cookie', cookie])
  return new Response(body, { status, headers: [...Object.entries(all), ...pairs] })
}
