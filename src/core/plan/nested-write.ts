/**
 * Plans writes of any shape as the steps of a program. Rows that an item refers to are written before it, rows that
 * refer to it after it; every row is checked under the access of its own collection, before and after. One file, since
 * creating, updating and linking call each other at every depth.
 */
import { shortName } from '../message-text.ts'
import type { Collection, PrimitiveField, RelationField } from '../model/model.ts'
import type { Parts } from '../parts.ts'
import type { Filter } from '../query/filter.ts'
import { MAX_RELATION_DEPTH, queryFault, tooManyRelations } from '../query/parse.ts'
import {
  addUnmoved,
  agreed,
  type Giving,
  impliedIds,
  impliedRelations,
  refuseDoubled,
  SET_BY_PARENT,
  sentIds,
} from './agreement.ts'
import { addAlterationChecks, splitAlterations } from './alterations.ts'
import { cellOf, foreignKey, keyCells, linkedCells, linkIds, twins, unlinking } from './cells.ts'
import { addLink, agreeOnLink, connectLinks, findLinks, type Links } from './links.ts'
import type { Cell, Slot } from './plan.ts'
import {
  addChange,
  addChecks,
  addDelete,
  addFind,
  addStep,
  conditionsOf,
  contextOf,
  type Program,
  requireKey,
} from './program.ts'
import {
  addFilledIn,
  addReferences,
  findReference,
  findReferences,
  findRelated,
  requireShownKey,
  uniqueSets,
} from './program-references.ts'
import { isWithoutReference, writtenReferences } from './references.ts'
import { type LocatedBody, parseRelationOperations, type RelationOperation } from './relation-operation.ts'
import { addUpdateChecks } from './update-checks.ts'
import {
  type Body,
  createAssignments,
  memberPath,
  sentColumns,
  splitBody,
  updateAssignments,
  type WriteContext,
} from './values.ts'

/** The parent of a nested new item, and the cells that the relation to it determines. */
type Parent = {
  readonly cells: readonly Cell[]
  readonly relation: RelationField | undefined
  readonly depth: number
  /** Skips the step if this slot has no row. */
  readonly provided: Slot | undefined
  /** Skips the step if this slot has a row. */
  readonly absent?: Slot
  /** The fields by which that row was searched. */
  readonly unique?: readonly PrimitiveField[]
}

const noParent: Parent = { cells: [], relation: undefined, depth: 0, provided: undefined }

/** Adds an item without relations, unless `slot`, searched by the fields `unique`, has a row; returns its slot. */
export function addIfAbsent(
  program: Program,
  item: LocatedBody,
  absent: { readonly slot: Slot; readonly unique: readonly PrimitiveField[] },
): Parts<Slot> {
  const { slot, unique } = absent
  return addCreate(program, slot.collection, item, { ...noParent, absent: slot, unique })
}

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
  const given = valuesOf(program, context, { columns, path })
  const opposite = parent.relation?.opposite
  for (const [relation] of relations) {
    if (relation === opposite) throw queryFault(memberPath(path, relation.apiName), SET_BY_PARENT)
  }
  refuseDoubled(columns, relations, parent.cells, path)
  const depth = parent.depth + 1
  const giving: Giving[] = []
  for (const [relation, value] of relations) {
    if (!relation.isForward) continue
    const at = memberPath(path, relation.apiName)
    const [operation] = parseRelationOperations(relation, value, {
      viewer: program.viewer,
      parentAction: 'create',
      path: at,
    })
    if (operation === undefined) continue
    const slot = yield* referred(program, { relation, depth, provided: parent.provided }, operation)
    giving.push({ relation, slot, path: at })
  }
  const linked = agreed(program, parent.cells, { giving, provided: parent.provided })
  const elsewhere = new Set([...linked, ...given.earlier].map(({ field }) => field.id))
  const own = createAssignments(context, given.columns, path, elsewhere).map(cellOf)
  const late = lateCells(program, collection, given.earlier)
  const now = given.earlier.filter((cell) => !late.includes(cell))
  const cells = [...linked, ...now, ...own]
  // A row with defaults only cannot be inserted conditionally.
  if (cells.length === 0 && parent.provided !== undefined) throw queryFault(path, 'must give a value')
  const into = program.slot(collection)
  const { provided, absent, unique } = parent
  const named = [
    ...relations.map(([relation]) => relation),
    ...(parent.relation === undefined ? [] : [parent.relation]),
  ]
  const names = [...Object.keys(columns), ...linked.map(({ field }) => field.apiName)]
  const filledIn = addReferences(program, { collection, names, except: named, cells, provided, absent })
  addStep(program, { kind: 'insert', into, cells, provided, absent, unless: undefined, unique })
  addFilledIn(program, into, filledIn)
  if (late.length > 0) {
    const names = late.map(({ field }) => field.apiName)
    referChanged(program, into, { names, cells: [...cells, ...late] })
    addChange(program, { slot: into, cells: late })
  }
  const sent = sentIds(collection, columns, relations)
  const implied = impliedIds(context.access, impliedRelations(collection, { named, given: linked }))
  const set = [...sent, ...(parent.cells.length === 0 ? [] : linkIds(parent.relation)), ...implied]
  const conditions = conditionsOf(program, context, set)
  const below = relations.filter(([relation]) => !relation.isForward)
  // Nested writes may only see an item that the caller may create, so it is checked first.
  const later = below.map(([relation]) => relation)
  if (later.length > 0) addChecks(program, into, conditions, later)
  for (const [relation, value] of below) {
    const at = memberPath(path, relation.apiName)
    for (const operation of parseRelationOperations(relation, value, {
      viewer: program.viewer,
      parentAction: 'create',
      path: at,
    })) {
      yield* addRelated(program, { relation, owner: into, depth, isNew: true }, operation)
    }
  }
  // A validation may depend on rows that refer to the item, so it is checked after they are written.
  addChecks(program, into, conditions)
  return into
}

