/**
 * Finds the one credential of a request (docs/contract.md#credentials). Only its location is checked here; services
 * verify the token.
 */

import type { Context } from 'hono'
import { ServiceError } from '../../src/core/error.ts'
import { truncate } from '../../src/core/message-text.ts'
import { cookiesNamed, SESSION_COOKIE } from './cookies.ts'
import { type Credential, headerOf } from './request.ts'

const SCHEME = 'bearer '
const none: readonly string[] = []

/**
 * Returns the credential of the request; undefined for the anonymous caller. Throws 400 for several credentials, 401
 * for a malformed one.
 */
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

/** The raw query string without the token, for the parsers of other parameters. */
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

/** The path of a URL for the log, without the query, which may contain values or tokens. */
export function loggable(url: string): string {
  const [path = ''] = url.slice(url.indexOf('/', url.indexOf('//') + 2)).split(/[?#]/, 1)
  return truncate(path, MAX_LOGGED)
}

/** The longest path that is logged, in characters. */
const MAX_LOGGED = 4_096

const TOKEN_NAME = 'access_token'

/** A cheap test that skips parsing: without the name, or an escape that may encode it, there is no token. */
function mayHoldToken(text: string): boolean {
  return text.includes('access_token') || text.includes('%')
}

/** Parameter names may be escaped, so they are decoded before they are compared. */
function isToken(part: string): boolean {
  const end = part.indexOf('=')
  const length = end === -1 ? part.length : end
  // Each character takes one to three characters, so other lengths cannot match.
  if (length < TOKEN_NAME.length || length > 3 * TOKEN_NAME.length) return false
  return new URLSearchParams(part).has('access_token')
}
