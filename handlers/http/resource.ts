/**
 * Mounts the routes of a resource: list and create at its path, read, update and delete below it. Each route identifies the
 * caller and calls a use case, which reads bodies and queries.
 */
import type * as z from 'zod'
import type { Eventual } from '../../src/core/and-then.ts'
import type { ReadQuery } from '../../src/core/query/parse.ts'
import type { LazyBody, SavedItem } from '../../src/services/caller/directory.ts'
import type { ListAnswer } from '../../src/services/data/items.ts'
import { type Answer, data, dataText, listText, noContent } from './answer.ts'
import { readBody } from './body.ts'
import { type App, type Handler, mount } from './mount.ts'
import { pageAfter } from './raw-query.ts'
import { type AppContext, pathParam } from './request.ts'
import { idOf, itemQuery, listQuery } from './schemas.ts'
import { withSent } from './sent.ts'

/** Each member adds a route. `Scope` is what the use cases know about the caller. */
export type Resource<Scope, New, Change> = {
  readonly path: string
  readonly scopeOf: (c: AppContext) => Eventual<Scope>
  /** Maximum bytes of a body; by default that of `readBody`. */
  readonly bodyLimit?: number
  readonly list: (scope: Scope, query: LazyBody<ReadQuery>) => Promise<ListAnswer>
  /** Answers JSON text, with or without warnings, or a value. */
  readonly create?: {
    readonly body: () => z.ZodType<New>
    readonly run: (scope: Scope, sent: LazyBody<New>, c: AppContext) => Promise<string | object>
  }
  readonly one?: {
    readonly key: PathKey
    readonly read?: (scope: Scope, key: string, query: LazyBody<ReadQuery>) => Promise<string>
    readonly update?: {
      readonly body: () => z.ZodType<Change>
      readonly run: (scope: Scope, key: string, sent: LazyBody<Change>, c: AppContext) => Promise<string | SavedItem>
    }
    readonly delete: (scope: Scope, key: string, c: AppContext) => Promise<void>
    /** True if `update` and `delete` read query parameters, and refuse unknown ones. */
    readonly takesParameters?: boolean
  }
}

/** The parameter at the end of the path. */
export type PathKey = { readonly parameter: string; readonly of: (c: AppContext) => string }

/** `what` is the name in the 404 for text that is not an id. */
export function byId(what: string): PathKey {
  return { parameter: 'id', of: (c) => idOf(c, what) }
}

export const byName: PathKey = { parameter: 'name', of: (c) => pathParam(c, 'name') }

export function mountResource<Scope, New, Change>(app: App, resource: Resource<Scope, New, Change>): void {
  const { path, scopeOf, bodyLimit, list, create, one } = resource
  const GET: Handler = async (c) => {
    return listText(await list(await scopeOf(c), () => listQuery(c)), pageAfter(c))
  }
  const POST: Handler | undefined =
    create &&
    (async (c) => {
      const made = await withSent(
        () => scopeOf(c),
        () => readBody(c, create.body, bodyLimit),
        (scope, sent) => create.run(scope, sent, c),
      )
      return saved(made, 201)
    })
  mount(app, path, { GET, ...(POST && { POST }) }, { strictQuery: ['GET'] })
  if (one !== undefined) mountOne(app, `${path}/:${one.key.parameter}`, { ...resource, ...one })
}

function saved(made: string | SavedItem | object, status = 200): Answer {
  if (typeof made === 'string') return dataText(made, { status })
  if (!isSaved(made)) return data(made, status)
  const { item, warnings } = made
  return dataText(item, { status, ...(warnings.length > 0 && { meta: { warnings } }) })
}

function isSaved(made: object): made is SavedItem {
  return 'item' in made && 'warnings' in made
}

type One<Scope, Change> = NonNullable<Resource<Scope, never, Change>['one']> &
  Pick<Resource<Scope, never, Change>, 'scopeOf' | 'bodyLimit'>

function mountOne<Scope, Change>(app: App, path: string, one: One<Scope, Change>): void {
  const { key, scopeOf, bodyLimit, read, update } = one
  const GET: Handler | undefined =
    read && (async (c) => dataText(await read(await scopeOf(c), key.of(c), () => itemQuery(c))))
  const PATCH: Handler | undefined =
    update &&
    (async (c) =>
      saved(
        await withSent(
          () => scopeOf(c),
          () => readBody(c, update.body, bodyLimit),
          (scope, sent) => update.run(scope, key.of(c), sent, c),
        ),
      ))
  const DELETE: Handler = async (c) => {
    await one.delete(await scopeOf(c), key.of(c), c)
    return noContent()
  }
  const strictQuery = one.takesParameters ? (['GET', 'PATCH', 'DELETE'] as const) : (['GET'] as const)
  mount(app, path, { ...(GET && { GET }), ...(PATCH && { PATCH }), DELETE }, { strictQuery })
}
