/**
 * Conflicts of columns in a write (docs/contract.md#nested-writes): columns that a relation shares with other relations, with
 * the primary key or with the parent item. No column gets two values, and linking changes neither another link nor a key. The
 * linked row is known only when it is found, so the database compares, and the step has the error message.
 */
import { type Granted, linkRows, type Viewer, visibility } from '../access/access.ts'
import type { Collection, Field, PrimitiveField, RelationField } from '../model/model.ts'
import { type Filter, none, or } from '../query/filter.ts'
import { queryFault } from '../query/parse.ts'
import { isSameLink, sharing, twins } from './cells.ts'
import type { Cell, Slot } from './plan.ts'
import { addStep, type Program } from './program.ts'
import { isWithoutReference, writtenReferences } from './references.ts'
import { memberPath } from './values.ts'

/** The ids of all fields in a body: policies list primitive and relation fields alike. */
export function sentIds(
  collection: Collection,
  columns: Readonly<Record<string, unknown>>,
  relations: readonly (readonly [RelationField, unknown])[],
): readonly string[] {
  const own = Object.keys(columns).flatMap((name) => collection.fields.get(name)?.id ?? [])
  return [...own, ...relations.map(([{ id }]) => id)]
}

/** A foreign key is set through its columns or through the relation, never both. */
export function refuseDoubled(
  columns: Readonly<Record<string, unknown>>,
  relations: readonly (readonly [RelationField, unknown])[],
  parent: readonly Cell[],
  path: string,
): void {
  for (const [relation] of relations) {
    const column = relation.joins.find(({ own }) => relation.isForward && own.apiName in columns)?.own
    if (column !== undefined) {
      throw queryFault(memberPath(path, column.apiName), `is given by the relation ${relation.apiName} as well`)
    }
  }
  for (const { field } of parent) {
    if (field.apiName in columns) throw queryFault(memberPath(path, field.apiName), SET_BY_PARENT)
  }
}

export const SET_BY_PARENT = 'is set by the item that this one is nested in'

/** A relation that sets columns of a row to those of the row in a slot, and its path in the request. */
export type Giving = { readonly relation: RelationField; readonly slot: Slot; readonly path: string }

/** Returns the cells of a new row, each column once: those from the parent, and those of relations that agree with them. */
export function agreed(
  program: Program,
  parent: readonly Cell[],
  { giving, provided }: { readonly giving: readonly Giving[]; readonly provided: Slot | undefined },
): readonly Cell[] {
  const known = new Map<PrimitiveField, { readonly cell: Cell; readonly by: RelationField | undefined }>()
  for (const cell of parent) known.set(cell.field, { cell, by: undefined })
  for (const { relation, slot, path } of giving) {
    for (const { own, other } of relation.joins) {
      const given = known.get(own)
      if (given === undefined) {
        known.set(own, { cell: { field: own, value: { kind: 'kept', slot, field: other } }, by: relation })
        continue
      }
      const { by, cell } = given
      const why = by === undefined ? SET_BY_PARENT : givenBy(by.apiName)
      const column = nameIn(program.viewer, relation.collection, own)
      addAgreement(program, {
        slot,
        cells: [{ field: other, value: cell.value }],
        where: none,
        provided,
        path,
        reason: otherwise(column, why),
      })
    }
  }
  return [...known.values()].map(({ cell }) => cell)
}

/**
 * Requires that a relation's cells change neither the rows' keys nor another relation. Relations of the same columns must refer
 * to rows that the caller can read.
 */
export function addUnmoved(
  program: Program,
  { relation, slot, path }: Giving,
  { cells, provided }: { readonly cells: readonly Cell[]; readonly provided: Slot | undefined },
): void {
  const { viewer } = program
  const { collection } = slot
  const same = (columns: readonly PrimitiveField[], why: string, where: Filter) => {
    const shared = cells.filter(({ field }) => columns.includes(field))
    const [first] = shared
    if (first === undefined) return
    const reason = otherwise(nameIn(viewer, collection, first.field), why)
    addAgreement(program, { slot, cells: shared, where, provided, path, reason })
  }
  same(collection.primaryKey, 'is part of the primary key', none)
  for (const other of sharing(relation)) {
    const own = other.joins.map((join) => join.own)
    const rest = own.filter((field) => field.isNullable && !cells.some((cell) => cell.field === field))
    same(own, givenBy(nameIn(viewer, collection, other)), or(rest.map((field) => seenNull(viewer, collection, field))))
  }
  const alike = twins(relation)
  const names = cells.map(({ field }) => field.apiName)
  for (const { relation: other, rows: where, seen } of writtenReferences(viewer, collection, names)) {
    if (!alike.includes(other) || isWithoutReference(other, cells)) continue
    addStep(program, { kind: 'refer', slot, relation: other, cells, where, seen, assertion: 'noReference' })
  }
}

/** A caller who may not see that the column is null gets the same error as for another value. */
function seenNull(viewer: Viewer, collection: Collection, field: PrimitiveField): Filter {
  const access = viewer.accessTo(collection, 'read')
  const visible = access.kind === 'granted' ? visibility(access, field) : undefined
  return visible === undefined ? none : { kind: 'null', field, visible, negated: false }
}

export function addAgreement(
  program: Program,
  step: Omit<Parameters<typeof addStep>[1] & { readonly kind: 'agree' }, 'kind' | 'number'>,
): void {
  addStep(program, { kind: 'agree', ...step, number: program.steps.length })
}

/** Relations of a new row that the `given` cells of others set, although the request names none of their columns. */
export function impliedRelations(
  collection: Collection,
  { named, given }: { readonly named: readonly RelationField[]; readonly given: readonly Cell[] },
): readonly RelationField[] {
  return collection.relations.filter(
    (relation) =>
      relation.isForward &&
      relation.joins.every(({ own }) => given.some(({ field }) => field === own)) &&
      !named.some((one) => isSameLink(one, relation)),
  )
}

/** The ids that a policy must allow for implied relations: the relation, or else its columns. */
export function impliedIds(access: Granted, relations: readonly RelationField[]): readonly string[] {
  return relations.flatMap((relation) =>
    visibility(access, relation) === undefined ? relation.joins.map(({ own }) => own.id) : [relation.id],
  )
}

export function otherwise(column: string | undefined, why: string): string {
  return `sets ${column ?? 'a column'}, which ${why}, to another value`
}

function givenBy(relation: string | undefined): string {
  return relation === undefined
    ? 'is given by another relation as well'
    : `is given by the relation ${relation} as well`
}

/** Undefined for a field that the caller may not know. */
export function nameIn(viewer: Viewer, collection: Collection, field: Field): string | undefined {
  const access = viewer.accessTo(collection, 'read')
  const isSeen = access.kind === 'granted' && visibility(access, field) !== undefined
  const isFollowed = field.kind === 'primitive' || linkRows(viewer, field) !== undefined
  return viewer.seesModel || (isSeen && isFollowed) ? field.apiName : undefined
}
