/**
 * Many-to-many fields: two relation fields that lead through the two relations of a junction (decision 057). They exist in the
 * model alone and are deleted with either relation.
 */
import type { RelationFieldRecord } from '../model/model.ts'
import { type Draft, refuse } from './draft.ts'
import { addRelation, claimId, removeRelation } from './edits.ts'
import { claimFieldName } from './fields.ts'
import { collectionOf, type Pair } from './lookups.ts'
import type { DataOf } from './operation.ts'

/** The names of a junction's relations, which are its key, if a model file creates it for a many-to-many relation. */
export const junctionKey: readonly string[] = 'from,to'.split(',')

type Data = DataOf<'createManyToManyFieldPair'>

export function createManyToMany(draft: Draft, { firstField, secondField }: Data): void {
  const first = linkOf(draft, firstField.throughFieldId)
  const second = linkOf(draft, secondField.throughFieldId)
  if (first.near.oppositeCollectionId !== second.near.oppositeCollectionId || first.near.id === second.near.id) {
    refuse('relation', 'the two sides must lead through two relations of one junction')
  }
  const { record } = collectionOf(draft, first.near.oppositeCollectionId)
  const ends = [first, second].map(({ near }) => collectionOf(draft, near.collectionId).record.sourceId)
  const isStored = draft.context.dialectOf(record.sourceId) !== undefined
  if (!isStored || ends.some((sourceId) => sourceId !== record.sourceId)) {
    refuse('unsupported', 'a many-to-many field needs a junction and both collections in one database')
  }
  for (const pair of manyToManyPair([firstField, first], [secondField, second])) {
    const collection = collectionOf(draft, pair.collectionId)
    claimId(draft, pair.id)
    claimFieldName(collection, pair.apiName)
    addRelation(draft, pair)
  }
}

type Side = { readonly id: string; readonly apiName: string }
/** The two sides of a relation between a collection and its junction. */
type Link = { readonly near: RelationFieldRecord; readonly far: Pick<RelationFieldRecord, 'id'> }

/** The records of both fields, each by its own link. */
export function manyToManyPair(
  [first, own]: readonly [Side, Link],
  [second, other]: readonly [Side, Link],
): readonly RelationFieldRecord[] {
  const side = ({ id, apiName }: Side, opposite: Side, { near }: Link, far: Link): RelationFieldRecord => ({
    id,
    apiName,
    collectionId: near.collectionId,
    oppositeCollectionId: far.near.collectionId,
    oppositeRelationFieldId: opposite.id,
    constraintId: null,
    isList: true,
    isNullable: false,
    through: { nearId: near.id, farId: far.far.id },
  })
  return [side(first, second, own, other), side(second, first, other, own)]
}

/** Returns the many-to-many fields that lead through a pair. */
export function leadingThrough(draft: Draft, { owner, opposite }: Pair): readonly RelationFieldRecord[] {
  const ids = new Set([owner.id, opposite?.id ?? ''].flatMap((id) => [...(draft.leading.get(id) ?? [])]))
  return [...ids].flatMap((id) => draft.relations.get(id) ?? [])
}

type Ids = { readonly firstFieldId: string; readonly secondFieldId: string }

/** Returns both fields if the ids are those of a many-to-many pair. */
export function manyToManyOf(draft: Draft, { firstFieldId, secondFieldId }: Ids): readonly RelationFieldRecord[] {
  const first = draft.relations.get(firstFieldId)
  const second = draft.relations.get(secondFieldId)
  if (first?.through === undefined || second === undefined || first.oppositeRelationFieldId !== second.id) return []
  return [first, second]
}

export function updateManyToMany(
  draft: Draft,
  fields: readonly RelationFieldRecord[],
  { operations }: DataOf<'updateRelationFieldPair'>,
): void {
  for (const { kind, data } of operations) {
    if (kind !== 'changeApiName') refuse('relation', 'a many-to-many field has no referential actions')
    const id = fields.find((field) => field.id === data.fieldId)?.id ?? ''
    renameRelation(
      draft,
      draft.relations.get(id) ?? refuse('unknown', `the pair has no field ${data.fieldId}`),
      data.apiName,
    )
  }
}

export function deleteManyToMany(draft: Draft, fields: readonly RelationFieldRecord[]): void {
  for (const field of fields) removeRelation(draft, field)
}

export function renameRelation(draft: Draft, record: RelationFieldRecord, apiName: string): void {
  if (record.apiName === apiName) return
  const collection = collectionOf(draft, record.collectionId)
  collection.fieldNames.delete(record.apiName)
  claimFieldName(collection, apiName)
  draft.relations.set(record.id, { ...record, apiName })
}

function linkOf(draft: Draft, id: string): Link {
  const near = draft.relations.get(id) ?? refuse('unknown', `unknown relation field ${id}`)
  const far = draft.relations.get(near.oppositeRelationFieldId ?? '')
  if (!near.isList || far === undefined || far.constraintId === null) {
    refuse('relation', `the relation field ${near.apiName} does not lead to the rows of a junction`)
  }
  return { near, far }
}