/** The rows to change, which are already found, and their depth in the request. */
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
  const alike = relations.flatMap(([relation]) => (relation.isForward ? twins(relation) : []))
  const given = [...sentIds(collection, columns, relations), ...impliedIds(context.access, alike)]
  const addAfterChecks = addUpdateChecks(program, slot, { access: context.access, given })
  const { earlier, columns: own } = valuesOf(program, context, { columns, path })
  const { values, alterations } = splitAlterations(collection, own, path)
  addAlterationChecks(program, slot, { alterations, path })
  const renewed = new Set(earlier.map(({ field }) => field.id))
  const cells =
    Object.keys(body).length === 0 ? [] : [...earlier, ...updateAssignments(context, values, path, renewed).map(cellOf)]
  referChanged(program, slot, { names: cells.map(({ field }) => field.apiName), cells })
  let isChanged = cells.length + alterations.length > 0
  if (isChanged) addChange(program, { slot, cells, alterations })
  for (const [place, [relation, value]] of relations.entries()) {
    const at = memberPath(path, relation.apiName)
    const later = relations.slice(place).map(([one]) => one)
    for (const operation of parseRelationOperations(relation, value, {
      viewer: program.viewer,
      parentAction: 'update',
      path: at,
    })) {
      // Nested writes may only see the item in a state that the caller may produce, so it is checked first.
      if (isChanged) addAfterChecks(later)
      yield* addRelated(program, { relation, owner: slot, depth: depth + 1 }, operation)
      isChanged = relation.isForward
    }
  }
  addAfterChecks()
}

/** Checks the references of rows that are about to get the cells; `names` are the sent columns. */
function referChanged(
  program: Program,
  slot: Slot,
  { names, cells }: { readonly names: readonly string[]; readonly cells: readonly Cell[] },
): void {
  for (const { relation, rows: where, seen } of writtenReferences(program.viewer, slot.collection, names)) {
    if (isWithoutReference(relation, cells)) continue
    const own = cells.filter(({ field }) => relation.joins.some((pair) => pair.own === field))
    addStep(program, { kind: 'refer', slot, relation, cells: own, where, seen, assertion: 'noReference' })
  }
}

/**
 * Cells that a new row gets by a later update: references to targets that the caller cannot read completely, whose earlier
 * value may be null. An insert looks its targets up before, which fails for null.
 */
function lateCells({ viewer }: Program, collection: Collection, earlier: readonly Cell[]): readonly Cell[] {
  return earlier.filter(({ field, value }) => {
    const mayBeNull = field.isNullable && value.kind === 'kept' && value.field.isNullable
    return mayBeNull && writtenReferences(viewer, collection, [field.apiName]).length > 0
  })
}

/** Separates literal values of columns from cells of earlier values. */
function valuesOf(
  program: Program,
  context: WriteContext,
  { columns, path }: { readonly columns: Body; readonly path: string },
): { readonly columns: Body; readonly earlier: readonly Cell[] } {
  if (program.earlier === undefined) return { columns, earlier: [] }
  const earlier: Cell[] = []
  const values: Record<string, unknown> = Object.create(null)
  for (const [name, value] of Object.entries(columns)) {
    const at = memberPath(path, shortName(name))
    const [column] = sentColumns(context, [name], path)
    const cell = column && program.earlier(program, column.field, { value, path: at })
    if (cell === undefined) values[name] = value
    else earlier.push(cell)
  }
  return { columns: values, earlier }
}

type Link = {
  readonly relation: RelationField
  readonly owner: Slot
  readonly depth: number
  /** The same request creates the owner. */
  readonly isNew?: boolean
}

/** `linked` are the cells that link a row of the other side to the owner. */
type Linked = Link & { readonly linked: readonly Cell[] }

