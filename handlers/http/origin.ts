/**
 * The public origin of the service, and the rule that a request which changes something may use a cookie only from that
 * origin (docs/contract.md#sessions): browsers send cookies with requests that other sites initiate.
 */

import type { Config } from '../../src/config.ts'
import { ServiceError } from '../../src/core/error.ts'
import { isLoopback } from '../../src/core/loopback.ts'
import { withoutTrailing } from '../../src/core/trailing.ts'
import { type AppContext, headerOf } from './request.ts'

/** The public base URL without a trailing slash: SERVICE_BASE_URL, or the request's own. */
export function publicAddress(c: AppContext, { SERVICE_BASE_URL: base }: Config): string {
  return base === undefined ? new URL(c.req.url).origin : withoutTrailing(base, '/')
}

/** Throws 403 unless every header about the request's origin names our own. */
export function requireSameOrigin(c: AppContext, config: Config): void {
  const origin = headerOf(c, 'origin')
  const site = headerOf(c, 'sec-fetch-site')
  const isDeclared = origin !== undefined || site !== undefined
  const isOurs = origin === undefined || ownOrigins(c, config).includes(origin)
  if (isDeclared && isOurs && (site === undefined || site === 'same-origin')) return
  throw new ServiceError('forbidden', 'A change by session cookie must come from this origin (Origin, Sec-Fetch-Site)')
}

/**
 * The origin of SERVICE_BASE_URL and, if it differs, of the request's host with both schemes, because TLS may end at a proxy.
 * If the request's host is that of SERVICE_BASE_URL, only the configured scheme counts.
 */
function ownOrigins(c: AppContext, { SERVICE_BASE_URL: base }: Config): readonly string[] {
  const { host } = new URL(c.req.url)
  const ofRequest = [new URL(`http://${host}`).origin, new URL(`https://${host}`).origin]
  if (base === undefined) return ofRequest
  const { origin } = new URL(base)
  return isSameHost(base, host) ? [origin] : [origin, ...ofRequest]
}

/** The default port of a scheme may be omitted. */
function isSameHost(base: string, host: string): boolean {
  const own = new URL(base)
  return new URL(`${own.protocol}//${host}`).host === own.host
}

/** Returns true if callers use a loopback address, where there is no TLS. */
export function isReachedByLoopback(c: AppContext, config: Config): boolean {
  return isLoopback(new URL(publicAddress(c, config)).hostname)
}
