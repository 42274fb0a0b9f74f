/**
 * Adds to a program the look-ups of referenced rows: by the columns of a new item, by the key of `_connect`, or by the links of
 * an item. A row or link that the caller cannot read counts as missing.
 */
import { type Viewer, visibility } from '../access/access.ts'
import { shortName } from '../message-text.ts'
import type { Collection, PrimitiveField, RelationField } from '../model/model.ts'
import type { Parts } from '../parts.ts'
import { all, and, type Filter } from '../query/filter.ts'
import { queryFault, type RawFilter } from '../query/parse.ts'
import { isSameLink, keyCells, linkedCells } from './cells.ts'
import { joinKeys, type WantedRows } from './key-runs.ts'
import { fieldEquals, readableField, relatedAccess } from './names.ts'
import type { Cell, Slot } from './plan.ts'
import { addFind, addStep, type Program, requireKey } from './program.ts'
import {
  isSelfReference,
  isWithoutReference,
  shownKeys,
  shownLinks,
  targetCells,
  type WrittenReference,
  writtenReferences,
} from './references.ts'
import type { LocatedBody } from './relation-operation.ts'
import { memberPath, valueFor } from './values.ts'
import { boundingFilter, requestFilter } from './where.ts'

/**
 * Adds look-ups of the rows that a new item refers to by the columns `names` and by defaults; returns references whose columns
 * the database fills in.
 */
export function addReferences(
  program: Program,
  item: {
    readonly collection: Collection
    readonly names: readonly string[]
    /** Relations whose rows are known to exist. */
    readonly except: readonly RelationField[]
    readonly cells: readonly Cell[]
    readonly provided: Slot | undefined
    /** Skips the look-ups if this slot has a row. */
    readonly absent: Slot | undefined
  },
): readonly WrittenReference[] {
  const { collection, names, except, cells, provided, absent } = item
  return writtenReferences(program.viewer, collection, names, 'create').filter((reference) => {
    const { relation, rows } = reference
    if (except.some((known) => isSameLink(known, relation))) return false
    if (isWithoutReference(relation, cells)) return false
    const matches = targetCells(relation, cells)
    if (matches === undefined) return true
    const name = JSON.stringify([relation.id, provided?.number, absent?.number, ...matches.map(nameOf)])
    if (program.referred.has(name) || isSelfReference(relation, cells, matches)) return false
    program.referred.add(name)
    const search = { matches, where: rows, provided, absent }
    addFind(program, relation.target, { ...search, assertion: 'noReference', lock: 'reference' })
    return false
  })
}

/** Checks the references of an inserted row whose columns the database has filled in. */
export function addFilledIn(program: Program, slot: Slot, references: readonly WrittenReference[]): void {
  for (const { relation, rows: where, seen } of references) {
    addStep(program, { kind: 'refer', slot, relation, cells: [], where, seen, assertion: 'noReference' })
  }
}

function nameOf({ value }: Cell): readonly unknown[] {
  return value.kind === 'text' ? [value.text] : [value.slot.number, value.row, value.field.id]
}

/** Finds the row of `_connect` by a complete set of unique columns; 422 if the caller can read no such row. */
export function findReference(
  program: Program,
  target: Collection,
  how: WantedKey & { readonly provided: Slot | undefined; readonly lock?: 'reference' },
): Slot {
  const { provided, lock } = how
  const { conditions, matches } = keyConditions(program, target, how)
  return addFind(program, target, { matches, where: and(conditions), assertion: 'noReference', provided, lock })
}

/**
 * Requires that the caller can read the owner's columns that a backward relation copies to the other side; otherwise 422, as
 * for a missing owner.
 */
export function requireShownKey(program: Program, { relation, owner }: Related): void {
  const where = shownKeys(program.viewer, relation)
  if (where.kind === 'all') return
  addFind(program, owner.collection, { matches: keyCells(owner), where, assertion: 'noReference', provided: owner })
}

/** Finds the rows that are linked to the owner, if the caller can see the link, because a write to them would reveal it. */
export function findRelated(
  program: Program,
  { relation, owner }: Related,
  operation: { readonly filter: RawFilter | undefined; readonly path: string },
  provided?: Slot,
): Slot {
  const requested = nestedFilter(program.viewer, relation, operation)
  const shown = shownLinks(program.viewer, relation)
  const isOpen = shown.owner.kind === 'all' || shown.target.kind === 'all'
  const isByTarget = !isOpen && shown.owner.kind === 'none'
  const seen =
    isOpen || isByTarget ? owner : addFind(program, owner.collection, { matches: keyCells(owner), where: shown.owner })
  const where = isByTarget ? and([requested, shown.target]) : requested
  return addFind(program, relation.target, { matches: linkedCells(relation, seen), where, provided })
}

