/** What of a model a request may lead to: the collections that it names, and all that relations lead to from there. */
import { lookupOf } from './lookup.ts'
import type { Model } from './model.ts'

/** Returns the ids of its collections, built-in ones apart; undefined where one of these API names is that of none. */
export function reachedFrom(names: readonly string[], model: Model): readonly string[] | undefined {
  const reached = new Set(names.flatMap((name) => model.byName.get(name) ?? []))
  if (reached.size < new Set(names).size) return undefined
  // What is added meanwhile is visited, too.
  for (const { relations } of reached) {
    for (const { target, through } of relations) {
      reached.add(target)
      if (through !== undefined) reached.add(through.near.collection)
    }
  }
  const { collections } = lookupOf(model.records)
  return [...reached].flatMap(({ id }) => (collections.has(id) ? [id] : []))
}
