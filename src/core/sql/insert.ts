/** Compiles an `insert into …`, the same for every dialect. */
import type { Dialect, Insertion } from './dialect.ts'
import { ident, join, type Sql, sql } from './statement.ts'

export function insert(
  { table, fields, rows, provided }: Insertion,
  { allDefaults }: Pick<Dialect, 'allDefaults'>,
): Sql {
  if (fields.length === 0) return sql`insert into ${table} ${allDefaults}`
  const columns = join(fields.map(({ dbName }) => ident(dbName)))
  const tuples = rows.map((row) => join(row.map((cell) => cell ?? sql`default`)))
  const [first] = tuples
  if (provided !== undefined && first !== undefined) {
    return sql`insert into ${table} (${columns}) select ${first} where ${provided}`
  }
  return sql`insert into ${table} (${columns}) values ${join(tuples.map((tuple) => sql`(${tuple})`))}`
}
