/** Reads the ids of a few tables and their columns; an introspection reads those of all. */
import { parseJson } from '../../exact-json.ts'
import type { Rows } from '../dialect.ts'
import type { Identities } from '../introspect.ts'
import { compile, param, sql } from '../statement.ts'
import { postgres } from './dialect.ts'

export const postgresIdentities: Identities = {
  cluster: { text: 'select system_identifier::text from pg_catalog.pg_control_system()', params: [] },
  here: { text: 'select current_schema()::text, current_database()::text', params: [] },
  elsewhere: (names, schema) =>
    compile(
      sql`
select distinct x.name from (
  select relname::text, relnamespace from pg_catalog.pg_class
  union all select typname::text, typnamespace from pg_catalog.pg_type) x (name, space)
join pg_catalog.pg_namespace n on n.oid = x.space
where x.name in (select value from json_array_elements_text(${param(JSON.stringify(names))}::json))
  and n.nspname !~ '^(pg_|information_schema$)'
  and n.nspname <> coalesce(${param(schema ?? null)}::text, current_schema())`,
      postgres,
    ),
  sequence: sequenceName,
  statement: (places) =>
    compile(
      sql`
select json_build_object('defaultNamespace', current_schema(), 'schema', n.nspname, 'dbName', c.relname, 'id', c.oid::text,
  'columns', (select json_agg(json_build_object('dbName', a.attname, 'id', a.attnum::text))
    from pg_catalog.pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped))::text
from json_to_recordset(${param(JSON.stringify(places))}::json) as x (schema text, "dbName" text)
join pg_catalog.pg_namespace n on n.nspname = coalesce(x.schema, current_schema())
join pg_catalog.pg_class c on c.relnamespace = n.oid and c.relname = x."dbName"`,
      postgres,
    ),
  parse,
}

/** The name that the server generates: it shortens the longer of the two names until all fits in 63 bytes. */
function sequenceName(table: string, column: string): string {
  const parts = [table, column]
  while (byteLength(parts.join('_')) + SUFFIX.length > MAX_BYTES) {
    const longer = byteLength(parts[0] ?? '') > byteLength(parts[1] ?? '') ? 0 : 1
    parts[longer] = [...(parts[longer] ?? '')].slice(0, -1).join('')
  }
  return parts.join('_') + SUFFIX
}

const SUFFIX = '_seq'
const MAX_BYTES = 63
const byteLength = (text: string) => new TextEncoder().encode(text).length

type Row = {
  readonly defaultNamespace: string | null
  readonly schema: string
  readonly dbName: string
  readonly id: string
  readonly columns: readonly { readonly dbName: string; readonly id: string }[] | null
}

function parse(rows: Rows): ReturnType<Identities['parse']> {
  const read = rows.map(([text]) => parseJson(text ?? '') as Row)
  const tables = read.map(({ schema, dbName, id, columns }) => {
    const all = columns ?? []
    return { schema, dbName, columns: all, identity: { id, columns: all.map((column) => column.id) } }
  })
  return { defaultNamespace: read[0]?.defaultNamespace ?? undefined, tables }
}
