/**
 * Compiles a WritePlan into the statements of one transaction, and tells which of them return the written items. Where
 * the database can render what it has just written, a single statement is enough; otherwise the keys are kept and the
 * items read back.
 */
import type { Collection, PrimitiveField } from '../model/model.ts'
import type { Parts } from '../parts.ts'
import { keptFields } from '../plan/cells.ts'
import type {
  Assertion,
  Cell,
  CreatePlan,
  DeletePlan,
  Selection,
  Slot,
  Step,
  UpdatePlan,
  WritePlan,
} from '../plan/plan.ts'
import { queryFault } from '../query/parse.ts'
import type { Dialect, DirectWrite, Insertion, KeptColumn, RowQuery, Setting, Targets } from './dialect.ts'
import { type JoinedInsert, type JoinedStep, joinInserts } from './joined-inserts.ts'
import { keyColumn, members, predicate, rootScope, type Scope, table } from './read.ts'
import { compileTemplate, ident, integer, join, type Sql, type StatementTemplate, sql } from './statement.ts'

export type CompiledWrite = {
  readonly statements: readonly StatementTemplate[]
  /** Indexes of the statements that return items, each a list. */
  readonly answers: readonly number[]
}

/** The marker in the error message of a transaction that fails `assertion`. */
export function assertionMarker(assertion: Assertion): string {
  return `service:${assertion}`
}

export function* compileWrite(plan: WritePlan, dialect: Dialect): Parts<CompiledWrite> {
  const draft: Draft = { dialect, statements: [], answers: [] }
  switch (plan.kind) {
    case 'create':
      create(draft, plan)
      break
    case 'update':
      update(draft, plan)
      break
    case 'delete':
      remove(draft, plan)
      break
    case 'program':
      for (const step of yield* joinInserts(plan.steps)) {
        yield
        if (step.kind === 'joinedInsert') yield* addInsert(draft, step)
        else addStep(draft, step, plan.selection)
      }
      break
  }
  const statements: StatementTemplate[] = []
  for (const statement of draft.statements) {
    for (let parts = 0; parts < statement.parts.length; parts += PARTS_IN_ONE_GO) yield
    statements.push(compileTemplate(statement, dialect))
  }
  return { statements, answers: draft.answers }
}

/** As many as a short statement has. */
const PARTS_IN_ONE_GO = 50

type Draft = {
  readonly dialect: Dialect
  readonly statements: Sql[]
  readonly answers: number[]
}

function add(draft: Draft, statements: readonly Sql[]): void {
  draft.statements.push(...statements)
}

function addAnswer(draft: Draft, statement: Sql): void {
  draft.answers.push(draft.statements.push(statement) - 1)
}

/** Per statement: databases allow 65,535, and each value may occur several times. */
const MAX_PARAMS = 16_000

