/** Relation field pairs: two fields and the constraint between them, which has the id of the side that owns it. */
import { canJoin, canRefer } from '../model/far-key.ts'
import type { ColumnShape, ConstraintRecord, RelationFieldRecord } from '../model/model.ts'
import { type CollectionDraft, type Draft, refuse } from './draft.ts'
import { addRelation, claimId, emit, isMade, removeRelation } from './edits.ts'
import { checkActions, claimFieldName, isNullableKey } from './fields.ts'
import { findKey, isUnique, keepIndexes } from './indexes.ts'
import {
  checkIndexable,
  collectionOf,
  columnNames,
  columnOf,
  fieldOf,
  type Pair,
  relatableCollection,
  storageOf,
  tableOf,
  unprotectedCollection,
} from './lookups.ts'
import { deleteManyToMany, leadingThrough, manyToManyOf, renameRelation, updateManyToMany } from './many-to-many.ts'
import type { DataOf } from './operation.ts'

type PairData = DataOf<'createRelationFieldPair'>['data']
type Side = PairData['firstField']

export function createRelationPair(draft: Draft, { data }: DataOf<'createRelationFieldPair'>): void {
  const { own, other } = sidesOf(data)
  const constrained = unprotectedCollection(draft, own.collectionId)
  const referenced = relatableCollection(draft, other.collectionId)
  checkSides(draft, { own, other, constrained, referenced })
  if (constrained.constraintNames.has(data.relationName)) {
    refuse('nameInUse', `the collection ${constrained.record.apiName} already has a constraint ${data.relationName}`)
  }
  const constraint: ConstraintRecord = {
    id: own.id,
    dbName: data.relationName,
    onDelete: data.onDelete,
    onUpdate: data.onUpdate,
    mappings: own.fieldIds.map((constrainedFieldId, position) => ({
      constrainedFieldId,
      referencedFieldId: other.fieldIds[position] ?? '',
    })),
  }
  checkActions(draft, constraint)
  draft.constraints.set(constraint.id, constraint)
  draft.subject = `${constrained.record.apiName}.${own.apiName}`
  addSide(draft, constrained, {
    ...recordOf(own, other),
    constraintId: constraint.id,
    // No database guarantees that the related row in another source exists.
    isNullable: isNullableKey(draft, constraint) || !isEnforced(draft, constrained, referenced),
  })
  // No row must refer to this one, so a to-one opposite may be missing.
  addSide(draft, referenced, { ...recordOf(other, own), constraintId: null, isNullable: !other.isList })
  addForeignKey(draft, constrained, { constraint, referenced })
}

export function updateRelationPair(draft: Draft, data: DataOf<'updateRelationFieldPair'>): void {
  const manyToMany = manyToManyOf(draft, data)
  if (manyToMany.length > 0) {
    updateManyToMany(draft, manyToMany, data)
    return
  }
  for (const change of data.operations) {
    const pair = pairOf(draft, data)
    switch (change.kind) {
      case 'changeApiName': {
        const record = [pair.owner, pair.opposite].find((side) => side?.id === change.data.fieldId)
        if (record === undefined) refuse('unknown', `the pair has no field ${change.data.fieldId}`)
        renameRelation(draft, record, change.data.apiName)
        break
      }
      case 'changeReferentialActions':
        changeActions(draft, pair, change.data)
        break
      default:
        change satisfies never
    }
  }
}

export function deleteRelationPair(draft: Draft, data: DataOf<'deleteRelationFieldPair'>): void {
  const manyToMany = manyToManyOf(draft, data)
  if (manyToMany.length > 0) {
    deleteManyToMany(draft, manyToMany)
    return
  }
  const pair = pairOf(draft, data)
  dropForeignKey(draft, pair)
  removePair(draft, pair)
}

/** Removes both fields and the constraint from the model, with the many-to-many fields that lead through them. */
export function removePair(draft: Draft, pair: Pair): void {
  const { owner, opposite, constraint } = pair
  for (const field of leadingThrough(draft, pair)) removeRelation(draft, field)
  removeRelation(draft, owner)
  if (opposite !== undefined) removeRelation(draft, opposite)
  draft.constraints.delete(constraint.id)
}

