/** The statements for the steps of a program: rows that are found, checked, inserted, updated, deleted and answered. */
import type { Action } from '../../access/access.ts'
import type { PrimitiveField } from '../../model/model.ts'
import { keptFields } from '../../plan/cells.ts'
import type { Cell, Selection, Slot, Step, Unmet } from '../../plan/plan.ts'
import type { Dialect } from '../dialect.ts'
import type { JoinedInsert, JoinedStep } from '../joined-inserts.ts'
import { conjuncts, predicate } from '../read/predicate.ts'
import { keyColumn, type Scope, table } from '../read/scope.ts'
import { tagOf } from '../read.ts'
import { empty, ident, join, param, type Sql, sql } from '../statement.ts'
import { deleteKept, firstOf, inOrder, kept, keptColumns, lockedScope, readBack } from './kept-rows.ts'
import { answer, assignedValue, cellValue, type Lines, run, settingsOf } from './lines.ts'
import type { Insertion, KeptRows } from './slots.ts'

/** The marker in the error message of a transaction that fails `assertion`. MySQL shows 64 characters of it. */
export function assertionMarker(assertion: Unmet['assertion'], ...details: readonly (string | number)[]): string {
  return `service:${[assertion, ...details].join(':')}${details.length === 0 ? '' : ':'}`
}

/** Returns the assertion that a transaction with this error message has failed. */
export function failedAssertion(message: string): Unmet | undefined {
  const assertion = assertions.find((one) => message.includes(assertionMarker(one)))
  if (assertion === undefined) return undefined
  const [, first, second] = /service:\w+:([^:]+):(?:([^:]+):)?/.exec(message) ?? []
  if (assertion === 'differs') return { assertion, number: Number(first) }
  if (assertion === 'tooMany') return { assertion, most: Number(first) }
  if (assertion === 'outOfRange') return { assertion, fieldId: first ?? '' }
  // An item of a sent list has its index, a requirement of a row its action and collection.
  if (assertion === 'noRecord' && first !== undefined && second === undefined) {
    return { assertion, index: Number(first) }
  }
  const refused = second === undefined ? undefined : { action: first as Action, collectionId: second }
  return { assertion, refused }
}

const assertions: readonly Unmet['assertion'][] = [
  'noRecord',
  'noReference',
  'noValue',
  'forbidden',
  'left',
  'invalid',
  'tooMany',
  'outOfRange',
  'changed',
  'lost',
  'differs',
]

export function* inserted({ into, fields, rows, provided, absent, unless }: JoinedInsert, dialect: Dialect): Lines {
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
    key: into.collection.identity,
    fields,
    rows: tuples,
    provided: absent ? dialect.slots.isEmpty(absent.number) : provided && dialect.slots.isFilled(provided.number),
    unless,
    kept: keptFields(into.collection),
  }
  yield* run(dialect.slots.keepInserted(into.number, insertion))
}

export function* linesOfStep(step: Exclude<JoinedStep, JoinedInsert>, selection: Selection, dialect: Dialect): Lines {
  const { slots } = dialect
  const scope = lockedScope(dialect)
  switch (step.kind) {
    case 'find': {
      const { into, assertion, provided, absent, count, most, index } = step
      const isOne = assertion !== undefined && count === 1
      const sorted = isOne ? firstOf(into.collection, scope) : inOrder(step.order, scope)
      // Rows to change are locked only if the row that they would be linked to exists.
      const ifProvided = provided && step.lock === 'change' ? sql` and ${slots.isFilled(provided.number)}` : empty
      const where = sql`${matching(step, scope)}${ifProvided}`
      const from = sql` from ${table(into.collection)} ${ident(scope.alias)} where ${where}${sorted}`
      const columns = keptColumns(keptFields(into.collection), scope)
      const cut = most === undefined ? step.cut : { limit: most + 1, offset: 0 }
      yield* run(slots.keep(into.number, { columns, from: [from], cut, lock: step.lock }))
      if (most !== undefined) yield* run(slots.bounded(into.number, most, assertionMarker('tooMany', most)))
      if (assertion === undefined) return
      const marker = assertionMarker(assertion, ...(index === undefined ? [] : [index]))
      yield* run(slots.found(into.number, { count, provided: provided?.number, absent: absent?.number, marker }))
      return
    }
    case 'check': {
      const { collection, number } = step.slot
      const refused = step.assertion === 'invalid' ? [] : [step.action, collection.id]
      const marker = assertionMarker(step.assertion, ...refused)
      for (const rows of kept(collection, number, scope)) {
        yield* run([every(rows, predicate(step.where, scope), { marker, scope })])
      }
      return
    }
    case 'part':
      yield* keepAmong(step.slot, { into: step.into, where: predicate(step.where, scope) }, scope)
      return
    case 'agree': {
      const { collection, number } = step.slot
      const differs = step.cells.map(
        (cell) => sql`(${keyColumn(cell.field, scope)} = ${cellValue(cell, dialect)}) is not true`,
      )
      const rest = step.where.kind === 'none' ? [] : [sql`(${predicate(step.where, scope)}) is not true`]
      const ifProvided = step.provided === undefined ? [] : [slots.isFilled(step.provided.number)]
      const offends = join([sql`(${join(differs, sql` or `)})`, ...rest, ...ifProvided], sql` and `)
      const marker = assertionMarker('differs', step.number)
      for (const { from } of kept(collection, number, scope)) yield* run([none(from(offends), marker, scope)])
      return
    }
    case 'range': {
      const { collection, number } = step.slot
      const offends = sql`(${predicate(step.where, scope)}) is not true`
      const marker = assertionMarker('outOfRange', step.field.id)
      for (const { from } of kept(collection, number, scope)) yield* run([none(from(offends), marker, scope)])
      return
    }
    case 'match': {
      const { collection, number } = step.slot
      const tags = step.tags.map((tag) => param(tag))
      const has = step.forms.map((form) => sql`${tagOf(form, scope)} in (${join(tags)})`)
      const offends = tags.length === 0 ? sql`1 = 1` : sql`(${join(has, sql` or `)}) is not true`
      for (const { from } of kept(collection, number, scope)) {
        yield* run([none(from(offends), assertionMarker('changed'), scope)])
      }
      return
    }
    case 'refer':
      for (const rows of kept(step.slot.collection, step.slot.number, scope)) {
        const marker = assertionMarker(step.assertion)
        yield* run([every(rows, sql`not (${isWithoutTarget(step, scope)})`, { marker, scope })])
      }
      return
    case 'update': {
      const { collection, number } = step.slot
      const altered = step.alterations.map((one) => {
        const marker = assertionMarker('outOfRange', one.field.id)
        const value = dialect.altered(ident(scope.alias, one.field.dbName), one, marker)
        return { column: one.field.dbName, value }
      })
      const settings = [...settingsOf(step.cells, dialect), ...altered]
      yield* run(kept(collection, number, scope).map((rows) => dialect.update(rows.targets, settings)))
      const fields = keptFields(collection)
      const moved = step.cells.filter(({ field }) => fields.includes(field))
      if (moved.length === 0) return
      // If the database has stored a key differently, the slot's new keys match nothing, and the checks that follow would pass.
      const isOther = moved.some(({ field }) => collection.identity.includes(field))
      for (const rows of isOther ? kept(collection, number, scope, moved) : []) {
        yield* run([every(rows, sql`1 = 1`, { marker: assertionMarker('lost'), scope })])
      }
      for (const one of [step.slot, ...step.parts]) yield* keepAmong(one, { into: one, moved }, scope)
      return
    }
    case 'delete': {
      const { collection, number } = step.slot
      yield* run(deleteKept(collection, number, dialect))
      return
    }
    case 'require':
      yield* run(
        slots.found(step.slot.number, {
          count: 1,
          provided: undefined,
          absent: undefined,
          marker: assertionMarker(step.assertion),
        }),
      )
      return
    case 'answer': {
      for (const { collection, number: slot } of step.or ? [step.slot, step.or] : [step.slot]) {
        yield* answerWritten(dialect, { collection, slot, selection })
      }
      return
    }
  }
}

