/**
 * Describes the inputs of writes, nested writes included (docs/contract.md#nested-writes): exactly what `core/plan`
 * accepts.
 */

import type { Action } from '../access/access.ts'
import {
  type Declarations,
  type ItemOperation,
  isCrossSource,
  servesOperation,
} from '../connector/item-capabilities.ts'
import { boundsOf } from '../model/checks.ts'
import type { Collection, PrimitiveField, RelationField, Through } from '../model/model.ts'
import { isInteger } from '../model/number-range.ts'
import { operatorsOn } from '../plan/alterations.ts'
import { uniqueSets } from '../plan/program-references.ts'
import { type Kind, knownOperations } from '../plan/relation-operation.ts'
import { filterInput } from './filter-input.ts'
import type { Constraints, InputField, TypeReference } from './format.ts'
import type { Description, Interner } from './interner.ts'
import { type ModelView, readsAll } from './model-view.ts'

/**
 * The input of a new item. Nested through `parent`, it leaves out the opposite relation and the columns that the outer
 * item determines.
 */
export function createInput(interner: Interner, collection: Collection, parent?: RelationField): TypeReference {
  const given = parent === undefined || parent.isForward ? [] : parent.joins.map(({ other }) => other)
  const isPlain = parent === undefined || (oppositeIn(interner, parent) === undefined && given.length === 0)
  return `i${isPlain ? plainCreateInput(interner, collection) : nestedCreateInput(interner, parent, given)}`
}

function plainCreateInput(interner: Interner, collection: Collection): number {
  const { id, apiName } = collection
  return interner.input(`${id} create`, `${apiName}CreateInput`, () => newItem(interner, collection, [], undefined))
}

function nestedCreateInput(interner: Interner, parent: RelationField, given: readonly PrimitiveField[]): number {
  const { id, collection, apiName, target } = parent
  const opposite = oppositeIn(interner, parent)
  const name = `${collection.apiName}${apiName}CreateRelatedWithoutTypeInput`
  return interner.input(`${id} nested create`, name, () =>
    given.length === 0 && opposite !== undefined
      ? { base: plainCreateInput(interner, target), without: opposite.apiName }
      : newItem(interner, target, given, opposite),
  )
}

/** Undefined where new items of the target have no such relation for this caller either. */
function oppositeIn({ view }: Interner, { target, opposite }: RelationField): RelationField | undefined {
  return opposite && view.uses(target, opposite, 'create') !== 'never' ? opposite : undefined
}

/** The input of a change of one item. */
export function updateOneData(interner: Interner, collection: Collection): TypeReference {
  const { id, apiName } = collection
  const index = interner.input(`${id} update`, `${apiName}UpdateDataInput`, () => {
    const relations = relationEntries(interner, collection, 'update')
    return {
      of: collection,
      fields: [
        ...changes(interner, collection),
        ...relations.map(([{ apiName: name }, field]): Entry => [name, field]),
      ],
      ...constrained({ excludes: exclusions(writable(interner, collection, 'update'), relations) }),
    }
  })
  return `i${index}`
}

/** The input of a change of several items, which cannot contain relations. */
export function updateManyData(interner: Interner, collection: Collection): TypeReference {
  const { id, apiName } = collection
  if (
    !interner.relations(collection, 'update').some((relation) => operationsOn(interner, relation, 'update').length > 0)
  )
    return updateOneData(interner, collection)
  const fields = () => ({ of: collection, fields: changes(interner, collection) })
  return `i${interner.input(`${id} update many`, `${apiName}UpdateManyDataInput`, fields)}`
}

/** The input of an item among others that are changed with values of their own: its key, and what changes. */
export function updateEachData(interner: Interner, collection: Collection): TypeReference {
  const { id, apiName, key } = collection
  const names = new Set(key.map((field) => field.apiName))
  const index = interner.input(`${id} update each`, `${apiName}UpdateItemInput`, () => ({
    of: collection,
    fields: [
      ...key.map((field): Entry => [field.apiName, { type: interner.primitive(field.type), kind: 'primitive' }]),
      ...changes(interner, collection).filter(([name]) => !names.has(name)),
      ...relationEntries(interner, collection, 'update').map(([relation, field]): Entry => [relation.apiName, field]),
    ],
    ...constrained({
      excludes: exclusions(
        writable(interner, collection, 'update').filter((field) => !names.has(field.apiName)),
        relationEntries(interner, collection, 'update'),
      ),
    }),
  }))
  return `i${index}`
}

type Entry = readonly [name: string, field: InputField]
type ParentAction = 'create' | 'update'

