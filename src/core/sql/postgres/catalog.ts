/**
 * The statement that reads the catalog, and its rows, each a JSON text. Partitions count as part of their table, which has the
 * foreign keys that all of its partitions have; objects of extensions are omitted.
 */
import { HISTORY_TRIGGER } from '../history/recorded.ts'
import { type CatalogRow, type IntrospectionScope, NOT_PERMITTED } from '../introspect.ts'
import { ident, join, literal, param, type Sql, sql } from '../statement.ts'

/** The rows of a catalog, each a JSON text; one row is the digest of the others. */
export function catalog(scope: IntrospectionScope): Sql {
  return sql`
${found(scope)}
${union(asJson)}
union all
${digest()}`
}

/** The digest of the rows that `catalog` would return at this moment. */
export function catalogDigest(scope: IntrospectionScope): Sql {
  return sql`
${found(scope)}
${digest()}`
}

/** How a row is rendered: its kind, and its values by name. */
type Rendering = (kind: AnyRow['kind'], values: Readonly<Record<string, Sql>>) => Sql

const asJson: Rendering = (kind, values) => {
  const members = Object.entries(values).map(([name, value]) => sql`${literal(name)}, ${value}`)
  return sql`select json_build_object('kind', ${literal(kind)}, ${join(members)})::text`
}

const asRecord: Rendering = (kind, values) => sql`select row(${literal(kind)}::text, ${join(Object.values(values))})`

function union(rendering: Rendering): Sql {
  return join(
    parts.map((part) => part(rendering)),
    sql` union all `,
  )
}

function found(scope: IntrospectionScope): Sql {
  return sql`
with recursive schema_ as (
  select n.oid, n.nspname, pg_catalog.has_schema_privilege(n.oid, 'usage') as is_usable
  from pg_catalog.pg_namespace n where ${inScope(scope)}
), unreachable as (
  select t.ftrelid as oid from pg_catalog.pg_foreign_table t
  join pg_catalog.pg_foreign_server v on v.oid = t.ftserver
  join pg_catalog.pg_foreign_data_wrapper w on w.oid = v.srvfdw where w.fdwhandler = 0
  union select c.oid from unreachable u
  join pg_catalog.pg_depend d on d.refclassid = 'pg_catalog.pg_class'::regclass and d.refobjid = u.oid
    and d.classid = 'pg_catalog.pg_rewrite'::regclass
  join pg_catalog.pg_rewrite w on w.oid = d.objid
  join pg_catalog.pg_class c on c.oid = w.ev_class and c.relkind = 'v'
), candidate as (
  select c.oid, c.relkind, c.relname, s.nspname, case
      when not s.is_usable or not pg_catalog.has_any_column_privilege(c.oid, 'select') then ${denied}
      when ${one(sql`pg_catalog.pg_depend d
        where d.classid = 'pg_catalog.pg_class'::regclass and d.objid = c.oid and d.deptype = 'e'`)}
        then 'belongs to an extension'
      when c.oid in (select oid from unreachable) then 'leads to a foreign table whose wrapper has no handler'
    end as reason
  from pg_catalog.pg_class c join schema_ s on s.oid = c.relnamespace
  where c.relkind in ('r', 'p', 'v', 'm', 'f') and not c.relispartition and c.relpersistence <> 't'
), relation as (
  select oid, relkind, relname, nspname, pg_catalog.has_table_privilege(oid, 'select') as is_readable
  from candidate where reason is null
), column_ as (
  select r.nspname, r.relname, r.relkind, a.attrelid, a.attnum, a.attname, a.atttypid, a.atttypmod, a.attnotnull,
    a.attcollation, a.attidentity, a.attgenerated,
    r.is_readable or pg_catalog.has_column_privilege(r.oid, a.attnum, 'select') as is_usable
  from relation r join pg_catalog.pg_attribute a on a.attrelid = r.oid
  where a.attnum > 0 and not a.attisdropped
), attribute as (
  select * from column_ where is_usable
), used (oid) as (
  select atttypid from attribute
  union
  select x.oid from used u cross join ${typeOf(sql`u.oid`)} t
  cross join lateral (values (t.typbasetype), (t.typelem) union all
    select m.atttypid from pg_catalog.pg_attribute m where m.attrelid = t.typrelid and m.attnum > 0) x (oid) where x.oid <> 0
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
)`
}

