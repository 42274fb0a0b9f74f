/**
 * The model for readers who want to query or change it: collections with their fields, relations and indexes, by name
 * and id.
 */
import { limitsOf } from './checks.ts'
import type { Collection, Model, PrimitiveField, RelationField } from './model.ts'

export function describeSources({ sources, records }: Model) {
  return [...sources.values()].map(({ id, apiName, provider }) => ({
    id,
    apiName,
    provider,
    namespaces: records.namespaces
      .filter(({ sourceId }) => sourceId === id)
      .map((namespace) => ({ id: namespace.id, dbName: namespace.dbName, isSystem: namespace.isSystem })),
  }))
}

export function describeCollection(collection: Collection) {
  const { id, apiName, dbName, sourceId, isReadOnly, isSystem, isView, key, primitives, relations, indexes } =
    collection
  return {
    id,
    apiName,
    dbName,
    sourceId,
    isReadOnly,
    isSystem,
    isView,
    key: keyName(key),
    fields: primitives.map(describeField),
    relations: relations.map(describeRelation),
    indexes: indexes.map((index) => ({
      id: index.id,
      dbName: index.dbName,
      kind: index.kind,
      fields: index.fields.map((field) => field.apiName),
    })),
  }
}

/** The short description of a collection, for lists too long to describe each in full. */
export function nameCollection({ id, apiName, sourceId, isReadOnly, isSystem, key }: Collection) {
  return { id, apiName, sourceId, isReadOnly, isSystem, key: keyName(key) }
}

/** The field of the key, a list of them where it has several, or null. */
export function keyName(key: readonly PrimitiveField[]): string | readonly string[] | null {
  const [first, ...others] = key.map(({ apiName }) => apiName)
  return first === undefined ? null : others.length === 0 ? first : [first, ...others]
}

function describeField(field: PrimitiveField) {
  const { id, apiName, dbName, type, isNullable, isList, isReadOnly, defaultValue } = field
  return { id, apiName, dbName, type, ...limitsOf(field), isNullable, isList, isReadOnly, defaultValue }
}

function describeRelation({
  id,
  apiName,
  target,
  opposite,
  isList,
  isNullable,
  isForward,
  joins,
  through,
}: RelationField) {
  return {
    id,
    apiName,
    collection: target.apiName,
    opposite: opposite?.apiName ?? null,
    isList,
    isNullable,
    isForward,
    joins: joins.map(({ own, other }) => ({ own: own.apiName, other: other.apiName })),
    ...(through !== undefined && { through: through.near.target.apiName }),
  }
}
