/** Compiles an `insert into …`, the same for every dialect. */
import type { PrimitiveField } from '../model/model.ts'
import type { Dialect } from './dialect.ts'
import { ident, join, type Sql, sql } from './statement.ts'
import type { Insertion } from './write/slots.ts'

export function insert(
  { table, fields, rows, source, provided, unless }: Insertion,
  { allDefaults }: Pick<Dialect, 'allDefaults'>,
): Sql {
  if (fields.length === 0) return sql`insert into ${table} ${allDefaults}`
  const columns = join(fields.map(({ dbName }) => ident(dbName)))
  if (source !== undefined) return sql`insert into ${table} (${columns}) ${source}`
  const tuples = rows.map((row) => join(row.map((cell) => cell ?? sql`default`)))
  const [first] = tuples
  if (unless !== undefined) {
    const values = join(
      tuples.map((tuple) => sql`select ${tuple}`),
      sql` union all `,
    )
    const conditions = [
      ...(provided === undefined ? [] : [provided]),
      absent(table, { unless, nameOf: ({ dbName }) => ident(dbName) }),
    ]
    const named = sql`with v (${columns}) as (${values}) select ${columns} from v`
    return sql`insert into ${table} (${columns}) ${named} where ${join(conditions, sql` and `)}`
  }
  if (provided !== undefined && first !== undefined) {
    return sql`insert into ${table} (${columns}) select ${first} where ${provided}`
  }
  return sql`insert into ${table} (${columns}) values ${join(tuples.map((tuple) => sql`(${tuple})`))}`
}

/** True for a row of `v` that the table does not contain yet. */
export function absent(
  table: Sql,
  { unless, nameOf }: { readonly unless: readonly PrimitiveField[]; readonly nameOf: (field: PrimitiveField) => Sql },
): Sql {
  const same = unless.map((field) => sql`x.${ident(field.dbName)} = v.${nameOf(field)}`)
  return sql`not exists (select 1 from ${table} x where ${join(same, sql` and `)})`
}
