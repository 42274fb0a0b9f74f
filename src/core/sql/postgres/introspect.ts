/**
 * Reads the catalog of PostgreSQL 14 and later. Partitions count as part of their table, which has the foreign keys that
 * all of its partitions have; objects of extensions are left out, and a domain is treated as its base type. What the
 * types of fields lack is a text, an enum one as long as its longest value, or JSON; the model keeps its own type beside
 * that.
 */
import type { FieldType } from '../../model/field-type.ts'
import type { NativeType, ReferentialAction } from '../../model/model.ts'
import type { Rows } from '../dialect.ts'
import {
  assembleSchema,
  type CatalogNames,
  type CatalogRow,
  type Introspection,
  type IntrospectionScope,
  NOT_PERMITTED,
  typesByCatalogName,
} from '../introspect.ts'
import type { SourceColumn } from '../source-schema.ts'
import { compile, literal, param, type Sql, sql } from '../statement.ts'
import { postgres } from './dialect.ts'
import { postgresIdentities } from './identities.ts'

export const postgresIntrospection: Introspection = {
  statement: (scope) => compile(catalog(scope), postgres),
  parse,
  identities: postgresIdentities,
}

function catalog(scope: IntrospectionScope): Sql {
  return sql`
with recursive schema_ as (
  select n.oid, n.nspname, pg_catalog.has_schema_privilege(n.oid, 'usage') as is_usable
  from pg_catalog.pg_namespace n where ${inScope(scope)}
), candidate as (
  select c.oid, c.relkind, c.relname, s.nspname, case
      when not s.is_usable or not pg_catalog.has_any_column_privilege(c.oid, 'select') then ${denied}
      when exists (
        select from pg_catalog.pg_depend d
        where d.classid = 'pg_catalog.pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
        then 'belongs to an extension'
    end as reason
  from pg_catalog.pg_class c join schema_ s on s.oid = c.relnamespace
  where c.relkind in ('r', 'p', 'v', 'm', 'f') and not c.relispartition and c.relpersistence <> 't'
), relation as (
  select oid, relkind, relname, nspname from candidate where reason is null
), column_ as (
  select r.nspname, r.relname, r.relkind, pg_catalog.has_column_privilege(r.oid, a.attnum, 'select') as is_usable, a.*
  from relation r join pg_catalog.pg_attribute a on a.attrelid = r.oid
  where a.attnum > 0 and not a.attisdropped
), attribute as (
  select * from column_ where is_usable
), used (oid) as (
  select atttypid from attribute
  union
  select x.oid from used u join pg_catalog.pg_type t on t.oid = u.oid
  cross join lateral (values (t.typbasetype), (t.typelem)) x (oid) where x.oid <> 0
), partition_key as (
  select r.oid, r.nspname, r.relname, l.relid, f.confrelid, f.confdeltype, f.confupdtype,
    k.own, k.other, count(*) over (partition by r.oid, l.relid, k.own) as targets
  from relation r cross join lateral pg_catalog.pg_partition_tree(r.oid) l
  join pg_catalog.pg_constraint f on f.conrelid = l.relid and f.contype = 'f'
  join pg_catalog.pg_class t on t.oid = f.confrelid and not t.relispartition
  cross join lateral (
    select array_agg(a.attname::text order by x.position) as own, array_agg(ta.attname::text order by x.position) as other
    from unnest(f.conkey, f.confkey) with ordinality x (own, other, position)
    join pg_catalog.pg_attribute a on a.attrelid = f.conrelid and a.attnum = x.own
    join pg_catalog.pg_attribute ta on ta.attrelid = f.confrelid and ta.attnum = x.other) k
  where r.relkind = 'p' and (l.isleaf or l.relid = r.oid)
), key_of_partitions as (
  select p.nspname, p.relname, p.confrelid, p.own, p.other, min(p.confdeltype::text) as on_delete,
    min(p.confupdtype::text) as on_update, max(p.targets) > 1 as is_ambiguous
  from partition_key p group by p.oid, p.nspname, p.relname, p.confrelid, p.own, p.other
  having not bool_or(p.relid = p.oid) and count(distinct p.relid) = (
    select count(*) from pg_catalog.pg_partition_tree(p.oid) l where l.isleaf)
)
select json_build_object('kind', 'database', 'schema', current_schema())::text
union all
select json_build_object('kind', 'namespace', 'schema', nspname)::text from schema_ where is_usable
union all
select json_build_object('kind', 'skipped', 'schema', nspname, 'table', relname, 'column', null, 'reason', reason)::text
  from candidate where reason is not null
union all
select json_build_object('kind', 'skipped', 'schema', nspname, 'table', relname, 'column', attname, 'reason', ${denied})::text
  from column_ where not is_usable
union all
select json_build_object('kind', 'type', 'oid', t.oid::text, 'name', t.typname, 'form', t.typtype,
    'schema', n.nspname, 'base', t.typbasetype::text, 'mod', t.typtypmod,
    'element', case when e.typarray = t.oid then e.oid::text end,
    'isNotNull', t.typnotnull, 'hasDefault', t.typdefault is not null,
    'values', (select json_agg(v.enumlabel order by v.enumsortorder) from pg_catalog.pg_enum v where v.enumtypid = t.oid),
    'isOrdered', exists (
      select from pg_catalog.pg_opclass o where o.opcmethod = 403 and o.opcdefault and o.opcintype in (t.oid,
        case t.typtype when 'e' then 3500 when 'r' then 3831 when 'm' then 4537 when 'c' then 2249 else t.oid end,
        (select c.casttarget from pg_catalog.pg_cast c
          where c.castsource = t.oid and c.castmethod = 'b' and c.castcontext = 'i' order by 1 limit 1))),
    'isJson', exists (
      select from pg_catalog.pg_cast c where c.castsource = t.oid and c.casttarget = 'pg_catalog.json'::regtype))::text
  from used u join pg_catalog.pg_type t on t.oid = u.oid
  join pg_catalog.pg_namespace n on n.oid = t.typnamespace
  left join pg_catalog.pg_type e on e.oid = t.typelem
union all
select json_build_object('kind', 'table', 'schema', r.nspname, 'table', r.relname, 'id', r.oid::text, 'isReadOnly',
    case r.relkind
      when 'v' then pg_catalog.pg_relation_is_updatable(r.oid, true) & 28 <> 28 or exists (
        select from pg_catalog.pg_rewrite w where w.ev_class = r.oid and w.ev_type <> '1')
      when 'm' then true
      when 'f' then pg_catalog.pg_relation_is_updatable(r.oid, true) & 28 <> 28
      else false
    end)::text
  from relation r
union all
select json_build_object('kind', 'column', 'schema', a.nspname, 'table', a.relname, 'position', a.attnum,
    'name', a.attname, 'type', a.atttypid::text, 'mod', a.atttypmod, 'isNotNull', a.attnotnull,
    'isNondeterministic', not coalesce(l.collisdeterministic, true),
    'identity', a.attidentity, 'isGenerated', a.attgenerated <> ''
      or a.relkind = 'v' and not pg_catalog.pg_column_is_updatable(a.attrelid, a.attnum, true),
    'default', pg_catalog.pg_get_expr(d.adbin, d.adrelid))::text
  from attribute a left join pg_catalog.pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
  left join pg_catalog.pg_collation l on l.oid = a.attcollation
union all
select json_build_object('kind', 'index', 'schema', r.nspname, 'table', r.relname, 'name', i.relname,
    'index', case when x.indisprimary then 'primary' when x.indisunique then 'unique' else 'normal' end,
    'position', k.position, 'column', ${nameOf(sql`r.oid`, sql`nullif(k.attnum, 0)`)})::text
  from relation r join pg_catalog.pg_index x on x.indrelid = r.oid
  join pg_catalog.pg_class i on i.oid = x.indexrelid
  cross join lateral unnest(x.indkey::int2[]) with ordinality k (attnum, position)
  where x.indisvalid and x.indpred is null and not x.indisexclusion and k.position <= x.indnkeyatts
union all
select json_build_object('kind', 'foreignKey', 'schema', r.nspname, 'table', r.relname, 'name', f.conname,
    'position', k.position, 'column', ${nameOf(sql`r.oid`, sql`k.own`)}, 'onDelete', f.confdeltype, 'onUpdate', f.confupdtype,
    'references', json_build_object('schema', tn.nspname, 'table', t.relname, 'column', ${nameOf(sql`t.oid`, sql`k.other`)}))::text
  from relation r join pg_catalog.pg_constraint f on f.conrelid = r.oid
  join pg_catalog.pg_class t on t.oid = f.confrelid
  join pg_catalog.pg_namespace tn on tn.oid = t.relnamespace
  cross join lateral unnest(f.conkey, f.confkey) with ordinality k (own, other, position)
  where f.contype = 'f' and f.conparentid = 0
union all
select json_build_object('kind', 'foreignKey', 'schema', p.nspname, 'table', p.relname,
    'name', left(concat_ws('_', p.relname, array_to_string(p.own, '_'), case when p.is_ambiguous then t.relname end, 'fkey'), 63),
    'position', k.position, 'column', k.own, 'onDelete', p.on_delete, 'onUpdate', p.on_update,
    'references', json_build_object('schema', tn.nspname, 'table', t.relname, 'column', k.other))::text
  from key_of_partitions p
  join pg_catalog.pg_class t on t.oid = p.confrelid
  join pg_catalog.pg_namespace tn on tn.oid = t.relnamespace
  cross join lateral unnest(p.own, p.other) with ordinality k (own, other, position)`
}

