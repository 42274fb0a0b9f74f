/**
 * Compares foreign keys with relation pairs, matched by the name of their constraint. Pairs with an end in another source, or
 * in a view, exist in the model alone and stay. If a migration could not change a field or index that a relation uses, the pair
 * is unlinked before and linked again after, with the same ids.
 */

import { byId } from '../../model/lookup.ts'
import type {
  ConstraintRecord,
  IndexRecord,
  ModelRecords,
  PrimitiveFieldRecord,
  RelationFieldRecord,
} from '../../model/model.ts'
import { fileCollectionId } from '../../model/presentation.ts'
import { eachOf, type Parts } from '../../parts.ts'
import type { SourceForeignKey } from '../../sql/source-schema.ts'
import type { Pair } from '../lookups.ts'
import type { CollectionDiff, DiffContext, SchemaOperation, TableMatch } from './context.ts'
import { diffJunctions } from './junctions.ts'
import { type FoundKey, nameRelations, type PairNames } from './relation-names.ts'

/** A remaining pair. `foreignKey` is set if both ends are in one database. */
type KeptPair = { readonly pair: Pair; readonly foreignKey: SourceForeignKey | undefined }

type StayedPair = KeptPair & { readonly after: Pair; readonly how: 'same' | 'updated' | 'relinked' }

export type RelationDiff = { readonly kept: readonly KeptPair[]; readonly gone: readonly Pair[] }

export function* matchRelations(
  records: ModelRecords,
  { kept: matches, gone, knowsRelations }: TableMatch,
): Parts<RelationDiff> {
  const fields = byId(records.primitiveFields)
  const tables = new Map(matches.map(({ collection, table }) => [collection.id, table]))
  const goneIds = new Set(gone.map(({ id }) => id))
  const views = new Set(
    matches.flatMap(({ collection, table }) => (collection.isView && table.isView ? [collection.id] : [])),
  )
  const places = new Map(matches.map(({ collection, table }) => [collection.id, placeOf(table)]))
  const isColumnGone = (fieldId: string) => {
    const field = fields.get(fieldId)
    const table = tables.get(field?.collectionId ?? '')
    return table !== undefined && !table.columns.some(({ dbName }) => dbName === field?.dbName)
  }
  const isGone = ({ owner, constraint }: Pair) =>
    goneIds.has(owner.collectionId) ||
    goneIds.has(owner.oppositeCollectionId) ||
    constraint.mappings.some((one) => isColumnGone(one.constrainedFieldId) || isColumnGone(one.referencedFieldId))
  const foreignKeyOf = ({ owner, constraint }: Pair) =>
    tables.get(owner.collectionId)?.foreignKeys.find(
      (key) =>
        key.dbName === constraint.dbName &&
        placeOf(key.references) === places.get(owner.oppositeCollectionId) &&
        isEqual(
          joinsOf(key),
          constraint.mappings.map(({ constrainedFieldId, referencedFieldId }) =>
            joinText(fields.get(constrainedFieldId)?.dbName, fields.get(referencedFieldId)?.dbName),
          ),
        ),
    )
  const kept: KeptPair[] = []
  const left: Pair[] = []
  yield* eachOf(pairsOf(records), (pair) => {
    const ends = [pair.owner.collectionId, pair.owner.oppositeCollectionId]
    const isEnforced = knowsRelations && ends.every((id) => tables.has(id) && !views.has(id))
    const foreignKey = isEnforced ? foreignKeyOf(pair) : undefined
    if (isGone(pair) || (isEnforced && foreignKey === undefined)) left.push(pair)
    else kept.push({ pair, foreignKey })
  })
  return { kept, gone: left }
}

export type Linked = {
  readonly relationFields: readonly RelationFieldRecord[]
  readonly constraints: readonly ConstraintRecord[]
  /** Operations that run before, and after, all operations on collections. */
  readonly unlinking: readonly SchemaOperation[]
  readonly linking: readonly SchemaOperation[]
}

