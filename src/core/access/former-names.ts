/**
 * Former API names: clients that still use an old name would reach whatever gets that name next (decision 112). Something new
 * contains nobody's data, so it may have any name.
 */
import type { ModelRecords } from '../model/model.ts'

/** `place` is the id of a field's collection, and empty for a collection. */
export type OwnedApiName = { readonly place: string; readonly name: string; readonly ownerId: string }

/** Returns the names that collections and fields lose by a rename or deletion. */
export function namesGivenUp(before: ModelRecords, after: ModelRecords): readonly OwnedApiName[] {
  const now = namesOf(after)
  return [...namesOf(before).values()].filter((one) => !isSame(now.get(one.ownerId), one))
}

/** Returns the names that existing collections and fields get. */
export function namesGiven(before: ModelRecords, after: ModelRecords): readonly OwnedApiName[] {
  const was = namesOf(before)
  return [...namesOf(after).values()].filter((one) => was.has(one.ownerId) && !isSame(was.get(one.ownerId), one))
}

/** Returns the first of these names that belongs to something else in `before`. */
export function firstOfOthers(given: readonly OwnedApiName[], before: ModelRecords): OwnedApiName | undefined {
  const had = new Map([...namesOf(before).values()].map((one) => [`${one.place} ${one.name}`, one.ownerId]))
  return given.find(({ place, name, ownerId }) => (had.get(`${place} ${name}`) ?? ownerId) !== ownerId)
}

function namesOf({ collections, primitiveFields, relationFields }: ModelRecords): ReadonlyMap<string, OwnedApiName> {
  return new Map([
    ...collections.map(({ id, apiName }) => [id, { place: '', name: apiName, ownerId: id }] as const),
    ...[...primitiveFields, ...relationFields].map(
      ({ id, apiName, collectionId }) => [id, { place: collectionId, name: apiName, ownerId: id }] as const,
    ),
  ])
}

function isSame(one: OwnedApiName | undefined, other: OwnedApiName): boolean {
  return one?.name === other.name && one.place === other.place
}
