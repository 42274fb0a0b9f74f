/**
 * Plans writes of any shape as steps (docs/contract.md#nested-writes). Rows that an item refers to are written before
 * it, rows that refer to it after it. Found and created rows are kept in slots, so that one list of statements is the
 * whole transaction. Every row is checked under the access of its own collection, before and after. One file, since
 * creating, updating and linking call each other at every depth.
 */

import { type Action, type Granted, type Viewer, validRows, writableRows } from '../access/access.ts'
import { shortName } from '../message-text.ts'
import type { Collection, PrimitiveField, RelationField } from '../model/model.ts'
import type { Parts } from '../parts.ts'
import { and, type Filter } from '../query/filter.ts'
import { MAX_RELATION_DEPTH, queryFault, type RawFilter, tooManyRelations } from '../query/parse.ts'
import { cellOf, foreignKey, keyCells, linkIds, withoutLink } from './cells.ts'
import { joinKeys } from './key-runs.ts'
import { fieldEquals, readableField, relatedAccess, writeAccess } from './names.ts'
import type { Assertion, Cell, Slot, Step } from './plan.ts'
import {
  isSelfReference,
  isWithoutReference,
  targetCells,
  type WrittenReference,
  writtenReferences,
} from './references.ts'
import {
  type LocatedBody,
  MAX_CHANGES,
  operationOnLinks,
  parseRelationOperations,
  type RelationOperation,
} from './relation-operation.ts'
import {
  createAssignments,
  type Generators,
  memberPath,
  splitBody,
  updateAssignments,
  valueFor,
  type WriteContext,
} from './values.ts'
import { requestFilter } from './where.ts'

/** Steps are added in the order in which they run. */
export type Program = {
  readonly viewer: Viewer
  readonly generators: Generators
  readonly steps: Step[]
  readonly slot: (collection: Collection) => Slot
  /** References of new items that already have a step. */
  readonly referred: Set<string>
  /**
   * The conditions of new items, by collection and written fields, so that items with the same conditions can share
   * statements.
   */
  readonly conditions: Map<string, Conditions>
}

type Conditions = { readonly forbidden: Filter; readonly invalid?: Filter }

export function createProgram(viewer: Viewer, generators: Generators): Program {
  let count = 0
  const slot = (collection: Collection) => ({ number: count++, collection })
  return { viewer, generators, steps: [], slot, referred: new Set(), conditions: new Map() }
}

/** The parent of a nested new item, and the cells that the relation to it determines. */
type Parent = {
  readonly cells: readonly Cell[]
  readonly relation: RelationField | undefined
  readonly depth: number
  /** Nothing happens if this slot has no row. */
  readonly provided: Slot | undefined
}

const noParent: Parent = { cells: [], relation: undefined, depth: 0, provided: undefined }

/** Adds a new item with everything nested in it; returns its slot. */
export function* addCreate(
  program: Program,
  collection: Collection,
  { body, path }: LocatedBody,
  parent: Parent = noParent,
): Parts<Slot> {
  yield
  const context = contextOf(program, collection, 'create')
  refuseTooDeep(parent.depth, path)
  requireKey(collection, path)
  const { columns, relations } = splitBody(context, body, path)
  const opposite = parent.relation?.opposite
  for (const [relation] of relations) {
    if (relation === opposite) throw queryFault(memberPath(path, relation.apiName), SET_BY_PARENT)
  }
  refuseDoubled(columns, relations, parent.cells, path)
  const depth = parent.depth + 1
  const linked: Cell[] = []
  for (const [relation, value] of relations) {
    if (!relation.isForward) continue
    const at = memberPath(path, relation.apiName)
    const [operation] = parseRelationOperations(relation, value, { parentAction: 'create', path: at })
    if (operation === undefined) continue
    const found = yield* referred(program, { relation, depth, provided: parent.provided }, operation)
    linked.push(...foreignKey(relation, found))
  }
  const elsewhere = new Set([...parent.cells, ...linked].map(({ field }) => field.id))
  const own = createAssignments(context, columns, path, elsewhere).map(cellOf)
  const cells = [...parent.cells, ...linked, ...own]
  // A row with defaults only cannot be inserted conditionally.
  if (cells.length === 0 && parent.provided !== undefined) throw queryFault(path, 'must give a value')
  const into = program.slot(collection)
  const filledIn = addReferences(program, { collection, names: Object.keys(columns), cells, provided: parent.provided })
  addStep(program, { kind: 'insert', into, cells, provided: parent.provided })
  for (const { relation, rows: where } of filledIn) {
    addStep(program, { kind: 'refer', slot: into, relation, cells: [], where, assertion: 'noReference' })
  }
  for (const [relation, value] of relations) {
    if (relation.isForward) continue
    const at = memberPath(path, relation.apiName)
    for (const operation of parseRelationOperations(relation, value, { parentAction: 'create', path: at })) {
      yield* addRelated(program, { relation, owner: into, depth }, operation)
    }
  }
  const sent = sentIds(collection, columns, relations)
  const given = parent.cells.length === 0 ? sent : [...sent, ...linkIds(parent.relation)]
  // A validation may depend on rows that refer to the item, so it is checked after they are written.
  addChecks(program, into, conditionsOf(program, context, given))
  return into
}