/** `collections` are the source's current ones; names of new relations are added to their `names`. */
export function* diffRelations(
  records: ModelRecords,
  { kept, gone }: RelationDiff,
  { collections, context }: { readonly collections: readonly CollectionDiff[]; readonly context: DiffContext },
): Parts<Linked> {
  const own = new Set(collections.map(({ collection }) => collection.id))
  const places = new Map(collections.map((diff) => [placeOf(diff.table), diff]))
  const now: Now = {
    fields: byId([...records.primitiveFields, ...collections.flatMap(({ fields }) => fields)]),
    indexes: Map.groupBy(
      [
        ...records.indexes.filter(({ collectionId }) => !own.has(collectionId)),
        ...collections.flatMap(({ indexes }) => indexes),
      ],
      ({ collectionId }) => collectionId,
    ),
  }
  const before: Now = {
    fields: byId(records.primitiveFields),
    indexes: Map.groupBy(records.indexes, ({ collectionId }) => collectionId),
  }
  yield
  const stayed: StayedPair[] = []
  yield* eachOf(kept, ({ pair, foreignKey }) => {
    const isOthers = !own.has(pair.owner.collectionId) && !own.has(pair.owner.oppositeCollectionId)
    const after = isOthers ? pair : changedPair(pair, foreignKey, now)
    stayed.push({ pair, after, foreignKey, how: howChanged(pair, after, { before, now }) })
  })
  const known = new Set(
    stayed.flatMap(({ pair, foreignKey }) => (foreignKey ? `${pair.owner.collectionId} ${foreignKey.dbName}` : [])),
  )
  const found: FoundKey[] = []
  yield* eachOf(collections, (owner) => {
    for (const foreignKey of owner.table.foreignKeys) {
      if (!known.has(`${owner.collection.id} ${foreignKey.dbName}`)) found.push(...foundKey(owner, foreignKey, places))
    }
  })
  const ends = stayed.map(({ pair: { owner } }) => ({
    ownerId: owner.collectionId,
    targetId: owner.oppositeCollectionId,
  }))
  const namesOf = yield* nameRelations(found, ends, context)
  const created: Pair[] = []
  yield* eachOf(found, (key) => created.push(createdPair(key, namesOf(key), { now, context })))
  const pairs = [...stayed.map(({ after }) => after), ...created]
  const relinked = stayed.flatMap(({ pair: { owner, opposite }, how }) =>
    how === 'relinked' ? [owner.id, opposite?.id ?? ''] : [],
  )
  yield
  const junctions = diffJunctions(records, { all: pairs, relinked: new Set(relinked) }, { collections, context })
  yield
  return {
    relationFields: inOrder(records.relationFields, [
      ...pairs.flatMap(({ owner, opposite }) => (opposite === undefined ? [owner] : [owner, opposite])),
      ...junctions.fields,
    ]),
    constraints: inOrder(
      records.constraints,
      pairs.map(({ constraint }) => constraint),
    ),
    unlinking: [
      ...gone.map(deletePair),
      ...stayed.filter(({ how }) => how === 'relinked').map(({ pair }) => deletePair(pair)),
    ],
    linking: [
      ...stayed.flatMap(({ after, how }) => {
        if (how === 'same') return []
        return how === 'relinked' ? [createPair(after)] : [updateActions(after)]
      }),
      ...created.map(createPair),
      ...junctions.linking,
    ],
  }
}

type Now = {
  readonly fields: ReadonlyMap<string, PrimitiveFieldRecord>
  readonly indexes: ReadonlyMap<string, readonly IndexRecord[]>
}

type Place = { readonly schema: string; readonly dbName: string }

function placeOf({ schema, dbName }: Place): string {
  return JSON.stringify([schema, dbName])
}

function joinsOf({ columns, references }: SourceForeignKey): readonly string[] {
  return columns.map((column, position) => joinText(column, references.columns[position]))
}

function joinText(own: string | undefined, other: string | undefined): string {
  return JSON.stringify([own, other])
}

