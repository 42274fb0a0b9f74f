/** The records without some primitive fields or the collections that are closed, and without the relations and indexes that need them. */
import type { ModelRecords, RelationFieldRecord } from './model.ts'

export function withoutFields(records: ModelRecords, gone: ReadonlySet<string>): ModelRecords {
  const constraints = records.constraints.filter(({ mappings }) =>
    mappings.every((one) => !gone.has(one.constrainedFieldId) && !gone.has(one.referencedFieldId)),
  )
  const joined = new Set(constraints.map(({ id }) => id))
  const direct = new Set(
    records.relationFields.flatMap(({ id, constraintId, oppositeRelationFieldId }) =>
      constraintId !== null && joined.has(constraintId) ? [id, oppositeRelationFieldId] : [],
    ),
  )
  const stays = ({ id, through }: RelationFieldRecord) =>
    through === undefined ? direct.has(id) : direct.has(through.nearId) && direct.has(through.farId)
  return {
    ...records,
    primitiveFields: records.primitiveFields.filter(({ id }) => !gone.has(id)),
    relationFields: records.relationFields.filter(stays),
    constraints,
    indexes: records.indexes.filter(({ fieldIds }) => !fieldIds.some((id) => gone.has(id))),
  }
}

/** The same object where no collection is closed. */
export function withoutClosed(records: ModelRecords): ModelRecords {
  const closed = new Set(records.collections.flatMap(({ id, isClosed }) => (isClosed ? [id] : [])))
  if (closed.size === 0) return records
  const fields = records.primitiveFields.filter(({ collectionId }) => closed.has(collectionId)).map(({ id }) => id)
  const left = withoutFields(records, new Set(fields))
  // Of a relation without columns nothing but its ends tells that it is gone.
  const isOpen = ({ collectionId, oppositeCollectionId }: RelationFieldRecord) =>
    !closed.has(collectionId) && !closed.has(oppositeCollectionId)
  return {
    ...left,
    collections: left.collections.filter(({ id }) => !closed.has(id)),
    relationFields: left.relationFields.filter(isOpen),
    indexes: left.indexes.filter(({ collectionId }) => !closed.has(collectionId)),
  }
}
