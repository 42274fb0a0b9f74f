/** Removes a data source from the model, with its namespaces, its collections and every relation to them. */
import type { ModelRecords } from '../model/model.ts'

export function withoutSource(records: ModelRecords, sourceId: string): ModelRecords {
  const gone = new Set(records.collections.filter((one) => one.sourceId === sourceId).map(({ id }) => id))
  const stays = ({ collectionId }: { readonly collectionId: string }) => !gone.has(collectionId)
  // A relation with one side in a removed collection is removed on both sides.
  const relationFields = records.relationFields.filter((field) => stays(field) && !gone.has(field.oppositeCollectionId))
  const constraintIds = new Set(relationFields.map(({ constraintId }) => constraintId))
  return {
    sources: records.sources.filter(({ id }) => id !== sourceId),
    namespaces: records.namespaces.filter((namespace) => namespace.sourceId !== sourceId),
    collections: records.collections.filter(({ id }) => !gone.has(id)),
    primitiveFields: records.primitiveFields.filter(stays),
    relationFields,
    constraints: records.constraints.filter(({ id }) => constraintIds.has(id)),
    indexes: records.indexes.filter(stays),
  }
}