function newItem(
  interner: Interner,
  collection: Collection,
  given: readonly PrimitiveField[],
  back: RelationField | undefined,
): Description<InputField> {
  const columns = writable(interner, collection, 'create').filter((field) => !given.includes(field))
  const relations = relationEntries(interner, collection, 'create').filter(([relation]) => relation !== back)
  const alternatives = new Map(columns.map((field) => [field, providers(field, relations)]))
  const fields = columns.map((field): Entry => {
    const { apiName, defaultValue, isNullable } = field
    const isOptional = isNullable || defaultValue !== null || (alternatives.get(field)?.length ?? 0) > 0
    return [
      apiName,
      {
        type: interner.value(field),
        ...(isOptional && { optional: true }),
        kind: 'primitive',
        ...(defaultValue !== null && { hasDefault: true }),
        ...boundsOf(field),
      },
    ]
  })
  const atLeastOneOf = columns
    .filter(({ isNullable, defaultValue }) => !isNullable && defaultValue === null)
    .map((field) => [field.apiName, ...(alternatives.get(field) ?? [])])
    .filter((names) => names.length > 1)
  return {
    of: collection,
    fields: [...fields, ...relations.map(([{ apiName }, field]): Entry => [apiName, field])],
    ...constrained({ atLeastOneOf, excludes: exclusions(columns, relations) }),
  }
}

function changes(interner: Interner, collection: Collection): readonly Entry[] {
  return writable(interner, collection, 'update').map((field) => [
    field.apiName,
    {
      type: interner.value(field),
      optional: true,
      kind: 'primitive',
      ...boundsOf(field),
      ...operatorsInput(interner, collection, field),
    },
  ])
}

/** Operators need to read what they change. */
function operatorsInput(
  interner: Interner,
  collection: Collection,
  field: PrimitiveField,
): Pick<InputField, 'secondaryTypes'> {
  const { view } = interner
  const operators = view.declared(collection) === undefined ? operatorsOn(collection, field) : []
  if (operators.length === 0 || view.uses(collection, field, 'read') === 'never') return {}
  const operand = interner.value({ ...field, isNullable: false })
  const type = isInteger(field.type.name) && !field.isList ? interner.primitive({ name: 'int64' }) : operand
  const name = `${type}${operators.join('')}`
  const label = field.isList ? 'ListChangeInput' : 'NumberChangeInput'
  const index = interner.input(`change ${name}`, label, () => ({
    fields: operators.map((operator): Entry => [operator, { type, optional: true }]),
    constraints: { atMostOneField: true, atLeastOneField: true },
  }))
  return { secondaryTypes: [`i${index}`] }
}

function writable(interner: Interner, collection: Collection, parentAction: ParentAction): readonly PrimitiveField[] {
  return interner.primitives(collection, parentAction).filter(({ isReadOnly }) => !isReadOnly)
}

type RelationEntry = readonly [relation: RelationField, field: InputField]

function relationEntries(
  interner: Interner,
  collection: Collection,
  parentAction: ParentAction,
): readonly RelationEntry[] {
  return interner
    .relations(collection, parentAction)
    .filter((relation) => operationsOn(interner, relation, parentAction).length > 0)
    .map((relation) => [
      relation,
      { type: relationInput(interner, relation, parentAction), optional: true, kind: 'relation' },
    ])
}

/** Returns the relations that can set a foreign key column as well. */
function providers(field: PrimitiveField, relations: readonly RelationEntry[]): readonly string[] {
  return relations
    .filter(([{ isForward, joins }]) => isForward && joins.some(({ own }) => own === field))
    .map(([{ apiName }]) => apiName)
}

/** A foreign key is set through its columns or through the relation, never both. */
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

/** Leaves out empty constraints. */
function constrained(
  constraints: {
    readonly [Kind in 'atLeastOneOf' | 'excludes']?: readonly (readonly string[])[]
  },
): { readonly constraints?: Constraints<string> } {
  const useful = Object.entries(constraints).filter(([, lists]) => lists.length > 0)
  return useful.length === 0 ? {} : { constraints: Object.fromEntries(useful) }
}

function relationInput(interner: Interner, relation: RelationField, parentAction: ParentAction): TypeReference {
  const { id, collection, apiName, isList } = relation
  const onUpdate = isList ? 'UpdateManyRelatedOperationsInput' : 'UpdateOneRelatedOperationsInput'
  const suffix = parentAction === 'create' ? 'CreateRelatedInput' : onUpdate
  const index = interner.input(`${id} ${parentAction}`, `${collection.apiName}${apiName}${suffix}`, () => ({
    fields: operationsOn(interner, relation, parentAction).map(
      (kind): Entry => [kind, { type: `i${operationInput(interner, relation, kind)}`, optional: true }],
    ),
    constraints: { atMostOneField: true, atLeastOneField: true },
  }))
  return parentAction === 'create' && !isList ? `i${index}` : `[i${index}]`
}

/** Returns the nested operations of a relation. Both collections need a key to identify rows. */
function operationsOn({ view }: Interner, relation: RelationField, parentAction: ParentAction): readonly Kind[] {
  const { collection, target, isForward } = relation
  if (collection.identity.length === 0 || target.identity.length === 0) return []
  if (relation.through !== undefined) return operationsOnLinks(view, relation.through, parentAction)
  const declared = view.declared(target)
  const may = (action: Action) =>
    view.may(target, action) &&
    (declared === undefined || wholesale[action].some((one) => servesOperation(declared, one)))
  // In a backward relation the related row has the foreign key, so linking updates it.
  const mayLink = isForward || may('update')
  const needs: Readonly<Record<Kind, boolean>> = {
    _connect:
      mayLink &&
      keysToConnect(view, relation).length > 0 &&
      (declared === undefined || servesOperation(declared, 'readOne')),
    _disconnect: mayLink,
    _create: may('create'),
    _update: may('update'),
    _delete: may('delete'),
  }
  return knownOperations(relation, parentAction).filter(
    (kind) => needs[kind] && isOneWrite(kind, { relation, parentAction, declared: view.declared }),
  )
}

