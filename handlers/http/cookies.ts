/**
 * Returns tokens after signing in: in the body (`json`), or in cookies that scripts cannot read (`session`). All ways of
 * signing in use it (docs/contract.md#sessions, docs/decisions/014).
 */
import type { Config } from '../../src/config.ts'
import type { LoginResult } from '../../src/services/accounts/sessions.ts'
import { type Answer, json } from './answer.ts'
import { isReachedByLoopback } from './origin.ts'
import { type AppContext, headerOf } from './request.ts'

export type LoginMode = 'json' | 'session'

export const SESSION_COOKIE = 'service_session'
const REFRESH_COOKIE = 'service_refresh'

/** In session mode the body has only the lifetime of the access token. */
export function signedIn(
  c: AppContext,
  config: Config,
  { mode, result }: { readonly mode: LoginMode; readonly result: LoginResult },
): Answer {
  if (mode === 'json') return json(result)
  return { ...json({ expires: result.expires }), cookies: sessionCookies(c, config, result) }
}

/**
 * `Set-Cookie` values for both tokens. Both cookies last as long as the refresh token, so that an expired access token
 * is answered with 401, upon which the client refreshes, instead of counting as no credential.
 */
function sessionCookies(c: AppContext, config: Config, result: LoginResult): readonly string[] {
  const lifetime = Math.floor(config.SERVICE_REFRESH_TOKEN_TTL / 1_000)
  const attributes = `Max-Age=${lifetime}; ${common(c, config)}`
  return [
    `${SESSION_COOKIE}=${result.accessToken}; Path=/api; ${attributes}`,
    `${REFRESH_COOKIE}=${result.refreshToken}; Path=/api/auth; ${attributes}`,
  ]
}

/** `Set-Cookie` values that delete both cookies. */
export function clearedCookies(c: AppContext, config: Config): readonly string[] {
  const attributes = `Max-Age=0; ${common(c, config)}`
  return [`${SESSION_COOKIE}=; Path=/api; ${attributes}`, `${REFRESH_COOKIE}=; Path=/api/auth; ${attributes}`]
}

function common(c: AppContext, config: Config): string {
  return isReachedByLoopback(c, config) ? 'HttpOnly; SameSite=Lax' : 'HttpOnly; Secure; SameSite=Lax'
}

/** The refresh tokens in the request's cookies; several if an attacker has planted some. */
export function refreshCookies(c: AppContext): readonly string[] {
  return cookiesNamed(REFRESH_COOKIE, headerOf(c, 'cookie'))
}

export function cookiesNamed(name: string, header: string | undefined): readonly string[] {
  if (header === undefined || !header.includes(name)) return none
  return header
    .split(';')
    .map((part) => part.trim())
    .filter((part) => part === name || part.startsWith(`${name}=`))
    .map((part) => part.slice(name.length + 1))
}

const none: readonly string[] = []
