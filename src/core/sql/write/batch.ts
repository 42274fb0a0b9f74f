/**
 * Compiles a batch into the statements of one transaction: those of its operations one after the other. Each statement is
 * known by its operation, and so is what an operation demands, by the marker in the message of the failed transaction.
 */
import type { Parts } from '../../parts.ts'
import { faultOf } from '../../plan/operation-fault.ts'
import type { BatchPlan, PlannedOperation, ReadPlan } from '../../plan/plan.ts'
import { MAX_CHANGES } from '../../plan/relation-operation.ts'
import { queryFault } from '../../query/parse.ts'
import type { Bindings } from '../../query/placeholder.ts'
import type { Conversation, Dialect } from '../dialect.ts'
import { rootScope } from '../read/scope.ts'
import { countAll, listed } from '../read.ts'
import { binder, compileTemplate, type Statement, type StatementTemplate } from '../statement.ts'
import { linesOf } from '../write.ts'
import { answer, demanded, type Line, type Lines } from './lines.ts'
import { assertionMarker } from './steps.ts'

/** What the statements of a batch are for, by their index. */
export type BatchPlaces = {
  /** The operation of each statement. */
  readonly operations: number[]
  /** The statements of each operation that answer, each with a list. */
  readonly answers: readonly number[][]
}

export type CompiledBatch = BatchPlaces & { readonly statements: readonly StatementTemplate[] }

export function noPlaces({ operations }: BatchPlan): BatchPlaces {
  return { operations: [], answers: operations.map(() => []) }
}

/** The dialect that an operation is compiled with. */
export type DialectOf = (dialect: Dialect, operation: number) => Dialect

/** All statements, for a dialect whose database keeps the slots. Throws the OperationFault of one that cannot be. */
export function* compileBatch(plan: BatchPlan, dialect: Dialect, dialectOf?: DialectOf): Parts<CompiledBatch> {
  const places = noPlaces(plan)
  const statements: StatementTemplate[] = []
  for (const line of linesOfBatch(plan, dialect, { places, dialectOf })) {
    yield
    if (line !== undefined) statements.push(compileTemplate(line.sql, dialect))
  }
  return { ...places, statements }
}

/** The same statements one by one, each made when the one before it was answered. `places` fills meanwhile. */
export function* conversedBatch(
  plan: BatchPlan,
  dialect: Conversation,
  { bindings, places }: { readonly bindings: Bindings; readonly places: BatchPlaces },
): Generator<Statement, void> {
  for (const line of linesOfBatch(plan, dialect.begun(), { places })) {
    if (line !== undefined) yield binder(compileTemplate(line.sql, dialect))(bindings)
  }
}

/** The operation whose demand the message tells to be unmet. */
export function unmetOperation(message: string): number | undefined {
  const [, operation] = /service:[^@]*@(\d+)/.exec(message) ?? []
  return operation === undefined ? undefined : Number(operation)
}

/** Lines with pauses between long calculations, noted in `places`. */
export function* linesOfBatch(
  plan: BatchPlan,
  dialect: Dialect,
  { places, dialectOf = plainly }: { readonly places: BatchPlaces; readonly dialectOf?: DialectOf | undefined },
): Generator<Line | undefined, void> {
  for (const [index, operation] of plan.operations.entries()) {
    const lines = linesOfOperation(operation, dialectOf(marked(dialect, index), index), { free: plan.slots, index })
    for (;;) {
      const line = next(lines, index)
      if (line === 'done') break
      if (line !== undefined) {
        const length = places.operations.push(index)
        if (line.isAnswer) places.answers[index]?.push(length - 1)
        if (length > MAX_CHANGES) throw queryFault('body', `needs more than ${MAX_CHANGES} statements`)
      }
      yield line
    }
  }
}

const plainly: DialectOf = (dialect) => dialect

function next(lines: Lines, operation: number): Line | undefined | 'done' {
  try {
    const { done, value } = lines.next()
    return done === true ? 'done' : (value ?? undefined)
  } catch (error) {
    throw faultOf(error, operation)
  }
}

function* linesOfOperation(
  { plan, isOne }: PlannedOperation,
  dialect: Dialect,
  { free, index }: { readonly free: number; readonly index: number },
): Lines {
  const marker = isOne ? markerOf(assertionMarker('noRecord'), index) : undefined
  yield* plan.kind === 'read' ? read(plan, dialect, marker) : linesOf(plan, dialect, { free, marker })
}

function* read(plan: ReadPlan, dialect: Dialect, marker: string | undefined): Lines {
  const rows = listed(plan, rootScope(dialect))
  if (marker !== undefined) yield* demanded(dialect.demandedList(rows, marker))
  else yield* answer([dialect.writtenList(rows, plan.count ? countAll(plan, dialect) : undefined)])
}

/** What its statements demand names the operation. */
function marked(dialect: Dialect, index: number): Dialect {
  const { slots } = dialect
  return {
    ...dialect,
    slots: {
      ...slots,
      assertion: (condition, marker) => slots.assertion(condition, markerOf(marker, index)),
      found: (slot, demand) => slots.found(slot, { ...demand, marker: markerOf(demand.marker, index) }),
    },
  }
}

function markerOf(marker: string, index: number): string {
  return `${marker}@${index}`
}
