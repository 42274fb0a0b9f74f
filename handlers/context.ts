/** What middleware leaves for handlers, and the two things that every handler asks of it. */
import type { Context } from 'hono'
import type { Caller, Entry } from '../src/services/callers.ts'
import type { Services } from '../src/services/services.ts'

export type Variables = {
  /** Of the one credential source that was used; undefined for the anonymous caller. */
  readonly token: string | undefined
}

export type AppContext = Context<{ Variables: Variables }>

/** The caller inside the workspace of the path. */
export function enter(services: Services, c: AppContext): Promise<Entry> {
  return services.callers.enter(c.req.param('workspace') ?? '', c.get('token'))
}

export function identify(services: Services, c: AppContext): Promise<Caller> {
  return services.callers.identify(c.get('token'))
}

/** A part of the path that the route names, decoded. */
export function pathParam(c: AppContext, name: string): string {
  return c.req.param(name) ?? ''
}

/**
 * A request header by its lower-case name; several of one name are joined. A front door that has them at hand says so in
 * `env`: to build the platform's `Headers` for two look-ups costs as much as the rest of the handler.
 */
export function headerOf(c: Context, name: string): string | undefined {
  const { header } = (c.env ?? {}) as { readonly header?: (name: string) => string | undefined }
  return typeof header === 'function' ? header(name) : c.req.header(name)
}
