/** What a database says of its own tables, by its own catalog: nothing of the service is asked. */
import type { SqlDriver } from '../../../src/ports/database.ts'

export type Column = {
  readonly name: string
  /** As in a definition; of a domain its base. */
  readonly type: string
  readonly isNullable: boolean
  /** Written by the database alone. */
  readonly isGenerated: boolean
  readonly hasDefault: boolean
  /** Labels of an enum, and literals of check constraints and partitions: values that may be needed. */
  readonly hints: readonly string[]
}

export type ForeignKey = {
  readonly columns: readonly string[]
  readonly target: string
  readonly targetColumns: readonly string[]
}

export type Table = {
  /** `schema.table`. */
  readonly id: string
  readonly schema: string
  readonly name: string
  readonly isView: boolean
  readonly columns: readonly Column[]
  readonly foreignKeys: readonly ForeignKey[]
}

const postgresColumns = `
  select n.nspname, c.relname, c.relkind in ('v', 'm'), a.attname,
    format_type(coalesce(nullif(t.typbasetype, 0), a.atttypid), case when t.typbasetype = 0 then a.atttypmod else t.typtypmod end),
    not (a.attnotnull or t.typnotnull), a.attgenerated <> '', a.atthasdef or a.attidentity <> '',
    concat_ws(' ',
      (select string_agg(quote_literal(enumlabel), ' ') from pg_enum where enumtypid = coalesce(nullif(t.typbasetype, 0), t.oid)),
      (select string_agg(pg_get_constraintdef(k.oid), ' ') from pg_constraint k where k.contype = 'c' and (k.contypid = t.oid or k.conrelid = c.oid and a.attnum = any(k.conkey))),
      (select string_agg(pg_get_expr(p.relpartbound, p.oid), ' ') from pg_inherits i join pg_class p on p.oid = i.inhrelid
        join pg_partitioned_table r on r.partrelid = i.inhparent where i.inhparent = c.oid and a.attnum = any(r.partattrs::int2[])))
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  left join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  left join pg_type t on t.oid = a.atttypid
  where c.relkind in ('r', 'p', 'v', 'm') and not c.relispartition and n.nspname !~ '^(pg_|information_schema$)'
  order by n.nspname, c.relname, a.attnum`

/** A partitioned table has those of its partitions, too. */
const postgresKeys = `
  select n.nspname || '.' || c.relname, k.conname, o.nspname || '.' || f.relname, a.attname, b.attname
  from pg_constraint k cross join lateral unnest(k.conkey, k.confkey) with ordinality u (own, other, place)
  join pg_class p on p.oid = k.conrelid left join pg_inherits i on i.inhrelid = p.oid and p.relispartition
  join pg_class c on c.oid = coalesce(i.inhparent, p.oid) join pg_namespace n on n.oid = c.relnamespace
  join pg_class f on f.oid = k.confrelid join pg_namespace o on o.oid = f.relnamespace
  join pg_attribute a on a.attrelid = p.oid and a.attnum = u.own
  join pg_attribute b on b.attrelid = f.oid and b.attnum = u.other
  where k.contype = 'f' and k.conparentid = 0 and not c.relispartition
  order by 1, 2, u.place`

const mariadbColumns = `
  select t.table_schema, t.table_name, if(t.table_type like '%VIEW', 't', 'f'), c.column_name, c.column_type,
    if(c.is_nullable = 'YES', 't', 'f'), if(c.is_generated <> 'NEVER', 't', 'f'),
    if((c.column_default is not null and c.column_default <> 'NULL') or c.extra like '%auto_increment%', 't', 'f'),
    concat_ws(' ', if(c.column_type regexp '^(enum|set)', c.column_type, ''),
      (select group_concat(k.check_clause separator ' ') from information_schema.check_constraints k
        where k.constraint_schema = c.table_schema and k.table_name = c.table_name and k.check_clause regexp concat('[[:<:]]', c.column_name, '[[:>:]]')))
  from information_schema.tables t left join information_schema.columns c using (table_schema, table_name)
  where t.table_schema = database() and t.table_type <> 'SEQUENCE'
  order by t.table_name, c.ordinal_position`

const mariadbKeys = `
  select concat(table_schema, '.', table_name), constraint_name, concat(referenced_table_schema, '.', referenced_table_name), column_name, referenced_column_name
  from information_schema.key_column_usage
  where table_schema = database() and referenced_table_name is not null
  order by 1, 2, ordinal_position`

export const catalogs = {
  postgres: { columns: postgresColumns, keys: postgresKeys },
  mariadb: { columns: mariadbColumns, keys: mariadbKeys },
}

export async function readTables(
  driver: SqlDriver,
  { columns, keys }: (typeof catalogs)[keyof typeof catalogs],
): Promise<readonly Table[]> {
  const tables = new Map<string, Table & { columns: Column[]; foreignKeys: ForeignKey[] }>()
  for (const row of await driver.query({ text: columns, params: [] })) {
    const [schema, name, isView, column, type, isNullable, isGenerated, hasDefault, hints] = row.map(String)
    const id = `${schema}.${name}`
    const table = tables.get(id) ?? {
      ...{ id, schema: schema ?? '', name: name ?? '', isView: isTrue(isView) },
      ...{ columns: [], foreignKeys: [] },
    }
    tables.set(id, table)
    if (row[3] === null || column === undefined) continue
    table.columns.push({
      name: column,
      type: type ?? '',
      isNullable: isTrue(isNullable),
      isGenerated: isTrue(isGenerated),
      hasDefault: isTrue(hasDefault),
      hints: literalsOf(hints ?? ''),
    })
  }
  const byName = new Map<string, ForeignKey & { columns: string[]; targetColumns: string[] }>()
  for (const row of await driver.query({ text: keys, params: [] })) {
    const [id = '', name, target = '', own = '', other = ''] = row.map(String)
    const key = byName.get(`${id} ${name}`) ?? { columns: [], target, targetColumns: [] }
    if (key.columns.length === 0) tables.get(id)?.foreignKeys.push(key)
    byName.set(`${id} ${name}`, key)
    key.columns.push(own)
    key.targetColumns.push(other)
  }
  return [...tables.values()]
}

function isTrue(text: string | undefined): boolean {
  return text === 't' || text === 'true' || text === '1'
}

function literalsOf(text: string): readonly string[] {
  const quoted = [...text.matchAll(/'((?:[^'\\]|''|\\.)*)'/g)].map(([, one = '']) => one.replaceAll("''", "'"))
  const numbers = [...text.replace(/'(?:[^'\\]|''|\\.)*'/g, '').matchAll(/-?\b\d+(?:\.\d+)?\b/g)].map(([one]) => one)
  return [...new Set([...quoted, ...numbers])]
}
