/**
 * Records × records → the operations of a migration that lead from one to the other: what goes first, then renames, changes, and at
 * last what is new and relates. Renames never drop and create; names may be swapped.
 */

import { isSameType } from '../migration/conversion.ts'
import { byId } from '../migration/draft.ts'
import type { CollectionChange, FieldChange, Operation } from '../migration/operation.ts'
import type { ModelRecords, PrimitiveFieldRecord } from '../model/model.ts'
import { fateOf } from './field-fate.ts'
import { pairChanges } from './pair-operations.ts'
import { renameOrder } from './rename-order.ts'

export function operationsBetween(before: ModelRecords, after: ModelRecords): readonly Operation[] {
  const now = byId(before.collections)
  const then = byId(after.collections)
  const { unlink, link, updates, detach } = pairChanges(before, after)
  const gone = before.collections.filter(({ id }) => !then.has(id))
  const namespaces = new Set(before.namespaces.map(({ id }) => id))
  return [
    ...unlink,
    ...gone.map(({ id }): Operation => ({ kind: 'deleteCollection', data: { id } })),
    ...after.namespaces
      .filter(({ id }) => !namespaces.has(id))
      .map(({ id, sourceId, dbName }): Operation => ({ kind: 'createNamespace', data: { id, sourceId, dbName } })),
    ...renameCollections(before, after),
    ...detach,
    ...after.collections.filter(({ id }) => now.has(id)).flatMap(({ id }) => updateCollection(id, before, after)),
    ...after.collections.filter(({ id }) => !now.has(id)).map(({ id }) => createCollection(id, after)),
    ...updates,
    ...link,
  ]
}

function renameCollections(before: ModelRecords, after: ModelRecords): readonly Operation[] {
  const then = byId(after.collections)
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
  const byTable = [...places.values()].flatMap((own) =>
    renameOrder(
      own.map(({ id, dbName }) => ({ key: id, from: dbName, to: then.get(id)?.dbName ?? dbName })),
      new Set([...before.collections, ...after.collections].map(({ dbName }) => dbName)),
    ),
  )
  return [
    ...byName.map(({ key, to }) => rename(key, { kind: 'changeApiName', data: { apiName: to } })),
    ...byTable.map(({ key, to }) => rename(key, { kind: 'changeDbName', data: { dbName: to } })),
  ]
}

function updateCollection(id: string, before: ModelRecords, after: ModelRecords): readonly Operation[] {
  const ofIt = ({ collectionId }: { readonly collectionId: string }) => collectionId === id
  const [was, is] = [before.primitiveFields.filter(ofIt), after.primitiveFields.filter(ofIt)]
  const [indexesBefore, indexes] = [before.indexes.filter(ofIt), after.indexes.filter(ofIt)]
  const then = byId(is)
  const known = byId(was)
  const replaced = new Set(
    was.flatMap((field) => {
      const next = then.get(field.id)
      return next !== undefined && fateOf(field, next) === 'lost' ? [field.id] : []
    }),
  )
  const keptIndexes = new Set(
    indexes
      .filter((index) => !index.fieldIds.some((fieldId) => replaced.has(fieldId)))
      .map(({ id: indexId }) => indexId),
  )
  const wasIndex = byId(indexesBefore)
  const operations: CollectionChange[] = [
    ...indexesBefore
      .filter((index) => !keptIndexes.has(index.id))
      .map(({ id: indexId }): CollectionChange => ({ kind: 'deleteIndex', data: { id: indexId } })),
    ...was
      .filter((field) => !then.has(field.id) || replaced.has(field.id))
      .map((field): CollectionChange => ({ kind: 'deletePrimitiveField', data: { id: field.id } })),
    ...is.flatMap((field): CollectionChange[] => {
      const old = known.get(field.id)
      if (old === undefined || replaced.has(field.id)) return [createField(field)]
      const changes = fieldChanges(old, field)
      return changes.length === 0 ? [] : [{ kind: 'updatePrimitiveField', data: { id: field.id, operations: changes } }]
    }),
    ...indexes
      .filter((index) => !wasIndex.has(index.id) || !keptIndexes.has(index.id))
      .map(({ id: indexId, kind, dbName, fieldIds }): CollectionChange => {
        // The name of a key is the database's own.
        const named = kind === 'primary' ? {} : { dbName }
        return { kind: 'createIndex', data: { id: indexId, kind, fieldIds: [...fieldIds], ...named } }
      }),
  ]
  const aside = swapped(
    was.filter((field) => then.has(field.id) && !replaced.has(field.id)),
    then,
  )
  return [aside, operations]
    .filter((list) => list.length > 0)
    .map((list): Operation => ({ kind: 'updateCollection', data: { id, operations: [...list] } }))
}

