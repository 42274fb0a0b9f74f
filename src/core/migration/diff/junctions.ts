/**
 * The many-to-many fields of an introspection. Those of the model stay with their relations. A table whose two foreign keys
 * together are a key gets new ones, if no many-to-many field uses both.
 */
import type { ModelRecords, RelationFieldRecord } from '../../model/model.ts'
import type { Pair } from '../lookups.ts'
import { junctionKey, manyToManyPair } from '../many-to-many.ts'
import type { CollectionDiff, DiffContext, SchemaOperation } from './context.ts'
import { type FoundJunction, type JunctionSide, nameManyToMany } from './relation-names.ts'

export type JunctionDiff = {
  /** All many-to-many fields of the model, in any source. */
  readonly fields: readonly RelationFieldRecord[]
  readonly linking: readonly SchemaOperation[]
}

type Pairs = {
  readonly all: readonly Pair[]
  /** Ids of the fields of pairs that are deleted and created again, together with their many-to-many fields. */
  readonly relinked: ReadonlySet<string>
}

/** Adds the names of new fields to those of the collections. */
export function diffJunctions(
  { relationFields }: ModelRecords,
  pairs: Pairs,
  { collections, context }: { readonly collections: readonly CollectionDiff[]; readonly context: DiffContext },
): JunctionDiff {
  const linked = new Set(pairs.all.flatMap(({ owner, opposite }) => [owner.id, opposite?.id]))
  const kept = relationFields.filter(
    ({ through }) => through !== undefined && linked.has(through.nearId) && linked.has(through.farId),
  )
  const again = kept.filter(
    ({ through }) => through !== undefined && (pairs.relinked.has(through.nearId) || pairs.relinked.has(through.farId)),
  )
  const known = new Set(relationFields.map(({ id }) => id))
  const found = foundJunctions(pairs, kept, collections).filter(({ pairs: links }) => !isOfFile(links, known))
  const names = nameManyToMany(
    found.map(({ junction }) => junction),
    context,
  )
  const created = found.flatMap(({ junction: { sides }, pairs: [first, second] }) =>
    manyToManyPair(
      [{ id: context.newId(), apiName: names.get(sides[0]) ?? '' }, linkOf(first)],
      [{ id: context.newId(), apiName: names.get(sides[1]) ?? '' }, linkOf(second)],
    ),
  )
  return { fields: [...kept, ...created], linking: creations([...again, ...created]) }
}

/** A pair with both sides; the junction owns its foreign key. */
type Link = Pair & { readonly opposite: RelationFieldRecord }
type Found = { readonly junction: FoundJunction; readonly pairs: readonly [Link, Link] }

function foundJunctions(
  { all }: Pairs,
  kept: readonly RelationFieldRecord[],
  collections: readonly CollectionDiff[],
): readonly Found[] {
  const diffs = new Map(collections.map((diff) => [diff.collection.id, diff]))
  const owned = Map.groupBy(all, ({ owner }) => owner.collectionId)
  const ways = new Set(kept.map(({ through }) => `${through?.nearId} ${through?.farId}`))
  const known = new Set(kept.map((field) => `${field.collectionId} ${field.oppositeCollectionId}`))
  return collections.flatMap((junction): readonly Found[] => {
    const [first, second, ...others] = owned.get(junction.collection.id) ?? []
    if (first === undefined || second === undefined || others.length > 0) return []
    if (junction.table.foreignKeys.length !== 2 || junction.collection.isReadOnly) return []
    if (!isKey(junction, [first, second]) || ways.has(`${first.opposite?.id} ${second.owner.id}`)) return []
    const sides = [first, second].flatMap(({ owner, constraint }): readonly JunctionSide[] => {
      const collection = diffs.get(owner.oppositeCollectionId)
      const other = owner === first.owner ? second.owner : first.owner
      const isSecond = known.has(`${owner.oppositeCollectionId} ${other.oppositeCollectionId}`)
      return collection === undefined
        ? []
        : [{ collection, apiName: owner.apiName, constraint: constraint.dbName, isSecond }]
    })
    const [one, other] = sides
    if (one === undefined || other === undefined || !isList(first) || !isList(second)) return []
    return [{ junction: { junction, sides: [one, other] }, pairs: [first, second] }]
  })
}

function isList(pair: Pair): pair is Link {
  return pair.opposite?.isList === true
}

/**
 * True if the foreign keys, each with a column of its own, together are a key of the table, so that two rows are linked only
 * once. False for a table that refers to itself.
 */
function isKey({ indexes, collection }: CollectionDiff, pairs: readonly Pair[]): boolean {
  const columns = pairs.map(({ constraint }) => constraint.mappings.map((one) => one.constrainedFieldId))
  const ids = new Set(columns.flat())
  return (
    columns.every((own) => own.length < ids.size) &&
    pairs.every(({ owner }) => owner.oppositeCollectionId !== collection.id) &&
    indexes.some(
      ({ kind, fieldIds }) => kind !== 'normal' && fieldIds.length === ids.size && fieldIds.every((id) => ids.has(id)),
    )
  )
}

/** Junctions that a model file writes at one of their sides (`{many}`) keep their relations. */
function isOfFile(links: readonly Link[], known: ReadonlySet<string>): boolean {
  const names = links.map(({ owner }) => owner.apiName).sort()
  return names.join() === junctionKey.join() && links.every(({ owner }) => known.has(owner.id))
}

function linkOf({ owner, opposite }: Link) {
  return { near: opposite, far: owner }
}

function creations(fields: readonly RelationFieldRecord[]): readonly SchemaOperation[] {
  const left = new Map(fields.map((field) => [field.id, field]))
  return fields.flatMap((field) => {
    const opposite = left.get(field.oppositeRelationFieldId ?? '')
    if (!left.delete(field.id) || opposite === undefined) return []
    left.delete(opposite.id)
    return [{ kind: 'createManyToManyFieldPair', data: { firstField: side(field), secondField: side(opposite) } }]
  })
}

function side({ id, apiName, through }: RelationFieldRecord) {
  return { id, apiName, throughFieldId: through?.nearId }
}
