/** Describes the operations that collections serve, with arguments and answers (docs/contract.md#items). */

import type { Action } from '../access/access.ts'
import { isCrossSource, servesOperation } from '../connector/item-capabilities.ts'
import { boundsOf } from '../model/checks.ts'
import type { Collection, PrimitiveField, RelationField } from '../model/model.ts'
import { aggregateFunctions } from '../model/vocabulary.ts'
import { canConflict } from '../plan/bulk/upsert.ts'
import { uniqueSets } from '../plan/program-references.ts'
import { isSortable } from '../plan/read.ts'
import { unlimited } from '../query/resolve.ts'
import { filterInput } from './filter-input.ts'
import type { InputField, Operation, OperationKind, OutputField, TypeReference } from './format.ts'
import type { Interner } from './interner.ts'
import { readsAll } from './model-view.ts'
import { createInput, updateEachData, updateManyData, updateOneData } from './write-input.ts'

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
  const max = boundOf(interner, collection)
  const operations: readonly (ServedOperation | false)[] = [
    serves('readMany') && { kind: 'readMany', fields: listArguments(interner, collection), output: `[${item}]` },
    serves('create') && {
      kind: 'create',
      fields: [['data', { type: `[${createInput(interner, collection)}]` }], ...conflictArgument(interner, collection)],
      output: `[${item}]`,
    },
    serves('updateMany') && {
      kind: 'updateMany',
      fields: updateManyArguments(interner, collection, { key, filter, max }),
      output: `[${item}]`,
    },
    serves('deleteMany') && { kind: 'deleteMany', fields: [['filter', filter], ...max], output: `[${item}]?` },
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

/** A list of items has no filter: they name themselves, which takes a key that the caller reads. */
function updateManyArguments(
  interner: Interner,
  collection: Collection,
  { key, filter, max }: Readonly<{ key: readonly PrimitiveField[]; filter: InputField; max: readonly Entry[] }>,
): readonly Entry[] {
  const type = updateManyData(interner, collection)
  if (max.length === 0 || key.length === 0 || !readsAll(interner.view, collection, key))
    return [['data', { type }], ['filter', filter], ...max]
  const secondaryTypes = [`[${updateEachData(interner, collection)}]`]
  return [['data', { type, secondaryTypes }], ['filter', { ...filter, optional: true }], ...max]
}

/** The unique indexes by which new items may be there already, where the caller reads all of their fields. */
function conflictArgument(interner: Interner, collection: Collection): readonly Entry[] {
  const { view } = interner
  const { id, apiName } = collection
  if (view.declared(collection) !== undefined || collection.identity.length === 0) return []
  if (!view.may(collection, 'read') || !canConflict(collection)) return []
  const sets = uniqueSets(collection).filter((set) => readsAll(view, collection, set))
  if (sets.length === 0) return []
  const names = [...new Set(sets.map((set) => set.map((field) => field.apiName).join()))]
  const index = interner.input(`${id} conflict`, `${apiName}ConflictInput`, () => ({
    fields: [
      ['fields', { type: interner.enumeration(`${apiName}ConflictFields`, names) }],
      ['do', { type: interner.enumeration('ServiceConflictAction', ['update', 'ignore']) }],
    ],
  }))
  return [['conflict', { type: `i${index}`, optional: true }]]
}

/** The bound of a write of many, where its items are found before they are written. */
function boundOf(interner: Interner, collection: Collection): readonly Entry[] {
  if (interner.view.declared(collection) !== undefined || collection.identity.length === 0) return []
  return [['max', { type: interner.primitive({ name: 'int32' }), optional: true }]]
}

/** The fields of the key by which this caller may name items: of several all or none, since the documents name them. */
export function addressOf({ view }: Interner, collection: Collection): readonly PrimitiveField[] {
  const { key } = collection
  return key.length === 1 || readsAll(view, collection, key) ? key : []
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

const counts = ['totalCount', 'totalEstimate'] as const

type Entry = readonly [name: string, field: InputField]

function listArguments(interner: Interner, collection: Collection): readonly Entry[] {
  const declared = interner.view.declared(collection)
  const page = pageArguments(interner, collection).filter(([name]) => name !== 'offset' || declared?.offset !== false)
  const isPaged = hasCursors(interner, collection)
  const counted = declared?.count === false ? [] : counts
  const metaValues = [...counted, ...(isPaged ? ['cursor', ...counted.map((count) => `${count},cursor`)] : [])]
  return [
    ...page,
    ...(isPaged ? [cursorArgument(interner, 'after'), cursorArgument(interner, 'before')] : []),
    ...(metaValues.length > 0 ? [metaArgument(interner.enumeration(metaName(metaValues), metaValues))] : []),
  ]
}

function metaName(metaValues: readonly string[]): string {
  if (!metaValues.includes('cursor')) return 'ServiceCountMeta'
  return metaValues.length === 1 ? 'ServiceCursorMeta' : 'ServiceMeta'
}

function cursorArgument(interner: Interner, name: 'after' | 'before'): Entry {
  return [name, { type: interner.primitive(unlimited), optional: true }]
}

function metaArgument(type: TypeReference): Entry {
  return ['meta', { type, optional: true }]
}

/** Whether pages of a list have cursors: its rows have a key, which the caller reads in every row. */
function hasCursors({ view }: Interner, collection: Collection): boolean {
  const { identity, isInherited } = collection
  const isFollowed = ({ type, isList }: PrimitiveField) => !isList && type.name !== 'json'
  const isKeySeen = identity.every((field) => isFollowed(field) && view.uses(collection, field, 'read') === 'always')
  return (view.declared(collection)?.after ?? true) && identity.length > 0 && !isInherited && isKeySeen
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

/** Only a database sorts by what belongs to another row, and only by its own. */
function canSortThrough({ view }: Interner, relation: RelationField): boolean {
  const { isList, collection, target } = relation
  const isStored = view.declared(collection) === undefined && view.declared(target) === undefined
  return !isList && isStored && !isCrossSource(relation, view.declared)
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
    fields: [
      ...sortable(interner, collection).map((field): Entry => [field.apiName, { type: `i${options}`, optional: true }]),
      ...interner
        .relations(collection, 'read')
        .filter((relation) => canSortThrough(interner, relation))
        .map(({ apiName: name, target }): Entry => [name, { type: sortSpecifier(interner, target), optional: true }]),
    ],
    constraints: { atMostOneField: true, atLeastOneField: true },
  }))
  return `i${index}`
}

