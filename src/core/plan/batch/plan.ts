/**
 * Plans a batch (docs/contract.md#batches): each operation as its own route plans it, with slots that no other has, so
 * that all of them are one list of steps in one transaction.
 */
import type { Action, Viewer } from '../../access/access.ts'
import type { Collection } from '../../model/model.ts'
import type { Parts } from '../../parts.ts'
import { all, and, type Filter } from '../../query/filter.ts'
import { queryFault, type ReadQuery } from '../../query/parse.ts'
import { parseCreateBody, parseItemBody, parseListBody, parseManyBody, readQueryBody } from '../../query/parse-json.ts'
import { planUpdateEach } from '../bulk/update-each.ts'
import { planUpsert } from '../bulk/upsert.ts'
import { faultOf } from '../operation-fault.ts'
import type { BatchPlan, Plan, PlannedOperation, ProgramPlan, ReadPlan, Slot } from '../plan.ts'
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
import { actionOf, type Operation } from './operation.ts'

export type BatchRequest = {
  readonly viewer: Viewer
  readonly generators: Generators
  /** What the caller may do in the collection of an operation; throws 404 and 403 as its route does. */
  readonly open: (name: string, action: Action) => Pick<WriteRequest, 'collection' | 'read'>
  /** How many items the lists of the operations may have together. */
  readonly most: number
}

/** Throws the OperationFault of the first operation that cannot be. */
export function* planBatch(request: BatchRequest, operations: readonly Operation[]): Parts<BatchPlan> {
  const { viewer, generators, open, most } = request
  const earlier = createEarlierValues(
    viewer,
    operations.flatMap(({ data, key }) => [data, key?.value]),
  )
  const planned: PlannedOperation[] = []
  let slots = 0
  let created = 0
  let steps = 0
  let source: string | undefined
  const slot = (collection: Collection): Slot => ({ number: slots++, collection })
  for (const [index, operation] of operations.entries()) {
    yield
    try {
      const { collection, read } = open(operation.collection, actionOf[operation.kind])
      source ??= collection.sourceId
      if (collection.sourceId !== source) {
        throw queryFault('collection', 'is of another data source than the operations before it', '4010')
      }
      const program = { ...createProgram(viewer, generators), slot, earlier: earlier.valueOf }
      const place = { program, read, collection, earlier }
      const plan = yield* planOperation({ ...place, viewer, generators, most }, operation)
      const kept = earlier.isWanted(operation.as) ? keptPlan(plan, operation, place) : plan
      if (operation.as !== undefined && kept === plan) earlier.note(operation.as)
      created += itemsOf(operation)
      if (created > most) throw queryFault('data', `has more than ${most} items with those of the operations before it`)
      steps += kept.kind === 'program' ? kept.steps.length : 1
      if (steps > MAX_CHANGES) throw queryFault('body', `asks for more than ${MAX_CHANGES} changes`)
      const isKeyed = operation.key !== undefined
      planned.push({
        plan: kept,
        collection,
        isOne: isKeyed && kept.kind !== 'program',
        isKeyed,
        answers: operation.kind !== 'delete' ? 'items' : operation.query.fields === undefined ? 'nothing' : 'deleted',
        readable: operation.kind === 'read' ? read.access.rows : all,
      })
    } catch (error) {
      throw faultOf(error, index)
    }
  }
  return { kind: 'batch', operations: planned, slots }
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

/** Rows that others refer to, and the row of a key that refers to others, are found by steps. */
function planRead(
  place: PlannedRead,
  key: { readonly kind: 'value'; readonly value: unknown } | undefined,
): ReadPlan | ProgramPlan {
  const { viewer, collection, read, program, part, query } = place
  const isStepwise = part.isKept || part.usesEarlier
  if (key === undefined) {
    const plan = planList(read, query)
    const { page, selection, where, count } = plan
    if (!isStepwise || page === undefined) return plan
    const refused = count || query.isTold ? 'meta' : query.start?.side
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
  if (kind === 'upsert') return 'either'
  if (kind === 'create' || (key === undefined && Array.isArray(data))) return 'apart'
  return key === undefined ? 'together' : 'one'
}
