/**
 * All attributes of a column. MariaDB and MySQL change an attribute only by redefining the whole column, so the others are read
 * from the catalog and repeated. Attributes that the catalog does not show are refused before.
 */
import type { ColumnDefinition, TableRef } from '../ddl/change.ts'
import { table } from '../read/scope.ts'
import { empty, ident, join, literal, type Sql, sql } from '../statement.ts'
import { inTable, quotedName, schemaOf } from './names.ts'

/** The differences between the catalogs of MariaDB and MySQL. */
export type Attributes = {
  /** The `default` of a definition, from a row of information_schema.columns. */
  readonly defaultClause: Sql
  /** The spatial reference system of a geometry. */
  readonly spatialClause: (ref: TableRef, column: string) => Sql
  /** Selects `selected` for the check in the column's own definition; undefined if all checks belong to the table. */
  readonly check: undefined | ((ref: TableRef, column: string, selected: Sql) => Sql)
  /** Counts the checks that are not dropped with the columns; ends in its condition. */
  readonly sharedChecks: (ref: TableRef, columns: readonly string[]) => Sql
}

/** `undefaulted` drops the default; `cast` also drops what belongs to the old type. */
export type Rewriting = 'kept' | 'undefaulted' | 'typed' | 'cast'

type Redefinition = { readonly start: Sql; readonly type: Sql; readonly how: Rewriting }

/** The redefinition as a text, from its `start` to the new `type`; null if there is no such column. */
export function redefinition(
  { ref, column }: { readonly ref: TableRef; readonly column: ColumnDefinition },
  { start, type, how }: Redefinition,
  own: Attributes,
): Sql {
  const { dbName, isNullable, isAutoincrement } = column
  const hasDefault = how === 'kept' || how === 'typed'
  const jsonOnly = how === 'cast' && column.type.name !== 'json' ? sql` and not (${isJsonCheck(dbName)})` : empty
  const clause = sql`concat(' check (', check_clause, ')')`
  const definition = join([
    start,
    type,
    ...(column.type.name === 'geometry' && how === 'kept' ? [own.spatialClause(ref, dbName)] : []),
    isNullable ? sql`' null'` : sql`' not null'`,
    ...(isAutoincrement ? [sql`' auto_increment'`] : hasDefault ? [own.defaultClause] : []),
    ...onUpdate(column, how),
    flag(' invisible'),
    flag(' without system versioning'),
    sql`if(column_comment = '', '', concat(' comment ', quote(column_comment)))`,
    ...(own.check ? [sql`ifnull((${own.check(ref, dbName, clause)}${jsonOnly}), '')`] : []),
  ])
  return sql`(select concat(${definition}) from information_schema.columns where ${inColumn(ref, dbName)})`
}

/** Counts the attributes that a redefinition of the column would lose, or the database would refuse. */
export function lostAttributes(ref: TableRef, column: ColumnDefinition, isCast: boolean, { check }: Attributes): Sql {
  const { dbName, isNullable, isAutoincrement } = column
  const isGenerated = sql`generation_expression <> ''`
  // MariaDB has no invisible column without a default.
  const isBare = sql`extra like '%INVISIBLE%' and ifnull(column_default, 'NULL') = 'NULL'`
  // The type of an enum contains its values, and the catalog cannot show characters of four bytes.
  const isUnreadable = sql`data_type in ('enum', 'set') and column_type like '%?%'`
  const lost = [
    isGenerated,
    ...(check ? [isUnreadable] : []),
    ...(check && !isNullable && !isAutoincrement ? [isBare] : []),
  ]
  const isLost = sql`(${join(lost, sql` or `)})`
  const columns = sql`select count(*) from information_schema.columns where ${inColumn(ref, dbName)} and ${isLost}`
  if (check === undefined) return columns
  // The catalog cannot show characters of four bytes. A check of the old type may fail for rows between two steps of a cast.
  const isOther = isCast ? sql`not (${isJsonCheck(dbName)})` : sql`check_clause like '%????%'`
  return sql`select (${columns}) + (${check(ref, dbName, sql`count(*)`)} and ${isOther})`
}

/**
 * 1 if the default has a character of four bytes, which the catalog of MariaDB shows as `?`. Must not be used for a required
 * column without a default.
 */
export function unreadableDefault(ref: TableRef, column: string): Sql {
  const value = sql`convert(default(${ident('x', column)}) using utf8mb4)`
  return sql`select count(*) from (select 1) o left join ${table(ref)} x on 1 = 0 where ${value} regexp ${literal('[\\x{10000}-\\x{10FFFF}]')}`
}

