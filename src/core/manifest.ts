/**
 * Builds the manifest of a model (docs/manifest.md): the structure of a workspace and every query that its items
 * support, in one compact document for client generators. It describes the model and the capabilities of its data
 * sources, or of them what one caller can use.
 */
import { actions } from './access/access.ts'
import type {
  CollectionEntry,
  Manifest,
  Operation,
  PrimitiveFieldEntry,
  RelationFieldEntry,
  ServiceSchema,
} from './manifest/format.ts'
import { createInterner, type Interner } from './manifest/interner.ts'
import { fullModelView, isKnown, type ModelView, viewWithin } from './manifest/model-view.ts'
import { canAggregate, operationsOf } from './manifest/query-schema.ts'
import { boundsOf, limitsOf } from './model/checks.ts'
import type { Collection, ConstraintRecord, Field, Model, PrimitiveField, RelationField } from './model/model.ts'
import { eachOf, type Parts } from './parts.ts'

/**
 * Of what `view` shows, and of `collections` alone, where they are given: without relations to others, in the order of the model. A view
 * that is not whole has neither sources nor names of the database in it, nor joins and indexes of which it hides a column.
 */
export function* compileManifest(
  model: Model,
  view: ModelView = fullModelView(() => undefined),
  collections: ReadonlySet<Collection> = new Set(model.collections.values()),
): Parts<Manifest> {
  const isShown = (collection: Collection) =>
    collections.has(collection) && (view.isWhole || actions.some((action) => view.may(collection, action)))
  const shown = [...model.collections.values()].filter(isShown)
  const interner = createInterner(viewWithin(view, new Set(shown)))
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
  const { view } = interner
  const sources = view.isWhole ? [...model.sources.values()] : []
  const namespaces = view.isWhole ? model.records.namespaces : []
  const known = <F extends Field>(collection: Collection, fields: readonly F[]) =>
    fields.filter((field) => isKnown(view, collection, field))
  const places: Places = {
    sources: positions(sources.map(({ id }) => id)),
    namespaces: positions(namespaces.map(({ sourceId, dbName }) => `${sourceId} ${dbName}`)),
    collections: positions(collections),
    primitives: positions(...collections.map((collection) => known(collection, collection.primitives))),
    relations: positions(...collections.map((collection) => known(collection, collection.relations))),
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
  const { view } = interner
  const { conditional, idempotent } = view.declared(collection) ?? {}
  const primitives = collection.primitives.filter((field) => places.primitives.has(field))
  const relations = collection.relations.filter((field) => places.relations.has(field))
  const whole = indexes.filter(({ fields }) => fields.every((field) => places.primitives.has(field)))
  return {
    id,
    ...names(interner, { id, apiName, dbName }),
    ...(view.isWhole && { source: placeOf(places.sources, sourceId) }),
    ...(view.isWhole && schema !== undefined && { namespace: placeOf(places.namespaces, `${sourceId} ${schema}`) }),
    ...(isReadOnly && { isReadonly: isReadOnly }),
    ...(isSystem && { isSystem }),
    ...(isView && { isView }),
    ...(hasHistory && { hasHistory }),
    ...(canAggregate(interner, collection) && { canAggregate: true }),
    ...(conditional && { isConditional: true }),
    ...(idempotent && { isIdempotent: true }),
    primitiveFields: primitives.map((field) => primitiveFieldEntry(field, interner)),
    relationFields: relations.map((field) => relationFieldEntry(field, interner, places)),
    ...(whole.length > 0 && {
      indexes: whole.map((index) => ({
        id: index.id,
        ...(view.isWhole && { dbName: interner.text(index.dbName) }),
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
  const { primitives, relations } = places
  const constraint = interner.view.isWhole ? places.constraints.get(id) : undefined
  const isJoinKnown = joins.every(({ own, other }) => primitives.has(own) && primitives.has(other))
  return {
    id,
    ...names(interner, { id, apiName }),
    oppositeCollection: placeOf(places.collections, target),
    ...(opposite !== undefined && relations.has(opposite) && { oppositeField: placeOf(relations, opposite) }),
    linkingFields: isJoinKnown
      ? joins.map(({ own, other }) => [placeOf(primitives, own), placeOf(primitives, other)])
      : [],
    ...(isList && { isList }),
    ...(isNullable && { isNullable }),
    ...(isForward && { isForward }),
    // Not told where the junction is left out.
    ...(through !== undefined &&
      relations.has(through.near) &&
      relations.has(through.far) && {
        through: { near: placeOf(relations, through.near), far: placeOf(relations, through.far) },
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
    ...(view.isWhole && dbName !== apiName && { dbName: text(dbName) }),
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
