/** What lists and writes of a collection take, read from the types of the manifest. */
import type { CollectionEntry, ManifestText } from 'governed-data-client/generate'

type Members = readonly (readonly [name: string, type: string])[]

/** Operators of each field, from the type of `filter` of its lists. */
export function operatorsOf(manifest: ManifestText, entry: CollectionEntry): ReadonlyMap<string, readonly string[]> {
  return membersWithin(manifest, argumentsOf(manifest, entry, 'readMany'), 'filter')
}

/** What a write takes of each relation, such as `_connect`. */
export function writtenOf(
  manifest: ManifestText,
  entry: CollectionEntry,
  operation: 'create' | 'updateOne',
): ReadonlyMap<string, readonly string[]> {
  return membersWithin(manifest, argumentsOf(manifest, entry, operation), 'data')
}

/** Whether an operation takes how many rows it may be about. */
export function isBounded(manifest: ManifestText, entry: CollectionEntry, operation: string): boolean {
  return argumentsOf(manifest, entry, operation).some(([name]) => name === 'max')
}

/** The names that each member of one of the arguments takes. */
function membersWithin(manifest: ManifestText, all: Members, wanted: string): ReadonlyMap<string, readonly string[]> {
  const within = membersOf(manifest, all.find(([name]) => name === wanted)?.[1])
  return new Map(within.map(([name, type]) => [name, membersOf(manifest, type).map(([inner]) => inner)]))
}

/** What an operation of a collection is given; nothing where there is no such operation. */
function argumentsOf(manifest: ManifestText, { apiName }: CollectionEntry, wanted: string): Members {
  const found = manifest.querySchema.operations.find(([kind, of]) => kind === wanted && of === apiName)
  return found === undefined ? [] : membersOf(manifest, found[2])
}

/** The members of an input type, with the types of each. */
function membersOf(manifest: ManifestText, reference: string | number | undefined): Members {
  const { inputFields, inputObjectTypes } = manifest.querySchema
  const index = typeof reference === 'string' ? Number(/^\[*i(\d+)/.exec(reference)?.[1] ?? -1) : reference
  const flat = inputObjectTypes[index ?? -1]?.fields ?? []
  return flat.flatMap((name, at) =>
    at % 2 === 1 ? [] : [[manifest.strings[name] ?? '', inputFields[flat[at + 1] ?? -1]?.type ?? ''] as const],
  )
}
