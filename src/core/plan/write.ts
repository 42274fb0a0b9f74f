/**
 * Plans a write from the request, Model and Access. Writes without access checks get the plain plans, a single
 * statement where the database allows it; all others become a program of checked steps. The answer is planned as a
 * read.
 */

import { type Granted, type Viewer, visibility, writableRows } from '../access/access.ts'
import { nested } from '../error.ts'
import { isObject } from '../json-object.ts'
import type { Collection } from '../model/model.ts'
import type { Parts } from '../parts.ts'
import { all, and, type Filter, none } from '../query/filter.ts'
import { queryFault, type ReadQuery } from '../query/parse.ts'
import { isAltering } from './alterations.ts'
import { decodeKey, keyEquals, keyFields, namedValues, type SentKey } from './item-key.ts'
import { Forbidden, lacksKey, writeAccess } from './names.ts'
import { addCreate, addUpdate } from './nested-write.ts'
import type { Cell, CreatePlan, Cut, DeletePlan, Order, ProgramPlan, Selection, Slot, UpdatePlan } from './plan.ts'
import { addChecks, addDelete, addFind, addStep, createProgram, type Program } from './program.ts'
import { planSelection, type ReadContext, shownFields, usualOrder } from './read.ts'
import { writtenReferences } from './references.ts'
import type { LocatedBody } from './relation-operation.ts'
import {
  type Body,
  changedValue,
  columnValue,
  createAssignments,
  createColumns,
  type Generators,
  parseBody,
  updateAssignments,
  updateColumns,
} from './values.ts'
import { boundingFilter, requestFilter } from './where.ts'

export type WriteRequest = {
  readonly viewer: Viewer
  readonly collection: Collection
  readonly generators: Generators
  /** Access for the returned items. */
  readonly read: ReadContext
  readonly query: () => ReadQuery
  /** The entity tags of which the written item must have one; undefined if any is accepted. */
  readonly tags?: readonly string[] | undefined
  /** Undefined if the request is not an operation of a batch. */
  readonly part?: BatchPart | undefined
}

/** An operation of a batch. */
export type BatchPart = {
  /** Has slots that no other operation of the batch has. */
  readonly program: Program
  /** The name of the body in faults. */
  readonly path: string
  /** True if the written rows must be kept for later operations. */
  readonly isKept: boolean
  /** True if a value of the body or the key refers to an earlier operation. */
  readonly usesEarlier: boolean
}

export function* planCreate(request: WriteRequest, body: unknown, most: number): Parts<CreatePlan | ProgramPlan> {
  const { viewer, collection, generators } = request
  const access = writeAccess(viewer, collection, 'create')
  const place = request.part?.path ?? 'body'
  if (!Array.isArray(body)) throw queryFault(place, 'must be an array of items')
  requireFew(body, most, place)
  const items = body.map((item, index): LocatedBody => {
    const path = `${request.part?.path ?? ''}[${index}]`
    return { body: parseBody(item, path), path }
  })
  const selection = answered(request, items.length)
  if (isUnrestricted(access) && items.every((item) => isPlain(request, Object.keys(item.body), 'create'))) {
    const context = { viewer, collection, generators, access, action: 'create' } as const
    const rows = items.map((item) => createAssignments(context, item.body, item.path))
    return { kind: 'create', collection, rows, selection }
  }
  const program = programOf(request)
  const slots: Slot[] = []
  for (const item of items) slots.push(yield* addCreate(program, collection, item))
  return finished(program, slots, selection)
}

/**
 * Plans the creation of a deleted item in its old state, for callers who may create it, read the result and delete it.
 * Otherwise throws like a deletion.
 */
export function* planRestore(request: WriteRequest, body: unknown): Parts<CreatePlan | ProgramPlan> {
  const { viewer, collection, read } = request
  const access = writeAccess(viewer, collection, 'delete')
  const where = read.access.rows
  if (isUnrestricted(access) && where.kind === 'all') return yield* planCreate(request, [body], 1)
  const program = programOf(request)
  const slot = yield* addRestored(program, collection, body)
  const made = program.steps.findIndex((step) => step.kind === 'insert' && step.into === slot)
  // Checked before the conditions of a creation, whose refusal would reveal that the item exists.
  program.steps.splice(made + 1, 0, { kind: 'check', slot, where, assertion: 'noRecord', action: 'read' })
  addChecks(program, slot, { action: 'delete', forbidden: writableRows(access, []) })
  return finished(program, [slot], answered(request, 1))
}

