/**
 * Plans a batch (docs/contract.md#batches): each operation like its own route, with unique slots, so that all operations form
 * one list of steps in one transaction.
 */
import type { Action, Viewer } from '../../access/access.ts'
import type { Collection } from '../../model/model.ts'
import type { Parts } from '../../parts.ts'
import { and, type Filter } from '../../query/filter.ts'
import { queryFault, type ReadQuery, refuseEstimate } from '../../query/parse.ts'
import { parseCreateBody, parseItemBody, parseListBody, parseManyBody, readQueryBody } from '../../query/parse-json.ts'
import { planUpdateEach } from '../bulk/update-each.ts'
import { planUpsert } from '../bulk/upsert.ts'
import { faultOf } from '../operation-fault.ts'
import type { BatchPlan, OperationValues, Plan, PlannedOperation, ProgramPlan, ReadPlan, Slot } from '../plan.ts'
import { createProgram, type Program, requireKey } from '../program.ts'
import { planList, planOne, planSelection } from '../read.ts'
import { MAX_CHANGES } from '../relation-operation.ts'
import type { Generators } from '../values.ts'
import { requestFilter } from '../where.ts'
import {
  addTarget,
  type BatchPart,
  keyOf,
  planCreate,
  planDeleteMany,
  planDeleteOne,
  planUpdateMany,
  planUpdateOne,
  type WriteRequest,
} from '../write.ts'
import {
  createEarlierValues,
  type EarlierValues,
  hasReference,
  type KeptOperation,
  usesEarlier,
} from './earlier-values.ts'
import type { Form } from './form.ts'
import { actionOf, type Operation } from './operation.ts'
import { plannedOperation } from './planned-operation.ts'

export type BatchRequest = {
  readonly viewer: Viewer
  readonly generators: Generators
  /** Returns the caller's access to the collection of an operation; throws 404 and 403 as its route does. */
  readonly open: (name: string, action: Action) => Pick<WriteRequest, 'collection' | 'read'>
  /** The form of an operation to which no other refers; undefined if the operation is planned separately. */
  readonly formOf?: (operation: Operation) => Form | undefined
  /** Maximum number of items in all lists of the operations together. */
  readonly most: number
  /** Rows that earlier calls of the same request may return. */
  readonly spent?: { rows: number } | undefined
}

/** Throws the OperationFault of the first operation that cannot be planned. */
export function* planBatch(request: BatchRequest, operations: readonly Operation[]): Parts<BatchPlan> {
  const { viewer, generators, open, formOf, most } = request
  const earlier = createEarlierValues(
    viewer,
    operations.flatMap(({ data, key }) => [data, key?.value]),
  )
  const planned: PlannedOperation[] = []
  const values: (OperationValues | undefined)[] = []
  let slots = 0
  let created = 0
  let steps = 0
  let source: string | undefined
  const { spent = { rows: 0 } } = request
  const slot = (collection: Collection): Slot => ({ number: slots++, collection })
  function* plannedOf(operation: Operation): Parts<Pick<Form, 'planned'> & { readonly values?: OperationValues }> {
    const known = earlier.isWanted(operation.as) ? undefined : formOf?.(operation)
    const form = known && spent.rows + known.rows <= known.read.maxRows ? known : undefined
    const { collection, read: opened } = form ?? open(operation.collection, actionOf[operation.kind])
    source ??= collection.sourceId
    if (collection.sourceId !== source) {
      throw queryFault('collection', 'is of another data source than the operations before it', '4010')
    }
    if (form !== undefined) {
      spent.rows += form.rows
      return { planned: form.planned, values: form.valuesOf(operation, generators) }
    }
    const read = { ...opened, spent }
    const program = { ...createProgram(viewer, generators), slot, earlier: earlier.valueOf }
    const place = { program, read, collection, earlier }
    const plan = yield* planOperation({ ...place, viewer, generators, most }, operation)
    const kept = earlier.isWanted(operation.as) ? keptPlan(plan, operation, place) : plan
    return { planned: plannedOperation(kept, operation, place) }
  }
  for (const [index, operation] of operations.entries()) {
    yield
    try {
      const { planned: own, values: sent } = yield* plannedOf(operation)
      if (operation.as !== undefined && !earlier.isWanted(operation.as)) earlier.note(operation.as)
      created += itemsOf(operation)
      if (created > most) throw queryFault('data', `has more than ${most} items with those of the operations before it`)
      steps += own.plan.kind === 'program' ? own.plan.steps.length : 1
      if (steps > MAX_CHANGES) throw queryFault('body', `asks for more than ${MAX_CHANGES} changes`)
      planned.push(own)
      values.push(sent)
    } catch (error) {
      throw faultOf(error, index)
    }
  }
  return { kind: 'batch', operations: planned, values }
}