const denied = literal(NOT_PERMITTED)

/** Looks rows up by an index: a join would read the whole catalog, which may contain the tables of a hundred other schemas. */
function foundBy(catalog: string, column: string, value: Sql): Sql {
  return sql`lateral (select * from ${ident('pg_catalog', catalog)} z where ${ident('z', column)} = ${value} offset 0)`
}

const typeOf = (oid: Sql) => foundBy('pg_type', 'oid', oid)
const constraintsOf = (table: Sql) => foundBy('pg_constraint', 'conrelid', table)

/** The parts of a union. Their values have types that the database can hash: `jsonb`, and no untyped literals. */
const parts: readonly ((row: Rendering) => Sql)[] = [
  (row) => row('database', { schema: sql`current_schema()` }),
  (row) => sql`${row('namespace', { schema: sql`nspname` })} from schema_ where is_usable`,
  (row) => {
    const place = { schema: sql`nspname`, table: sql`relname` }
    return sql`${row('skipped', { ...place, column: sql`null::text`, reason: sql`reason` })}
  from candidate where reason is not null`
  },
  (row) => {
    const place = { schema: sql`nspname`, table: sql`relname` }
    return sql`${row('skipped', { ...place, column: sql`attname`, reason: sql`${denied}::text` })}
  from column_ where not is_usable`
  },
  (row) => sql`${row('type', {
    oid: sql`t.oid::text`,
    name: sql`t.typname`,
    form: sql`t.typtype`,
    schema: sql`n.nspname`,
    base: sql`t.typbasetype::text`,
    mod: sql`t.typtypmod`,
    element: sql`case when e.typarray = t.oid then e.oid::text end`,
    checks: sql`(select jsonb_agg(jsonb_build_object('name', c.conname, 'expression', pg_catalog.pg_get_expr(c.conbin, 0))
        order by c.conname)
      from pg_catalog.pg_constraint c where c.contypid = t.oid and c.contype = 'c' and c.convalidated)`,
    isNotNull: sql`t.typnotnull`,
    hasDefault: sql`t.typdefault is not null`,
    values: sql`(select jsonb_agg(v.enumlabel order by v.enumsortorder) from pg_catalog.pg_enum v where v.enumtypid = t.oid)`,
    isOrdered: sql`case t.typtype when 'c' then (
      select coalesce(bool_and(${isOrdered(sql`m`)}), true)
      from pg_catalog.pg_attribute a join pg_catalog.pg_type m on m.oid = a.atttypid
      where a.attrelid = t.typrelid and a.attnum > 0 and not a.attisdropped)
      else ${isOrdered(sql`t`)} end`,
    members: sql`(select jsonb_agg(jsonb_build_array(m.attname, m.atttypid::text) order by m.attnum)
      from pg_catalog.pg_attribute m where m.attrelid = t.typrelid and m.attnum > 0 and not m.attisdropped)`,
    isJson: sql`exists (
      select from pg_catalog.pg_cast c where c.castsource = t.oid and c.casttarget = 'pg_catalog.json'::regtype)`,
  })}
  from used u
  cross join ${typeOf(sql`u.oid`)} t
  join pg_catalog.pg_namespace n on n.oid = t.typnamespace
  left join ${typeOf(sql`t.typelem`)} e on true`,
  // `isTriggering`: a trigger of others that runs after insert or update (bits 66: `before`, `instead of`; bits 20: `insert`,
  // `update`), or one that may prevent a deletion (bits 11: `for each row`, `before`, `delete`).
  (row) => sql`${row('table', {
    schema: sql`r.nspname`,
    table: sql`r.relname`,
    id: sql`r.oid::text`,
    isView: sql`r.relkind in ('v', 'm', 'f')`,
    isInherited: sql`r.relkind = 'r' and exists (select from pg_catalog.pg_inherits i where i.inhparent = r.oid)`,
    isTriggering: one(sql`pg_catalog.pg_trigger g
      where g.tgrelid = r.oid and not g.tgisinternal and g.tgenabled <> 'D' and g.tgname <> ${literal(HISTORY_TRIGGER)}
        and (g.tgtype & 66 = 0 and g.tgtype & 20 <> 0 or g.tgtype & 11 = 11)`),
    isReadOnly: sql`case r.relkind
      when 'v' then pg_catalog.pg_relation_is_updatable(r.oid, true) & 28 <> 28 or exists (
        select from pg_catalog.pg_rewrite w where w.ev_class = r.oid and w.ev_type <> '1')
      when 'm' then true
      when 'f' then pg_catalog.pg_relation_is_updatable(r.oid, true) & 28 <> 28
      else false
    end`,
  })}
  from relation r`,
  (row) => sql`${row('column', {
    schema: sql`a.nspname`,
    table: sql`a.relname`,
    position: sql`a.attnum`,
    name: sql`a.attname`,
    type: sql`a.atttypid::text`,
    mod: sql`a.atttypmod`,
    isNotNull: sql`a.attnotnull`,
    isNondeterministic: sql`not coalesce(l.collisdeterministic, true)`,
    identity: sql`a.attidentity`,
    isGenerated: sql`a.attgenerated <> ''
      or a.relkind = 'v' and not pg_catalog.pg_column_is_updatable(a.attrelid, a.attnum, true)`,
    default: sql`pg_catalog.pg_get_expr(d.adbin, d.adrelid)`,
  })}
  from attribute a left join pg_catalog.pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
  left join pg_catalog.pg_collation l on l.oid = a.attcollation`,
  (row) => sql`${row('index', {
    schema: sql`r.nspname`,
    table: sql`r.relname`,
    name: sql`i.relname`,
    index: sql`case when x.indisprimary then 'primary' when x.indisunique then 'unique' else 'normal' end`,
    position: sql`k.position`,
    column: nameOf(sql`r.oid`, sql`nullif(k.attnum, 0)`),
  })}
  from relation r cross join ${foundBy('pg_index', 'indrelid', sql`r.oid`)} x
  join pg_catalog.pg_class i on i.oid = x.indexrelid
  cross join lateral unnest(x.indkey::int2[]) with ordinality k (attnum, position)
  where x.indisvalid and x.indpred is null and not x.indisexclusion and k.position <= x.indnkeyatts`,
  (row) => sql`${row('check', {
    schema: sql`r.nspname`,
    table: sql`r.relname`,
    name: sql`c.conname`,
    column: nameOf(sql`r.oid`, sql`c.conkey[1]`),
    expression: sql`pg_catalog.pg_get_expr(c.conbin, r.oid)`,
  })}
  from relation r cross join ${constraintsOf(sql`r.oid`)} c
  where c.contype = 'c' and cardinality(c.conkey) = 1 and c.convalidated and not c.connoinherit and r.relkind <> 'f'`,
  (row) => sql`${row('foreignKey', {
    schema: sql`r.nspname`,
    table: sql`r.relname`,
    name: sql`f.conname`,
    position: sql`k.position`,
    column: nameOf(sql`r.oid`, sql`k.own`),
    onDelete: sql`f.confdeltype`,
    onUpdate: sql`f.confupdtype`,
    references: target(nameOf(sql`t.oid`, sql`k.other`)),
  })}
  from relation r cross join ${constraintsOf(sql`r.oid`)} f
  join pg_catalog.pg_class t on t.oid = f.confrelid
  join pg_catalog.pg_namespace tn on tn.oid = t.relnamespace
  cross join lateral unnest(f.conkey, f.confkey) with ordinality k (own, other, position)
  where f.contype = 'f' and f.conparentid = 0`,
  (row) => sql`${row('foreignKey', {
    schema: sql`p.nspname`,
    table: sql`p.relname`,
    name: sql`left(concat_ws('_', p.relname, array_to_string(p.own, '_'), case when p.is_ambiguous then t.relname end, 'fkey'), 63)`,
    position: sql`k.position`,
    column: sql`k.own`,
    onDelete: sql`p.on_delete`,
    onUpdate: sql`p.on_update`,
    references: target(sql`k.other`),
  })}
  from key_of_partitions p
  join pg_catalog.pg_class t on t.oid = p.confrelid
  join pg_catalog.pg_namespace tn on tn.oid = t.relnamespace
  cross join lateral unnest(p.own, p.other) with ordinality k (own, other, position)`,
]

