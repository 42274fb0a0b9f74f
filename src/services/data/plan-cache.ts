/**
 * Caches what is derived from rights and model: merged policies, and compiled plans of reads. Keyed by the two objects,
 * so that changed rights or a changed model start with an empty cache.
 */
import type { Viewer } from '../../core/access/access.ts'
import { viewerOf } from '../../core/access/merge.ts'
import type { Rights } from '../../core/access/principal.ts'
import { isObject } from '../../core/json-object.ts'
import type { Model } from '../../core/model/model.ts'
import type { ReadQuery } from '../../core/query/parse.ts'
import { parseTemplate, type QueryTemplate, toQueryTemplate } from '../../core/query/query-template.ts'
import { parseList, type RawListQuery, textOf } from '../../core/query/raw-query.ts'
import type { Prepared } from '../../sources/source.ts'

export type PlanCache = {
  /** Returns the cached result for `key`, or on a miss the result of `make`. Caches nothing if `make` throws. */
  get<T>(rights: Rights, model: Model, key: string, make: () => T): T
  /** Like `get` for a list, shared by all queries with one fingerprint; `values` are the values of this query. */
  getList<T>(rights: Rights, model: Model, list: ListRead<T>): { readonly made: T; readonly values: Values }
}

type Values = QueryTemplate['values']

type ListRead<T> = {
  /** The operation without its query: the prefix of the cache key. */
  readonly operation: string
  /** Parsed on a miss. */
  readonly query: RawListQuery
  readonly make: (query: ReadQuery) => T
}

/** `uncacheable` if each query of this fingerprint needs its own plan. */
type CachedTemplate<T> = { readonly made: T } | 'uncacheable'

const MAX_LENGTH = 2_000
const MAX_WEIGHT = 8 * 1024 * 1024
/** Weights of a plan that is not compiled yet, and of the smallest plan. */
const UNCOMPILED = 16 * 1024
const LEAST = 1_024

type Entry = { readonly made: unknown; weight: number }

export type PlanCacheDeps = {
  /** Characters of all cached statements of all workspaces; plans take several times as many bytes. */
  readonly maxWeight?: number
}

export function createPlanCache(deps: PlanCacheDeps): PlanCache {
  const { maxWeight = MAX_WEIGHT } = deps
  const generation = () => memoizeByPair(() => new Map<string, Entry>())
  /** A two-generation cache: when `young` is full it becomes `old`, and entries not used since then are dropped. */
  let [young, old] = [generation(), generation()]
  let weight = 0

  function count(change: number): void {
    weight += change
    if (weight <= maxWeight / 2) return
    old = young
    young = generation()
    weight = 0
  }

  function get<T>(rights: Rights, model: Model, key: string, make: () => T): T {
    const entries = young(rights, model)
    const known = entries.get(key)
    if (known !== undefined) {
      if (known.weight === UNCOMPILED) {
        known.weight = weightOf(known.made)
        count(known.weight - UNCOMPILED)
      }
      return known.made as T
    }
    const made = (old(rights, model).get(key)?.made as T | undefined) ?? make()
    if (key.length > MAX_LENGTH) return made
    const entry = { made, weight: weightOf(made) }
    entries.set(key, entry)
    count(entry.weight)
    return made
  }

  return {
    get,
    getList<T>(rights: Rights, model: Model, { operation, query, make }: ListRead<T>) {
      const text = textOf(query)
      const template = typeof query === 'string' ? toQueryTemplate(query) : undefined
      if (template !== undefined && template.values.length > 0) {
        const cached = get<CachedTemplate<T>>(rights, model, `template ${operation} ${template.fingerprint}`, () => {
          const open = parseTemplate(template)
          const made = make(open.query)
          return open.isUncacheable() ? 'uncacheable' : { made }
        })
        if (cached !== 'uncacheable') return { made: cached.made, values: template.values }
      }
      return { made: get(rights, model, `${operation} ${text}`, () => make(parseList(query))), values: [] }
    },
  }
}

/** The weight of the prepared statement, which is `made` itself or nested in it. */
function weightOf(made: unknown): number {
  if (typeof made === 'function') return Math.max((made as Prepared<unknown>).weight ?? UNCOMPILED, LEAST)
  if (!isObject(made)) return LEAST
  return weightOf(made.made ?? made.run)
}

/** Caches the merged policies per rights and model. */
export type Viewers = { of(rights: Rights, model: Model): Viewer }

export function createViewers(): Viewers {
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
