/** Describes the operations that collections serve, with arguments and answers (docs/contract.md#items). */
import type { Action } from '../access/access.ts'
import { isCrossSource, servesOperation } from '../connector/item-capabilities.ts'
import type { Collection, PrimitiveField, RelationField } from '../model/model.ts'
import { isSortable } from '../plan/read.ts'
import { filterInput } from './filter-input.ts'
import type { InputField, Operation, OperationKind, OutputField, TypeReference } from './format.ts'
import type { Interner } from './interner.ts'
import { createInput, updateManyData, updateOneData } from './write-input.ts'

export function operationsOf(interner: Interner, collection: Collection): readonly Operation[] {
  const { id, apiName } = collection
  return servedOperations(interner, collection).map(({ kind, fields, output }) => [
    kind,
    interner.text(apiName),
    interner.input(`${id} ${kind} arguments`, `${apiName}${suffixes[kind]}`, () => ({
      fields: keyedKinds.has(kind) ? [['key', { type: keyInput(interner, collection) }], ...fields] : fields,
    })),
    output,
  ])
}

const suffixes: Readonly<Record<OperationKind, string>> = {
  readMany: 'ListArguments',
  create: 'CreateArguments',
  updateMany: 'UpdateArguments',
  deleteMany: 'DeleteArguments',
  readOne: 'ReadArguments',
  updateOne: 'UpdateOneArguments',
  deleteOne: 'DeleteOneArguments',
}

/** An operation with its arguments by name, the key aside. */
export type ServedOperation = {
  readonly kind: OperationKind
  readonly fields: readonly Entry[]
  readonly output: TypeReference
}

/** Empty where no operation is allowed. Operations that are not served intern no types. */
export function servedOperations(interner: Interner, collection: Collection): readonly ServedOperation[] {
  const key = addressOf(interner, collection)
  const declared = interner.view.declared(collection)
  const serves = (kind: OperationKind) =>
    interner.view.may(collection, actions[kind]) &&
    (key.length > 0 || !keyedKinds.has(kind)) &&
    (declared === undefined || servesOperation(declared, kind))
  if (!kinds.some(serves)) return []
  const item: TypeReference = `o${itemOutput(interner, collection)}`
  const filter: InputField = { type: filterInput(interner, collection) }
  const filtered: Entry = ['filter', { ...filter, optional: true }]
  const operations: readonly (ServedOperation | false)[] = [
    serves('readMany') && { kind: 'readMany', fields: listArguments(interner, collection), output: `[${item}]` },
    serves('create') && {
      kind: 'create',
      fields: [['data', { type: `[${createInput(interner, collection)}]` }]],
      output: `[${item}]`,
    },
    serves('updateMany') && {
      kind: 'updateMany',
      fields: [
        ['data', { type: updateManyData(interner, collection) }],
        ['filter', filter],
      ],
      output: `[${item}]`,
    },
    serves('deleteMany') && { kind: 'deleteMany', fields: [['filter', filter]], output: `[${item}]?` },
    serves('readOne') && { kind: 'readOne', fields: [filtered], output: item },
    serves('updateOne') && {
      kind: 'updateOne',
      fields: [['data', { type: updateOneData(interner, collection) }], filtered],
      output: item,
    },
    serves('deleteOne') && { kind: 'deleteOne', fields: [filtered], output: `${item}?` },
  ]
  return operations.filter((served) => served !== false)
}

/** The fields of the key by which this caller may name items: of several all or none, since the documents name them. */
export function addressOf({ view }: Interner, collection: Collection): readonly PrimitiveField[] {
  const { key } = collection
  return key.length === 1 || key.every((field) => view.uses(collection, field, 'read') !== 'never') ? key : []
}

/** A key of several fields is an object of them. */
function keyInput(interner: Interner, collection: Collection): TypeReference {
  const { id, apiName, key } = collection
  const [only, ...others] = key
  if (only !== undefined && others.length === 0) return interner.primitive(only.type)
  const fields = () => ({
    fields: key.map((field): Entry => [field.apiName, { type: interner.primitive(field.type) }]),
  })
  return `i${interner.input(`${id} key`, `${apiName}KeyInput`, fields)}`
}

/** The action that each operation requires. */
const actions: Readonly<Record<OperationKind, Action>> = {
  readMany: 'read',
  create: 'create',
  updateMany: 'update',
  deleteMany: 'delete',
  readOne: 'read',
  updateOne: 'update',
  deleteOne: 'delete',
}
const kinds = Object.keys(actions) as readonly OperationKind[]
const keyedKinds: ReadonlySet<OperationKind> = new Set(['readOne', 'updateOne', 'deleteOne'])

