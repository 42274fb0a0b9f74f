/**
 * Which other origins may read our answers (docs/contract.md#other-origins): none unless the configuration names them.
 */
import type { Config } from '../../src/config.ts'
import type { Answer } from './answer.ts'
import { type AppContext, headerOf } from './request.ts'

export type Cors = {
  /** The headers that let the origin of this request read the answer. */
  headersFor(c: AppContext): Readonly<Record<string, string>>
  /** The answer to a browser that asks beforehand; undefined for every other request. */
  preflight(c: AppContext): Answer | undefined
}

/** A cached permission outlives a change of the configuration for this long, in seconds. */
const MAX_AGE = 600
const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE'
const REQUEST_HEADERS = 'Authorization, Content-Type, Cache-Control, If-None-Match, MCP-Protocol-Version'
const RESPONSE_HEADERS = 'ETag, Retry-After, Server-Timing, X-Request-Id'

/** Undefined where CORS is off: then no header of it is ever sent. */
export function createCors({ SERVICE_CORS__ENABLED, SERVICE_CORS__ORIGIN }: Config): Cors | undefined {
  if (!SERVICE_CORS__ENABLED || SERVICE_CORS__ORIGIN === undefined) return undefined
  const allowed: ReadonlySet<string> = new Set(SERVICE_CORS__ORIGIN)

  function headersFor(c: AppContext): Readonly<Record<string, string>> {
    // Whoever is allowed to read with no credentials must never be allowed to with them.
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
