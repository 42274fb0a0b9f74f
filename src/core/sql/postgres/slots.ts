/** Slots of PostgreSQL: settings that end with the transaction. */
import type { ColumnShape } from '../../model/model.ts'
import type { Cut } from '../../plan/plan.ts'
import { insert } from '../insert.ts'
import { empty, ident, integer, join, literal, type Sql, sql } from '../statement.ts'
import type { Slots } from '../write/slots.ts'
import { failing } from './rows.ts'
import { ownType } from './values.ts'
import { allDefaults } from './writes.ts'

export const postgresSlots: Slots = {
  keep: (slot, { columns, from, cut, lock }) => {
    const kept = join(columns.map(({ value }, position) => sql`${value}::text as ${columnName(position)}`))
    // A referring row locks its target with `key share`, which conflicts only with deletion and key changes.
    const held = lock === 'reference' ? sql`for key share` : sql`for no key update`
    const limited = cut === undefined ? empty : cutTo(cut)
    return from.map((part) => keepRows(slot, sql`select ${kept}${part}${limited} ${held}`))
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
  isFilled,

  found(slot, { count, provided, absent, marker }) {
    const conditions = [
      count === 1 ? isFilled(slot) : sql`${counted(slot)} = ${integer(count)}`,
      ...(provided === undefined ? [] : [sql`not (${isFilled(provided)})`]),
      ...(absent === undefined ? [] : [isFilled(absent)]),
    ]
    return [assertion(sql`(${join(conditions, sql` or `)})`, marker)]
  },

  bounded: (slot, most, marker) => [assertion(sql`${counted(slot)} <= ${integer(most)}`, marker)],

  rows(slot, { table, alias, key, isPrimary }) {
    const own = /^k$/i.test(alias) ? sql`k0` : sql`k`
    const shapes = key.map(({ shape }) => shape)
    const among = sql`${keptTable(slot, shapes)} ${own}`
    const matches = key.map(
      ({ column, value }, position) => sql`${column} = ${value ?? sql`${own}.${columnName(position)}`}`,
    )
    const where = join(matches, sql` and `)
    const from = (condition: Sql | undefined) =>
      sql` from ${among} join ${table} ${ident(alias)} on ${where}${condition === undefined ? empty : sql` where ${condition}`}`
    // If several rows share a key, each is checked, and every key must have a row.
    const fails = (condition: Sql, lock: Sql) =>
      sql`(select count(distinct x.n) < ${counted(slot)} or coalesce(sum(x.f), 0) > 0 from (select ${own}.n, case when ${condition} then 0 else 1 end as f${from(undefined)}${lock}) x)`
    return [{ targets: { table, alias, among, where, isByPrimaryKey: isPrimary }, from, fails, order: sql`${own}.n` }]
  },

  assertion,
  share: empty,
}

function assertion(condition: Sql, marker: string): Sql {
  return sql`select case when ${condition} then 1
      else ${failing(marker)} end`
}

function isFilled(slot: number): Sql {
  return sql`${slotText(slot)} <> '[]'`
}

function counted(slot: number): Sql {
  return sql`(select count(*) from ${keptTable(slot, [])} k)`
}

/** All kept rows as a table with the columns `c0`, `c1`, … and `n`, their position. */
function keptTable(slot: number, shapes: readonly ColumnShape[]): Sql {
  const columns = shapes.map(
    (shape, position) => sql`(e ->> ${literal(`c${position}`)})::${ownType(shape)} as ${columnName(position)}`,
  )
  return sql`(select ${join([...columns, sql`n`])} from json_array_elements(${slotText(slot)}::json) with ordinality x(e, n))`
}

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
