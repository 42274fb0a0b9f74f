/**
 * Caches what is derived from rights and model: merged policies, and compiled plans of reads. Keyed by the two objects,
 * so that changed rights or a changed model start with an empty cache.
 */
import type { Viewer } from '../../core/access/access.ts'
import { viewerOf } from '../../core/access/merge.ts'
import type { Rights } from '../../core/access/principal.ts'
import type { Model } from '../../core/model/model.ts'
import { type ReadQuery, withTemplateReaders } from '../../core/query/parse.ts'
import { bindTemplateValue, type TemplateReaders, toQueryTemplate } from '../../core/query/query-template.ts'
import type { Bindings } from '../../core/sql/statement.ts'
import type { Freshness } from '../../sources/source.ts'

/** The query of a request: the cache is keyed by its text, which is parsed only on a cache miss. */
export type RawQuery = {
  readonly text: string
  /** Parses the text, or its fingerprint. */
  readonly parse: (text: string) => ReadQuery
  readonly freshness: Freshness
  /** Whether the client has disconnected, where the platform can tell. */
  isDisconnected?(): boolean
  /** Called once the plan is known, before it runs. */
  planned?(): void
}

export type PlanCache = {
  /** Returns the cached result for `key`, or that of `make` on a miss. Nothing is cached if `make` throws. */
  get<T>(rights: Rights, model: Model, key: string, make: () => T): T
  /** Like `get`, shared by all queries with one fingerprint; `bindings` gives the values of this query at execution. */
  getByFingerprint<T>(
    rights: Rights,
    model: Model,
    asked: TemplatedRead<T>,
  ): { readonly made: T; readonly bindings: Bindings }
}

type TemplatedRead<T> = {
  /** The operation without its query: the prefix of the cache key. */
  readonly operation: string
  readonly query: RawQuery
  readonly make: (query: ReadQuery) => T
  /** Binds the placeholders that are not part of the query. */
  readonly bindings: Bindings
}

/** `uncacheable` where each query of this fingerprint needs its own plan. */
type CachedTemplate<T> = { readonly made: T; readonly template: TemplateReaders } | 'uncacheable'

const MAX_ENTRIES = 2_000
const MAX_LENGTH = 2_000

export function createPlanCache(): PlanCache {
  const entries = memoizeByPair(() => new Map<string, unknown>())

  function get<T>(rights: Rights, model: Model, key: string, make: () => T): T {
    const known = entries(rights, model)
    const earlier = known.get(key) as T | undefined
    if (earlier !== undefined) return earlier
    const made = make()
    if (key.length > MAX_LENGTH) return made
    if (known.size >= MAX_ENTRIES) known.clear()
    known.set(key, made)
    return made
  }

  return {
    get,
    getByFingerprint<T>(rights: Rights, model: Model, { operation, query, make, bindings }: TemplatedRead<T>) {
      const parsed = toQueryTemplate(query.text)
      if (parsed.values.length > 0) {
        const cached = get<CachedTemplate<T>>(rights, model, `template ${operation} ${parsed.fingerprint}`, () => {
          const template: TemplateReaders = { readers: new Map(), isUncacheable: false }
          const made = make(withTemplateReaders(query.parse(parsed.fingerprint), template))
          return template.isUncacheable ? 'uncacheable' : { made, template }
        })
        if (cached !== 'uncacheable') {
          return {
            made: cached.made,
            bindings: (name) => bindTemplateValue(name, parsed, cached.template) ?? bindings(name),
          }
        }
      }
      return { made: get(rights, model, `${operation} ${query.text}`, () => make(query.parse(query.text))), bindings }
    },
  }
}

/** Caches the merged policies per rights and model. */
export function createViewers(): { of(rights: Rights, model: Model): Viewer } {
  return { of: memoizeByPair(viewerOf) }
}

/** Caches one value per pair, as long as both objects live. */
function memoizeByPair<T>(make: (rights: Rights, model: Model) => T): (rights: Rights, model: Model) => T {
  const byModel = new WeakMap<Model, WeakMap<Rights, T>>()
  return (rights, model) => {
    const byRights = byModel.get(model) ?? new WeakMap<Rights, T>()
    byModel.set(model, byRights)
    const known = byRights.get(rights)
    if (known !== undefined) return known
    const made = make(rights, model)
    byRights.set(rights, made)
    return made
  }
}
