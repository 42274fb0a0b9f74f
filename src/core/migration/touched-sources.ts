/** Finds the data sources that operations affect: those that they name directly, or through the id of a record. */
import type { ModelRecords } from '../model/model.ts'
import type { Parts } from '../parts.ts'
import { textsIn } from './named.ts'
import type { Operation } from './operation.ts'

export function* touchedSources(records: ModelRecords, operations: readonly Operation[]): Parts<ReadonlySet<string>> {
  const named = new Set<string>()
  for (const operation of operations) {
    yield
    for (const text of textsIn(operation)) named.add(text.toLowerCase())
  }
  const sourceOf = new Map(records.collections.map(({ id, sourceId }) => [id, sourceId]))
  const parts = [
    ...records.sources.map(({ id }) => [id, id] as const),
    ...records.namespaces.map(({ id, sourceId }) => [id, sourceId] as const),
    ...records.collections.map(({ id, sourceId }) => [id, sourceId] as const),
    // Only unlinking names just a relation field.
    ...records.relationFields.map(({ id, collectionId }) => [id, sourceOf.get(collectionId)] as const),
  ]
  return new Set(parts.flatMap(([id, sourceId]) => (sourceId !== undefined && named.has(id) ? [sourceId] : [])))
}
