/**
 * Which relations to many are lists of links: those that a field leads over, and those to a junction with nothing in it
 * but two relations, whose rows stand for what they lead to.
 */
import type { CollectionEntry, ManifestText, RelationEntry } from 'governed-data-client/generate'
import { writtenOf } from './input-types.ts'
import type { Action, Linked } from './model.ts'

export type Reading = {
  readonly manifest: ManifestText
  readonly nameOf: (thing: { readonly apiName: number }) => string
  readonly keyOf: (collection: CollectionEntry) => readonly number[]
  readonly displayOf: (collection: CollectionEntry) => Linked['display'] | undefined
  /** Whether the caller may do so with this field, relations among them; without one with anything of the collection. */
  readonly may: (collection: CollectionEntry, action: Action, field?: string) => boolean
}

export type Links = {
  readonly linked?: Linked
  /** Of items that refer by themselves, where they can be given and taken away: only those are offered that refer to none. */
  readonly attached?: Linked
  readonly isJunction: boolean
}

export type LinksOf = (relation: RelationEntry) => Links

/** The relations of `entry`. */
export function linksOf({ manifest, nameOf, keyOf, displayOf, may }: Reading, entry: CollectionEntry): LinksOf {
  const { collections } = manifest.serviceSchema
  const [added, changed] = [writtenOf(manifest, entry, 'create'), writtenOf(manifest, entry, 'updateOne')]
  const names = (collection: CollectionEntry, fields: readonly number[]) =>
    fields.map((index) => collection.primitiveFields[index]).flatMap((field) => (field ? nameOf(field) : []))

  /** The other relation of a junction that has nothing else in it. */
  const farOf = (relation: RelationEntry, junction: CollectionEntry): RelationEntry | undefined => {
    const near = junction.relationFields[relation.oppositeField ?? -1]
    const forward = junction.relationFields.filter(({ isForward }) => isForward)
    const own = new Set([
      ...forward.flatMap(({ linkingFields }) => linkingFields.map(([by]) => by)),
      ...keyOf(junction),
    ])
    const isBare = forward.length === 2 && junction.primitiveFields.every((_, index) => own.has(index))
    return near?.isForward && isBare ? forward.find((one) => one !== near) : undefined
  }
  const through = new Set(entry.relationFields.map(({ through }) => entry.relationFields[through?.near ?? -1]))

  const takes = (name: string, written: ReadonlyMap<string, readonly string[]>, kind: string) =>
    written.get(name)?.includes(kind) ?? false

  const attachedOf = (relation: RelationEntry, other: CollectionEntry, display: Linked['display']): Links => {
    const name = nameOf(relation)
    const key = names(other, keyOf(other))
    const by = names(
      other,
      relation.linkingFields.map(([, opposite]) => opposite),
    )
    const mayChange = key.length > 0 && by.every((field) => may(other, 'read', field) && may(other, 'update', field))
    const isFree = takes(name, changed, '_connect') && takes(name, changed, '_disconnect')
    if (!mayChange || !isFree || !key.every((field) => may(other, 'read', field))) return { isJunction: false }
    const among = Object.fromEntries(by.map((field) => [field, { _null: true }]))
    const mayUpdate = may(entry, 'update', name)
    const mayAddToNew = may(entry, 'create', name) && takes(name, added, '_connect')
    if (!mayUpdate && !mayAddToNew) return { isJunction: false }
    const attached = { to: nameOf(other), display, key, among, mayAdd: mayUpdate, mayRemove: mayUpdate, mayAddToNew }
    return { isJunction: false, attached }
  }

  return (relation) => {
    const other = collections[relation.oppositeCollection]
    const far = relation.through || other === undefined ? undefined : farOf(relation, other)
    const isJunction = far !== undefined && through.has(relation)
    const target = far ? collections[far.oppositeCollection] : other
    const display = target && displayOf(target)
    if (other && display && !isJunction && !far && !relation.through) return attachedOf(relation, other, display)
    if (!other || !target || !display || isJunction || !(far || relation.through)) return { isJunction }
    const key = names(target, keyOf(target))
    const fields = keyOf(target).map(
      (index) => far?.linkingFields.find(([, opposite]) => opposite === index)?.[0] ?? -1,
    )
    const over = far && { relation: nameOf(far), by: names(other, fields) }
    const isReadable =
      key.length > 0 &&
      key.every((part) => may(target, 'read', part)) &&
      (over === undefined ||
        (over.by.length === key.length && [over.relation, ...over.by].every((part) => may(other, 'read', part))))
    if (!isReadable) return { isJunction }
    const junction = over
      ? other
      : collections[entry.relationFields[relation.through?.near ?? -1]?.oppositeCollection ?? -1]
    if (junction === undefined) return { isJunction }
    const columns = junction.relationFields.flatMap(({ isForward, linkingFields }) =>
      isForward
        ? names(
            junction,
            linkingFields.map(([own]) => own),
          )
        : [],
    )
    const mayCreate = columns.every((column) => may(junction, 'create', column))
    const name = nameOf(relation)
    return {
      isJunction,
      linked: {
        to: nameOf(target),
        ...(over && { over }),
        display,
        key,
        mayAdd: mayCreate && may(entry, 'update', name) && takes(name, changed, over ? '_create' : '_connect'),
        mayRemove:
          may(junction, 'delete') &&
          may(entry, 'update', name) &&
          takes(name, changed, over ? '_delete' : '_disconnect'),
        mayAddToNew: mayCreate && may(entry, 'create', name) && takes(name, added, over ? '_create' : '_connect'),
      },
    }
  }
}