/** Counts the parts of the table that need the column, except the `dropped` columns. */
export function columnUsers(ref: TableRef, column: string, dropped: readonly string[], own: Attributes): Sql {
  const uses = (text: Sql) => sql`instr(${text}, ${literal(quotedName(column))}) > 0`
  const others = sql`${inTable(ref)} and column_name not in (${join([column, ...dropped].map(literal))})`
  return sql`select (select count(*) from information_schema.columns
      where ${others} and (${uses(sql`generation_expression`)} or ${uses(sql`column_default`)}))
    + (select count(*) from information_schema.partitions
      where ${inTable(ref)} and (${uses(sql`partition_expression`)} or ${uses(sql`subpartition_expression`)}))
    + (${own.sharedChecks(ref, [column, ...dropped])} and ${uses(sql`check_clause`)}
      and instr(replace(check_clause, ${literal(quotedName(column))}, ''), '\`') > 0)`
}

/** Counts the table's triggers that name the column: neither database updates them, so each write would fail. */
export function columnTriggers({ schema, dbName }: TableRef, column: string): Sql {
  const name = literal(`(new|old)[[:space:]]*[.][[:space:]]*\`?\\Q${column}\\E([^0-9A-Za-z_$]|$)`)
  return sql`select count(*) from information_schema.triggers where event_object_schema = ${schemaOf({ schema, dbName })}
    and event_object_table = ${literal(dbName)} and action_statement regexp ${name}`
}

export const collationClause = sql`if(collation_name is null, '', concat(' character set ', character_set_name, ' collate ', collation_name))`
export const compressedClause = sql`if(column_type like '%COMPRESSED%', ' /*M!100301 COMPRESSED*/', '')`

function flag(text: string): Sql {
  return sql`if(extra like ${literal(`%${text.trim()}%`)}, ${literal(text)}, '')`
}

/** MariaDB and MySQL require the column's precision here. */
function onUpdate({ type }: ColumnDefinition, how: Rewriting): readonly Sql[] {
  if (how === 'kept' || how === 'undefaulted') {
    const text = sql`regexp_substr(extra, 'on update [a-z_]+([(][0-9]*[)])?')`
    return [sql`if(extra like '%on update %', concat(' ', ${text}), '')`]
  }
  if (type.name !== 'dateTime' && type.name !== 'dateTimeWithTimezone') return []
  return [sql`if(extra like '%on update %', ' on update current_timestamp(6)', '')`]
}

/** The condition for the JSON check in information_schema.check_constraints. */
function isJsonCheck(column: string): Sql {
  return sql`check_clause = ${literal(`json_valid(${quotedName(column)})`)}`
}

function inColumn(ref: TableRef, column: string): Sql {
  return sql`${inTable(ref)} and column_name = ${literal(column)}`
}

export const mariadbAttributes: Attributes = {
  // The catalog shows the default as a literal.
  defaultClause: sql`if(column_default is null or column_default = 'NULL', '', concat(' default ', column_default))`,
  spatialClause: (ref, column) => sql`ifnull((select if(srid = 0, '', concat(' ref_system_id=', srid))
    from information_schema.geometry_columns where g_table_schema = ${schemaOf(ref)}
      and g_table_name = ${literal(ref.dbName)} and g_geometry_column = ${literal(column)}), '')`,
  check: (ref, column, selected) => sql`select ${selected} from information_schema.check_constraints
    where ${inChecks(ref)} and ${isOwnCheck(column)}`,
  sharedChecks: (ref, columns) => sql`select count(*) from information_schema.check_constraints
    where ${inChecks(ref)} and not (${join(columns.map(isOwnCheck), sql` or `)})`,
}

/** Such a check has the name of its column, but keeps the old name for a while after a rename. */
function isOwnCheck(column: string): Sql {
  const named = sql`concat('\`', replace(constraint_name, '\`', '\`\`'), '\`')`
  return sql`(level = 'Column' and instr(check_clause, ${literal(quotedName(column))}) > 0
    and (constraint_name = ${literal(column)} or instr(check_clause, ${named}) = 0))`
}

export const mysqlAttributes: Attributes = {
  defaultClause: sql`case when column_default is null then ''
    when extra not like '%DEFAULT_GENERATED%' then concat(' default ', quote(column_default))
    when column_default like 'CURRENT_TIMESTAMP%' then concat(' default ', column_default)
    else concat(' default (', column_default, ')') end`,
  spatialClause: () => sql`if(srs_id is null, '', concat(' srid ', srs_id))`,
  check: undefined,
  sharedChecks: (ref) => sql`select count(*) from information_schema.check_constraints
    join information_schema.table_constraints using (constraint_schema, constraint_name) where ${inTable(ref)}`,
}

function inChecks(ref: TableRef): Sql {
  return sql`constraint_schema = ${schemaOf(ref)} and table_name = ${literal(ref.dbName)}`
}
