/** What is answered, from the `{ data }` envelope to errors; the only file that knows status numbers of errors. */
import { type ErrorKind, errorBody, ServiceError } from '../../src/core/error.ts'
import type { LongAnswer } from '../../src/services/data/items.ts'

/** A response still without what every response has, see `toResponse`. */
export type Answer = {
  readonly status: number
  readonly body: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | null
  readonly headers?: Readonly<Record<string, string>>
  /** Values of `Set-Cookie`. */
  readonly cookies?: readonly string[]
  /** Set on an error whose status would blame us, where it is the caller who can mend it. */
  readonly isCallers?: boolean
}

/** One status for each kind of error. */
export const statusOf: Readonly<Record<ErrorKind, number>> = {
  badRequest: 400,
  unauthenticated: 401,
  paymentRequired: 402,
  forbidden: 403,
  notFound: 404,
  methodNotAllowed: 405,
  conflict: 409,
  tooLarge: 413,
  unsupportedMediaType: 415,
  invalid: 422,
  throttled: 429,
  unfit: 500,
  failed: 500,
  unavailable: 503,
  abandoned: 499,
}

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

/** `{ data }` around JSON text that the database rendered. */
export function dataText(text: string, total?: number): Answer {
  return jsonText(total === undefined ? `{"data":${text}}` : `{"data":${text},"meta":{"totalCount":${total}}}`)
}

/** `{ data }` around the pieces of a list, each taken when the one before has been sent. */
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

/** The same for something that has just been made. */
export function createdText(text: string): Answer {
  return jsonText(`{"data":${text}}`, 201)
}

export function noContent(): Answer {
  return { status: 204, body: null }
}

/** Whatever is not a ServiceError is a fault of ours: the caller learns nothing but that. */
export function failure(error: unknown): Answer {
  const known = error instanceof ServiceError ? error : new ServiceError('failed', 'Internal error')
  const answer = { ...json(errorBody(known), statusOf[known.kind]), ...headersOf(known) }
  return known.kind === 'unfit' ? { ...answer, isCallers: true } : answer
}

/** What HTTP wants to have said in a header. */
function headersOf({ kind, meta }: ServiceError): Pick<Answer, 'headers'> {
  if (kind === 'methodNotAllowed' && meta?.allow !== undefined) return { headers: { Allow: String(meta.allow) } }
  if (kind === 'throttled' && meta?.retryAfter !== undefined) {
    return { headers: { 'Retry-After': String(meta.retryAfter) } }
  }
  return {}
}

/** Whether an operator should hear of `error`: faults of ours or of a source, not slips of a caller. */
export function isFault(error: unknown): boolean {
  return !(error instanceof ServiceError) || error.kind === 'failed'
}

/** What an answer tells of its request. */
export type ResponseContext = {
  readonly requestId: string
  /** For `Server-Timing`; undefined where the request never reached a handler. */
  readonly timing?: string
  readonly cors?: Readonly<Record<string, string>> | undefined
}

/**
 * Answers of the API are for one caller only, so no cache may keep them, and for our own pages only, but for CORS.
 * Headers are complete when the response is made: changing them later costs Node's adapter a second response.
 */
export function toResponse(
  { status, body, headers, cookies }: Answer,
  { requestId, timing, cors }: ResponseContext,
): Response {
  const all: Record<string, string> = {
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'X-Request-Id': requestId,
  }
  if (body !== null) all['Content-Type'] = 'application/json'
  if (timing !== undefined) all['Server-Timing'] = timing
  if (cors !== undefined || headers !== undefined) Object.assign(all, cors, headers)
  if (cookies === undefined) return new Response(body, { status, headers: all })
  const pairs = cookies.map((cookie): [string, string] => ['Set-Cookie', cookie])
  return new Response(body, { status, headers: [...Object.entries(all), ...pairs] })
}
