/**
 * Compiles a batch into the statements of one transaction: those of its operations one after the other. A statement is made
 * when the one before it has run, or all of them at once where none needs that. Each is known by its operation, and so is
 * what an operation demands, by the marker in the message of the failed transaction.
 */
import { isFiles } from '../../model/file-collection.ts'
import type { Collection } from '../../model/model.ts'
import type { Parts } from '../../parts.ts'
import { operationBindings } from '../../plan/batch/planned-operation.ts'
import { faultOf } from '../../plan/operation-fault.ts'
import type { BatchPlan, PlannedOperation, ReadPlan, WritePlan } from '../../plan/plan.ts'
import { MAX_CHANGES } from '../../plan/relation-operation.ts'
import { queryFault } from '../../query/parse.ts'
import type { Bindings } from '../../query/placeholder.ts'
import type { Dialect, Marker } from '../dialect.ts'
import { SqlFault } from '../fault.ts'
import { rootScope } from '../read/scope.ts'
import { countAll, listed } from '../read.ts'
import { binder, compileTemplate, type Sql, type Statement } from '../statement.ts'
import { linesOf } from '../write.ts'
import { answer, type Line, type Lines, requiredLines } from './lines.ts'
import { assertionMarker } from './steps.ts'

/** What the statements of a batch are for, by their index. */
export type BatchPlaces = {
  /** The operation of each statement, if it has one. */
  readonly operations: (number | undefined)[]
  /** The statements of each operation that answer, each with a list. */
  readonly answers: readonly number[][]
  /** How many statements there may be: those of what stands alone are bounded by its steps. */
  readonly most: number
}

export type CompiledBatch = BatchPlaces & { readonly statements: (bindings: Bindings) => readonly Statement[] }

export function noPlaces({ operations, isAlone }: BatchPlan): BatchPlaces {
  const most = isAlone ? Number.POSITIVE_INFINITY : MAX_CHANGES
  return { operations: [], answers: operations.map(() => []), most }
}

/** How a transaction keeps what it answers: by the dialects of its operations, and statements before and behind theirs. */
export type Recording = { readonly dialectOf: DialectOf; readonly before: Sql; readonly behind: Sql }

type DialectOf = (dialect: Dialect, operation: PlannedOperation, index: number) => Dialect

/** Operations whose plan serves others, too, as they were compiled. */
export type CompiledForms = WeakMap<PlannedOperation, readonly CompiledLine[]>

type CompiledLine = { readonly bind: (bindings: Bindings) => Statement; readonly isAnswer: boolean }

/** All statements of a transaction that is sent as a whole. Throws the OperationFault of one that cannot be. */
export function* compileBatch(
  plan: BatchPlan,
  dialect: Dialect,
  how: {
    readonly forms?: CompiledForms
    readonly recording?: Recording
    /** Whether `requireRows` gets the answers before the batch is committed. */
    readonly isConfirmed?: boolean
  } = {},
): Parts<CompiledBatch> {
  const { forms, recording, isConfirmed = false } = how
  const ofForms = isConfirmed ? { ...dialect, ...dialect.confirming } : dialect
  const places = noPlaces(plan)
  const lines: CompiledLine[] = []
  const add = (line: CompiledLine, index?: number) => {
    notePlace(places, index, line.isAnswer)
    lines.push(line)
  }
  const actor = plan.operations.some(isRecorded) ? dialect.actor : undefined
  const alone = actor && recording === undefined ? yield* namingActor(plan, dialect, actor) : undefined
  if (actor && alone === undefined) add(compiled({ sql: actor.setActor, isAnswer: false }, dialect))
  if (recording !== undefined) add(compiled({ sql: recording.before, isAnswer: false }, dialect))
  for (const [index, operation] of plan.operations.entries()) {
    const values = plan.values[index]
    const known = values && forms?.get(operation)
    const place = { dialect: values ? ofForms : dialect, dialectOf: recording?.dialectOf }
    const own = known ?? alone ?? (yield* compileOperation(plan, index, place))
    if (values && known === undefined) forms?.set(operation, own)
    for (const line of own) add(line, index)
  }
  if (recording !== undefined) add(compiled({ sql: recording.behind, isAnswer: false }, dialect))
  return {
    ...places,
    statements(bindings) {
      const own = plan.operations.map((_, index) => operationBindings(bindings, index, plan.values[index]))
      return lines.map(({ bind }, place) => bind(own[places.operations[place] ?? -1] ?? bindings))
    },
  }
}

