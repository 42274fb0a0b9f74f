/**
 * `fetch` for connectors: converts failures to connector errors, with messages that contain no address, credential or
 * body. A 404 is returned, since only the caller knows what is missing.
 */
import { AccessDenied, ConnectionFailed, QueryRejected, RateLimited } from './errors.ts'

/**
 * Returns a response that is ok, 304 or 404; throws ConnectionFailed, AccessDenied, RateLimited or QueryRejected
 * otherwise. A refusal by the sandbox stays in the cause chain, so that it is reported as such.
 */
export async function request(url: string | URL, init?: RequestInit): Promise<Response> {
  let response: Response
  try {
    response = await fetch(url, init)
  } catch (cause) {
    throw new ConnectionFailed('the external system cannot be reached', { cause })
  }
  const { status, headers } = response
  if (response.ok || status === 404 || status === 304) return response
  await response.body?.cancel()
  if (status === 429) throw new RateLimited(`the external system asks to wait ${waiting(headers.get('Retry-After'))}`)
  if (status === 401 || status === 402 || status === 403) {
    throw new AccessDenied(`the external system refuses the account (${status})`)
  }
  if (status === 408 || status >= 500) throw new ConnectionFailed(`the external system answered ${status}`)
  throw new QueryRejected(`the external system answered ${status}`)
}

/** The header is a number of seconds or a date. */
function waiting(retryAfter: string | null): string {
  if (retryAfter === null || retryAfter.trim() === '') return 'a while'
  const seconds = Number(retryAfter)
  if (Number.isFinite(seconds)) return `${Math.ceil(seconds)} seconds`
  const until = Date.parse(retryAfter)
  return Number.isNaN(until) ? 'a while' : `until ${new Date(until).toISOString()}`
}
