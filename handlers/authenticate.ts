/**
 * Exactly one credential source becomes the request's token (seed, "Authentication", rule 3). Whether the token is
 * good is for the services; here only its place is judged.
 */
import type { Context } from 'hono'
import { ServiceError } from '../src/core/error.ts'
import { headerOf } from './context.ts'

const SESSION_COOKIE = 'service_session'
const none: readonly string[] = []

/** The token of the request; undefined for the anonymous caller. Throws 400 for several sources, 401 for a bad one. */
export function credentialOf(c: Context): string | undefined {
  const header = headerOf(c, 'authorization')
  const query = queryTokens(c.req.url)
  const cookie = cookieToken(headerOf(c, 'cookie'))
  const [inQuery] = query
  if (header !== undefined && inQuery === undefined && cookie === undefined) return bearer(header)
  const count = query.length + (header === undefined ? 0 : 1) + (cookie === undefined ? 0 : 1)
  if (count > 1) throw new ServiceError('badRequest', 'Invalid request')
  const token = inQuery ?? cookie
  if (token === '') throw new ServiceError('unauthenticated', 'Invalid token')
  return token
}

function bearer(header: string): string {
  const [, token] = /^Bearer ([A-Za-z0-9._~+/-]+=*)$/i.exec(header) ?? []
  if (token === undefined) throw new ServiceError('unauthenticated', 'Invalid token')
  return token
}

function queryTokens(url: string): readonly string[] {
  if (!mayHoldToken(url)) return none
  return new URL(url).searchParams.getAll('access_token')
}

function cookieToken(header: string | undefined): string | undefined {
  if (header === undefined || !header.includes(SESSION_COOKIE)) return undefined
  for (const part of header.split(';')) {
    const [name, value] = part.trim().split('=', 2)
    if (name === SESSION_COOKIE) return value ?? ''
  }
  return undefined
}

/** The raw query string without the token, for whoever reads the other parameters. */
export function searchWithoutToken(url: string): string {
  const start = url.indexOf('?')
  if (start < 0) return ''
  const search = url.slice(start + 1).split('#', 1)[0] ?? ''
  return mayHoldToken(search)
    ? search
        .split('&')
        .filter((part) => !isToken(part))
        .join('&')
    : search
}

/** Path and query of an address as they may be logged. */
export function loggable(url: string): string {
  const path = url.slice(url.indexOf('/', url.indexOf('//') + 2))
  if (!mayHoldToken(path)) return path
  const [pathname = '', search = ''] = path.split('?', 2)
  const parts = search.split('&').map((part) => (isToken(part) ? 'access_token=REDACTED' : part))
  return `${pathname}?${parts.join('&')}`
}

/** Spares most requests the parsing: without the name, or an escape that may spell it, there is no token. */
function mayHoldToken(text: string): boolean {
  return text.includes('access_token') || text.includes('%')
}

/** Names may be written with escapes, so they are decoded before they are compared. */
function isToken(part: string): boolean {
  return new URLSearchParams(part).has('access_token')
}