/** Found by the index of the catalog, whatever the database knows of its size; a join is at times a hash of each table. */
function nameOf(table: Sql, position: Sql): Sql {
  return sql`(select n.attname from pg_catalog.pg_attribute n where n.attrelid = ${table} and n.attnum = ${position})`
}

const denied = literal(NOT_PERMITTED)

function inScope(scope: IntrospectionScope): Sql {
  if (scope.kind === 'schemas') {
    const names = param(JSON.stringify(scope.names))
    return sql`n.nspname in (select json_array_elements_text(${names}::json))`
  }
  return sql`n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
    and not exists (
      select from pg_catalog.pg_depend d
      where d.classid = 'pg_catalog.pg_namespace'::regclass and d.objid = n.oid and d.deptype = 'e')`
}

type TypeRow = {
  readonly kind: 'type'
  readonly oid: string
  readonly name: string
  /** `typtype`: b(ase), c(omposite), d(omain), e(num), … */
  readonly form: string
  readonly schema: string
  readonly base: string
  readonly mod: number
  readonly element: string | null
  readonly isNotNull: boolean
  readonly hasDefault: boolean
  /** Whether the database compares and orders its values. */
  readonly isOrdered: boolean
  /** Those of an enum, in its order; null where it has none. */
  readonly values: readonly string[] | null
  /** True if rows render it as an object. */
  readonly isJson: boolean
}