function conditionsOf(
  { conditions }: Program,
  { collection, access }: WriteContext,
  given: readonly string[],
): Conditions {
  const name = JSON.stringify([collection.id, ...given])
  const known = conditions.get(name)
  if (known !== undefined) return known
  const made = { forbidden: writableRows(access, given), invalid: validRows(access, given) }
  conditions.set(name, made)
  return made
}

/**
 * Adds look-ups of the rows that a new item's columns refer to; returns references to columns that the database has yet
 * to fill in.
 */
function addReferences(
  program: Program,
  item: {
    readonly collection: Collection
    readonly names: readonly string[]
    readonly cells: readonly Cell[]
    readonly provided: Slot | undefined
  },
): readonly WrittenReference[] {
  const { collection, names, cells, provided } = item
  return writtenReferences(program.viewer, collection, names).filter((reference) => {
    const { relation, rows } = reference
    if (isWithoutReference(relation, cells)) return false
    const matches = targetCells(relation, cells)
    if (matches === undefined) return true
    const name = JSON.stringify([relation.id, provided?.number, ...matches.map(nameOf)])
    if (program.referred.has(name) || isSelfReference(relation, cells, matches)) return false
    program.referred.add(name)
    addFind(program, relation.target, { matches, where: rows, assertion: 'noReference', provided, lock: 'reference' })
    return false
  })
}

function nameOf({ value }: Cell): readonly unknown[] {
  return value.kind === 'text' ? [value.text] : [value.slot.number, value.field.id]
}

/** The rows to change, already found, and their depth in the request. */
export type Found = { readonly slot: Slot; readonly depth: number; readonly isOne: boolean }

/** Updates the rows of a slot, with the nested changes. */
export function* addUpdate(program: Program, { body, path }: LocatedBody, { slot, depth, isOne }: Found): Parts<void> {
  yield
  const { collection } = slot
  const context = contextOf(program, collection, 'update')
  refuseTooDeep(depth, path)
  const { columns, relations } = splitBody(context, body, path)
  if (relations.length > 0 && !isOne) throw queryFault(path, 'cannot hold relations: it may change many items')
  refuseDoubled(columns, relations, [], path)
  const given = sentIds(collection, columns, relations)
  addChecks(program, slot, { forbidden: writableRows(context.access, given) })
  const cells = Object.keys(body).length === 0 ? [] : updateAssignments(context, columns, path).map(cellOf)
  for (const { relation, rows: where } of writtenReferences(program.viewer, collection, Object.keys(columns))) {
    if (isWithoutReference(relation, cells)) continue
    const own = cells.filter(({ field }) => relation.joins.some((pair) => pair.own === field))
    addStep(program, { kind: 'refer', slot, relation, cells: own, where, assertion: 'noReference' })
  }
  if (cells.length > 0) addStep(program, { kind: 'update', slot, cells })
  for (const [relation, value] of relations) {
    const at = memberPath(path, relation.apiName)
    for (const operation of parseRelationOperations(relation, value, { parentAction: 'update', path: at })) {
      yield* addRelated(program, { relation, owner: slot, depth: depth + 1 }, operation)
    }
  }
  addChecks(program, slot, {
    forbidden: writableRows(context.access, given),
    invalid: validRows(context.access, given),
  })
}

/** Deletes the rows of a slot. */
export function addDelete(program: Program, slot: Slot): void {
  const { access } = contextOf(program, slot.collection, 'delete')
  addChecks(program, slot, { forbidden: writableRows(access, []) })
  addStep(program, { kind: 'delete', slot })
}

/** Finds rows that the caller can read. */
export function addFind(
  program: Program,
  collection: Collection,
  which: {
    readonly matches?: readonly Cell[]
    readonly where: Filter
    readonly assertion?: Assertion
    readonly provided?: Slot
    readonly lock?: 'reference'
    readonly count?: number
  },
): Slot {
  requireKey(collection, '')
  const into = program.slot(collection)
  const { matches = [], where, assertion, provided, lock = 'change', count = 1 } = which
  const visible = and([readableRows(program.viewer, collection), where])
  addStep(program, { kind: 'find', into, matches, where: visible, assertion, count, provided, lock })
  return into
}

