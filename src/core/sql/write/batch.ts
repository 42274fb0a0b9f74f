/**
 * Compiles a batch into the statements of one transaction, operation by operation. A statement is created after the previous
 * one has run, or all at once if none needs that. Each statement records its operation, and the marker in the message of a
 * failed transaction names the operation whose requirement failed.
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

/** What the statements of a batch are for, by index. */
export type BatchPlaces = {
  /** The operation of each statement, if it has one. */
  readonly operations: (number | undefined)[]
  /** The statements of each operation that return a list. */
  readonly answers: readonly number[][]
  /** Maximum number of statements; a single operation is limited by its steps instead. */
  readonly most: number
}

export type CompiledBatch = BatchPlaces & { readonly statements: (bindings: Bindings) => readonly Statement[] }

export function noPlaces({ operations, isAlone }: BatchPlan): BatchPlaces {
  const most = isAlone ? Number.POSITIVE_INFINITY : MAX_CHANGES
  return { operations: [], answers: operations.map(() => []), most }
}

/** How a transaction keeps its answers: by the dialects of its operations, and statements before and after theirs. */
export type Recording = { readonly dialectOf: DialectOf; readonly before: Sql; readonly behind: Sql }

type DialectOf = (dialect: Dialect, operation: PlannedOperation, index: number) => Dialect

/** Compiled operations whose plan is shared. */
export type CompiledForms = WeakMap<PlannedOperation, readonly CompiledLine[]>

type CompiledLine = { readonly bind: (bindings: Bindings) => Statement; readonly isAnswer: boolean }

/** All statements of a transaction that is sent as a whole. Throws an OperationFault for an operation that cannot be compiled. */
export function* compileBatch(
  plan: BatchPlan,
  dialect: Dialect,
  how: {
    readonly forms?: CompiledForms
    readonly recording?: Recording
    /** True if `requireRows` gets the answers before the batch is committed. */
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

/** Compiles a single operation whose own statements pass the writer; undefined if it needs a separate statement. */
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

/** Number of parts of a short statement. */
const PARTS_IN_ONE_GO = 50

/** Throws the fault of the first operation without its required row, if its statement did not fail by itself. */
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
/** The marker of all operations of a form. */
const anyMarker: Marker = { text: noRecord, operation: { kind: 'operation' } }

/** Statements, with pauses between long calculations. */
export type StatementsInParts = Generator<Statement | undefined, void>

/** The same statements one by one, each created after the answer to the previous one. `places` is filled meanwhile. */
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
    // The driver reports the index of a failed statement, whatever the message.
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

/** The operation whose requirement failed, according to the message. */
export function unmetOperation(message: string): number | undefined {
  const [, operation] = /service:[^@]*@(\d+)/.exec(message) ?? []
  return operation === undefined ? undefined : Number(operation)
}

/** The statements of a batch, one by one; some are created only after the answers to the previous ones. */
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

/** Throws faults with their operation. */
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
  /** The marker for requirements of an operation without steps. */
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
  // A shared plan names no operation, and neither does a single one.
  const isNamed = values[index] === undefined && isAlone !== true
  const own = dialectOf(isNamed ? marked(dialect, index) : dialect, operation, index)
  const required = isOne ? marker : undefined
  if (plan.kind === 'read') return yield* read(plan, own, required)
  yield* linesOf(plan, own, { free: isAlone ? 0 : FREE_SLOT, marker: required })
}

/** True if triggers record what the operation writes: files in the audit log, others in the history of items. */
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

/** Higher than any slot number of a program. */
const FREE_SLOT = 10 * MAX_CHANGES

function* read(plan: ReadPlan, dialect: Dialect, marker: Marker | undefined): Lines {
  const rows = listed(plan, rootScope(dialect))
  if (marker !== undefined) yield* requiredLines(dialect.requiredList(rows, marker))
  else yield* answer([dialect.writtenList(rows, plan.count ? countAll(plan, dialect) : undefined)])
}

/** Adds the operation to the markers of its requirements. */
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

/** The marker of a transaction without the item that the operation must answer. */
export function noRecordOf(operation: number): string {
  return markerOf(noRecord, operation)
}

function markerOf(marker: string, index: number): string {
  return `${marker}@${index}`
}

/** Concatenates JSON arrays as texts, because nobody parses what a database has rendered. */
export function concatenate(lists: readonly string[]): string {
  const [only] = lists
  if (only !== undefined && lists.length === 1) return only
  const contents = lists.map((text) => text.slice(1, -1)).filter((text) => text !== '')
  return `[${contents.join(',')}]`
}