type ColumnRow = {
  readonly kind: 'column'
  readonly schema: string
  readonly table: string
  readonly position: number
  readonly name: string
  readonly type: string
  readonly mod: number
  readonly isNotNull: boolean
  readonly isNondeterministic: boolean
  readonly identity: string
  readonly isGenerated: boolean
  readonly default: string | null
}

type ForeignKeyRow = Extract<CatalogRow, { readonly kind: 'foreignKey' }>
type AnyRow = Exclude<CatalogRow, { readonly kind: 'column' | 'foreignKey' }> | TypeRow | ColumnRow | ForeignKeyRow

function parse(rows: Rows): ReturnType<Introspection['parse']> {
  const read = rows.map(([text]) => JSON.parse(text ?? '') as AnyRow)
  const types = new Map(read.flatMap((row) => (row.kind === 'type' ? [[row.oid, row] as const] : [])))
  return assembleSchema(
    read.flatMap((row): readonly CatalogRow[] => {
      if (row.kind === 'type') return []
      if (row.kind === 'column') return [{ ...row, column: columnOf(row, types) }]
      if (row.kind === 'foreignKey') {
        return [{ ...row, onDelete: actionOf(row.onDelete), onUpdate: actionOf(row.onUpdate) }]
      }
      return [row]
    }),
  )
}

const actions: Readonly<Record<string, ReferentialAction>> = {
  a: 'noAction',
  r: 'restrict',
  c: 'cascade',
  n: 'setNull',
  d: 'setDefault',
}

function actionOf(code: string): ReferentialAction {
  return actions[code] ?? 'noAction'
}

type Types = ReadonlyMap<string, TypeRow>

function columnOf(row: ColumnRow, types: Types): SourceColumn {
  const own = resolveDomain({ oid: row.type, mod: row.mod, isNotNull: row.isNotNull, hasDefault: false }, types)
  const elementOid = types.get(own.oid)?.element ?? null
  const element = elementOid === null ? own : resolveDomain({ ...own, oid: elementOid }, types)
  const elementType = types.get(element.oid)
  const isList = elementOid !== null
  const known = fieldTypeOf(elementType, element.mod, isList)
  // `=` of such a column takes different texts for equal, but that of citext is what its type is for.
  const isLoose = row.isNondeterministic && elementType?.name !== 'citext'
  const counts = row.identity !== '' || row.default?.startsWith('nextval(') === true
  const hasDefault = row.default !== null || own.hasDefault
  return {
    dbName: row.name,
    type: known.type,
    isNullable: !own.isNotNull,
    isList,
    isReadOnly: known.isReadOnly || row.isGenerated || row.identity === 'a',
    defaultKind:
      counts && own.isNotNull && !isList && /^int(16|32|64)$/.test(known.type.name)
        ? 'autoincrement'
        : (hasDefault || counts) && !row.isGenerated
          ? 'database'
          : 'none',
    isLoose,
    native: isLoose ? null : (known.native ?? null),
  }
}