type Link = { readonly relation: RelationField; readonly owner: Slot; readonly depth: number }
/** `linked` says of a row of the other side that it is linked to the owner. */
type Linked = Link & { readonly linked: readonly Cell[] }

/** Adds one operation on the rows that a relation of the owner leads to. */
function* addRelated(program: Program, link: Link, operation: RelationOperation): Parts<void> {
  yield
  const { relation, owner } = link
  if (relation.through !== undefined) {
    const { near } = relation.through
    yield* addRelated(program, { ...link, relation: near }, operationOnLinks(relation.through, operation))
    return
  }
  const linked = relation.joins.map(
    ({ own, other }): Cell => ({ field: other, value: { kind: 'kept', slot: owner, field: own } }),
  )
  yield* (relation.isForward ? addForward : addBackward)(program, { ...link, linked }, operation)
}

/** Returns the row that a forward relation shall refer to. */
function* referred(
  program: Program,
  link: { readonly relation: RelationField; readonly depth: number; readonly provided: Slot | undefined },
  operation: RelationOperation,
): Parts<Slot> {
  const { relation, depth, provided } = link
  if (operation.kind === '_create') {
    const [item = nowhere] = operation.items
    return yield* addCreate(program, relation.target, item, { cells: [], relation, depth, provided })
  }
  const [key = nowhere] = operation.kind === '_connect' ? operation.keys : []
  const wanted = [relation.joins.map(({ other }) => other)]
  return findReference(program, relation.target, { key, wanted, provided, lock: 'reference' })
}

const nowhere: LocatedBody = { body: {}, path: '' }

/** This side owns the foreign key: the owner's slot follows every change of it. */
function* addForward(program: Program, link: Linked, operation: RelationOperation): Parts<void> {
  const { relation, owner, depth, linked } = link
  const { target } = relation
  switch (operation.kind) {
    case '_connect':
    case '_create': {
      const found = yield* referred(program, { relation, depth, provided: owner }, operation)
      addStep(program, { kind: 'update', slot: owner, cells: foreignKey(relation, found) })
      return
    }
    case '_update': {
      const slot = addFind(program, target, { matches: linked, where: own(program, target, operation) })
      yield* addUpdate(program, operation.data, { slot, depth, isOne: true })
      return
    }
    case '_disconnect':
      addStep(program, { kind: 'update', slot: owner, cells: withoutLink(relation) })
      return
    case '_delete': {
      const slot = addFind(program, target, {
        matches: linked,
        where: own(program, target, operation),
        provided: owner,
      })
      // Unlinks first, so that no referential action affects the remaining row; if the filter matches nothing, nothing
      // is unlinked.
      const referring = addFind(program, owner.collection, {
        matches: [...keyCells(owner), ...foreignKey(relation, slot)],
        where: allRows,
      })
      addStep(program, { kind: 'update', slot: referring, cells: withoutLink(relation) })
      addDelete(program, slot)
      return
    }
  }
}

const allRows: Filter = { kind: 'all' }

/** The other side owns the foreign key. */
function* addBackward(program: Program, link: Linked, operation: RelationOperation): Parts<void> {
  const { relation, owner, depth, linked } = link
  const { target } = relation
  switch (operation.kind) {
    case '_create':
      for (const item of operation.items)
        yield* addCreate(program, target, item, { cells: linked, relation, depth, provided: owner })
      return
    case '_connect':
      if (!relation.isList)
        setLink(program, relation, addFind(program, target, { matches: linked, where: allRows }), null)
      for (const found of yield* findReferences(program, target, { keys: operation.keys, provided: owner })) {
        setLink(program, relation, found, linked)
      }
      return
    case '_update': {
      const slot = addFind(program, target, { matches: linked, where: own(program, target, operation) })
      yield* addUpdate(program, operation.data, { slot, depth, isOne: !relation.isList })
      return
    }
    case '_disconnect':
      setLink(
        program,
        relation,
        addFind(program, target, { matches: linked, where: own(program, target, operation) }),
        null,
      )
      return
    case '_delete':
      addDelete(program, addFind(program, target, { matches: linked, where: own(program, target, operation) }))
      return
  }
}

/** Sets the foreign key of the related rows, or clears it; checked like any update of them. */
function setLink(program: Program, relation: RelationField, slot: Slot, linked: readonly Cell[] | null): void {
  const { access } = contextOf(program, relation.target, 'update')
  const ids = linkIds(relation)
  addChecks(program, slot, { forbidden: writableRows(access, ids) })
  const cells = linked ?? relation.joins.map(({ other }) => cellOf({ field: other, value: null }))
  addStep(program, { kind: 'update', slot, cells })
  addChecks(program, slot, { forbidden: writableRows(access, ids), invalid: validRows(access, ids) })
}

