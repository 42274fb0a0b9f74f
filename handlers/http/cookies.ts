/**
 * What a sign-in answers: the tokens in the body (`json`), or in cookies that no script can read (`session`). Every way
 * of signing in ends here (docs/contract.md#sessions, docs/decisions/014).
 */
import type { Config } from '../../src/config.ts'
import type { LoginResult } from '../../src/services/accounts/sessions.ts'
import { type Answer, json } from './answer.ts'
import { isLoopback } from './origin.ts'
import { type AppContext, headerOf } from './request.ts'

export type LoginMode = 'json' | 'session'

export const SESSION_COOKIE = 'service_session'
const REFRESH_COOKIE = 'service_refresh'

/** In session mode the body says only how long the access token lasts. */
export function signedIn(
  c: AppContext,
  config: Config,
  { mode, result }: { readonly mode: LoginMode; readonly result: LoginResult },
): Answer {
  if (mode === 'json') return json(result)
  return { ...json({ expires: result.expires }), cookies: sessionCookies(c, config, result) }
}

/**
 * `Set-Cookie` values for `Answer.cookies`. Both last as long as the refresh token, so that an access token that is over
 * is answered with 401, which tells the client to refresh, and not taken for no credential at all.
 */
export function sessionCookies(c: AppContext, config: Config, result: LoginResult): readonly string[] {
  const lifetime = Math.floor(config.SERVICE_REFRESH_TOKEN_TTL / 1_000)
  const attributes = `Max-Age=${lifetime}; ${common(c, config)}`
  return [
    `${SESSION_COOKIE}=${result.accessToken}; Path=/api; ${attributes}`,
    `${REFRESH_COOKIE}=${result.refreshToken}; Path=/api/auth; ${attributes}`,
  ]
}

/** `Set-Cookie` values that make the browser forget both. */
export function clearedCookies(c: AppContext, config: Config): readonly string[] {
  const attributes = `Max-Age=0; ${common(c, config)}`
  return [`${SESSION_COOKIE}=; Path=/api; ${attributes}`, `${REFRESH_COOKIE}=; Path=/api/auth; ${attributes}`]
}

function common(c: AppContext, config: Config): string {
  return isLoopback(c, config) ? 'HttpOnly; SameSite=Lax' : 'HttpOnly; Secure; SameSite=Lax'
}

/** The refresh tokens in the request's cookies: none, one, or several that somebody has planted. */
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
