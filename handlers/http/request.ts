/** A request as middleware leaves it for handlers, and what each part of it is read by. */
import type { Context } from 'hono'
import { ServiceError } from '../../src/core/error.ts'
import type { Timing } from './timing.ts'

export type Variables = {
  /** Of the one credential source that was used; undefined for the anonymous caller. */
  readonly credential: Credential | undefined
  readonly timing: Timing
  /** Where a request comes from. */
  readonly addressOf: (c: AppContext) => string | undefined
}

export type AppContext = Context<{ Variables: Variables }>

/** A part of the path that the route names, decoded. 404 where nothing can be called so, since no database has such a text. */
export function pathParam(c: AppContext, name: string): string {
  const part = itemKey(c, name)
  if (part.includes('\0') || !part.isWellFormed()) {
    throw new ServiceError('notFound', 'Not found')
  }
  return part
}

/** The same for the key of an item, of which its field says what it may be. */
export function itemKey(c: AppContext, name: string): string {
  return c.req.param(name) ?? ''
}

/** Whether whoever sent the request has gone; false where the front door cannot know. */
export function isDisconnected(c: Context): boolean {
  return ((c.env ?? {}) as { readonly isDisconnected?: () => boolean }).isDisconnected?.() === true
}

/**
 * A request header by its lower-case name; several of one name are joined. A front door that has them at hand says so in
 * `env`: to build the platform's `Headers` for two look-ups costs as much as the rest of the handler.
 */
export function headerOf(c: Context, name: string): string | undefined {
  const { header } = (c.env ?? {}) as { readonly header?: (name: string) => string | undefined }
  return typeof header === 'function' ? header(name) : c.req.header(name)
}

/** A token and where it was found. A cookie comes along with every request, so it proves less (origin.ts). */
export type Credential = { readonly source: 'header' | 'query' | 'cookie'; readonly token: string }
