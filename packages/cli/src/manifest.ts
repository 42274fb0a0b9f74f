/** What loading data takes of a manifest: keys, and which collection has to be there before which. */
import type { ManifestText } from 'governed-data-client/generate'

export type Loadable = {
  readonly key: readonly string[]
  /** Relations whose columns are here. */
  readonly relations: readonly { readonly to: string; readonly by: readonly string[]; readonly isNullable: boolean }[]
}

/** Collections by name, without those of the system. */
export function loadableOf({ strings, serviceSchema }: ManifestText): ReadonlyMap<string, Loadable> {
  const { collections } = serviceSchema
  const text = (index: number | undefined) => strings[index ?? -1] ?? ''
  return new Map(
    collections
      .filter(({ isSystem }) => isSystem !== true)
      .map(({ apiName, primitiveFields, relationFields, indexes = [] }) => {
        const names = (fields: readonly number[]) => fields.map((index) => text(primitiveFields[index]?.apiName))
        const relations = relationFields
          .filter(({ isForward, isList }) => isForward === true && isList !== true)
          .map(({ oppositeCollection, linkingFields }) => {
            const own = linkingFields.map(([index]) => index)
            return {
              to: text(collections[oppositeCollection]?.apiName),
              by: names(own),
              isNullable: own.some((index) => primitiveFields[index]?.isNullable === true),
            }
          })
        const key = names(indexes.find(({ kind }) => kind === 'primary')?.fields ?? [])
        return [text(apiName), { key, relations }] as const
      }),
  )
}

/** `later`: columns that are written when all collections are there, since relations lead in a circle. */
export type Turn = { readonly collection: string; readonly later: readonly string[] }

/** Answers the collections that cannot be ordered where a circle has no nullable relation. */
export function loadOrder(
  collections: ReadonlyMap<string, Loadable>,
  names: readonly string[],
): { readonly turns: readonly Turn[]; readonly stuck: readonly string[] } {
  const turns: Turn[] = []
  const left = new Set(names)
  const waitsFor = (name: string, without: 'nothing' | 'nullable') =>
    (collections.get(name)?.relations ?? []).filter(
      ({ to, isNullable }) => left.has(to) && !(without === 'nullable' && isNullable),
    )
  while (left.size > 0) {
    const free = [...left].find((name) => waitsFor(name, 'nothing').length === 0)
    const next = free ?? [...left].find((name) => waitsFor(name, 'nullable').length === 0)
    if (next === undefined) return { turns, stuck: [...left] }
    turns.push({ collection: next, later: waitsFor(next, 'nothing').flatMap(({ by }) => by) })
    left.delete(next)
  }
  return { turns, stuck: [] }
}
