/**
 * Joins inserts into one collection, so that thousands of new items need few statements. Inserts are joined only if the result
 * is the same as one by one: no other step uses their rows, they do not refer to each other, and they have the same conditions,
 * none of which reads their collection.
 */
import type { Collection, PrimitiveField } from '../model/model.ts'
import type { Parts } from '../parts.ts'
import { keptFields } from '../plan/cells.ts'
import type { Cell, Slot, Step } from '../plan/plan.ts'
import { type Filter, someFilter } from '../query/filter.ts'
import type { Dialect } from './dialect.ts'

type Insert = Extract<Step, { readonly kind: 'insert' }>
type Condition = Extract<Step, { readonly kind: 'check' | 'refer' }>

/** One statement; a column without a cell in a row gets its default. */
export type JoinedInsert = {
  readonly kind: 'joinedInsert'
  readonly into: Slot
  readonly fields: readonly PrimitiveField[]
  readonly rows: readonly (readonly Cell[])[]
  /** Inserts only if this slot has a row; undefined if it certainly has one. */
  readonly provided: Slot | undefined
  /** Inserts only if this slot has no row. */
  readonly absent: Slot | undefined
  /** Skips rows that exist already, with the same values in these fields. */
  readonly unless: readonly PrimitiveField[] | undefined
}

export type JoinedStep = Exclude<Step, Insert> | JoinedInsert

/** Limits of one statement, so that it blocks the process and the database only briefly. */
export const MAX_JOINED_ROWS = 500
const MAX_CELLS = 4_000

/** With `maxRows` 1, every insert is a statement of its own, in the order of the steps. */
export function* joinInserts(
  steps: readonly Step[],
  { maxJoinedRows: maxRows }: Pick<Dialect, 'maxJoinedRows'>,
): Parts<readonly JoinedStep[]> {
  const units = yield* withOwnConditions(steps)
  const read = yield* slotsReadLater(units)
  const filled = new Set<number>()
  const joined: JoinedStep[] = []
  let run: Run | undefined
  const endRun = () => {
    if (run !== undefined) joined.push(insertOf(run), ...run.conditions)
    run = undefined
  }
  for (const unit of units) {
    yield
    const { step, conditions } = unit
    if (step.kind !== 'insert') {
      // Finds the rows that new items refer to once per value: before all inserts, unless an insert could create them.
      const isEarly = run !== undefined && isIndependent(step, run.into.collection, read)
      if (!isEarly) endRun()
      joined.push(step)
    } else {
      const provided = step.provided !== undefined && filled.has(step.provided.number) ? undefined : step.provided
      const isFree = provided === undefined && step.absent === undefined
      const isJoinable = isFree && !read.has(step.into.number) && isSelfContained(step, conditions)
      if (run !== undefined && isJoinable && hasRoom(run, step, maxRows) && isAlike(run, unit)) addRow(run, step)
      else {
        endRun()
        run = {
          into: step.into,
          provided,
          absent: step.absent,
          unless: step.unless,
          conditions,
          fields: new Set(),
          rows: [],
          keys: new Set(),
        }
        addRow(run, step)
        if (!isJoinable || maxRows === 1) endRun()
      }
    }
    noteFilled(filled, step)
  }
  endRun()
  return joined
}

/** A step, and the conditions that are checked right after it if it is an insert. */
type Unit = { readonly step: Step; readonly conditions: readonly Condition[] }

function* withOwnConditions(steps: readonly Step[]): Parts<readonly Unit[]> {
  const units: { readonly step: Step; readonly conditions: Condition[] }[] = []
  for (const step of steps) {
    yield
    const last = units.at(-1)
    const isOwn = (step.kind === 'check' || step.kind === 'refer') && last?.step.kind === 'insert'
    if (isOwn && last.step.into.number === step.slot.number) last.conditions.push(step)
    else units.push({ step, conditions: [] })
  }
  return units
}

/** Numbers of the slots that a later step uses, except by an insert's own conditions. */
function* slotsReadLater(units: readonly Unit[]): Parts<ReadonlySet<number>> {
  const read = new Set<number>()
  for (const { step, conditions } of units) {
    yield
    for (const { number } of slotsReadBy(step)) read.add(number)
    for (const condition of conditions) {
      if (condition.kind === 'refer') for (const { number } of keptSlots(condition.cells)) read.add(number)
    }
  }
  return read
}

function slotsReadBy(step: Step): readonly Slot[] {
  switch (step.kind) {
    case 'insert':
    case 'find': {
      const kept = keptSlots(step.kind === 'insert' ? step.cells : step.matches)
      return [...kept, ...[step.provided, step.absent].filter((slot) => slot !== undefined)]
    }
    case 'agree':
      return [step.slot, ...keptSlots(step.cells), ...(step.provided === undefined ? [] : [step.provided])]
    case 'refer':
    case 'update':
      return [step.slot, ...keptSlots(step.cells)]
    case 'check':
    case 'part':
    case 'range':
    case 'match':
    case 'delete':
    case 'require':
      return [step.slot]
    case 'answer':
      return step.or ? [step.slot, step.or] : [step.slot]
  }
}

