/** Builds cells for columns from the joins of a relation and from slots of the same transaction. */
import type { Collection, PrimitiveField, RelationField } from '../model/model.ts'
import type { Assignment, Cell, Slot } from './plan.ts'

/** The ids under which policies know the foreign key from the target's side: the opposite relation, or else its columns. */
export function linkIds(relation: RelationField | undefined): readonly string[] {
  if (relation === undefined) return []
  return relation.opposite === undefined ? relation.joins.map(({ other }) => other.id) : [relation.opposite.id]
}

export function foreignKey(relation: RelationField, slot: Slot): readonly Cell[] {
  return relation.joins.map(({ own, other }) => ({ field: own, value: { kind: 'kept', slot, field: other } }))
}

/** The cells of the other side's columns that link a row to its owner. */
export function linkedCells({ joins }: RelationField, owner: Slot): readonly Cell[] {
  return joins.map(({ own, other }) => ({ field: other, value: { kind: 'kept', slot: owner, field: own } }))
}

/** The cells that remove a link, for either side: null in the nullable columns that no other relation uses; possibly none. */
export function unlinking(relation: RelationField): readonly Cell[] {
  const others = sharing(relation)
  const columns = foreignKeyOf(relation).columns.filter(
    (column) => column.isNullable && !others.some(({ joins }) => joins.some(({ own }) => own === column)),
  )
  return columns.map((field) => cellOf({ field, value: null }))
}

/** The other relations that share some, but not exactly all, columns with the relation's foreign key, given from either side. */
export function sharing(relation: RelationField): readonly RelationField[] {
  return overlapping(relation).filter((one) => !hasSameColumns(one, relation))
}

/** The other relations with exactly the columns of the relation's foreign key: a change of one changes all. */
export function twins(relation: RelationField): readonly RelationField[] {
  return overlapping(relation).filter((one) => hasSameColumns(one, relation) && !isSameLink(one, relation))
}

/** The columns of the relation's foreign key, and both sides of all relations that use any of them. */
export function membersOf(relation: RelationField): readonly (PrimitiveField | RelationField)[] {
  const sides = overlapping(relation).flatMap((one) => (one.opposite === undefined ? [one] : [one, one.opposite]))
  return [...foreignKeyOf(relation).columns, ...sides]
}

function overlapping(relation: RelationField): readonly RelationField[] {
  const { collection, columns } = foreignKeyOf(relation)
  const known = users.get(collection) ?? usersOf(collection)
  users.set(collection, known)
  return [...new Set(columns.flatMap((column) => known.get(column) ?? []))]
}

/** The forward relations of a collection by column; cached, because a collection may have thousands. */
function usersOf({ relations }: Collection): ReadonlyMap<PrimitiveField, readonly RelationField[]> {
  const pairs = relations.flatMap((one) => (one.isForward ? one.joins.map(({ own }) => [own, one] as const) : []))
  const byColumn = Map.groupBy(pairs, ([own]) => own)
  return new Map([...byColumn].map(([own, some]) => [own, some.map(([, one]) => one)]))
}

const users = new WeakMap<Collection, ReturnType<typeof usersOf>>()

function hasSameColumns(one: RelationField, other: RelationField): boolean {
  const [key, same] = [foreignKeyOf(one), foreignKeyOf(other)]
  return key.columns.length === same.columns.length && key.columns.every((column) => same.columns.includes(column))
}

/** True if the relations are two sides of one relation, or refer to the same rows by the same columns. */
export function isSameLink(one: RelationField, other: RelationField): boolean {
  const [key, same] = [foreignKeyOf(one), foreignKeyOf(other)]
  if (key.collection !== same.collection || key.target !== same.target) return false
  const matches = (column: PrimitiveField, at: number) =>
    same.referenced[same.columns.indexOf(column)] === key.referenced[at]
  return key.columns.length === same.columns.length && key.columns.every(matches)
}

type ForeignKey = {
  readonly collection: Collection
  readonly columns: readonly PrimitiveField[]
  readonly target: Collection
  readonly referenced: readonly PrimitiveField[]
}

function foreignKeyOf({ isForward, collection, target, joins }: RelationField): ForeignKey {
  const [own, other] = [joins.map((pair) => pair.own), joins.map((pair) => pair.other)]
  return isForward
    ? { collection, columns: own, target, referenced: other }
    : { collection: target, columns: other, target: collection, referenced: own }
}

export function keyCells(slot: Slot): readonly Cell[] {
  return slot.collection.identity.map((field) => ({ field, value: { kind: 'kept', slot, field } }))
}

export function cellOf({ field, value }: Assignment): Cell {
  return { field, value: { kind: 'text', text: value } }
}

/** The columns that later steps may need: those that identify a row, and those that relations join by. */
export function keptFields({ identity, relations }: Slot['collection']): readonly PrimitiveField[] {
  return [...new Set([...identity, ...relations.flatMap(({ joins }) => joins.map(({ own }) => own))])]
}