/**
 * The items whose keys are kept in `slot`. Fails if one is missing: a key may have been stored differently than `changed`, and
 * a view may no longer show an item.
 */
export function* answerWritten(dialect: Dialect, what: Parameters<typeof readBack>[1]): Lines {
  const { collection, slot, changed = [] } = what
  const isMoved = changed.some(({ field }) => collection.identity.includes(field))
  const scope = lockedScope(dialect)
  for (const rows of isMoved || collection.isView ? kept(collection, slot, scope, changed) : []) {
    yield* run([every(rows, sql`1 = 1`, { marker: assertionMarker('lost'), scope })])
  }
  yield* answer(readBack(dialect, what))
}

/** Copies the rows of a slot, in order, to another slot: those that meet `where`, with the keys that `moved` has given them. */
function* keepAmong(
  { collection, number }: Slot,
  { into, where, moved }: { readonly into: Slot; readonly where?: Sql; readonly moved?: readonly Cell[] },
  scope: Scope,
): Lines {
  const from = kept(collection, number, scope, moved).map(
    (rows) => sql`${rows.from(where)}${rows.order === undefined ? empty : sql` order by ${rows.order}`}`,
  )
  const columns = keptColumns(keptFields(collection), scope)
  yield* run(scope.dialect.slots.keep(into.number, { columns, from }))
}

/** Fails unless each of the rows exists and meets the condition. */
function every(
  rows: KeptRows,
  condition: Sql,
  { marker, scope: { dialect, lock } }: { readonly marker: string; readonly scope: Scope },
): Sql {
  return dialect.slots.assertion(sql`not ${rows.fails(condition, lock)}`, marker)
}

/** Fails if there is a row ` from …`. */
function none(from: Sql, marker: string, { dialect: { slots }, lock }: Scope): Sql {
  return slots.assertion(sql`not exists (select 1${from}${lock})`, marker)
}

/** The condition for rows that refer to no permitted row. */
function isWithoutTarget({ relation, cells, where, seen }: Extract<Step, { kind: 'refer' }>, scope: Scope): Sql {
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
  const given = relation.joins.flatMap(({ own }) =>
    newValue(own) === undefined ? [sql`${ownValue(own)} is not null`] : [],
  )
  const earlier = relation.joins.flatMap(({ own }) => {
    const isKept = cells.some(({ field, value }) => field === own && value.kind === 'kept' && value.field.isNullable)
    return isKept ? [sql`${newValue(own) ?? empty} is not null`] : []
  })
  const targets = relation.joins.map(
    ({ own, other }) => sql`${keyColumn(other, inner)} = ${newValue(own) ?? ownValue(own)}`,
  )
  const found = sql`select 1 from ${table(relation.target)} ${ident(inner.alias)} where ${join([...targets, predicate(where, inner)], sql` and `)}${inner.lock}`
  const conditions = [
    ...(same.length === 0 ? [] : [sql`(${join([...same, ...conjuncts(seen, scope)], sql` and `)}) is not true`]),
    ...given,
    ...earlier,
    sql`not exists (${found})`,
  ]
  return join(conditions, sql` and `)
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