function keptSlots(cells: readonly Cell[]): readonly Slot[] {
  return cells.flatMap(({ value }) => {
    if (value.kind === 'text') return []
    return value.or === undefined ? [value.slot] : [value.slot, value.or]
  })
}

/** Records the slots that certainly have a row. */
function noteFilled(filled: Set<number>, step: Step): void {
  switch (step.kind) {
    case 'insert':
    case 'find': {
      const isCertain =
        (step.kind === 'insert' ? step.unless === undefined : step.assertion !== undefined) && step.absent === undefined
      if (isCertain && (step.provided === undefined || filled.has(step.provided.number))) filled.add(step.into.number)
      return
    }
    case 'update': {
      // The update changed the columns by which the rows are found, so they are looked up again.
      const kept = keptFields(step.slot.collection)
      if (step.cells.some(({ field }) => kept.includes(field))) filled.delete(step.slot.number)
      return
    }
  }
}

/** Inserts that are being joined. */
type Run = {
  readonly into: Slot
  readonly provided: Slot | undefined
  readonly absent: Slot | undefined
  readonly unless: readonly PrimitiveField[] | undefined
  readonly conditions: readonly Condition[]
  readonly fields: Set<PrimitiveField>
  readonly rows: (readonly Cell[])[]
  /** Keys of the joined rows by the fields of `unless`. */
  readonly keys: Set<string>
}

function addRow(run: Run, step: Insert): void {
  const { cells } = step
  run.keys.add(keyOf(step))
  for (const { field } of cells) run.fields.add(field)
  run.rows.push(cells)
}

function insertOf({ into, provided, absent, unless, fields, rows }: Run): JoinedInsert {
  return { kind: 'joinedInsert', into, provided, absent, unless, fields: [...fields], rows }
}

function hasRoom({ fields, rows }: Run, { cells }: Insert, maxRows: number): boolean {
  const width = fields.size + cells.filter(({ field }) => !fields.has(field)).length
  return rows.length < maxRows && (rows.length + 1) * width <= MAX_CELLS
}

function isAlike(run: Run, { step, conditions }: Unit): boolean {
  if (step.kind !== 'insert' || step.into.collection !== run.into.collection) return false
  // A statement does not see the rows that it inserts.
  if (!isSameList(step.unless, run.unless) || (step.unless !== undefined && run.keys.has(keyOf(step)))) return false
  return (
    conditions.length === run.conditions.length &&
    conditions.every((condition, index) => {
      const other = run.conditions[index]
      if (condition.kind !== other?.kind || condition.assertion !== other.assertion) return false
      if (condition.kind === 'refer' && other.kind === 'refer' && condition.relation !== other.relation) return false
      return condition.where === other.where
    })
  )
}

function isSameList(some: Insert['unless'], others: Insert['unless']): boolean {
  return some?.length === others?.length && (some ?? []).every((field, index) => field === others?.[index])
}

/** The values of a row in the fields of `unless`. */
function keyOf({ cells, unless = [] }: Insert): string {
  const key = unless.map((field) => {
    const value = cells.find((cell) => cell.field === field)?.value
    return value?.kind === 'kept' ? [value.slot.number, value.row, value.field.id] : value?.text
  })
  return JSON.stringify(key)
}

/** Returns true if the row does not depend on other rows of the same collection, inserted at the same time. */
function isSelfContained({ into, cells }: Insert, conditions: readonly Condition[]): boolean {
  const { collection } = into
  // A row with defaults only needs a statement of its own.
  if (cells.length === 0) return false
  const refersToOwn = collection.relations.some(
    (relation) =>
      relation.isForward &&
      relation.target === collection &&
      relation.joins.some(({ own }) => cells.some((cell) => cell.field === own && isGiven(cell))),
  )
  return !refersToOwn && !conditions.some((condition) => readsRowsOf(collection, condition))
}

function isGiven({ value }: Cell): boolean {
  return value.kind === 'text' && value.text !== null
}

/** Returns true if the step can run before new rows of the collection are inserted. */
function isIndependent(step: Step, collection: Collection, read: ReadonlySet<number>): boolean {
  if (step.kind !== 'find' || read.has(step.into.number)) return false
  return step.into.collection !== collection && !mentions(step.where, collection)
}

function readsRowsOf(collection: Collection, condition: Condition): boolean {
  if (condition.kind === 'refer' && condition.relation.target === collection) return true
  return mentions(condition.where, collection)
}

/** Returns true if the filter follows a relation to the collection. */
function mentions(filter: Filter, collection: Collection): boolean {
  return someFilter(filter, (one) => one.kind === 'related' && one.target === collection)
}
