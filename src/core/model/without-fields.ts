/** The records without some primitive fields, and without the relations and indexes that need them. */
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