function* addRestored(program: Program, collection: Collection, body: unknown): Parts<Slot> {
  try {
    return yield* addCreate(program, collection, { body: parseBody(body, 'body'), path: 'body' })
  } catch (error) {
    throw error instanceof Forbidden ? nested('notFound', ['Query failed', 'No record found']) : error
  }
}

/** The insert of one plain item in two parts: a plan shared by all items with the same members, and their values. */
export type PlainInsert = {
  readonly plan: CreatePlan
  /** Returns the values of the plan's placeholders for an item, by index. Throws for an invalid value. */
  readonly valuesOf: (item: Body, generators: Generators) => readonly (string | null)[]
}

/** Returns the one item of a body; undefined for any other body. */
export function singleItem(body: unknown): Body | undefined {
  const [item] = Array.isArray(body) && body.length === 1 ? (body as readonly unknown[]) : []
  return isObject(item) ? item : undefined
}

/** Returns undefined if `planCreate` has to plan each item with these members. */
export function planPlainInsert(request: WriteRequest, members: readonly string[]): PlainInsert | undefined {
  if (request.query().conflict !== undefined) return undefined
  const { viewer, collection, generators } = request
  const access = writeAccess(viewer, collection, 'create')
  if (!isUnrestricted(access) || !isPlain(request, members, 'create')) return undefined
  const path = `${request.part?.path ?? ''}[0]`
  const columns = createColumns({ viewer, collection, generators, access, action: 'create' }, members, path)
  // The text of a list depends on the dialect, so a placeholder cannot represent it.
  if (columns.some(({ field }) => field.isList)) return undefined
  const row = columns.map(({ field }, index) => ({ field, value: { kind: 'itemValue', index } as const }))
  return {
    plan: { kind: 'create', collection, rows: [row], selection: answered(request, 1) },
    valuesOf: (item, supply) => columns.map((column) => columnValue(column, item, supply)),
  }
}

/** The update of one item by key, in the same two parts. */
export type PlainUpdate = { readonly plan: UpdatePlan; readonly valuesOf: PlainInsert['valuesOf'] }

/** Returns undefined if `planUpdateOne` must plan each change of these members; `row` has a placeholder as key. */
export function planPlainUpdate(request: WriteRequest, body: Body, row: KeyedRow): PlainUpdate | undefined {
  const members = Object.keys(body)
  if (members.length === 0 || !isDirectUpdate(request, body, row)) return undefined
  const { viewer, collection, generators, part } = request
  const access = writeAccess(viewer, collection, 'update')
  const context = { viewer, collection, generators, access, action: 'update' } as const
  const path = part?.path ?? ''
  const columns = updateColumns(context, members, path)
  if (columns.some(({ field }) => field.isList)) return undefined
  const assignments = columns.map(({ field }, index) => ({ field, value: { kind: 'itemValue', index } as const }))
  return {
    plan: { kind: 'update', collection, where: row.where, order: [], assignments, selection: answered(request, 1) },
    valuesOf: (item, supply) => columns.map((column) => changedValue(column, item, supply)),
  }
}

/** Returns undefined if `planDeleteOne` must plan each deletion. */
export function planPlainDelete(request: WriteRequest, row: KeyedRow): DeletePlan | undefined {
  if (!isDirectDelete(request, row)) return undefined
  const { collection, query } = request
  const selection = query().fields === undefined ? [] : answered(request, 1)
  return { kind: 'delete', collection, where: row.where, order: [], selection }
}

/** Plans an update of the item with this key. */
export function* planUpdateOne(request: WriteRequest, body: unknown, key: SentKey): Parts<UpdatePlan | ProgramPlan> {
  return yield* planUpdate(request, parseBody(body, request.part?.path ?? 'body'), keyOf(request, key))
}

/** Plans an update of all items that match the request's filter. */
export function* planUpdateMany(request: WriteRequest, body: unknown): Parts<UpdatePlan | ProgramPlan> {
  return yield* planUpdate(request, parseBody(body, request.part?.path ?? 'body'), undefined)
}

export function* planDeleteOne(request: WriteRequest, key: SentKey): Parts<DeletePlan | ProgramPlan> {
  return yield* planDelete(request, keyOf(request, key))
}