/** An operation that is alone and whose own statements name who writes; undefined where it needs one beside them. */
function* namingActor(
  plan: BatchPlan,
  dialect: Dialect,
  { written }: NonNullable<Dialect['actor']>,
): Parts<readonly CompiledLine[] | undefined> {
  if (plan.isAlone !== true) return undefined
  let isDirect = false
  const own = yield* compileOperation(plan, 0, {
    dialect: {
      ...dialect,
      written(...write) {
        const direct = written(...write)
        isDirect ||= direct !== undefined
        return direct
      },
    },
  })
  return isDirect ? own : undefined
}

function compiled({ sql, isAnswer }: Line, dialect: Dialect): CompiledLine {
  return { bind: binder(compileTemplate(sql, dialect)), isAnswer }
}

function* compileOperation(
  plan: BatchPlan,
  index: number,
  place: Omit<OperationPlace, 'marker'>,
): Parts<readonly CompiledLine[]> {
  const own: CompiledLine[] = []
  for (const line of linesOfOne(plan, index, { ...place, marker: anyMarker })) {
    yield
    if (line === undefined) continue
    for (let parts = 0; parts < line.sql.parts.length; parts += PARTS_IN_ONE_GO) yield
    own.push(compiled(line, place.dialect))
  }
  return own
}

/** As many as a short statement has. */
const PARTS_IN_ONE_GO = 50

/** Throws the fault of the first operation whose statement has not failed for want of the row that it demands. */
export function requireRows(
  { operations, values }: BatchPlan,
  { answers }: Pick<BatchPlaces, 'answers'>,
  results: readonly (readonly unknown[])[],
): void {
  for (const [index, { isOne }] of operations.entries()) {
    const [place] = answers[index] ?? []
    if (!isOne || values[index] === undefined || place === undefined || results[place]?.length !== 0) continue
    throw new SqlFault(noRecordOf(index), { state: NO_DATA, position: place })
  }
}

const NO_DATA = '02000'

const noRecord = assertionMarker('noRecord')
/** For all operations of a form. */
const anyMarker: Marker = { text: noRecord, operation: { kind: 'operation' } }

/** Statements, with pauses between long calculations. */
export type StatementsInParts = Generator<Statement | undefined, void>

/** The same statements one by one, each made when the one before it was answered. `places` fills meanwhile. */
export function* conversedBatch(
  plan: BatchPlan,
  dialect: Dialect,
  {
    bindings,
    places,
    forms,
  }: { readonly bindings: Bindings; readonly places: BatchPlaces; readonly forms?: CompiledForms },
): StatementsInParts {
  const slots = dialect.newSlots()
  for (const [index, operation] of plan.operations.entries()) {
    const values = plan.values[index]
    const own = operationBindings(bindings, index, values)
    const known = values && forms?.get(operation)
    const made: CompiledLine[] = []
    let isForAll = values !== undefined
    const noting: Dialect = {
      ...dialect,
      get slots() {
        isForAll = false
        return values ? marked({ ...dialect, slots }, index).slots : slots
      },
    }
    // Of a statement that has failed the driver tells the place, whatever the message.
    const marker = values ? anyMarker : markerOfOne(index)
    for (const line of known ?? linesOfOne(plan, index, { dialect: noting, marker })) {
      const ready = line && ('bind' in line ? line : compiled(line, dialect))
      if (ready) {
        notePlace(places, index, ready.isAnswer)
        made.push(ready)
      }
      yield ready?.bind(own)
    }
    if (isForAll) forms?.set(operation, made)
  }
}