type Entry = readonly [name: string, field: InputField]

function listArguments(interner: Interner, collection: Collection): readonly Entry[] {
  const declared = interner.view.declared(collection)
  const page = pageArguments(interner, collection).filter(([name]) => name !== 'offset' || declared?.offset !== false)
  if (declared?.count === false) return page
  return [...page, ['meta', { type: interner.enumeration('ServiceMeta', ['totalCount']), optional: true }]]
}

function pageArguments(interner: Interner, collection: Collection): readonly Entry[] {
  return [
    ['filter', { type: filterInput(interner, collection), optional: true }],
    ...(sortable(interner, collection).length > 0
      ? [['sort', { type: `[${sortSpecifier(interner, collection)}]`, optional: true }] as const]
      : []),
    ['limit', { type: interner.primitive({ name: 'int32' }), optional: true }],
    ['offset', { type: interner.primitive({ name: 'int64' }), optional: true }],
  ]
}

/** A connector sorts by stored values, so a field that is hidden in some rows cannot be sorted by. */
export function sortable(interner: Interner, collection: Collection): readonly PrimitiveField[] {
  const { declared, uses } = interner.view
  const own = declared(collection)
  const isServed = (field: PrimitiveField) =>
    own === undefined || (own.sort.includes(field.dbName) && uses(collection, field, 'read') === 'always')
  return interner.primitives(collection, 'read').filter((field) => isSortable(field) && isServed(field))
}

function sortSpecifier(interner: Interner, collection: Collection): TypeReference {
  const { id, apiName } = collection
  const options = interner.input('sort options', 'SortFieldOptions', () => ({
    fields: [
      ['direction', { type: interner.enumeration('ServiceSortDirection', ['asc', 'desc']), optional: true }],
      ['nulls', { type: interner.enumeration('ServiceSortNulls', ['first', 'last']), optional: true }],
    ],
  }))
  const index = interner.input(`${id} sort`, `${apiName}SortSpecifier`, () => ({
    fields: sortable(interner, collection).map(
      (field): Entry => [field.apiName, { type: `i${options}`, optional: true }],
    ),
    constraints: { atMostOneField: true, atLeastOneField: true },
  }))
  return `i${index}`
}

export function itemOutput(interner: Interner, collection: Collection): number {
  return interner.output(`${collection.id} item`, `${collection.apiName}CollectionOutput`, () => ({
    fields: [
      ...interner
        .primitives(collection, 'read')
        .map((field) => [field.apiName, { type: interner.shown(collection, field) }] as const),
      ...interner
        .relations(collection, 'read')
        .map((relation) => [relation.apiName, relationOutput(interner, relation)] as const),
    ],
  }))
}

function relationOutput(interner: Interner, relation: RelationField): OutputField {
  const { collection, target, isList } = relation
  const shows = interner.view.shows(collection, relation)
  // Only a foreign key in a database guarantees that the related row exists.
  const mayMiss = !isList && (relation.isNullable || isCrossSource(relation, interner.view.declared))
  const isNullable = shows === 'sometimes' || mayMiss
  const item: TypeReference = `o${itemOutput(interner, target)}`
  const parameters = relationArguments(interner, relation)
  if (!isList) {
    const type = isNullable ? `${item}?` : item
    return { type, ...(parameters !== undefined && { arguments: parameters }) }
  }
  const list = interner.output(`${target.id} list`, `${target.apiName}CollectionListOutput`, () => ({
    fields: [['data', { type: `[${item}]` }]],
  }))
  return { type: isNullable ? `o${list}?` : `o${list}`, ...(parameters !== undefined && { arguments: parameters }) }
}

/** Suffix of the names of these input types. */
export const RELATION_ARGUMENTS = 'RelationFieldArguments'

/**
 * The arguments of a relation in `deep` (the service itself pages rows of other sources): all list arguments for a
 * to-many relation, a filter for a nullable to-one, none for a required to-one.
 */
export function relationArguments(interner: Interner, relation: RelationField): number | undefined {
  const { id, apiName, collection, target, isList, isNullable } = relation
  if (!isList && !isNullable) return undefined
  return interner.input(`${id} arguments`, `${collection.apiName}${apiName}${RELATION_ARGUMENTS}`, () => ({
    fields: pageArguments(interner, target)
      .filter(([name]) => isList || name === 'filter')
      .map(([name, field]): Entry => [`_${name}`, field]),
  }))
}