/** Compares as sets, because a key may list its columns in any order. */
function isEqual(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((member) => other.includes(member))
}

function pairsOf(records: ModelRecords): readonly Pair[] {
  const constraints = byId(records.constraints)
  const relations = byId(records.relationFields)
  return records.relationFields.flatMap((owner) => {
    const constraint = constraints.get(owner.constraintId ?? '')
    if (constraint === undefined) return []
    return [{ owner, constraint, opposite: relations.get(owner.oppositeRelationFieldId ?? '') }]
  })
}

/**
 * A to-one relation whose fields are no longer unique becomes a list. A list whose fields became unique stays a list. Without a
 * foreign key, the related row may be missing.
 */
function changedPair(pair: Pair, foreignKey: SourceForeignKey | undefined, now: Now): Pair {
  const { owner, opposite, constraint } = pair
  const { onDelete, onUpdate } = foreignKey ?? constraint
  const isSameConstraint = onDelete === constraint.onDelete && onUpdate === constraint.onUpdate
  // The foreign keys to the service's own table of files are not compared.
  const isKnown = owner.oppositeCollectionId === fileCollectionId && !owner.isNullable
  const isNullable = (foreignKey === undefined && !isKnown) || isNullableKey(constraint, now)
  const mustBeList =
    opposite?.isList === false && !hasUnique(owner.collectionId, constrainedOf(constraint), now.indexes)
  return {
    constraint: isSameConstraint ? constraint : { ...constraint, onDelete, onUpdate },
    owner: isNullable === owner.isNullable ? owner : { ...owner, isNullable },
    opposite: opposite !== undefined && mustBeList ? { ...opposite, isList: true, isNullable: false } : opposite,
  }
}

type Times = { readonly before: Now; readonly now: Now }

function howChanged(pair: Pair, after: Pair, { before, now }: Times): StayedPair['how'] {
  const { owner, constraint, opposite } = pair
  const mapped = constraint.mappings.flatMap((mapping) => [mapping.constrainedFieldId, mapping.referencedFieldId])
  const hasChanged = (member: 'type' | 'isList' | 'isNullable') =>
    mapped.some((id) => before.fields.get(id)?.[member] !== now.fields.get(id)?.[member])
  const surviving = new Map(
    [owner.collectionId, owner.oppositeCollectionId].map((id) => [
      id,
      (before.indexes.get(id) ?? []).filter((index) => now.indexes.get(id)?.includes(index)),
    ]),
  )
  const loses = (has: typeof hasUnique, id: string, fieldIds: readonly string[]) =>
    has(id, fieldIds, before.indexes) && !has(id, fieldIds, surviving)
  const isActing = after.constraint !== constraint
  if (
    hasChanged('type') ||
    hasChanged('isList') ||
    after.opposite?.isList !== opposite?.isList ||
    loses(hasKey, owner.oppositeCollectionId, referencedOf(constraint)) ||
    (opposite?.isList === false && loses(hasUnique, owner.collectionId, constrainedOf(constraint))) ||
    (isActing && hasChanged('isNullable'))
  ) {
    return 'relinked'
  }
  return isActing ? 'updated' : 'same'
}

function hasUnique(collectionId: string, fieldIds: readonly string[], indexes: Now['indexes']): boolean {
  return (indexes.get(collectionId) ?? []).some(
    (index) => index.kind !== 'normal' && index.fieldIds.every((id) => fieldIds.includes(id)),
  )
}

/** Returns true if a foreign key may refer to exactly these fields. */
function hasKey(collectionId: string, fieldIds: readonly string[], indexes: Now['indexes']): boolean {
  return (indexes.get(collectionId) ?? []).some((index) => index.kind !== 'normal' && isEqual(index.fieldIds, fieldIds))
}

function isNullableKey(constraint: ConstraintRecord, { fields }: Now): boolean {
  return constrainedOf(constraint).some((id) => fields.get(id)?.isNullable === true)
}