type Related = { readonly relation: RelationField; readonly owner: Slot }

function nestedFilter(
  viewer: Viewer,
  { target, isList }: RelationField,
  { filter, path }: { readonly filter: RawFilter | undefined; readonly path: string },
): Filter {
  // Without a filter all related rows are meant (docs/contract.md#items).
  if (filter === undefined) return all
  return isList ? boundingFilter(viewer, target, { filter, path }) : requestFilter(viewer, target, filter, path)
}

/** Like `findReference` for many keys, in few slots; each slot with the keys of its rows. */
export function* findReferences(
  program: Program,
  target: Collection,
  how: {
    readonly keys: readonly LocatedBody[]
    readonly wanted: WantedKey['wanted']
    readonly provided: Slot
    readonly lock?: 'reference'
  },
): Parts<readonly { readonly slot: Slot; readonly keys: WantedRows['keys'] }[]> {
  const { keys, wanted, ...rest } = how
  const known: (readonly Filter[])[] = []
  const earlier: { readonly slot: Slot; readonly keys: WantedRows['keys'] }[] = []
  for (const key of keys) {
    yield
    const { conditions, matches } = keyConditions(program, target, { key, wanted })
    if (matches.length === 0) known.push(conditions)
    else {
      const slot = addFind(program, target, { ...rest, matches, where: and(conditions), assertion: 'noReference' })
      earlier.push({ slot, keys: [undefined] })
    }
  }
  const found = [...joinKeys(known)].map(({ where, keys: same }) => ({
    slot: addFind(program, target, { ...rest, where, assertion: 'noReference', count: same.length }),
    keys: same,
  }))
  return [...found, ...earlier]
}

type WantedKey = { readonly key: LocatedBody; readonly wanted: readonly (readonly PrimitiveField[])[] }

/** The conditions for the row of a key, and the columns with a value of an earlier operation. */
function keyConditions(
  program: Program,
  target: Collection,
  { key, wanted }: WantedKey,
): { readonly conditions: readonly Filter[]; readonly matches: readonly Cell[] } {
  const { viewer, earlier } = program
  const { body, path } = key
  const matches: Cell[] = []
  requireKey(target, path)
  const access = relatedAccess(viewer, target)
  const named: PrimitiveField[] = []
  const conditions = Object.entries(body).map(([name, value]): Filter => {
    const at = memberPath(path, shortName(name))
    const { field, visible } = readableField(viewer, target, access, name, at)
    if (field.kind === 'relation') throw queryFault(at, 'is a relation')
    named.push(field)
    const cell = earlier?.(program, field, { value, path: at })
    if (cell !== undefined) {
      matches.push(cell)
      return visible
    }
    return value === null
      ? { kind: 'null', field, visible, negated: false }
      : fieldEquals(field, visible, valueFor(field, value, at) ?? '')
  })
  const identifyingKeys = wanted.filter((set) => set.every(isIdentifying))
  if (identifyingKeys.length === 0) throw queryFault(path, `${target.apiName} has no key that a request can name`)
  const known = identifyingKeys.filter((set) => set.every((field) => visibility(access, field) !== undefined))
  if (known.length === 0) throw queryFault(path, `${target.apiName} has no key that this caller can name`)
  const isUnique = known.some((set) => set.length === named.length && set.every((field) => named.includes(field)))
  if (!isUnique) {
    const sets = known.map((set) => set.map(({ apiName }) => apiName).join(', '))
    throw queryFault(path, `must name ${sets.join(' or ')}`)
  }
  return { conditions, matches }
}

/** Sets of columns that identify a row of the collection, and whose values can be sent. */
export function uniqueSets({ indexes }: Collection): readonly (readonly PrimitiveField[])[] {
  return indexes
    .filter(({ kind, fields }) => kind !== 'normal' && fields.every(isIdentifying))
    .map(({ fields }) => fields)
}

/** True if rows can be found by a value of the field; lists, composite values and geometries cannot be compared. */
function isIdentifying({ type, isList, native }: PrimitiveField): boolean {
  return !isList && type.name !== 'geometry' && native?.members === undefined
}
