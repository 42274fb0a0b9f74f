/** Statements that change rows. */
import type { DirectWrite, Marker, Setting } from '../dialect.ts'
import { insert } from '../insert.ts'
import type { RowQuery } from '../read/row-query.ts'
import { empty, ident, join, param, type Sql, sql } from '../statement.ts'
import type { Targets } from '../write/slots.ts'
import { listOfOne, listOfRow, writtenList } from './rows.ts'

/** Passes the writer to triggers, which run after the statement; `withActor` does so within `returning`. */
export const actor = sql`set_config('service.actor', ${param({ kind: 'actor' })}, true)`
export const withActor = sql`, ${actor}`

export const allDefaults = sql`default values`

export function update({ table, alias, among, where }: Targets, settings: readonly Setting[]): Sql {
  const sets = join(settings.map(({ column, value }) => sql`${ident(column)} = ${value}`))
  const from = among === undefined ? empty : sql` from ${among}`
  return sql`update ${table} ${ident(alias)} set ${sets}${from} where ${where}`
}

export function remove({ table, alias, among, where }: Targets): Sql {
  return sql`delete from ${table} ${ident(alias)}${among === undefined ? empty : sql` using ${among}`} where ${where}`
}

/**
 * Returns the rendered columns, or a constant if there are none. `list` builds the answer from the written rows; `more` is
 * evaluated for each of them as well.
 */
export function written(
  write: DirectWrite,
  rendered: (from: Sql, alias: string) => RowQuery,
  { list = writtenList, more = empty }: { readonly list?: (rows: RowQuery) => Sql; readonly more?: Sql } = {},
): Sql {
  const alias = 't0'
  const rows = ident(alias)
  const query = rendered(sql` from ${rows}`, alias)
  const columns = query.row.columns.map((name) => (write.kind === 'insert' ? ident(name) : ident(alias, name)))
  const returned = columns.length === 0 ? sql`1` : join(columns)
  return sql`with ${rows} as (${directly(write, alias)} returning ${returned}${more}) ${list(query)}`
}

/** Like `written`, for at most one row, which is rendered in the `returning` list. */
export function writtenOne(
  write: DirectWrite,
  rendered: (from: Sql, alias: string) => RowQuery,
  marker: Marker | undefined,
  more = empty,
): Sql {
  const alias = 't0'
  const item = listOfRow(rendered(empty, alias).members)
  const text = sql`select a from ${ident(alias)}`
  return sql`with ${ident(alias)} as (${directlyReturning(write, alias, sql`${item} a${more}`)}) ${listOfOne(text, marker)}`
}

/** Like `written`, if the driver confirms the row before the transaction commits. */
export function confirmedWrite(write: DirectWrite, rendered: (from: Sql, alias: string) => RowQuery): Sql {
  const alias = 't0'
  return directlyReturning(write, alias, listOfRow(rendered(empty, alias).members))
}

/** A write whose table has the alias used in `returned`. */
export function directlyReturning(write: DirectWrite, alias: string, returned: Sql): Sql {
  return sql`${directly(named(write, alias), alias)} returning ${returned}`
}

function named(write: DirectWrite, alias: string): DirectWrite {
  if (write.kind !== 'insert') return write
  const { insertion } = write
  return { ...write, insertion: { ...insertion, table: sql`${insertion.table} as ${ident(alias)}` } }
}

/** True if at most one row is written: an insert of one row, or a write with a required key. */
export function isOfOne(write: DirectWrite, marker: Marker | undefined): boolean {
  if (write.kind !== 'insert') return marker !== undefined
  const { rows, source, unless } = write.insertion
  return rows.length === 1 && source === undefined && unless === undefined
}

function directly(write: DirectWrite, alias: string): Sql {
  switch (write.kind) {
    case 'insert':
      return insert(write.insertion, { allDefaults })
    case 'update':
      return update(write.targets(alias), write.settings)
    case 'delete':
      return remove(write.targets(alias))
  }
}