/** Adds one operation on the rows of an owner's relation. */
function* addRelated(program: Program, link: Link, operation: RelationOperation): Parts<void> {
  yield
  const { relation, owner, isNew = false } = link
  const isLinking = operation.kind === '_connect' || operation.kind === '_create'
  if (isLinking && !relation.isForward && !isNew) requireShownKey(program, link)
  if (relation.through !== undefined) {
    yield* addLinked(program, { relation, through: relation.through, owner }, { operation, depth: link.depth })
    return
  }
  const linked = linkedCells(relation, owner)
  yield* (relation.isForward ? addForward : addBackward)(program, { ...link, linked }, operation)
}

/** An operation on a many-to-many field creates or deletes rows of the junction, and changes none (decision 057). */
function* addLinked(
  program: Program,
  links: Links,
  { operation, depth }: { readonly operation: RelationOperation; readonly depth: number },
): Parts<void> {
  const { far } = links.through
  switch (operation.kind) {
    case '_connect':
      yield* connectLinks(program, links, operation)
      return
    case '_create':
      for (const item of operation.items) {
        const parent = { cells: [], relation: far, depth: depth + 1, provided: links.owner }
        const slot = yield* addCreate(program, far.target, item, parent)
        agreeOnLink(program, links, { slot, path: item.path })
        addLink(program, links, { cells: foreignKey(far, slot), path: item.path, unless: undefined })
      }
      return
    default:
      addDelete(program, findLinks(program, links, operation))
  }
}

/** Returns the row to which a forward relation will refer. */
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

/** This side has the foreign key, so the owner's row changes. */
function* addForward(program: Program, link: Linked, operation: RelationOperation): Parts<void> {
  const { relation, owner, depth } = link
  switch (operation.kind) {
    case '_connect':
    case '_create': {
      const found = yield* referred(program, { relation, depth, provided: owner }, operation)
      const cells = foreignKey(relation, found)
      addUnmoved(program, { relation, slot: owner, path: operation.path }, { cells, provided: undefined })
      addChange(program, { slot: owner, cells })
      return
    }
    case '_update': {
      const slot = findRelated(program, link, operation)
      yield* addUpdate(program, operation.data, { slot, depth, isOne: true })
      return
    }
    case '_disconnect':
      addChange(program, { slot: owner, cells: unlinking(relation) })
      return
    case '_delete': {
      const slot = findRelated(program, link, operation, owner)
      // Unlinks first, so that no referential action affects the remaining row; if the filter matches nothing, nothing is
      // unlinked.
      const referring = addFind(program, owner.collection, {
        matches: [...keyCells(owner), ...foreignKey(relation, slot)],
        where: allRows,
      })
      addChange(program, { slot: referring, cells: unlinking(relation) })
      addDelete(program, slot)
      return
    }
  }
}

const allRows: Filter = { kind: 'all' }

/** The other side has the foreign key. */
function* addBackward(program: Program, link: Linked, operation: RelationOperation): Parts<void> {
  const { relation, owner, depth, linked } = link
  const { target } = relation
  switch (operation.kind) {
    case '_create':
      for (const item of operation.items)
        yield* addCreate(program, target, item, { cells: linked, relation, depth, provided: owner })
      return
    case '_connect': {
      const { keys, path } = operation
      const set = (slot: Slot, cells: readonly Cell[]) =>
        setLink(program, { relation, slot, path }, { cells, provided: owner })
      if (!relation.isList) {
        set(addFind(program, target, { matches: linked, where: allRows }), unlinking(relation))
      }
      const named = { keys, wanted: uniqueSets(target), provided: owner }
      for (const { slot } of yield* findReferences(program, target, named)) set(slot, linked)
      return
    }
    case '_update': {
      const slot = findRelated(program, link, operation)
      yield* addUpdate(program, operation.data, { slot, depth, isOne: !relation.isList })
      return
    }
    case '_disconnect': {
      const slot = findRelated(program, link, operation)
      setLink(program, { relation, slot, path: operation.path }, { cells: unlinking(relation), provided: owner })
      return
    }
    case '_delete':
      addDelete(program, findRelated(program, link, operation))
      return
  }
}

/** Sets columns of the related rows' foreign key, with the checks of any update. */
function setLink(program: Program, link: Giving, how: Parameters<typeof addUnmoved>[2]): void {
  const { relation, slot } = link
  const { access } = contextOf(program, relation.target, 'update')
  const given = [...linkIds(relation), ...impliedIds(access, twins(relation))]
  const addAfterChecks = addUpdateChecks(program, slot, { access, given })
  addUnmoved(program, link, how)
  addChange(program, { slot, cells: how.cells })
  addAfterChecks()
}

function refuseTooDeep(depth: number, path: string): void {
  if (depth > MAX_RELATION_DEPTH) throw tooManyRelations(path)
}