/** The beginning of the digest's row. */
export const DIGEST = '{"kind" : "digest"'

/**
 * The database hashes the values that it would render, in half the time: the number of rows, in any order, and two sums of
 * their hashes. Each hash is that of the row's text. The hash of a record is itself a sum over its values, so two rows that
 * swap a value would keep the total sum.
 */
function digest(): Sql {
  return sql`
select json_build_object('kind', 'digest', 'rows', count(*), 'sums', json_build_array(
    sum(hashtextextended(value::text, 1))::text, sum(hashtextextended(value::text, 2))::text))::text
  from (${union(asRecord)}) x (value)`
}

function target(column: Sql): Sql {
  return sql`jsonb_build_object('schema', tn.nspname, 'table', t.relname, 'column', ${column})`
}

/** True if there is such a row: looked up by an index for each table, whereas `exists` would read the whole catalog. */
function one(source: Sql): Sql {
  return sql`(select true from ${source} limit 1) is not null`
}

/** Found by the index of the catalog, whatever its statistics; a join may hash each table. */
function nameOf(table: Sql, position: Sql): Sql {
  return sql`(select n.attname from pg_catalog.pg_attribute n where n.attrelid = ${table} and n.attnum = ${position})`
}

/**
 * True if a type, or the base of a domain, has an order of its own; a composite type has the order of its members. Uses arrays,
 * which are built once per type: with sets, the database would join all types with all operator classes.
 */
