/**
 * Plans a write from the request, Model and Access. Writes without access checks get the plain plans, a single
 * statement where the database allows it; all others become a program of checked steps. The answer is planned as a
 * read.
 */

import type { Granted, Viewer } from '../access/access.ts'
import { isObject } from '../json-object.ts'
import type { Collection } from '../model/model.ts'
import type { Parts } from '../parts.ts'
import { and, type Filter } from '../query/filter.ts'
import { queryFault, type ReadQuery } from '../query/parse.ts'
import { decodeKey, keyEquals, keyFields, type SentKey } from './item-key.ts'
import { writeAccess } from './names.ts'
import type { CreatePlan, DeletePlan, ProgramPlan, Selection, Slot, UpdatePlan } from './plan.ts'
import { addCreate, addDelete, addFind, addUpdate, createProgram, type Program } from './program.ts'
import { planSelection, type ReadContext } from './read.ts'
import { writtenReferences } from './references.ts'
import type { LocatedBody } from './relation-operation.ts'
import {
  type Body,
  columnValue,
  createAssignments,
  createColumns,
  type Generators,
  parseBody,
  updateAssignments,
} from './values.ts'
import { requestFilter } from './where.ts'

export type WriteRequest = {
  readonly viewer: Viewer
  readonly collection: Collection
  readonly generators: Generators
  /** Access for the returned items. */
  readonly read: ReadContext
  readonly query: () => ReadQuery
}

export function* planCreate(request: WriteRequest, body: unknown, most: number): Parts<CreatePlan | ProgramPlan> {
  const { viewer, collection, generators } = request
  const access = writeAccess(viewer, collection, 'create')
  if (!Array.isArray(body)) throw queryFault('body', 'must be an array of items')
  if (body.length > most) throw queryFault('body', `has more than ${most} items`)
  const items = body.map((item, index): LocatedBody => ({ body: parseBody(item, `[${index}]`), path: `[${index}]` }))
  const selection = answered(request, items.length)
  if (isUnrestricted(access) && items.every((item) => isPlain(viewer, collection, Object.keys(item.body)))) {
    const context = { viewer, collection, generators, access }
    const rows = items.map((item) => createAssignments(context, item.body, item.path))
    return { kind: 'create', collection, rows, selection }
  }
  const program = createProgram(viewer, generators)
  const slots: Slot[] = []
  for (const item of items) slots.push(yield* addCreate(program, collection, item))
  return finished(program, slots, selection)
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
  const { viewer, collection, generators } = request
  const access = writeAccess(viewer, collection, 'create')
  if (!isUnrestricted(access) || !isPlain(viewer, collection, members)) return undefined
  const columns = createColumns({ viewer, collection, generators, access }, members, '[0]')
  // The text of a list depends on the dialect, so a placeholder cannot represent it.
  if (columns.some(({ field }) => field.isList)) return undefined
  const row = columns.map(({ field }, index) => ({ field, value: { kind: 'itemValue', index } as const }))
  return {
    plan: { kind: 'create', collection, rows: [row], selection: answered(request, 1) },
    valuesOf: (item, supply) => columns.map((column) => columnValue(column, item, supply)),
  }
}

/** Plans an update of the item with this key. */
export function* planUpdateOne(request: WriteRequest, body: unknown, key: SentKey): Parts<UpdatePlan | ProgramPlan> {
  return yield* planUpdate(request, parseBody(body, 'body'), keyFilter(request, key))
}

/** Plans an update of all items that match the request's filter. */
export function* planUpdateMany(request: WriteRequest, body: unknown): Parts<UpdatePlan | ProgramPlan> {
  requireFilter(request.query())
  return yield* planUpdate(request, parseBody(body, 'body'), undefined)
}

export function* planDeleteOne(request: WriteRequest, key: SentKey): Parts<DeletePlan | ProgramPlan> {
  return yield* planDelete(request, keyFilter(request, key))
}

export function* planDeleteMany(request: WriteRequest): Parts<DeletePlan | ProgramPlan> {
  requireFilter(request.query())
  return yield* planDelete(request, undefined)
}

