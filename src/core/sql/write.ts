/**
 * Compiles a WritePlan into statements of one transaction, and marks those that return the written items. If the database can
 * return what it has just written, a single statement is enough; otherwise the keys are kept and the items read back.
 */
import type { Collection, PrimitiveField } from '../model/model.ts'
import type { Cell, CreatePlan, DeletePlan, Order, UpdatePlan, WritePlan } from '../plan/plan.ts'
import { boundText } from '../query/placeholder.ts'
import type { Dialect, DirectWrite, Marker } from './dialect.ts'
import { joinInserts } from './joined-inserts.ts'
import { orderBy } from './read/order.ts'
import { predicate } from './read/predicate.ts'
import type { RowQuery } from './read/row-query.ts'
import { rootScope, type Scope, table } from './read/scope.ts'
import type { Sql, SqlParam } from './statement.ts'
import { deleteKept, keepKeys, kept, readBack, requireKey, rowsOf, wholly } from './write/kept-rows.ts'
import { answer, type Lines, requiredLines, run, settingsOf } from './write/lines.ts'
import type { Insertion, Targets } from './write/slots.ts'
import { answerWritten, inserted, linesOfStep } from './write/steps.ts'

/** The position of a plan in its transaction. */
export type PlanPlace = {
  /** The first slot that no program uses. */
  readonly free: number
  /** The marker in the error message of the transaction if the plan writes nothing. */
  readonly marker: Marker | undefined
}

/** The statements of a write, one by one; some are created only after the answers to the previous ones. */
export function* linesOf(plan: WritePlan, dialect: Dialect, place: PlanPlace): Lines {
  switch (plan.kind) {
    case 'create':
      return yield* create(plan, dialect, place)
    case 'update':
      return yield* update(plan, dialect, place)
    case 'delete':
      return yield* remove(plan, dialect, place)
    case 'program':
      for (const step of yield* joinInserts(plan.steps, dialect)) {
        yield
        yield* step.kind === 'joinedInsert' ? inserted(step, dialect) : linesOfStep(step, plan.selection, dialect)
      }
  }
}

function* create({ collection, rows, selection }: CreatePlan, dialect: Dialect, { free }: PlanPlace): Lines {
  const fields = [...new Map(rows.flat().map(({ field }) => [field.id, field])).values()]
  // A row with defaults only needs a statement of its own.
  const size = fields.length === 0 ? 1 : Math.max(1, Math.floor(MAX_PARAMS / fields.length))
  for (let start = 0, slot = free; start < rows.length; start += size, slot += 1) {
    const insertion: Insertion = {
      table: table(collection),
      key: collection.identity,
      fields,
      ...rowsToInsert(rows.slice(start, start + size), fields, dialect),
      provided: undefined,
      unless: undefined,
      kept: collection.identity,
    }
    const write = { kind: 'insert', name: collection.dbName, insertion } as const
    const direct = writtenDirectly(dialect, write, { selection, order: [], marker: undefined })
    if (direct !== undefined) yield* answer([direct])
    else {
      requireKey(collection)
      yield* run(dialect.slots.keepInserted(slot, insertion))
      yield* answerWritten(dialect, { collection, slot, selection })
    }
  }
}

/** Per statement: databases allow 65,535, and each value may occur several times. */
const MAX_PARAMS = 16_000

function rowsToInsert(
  rows: CreatePlan['rows'],
  fields: readonly PrimitiveField[],
  dialect: Dialect,
): Pick<Insertion, 'rows' | 'source'> {
  const texts = rows.length > 1 ? rows.map((row) => textsOf(row, fields)) : []
  const isWhole = texts.length > 0 && texts.every((row) => row !== undefined)
  const source = isWhole ? dialect.rowsOfTexts(fields, texts) : undefined
  return source === undefined ? { rows: rows.map((row) => tuple(row, fields, dialect)) } : { rows: [], source }
}

/** Undefined for a row that uses a column's default. */
function textsOf(row: CreatePlan['rows'][number], fields: readonly PrimitiveField[]): readonly SqlParam[] | undefined {
  const values = new Map(row.map(({ field, value }) => [field.id, value]))
  if (values.size !== fields.length) return undefined
  return fields.map(({ id }) => {
    const value = values.get(id) ?? null
    return value === null ? null : boundText(value)
  })
}

function tuple(
  row: CreatePlan['rows'][number],
  fields: readonly PrimitiveField[],
  dialect: Dialect,
): (Sql | undefined)[] {
  const byField = new Map(row.map((assignment) => [assignment.field.id, assignment]))
  return fields.map((field) => {
    const assignment = byField.get(field.id)
    return assignment && dialect.assigned(field, assignment.value)
  })
}

