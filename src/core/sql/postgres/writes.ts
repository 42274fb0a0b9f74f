/** Statements that change rows. */
import type { DirectWrite, RowQuery, Setting, Targets } from '../dialect.ts'
import { insert } from '../insert.ts'
import { empty, ident, join, type Sql, sql } from '../statement.ts'
import { writtenList } from './rows.ts'

export const allDefaults = sql`default values`

export function update({ table, alias, among, where }: Targets, settings: readonly Setting[]): Sql {
  const sets = join(settings.map(({ column, value }) => sql`${ident(column)} = ${value}`))
  const from = among === undefined ? empty : sql` from ${among}`
  return sql`update ${table} ${ident(alias)} set ${sets}${from} where ${where}`
}

export function remove({ table, alias, among, where }: Targets): Sql {
  return sql`delete from ${table} ${ident(alias)}${among === undefined ? empty : sql` using ${among}`} where ${where}`
}

/** Returns the columns that are rendered; a constant where none is. `list` makes the answer of the written rows. */
export function written(
  write: DirectWrite,
  rendered: (from: Sql, alias: string) => RowQuery,
  list: (rows: RowQuery) => Sql = writtenList,
): Sql {
  const alias = 't0'
  const rows = ident(alias)
  const query = rendered(sql` from ${rows}`, alias)
  const columns = query.row.columns.map((name) => (write.kind === 'insert' ? ident(name) : ident(alias, name)))
  const returned = columns.length === 0 ? sql`1` : join(columns)
  return sql`with ${rows} as (${directly(write, alias)} returning ${returned}) ${list(query)}`
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
