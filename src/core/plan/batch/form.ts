/**
 * Forms: operations of a batch that differ only in the values of one plain item and its key. A form is planned once, with
 * placeholders for the values of its operations.
 */
import type { Viewer } from '../../access/access.ts'
import { isRawNumber } from '../../exact-json.ts'
import { isObject } from '../../json-object.ts'
import { type ReadQuery, refuseEstimate } from '../../query/parse.ts'
import { parseCreateBody, parseItemBody, parseListBody, readQueryBody } from '../../query/parse-json.ts'
import type { SentKey } from '../item-key.ts'
import { decodeKey, keyEquals, keyFields } from '../item-key.ts'
import type { DeletePlan, OperationValues, Plan, PlannedOperation, UpdatePlan } from '../plan.ts'
import { createProgram } from '../program.ts'
import { planList, planOne } from '../read.ts'
import type { Body, Generators } from '../values.ts'
import {
  type KeyedRow,
  planPlainDelete,
  planPlainInsert,
  planPlainUpdate,
  singleItem,
  type WriteRequest,
} from '../write.ts'
import { hasReference } from './earlier-values.ts'
import type { Operation } from './operation.ts'
import { plannedOperation } from './planned-operation.ts'

export type Form = Pick<WriteRequest, 'collection' | 'read'> & {
  /** The same object for all operations of the form, so that it can be a cache key. */
  readonly planned: PlannedOperation
  readonly valuesOf: (operation: Operation, generators: Generators) => OperationValues
  /** Number of rows that an operation may return (docs/decisions/087-budget-of-aggregates.md). */
  readonly rows: number
}

export type FormRequest = Pick<WriteRequest, 'collection' | 'read' | 'generators'> & { readonly viewer: Viewer }

/** The key of a form; undefined for an operation that is planned separately. */
export function formName({ kind, collection, key, data, tags, query }: Operation): string | undefined {
  const isAlone = key === undefined && kind !== 'create' && kind !== 'read'
  if (isAlone || kind === 'upsert' || tags !== undefined) return undefined
  if (key !== undefined && (query.filter !== undefined || hasReference(key.value))) return undefined
  const item = itemOf(kind, data)
  if (item === undefined) return undefined
  const members = Object.keys(item)
  if (!members.every((member) => isPlain(item[member]))) return undefined
  return JSON.stringify([kind, collection, key !== undefined, query, members])
}

/** `operation` is any one of the form. Undefined if each must be planned separately. Throws what planning it throws. */
export function planForm(request: FormRequest, operation: Operation): Form | undefined {
  const { collection, read } = request
  const spent = { rows: 0 }
  const planned = planValues({ ...request, read: { ...read, spent } }, operation)
  return planned && { collection, read, ...planned, rows: spent.rows }
}

function planValues(request: FormRequest, operation: Operation): Pick<Form, 'planned' | 'valuesOf'> | undefined {
  const { collection, read } = request
  const { kind, key, data, query: sent } = operation
  const planned = (plan: Plan) => plannedOperation(plan, operation, request)
  if (kind === 'read' && key === undefined) {
    const query = parseListBody(readQueryBody(sent))
    refuseEstimate(query)
    const plan = planList(read, query)
    return { planned: planned(plan), valuesOf: () => ({ key: [], item: [] }) }
  }
  const query = (kind === 'create' ? parseCreateBody : parseItemBody)(readQueryBody(sent))
  if (kind === 'create') {
    const item = itemOf(kind, data) ?? {}
    const insert = planPlainInsert(writeOf(request, query), Object.keys(item))
    if (insert === undefined) return undefined
    const valuesOf: Form['valuesOf'] = (own, generators) => ({
      key: [],
      item: insert.valuesOf(itemOf(kind, own.data) ?? {}, generators),
    })
    return { planned: planned(insert.plan), valuesOf }
  }
  const fields = keyFields(collection)
  const parts = fields.map((_, index) => ({ kind: 'key', index }) as const)
  const row: KeyedRow = { matches: [], where: keyEquals(read.access, fields, parts) }
  const keyOf = (own: Operation) => decodeKey(fields, sentKey(own))
  // Decoded first, so that a fault of the key comes before that of a value.
  keyOf(operation)
  if (kind === 'read') {
    const plan = planOne(read, query, row.where)
    return { planned: planned(plan), valuesOf: (own) => ({ key: keyOf(own), item: [] }) }
  }
  if (kind === 'delete') {
    const plan = planPlainDelete(writeOf(request, query), row)
    return plan && isFlat(plan)
      ? { planned: planned(plan), valuesOf: (own) => ({ key: keyOf(own), item: [] }) }
      : undefined
  }
  const update = planPlainUpdate(writeOf(request, query), itemOf(kind, data) ?? {}, row)
  if (update === undefined || !isFlat(update.plan)) return undefined
  const valuesOf: Form['valuesOf'] = (own, generators) => ({
    key: keyOf(own),
    item: update.valuesOf(itemOf(kind, own.data) ?? {}, generators),
  })
  return { planned: planned(update.plan), valuesOf }
}

/** True without relations, which need a separate statement that requires the row: not every driver reports its failure. */
function isFlat({ selection }: UpdatePlan | DeletePlan): boolean {
  return selection.every(({ kind }) => kind !== 'relation' && kind !== 'aggregates')
}

/** The written values; empty if the operation writes none. */
function itemOf(kind: Operation['kind'], data: unknown): Body | undefined {
  if (kind === 'create') return singleItem(data)
  if (kind === 'update') return isObject(data) ? data : undefined
  return {}
}

/** True for a scalar: neither an operator, a reference nor a nested write. */
function isPlain(value: unknown): boolean {
  return typeof value !== 'object' || value === null || isRawNumber(value)
}

function sentKey({ key }: Operation): SentKey {
  return { kind: 'value', value: key?.value }
}

function writeOf({ viewer, collection, read, generators }: FormRequest, query: ReadQuery): WriteRequest {
  const program = createProgram(viewer, generators)
  const part = { program, path: 'data', isKept: false, usesEarlier: false }
  return { viewer, collection, read, generators, query: () => query, part }
}
