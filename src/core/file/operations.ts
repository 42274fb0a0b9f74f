/**
 * Records × records → the operations of a migration that lead from one to the other: what goes first, then renames, changes, and at
 * last what is new and relates. Renames never drop and create; names of the API may be swapped.
 */

import type { CollectionChange, Operation } from '../migration/operation.ts'
import { lookupOf } from '../model/lookup.ts'
import type { CollectionRecord, ModelRecords } from '../model/model.ts'
import type { Parts } from '../parts.ts'
import { createField, createIndex, updateCollection } from './operations/update-collection.ts'
import { pairChanges } from './pair-operations.ts'
import { renameOrder } from './rename-order.ts'

export function* operationsBetween(before: ModelRecords, after: ModelRecords): Parts<readonly Operation[]> {
  const now = lookupOf(before).collections
  const then = lookupOf(after).collections
  const { unlink, link, updates, detach } = yield* pairChanges(before, after)
  const gone = before.collections.filter(({ id }) => !then.has(id))
  const changed: Operation[] = []
  const created: Operation[] = []
  for (const record of after.collections) {
    yield
    if (now.has(record.id)) changed.push(...updateCollection(record.id, before, after))
    else created.push(createCollection(record, after))
  }
  const namespaces = new Set(before.namespaces.map(({ id }) => id))
  return [
    ...unlink,
    ...gone.map(({ id }): Operation => ({ kind: 'deleteCollection', data: { id } })),
    ...after.namespaces
      .filter(({ id }) => !namespaces.has(id))
      .map(({ id, sourceId, dbName }): Operation => ({ kind: 'createNamespace', data: { id, sourceId, dbName } })),
    ...renameCollections(before, after),
    ...detach,
    ...changed,
    ...created,
    ...updates,
    ...link,
  ]
}

function renameCollections(before: ModelRecords, after: ModelRecords): readonly Operation[] {
  const then = lookupOf(after).collections
  const stay = before.collections.filter(({ id }) => then.has(id))
  const rename = (id: string, change: CollectionChange): Operation => ({
    kind: 'updateCollection',
    data: { id, operations: [change as never] },
  })
  const byName = renameOrder(
    stay.map(({ id, apiName }) => ({ key: id, from: apiName, to: then.get(id)?.apiName ?? apiName })),
    new Set([...before.collections, ...after.collections].map(({ apiName }) => apiName)),
  )
  const places = Map.groupBy(stay, ({ sourceId, namespaceId }) => `${sourceId} ${namespaceId}`)
  const tables = new Set([...before.collections, ...after.collections].map(({ dbName }) => dbName))
  const byTable = [...places.values()].flatMap((own) =>
    renameOrder(
      own.map(({ id, dbName }) => ({ key: id, from: dbName, to: then.get(id)?.dbName ?? dbName })),
      tables,
    ),
  )
  return [
    ...byName.map(({ key, to }) => rename(key, { kind: 'changeApiName', data: { apiName: to } })),
    ...byTable.map(({ key, to }) => rename(key, { kind: 'changeDbName', data: { dbName: to } })),
  ]
}

function createCollection(
  { id, sourceId, namespaceId, dbName, apiName, hasHistory }: CollectionRecord,
  after: ModelRecords,
): Operation {
  const { fieldsOf, indexesOf } = lookupOf(after)
  const operations = [...fieldsOf(id).map(createField), ...indexesOf(id).map(createIndex)]
  const data = { id, sourceId, namespaceId, dbName, apiName, ...(hasHistory && { hasHistory }), operations }
  return { kind: 'createCollection', data }
}