function* update(plan: UpdatePlan, dialect: Dialect, { free, marker }: PlanPlace): Lines {
  const { collection, where, assignments, selection, order } = plan
  const cells = assignments.map(({ field, value }): Cell => ({ field, value: { kind: 'text', text: value } }))
  if (cells.length === 0) {
    yield* unchanged(plan, dialect, marker)
    return
  }
  const settings = settingsOf(cells, dialect)
  const targets = (alias: string) => targetsOf(collection, where, rootScope(dialect, alias))
  const write = { kind: 'update', name: collection.dbName, targets, settings } as const
  const direct = writtenDirectly(dialect, write, { selection, order, marker })
  if (direct !== undefined) {
    yield* answer([direct])
    return
  }
  if (marker !== undefined && dialect.updateOne !== undefined && isByPrimaryKey(plan)) {
    const scope = rootScope(dialect)
    yield* run([dialect.updateOne({ ...targets('t0'), isByPrimaryKey: true }, settings, marker)])
    yield* answer([dialect.writtenList(wholly(rowsOf(collection, where, scope), selection, scope))])
    return
  }
  yield* found(plan, dialect, { free, marker })
  yield* run(kept(collection, free, rootScope(dialect)).map((rows) => dialect.update(rows.targets, settings)))
  yield* answerWritten(dialect, { collection, slot: free, selection, changed: cells })
}

/** True if the condition is exactly the primary key, which the update does not change. */
function isByPrimaryKey({ collection, where, assignments }: UpdatePlan): boolean {
  const { primaryKey, isView } = collection
  if (isView || primaryKey.length === 0 || assignments.some(({ field }) => primaryKey.includes(field))) return false
  const conditions = where.kind === 'and' ? where.filters : [where]
  const isKey = conditions.every((one) => one.kind === 'compare' && one.operator === '=' && one.visible.kind === 'all')
  const named = new Set(conditions.flatMap((one) => (one.kind === 'compare' ? [one.field] : [])))
  return isKey && named.size === primaryKey.length && primaryKey.every((field) => named.has(field))
}

/** Answers the rows of an update that sets nothing. */
function* unchanged({ collection, where, selection, order }: UpdatePlan, dialect: Dialect, marker?: Marker): Lines {
  const scope = rootScope(dialect)
  const rows = { ...wholly(rowsOf(collection, where, scope), selection, scope), order: orderBy(order, scope) }
  yield* marker === undefined ? answer([dialect.writtenList(rows)]) : requiredLines(dialect.requiredList(rows, marker))
}

/** Keeps the keys of the rows. */
function* found(plan: UpdatePlan | DeletePlan, dialect: Dialect, { free, marker }: PlanPlace): Lines {
  yield* run(keepKeys(dialect, { ...plan, slot: free }))
  if (marker === undefined) return
  const { text } = marker
  yield* run(dialect.slots.found(free, { count: 1, provided: undefined, absent: undefined, marker: text }))
}

function* remove(plan: DeletePlan, dialect: Dialect, { free, marker }: PlanPlace): Lines {
  const { collection, where, selection, order } = plan
  const targets = (alias: string) => targetsOf(collection, where, rootScope(dialect, alias))
  const write = { kind: 'delete', name: collection.dbName, targets } as const
  const direct = writtenDirectly(dialect, write, { selection, order, marker })
  if (direct !== undefined) {
    yield* answer([direct])
    return
  }
  yield* found(plan, dialect, { free, marker })
  yield* answer(readBack(dialect, { collection, slot: free, selection }))
  yield* run(deleteKept(collection, free, dialect))
}

type Answered = Pick<UpdatePlan, 'selection' | 'order'> & Pick<PlanPlace, 'marker'>

/** Undefined if related rows are selected: the writing statement itself cannot read them after the write. */
function writtenDirectly(
  dialect: Dialect,
  write: DirectWrite,
  { selection, order, marker }: Answered,
): Sql | undefined {
  if (selection.some(({ kind }) => kind === 'relation' || kind === 'aggregates')) return undefined
  const rendered = (from: Sql, alias: string) => {
    const scope = rootScope(dialect, alias)
    return ordered(wholly(from, selection, scope), order, scope)
  }
  return dialect.written(write, rendered, marker)
}

/** Adds the columns of the order; rows without members have no order. */
function ordered(rows: RowQuery, order: readonly Order[], scope: Scope): RowQuery {
  if (rows.members.length === 0) return rows
  const named = new Set(rows.row.columns)
  const terms = orderBy(order, { ...scope, named })
  return { ...rows, row: { ...rows.row, columns: [...named] }, order: terms }
}

function targetsOf(collection: Collection, where: UpdatePlan['where'], scope: Scope): Targets {
  return {
    table: table(collection),
    alias: scope.alias,
    among: undefined,
    where: predicate(where, scope),
    isByPrimaryKey: false,
  }
}
