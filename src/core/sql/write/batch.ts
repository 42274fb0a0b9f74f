/**
 * Compiles a batch into the statements of one transaction: those of its operations one after the other. Each statement is
 * known by its operation, and so is what an operation demands, by the marker in the message of the failed transaction.
 */
import type { Parts } from '../../parts.ts'
import { operationBindings } from '../../plan/batch/operation-bindings.ts'
import { faultOf } from '../../plan/operation-fault.ts'
import type { BatchPlan, PlannedOperation, ReadPlan } from '../../plan/plan.ts'
import { MAX_CHANGES } from '../../plan/relation-operation.ts'
import { queryFault } from '../../query/parse.ts'
import type { Bindings } from '../../query/placeholder.ts'
import type { Conversation, Dialect, Marker } from '../dialect.ts'
import { SqlFault } from '../fault.ts'
import { rootScope } from '../read/scope.ts'
import { countAll, listed } from '../read.ts'
import { binder, compileTemplate, type Statement } from '../statement.ts'
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

export type CompiledBatch = BatchPlaces & { readonly statements: readonly Statement[] }

export function noPlaces({ operations }: BatchPlan): BatchPlaces {
  return { operations: [], answers: operations.map(() => []) }
}

/** The dialect that an operation is compiled with. */
export type DialectOf = (dialect: Dialect, operation: number) => Dialect

/** Operations whose plan serves others, too, as they were compiled. */
export type CompiledForms = WeakMap<PlannedOperation, readonly CompiledLine[]>

type CompiledLine = { readonly bind: (bindings: Bindings) => Statement; readonly isAnswer: boolean }

/** All statements, for a dialect whose database keeps the slots. Throws the OperationFault of one that cannot be. */
export function* compileBatch(
  plan: BatchPlan,
  dialect: Dialect,
  how: {
    readonly bindings: Bindings
    readonly forms?: CompiledForms
    readonly dialectOf?: DialectOf
    /** Whether `requireRows` gets the answers before the batch is committed. */
    readonly isHeard?: boolean
  },
): Parts<CompiledBatch> {
  const { bindings, forms, dialectOf, isHeard = false } = how
  const ofForms = isHeard ? { ...dialect, ...dialect.heard } : dialect
  const places = noPlaces(plan)
  const statements: Statement[] = []
  for (const [index, operation] of plan.operations.entries()) {
    const values = plan.values[index]
    const known = values && forms?.get(operation)
    const lines = known ?? (yield* compileOperation(plan, index, { dialect: values ? ofForms : dialect, dialectOf }))
    if (values && known === undefined) forms?.set(operation, lines)
    const own = operationBindings(bindings, index, values)
    for (const { bind, isAnswer } of lines) {
      notePlace(places, index, isAnswer)
      statements.push(bind(own))
    }
  }
  return { ...places, statements }
}

function* compileOperation(
  plan: BatchPlan,
  index: number,
  { dialect, dialectOf }: { readonly dialect: Dialect; readonly dialectOf: DialectOf | undefined },
): Parts<readonly CompiledLine[]> {
  const compiled: CompiledLine[] = []
  const lines = linesOfOperation(plan, index, { dialect, dialectOf, marker: { text: noRecord, operation } })
  for (;;) {
    yield
    const line = next(lines, index)
    if (line === 'done') return compiled
    if (line !== undefined) compiled.push({ bind: binder(compileTemplate(line.sql, dialect)), isAnswer: line.isAnswer })
  }
}

/** Throws the fault of the first operation whose statement has not failed for want of the row that it demands. */
export function requireRows(
  { operations, values }: BatchPlan,
  { answers }: Pick<BatchPlaces, 'answers'>,
  results: readonly (readonly unknown[])[],
): void {
  for (const [index, { isOne }] of operations.entries()) {
    const [place] = answers[index] ?? []
    if (!isOne || values[index] === undefined || place === undefined || results[place]?.length !== 0) continue
    throw new SqlFault(markerOf(noRecord, index), { state: NO_DATA, position: place })
  }
}

const NO_DATA = '02000'

const noRecord = assertionMarker('noRecord')
const operation = { kind: 'operation' } as const

/** The same statements one by one, each made when the one before it was answered. `places` fills meanwhile. */
export function* conversedBatch(
  plan: BatchPlan,
  dialect: Conversation,
  { bindings, places }: { readonly bindings: Bindings; readonly places: BatchPlaces },
): Generator<Statement, void> {
  for (const line of linesOfBatch(plan, dialect.begun(), { places })) {
    if (line === undefined) continue
    const index = places.operations.at(-1) ?? 0
    yield binder(compileTemplate(line.sql, dialect))(operationBindings(bindings, index, plan.values[index]))
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
  { places, dialectOf }: { readonly places: BatchPlaces; readonly dialectOf?: DialectOf | undefined },
): Generator<Line | undefined, void> {
  for (const index of plan.operations.keys()) {
    const marker = { text: markerOf(noRecord, index), operation: undefined }
    const lines = linesOfOperation(plan, index, { dialect, dialectOf, marker })
    for (;;) {
      const line = next(lines, index)
      if (line === 'done') break
      if (line !== undefined) notePlace(places, index, line.isAnswer)
      yield line
    }
  }
}

function notePlace({ operations, answers }: BatchPlaces, index: number, isAnswer: boolean): void {
  const length = operations.push(index)
  if (isAnswer) answers[index]?.push(length - 1)
  if (length > MAX_CHANGES) throw queryFault('body', `needs more than ${MAX_CHANGES} statements`)
}

function next(lines: Lines, operation: number): Line | undefined | 'done' {
  try {
    const { done, value } = lines.next()
    return done === true ? 'done' : (value ?? undefined)
  } catch (error) {
    throw faultOf(error, operation)
  }
}

type OperationPlace = {
  readonly dialect: Dialect
  readonly dialectOf: DialectOf | undefined
  /** Of what the statements of an operation without steps demand. */
  readonly marker: Marker
}

function* linesOfOperation(
  { operations, values }: BatchPlan,
  index: number,
  { dialect, dialectOf = plainly, marker }: OperationPlace,
): Lines {
  const operation = operations[index]
  if (operation === undefined) return
  const { plan, isOne } = operation
  // What serves several operations names none.
  const own = dialectOf(values[index] === undefined ? marked(dialect, index) : dialect, index)
  const demanded = isOne ? marker : undefined
  yield* plan.kind === 'read' ? read(plan, own, demanded) : linesOf(plan, own, { free: FREE_SLOT, marker: demanded })
}

const plainly: DialectOf = (dialect) => dialect

/** No program has so many slots. */
const FREE_SLOT = 10 * MAX_CHANGES

function* read(plan: ReadPlan, dialect: Dialect, marker: Marker | undefined): Lines {
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
