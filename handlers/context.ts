/** What middleware leaves for handlers, and the two things that every handler asks of it. */
import type { Context } from 'hono'
import type { Caller, Entry } from '../src/services/callers.ts'
import type { Services } from '../src/services/services.ts'
import type { Credential } from './authenticate.ts'
import { requireSameOrigin } from './origin.ts'
import type { Timing } from './timing.ts'

export type Variables = {
  /** Of the one credential source that was used; undefined for the anonymous caller. */
  readonly credential: Credential | undefined
  readonly timing: Timing
}

export type AppContext = Context<{ Variables: Variables }>

/** The caller inside the workspace of the path. */
export function enter(services: Services, c: AppContext): Entry | Promise<Entry> {
  const entry = services.callers.enter(c.req.param('workspace') ?? '', tokenOf(services, c))
  return entry instanceof Promise ? entry.then((late) => known(c, late)) : known(c, entry)
}

export async function identify(services: Services, c: AppContext): Promise<Caller> {
  return known(c, await services.callers.identify(tokenOf(services, c)))
}

/** Says that from now on it is known who asks. */
function known<T>(c: AppContext, who: T): T {
  c.get('timing').entered = performance.now()
  return who
}

/** The token that the caller is known by. Throws 403 for a change by cookie that does not come from our own origin. */
function tokenOf({ config }: Services, c: AppContext): string | undefined {
  const credential = c.get('credential')
  if (credential?.source === 'cookie' && !isReading(c.req.method)) requireSameOrigin(c, config)
  return credential?.token
}

function isReading(method: string): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS'
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
