/**
 * Whether two models are the same as far as a request sees them: in the collections that it names, in all that their relations lead to,
 * and in the sources of those. What is planned from there on the one may be used on the other (docs/decisions/117).
 */
import type { Collection, Model } from './model.ts'

/** `names` are the API names of collections. */
export function isSameFrom(names: readonly string[], before: Model, after: Model): boolean {
  const [known, current] = [textsOf(before), textsOf(after)]
  if (names.some((name) => before.byName.get(name)?.id !== after.byName.get(name)?.id)) return false
  return reachedFrom(names, before).every(
    ({ id, sourceId }) =>
      known.get(id) === current.get(id) &&
      JSON.stringify(before.sources.get(sourceId)) === JSON.stringify(after.sources.get(sourceId)),
  )
}

function reachedFrom(names: readonly string[], { byName }: Model): readonly Collection[] {
  const reached = new Set(names.flatMap((name) => byName.get(name) ?? []))
  // What is added meanwhile is visited, too.
  for (const { relations } of reached) {
    for (const { target, through } of relations) {
      reached.add(target)
      if (through !== undefined) reached.add(through.near.collection)
    }
  }
  return [...reached]
}

const texts = new WeakMap<Model, ReadonlyMap<string, string>>()

/** By the id of each collection that is no system collection, all that its model says of it. */
function textsOf(model: Model): ReadonlyMap<string, string> {
  const known = texts.get(model)
  if (known !== undefined) return known
  const { collections, namespaces, primitiveFields, relationFields, constraints, indexes } = model.records
  const [spaces, bound] = [byId(namespaces), byId(constraints)]
  const parts = new Map<string, unknown[]>(
    collections.map((record) => [record.id, [record, spaces.get(record.namespaceId ?? '')]]),
  )
  for (const record of [...primitiveFields, ...indexes]) parts.get(record.collectionId)?.push(record)
  for (const record of relationFields) {
    parts.get(record.collectionId)?.push(record, bound.get(record.constraintId ?? ''))
  }
  const made = new Map([...parts].map(([id, part]) => [id, JSON.stringify(part)]))
  texts.set(model, made)
  return made
}

function byId<T extends { readonly id: string }>(records: readonly T[]): ReadonlyMap<string, T> {
  return new Map(records.map((record) => [record.id, record]))
}