function create(draft: Draft, { collection, rows, selection }: CreatePlan): void {
  const fields = [...new Map(rows.flat().map(({ field }) => [field.id, field])).values()]
  // A row with defaults only needs a statement of its own.
  const size = fields.length === 0 ? 1 : Math.max(1, Math.floor(MAX_PARAMS / fields.length))
  for (let start = 0, slot = 0; start < rows.length; start += size, slot += 1) {
    const insertion: Insertion = {
      table: table(collection),
      key: collection.primaryKey,
      fields,
      rows: rows.slice(start, start + size).map((row) => tuple(row, fields, draft.dialect)),
      provided: undefined,
      kept: collection.primaryKey,
    }
    const direct = writtenDirectly(draft, { kind: 'insert', name: collection.dbName, insertion }, selection)
    if (direct !== undefined) addAnswer(draft, direct)
    else {
      requireKey(collection)
      add(draft, draft.dialect.slots.keepInserted(slot, insertion))
      addAnswer(draft, readBack(draft, { collection, slot, selection }))
    }
  }
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

function update(draft: Draft, { collection, where, assignments, selection }: UpdatePlan): void {
  const { dialect } = draft
  const scope = rootScope(dialect)
  const cells = assignments.map(({ field, value }): Cell => ({ field, value: { kind: 'text', text: value } }))
  if (cells.length === 0) {
    addAnswer(draft, dialect.writtenList(rendered(rowsOf(collection, where, scope), selection, scope)))
    return
  }
  const settings = settingsOf(cells, dialect)
  const targets = (alias: string) => targetsOf(collection, where, rootScope(dialect, alias))
  const direct = writtenDirectly(draft, { kind: 'update', name: collection.dbName, targets, settings }, selection)
  if (direct !== undefined) {
    addAnswer(draft, direct)
    return
  }
  keepKeys(draft, { collection, slot: 0, from: rowsOf(collection, where, scope) })
  add(draft, [dialect.update(keptTargets(collection, 0, rootScope(dialect)), settings)])
  addAnswer(draft, readBack(draft, { collection, slot: 0, selection, changed: cells }))
}

function remove(draft: Draft, { collection, where, selection }: DeletePlan): void {
  const { dialect } = draft
  const targets = (alias: string) => targetsOf(collection, where, rootScope(dialect, alias))
  const direct = writtenDirectly(draft, { kind: 'delete', name: collection.dbName, targets }, selection)
  if (direct !== undefined) {
    addAnswer(draft, direct)
    return
  }
  keepKeys(draft, { collection, slot: 0, from: rowsOf(collection, where, rootScope(dialect)) })
  addAnswer(draft, readBack(draft, { collection, slot: 0, selection }))
  add(draft, [dialect.delete(keptTargets(collection, 0, rootScope(dialect)))])
}

/** Related rows must be read after the write, which the writing statement itself cannot do. */
function writtenDirectly({ dialect }: Draft, write: DirectWrite, selection: Selection): Sql | undefined {
  if (selection.some((selected) => selected.kind === 'relation')) return undefined
  return dialect.written(write, (from, alias) => rendered(from, selection, rootScope(dialect, alias)))
}

function rendered(from: Sql, selection: Selection, scope: Scope): RowQuery {
  return { members: members(selection, scope), from, order: undefined, page: undefined }
}

function rowsOf(collection: Collection, where: UpdatePlan['where'], scope: Scope): Sql {
  return sql` from ${table(collection)} ${ident(scope.alias)} where ${predicate(where, scope)}`
}

function settingsOf(cells: readonly Cell[], dialect: Dialect): readonly Setting[] {
  return cells.map((cell) => ({ column: cell.field.dbName, value: assignedValue(cell, dialect) }))
}

function targetsOf(collection: Collection, where: UpdatePlan['where'], scope: Scope): Targets {
  return { table: table(collection), alias: scope.alias, among: undefined, where: predicate(where, scope) }
}

/** Keeps the primary keys of the rows that `from` has under the first alias. */
function keepKeys(
  { dialect, statements }: Draft,
  { collection, slot, from }: { readonly collection: Collection; readonly slot: number; readonly from: Sql },
): void {
  requireKey(collection)
  statements.push(
    ...dialect.slots.keep(slot, { columns: keptColumns(collection.primaryKey, rootScope(dialect)), from }),
  )
}

function keptColumns(fields: readonly PrimitiveField[], { alias }: Scope): readonly KeptColumn[] {
  return fields.map((field) => ({ value: ident(alias, field.dbName), shape: field }))
}

/** The rows whose primary keys are kept in `slot`. */
function keptTargets(collection: Collection, slot: number, scope: Scope): Targets {
  return {
    table: table(collection),
    alias: scope.alias,
    among: keptTable(slot, collection.primaryKey, scope.dialect),
    where: keyJoin(collection, { scope }),
  }
}

/** The rows of a slot as the table `k`. */
function keptTable(slot: number, fields: readonly PrimitiveField[], { slots }: Dialect): Sql {
  return sql`${slots.rows(slot, fields)} k`
}

/** `k` starts with the key columns; `changed` are key columns that a write has changed. */
function keyJoin({ primaryKey }: Collection, of: { readonly scope: Scope; readonly changed?: readonly Cell[] }): Sql {
  const { scope, changed = [] } = of
  const matches = primaryKey.map((field, position) => {
    const renewed = changed.find((cell) => cell.field === field)
    const value = renewed === undefined ? sql`k.${ident(`c${position}`)}` : cellValue(renewed, scope.dialect)
    return sql`${keyColumn(field, scope)} = ${value}`
  })
  return join(matches, sql` and `)
}

/** Without a primary key a row cannot be found again. */
function requireKey({ apiName, primaryKey }: Collection): void {
  if (primaryKey.length > 0) return
  throw queryFault('body', `cannot be written: ${apiName} has no primary key, so what was written is not known`)
}

/** Reads the items whose keys are kept in `slot`, in that order. */
function readBack(
  { dialect }: Draft,
  what: {
    readonly collection: Collection
    readonly slot: number
    readonly selection: Selection
    readonly changed?: readonly Cell[]
  },
): Sql {
  const { collection, slot, selection, changed } = what
  const scope = rootScope(dialect)
  const from = keptRows(slot, collection, { fields: collection.primaryKey, scope, changed })
  return dialect.writtenList({ ...rendered(from, selection, scope), order: sql`k.n` })
}

/** ` from …` the rows of the table whose keys are kept in `slot`. */
function keptRows(
  slot: number,
  collection: Collection,
  of: { readonly fields: readonly PrimitiveField[]; readonly scope: Scope; readonly changed?: readonly Cell[] },
): Sql {
  const { scope } = of
  const kept = keptTable(slot, of.fields, scope.dialect)
  return sql` from ${kept} join ${table(collection)} ${ident(scope.alias)} on ${keyJoin(collection, of)}`
}

function* addInsert(draft: Draft, { into, fields, rows, provided }: JoinedInsert): Parts<void> {
  const { dialect } = draft
  const tuples: (Sql | undefined)[][] = []
  for (const cells of rows) {
    yield
    const byField = new Map(cells.map((cell) => [cell.field, cell]))
    tuples.push(
      fields.map((field) => {
        const cell = byField.get(field)
        return cell && assignedValue(cell, dialect)
      }),
    )
  }
  const insertion: Insertion = {
    table: table(into.collection),
    key: into.collection.primaryKey,
    fields,
    rows: tuples,
    provided: provided && dialect.slots.isFilled(provided.number),
    kept: keptFields(into.collection),
  }
  add(draft, dialect.slots.keepInserted(into.number, insertion))
}

function addStep(draft: Draft, step: Exclude<JoinedStep, JoinedInsert>, selection: Selection): void {
  const { dialect } = draft
  const { slots } = dialect
  const scope = rootScope(dialect)
  switch (step.kind) {
    case 'find': {
      const { into, assertion, provided } = step
      const from = sql` from ${table(into.collection)} ${ident(scope.alias)} where ${matching(step, scope)}`
      const columns = keptColumns(keptFields(into.collection), scope)
      add(draft, slots.keep(into.number, { columns, from, lock: step.lock }))
      if (assertion === undefined) return
      const isFound = step.count === 1 ? slots.isFilled(into.number) : hasRows(into, step.count, dialect)
      const condition = provided === undefined ? isFound : sql`(${isFound} or not (${slots.isFilled(provided.number)}))`
      add(draft, [slots.assertion(condition, assertionMarker(assertion))])
      return
    }
    case 'check': {
      const { collection, number } = step.slot
      const rows = keptRows(number, collection, { fields: collection.primaryKey, scope })
      const offender = sql`select 1${rows} where (${predicate(step.where, scope)}) is not true`
      add(draft, [slots.assertion(sql`not exists (${offender})`, assertionMarker(step.assertion))])
      return
    }
    case 'refer':
      add(draft, [
        slots.assertion(sql`not exists (${missingReferences(step, scope)})`, assertionMarker(step.assertion)),
      ])
      return
    case 'update': {
      const { collection, number } = step.slot
      add(draft, [dialect.update(keptTargets(collection, number, scope), settingsOf(step.cells, dialect))])
      const fields = keptFields(collection)
      const moved = step.cells.filter(({ field }) => fields.includes(field))
      if (moved.length === 0) return
      const from = keptRows(number, collection, { fields, scope, changed: moved })
      add(draft, slots.keep(number, { columns: keptColumns(fields, scope), from: sql`${from} order by k.n` }))
      return
    }
    case 'delete':
      add(draft, [dialect.delete(keptTargets(step.slot.collection, step.slot.number, scope))])
      return
    case 'answer': {
      const { collection, number: slot } = step.slot
      addAnswer(draft, readBack(draft, { collection, slot, selection }))
      return
    }
  }
}

function hasRows({ number, collection }: Slot, count: number, dialect: Dialect): Sql {
  return sql`(select count(*) from ${keptTable(number, keptFields(collection), dialect)}) = ${integer(count)}`
}

/** The rows of the slot whose reference would not exist. */
function missingReferences({ slot, relation, cells, where }: Extract<Step, { kind: 'refer' }>, scope: Scope): Sql {
  const inner = scope.next()
  const newValue = (field: PrimitiveField) => {
    const cell = cells.find((one) => one.field === field)
    return cell && cellValue(cell, scope.dialect)
  }
  const ownValue = (field: PrimitiveField) => keyColumn(field, scope)
  const same = relation.joins.flatMap(({ own }) => {
    const value = newValue(own)
    return value === undefined ? [] : [sql`${ownValue(own)} = ${value}`]
  })
  const kept = relation.joins.flatMap(({ own }) =>
    newValue(own) === undefined ? [sql`${ownValue(own)} is not null`] : [],
  )
  const targets = relation.joins.map(
    ({ own, other }) => sql`${keyColumn(other, inner)} = ${newValue(own) ?? ownValue(own)}`,
  )
  const found = sql`select 1 from ${table(relation.target)} ${ident(inner.alias)} where ${join([...targets, predicate(where, inner)], sql` and `)}`
  const conditions = [
    ...(same.length === 0 ? [] : [sql`(${join(same, sql` and `)}) is not true`]),
    ...kept,
    sql`not exists (${found})`,
  ]
  const rows = keptRows(slot.number, slot.collection, { fields: slot.collection.primaryKey, scope })
  return sql`select 1${rows} where ${join(conditions, sql` and `)}`
}

function matching({ matches, where }: Extract<Step, { kind: 'find' }>, scope: Scope): Sql {
  const conditions = matches.map((cell) => {
    const column = keyColumn(cell.field, scope)
    const isNull = cell.value.kind === 'text' && cell.value.text === null
    return isNull ? sql`${column} is null` : sql`${column} = ${cellValue(cell, scope.dialect)}`
  })
  const rest = where.kind === 'all' && conditions.length > 0 ? [] : [predicate(where, scope)]
  return join([...conditions, ...rest], sql` and `)
}

function assignedValue(cell: Cell, dialect: Dialect): Sql {
  const { field, value } = cell
  return value.kind === 'text' ? dialect.assigned(field, value.text) : cellValue(cell, dialect)
}

function cellValue({ field, value }: Cell, { typed, slots }: Dialect): Sql {
  if (value.kind === 'text') return typed(field, value.text)
  return slots.value(value.slot.number, keptFields(value.slot.collection).indexOf(value.field), field)
}