export function itemOutput(interner: Interner, collection: Collection): number {
  return interner.output(`${collection.id} item`, `${collection.apiName}CollectionOutput`, () => ({
    of: collection,
    fields: [
      ...interner
        .primitives(collection, 'read')
        .map((field) => [field.apiName, { type: interner.shown(collection, field), ...boundsOf(field) }] as const),
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
    fields: [
      ['data', { type: `[${item}]` }],
      ...(isPagedInList(interner, target) ? [['meta', { type: cursorsOutput(interner) }] as const] : []),
      ...(canAggregate(interner, target) ? [['aggregate', { type: aggregatedOutput(interner) }] as const] : []),
    ],
  }))
  return { type: isNullable ? `o${list}?` : `o${list}`, ...(parameters !== undefined && { arguments: parameters }) }
}

/** Related rows of connectors are looked up by key, so that there is no page of them. */
function isPagedInList(interner: Interner, target: Collection): boolean {
  return interner.view.declared(target) === undefined && hasCursors(interner, target)
}

/** The pages beside a list, where they were asked for. */
function cursorsOutput(interner: Interner): TypeReference {
  const cursor: TypeReference = `${interner.primitive(unlimited)}?`
  const index = interner.output('cursors', 'ServiceCursors', () => ({
    fields: [
      ['next', { type: cursor }],
      ['previous', { type: cursor }],
    ],
  }))
  return `o${index}`
}

/** Whether the data source aggregates what the caller reads of a collection. */
export function canAggregate({ view }: Interner, collection: Collection): boolean {
  return view.may(collection, 'read') && view.declared(collection) === undefined
}

/** Functions by the names that the request gives them. */
export function aggregatesInput(interner: Interner): TypeReference {
  const called = interner.input('aggregate', 'ServiceAggregate', () => ({
    fields: aggregateFunctions.map((name): Entry => [name, { type: interner.primitive(unlimited), optional: true }]),
    constraints: { atMostOneField: true, atLeastOneField: true },
  }))
  const index = interner.input('aggregates', 'ServiceAggregates', () => ({
    fields: [],
    values: `i${called}`,
    about: 'By name one function of one field each, 20 at most; only `count` also takes `*`, which is all items.',
  }))
  return `i${index}`
}

function aggregatedOutput(interner: Interner): TypeReference {
  const index = interner.output('aggregated', 'ServiceAggregated', () => ({
    fields: [],
    values: interner.primitive({ name: 'json' }),
    about: 'The results by their names.',
  }))
  return `o${index}`
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
  const isOwn = !isCrossSource(relation, interner.view.declared)
  const isPaged = isList && isPagedInList(interner, target) && isOwn
  const isAggregated = isList && canAggregate(interner, target) && isOwn
  const cursors = () => [
    cursorArgument(interner, 'after'),
    metaArgument(interner.enumeration('ServiceCursorMeta', ['cursor'])),
  ]
  return interner.input(`${id} arguments`, `${collection.apiName}${apiName}${RELATION_ARGUMENTS}`, () => ({
    fields: [
      ...pageArguments(interner, target),
      ...(isPaged ? cursors() : []),
      ...(isAggregated ? [['aggregate', { type: aggregatesInput(interner), optional: true }] as const] : []),
    ]
      .filter(([name]) => isList || name === 'filter')
      .map(([name, field]): Entry => [`_${name}`, field]),
  }))
}
