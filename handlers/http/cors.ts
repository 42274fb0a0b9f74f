/**
 * Decides which other origins may read answers (docs/contract.md#other-origins): none unless the configuration names
 * them.
 */
import type { Config } from '../../src/config.ts'
import type { Answer } from './answer.ts'
import { type AppContext, headerOf } from './request.ts'

export type Cors = {
  /** The CORS headers for the origin of this request. */
  headersFor(c: AppContext): Readonly<Record<string, string>>
  /** The answer to a preflight request; undefined for any other request. */
  preflight(c: AppContext): Answer | undefined
}

/** How long browsers cache a preflight answer, in seconds. */
const MAX_AGE = 600
const METHODS = 'GET, HEAD, QUERY, POST, PUT, PATCH, DELETE'
const REQUEST_HEADERS =
  'Authorization, Content-Type, Cache-Control, Idempotency-Key, If-Match, If-None-Match, MCP-Protocol-Version'
const RESPONSE_HEADERS = 'Accept-Query, ETag, Idempotency-Replayed, Link, Retry-After, Server-Timing, X-Request-Id'

export type CorsDeps = { readonly config: Config }

/** Returns undefined if CORS is off; then no CORS header is ever sent. */
export function createCors(deps: CorsDeps): Cors | undefined {
  const { SERVICE_CORS__ENABLED, SERVICE_CORS__ORIGIN } = deps.config
  if (!SERVICE_CORS__ENABLED || SERVICE_CORS__ORIGIN === undefined) return undefined
  const allowed: ReadonlySet<string> = new Set(SERVICE_CORS__ORIGIN)

  function headersFor(c: AppContext): Readonly<Record<string, string>> {
    // `*` must never be combined with credentials.
    if (allowed.has('*'))
      return { 'Access-Control-Allow-Origin': '*', 'Access-Control-Expose-Headers': RESPONSE_HEADERS }
    const origin = headerOf(c, 'origin')
    if (origin === undefined || !allowed.has(origin)) return { Vary: 'Origin' }
    return {
      'Access-Control-Allow-Origin': origin,
      'Access-Control-Allow-Credentials': 'true',
      'Access-Control-Expose-Headers': RESPONSE_HEADERS,
      Vary: 'Origin',
    }
  }

  return {
    headersFor,
    preflight(c) {
      if (c.req.method !== 'OPTIONS' || headerOf(c, 'access-control-request-method') === undefined) return undefined
      const headers = {
        'Access-Control-Allow-Methods': METHODS,
        'Access-Control-Allow-Headers': REQUEST_HEADERS,
        'Access-Control-Max-Age': String(MAX_AGE),
      }
      return { status: 204, body: null, headers }
    },
  }
}
