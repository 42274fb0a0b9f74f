/**
 * Describes a model to an agent: the collections and fields that this caller can use, and the actions on them. A caller
 * who may read the model sees all of it; others see only what some action is allowed on, without ids and database
 * names.
 */
import { type Action, actions, type Viewer } from '../access/access.ts'
import { type Declarations, describeCapabilities, servesOperation } from '../connector/item-capabilities.ts'
import { limitsOf } from '../model/checks.ts'
import type { Collection, Field, Model, PrimitiveField, RelationField } from '../model/model.ts'
import { describeCollection, keyName, nameCollection } from '../model/overview.ts'
import { isKnown as isUsable, type ModelView, modelViewOf } from './model-view.ts'

export type AgentView = {
  /** Returns true if a tool offers this on some collection: on a list, or on one item by its key. */
  readonly may: (action: Action | 'aggregate') => boolean
  /** The workspace's own collections that this caller may know of. */
  readonly known: readonly Collection[]
  /** Finds a collection, also a system collection, by name; undefined for unknown and hidden ones alike. */
  readonly find: (name: string) => Collection | undefined
  readonly describe: (collection: Collection) => object
  /** The short description of a collection, for lists too long to describe each in full. */
  readonly name: (collection: Collection) => object
}

export function agentView(model: Model, viewer: Viewer, declared: Declarations): AgentView {
  const view = modelViewOf(viewer, declared)
  const all = [...model.collections.values()]
  // Names and views are there for those who look at screens: no tool is offered for their sake.
  const offered = all.filter(({ isSystem, isReadOnly }) => !isSystem || isReadOnly)
  const allowed = (collection: Collection) => actions.filter((action) => isAllowed(view, collection, action))
  const isKnown = (collection: Collection) => viewer.seesModel || allowed(collection).length > 0
  return {
    may: (action) =>
      offered.some((collection) =>
        action === 'aggregate'
          ? isAllowed(view, collection, 'read') && view.declared(collection) === undefined
          : isAllowed(view, collection, action) && isReached(view, collection, action),
      ),
    known: all.filter((collection) => !collection.isSystem && isKnown(collection)),
    find(name) {
      const collection = model.byName.get(name)
      return collection !== undefined && isKnown(collection) ? collection : undefined
    },
    describe(collection) {
      const own = allowed(collection)
      const serves = describeServed(view, collection, viewer.seesModel)
      const description = viewer.seesModel ? wholly(view, collection, own) : asUsable(view, collection, own)
      return { ...description, ...(serves !== undefined && { serves }) }
    },
    name(collection) {
      const { apiName, key } = collection
      const entry = viewer.seesModel
        ? nameCollection(collection)
        : { apiName, key: keyName(key.every((field) => isUsable(view, collection, field)) ? key : []) }
      return { ...entry, actions: allowed(collection) }
    },
  }
}

function isAllowed(view: ModelView, collection: Collection, action: Action): boolean {
  if (!view.may(collection, action)) return false
  const own = view.declared(collection)
  if (own === undefined) return true
  if (action === 'read') return servesOperation(own, 'readMany') || servesOperation(own, 'readOne')
  if (action === 'create') return servesOperation(own, 'create')
  return action === 'update'
    ? servesOperation(own, 'updateOne') || servesOperation(own, 'updateMany')
    : servesOperation(own, 'deleteOne') || servesOperation(own, 'deleteMany')
}

/** The tools read lists, and change and delete one item by its key. */
function isReached(view: ModelView, collection: Collection, action: Action): boolean {
  const own = view.declared(collection)
  if (action === 'read') return own === undefined || servesOperation(own, 'readMany')
  if (action === 'create') return true
  const isServed = own === undefined || servesOperation(own, action === 'update' ? 'updateOne' : 'deleteOne')
  return collection.key.length > 0 && isServed
}

function usableBy(view: ModelView, collection: Collection, field: Field): readonly Action[] {
  return actions.filter((action) => action !== 'delete' && view.uses(collection, field, action) !== 'never')
}

/** Given only where it is less than the collection's actions, so that most fields need no list. */
function actionsOf(view: ModelView, collection: Collection, field: Field, own: readonly Action[]) {
  const usable = usableBy(view, collection, field)
  const isReadOnly = field.kind === 'primitive' && field.isReadOnly
  const most = own.filter((action) => action === 'read' || (action !== 'delete' && !isReadOnly))
  return most.every((action) => usable.includes(action)) ? {} : { actions: most.filter((one) => usable.includes(one)) }
}

function wholly(view: ModelView, collection: Collection, own: readonly Action[]) {
  const { fields, relations, ...rest } = describeCollection(collection)
  const withActions = <T extends object>(list: readonly T[], of: readonly Field[]) =>
    list.map((one, index) => {
      const field = of[index]
      return { ...one, ...(field !== undefined && actionsOf(view, collection, field, own)) }
    })
  return {
    ...rest,
    actions: own,
    fields: withActions(fields, collection.primitives),
    relations: withActions(relations, collection.relations),
  }
}

function asUsable(view: ModelView, collection: Collection, own: readonly Action[]) {
  const { apiName, key, primitives, relations, indexes } = collection
  const usable = (field: Field) => isUsable(view, collection, field)
  const unique = indexes.filter(({ kind, fields }) => kind === 'unique' && fields.every(usable))
  return {
    apiName,
    key: keyName(key.every(usable) ? key : []),
    actions: own,
    fields: primitives
      .filter(usable)
      .map((field) => ({ ...describeField(field), ...actionsOf(view, collection, field, own) })),
    relations: relations
      .filter(usable)
      .map((relation) => ({ ...describeRelation(relation), ...actionsOf(view, collection, relation, own) })),
    ...(unique.length > 0 && { unique: unique.map(({ fields }) => fields.map((field) => field.apiName)) }),
  }
}

function describeField(field: PrimitiveField) {
  const { apiName, type, isNullable, isList, isReadOnly, defaultValue } = field
  return {
    apiName,
    type,
    ...limitsOf(field),
    isNullable,
    ...(isList && { isList }),
    ...(isReadOnly && { isReadOnly }),
    ...(defaultValue !== null && { defaultValue }),
  }
}

function describeRelation({ apiName, target, isList, isNullable }: RelationField) {
  return { apiName, collection: target.apiName, isList, isNullable }
}

/** The connector's declaration for a collection, limited to fields that the caller may know. */
function describeServed(view: ModelView, collection: Collection, seesModel: boolean) {
  const own = view.declared(collection)
  if (own === undefined) return undefined
  const offer = describeCapabilities(collection, own)
  if (seesModel) return offer
  const shown = new Set(
    collection.primitives.filter((field) => isUsable(view, collection, field)).map((one) => one.apiName),
  )
  return {
    ...offer,
    filter: Object.fromEntries(Object.entries(offer.filter).filter(([name]) => shown.has(name))),
    sort: offer.sort.filter((name) => shown.has(name)),
  }
}
