/**
 * What a request brings that its route does not take, refused before the handler runs, so that nothing happens that was asked
 * for otherwise: parameters where none are read, a body where none is, and headers of rules that do not exist yet.
 */
import * as z from 'zod'
import { nested } from '../../src/core/error.ts'
import { lazily } from '../../src/core/lazily.ts'
import { requireKnown } from '../../src/core/query/parse.ts'
import { readBody } from './body.ts'
import { searchWithoutToken } from './credentials.ts'
import { type AppContext, headerOf } from './request.ts'

/** To act as somebody else is not possible; who asks for it must not be answered as themselves. */
export function refuseActionParameters(c: AppContext): void {
  if (headerOf(c, 'act-as') === undefined) return
  throw nested('invalid', ['Failed to read the headers', 'Act-As', 'is not a header of this service'])
}

/** Throws 422 for the first parameter besides the token that is not one of `known`. */
export function requireKnownParameters(c: AppContext, known: readonly string[]): void {
  const search = searchWithoutToken(c.req.url)
  if (search === '') return
  for (const name of new URLSearchParams(search).keys()) requireKnown(name, known)
}

/** Throws 422 for a body, but for an empty object, which asks for nothing. A GET with a body is read by nobody. */
export async function requireNoBody(c: AppContext): Promise<void> {
  if (c.req.method !== 'GET' && c.req.method !== 'HEAD') return void (await readBody(c, nothing))
  throw nested('invalid', ['Failed to read the request', 'body', 'is not taken by this route'])
}

export function hasBody(c: AppContext): boolean {
  const length = headerOf(c, 'content-length')
  return length === undefined ? headerOf(c, 'transfer-encoding') !== undefined : length !== '0'
}

const nothing = lazily(() => z.strictObject({}))