function sidesOf({ firstField, secondField }: PairData): { readonly own: Side; readonly other: Side } {
  if (firstField.isConstrained === secondField.isConstrained) refuse('relation', 'exactly one side must be constrained')
  return firstField.isConstrained ? { own: firstField, other: secondField } : { own: secondField, other: firstField }
}

function typeName({ native, type }: ColumnShape): string {
  return native?.name ?? type.name
}

type Ends = {
  readonly own: Side
  readonly other: Side
  readonly constrained: CollectionDraft
  readonly referenced: CollectionDraft
}

function checkSides(draft: Draft, { own, other, constrained, referenced }: Ends): void {
  if (own.isList) refuse('relation', 'the constrained side must not be a list')
  if (own.fieldIds.length !== other.fieldIds.length)
    refuse('relation', 'both sides must name the same number of fields')
  if (new Set(own.fieldIds).size < own.fieldIds.length || new Set(other.fieldIds).size < other.fieldIds.length) {
    refuse('relation', 'a relation must not name a field twice')
  }
  own.fieldIds.forEach((id, position) => {
    const from = fieldOf(draft, constrained, id)
    const to = fieldOf(draft, referenced, other.fieldIds[position] ?? '')
    if (from.isList || to.isList) refuse('relation', `the field ${(from.isList ? from : to).apiName} is a list`)
    const isAlike = isEnforced(draft, constrained, referenced)
      ? from.type.name === to.type.name
      : isWithinDatabase(draft, constrained, referenced)
        ? canJoin(from, to)
        : canRefer(from, to)
    if (!isAlike) {
      refuse(
        'relation',
        `the fields ${from.apiName} and ${to.apiName} are of different types (${typeName(from)}, ${typeName(to)})`,
      )
    }
  })
  if (findKey(draft, referenced, other.fieldIds) === undefined) {
    refuse(
      'relation',
      `the referenced fields of ${referenced.record.apiName} must be its primary key or a unique index`,
    )
  }
  if (!other.isList && !isUnique(draft, constrained, own.fieldIds)) {
    refuse(
      'relation',
      `the fields of ${constrained.record.apiName} must be unique, since the relation is to one on both sides`,
    )
  }
}

function recordOf(side: Side, opposite: Side) {
  return {
    id: side.id,
    collectionId: side.collectionId,
    apiName: side.apiName,
    oppositeCollectionId: opposite.collectionId,
    oppositeRelationFieldId: opposite.id,
    isList: side.isList,
  }
}

function addSide(draft: Draft, collection: CollectionDraft, record: RelationFieldRecord): void {
  claimId(draft, record.id)
  claimFieldName(collection, record.apiName)
  addRelation(draft, record)
}

function pairOf(draft: Draft, { firstFieldId, secondFieldId }: { firstFieldId: string; secondFieldId: string }): Pair {
  const first = draft.relations.get(firstFieldId) ?? refuse('unknown', `unknown relation field ${firstFieldId}`)
  const second = draft.relations.get(secondFieldId) ?? refuse('unknown', `unknown relation field ${secondFieldId}`)
  if (first.oppositeRelationFieldId !== second.id) refuse('relation', 'the two relation fields are not a pair')
  relatableCollection(draft, first.collectionId)
  relatableCollection(draft, second.collectionId)
  const [owner, opposite] = first.constraintId === null ? [second, first] : [first, second]
  const constraint = draft.constraints.get(owner.constraintId ?? '')
  if (constraint === undefined) refuse('relation', 'the two relation fields are not a pair')
  return { owner, opposite, constraint }
}

function changeActions(
  draft: Draft,
  pair: Pair,
  {
    onDelete = pair.constraint.onDelete,
    onUpdate = pair.constraint.onUpdate,
  }: Partial<Pick<ConstraintRecord, 'onDelete' | 'onUpdate'>>,
): void {
  const constraint = { ...pair.constraint, onDelete, onUpdate }
  if (onDelete === pair.constraint.onDelete && onUpdate === pair.constraint.onUpdate) return
  checkActions(draft, constraint)
  draft.constraints.set(constraint.id, constraint)
  dropForeignKey(draft, pair)
  const referenced = collectionOf(draft, pair.owner.oppositeCollectionId)
  addForeignKey(draft, collectionOf(draft, pair.owner.collectionId), { constraint, referenced })
}

