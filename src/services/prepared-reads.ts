/**
 * What is derived from a caller's rights on a model: their merged policies, and the reads that they asked before, planned
 * and compiled. Kept beside the two objects, so that new rights or a new model start with nothing.
 */
import type { Viewer } from '../core/access/access.ts'
import { viewerOf } from '../core/access/merge.ts'
import type { Rights } from '../core/access/principal.ts'
import type { Model } from '../core/model/model.ts'

export type PreparedReads = {
  /** What `make` made of `question` earlier, or makes now. Nothing is kept where it throws. */
  get<T>(rights: Rights, model: Model, question: string, make: () => T): T
}

const MAX_QUESTIONS = 2_000
const MAX_LENGTH = 2_000

export function createPreparedReads(): PreparedReads {
  const prepared = besideBoth(() => new Map<string, unknown>())
  return {
    get<T>(rights: Rights, model: Model, question: string, make: () => T): T {
      const known = prepared(rights, model)
      const earlier = known.get(question) as T | undefined
      if (earlier !== undefined) return earlier
      const made = make()
      if (question.length > MAX_LENGTH) return made
      if (known.size >= MAX_QUESTIONS) known.clear()
      known.set(question, made)
      return made
    },
  }
}

export function createViewers(): { of(rights: Rights, model: Model): Viewer } {
  return { of: besideBoth(viewerOf) }
}

/** One value for each pair, for as long as both objects live. */
function besideBoth<T>(make: (rights: Rights, model: Model) => T): (rights: Rights, model: Model) => T {
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