type Typing = {
  readonly oid: string
  readonly mod: number
  readonly isNotNull: boolean
  readonly hasDefault: boolean
}

/** Resolves nested domains to their base type; type modifiers and `not null` apply on the way. */
function resolveDomain(typing: Typing, types: Types): Typing {
  const type = types.get(typing.oid)
  if (type?.form !== 'd') return typing
  const isNotNull = typing.isNotNull || type.isNotNull
  const hasDefault = typing.hasDefault || type.hasDefault
  return resolveDomain({ oid: type.base, mod: type.mod, isNotNull, hasDefault }, types)
}

type Known = { readonly type: FieldType; readonly isReadOnly: boolean; readonly native?: NativeType }

const unlimited: FieldType = { name: 'string', params: { length: 'unlimited' } }
const readOnlyText: Known = { type: unlimited, isReadOnly: true }

function fieldTypeOf(type: TypeRow | undefined, mod: number, isList: boolean): Known {
  if (type === undefined) return readOnlyText
  const { schema, name, form, values, isOrdered } = type
  const native = { schema, name, isOrdered }
  if (schema === 'pg_catalog') {
    const known = builtIn(name, mod)
    return known ?? (looksUp.test(name) ? readOnlyText : { type: unlimited, isReadOnly: false, native })
  }
  if (name === 'geometry') return { type: { name: 'geometry' }, isReadOnly: true }
  if (form === 'e' && values !== null) {
    const longest = Math.max(1, ...values.map((value) => [...value].length))
    return { type: text(longest), isReadOnly: false, native: { ...native, values } }
  }
  if (form !== 'c' && !type.isJson) return { type: unlimited, isReadOnly: false, native }
  const isObject = form === 'c' || name === 'hstore'
  return isList || !isObject
    ? { type: { name: 'json' }, isReadOnly: true }
    : { type: { name: 'json' }, isReadOnly: false, native }
}

/** The input functions of these types look names up, and fail for those that are not there. */
const looksUp = /^reg/

function text(length: number): FieldType {
  return { name: 'string', params: { length: 'fixed', value: length } }
}

const catalogNames: CatalogNames = {
  int8: [],
  int16: ['int2'],
  int32: ['int4'],
  int64: ['int8'],
  uint8: [],
  uint16: [],
  uint32: [],
  uint64: [],
  float32: ['float4'],
  float64: ['float8'],
  uuid: ['uuid'],
  boolean: ['bool'],
  date: ['date'],
  time: ['time'],
  dateTime: ['timestamp'],
  dateTimeWithTimezone: ['timestamptz'],
  json: ['json', 'jsonb'],
  bytes: ['bytea'],
  // Part of an extension, so not built in.
  geometry: [],
}

const plain = typesByCatalogName(catalogNames)

/** Undefined for what the types of fields lack. */
function builtIn(name: string, mod: number): Known | undefined {
  const plainName = plain.get(name)
  // Unlike `jsonb`, it keeps its text, and cannot be compared.
  if (name === 'json')
    return { type: { name }, isReadOnly: false, native: { schema: 'pg_catalog', name, isOrdered: false } }
  if (plainName !== undefined) return { type: { name: plainName }, isReadOnly: false }
  if (name === 'numeric') return decimal(mod)
  const type = mod < 0 ? unlimited : text(mod - HEADER)
  // Compared as what it is, a text with padding is found in its index.
  if (name === 'bpchar') return { type, isReadOnly: false, native: { schema: 'pg_catalog', name, isOrdered: true } }
  if (name === 'varchar') return { type, isReadOnly: false }
  return name === 'text' ? { type: unlimited, isReadOnly: false } : undefined
}

/** The constant that type modifiers include. */
const HEADER = 4

/** The model has no scale below zero or above the precision, and written values would be rounded. */
function decimal(mod: number): Known {
  if (mod < 0) return { type: { name: 'decimal', params: { kind: 'unconstrained' } }, isReadOnly: false }
  const precision = ((mod - HEADER) >> 16) & 0xffff
  const scale = (((mod - HEADER) & 0x7ff) ^ 1024) - 1024
  if (scale < 0 || scale > precision) {
    return { type: { name: 'decimal', params: { kind: 'unconstrained' } }, isReadOnly: true }
  }
  return { type: { name: 'decimal', params: { kind: 'constrained', precision, scale } }, isReadOnly: false }
}