/** Columns and fields whose names go round in a circle: one of each is out of the way first. */
function swapped(
  fields: readonly PrimitiveFieldRecord[],
  then: ReadonlyMap<string, PrimitiveFieldRecord>,
): readonly CollectionChange[] {
  const aside = (member: 'apiName' | 'dbName') => {
    const names = new Set([...fields, ...then.values()].map((field) => field[member]))
    const renames = fields.map((field) => ({
      key: field.id,
      from: field[member],
      to: then.get(field.id)?.[member] ?? field[member],
    }))
    return renameOrder(renames, names).flatMap(({ key, to, isAside }) => (isAside ? [{ key, to }] : []))
  }
  const update = (id: string, change: FieldChange): CollectionChange => ({
    kind: 'updatePrimitiveField',
    data: { id, operations: [change] },
  })
  return [
    ...aside('apiName').map(({ key, to }) => update(key, { kind: 'changeApiName', data: { apiName: to } })),
    ...aside('dbName').map(({ key, to }) => update(key, { kind: 'changeDbName', data: { dbName: to } })),
  ]
}

function fieldChanges(before: PrimitiveFieldRecord, after: PrimitiveFieldRecord): FieldChange[] {
  const isRetyped = !isSameType(before.type, after.type)
  return [
    ...(before.apiName === after.apiName
      ? []
      : [{ kind: 'changeApiName', data: { apiName: after.apiName } } satisfies FieldChange]),
    ...(before.dbName === after.dbName
      ? []
      : [{ kind: 'changeDbName', data: { dbName: after.dbName } } satisfies FieldChange]),
    ...(isRetyped ? [{ kind: 'changeType', data: { type: after.type } } satisfies FieldChange] : []),
    ...(before.isNullable === after.isNullable
      ? []
      : [{ kind: 'changeIsNullable', data: { isNullable: after.isNullable } } satisfies FieldChange]),
    ...(before.defaultValue === after.defaultValue
      ? []
      : [{ kind: 'changeDefaultValue', data: { defaultValue: sendable(after) } } satisfies FieldChange]),
  ]
}

type Sent = Extract<FieldChange, { kind: 'changeDefaultValue' }>['data']['defaultValue']

/** What only a database can have said of a default is there, or it is none. */
function sendable({ defaultValue }: PrimitiveFieldRecord): Sent {
  if (defaultValue?.source !== 'connectorManaged') return defaultValue as Sent
  return { source: 'connectorManaged', isAutoincrement: true }
}

function createField(field: PrimitiveFieldRecord): Extract<CollectionChange, { kind: 'createPrimitiveField' }> {
  const { id, dbName, apiName, type, isNullable, isList } = field
  const data = { id, dbName, apiName, type, isNullable, isList, defaultValue: sendable(field) }
  return { kind: 'createPrimitiveField', data }
}

function createCollection(id: string, after: ModelRecords): Operation {
  const record = after.collections.find((one) => one.id === id)
  if (record === undefined) throw new Error(`no collection ${id}`)
  const { sourceId, namespaceId, dbName, apiName } = record
  const operations = [
    ...after.primitiveFields.filter(({ collectionId }) => collectionId === id).map(createField),
    ...after.indexes
      .filter(({ collectionId }) => collectionId === id)
      .map(({ id: indexId, kind, dbName: name, fieldIds }) => ({
        kind: 'createIndex' as const,
        data: { id: indexId, kind, fieldIds: [...fieldIds], ...(kind !== 'primary' && { dbName: name }) },
      })),
  ]
  return { kind: 'createCollection', data: { id, sourceId, namespaceId, dbName, apiName, operations } }
}