/** Finds the row of `_connect` by a complete set of unique columns; 422 if there is none that the caller can read. */
function findReference(
  program: Program,
  target: Collection,
  how: WantedKey & { readonly provided: Slot | undefined; readonly lock?: 'reference' },
): Slot {
  const { provided, lock } = how
  const where = and(keyConditions(program.viewer, target, how))
  return addFind(program, target, { where, assertion: 'noReference', provided, lock })
}

/** Like `findReference` for many keys, in few slots. */
function* findReferences(
  program: Program,
  target: Collection,
  { keys, provided }: { readonly keys: readonly LocatedBody[]; readonly provided: Slot },
): Parts<readonly Slot[]> {
  const wanted = uniqueSets(target)
  const conditions: (readonly Filter[])[] = []
  for (const key of keys) {
    yield
    conditions.push(keyConditions(program.viewer, target, { key, wanted }))
  }
  return [...joinKeys(conditions)].map(({ where, count }) =>
    addFind(program, target, { where, assertion: 'noReference', provided, count }),
  )
}

type WantedKey = { readonly key: LocatedBody; readonly wanted: readonly (readonly PrimitiveField[])[] }

function keyConditions(viewer: Viewer, target: Collection, { key, wanted }: WantedKey): readonly Filter[] {
  const { body, path } = key
  requireKey(target, path)
  const access = relatedAccess(viewer, target)
  const named: PrimitiveField[] = []
  const conditions = Object.entries(body).map(([name, value]): Filter => {
    const at = memberPath(path, shortName(name))
    const { field, visible } = readableField(viewer, target, access, name, at)
    if (field.kind === 'relation') throw queryFault(at, 'is a relation')
    named.push(field)
    return value === null
      ? { kind: 'null', field, visible, negated: false }
      : fieldEquals(field, visible, valueFor(field, value, at) ?? '')
  })
  const isUnique = wanted.some((set) => set.length === named.length && set.every((field) => named.includes(field)))
  if (!isUnique) {
    const sets = wanted.map((set) => set.map(({ apiName }) => apiName).join(', '))
    throw queryFault(path, `must name ${sets.join(' or ')}`)
  }
  return conditions
}

/** Sets of columns that identify a row of the collection. */
export function uniqueSets({ indexes }: Collection): readonly (readonly PrimitiveField[])[] {
  return indexes.filter(({ kind }) => kind !== 'normal').map(({ fields }) => fields)
}

/** The filter of a nested operation. */
function own(
  { viewer }: Program,
  collection: Collection,
  { filter, path }: { readonly filter: RawFilter | undefined; readonly path: string },
): Filter {
  return requestFilter(viewer, collection, filter, path)
}

function readableRows(viewer: Viewer, collection: Collection): Filter {
  const access = viewer.accessTo(collection, 'read')
  return access.kind === 'granted' ? access.rows : { kind: 'none' }
}

function contextOf(
  { viewer, generators }: Program,
  collection: Collection,
  action: Exclude<Action, 'read'>,
): WriteContext & { access: Granted } {
  return { viewer, generators, collection, access: writeAccess(viewer, collection, action) }
}

function addChecks(program: Program, slot: Slot, conditions: Conditions): void {
  for (const assertion of ['forbidden', 'invalid'] as const) {
    const where = conditions[assertion]
    if (where !== undefined && where.kind !== 'all') addStep(program, { kind: 'check', slot, where, assertion })
  }
}

function addStep(program: Program, step: Step): void {
  if (program.steps.push(step) > MAX_CHANGES) throw queryFault('body', `asks for more than ${MAX_CHANGES} changes`)
}

/** The ids of all fields in a body: policies list primitive and relation fields alike. */
function sentIds(
  collection: Collection,
  columns: Readonly<Record<string, unknown>>,
  relations: readonly (readonly [RelationField, unknown])[],
): readonly string[] {
  const own = Object.keys(columns).flatMap((name) => collection.fields.get(name)?.id ?? [])
  return [...own, ...relations.map(([{ id }]) => id)]
}

const SET_BY_PARENT = 'is set by the item that this one is nested in'

/** A foreign key is set through its columns or through the relation, never both. */
function refuseDoubled(
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

function refuseTooDeep(depth: number, path: string): void {
  if (depth > MAX_RELATION_DEPTH) throw tooManyRelations(path)
}

function requireKey({ primaryKey, apiName }: Collection, path: string): void {
  if (primaryKey.length === 0) throw queryFault(path, `${apiName} has no primary key, so relations cannot be written`)
}