export function* planDeleteMany(request: WriteRequest): Parts<DeletePlan | ProgramPlan> {
  return yield* planDelete(request, undefined)
}

/** `key` is undefined for an update of many. */
function* planUpdate(request: WriteRequest, body: Body, key: KeyedRow | undefined): Parts<UpdatePlan | ProgramPlan> {
  const { viewer, collection, generators } = request
  const access = writeAccess(viewer, collection, 'update')
  const where = whereOf(request, key)
  const order = orderOf(request, key)
  const selection = answered(request, rowsOf(request, key))
  const { max } = request.query()
  if (isDirectUpdate(request, body, key)) {
    const context = { viewer, collection, generators, access, action: 'update' } as const
    const assignments = Object.keys(body).length === 0 ? [] : updateAssignments(context, body, request.part?.path ?? '')
    return { kind: 'update', collection, where, order, assignments, selection }
  }
  requireKey(collection, max)
  const program = programOf(request)
  const slot = addTarget(program, collection, { key, where, order, most: max })
  addMatch(program, slot, request)
  yield* addUpdate(program, { body, path: request.part?.path ?? '' }, { slot, depth: 0, isOne: key !== undefined })
  return finished(program, [slot], selection)
}

function isDirectUpdate(request: WriteRequest, body: Body, key: KeyedRow | undefined): boolean {
  const { viewer, collection, read, tags } = request
  const access = writeAccess(viewer, collection, 'update')
  const isFree = isUnrestricted(access) && isUnrestricted(read.access)
  const isBound = request.query().max !== undefined || tags !== undefined
  const isMoved = key === undefined && collection.identity.some(({ apiName }) => Object.hasOwn(body, apiName))
  const isDirect =
    isFree &&
    !isBound &&
    !isMoved &&
    !isLate(collection) &&
    !isAmong(collection, key) &&
    !altersValues(collection, body)
  return isDirect && isPlain(request, Object.keys(body), 'update')
}

function isDirectDelete(request: WriteRequest, key: KeyedRow | undefined): boolean {
  const { viewer, collection, read, query, tags, part } = request
  const access = writeAccess(viewer, collection, 'delete')
  const isBound = query().max !== undefined || tags !== undefined
  const isFree = isUnrestricted(access) && isUnrestricted(read.access)
  return (
    isFree &&
    !isBound &&
    !isLate(collection) &&
    !isAmong(collection, key) &&
    part?.isKept !== true &&
    part?.usesEarlier !== true
  )
}

function* planDelete(request: WriteRequest, key: KeyedRow | undefined): Parts<DeletePlan | ProgramPlan> {
  yield
  const { collection, query } = request
  const where = whereOf(request, key)
  const order = orderOf(request, key)
  // Without `fields` nothing is returned, so nothing is selected.
  const selection = query().fields === undefined ? [] : answered(request, rowsOf(request, key))
  const { max } = query()
  if (isDirectDelete(request, key)) return { kind: 'delete', collection, where, order, selection }
  requireKey(collection, max)
  const program = programOf(request)
  const slot = addTarget(program, collection, { key, where, order, most: max })
  addMatch(program, slot, request)
  program.steps.push({ kind: 'answer', slot })
  addDelete(program, slot)
  return { kind: 'program', steps: program.steps, selection }
}

/**
 * Adds the comparison of entity tags: with the tag of the item as `_etag` shows it, or as a read with the same query would.
 * Both cover everything that the caller can read.
 */
function addMatch(program: Program, slot: Slot, { read, query, tags }: WriteRequest): void {
  if (tags === undefined) return
  const { fields, deep } = query()
  const whole = shownFields(read.collection, read.access)
  const forms = fields === undefined ? [whole] : [whole, planSelection(read, { fields, deep }, { rows: 1 })]
  addStep(program, { kind: 'match', slot, forms, tags })
}

/** True if written rows must be read again, because triggers act after the write returns its rows. */
function isLate({ isTriggering, identity }: Collection): boolean {
  return isTriggering && identity.length > 0
}

/** True if several rows may have the key, of which one is written: the others belong to inheriting tables. */
function isAmong({ isInherited }: Collection, key: KeyedRow | undefined): boolean {
  return isInherited && key !== undefined
}

function finished(program: Program, slots: readonly Slot[], selection: Selection): ProgramPlan {
  const answers = slots.map((slot) => ({ kind: 'answer', slot }) as const)
  return { kind: 'program', steps: [...program.steps, ...answers], selection }
}