function isOrdered(type: Sql): Sql {
  return sql`exists (
    select from pg_catalog.pg_opclass o where o.opcmethod = 403 and o.opcdefault and (
      o.opcintype = any (array[${type}.oid, ${type}.typbasetype,
        case ${type}.typtype when 'e' then 3500 when 'r' then 3831 when 'm' then 4537 end])
      or o.opcintype = any (array(select c.casttarget from pg_catalog.pg_cast c
        where c.castsource = ${type}.oid and c.castmethod = 'b' and c.castcontext = 'i'))))`
}

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

export type TypeRow = {
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
  /** True if the database compares and orders its values. */
  readonly isOrdered: boolean
  /** The values of an enum, in order; null for other types. */
  readonly values: readonly string[] | null
  /** The members of a composite type, each with the id of its type. */
  readonly members: readonly (readonly [name: string, type: string])[] | null
  /** True if rows render it as an object. */
  readonly isJson: boolean
  /** The checks of a domain; null without checks. */
  readonly checks: readonly Expression[] | null
}

type DigestRow = { readonly kind: 'digest' }

export type Expression = { readonly name: string; readonly expression: string }

/** A check constraint on one column that all rows meet. */
export type CheckRow = Expression & {
  readonly kind: 'check'
  readonly schema: string
  readonly table: string
  readonly column: string
}

export type ColumnRow = {
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

export type AnyRow =
  | Exclude<CatalogRow, { readonly kind: 'column' | 'foreignKey' }>
  | TypeRow
  | CheckRow
  | ColumnRow
  | ForeignKeyRow
  | DigestRow
