/**
 * Where this service is, as its callers see it, and the rule that a request which changes something may sign in by
 * cookie only from there (docs/contract.md#sessions): a cookie comes along whoever made the browser ask.
 */
import type { Config } from '../../src/config.ts'
import { ServiceError } from '../../src/core/error.ts'
import { isLoopback as isLoopbackHost } from '../../src/core/loopback.ts'
import { type AppContext, headerOf } from './request.ts'

/** The public address, without a slash at its end: SERVICE_BASE_URL, or that of the request. */
export function publicAddress(c: AppContext, { SERVICE_BASE_URL: base }: Config): string {
  return base === undefined ? new URL(c.req.url).origin : base.replace(/\/+$/, '')
}

/** Throws 403 unless what the browser says of the request's origin, all of it, is that it is ours. */
export function requireSameOrigin(c: AppContext, config: Config): void {
  const origin = headerOf(c, 'origin')
  const site = headerOf(c, 'sec-fetch-site')
  const isSaid = origin !== undefined || site !== undefined
  const isOurs = origin === undefined || ownOrigins(c, config).includes(origin)
  if (isSaid && isOurs && (site === undefined || site === 'same-origin')) return
  throw new ServiceError('forbidden', 'A change by session cookie must come from this origin (Origin, Sec-Fetch-Site)')
}

/**
 * That of SERVICE_BASE_URL, and of the request's host where that is another one: TLS may end before us, so that a request that
 * we see as `http` was sent to `https`. A host of which the configuration says the scheme has no other.
 */
function ownOrigins(c: AppContext, { SERVICE_BASE_URL: base }: Config): readonly string[] {
  const { host } = new URL(c.req.url)
  const ofRequest = [new URL(`http://${host}`).origin, new URL(`https://${host}`).origin]
  if (base === undefined) return ofRequest
  const { origin } = new URL(base)
  return isSameHost(base, host) ? [origin] : [origin, ...ofRequest]
}

/** The port of a scheme may be left out. */
function isSameHost(base: string, host: string): boolean {
  const own = new URL(base)
  return new URL(`${own.protocol}//${host}`).host === own.host
}

/** Whether callers reach us at a loopback address, where there is no TLS. */
export function isLoopback(c: AppContext, config: Config): boolean {
  return isLoopbackHost(new URL(publicAddress(c, config)).hostname)
}
