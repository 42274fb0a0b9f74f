/**
 * Collections → what their items take when they are written, nested writes included (docs/contract.md#nested-writes).
 * Says what `core/plan` accepts, and nothing that it refuses.
 */
import type { Action } from '../access/access.ts'
import { type Declarations, type ItemOperation, isElsewhere, servesOperation } from '../connector/offer.ts'
import type { Collection, PrimitiveField, RelationField } from '../model/model.ts'
import { uniqueSets } from '../plan/program.ts'
import { type Kind, knownOperations } from '../plan/relation-operation.ts'
import { filterInput } from './filter-input.ts'
import type { Constraints, InputField, TypeReference } from './format.ts'
import type { Description, Pools } from './pools.ts'

/**
 * A new item. Nested in another through `parent` it has neither the relation back nor the columns that the outer item
 * gives it.
 */
export function createInput(pools: Pools, collection: Collection, parent?: RelationField): TypeReference {
  const { id, apiName } = collection
  const given = parent === undefined || parent.isForward ? [] : parent.joins.map(({ other }) => other)
  if (parent === undefined || (parent.opposite === undefined && given.length === 0)) {
    return `i${pools.input(`${id} create`, `${apiName}CreateInput`, () => newItem(pools, collection, [], undefined))}`
  }
  const name = `${parent.collection.apiName}${parent.apiName}CreateRelatedWithoutTypeInput`
  return `i${pools.input(`${parent.id} nested create`, name, () => newItem(pools, collection, given, parent.opposite))}`
}

/** A change of one item. */
export function updateOneData(pools: Pools, collection: Collection): TypeReference {
  const { id, apiName } = collection
  const index = pools.input(`${id} update`, `${apiName}UpdateDataInput`, () => {
    const relations = relationEntries(pools, collection, 'update')
    return {
      fields: [...changes(pools, collection), ...relations.map(([{ apiName: name }, field]): Entry => [name, field])],
      ...constrained({ excludes: exclusions(writable(pools, collection, 'update'), relations) }),
    }
  })
  return `i${index}`
}

/** A change of any number of items at once, which cannot hold relations. */
export function updateManyData(pools: Pools, collection: Collection): TypeReference {
  const { id, apiName } = collection
  if (!pools.relations(collection, 'update').some((relation) => operationsOn(pools, relation, 'update').length > 0))
    return updateOneData(pools, collection)
  const fields = () => ({ fields: changes(pools, collection) })
  return `i${pools.input(`${id} update many`, `${apiName}UpdateManyDataInput`, fields)}`
}

type Entry = readonly [name: string, field: InputField]
type Occasion = 'create' | 'update'

function newItem(
  pools: Pools,
  collection: Collection,
  given: readonly PrimitiveField[],
  back: RelationField | undefined,
): Description<InputField> {
  const columns = writable(pools, collection, 'create').filter((field) => !given.includes(field))
  const relations = relationEntries(pools, collection, 'create').filter(([relation]) => relation !== back)
  const alternatives = new Map(columns.map((field) => [field, providers(field, relations)]))
  const fields = columns.map((field): Entry => {
    const { apiName, defaultValue, isNullable } = field
    const isOptional = isNullable || defaultValue !== null || (alternatives.get(field)?.length ?? 0) > 0
    return [
      apiName,
      {
        type: pools.value(field),
        ...(isOptional && { optional: true }),
        kind: 'primitive',
        ...(defaultValue !== null && { hasDefault: true }),
      },
    ]
  })
  const atLeastOneOf = columns
    .filter(({ isNullable, defaultValue }) => !isNullable && defaultValue === null)
    .map((field) => [field.apiName, ...(alternatives.get(field) ?? [])])
    .filter((names) => names.length > 1)
  return {
    fields: [...fields, ...relations.map(([{ apiName }, field]): Entry => [apiName, field])],
    ...constrained({ atLeastOneOf, excludes: exclusions(columns, relations) }),
  }
}

function changes(pools: Pools, collection: Collection): readonly Entry[] {
  return writable(pools, collection, 'update').map((field) => [
    field.apiName,
    { type: pools.value(field), optional: true, kind: 'primitive' },
  ])
}

function writable(pools: Pools, collection: Collection, occasion: Occasion): readonly PrimitiveField[] {
  return pools.primitives(collection, occasion).filter(({ isReadOnly }) => !isReadOnly)
}

type RelationEntry = readonly [relation: RelationField, field: InputField]

function relationEntries(pools: Pools, collection: Collection, occasion: Occasion): readonly RelationEntry[] {
  return pools
    .relations(collection, occasion)
    .filter((relation) => operationsOn(pools, relation, occasion).length > 0)
    .map((relation) => [relation, { type: relationInput(pools, relation, occasion), optional: true, kind: 'relation' }])
}

/** The relations by which a foreign-key column can be given as well. */
function providers(field: PrimitiveField, relations: readonly RelationEntry[]): readonly string[] {
  return relations
    .filter(([{ isForward, joins }]) => isForward && joins.some(({ own }) => own === field))
    .map(([{ apiName }]) => apiName)
}

/** A foreign key is given by its columns or through the relation, never by both. */
function exclusions(
  columns: readonly PrimitiveField[],
  relations: readonly RelationEntry[],
): readonly (readonly string[])[] {
  return relations
    .filter(([{ isForward }]) => isForward)
    .map(([{ apiName, joins }]) => [
      apiName,
      ...joins.filter(({ own }) => columns.includes(own)).map(({ own }) => own.apiName),
    ])
    .filter((names) => names.length > 1)
}