/** A row that the caller may write but not read is returned without values. */
export function answered({ read, query }: WriteRequest, rows: number): Selection {
  return planSelection(read, query(), { rows, within: read.access.rows })
}

/** The number of rows that a change may return; for a filter it is unknown, so the largest page is assumed. */
function rowsOf({ read, query }: WriteRequest, key: KeyedRow | undefined): number {
  if (key !== undefined) return 1
  const { max = read.limits.max } = query()
  return Math.min(max, read.limits.max)
}

function isUnrestricted({ grants }: Granted): boolean {
  return grants.some(
    ({ rows, fields, check = all, validation }) =>
      fields === 'every' && [rows, check, validation].every(({ kind }) => kind === 'all'),
  )
}

/** True if the write consists of columns only, without references to check, and no other operation of the batch depends on it. */
function isPlain(
  { viewer, collection, part }: WriteRequest,
  members: readonly string[],
  action: 'create' | 'update',
): boolean {
  if (part?.isKept === true || part?.usesEarlier === true || isLate(collection)) return false
  if (members.some((name) => collection.fields.get(name)?.kind === 'relation')) return false
  return writtenReferences(viewer, collection, members, action).length === 0
}

function altersValues({ fields }: Collection, body: Body): boolean {
  return Object.entries(body).some(([name, value]) => isAltering(fields.get(name), value))
}

/** The rows of a key that meet the request's filter, or the rows of the filter. */
function whereOf({ viewer, collection, query }: WriteRequest, key: KeyedRow | undefined): Filter {
  const { filter, max } = query()
  if (key === undefined) return boundingFilter(viewer, collection, { filter, path: 'filter', max })
  return and([key.where, requestFilter(viewer, collection, filter, 'filter')])
}

export function programOf({ viewer, generators, part }: WriteRequest): Program {
  return part?.program ?? createProgram(viewer, generators)
}

/** The row of a key: `matches` are columns with a value of an earlier operation, `where` is everything else. */
export type KeyedRow = { readonly matches: readonly Cell[]; readonly where: Filter }

/** Throws 404 if the collection has no key, and 422 for an invalid key. */
export function keyOf(
  { collection, read, part }: Pick<WriteRequest, 'collection' | 'read' | 'part'>,
  sent: SentKey,
): KeyedRow {
  const fields = keyFields(collection)
  const named = part?.usesEarlier === true && sent.kind === 'value' ? namedValues(fields, sent.value) : undefined
  const { program } = part ?? {}
  if (named === undefined || program?.earlier === undefined) {
    return { matches: [], where: keyEquals(read.access, fields, decodeKey(fields, sent)) }
  }
  const matches: Cell[] = []
  const conditions = fields.map((field) => {
    const value = named.get(field)
    const cell = program.earlier?.(program, field, { value, path: 'key' })
    if (cell === undefined) return keyEquals(read.access, [field], decodeKey([field], { kind: 'value', value }))
    matches.push(cell)
    return visibility(read.access, field) ?? none
  })
  return { matches, where: and(conditions) }
}

/** Finds the row of a key, which must exist, or all rows of a filter in order. */
export function addTarget(
  program: Program,
  collection: Collection,
  target: {
    readonly key: KeyedRow | undefined
    readonly where: Filter
    readonly order: readonly Order[]
    readonly cut?: Cut
    readonly most?: number | undefined
  },
): Slot {
  const { key, where, order, cut, most } = target
  const required = key === undefined ? {} : ({ assertion: 'noRecord', matches: key.matches } as const)
  return addFind(program, collection, { where, order, ...(cut && { cut }), most, ...required })
}

/** The rows of a filter are answered in the default order of a list. */
function orderOf({ read, collection }: WriteRequest, key: KeyedRow | undefined): readonly Order[] {
  return key === undefined && collection.identity.length > 0 ? usualOrder(read) : []
}

export function requireFew(items: readonly unknown[], most: number, place: string): void {
  if (items.length > most) throw queryFault(place, `has more than ${most} items`)
}

function requireKey(collection: Collection, max: number | undefined): void {
  if (collection.identity.length > 0) return
  if (max !== undefined) throw queryFault('max', `${lacksKey(collection)}, so it cannot be bounded`, '4010')
  throw queryFault('body', `${lacksKey(collection)}, so it can only be written as a whole`)
}
