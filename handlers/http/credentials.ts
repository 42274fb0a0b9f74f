/**
 * Exactly one credential source becomes the request's token (docs/contract.md#credentials). Whether the token is good
 * is for the services; here only its place is judged.
 */
import type { Context } from 'hono'
import { ServiceError } from '../../src/core/error.ts'
import { cookiesNamed, SESSION_COOKIE } from './cookies.ts'
import { type Credential, headerOf } from './request.ts'

const SCHEME = 'bearer '
const none: readonly string[] = []

/** What the request presents; undefined for the anonymous caller. Throws 400 for several sources, 401 for a bad one. */
export function credentialOf(c: Context): Credential | undefined {
  const header = headerOf(c, 'authorization')
  const query = queryTokens(c.req.url)
  const cookies = cookiesNamed(SESSION_COOKIE, headerOf(c, 'cookie'))
  const count = query.length + cookies.length + (header === undefined ? 0 : 1)
  if (count > 1) throw new ServiceError('badRequest', 'Invalid request')
  if (header !== undefined) return { source: 'header', token: bearer(header) }
  const token = query[0] ?? cookies[0]
  if (token === '') throw new ServiceError('unauthenticated', 'Invalid token')
  return token === undefined ? undefined : { source: query.length === 1 ? 'query' : 'cookie', token }
}

function bearer(header: string): string {
  const token = header.slice(SCHEME.length)
  if (header.slice(0, SCHEME.length).toLowerCase() !== SCHEME || token === '')
    throw new ServiceError('unauthenticated', 'Invalid token')
  return token
}

function queryTokens(url: string): readonly string[] {
  if (!mayHoldToken(url)) return none
  return new URL(url).searchParams.getAll('access_token')
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
  const path = cut(url.slice(url.indexOf('/', url.indexOf('//') + 2)))
  const start = path.indexOf('?')
  if (start < 0 || !mayHoldSecret(path)) return path
  const parts = path.slice(start + 1).split('&')
  return `${path.slice(0, start)}?${parts.map(redacted).join('&')}`
}

/** A line of the log need not be as long as an address. */
function cut(path: string): string {
  return path.length > MAX_LOGGED ? `${path.slice(0, MAX_LOGGED)}…` : path
}

const MAX_LOGGED = 4_096

/** Names may be written with escapes, so they are decoded before they are judged. */
function redacted(part: string): string {
  if (!mayHoldSecret(part)) return part
  const [name = ''] = new URLSearchParams(part).keys()
  return SECRET_NAME.test(`${name}=`) ? `${name.toLowerCase()}=REDACTED` : part
}

/** Spares most texts the taking apart and decoding: without a name, or an escape that may spell one, there is no secret. */
function mayHoldSecret(text: string): boolean {
  return text.includes('%') || SECRET_NAME.test(text)
}

/** What somebody may send a secret as, on purpose or not: tokens of all sorts, a provider's code, a password. */
const SECRET_NAME = /(token|code|state|password|secret|key)=/i

const TOKEN_NAME = 'access_token'

/** Spares most requests the parsing: without the name, or an escape that may spell it, there is no token. */
function mayHoldToken(text: string): boolean {
  return text.includes('access_token') || text.includes('%')
}

/** Names may be written with escapes, so they are decoded before they are compared. */
function isToken(part: string): boolean {
  const end = part.indexOf('=')
  const length = end === -1 ? part.length : end
  // Of another length it is another name, however it is spelt.
  if (length < TOKEN_NAME.length || length > 3 * TOKEN_NAME.length) return false
  return new URLSearchParams(part).has('access_token')
}
