/**
 * Names of the API that something had: whoever goes on to mean it by its name means what gets that name next (decision 112). What is new
 * holds nothing of anybody, and may have any name.
 */
import type { ModelRecords } from '../model/model.ts'

/** `place` is the id of its collection, and empty for a collection. */
export type OwnedApiName = { readonly place: string; readonly name: string; readonly ownerId: string }

/** Returns the names that something gives up, because it gets another one or goes. */
export function namesGivenUp(before: ModelRecords, after: ModelRecords): readonly OwnedApiName[] {
  const now = namesOf(after)
  return [...namesOf(before).values()].filter((one) => !isSame(now.get(one.ownerId), one))
}

/** Returns the names that something gets which is there already. */
export function namesGiven(before: ModelRecords, after: ModelRecords): readonly OwnedApiName[] {
  const was = namesOf(before)
  return [...namesOf(after).values()].filter((one) => was.has(one.ownerId) && !isSame(was.get(one.ownerId), one))
}

/** Returns the first of these names that another thing has in a model, which so gives it up. */
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
