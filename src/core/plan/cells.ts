/** Builds cells for columns from the joins of a relation and from slots of the same transaction. */
import type { PrimitiveField, RelationField } from '../model/model.ts'
import type { Assignment, Cell, Slot } from './plan.ts'

/** Ids that stand for the foreign key of the relation's target: the opposite relation, or else its columns. */
export function linkIds(relation: RelationField | undefined): readonly string[] {
  if (relation === undefined) return []
  return relation.opposite === undefined ? relation.joins.map(({ other }) => other.id) : [relation.opposite.id]
}

export function foreignKey(relation: RelationField, slot: Slot): readonly Cell[] {
  return relation.joins.map(({ own, other }) => ({ field: own, value: { kind: 'kept', slot, field: other } }))
}

export function withoutLink({ joins }: RelationField): readonly Cell[] {
  return joins.map(({ own }) => cellOf({ field: own, value: null }))
}

export function keyCells(slot: Slot): readonly Cell[] {
  return slot.collection.identity.map((field) => ({ field, value: { kind: 'kept', slot, field } }))
}

export function cellOf({ field, value }: Assignment): Cell {
  return { field, value: { kind: 'text', text: value } }
}

/** The columns that later steps may need: what identifies a row, and the columns that relations join by. */
export function keptFields({ identity, relations }: Slot['collection']): readonly PrimitiveField[] {
  return [...new Set([...identity, ...relations.flatMap(({ joins }) => joins.map(({ own }) => own))])]
}