/** The operation whose demand the message tells to be unmet. */
export function unmetOperation(message: string): number | undefined {
  const [, operation] = /service:[^@]*@(\d+)/.exec(message) ?? []
  return operation === undefined ? undefined : Number(operation)
}

/** What a batch runs, line by line; some are only made when those before were answered. */
export function* linesOfBatch(
  plan: BatchPlan,
  dialect: Dialect,
  dialectOf?: DialectOf,
): Generator<(Line & { readonly index: number }) | undefined, void> {
  for (const index of plan.operations.keys()) {
    for (const line of linesOfOne(plan, index, { dialect, dialectOf, marker: markerOfOne(index) })) {
      yield line && { ...line, index }
    }
  }
}

function markerOfOne(index: number): Marker {
  return { text: noRecordOf(index), operation: undefined }
}

export function notePlace(places: BatchPlaces, index: number | undefined, isAnswer: boolean): void {
  const { operations, answers, most } = places
  const length = operations.push(index)
  if (isAnswer) answers[index ?? -1]?.push(length - 1)
  if (length > most) throw queryFault('body', `needs more than ${most} statements`)
}

/** Throws the faults of the operation as such. */
function* linesOfOne(plan: BatchPlan, index: number, place: OperationPlace): Lines {
  try {
    yield* linesOfOperation(plan, index, place)
  } catch (error) {
    throw faultOf(error, index)
  }
}

type OperationPlace = {
  readonly dialect: Dialect
  readonly dialectOf?: DialectOf | undefined
  /** Of what the statements of an operation without steps demand. */
  readonly marker: Marker
}

function* linesOfOperation(
  { operations, values, isAlone }: BatchPlan,
  index: number,
  { dialect, dialectOf = plainly, marker }: OperationPlace,
): Lines {
  const operation = operations[index]
  if (operation === undefined) return
  const { plan, isOne } = operation
  // What serves several operations names none, nor does what is the only one.
  const isNamed = values[index] === undefined && isAlone !== true
  const own = dialectOf(isNamed ? marked(dialect, index) : dialect, operation, index)
  const required = isOne ? marker : undefined
  if (plan.kind === 'read') return yield* read(plan, own, required)
  yield* linesOf(plan, own, { free: isAlone ? 0 : FREE_SLOT, marker: required })
}

/** Whether triggers record what it writes, directly or through a relation: in the audit log what becomes of files, else the history of items. */
function isRecorded({ plan }: PlannedOperation): boolean {
  if (plan.kind === 'read') return false
  return writtenBy(plan).some((collection) => collection.isRecorded || isFiles(collection))
}

function writtenBy(plan: WritePlan): readonly Collection[] {
  if (plan.kind !== 'program') return [plan.collection]
  return plan.steps.flatMap((step) => {
    if (step.kind === 'insert') return [step.into.collection]
    return step.kind === 'update' || step.kind === 'delete' ? [step.slot.collection] : []
  })
}

const plainly: DialectOf = (dialect) => dialect

/** No program has so many slots. */
const FREE_SLOT = 10 * MAX_CHANGES

function* read(plan: ReadPlan, dialect: Dialect, marker: Marker | undefined): Lines {
  const rows = listed(plan, rootScope(dialect))
  if (marker !== undefined) yield* requiredLines(dialect.requiredList(rows, marker))
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
      found: (slot, requirement) => slots.found(slot, { ...requirement, marker: markerOf(requirement.marker, index) }),
      bounded: (slot, most, marker) => slots.bounded(slot, most, markerOf(marker, index)),
    },
  }
}

/** In the message of a transaction without the item that the operation is to answer. */
export function noRecordOf(operation: number): string {
  return markerOf(noRecord, operation)
}

function markerOf(marker: string, index: number): string {
  return `${marker}@${index}`
}

/** Concatenates JSON arrays given as texts, since nobody parses what a database has rendered. */
export function concatenate(lists: readonly string[]): string {
  const [only] = lists
  if (only !== undefined && lists.length === 1) return only
  const contents = lists.map((text) => text.slice(1, -1)).filter((text) => text !== '')
  return `[${contents.join(',')}]`
}