/** `key` is undefined for an update of many. */
function* planUpdate(request: WriteRequest, body: Body, key: Filter | undefined): Parts<UpdatePlan | ProgramPlan> {
  const { viewer, collection, generators } = request
  const access = writeAccess(viewer, collection, 'update')
  const where = and([key ?? { kind: 'all' }, filterOf(request)])
  const selection = answered(request, rowsOf(request, key))
  const isFree = isUnrestricted(access) && isUnrestricted(request.read.access)
  if (isFree && isPlain(viewer, collection, Object.keys(body))) {
    const context = { viewer, collection, generators, access }
    const assignments = Object.keys(body).length === 0 ? [] : updateAssignments(context, body, '')
    return { kind: 'update', collection, where, assignments, selection }
  }
  requireKey(collection)
  const program = createProgram(viewer, generators)
  const slot = addFind(program, collection, { where, assertion: key === undefined ? undefined : 'noRecord' })
  yield* addUpdate(program, { body, path: '' }, { slot, depth: 0, isOne: key !== undefined })
  return finished(program, [slot], selection)
}

function* planDelete(request: WriteRequest, key: Filter | undefined): Parts<DeletePlan | ProgramPlan> {
  yield
  const { viewer, collection, generators, query } = request
  const access = writeAccess(viewer, collection, 'delete')
  const where = and([key ?? { kind: 'all' }, filterOf(request)])
  // Without `fields` nothing is returned, so nothing is selected.
  const selection = query().fields === undefined ? [] : answered(request, rowsOf(request, key))
  if (isUnrestricted(access) && isUnrestricted(request.read.access)) {
    return { kind: 'delete', collection, where, selection }
  }
  requireKey(collection)
  const program = createProgram(viewer, generators)
  const slot = addFind(program, collection, { where, assertion: key === undefined ? undefined : 'noRecord' })
  program.steps.push({ kind: 'answer', slot })
  addDelete(program, slot)
  return { kind: 'program', steps: program.steps, selection }
}

function finished(program: Program, slots: readonly Slot[], selection: Selection): ProgramPlan {
  const answers = slots.map((slot) => ({ kind: 'answer', slot }) as const)
  return { kind: 'program', steps: [...program.steps, ...answers], selection }
}

/** A row that the caller may write but not read is returned without values. */
function answered({ read, query }: WriteRequest, rows: number): Selection {
  return planSelection(read, query(), { rows, within: read.access.rows })
}

/** The number of rows that a change may return; for a filter it is unknown, so the largest page is assumed. */
function rowsOf({ read }: WriteRequest, key: Filter | undefined): number {
  return key === undefined ? read.limits.max : 1
}

function isUnrestricted({ grants }: Granted): boolean {
  return grants.some(
    ({ rows, fields, validation }) => rows.kind === 'all' && fields === 'every' && validation.kind === 'all',
  )
}

/** Returns true if only columns are written, without references to check. */
function isPlain(viewer: Viewer, collection: Collection, members: readonly string[]): boolean {
  if (members.some((name) => collection.fields.get(name)?.kind === 'relation')) return false
  return writtenReferences(viewer, collection, members).length === 0
}

function filterOf({ viewer, collection, query }: WriteRequest): Filter {
  return requestFilter(viewer, collection, query().filter, 'filter')
}

function keyFilter({ collection, read }: WriteRequest, sent: SentKey): Filter {
  const fields = keyFields(collection)
  return keyEquals(read.access, fields, decodeKey(fields, sent))
}

/** A write of many needs a filter, since omitting it by mistake would affect the whole table. */
function requireFilter({ filter }: ReadQuery): void {
  const isEmpty = typeof filter?.value === 'object' && Object.keys(filter.value ?? {}).length === 0
  if (filter === undefined || isEmpty) throw queryFault('filter', 'is required to write many items')
}

function requireKey({ primaryKey, apiName }: Collection): void {
  if (primaryKey.length === 0)
    throw queryFault('body', `${apiName} has no primary key, so it can only be written as a whole`)
}
