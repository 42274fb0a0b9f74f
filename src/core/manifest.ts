/**
 * Builds the manifest of a model (docs/manifest.md): the structure of a workspace and every query that its items
 * support, in one compact document for client generators. It describes the model and the capabilities of its data
 * sources, not a caller's rights.
 */
import type { Declarations } from './connector/item-capabilities.ts'
import type {
  CollectionEntry,
  Manifest,
  Operation,
  PrimitiveFieldEntry,
  RelationFieldEntry,
  ServiceSchema,
} from './manifest/format.ts'
import { createInterner, type Interner } from './manifest/interner.ts'
import { type Called, fullModelView, viewWithin } from './manifest/model-view.ts'
import { canAggregate, operationsOf } from './manifest/query-schema.ts'
import { boundsOf, limitsOf } from './model/checks.ts'
import type { Collection, ConstraintRecord, Model, PrimitiveField, RelationField } from './model/model.ts'
import { eachOf, type Parts } from './parts.ts'

/** Of `collections` alone, where they are given: without relations to others, in the order of the model. */
export function* compileManifest(
  model: Model,
  declared: Declarations = () => undefined,
  collections: ReadonlySet<Collection> = new Set(model.collections.values()),
  called?: Called,
): Parts<Manifest> {
  const interner = createInterner(viewWithin(fullModelView(declared, called), collections))
  const shown = [...model.collections.values()].filter((collection) => collections.has(collection))
  const serviceSchema = yield* compileServiceSchema(model, interner, shown)
  const operations: Operation[] = []
  yield* eachOf(shown, (collection) => operations.push(...operationsOf(interner, collection)))
  const { strings, primitiveTypes, ...types } = yield* interner.finish()
  return { formatVersion: 1, strings, primitiveTypes, serviceSchema, querySchema: { operations, ...types } }
}

function* compileServiceSchema(
  model: Model,
  interner: Interner,
  collections: readonly Collection[],
): Parts<ServiceSchema> {
  const sources = [...model.sources.values()]
  const { namespaces } = model.records
  const shown = new Set(collections)
  const relationsOf = ({ relations }: Collection) => relations.filter(({ target }) => shown.has(target))
  const places: Places = {
    sources: positions(sources.map(({ id }) => id)),
    namespaces: positions(namespaces.map(({ sourceId, dbName }) => `${sourceId} ${dbName}`)),
    collections: positions(collections),
    primitives: positions(...collections.map(({ primitives }) => primitives)),
    relations: positions(...collections.map(relationsOf)),
    constraints: constraintsByRelation(model),
  }
  const manifest = {
    sources: sources.map(({ id, apiName, provider }) => ({
      id,
      name: interner.text(apiName),
      provider: interner.text(provider),
    })),
    namespaces: namespaces.map(({ id, sourceId, dbName, isSystem }) => ({
      id,
      dbName: interner.text(dbName),
      source: placeOf(places.sources, sourceId),
      ...(isSystem && { isSystem }),
    })),
  }
  const entries: CollectionEntry[] = []
  yield* eachOf(collections, (collection) => entries.push(collectionEntry(collection, interner, places)))
  return { ...manifest, collections: entries }
}

function collectionEntry(collection: Collection, interner: Interner, places: Places): CollectionEntry {
  const { id, sourceId, apiName, dbName, schema, isReadOnly, isSystem, isView, hasHistory, indexes } = collection
  const { conditional, idempotent } = interner.view.declared(collection) ?? {}
  const relations = collection.relations.filter((field) => places.relations.has(field))
  return {
    id,
    ...names(interner, { id, apiName, dbName }),
    source: placeOf(places.sources, sourceId),
    ...(schema !== undefined && { namespace: placeOf(places.namespaces, `${sourceId} ${schema}`) }),
    ...(isReadOnly && { isReadonly: isReadOnly }),
    ...(isSystem && { isSystem }),
    ...(isView && { isView }),
    ...(hasHistory && { hasHistory }),
    ...(canAggregate(interner, collection) && { canAggregate: true }),
    ...(conditional && { isConditional: true }),
    ...(idempotent && { isIdempotent: true }),
    primitiveFields: collection.primitives.map((field) => primitiveFieldEntry(field, interner)),
    relationFields: relations.map((field) => relationFieldEntry(field, interner, places)),
    ...(indexes.length > 0 && {
      indexes: indexes.map((index) => ({
        id: index.id,
        dbName: interner.text(index.dbName),
        kind: index.kind,
        fields: index.fields.map((field) => placeOf(places.primitives, field)),
      })),
    }),
  }
}

