/** Slots that the session of a database keeps: what every such database makes of the expressions of its own. */
import type { ColumnShape } from '../../model/model.ts'
import type { Slots } from '../dialect.ts'
import { empty, ident, integer, join, type Sql, sql } from '../statement.ts'

export type SessionSlots = Pick<Slots, 'keepInserted' | 'value' | 'isFilled' | 'isEmpty' | 'assertion'> & {
  readonly keep: (
    slot: number,
    rows: Omit<Parameters<Slots['keep']>[1], 'from'> & { readonly from: Sql },
  ) => readonly Sql[]
  /** All kept rows as a table with the columns `c0`, `c1`, … and `n`, their position. */
  readonly table: (slot: number, shapes: readonly ColumnShape[]) => Sql
}

export function sessionSlots({ keep, table: keptTable, ...slots }: SessionSlots): Slots {
  const counted = (slot: number) => sql`(select count(*) from ${keptTable(slot, [])} k)`
  return {
    ...slots,
    keep: (slot, { from, ...rows }) => from.flatMap((part) => keep(slot, { ...rows, from: part })),

    found(slot, { count, provided, absent, marker }) {
      const isFound = count === 1 ? slots.isFilled(slot) : sql`${counted(slot)} = ${integer(count)}`
      const conditions = [
        isFound,
        ...(provided === undefined ? [] : [sql`not (${slots.isFilled(provided)})`]),
        ...(absent === undefined ? [] : [slots.isFilled(absent)]),
      ]
      return [slots.assertion(sql`(${join(conditions, sql` or `)})`, marker)]
    },

    bounded: (slot, most, marker) => [slots.assertion(sql`${counted(slot)} <= ${integer(most)}`, marker)],

    rows(slot, { table, alias, key, isPrimary }) {
      const own = /^k$/i.test(alias) ? sql`k0` : sql`k`
      const among = sql`${keptTable(
        slot,
        key.map(({ shape }) => shape),
      )} ${own}`
      const matches = key.map(
        ({ column, value }, position) => sql`${column} = ${value ?? sql`${own}.${ident(`c${position}`)}`}`,
      )
      const where = join(matches, sql` and `)
      const from = (condition: Sql | undefined) =>
        sql` from ${among} join ${table} ${ident(alias)} on ${where}${condition === undefined ? empty : sql` where ${condition}`}`
      // Of a key that rows share each is looked at, and of each key there is one.
      const fails = (condition: Sql, lock: Sql) =>
        sql`(select count(distinct x.n) < ${counted(slot)} or coalesce(sum(x.f), 0) > 0 from (select ${own}.n, case when ${condition} then 0 else 1 end as f${from(undefined)}${lock}) x)`
      return [{ targets: { table, alias, among, where, isByPrimaryKey: isPrimary }, from, fails, order: sql`${own}.n` }]
    },

    share: empty,
  }
}