function itemsOf({ data }: Operation): number {
  return Array.isArray(data) ? data.length : 0
}

type Place = Pick<WriteRequest, 'collection' | 'read'> & { readonly program: Program; readonly earlier: EarlierValues }
type Planner = Place & Pick<WriteRequest, 'viewer' | 'generators'> & { readonly most: number }

function* planOperation(place: Planner, operation: Operation): Parts<Plan> {
  const { viewer, generators, collection, read, program, earlier, most } = place
  const { kind, as, key, data, tags, query: sent } = operation
  const part: BatchPart = {
    program,
    path: 'data',
    isKept: earlier.isWanted(as),
    usesEarlier: usesEarlier(collection, data) || hasReference(key?.value),
  }
  const sentKey = key && ({ kind: 'value', value: key.value } as const)
  if (kind === 'read') {
    const query = sentKey === undefined ? parseListBody(readQueryBody(sent)) : parseItemBody(readQueryBody(sent))
    return planRead({ ...place, part, query }, sentKey)
  }
  const parse = kind === 'upsert' ? parseCreateBody : sentKey === undefined ? parseManyBody : parseItemBody
  const query = parse(readQueryBody(sent))
  const request: WriteRequest = { viewer, collection, generators, read, query: () => query, tags, part }
  switch (kind) {
    case 'create':
      return yield* planCreate(request, data, most)
    case 'upsert': {
      const { conflict } = query
      if (conflict === undefined) throw new TypeError('an upsert tells what is there already')
      return yield* planUpsert(request, data, { conflict, most })
    }
    case 'update':
      if (sentKey !== undefined) return yield* planUpdateOne(request, data, sentKey)
      return yield* Array.isArray(data) ? planUpdateEach(request, data, most) : planUpdateMany(request, data)
    case 'delete':
      return yield* sentKey === undefined ? planDeleteMany(request) : planDeleteOne(request, sentKey)
  }
}

type PlannedRead = Planner & { readonly part: BatchPart; readonly query: ReadQuery }

/** Steps are needed for rows that others refer to, and for a key that refers to other operations. */
function planRead(
  place: PlannedRead,
  key: { readonly kind: 'value'; readonly value: unknown } | undefined,
): ReadPlan | ProgramPlan {
  const { viewer, collection, read, program, part, query } = place
  const isStepwise = part.isKept || part.usesEarlier
  if (key === undefined) {
    refuseEstimate(query)
    const plan = planList(read, query)
    const { page, selection, where, count } = plan
    if (!isStepwise || page === undefined) return plan
    const refused = count || query.withCursors ? 'meta' : query.start?.side
    if (refused !== undefined) throw queryFault(refused, 'cannot be given where other operations refer to the items')
    requireKey(collection, 'body')
    const { order, ...cut } = page
    const slot = addTarget(program, collection, { key: undefined, where, order, cut })
    return { kind: 'program', steps: [...program.steps, { kind: 'answer', slot }], selection }
  }
  const row = keyOf({ collection, read, part }, key)
  if (!isStepwise) return planOne(read, query, row.where)
  requireKey(collection, 'body')
  const where: Filter = and([row.where, requestFilter(viewer, collection, query.filter, 'filter')])
  const slot = addTarget(program, collection, { key: row, where, order: [] })
  const selection = planSelection(read, query, { rows: 1 })
  return { kind: 'program', steps: [...program.steps, { kind: 'answer', slot }], selection }
}

function keptPlan(plan: Plan, operation: Operation, { program, collection, earlier }: Place): Plan {
  if (plan.kind !== 'program') throw new TypeError('what others refer to is kept by steps')
  return earlier.keep({ name: operation.as ?? '', program, plan, collection, shape: shapeOf(operation) })
}

function shapeOf({ kind, key, data }: Operation): KeptOperation['shape'] {
  if (kind === 'create' || kind === 'upsert' || (key === undefined && Array.isArray(data))) return 'apart'
  return key === undefined ? 'together' : 'one'
}
