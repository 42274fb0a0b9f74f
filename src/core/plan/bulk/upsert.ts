/**
 * Plans an upsert, which finds existing items by the fields of a unique index (docs/contract.md#bulk-writes): each row is found
 * and locked, or inserted if missing. A row that the caller cannot see is not found, so its insertion fails with the usual
 * error of the unique index. Items are written in the order of these fields, so that two such writes wait for each other, and
 * answered in the order sent.
 */
import { visibility } from '../../access/access.ts'
import type { Collection, PrimitiveField } from '../../model/model.ts'
import type { Parts } from '../../parts.ts'
import { and, type Filter } from '../../query/filter.ts'
import { type Conflict, queryFault } from '../../query/parse.ts'
import { fieldEquals, readableField, relatedAccess, writeAccess } from '../names.ts'
import { addIfAbsent, addUpdate } from '../nested-write.ts'
import type { Cell, ProgramPlan, Step } from '../plan.ts'
import { addFind, contextOf, type Program } from '../program.ts'
import { uniqueSets } from '../program-references.ts'
import { type Body, memberPath, parseBody, splitBody, valueFor } from '../values.ts'
import { answered, programOf, requireFew, type WriteRequest } from '../write.ts'

type Item = {
  readonly index: number
  readonly path: string
  readonly columns: Body
  /** The conditions that find the row: `matches` for values of earlier operations, `where` for all others. */
  readonly matches: readonly Cell[]
  readonly where: Filter
  /** The values of the index fields as sent. */
  readonly name: string
}

/** `most` is the maximum number of written items. */
export function* planUpsert(
  request: WriteRequest,
  body: unknown,
  { conflict, most }: { readonly conflict: Conflict; readonly most: number },
): Parts<ProgramPlan> {
  const { viewer, collection } = request
  writeAccess(viewer, collection, 'create')
  if (conflict.do === 'update') writeAccess(viewer, collection, 'update')
  const keys = conflictFields(request, conflict)
  const place = request.part?.path ?? ''
  if (!Array.isArray(body)) throw queryFault(place, 'must be an array of items')
  requireFew(body, most, place)
  const selection = answered(request, body.length)
  const program = programOf(request)
  const unique = keys.map(({ field }) => field)
  const answers: (Step & { readonly kind: 'answer' })[] = []
  for (const item of itemsOf(program, collection, { body, keys, place }).toSorted(byName)) {
    yield
    const found = addFind(program, collection, { matches: item.matches, where: item.where })
    const inserted = yield* addIfAbsent(program, { body: item.columns, path: item.path }, { slot: found, unique })
    if (conflict.do === 'update') {
      const rest = Object.entries(item.columns).filter(([name]) => !keys.some(({ field }) => field.apiName === name))
      const change = { body: Object.fromEntries(rest), path: item.path }
      yield* addUpdate(program, change, { slot: found, depth: 0, isOne: true })
    }
    answers[item.index] = { kind: 'answer', slot: found, or: inserted }
  }
  return { kind: 'program', steps: [...program.steps, ...answers], selection }
}

type Key = { readonly field: PrimitiveField; readonly visible: Filter }

/** Returns the fields of the conflict; only a unique index of the database is accepted. */
function conflictFields({ viewer, collection }: WriteRequest, { fields: names }: Conflict): readonly Key[] {
  const access = relatedAccess(viewer, collection)
  const keys = names.map((name) => {
    const { field, visible } = readableField(viewer, collection, access, name, CONFLICT_FIELDS)
    if (field.kind === 'relation') throw queryFault(CONFLICT_FIELDS, `${field.apiName} is a relation`)
    return { field, visible }
  })
  if (!canConflict(collection)) {
    const kind = collection.isView ? 'a view has no unique index' : 'unique indexes do not reach tables that inherit'
    throw queryFault('conflict', kind, '4010')
  }
  const sets = uniqueSets(collection)
  if (sets.some((set) => set.length === keys.length && keys.every(({ field }) => set.includes(field)))) return keys
  const readable = sets.filter((set) => set.every((field) => visibility(access, field) !== undefined))
  const known = readable.map((set) => set.map(({ apiName }) => apiName).join()).join(' or ')
  throw queryFault(CONFLICT_FIELDS, `must be the fields of a unique index${known === '' ? '' : `: ${known}`}`)
}

/** True if unique indexes cover all rows of the collection. */
export function canConflict({ isView, isInherited }: Collection): boolean {
  return !isView && !isInherited
}

const CONFLICT_FIELDS = 'conflict.fields'

function itemsOf(
  program: Program,
  collection: Collection,
  { body, keys, place }: { readonly body: readonly unknown[]; readonly keys: readonly Key[]; readonly place: string },
): readonly Item[] {
  const context = contextOf(program, collection, 'create')
  const known = new Map<string, number>()
  return body.map((sent, index) => {
    const path = `${place}[${index}]`
    const { columns, relations } = splitBody(context, parseBody(sent, path), path)
    for (const [relation] of relations) {
      throw queryFault(memberPath(path, relation.apiName), 'must not stand in an item that may be there already')
    }
    const values = keys.map((key) => keyValue(program, key, { columns, path }))
    const name = JSON.stringify(values.map((value) => value.name))
    const other = known.get(name)
    if (other !== undefined) throw queryFault(path, `is the same as ${place}[${other}] by ${CONFLICT_FIELDS}`)
    known.set(name, index)
    const matches = values.flatMap((value) => value.matches)
    return { index, path, columns, matches, where: and(values.map((value) => value.where)), name }
  })
}

/** Null is refused: it equals nothing, so the item would be inserted again each time. */
function keyValue(
  program: Program,
  { field, visible }: Key,
  { columns, path }: Pick<Item, 'columns' | 'path'>,
): Pick<Item, 'matches' | 'where'> & { readonly name: unknown } {
  const at = memberPath(path, field.apiName)
  if (!Object.hasOwn(columns, field.apiName)) throw queryFault(at, `is required: it is one of ${CONFLICT_FIELDS}`)
  const value = columns[field.apiName]
  const cell = program.earlier?.(program, field, { value, path: at })
  if (cell !== undefined) {
    const mayBeNull = cell.value.kind === 'kept' && cell.value.field.isNullable
    if (mayBeNull) throw queryFault(at, `must stand for what is never null: it is one of ${CONFLICT_FIELDS}`)
    return { name: value, matches: [cell], where: visible }
  }
  const text = valueFor(field, value, at)
  if (text === null) throw queryFault(at, `must not be null: it is one of ${CONFLICT_FIELDS}`)
  return { name: text, matches: [], where: fieldEquals(field, visible, text) }
}

function byName({ name: one }: Item, { name: other }: Item): number {
  return one < other ? -1 : one > other ? 1 : 0
}
