/**
 * Refuses input that a route does not read, before its handler runs: unknown query parameters, bodies, and binding headers.
 * Otherwise a request could do something else than its sender expects.
 */
import * as z from 'zod'
import { nested, type ServiceError } from '../../src/core/error.ts'
import { lazily } from '../../src/core/lazily.ts'
import { decodeValue } from '../../src/core/query/brackets.ts'
import { queryFault, requireKnown } from '../../src/core/query/parse.ts'
import { readBody } from './body.ts'
import { searchWithoutToken } from './credentials.ts'
import { type AppContext, headerOf } from './request.ts'

/** Refuses `Act-As` on other routes, where the request would run with the caller's own rights. */
export function refuseActAs(c: AppContext): void {
  if (headerOf(c, 'act-as') === undefined) return
  throw nested('invalid', [
    'Failed to read the headers',
    'Act-As',
    'is taken by GET and QUERY of items and aggregates alone',
  ])
}

/** Headers that change what a request does, or whether it runs: its sender relies on them. */
export const bindingHeaders = ['Idempotency-Key', 'If-Match', 'If-None-Match'] as const
export type BindingHeader = (typeof bindingHeaders)[number]

/** Refuses a partial body, which must not replace the whole (RFC 9110, section 9.3.4). */
export function refusePart(c: AppContext): ServiceError | undefined {
  if (headerOf(c, 'content-range') === undefined) return undefined
  return nested('badRequest', [
    'Failed to read the headers',
    'Content-Range',
    'is taken by no route: a body counts as a whole',
  ])
}

/** Returns a function that returns the error of a request with a binding header that is not in `read`. */
export function unreadHeaders(read: readonly BindingHeader[]): (c: AppContext) => ServiceError | undefined {
  const refused = bindingHeaders
    .filter((name) => !read.includes(name))
    .map((name) => [name, name.toLowerCase()] as const)
  return (c) => {
    const sent = refused.find(([, key]) => headerOf(c, key) !== undefined)
    return sent && nested('invalid', ['Failed to read the headers', sent[0], 'is not read by this route'])
  }
}

/** Throws 422 for the first parameter, other than the token, that is unknown or repeated, and 400 for invalid encoding. */
export function requireKnownParameters(c: AppContext, known: readonly string[]): void {
  const seen = new Set<string>()
  for (const parameter of searchWithoutToken(c.req.url).split('&')) {
    if (parameter === '') continue
    const [sent = '', ...value] = parameter.split('=')
    const name = decodeValue(sent, sent)
    requireKnown(name, known)
    if (seen.has(name)) throw queryFault(name, 'is given more than once')
    seen.add(name)
    decodeValue(value.join('='), name)
  }
}

/** Throws 422 for any body of a GET or HEAD request, and for a body of another method that is not an empty object. */
export async function refuseUnexpectedBody(c: AppContext): Promise<void> {
  if (c.req.method !== 'GET' && c.req.method !== 'HEAD') return void (await readBody(c, nothing))
  throw nested('invalid', ['Failed to read the request', 'body', 'must be empty'])
}

const nothing = lazily(() => z.strictObject({}))