/** Linking creates rows of the junction and unlinking deletes them. */
function operationsOnLinks(view: ModelView, through: Through, parentAction: ParentAction): readonly Kind[] {
  const { far, near } = through
  const junction = near.target
  if (junction.identity.length === 0) return []
  const mayLink =
    view.may(junction, 'create') &&
    [near.opposite, far].every((field) => field && view.uses(junction, field, 'create') !== 'never')
  const needs: Partial<Record<Kind, boolean>> = {
    _connect: mayLink && keysToConnect(view, { ...far, through }).length > 0,
    _create: mayLink && view.may(far.target, 'create'),
    _disconnect: view.may(junction, 'delete'),
  }
  return knownOperations({ ...far, through }, parentAction).filter((kind) => needs[kind])
}

/** A connector must serve one of these operations for the action. */
const wholesale: Readonly<Record<Action, readonly ItemOperation[]>> = {
  read: ['readOne'],
  create: ['create'],
  update: ['updateOne', 'updateMany'],
  delete: ['deleteOne', 'deleteMany'],
}

type Nesting = {
  readonly relation: RelationField
  readonly parentAction: ParentAction
  readonly declared: Declarations
}

/**
 * Two sources share no transaction, and connectors have none: there the nested operation must amount to one write of
 * one collection.
 */
function isOneWrite(kind: Kind, { relation, parentAction, declared }: Nesting): boolean {
  const { collection, target, isForward } = relation
  if (!isCrossSource(relation, declared)) return true
  if (kind === '_disconnect') return isForward || collection.sourceId === target.sourceId
  if (collection.sourceId !== target.sourceId) return false
  return parentAction === 'update' || (kind === '_connect' && isForward)
}

function operationInput(interner: Interner, relation: RelationField, kind: Kind): number {
  const { id, collection, apiName, target, isList } = relation
  const own = `${collection.apiName}${apiName}`
  const filter: Entry = ['filter', { type: filterInput(interner, target), optional: true }]
  const many = (type: TypeReference) => (isList ? `[${type}]` : type)
  switch (kind) {
    case '_connect':
      return interner.input(`${id} connect`, `${own}ConnectInput`, () => ({
        fields: [[isList ? 'keys' : 'key', { type: many(connectKey(interner, relation)) }]],
      }))
    case '_create':
      return interner.input(`${id} create arguments`, `${own}CreateArguments`, () => ({
        fields: [['data', { type: many(createInput(interner, target, relation.through?.far ?? relation)) }]],
      }))
    case '_update': {
      const name = isList ? 'UpdateManyInput' : 'UpdateInput'
      return interner.input(`${target.id} nested ${name}`, `${target.apiName}${name}`, () => ({
        fields: [
          ['data', { type: isList ? updateManyData(interner, target) : updateOneData(interner, target) }],
          filter,
        ],
      }))
    }
    case '_disconnect': {
      const name = isList ? 'DisconnectManyInput' : 'DisconnectOneInput'
      return interner.input(`${target.id} ${name}`, `${target.apiName}${name}`, () => ({
        fields: isList ? [filter] : [],
      }))
    }
    case '_delete':
      return interner.input(`${target.id} nested delete`, `${target.apiName}DeleteInput`, () => ({ fields: [filter] }))
  }
}

/**
 * The sets of columns by which a row to connect can be named: for a forward relation the referenced columns, for a backward one
 * any unique ones. A caller names no column that they do not read.
 */
function keysToConnect(view: ModelView, relation: RelationField): readonly (readonly PrimitiveField[])[] {
  const { joins, isForward, target } = relation.through?.far ?? relation
  const sets = isForward ? [joins.map(({ other }) => other)] : uniqueSets(target)
  return sets.filter((set) => readsAll(view, target, set))
}

function connectKey(interner: Interner, relation: RelationField): TypeReference {
  const { id, collection, apiName } = relation
  const { isForward } = relation.through?.far ?? relation
  const name = `${collection.apiName}${apiName}Connect${isForward ? 'ForwardKey' : 'BackwardKeys'}Input`
  const sets = keysToConnect(interner.view, relation)
  const index = interner.input(`${id} key`, name, () => ({
    fields: [...new Set(sets.flat())].map(({ apiName: column, type }): Entry => {
      const field = { type: interner.primitive(type), kind: 'primitive' } as const
      return [column, isForward ? field : { ...field, optional: true }]
    }),
    ...(!isForward && { constraints: { exactlyOneSetOf: sets.map((set) => set.map((field) => field.apiName)) } }),
  }))
  return `i${index}`
}