/** Indexes of fields and constraints in the lists of the manifest. */
type Places = {
  readonly sources: ReadonlyMap<string, number>
  readonly namespaces: ReadonlyMap<string, number>
  readonly collections: ReadonlyMap<Collection, number>
  /** Within their own collection. */
  readonly primitives: ReadonlyMap<PrimitiveField, number>
  readonly relations: ReadonlyMap<RelationField, number>
  /** By the id of the relation that owns the constraint. */
  readonly constraints: ReadonlyMap<string, ConstraintRecord>
}

function primitiveFieldEntry(field: PrimitiveField, interner: Interner): PrimitiveFieldEntry {
  const { id, type, isNullable, isList, isReadOnly, defaultValue } = field
  const { values } = limitsOf(field)
  return {
    id,
    ...names(interner, field),
    type: interner.type(type),
    ...(isNullable && { isNullable }),
    ...(isList && { isList }),
    ...(isReadOnly && { isReadonly: isReadOnly }),
    ...(defaultValue !== null && { defaultValue }),
    ...(values !== undefined && { values: values.map(interner.text) }),
    ...boundsOf(field),
  }
}

function relationFieldEntry(field: RelationField, interner: Interner, places: Places): RelationFieldEntry {
  const { id, apiName, target, opposite, joins, isList, isNullable, isForward, through } = field
  const constraint = places.constraints.get(id)
  return {
    id,
    ...names(interner, { id, apiName }),
    oppositeCollection: placeOf(places.collections, target),
    ...(opposite !== undefined && { oppositeField: placeOf(places.relations, opposite) }),
    linkingFields: joins.map(({ own, other }) => [placeOf(places.primitives, own), placeOf(places.primitives, other)]),
    ...(isList && { isList }),
    ...(isNullable && { isNullable }),
    ...(isForward && { isForward }),
    // Not told where the junction is left out.
    ...(through !== undefined &&
      places.relations.has(through.near) && {
        through: { near: placeOf(places.relations, through.near), far: placeOf(places.relations, through.far) },
      }),
    ...(constraint !== undefined && {
      constraint: {
        id: constraint.id,
        dbName: interner.text(constraint.dbName),
        onDelete: constraint.onDelete,
        onUpdate: constraint.onUpdate,
      },
    }),
  }
}

type Entry = { readonly id: string; readonly apiName: string; readonly dbName?: string }

function names({ text, view }: Interner, { id, apiName, dbName = apiName }: Entry) {
  const { displayName, description } = view.called(id) ?? {}
  return {
    apiName: text(apiName),
    ...(dbName !== apiName && { dbName: text(dbName) }),
    ...(displayName && { displayName: text(displayName) }),
    ...(description && { description: text(description) }),
  }
}

/** The workspace's own relations only: those of system collections have no constraint in the database. */
function constraintsByRelation({ records }: Model): ReadonlyMap<string, ConstraintRecord> {
  const constraints = new Map(records.constraints.map((constraint) => [constraint.id, constraint]))
  const owned = records.relationFields.flatMap(({ id, constraintId }) => {
    const constraint = constraints.get(constraintId ?? '')
    return constraint === undefined ? [] : [[id, constraint] as const]
  })
  return new Map(owned)
}

function positions<T>(...lists: readonly (readonly T[])[]): ReadonlyMap<T, number> {
  return new Map(lists.flatMap((list) => list.map((value, index) => [value, index] as const)))
}

function placeOf<T>(places: ReadonlyMap<T, number>, value: T): number {
  const place = places.get(value)
  if (place === undefined) throw new Error('the model refers to something that it does not have')
  return place
}