function constrainedOf({ mappings }: ConstraintRecord): readonly string[] {
  return mappings.map(({ constrainedFieldId }) => constrainedFieldId)
}

function referencedOf({ mappings }: ConstraintRecord): readonly string[] {
  return mappings.map(({ referencedFieldId }) => referencedFieldId)
}

/** Returns an empty list if the key refers to a table or column that is not in the model. */
function foundKey(
  owner: CollectionDiff,
  foreignKey: SourceForeignKey,
  places: ReadonlyMap<string, CollectionDiff>,
): readonly FoundKey[] {
  const { references, columns } = foreignKey
  const target = places.get(placeOf(references))
  if (target === undefined) return []
  const isKnown = columns.every(
    (column, position) =>
      owner.fieldByColumn.has(column) && target.fieldByColumn.has(references.columns[position] ?? ''),
  )
  return isKnown ? [{ owner, target, foreignKey }] : []
}

function createdPair(
  { owner: { collection, fieldByColumn }, target, foreignKey }: FoundKey,
  names: PairNames,
  { now, context }: { readonly now: Now; readonly context: DiffContext },
): Pair {
  const { references, columns, dbName, onDelete, onUpdate } = foreignKey
  const mappings = columns.map((column, position) => ({
    constrainedFieldId: fieldByColumn.get(column)?.id ?? '',
    referencedFieldId: target.fieldByColumn.get(references.columns[position] ?? '')?.id ?? '',
  }))
  const ownerId = context.newId()
  const oppositeId = context.newId()
  const constraint: ConstraintRecord = { id: ownerId, dbName, onDelete, onUpdate, mappings }
  const isList = !hasUnique(collection.id, constrainedOf(constraint), now.indexes)
  const owner: RelationFieldRecord = {
    id: ownerId,
    collectionId: collection.id,
    apiName: names.owner,
    oppositeCollectionId: target.collection.id,
    oppositeRelationFieldId: oppositeId,
    constraintId: ownerId,
    isList: false,
    isNullable: isNullableKey(constraint, now),
  }
  const opposite: RelationFieldRecord = {
    id: oppositeId,
    collectionId: target.collection.id,
    apiName: names.opposite,
    oppositeCollectionId: collection.id,
    oppositeRelationFieldId: ownerId,
    constraintId: null,
    isList,
    isNullable: !isList,
  }
  return { owner, opposite, constraint }
}

function deletePair({ owner, opposite }: Pair): SchemaOperation {
  const data = { firstFieldId: owner.id, secondFieldId: opposite?.id ?? null }
  return { kind: 'deleteRelationFieldPair', data }
}

function updateActions({ owner, opposite, constraint: { onDelete, onUpdate } }: Pair): SchemaOperation {
  const operations = [{ kind: 'changeReferentialActions', data: { onDelete, onUpdate } }]
  const data = { firstFieldId: owner.id, secondFieldId: opposite?.id ?? null, operations }
  return { kind: 'updateRelationFieldPair', data }
}

function createPair({ owner, opposite, constraint }: Pair): SchemaOperation {
  const { dbName, onDelete, onUpdate } = constraint
  const data = {
    relationName: dbName,
    onDelete,
    onUpdate,
    firstField: side(owner, constrainedOf(constraint)),
    secondField: opposite === undefined ? null : side(opposite, referencedOf(constraint)),
  }
  return { kind: 'createRelationFieldPair', data: { kind: 'single', data } }
}

function side({ id, apiName, isList, constraintId, collectionId }: RelationFieldRecord, fieldIds: readonly string[]) {
  return { id, apiName, isList, isConstrained: constraintId !== null, collectionId, fieldIds }
}

/** Keeps the order of the records of `before` that still exist, and appends the new ones. */
export function inOrder<T extends { readonly id: string }>(before: readonly T[], now: readonly T[]): readonly T[] {
  const left = byId(now)
  const old = before.flatMap(({ id }) => left.get(id) ?? [])
  for (const { id } of old) left.delete(id)
  return [...old, ...left.values()]
}
