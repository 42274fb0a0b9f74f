/** The statements of a write, created one after the other, and the values of its cells in them. */
import { keptFields } from '../../plan/cells.ts'
import type { Cell } from '../../plan/plan.ts'
import type { Dialect, Setting } from '../dialect.ts'
import { type Sql, sql } from '../statement.ts'

export type Line = { readonly sql: Sql; readonly isAnswer: boolean }

/** The statements in order, with pauses between long calculations. */
export type Lines = Generator<Line | undefined, void>

export function* run(statements: Iterable<Sql>): Lines {
  for (const sql of statements) yield { sql, isAnswer: false }
}

export function* answer(statements: Iterable<Sql>): Lines {
  for (const sql of statements) yield { sql, isAnswer: true }
}

/** The last statement is the answer. */
export function* requiredLines(statements: readonly Sql[]): Lines {
  yield* run(statements.slice(0, -1))
  yield* answer(statements.slice(-1))
}

export function settingsOf(cells: readonly Cell[], dialect: Dialect): readonly Setting[] {
  return cells.map((cell) => ({ column: cell.field.dbName, value: assignedValue(cell, dialect) }))
}

export function assignedValue(cell: Cell, dialect: Dialect): Sql {
  const { field, value } = cell
  return value.kind === 'text' ? dialect.assigned(field, value.text) : cellValue(cell, dialect)
}

export function cellValue({ field, value }: Cell, { typed, slots }: Dialect): Sql {
  if (value.kind === 'text') return typed(field, value.text)
  const { slot, row = 0, or } = value
  const position = keptFields(slot.collection).indexOf(value.field)
  const own = slots.value(slot.number, { row, position }, field)
  return or === undefined ? own : sql`coalesce(${own}, ${slots.value(or.number, { row, position }, field)})`
}
