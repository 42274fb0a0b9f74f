/** Kept rows, as settings that end with the transaction. */
import type { Cut } from '../../plan/plan.ts'
import { insert } from '../insert.ts'
import { empty, ident, integer, join, literal, type Sql, sql } from '../statement.ts'
import { sessionSlots } from '../write/session-slots.ts'
import { failing } from './rows.ts'
import { ownType } from './values.ts'
import { allDefaults } from './writes.ts'

export const postgresSlots = sessionSlots({
  keep: (slot, { columns, from, cut, lock }) => {
    const kept = join(columns.map(({ value }, position) => sql`${value}::text as ${columnName(position)}`))
    // A referring row locks its target with `key share`, which conflicts only with deletion and key changes.
    const held = lock === 'reference' ? sql`for key share` : sql`for no key update`
    return [keepRows(slot, sql`select ${kept}${from}${cut === undefined ? empty : cutTo(cut)} ${held}`)]
  },
  keepInserted: (slot, insertion) => {
    const kept = join(
      insertion.kept.map(({ dbName }, position) => sql`${ident(dbName)}::text as ${columnName(position)}`),
    )
    const inserted = insert(insertion, { allDefaults })
    const hidden = insertion.kept.some(({ dbName }) => dbName === 'tableoid') ? sql`, tableoid` : empty
    return [sql`with i as (${inserted} returning *${hidden}) ${keepRows(slot, sql`select ${kept} from i`)}`]
  },
  value: (slot, { row, position }, shape) =>
    sql`(${slotText(slot)}::json -> ${integer(row)} ->> ${literal(`c${position}`)})::${ownType(shape)}`,
  isEmpty: (slot) => sql`${slotText(slot)} = '[]'`,
  isFilled: (slot) => sql`${slotText(slot)} <> '[]'`,
  table: (slot, shapes) => {
    const columns = shapes.map(
      (shape, position) => sql`(e ->> ${literal(`c${position}`)})::${ownType(shape)} as ${columnName(position)}`,
    )
    return sql`(select ${join([...columns, sql`n`])} from json_array_elements(${slotText(slot)}::json) with ordinality x(e, n))`
  },
  assertion: (condition, marker) => sql`select case when ${condition} then 1
      else ${failing(marker)} end`,
})

function cutTo({ limit, offset }: Cut): Sql {
  return sql` limit ${integer(limit)} offset ${integer(offset)}`
}

/** Slots are settings that end with the transaction. */
function slotText(slot: number): Sql {
  return sql`current_setting(${slotName(slot)})`
}

function slotName(slot: number): Sql {
  return literal(`service.slot${slot}`)
}

function columnName(position: number): Sql {
  return ident(`c${position}`)
}

function keepRows(slot: number, rows: Sql): Sql {
  return sql`select set_config(${slotName(slot)}, coalesce((select json_agg(r)::text from (${rows}) r), '[]'), true)`
}