/** Without the constraints that say nothing. */
function constrained(
  constraints: {
    readonly [Kind in 'atLeastOneOf' | 'excludes']?: readonly (readonly string[])[]
  },
): { readonly constraints?: Constraints<string> } {
  const useful = Object.entries(constraints).filter(([, lists]) => lists.length > 0)
  return useful.length === 0 ? {} : { constraints: Object.fromEntries(useful) }
}

function relationInput(pools: Pools, relation: RelationField, occasion: Occasion): TypeReference {
  const { id, collection, apiName, isList } = relation
  const onUpdate = isList ? 'UpdateManyRelatedOperationsInput' : 'UpdateOneRelatedOperationsInput'
  const suffix = occasion === 'create' ? 'CreateRelatedInput' : onUpdate
  const index = pools.input(`${id} ${occasion}`, `${collection.apiName}${apiName}${suffix}`, () => ({
    fields: operationsOn(pools, relation, occasion).map(
      (kind): Entry => [kind, { type: `i${operationInput(pools, relation, kind)}`, optional: true }],
    ),
    constraints: { atMostOneField: true, atLeastOneField: true },
  }))
  return occasion === 'create' && !isList ? `i${index}` : `[i${index}]`
}

/** What can be written through a relation. Both ends need a key, so that their rows can be told apart. */
function operationsOn({ sight }: Pools, relation: RelationField, occasion: Occasion): readonly Kind[] {
  const { collection, target, isForward } = relation
  if (collection.primaryKey.length === 0 || target.primaryKey.length === 0) return []
  const declared = sight.declared(target)
  const may = (action: Action) =>
    sight.may(target, action) &&
    (declared === undefined || wholesale[action].some((one) => servesOperation(declared, one)))
  // At a backward relation the far row holds the foreign key, so that it is changed.
  const mayLink = isForward || may('update')
  const needs: Readonly<Record<Kind, boolean>> = {
    _connect: mayLink && (declared === undefined || servesOperation(declared, 'readOne')),
    _disconnect: mayLink,
    _create: may('create'),
    _update: may('update'),
    _delete: may('delete'),
  }
  return knownOperations(relation, occasion).filter(
    (kind) => needs[kind] && isOneWrite(kind, { relation, occasion, declared: sight.declared }),
  )
}

/** By one of these a connector can do it. */
const wholesale: Readonly<Record<Action, readonly ItemOperation[]>> = {
  read: ['readOne'],
  create: ['create'],
  update: ['updateOne', 'updateMany'],
  delete: ['deleteOne', 'deleteMany'],
}

type Nesting = {
  readonly relation: RelationField
  readonly occasion: Occasion
  readonly declared: Declarations
}

/** Two sources have no transaction in common, and a connector has none at all: there it has to be one write of one collection. */
function isOneWrite(kind: Kind, { relation, occasion, declared }: Nesting): boolean {
  const { collection, target, isForward } = relation
  if (!isElsewhere(relation, declared)) return true
  if (kind === '_disconnect') return isForward || collection.sourceId === target.sourceId
  if (collection.sourceId !== target.sourceId) return false
  return occasion === 'update' || (kind === '_connect' && isForward)
}

function operationInput(pools: Pools, relation: RelationField, kind: Kind): number {
  const { id, collection, apiName, target, isList } = relation
  const own = `${collection.apiName}${apiName}`
  const filter: Entry = ['filter', { type: filterInput(pools, target), optional: true }]
  const many = (type: TypeReference) => (isList ? `[${type}]` : type)
  switch (kind) {
    case '_connect':
      return pools.input(`${id} connect`, `${own}ConnectInput`, () => ({
        fields: [[isList ? 'keys' : 'key', { type: many(connectKey(pools, relation)) }]],
      }))
    case '_create':
      return pools.input(`${id} create arguments`, `${own}CreateArguments`, () => ({
        fields: [['data', { type: many(createInput(pools, target, relation)) }]],
      }))
    case '_update': {
      const name = isList ? 'UpdateManyInput' : 'UpdateInput'
      return pools.input(`${target.id} nested ${name}`, `${target.apiName}${name}`, () => ({
        fields: [['data', { type: isList ? updateManyData(pools, target) : updateOneData(pools, target) }], filter],
      }))
    }
    case '_disconnect': {
      const name = isList ? 'DisconnectManyInput' : 'DisconnectOneInput'
      return pools.input(`${target.id} ${name}`, `${target.apiName}${name}`, () => ({ fields: isList ? [filter] : [] }))
    }
    case '_delete':
      return pools.input(`${target.id} nested delete`, `${target.apiName}DeleteInput`, () => ({ fields: [filter] }))
  }
}

/** The row to connect: forward by the columns that are referred to, backward by any unique set of columns. */
function connectKey(pools: Pools, relation: RelationField): TypeReference {
  const { id, collection, apiName, target, joins, isForward } = relation
  const own = `${collection.apiName}${apiName}`
  const entry = (field: PrimitiveField): InputField => ({ type: pools.primitive(field.type), kind: 'primitive' })
  if (isForward) {
    const fields = () => ({ fields: joins.map(({ other }): Entry => [other.apiName, entry(other)]) })
    return `i${pools.input(`${id} key`, `${own}ConnectForwardKeyInput`, fields)}`
  }
  const sets = uniqueSets(target).filter((fields) =>
    fields.every((field) => pools.sight.uses(target, field, 'read') !== 'never'),
  )
  const index = pools.input(`${id} key`, `${own}ConnectBackwardKeysInput`, () => ({
    fields: [...new Set(sets.flat())].map((field): Entry => [field.apiName, { ...entry(field), optional: true }]),
    constraints: { exactlyOneSetOf: sets.map((fields) => fields.map((field) => field.apiName)) },
  }))
  return `i${index}`
}