/**
 * True for tables of one database that the service may change; other relations have no constraint and exist in the model alone.
 */
function isEnforced(draft: Draft, constrained: CollectionDraft, referenced: CollectionDraft): boolean {
  const isOfView = constrained.record.isView || referenced.record.isView
  return !isOfView && isWithinDatabase(draft, constrained, referenced)
}

function isWithinDatabase(draft: Draft, constrained: CollectionDraft, referenced: CollectionDraft): boolean {
  const { sourceId } = constrained.record
  return sourceId === referenced.record.sourceId && draft.context.dialectOf(sourceId) !== undefined
}

function addForeignKey(
  draft: Draft,
  constrained: CollectionDraft,
  { constraint, referenced }: { readonly constraint: ConstraintRecord; readonly referenced: CollectionDraft },
): void {
  const { dbName, onDelete, onUpdate } = constraint
  const mappings = inKeyOrder(draft, referenced, constraint)
  if (!isEnforced(draft, constrained, referenced)) {
    if (onDelete === 'noAction' && onUpdate === 'noAction') return
    refuse('unsupported', 'no database enforces this relation, so its referential actions must be noAction')
  }
  checkStorable(draft, constrained, constraint)
  const fieldIds = mappings.map(({ constrainedFieldId }) => constrainedFieldId)
  const columns = columnNames(draft, fieldIds)
  const references = {
    table: tableOf(draft, referenced),
    columns: columnNames(
      draft,
      mappings.map(({ referencedFieldId }) => referencedFieldId),
    ),
  }
  const table = tableOf(draft, constrained)
  const { sourceId } = constrained.record
  for (const [at, { constrainedFieldId }] of mappings.entries()) {
    const field = draft.fields.get(constrainedFieldId)
    if (field?.type.name !== 'string' || !isMade(draft, 'column', table, field.dbName)) continue
    const from = { table: references.table, column: references.columns[at] ?? '' }
    emit(draft, sourceId, { kind: 'takeCollation', table, column: columnOf(field), from })
  }
  emit(draft, sourceId, { kind: 'addForeignKey', table, dbName, columns, references, onDelete, onUpdate })
  keepIndexes(draft, constrained, { dbName, fieldIds })
}

/** MariaDB and MySQL require the referenced columns in the order of their index; PostgreSQL accepts any order. */
function inKeyOrder(
  draft: Draft,
  referenced: CollectionDraft,
  { mappings }: ConstraintRecord,
): ConstraintRecord['mappings'] {
  const fieldIds = mappings.map(({ referencedFieldId }) => referencedFieldId)
  const key = findKey(draft, referenced, fieldIds)?.fieldIds ?? fieldIds
  return key.flatMap((id) => mappings.find(({ referencedFieldId }) => referencedFieldId === id) ?? [])
}

function checkStorable(
  draft: Draft,
  constrained: CollectionDraft,
  { onDelete, onUpdate, mappings }: ConstraintRecord,
): void {
  const { title, ddl } = storageOf(draft, constrained.record.sourceId)
  const unknown = [onDelete, onUpdate].find((action) => !ddl.referentialActions.has(action))
  if (unknown !== undefined) refuse('unsupported', `${title} does not support the referential action ${unknown}`)
  for (const { constrainedFieldId } of mappings) {
    checkIndexable(draft, constrained, fieldOf(draft, constrained, constrainedFieldId))
  }
}

function dropForeignKey(draft: Draft, { owner, constraint }: Pair): void {
  const constrained = collectionOf(draft, owner.collectionId)
  const referenced = collectionOf(draft, owner.oppositeCollectionId)
  if (!isEnforced(draft, constrained, referenced)) return
  const table = tableOf(draft, constrained)
  const { dbName } = constraint
  const columns = columnNames(
    draft,
    inKeyOrder(draft, referenced, constraint).map(({ constrainedFieldId }) => constrainedFieldId),
  )
  const isNamesake = constrained.indexNames.has(dbName)
  emit(draft, constrained.record.sourceId, { kind: 'dropForeignKey', table, dbName, columns, isNamesake })
}
