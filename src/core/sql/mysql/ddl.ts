/**
 * DDL of MariaDB and MySQL. They change a column by redefining it, and sometimes silently round values or fill in zeros, so a
 * statement that fails for such rows runs first. Every DDL statement commits by itself.
 */

import { hex } from '../../hex.ts'
import type { FieldType, TypeName } from '../../model/field-type.ts'
import type { ColumnDefinition, InitialValue, TableRef } from '../ddl/change.ts'
import { alter, changeInitial, columnDefinition, columnType, parameterless } from '../ddl/column-definition.ts'
import { createIndex } from '../ddl/compile-change.ts'
import type { ChangeOf, Ddl, DdlDialect } from '../ddl/dialect.ts'
import { SqlFault } from '../fault.ts'
import { table } from '../read/scope.ts'
import {
  answered,
  compile,
  ident,
  integer,
  join,
  literal,
  type Sql,
  type SqlSyntax,
  sql,
  withRowHandler,
} from '../statement.ts'
import type { Slots } from '../write/slots.ts'
import { catalogOf, hasOwnRules, MAX_KEY_BYTES } from './catalog-questions.ts'
import { collationClause, compressedClause, type Rewriting, redefinition } from './column-attributes.ts'
import type { Family } from './family.ts'
import { inTable, schemaOf } from './names.ts'

/** Markers in the error message of a failed migration. */
export const NULL_FOUND = 'service:nullFound'
export const OUT_OF_RANGE = 'service:valueOutOfRange'

/** The name of a session lock, by the connection's database; released explicitly, or with the connection. */
const turnName = sql`concat('service:', md5(ifnull(database(), '')))`
const NO_TURN = 'service:noTurn'

export type DdlParts = {
  readonly own: Family
  readonly assertion: Slots['assertion']
  readonly syntax: SqlSyntax
}

export function mysqlDdl(parts: DdlParts): Ddl {
  const { assertion, own, syntax } = parts
  return {
    ...common,
    catalog: catalogOf(own.attributes),
    lock: {
      take: compile(assertion(sql`get_lock(${turnName}, 30)`, NO_TURN), syntax),
      release: [compile(sql`select release_lock(${turnName})`, syntax)],
      isTransaction: false,
    },
    changeColumnType: (change, dialect) => convert(change, { ...parts, dialect }),
    setNullable: ({ table: ref, column }, dialect) =>
      redefined(ref, column, { ...parts, dialect, type: sameType, how: 'kept' }),
    setDefault: (change, dialect) => {
      const { table: ref, column } = change
      const steps = redefined(ref, column, { ...parts, dialect, type: sameType, how: 'undefaulted' })
      return column.isAutoincrement ? steps : [...steps, ...executed(countingKeyDrop(change, dialect))]
    },
    takeCollation: (change, dialect) => {
      const { table: ref, column } = change
      const taken = executed(collationOf(change, dialect))
      return column.initial === undefined ? taken : [...taken, changeInitial(ref, column, dialect)]
    },
    keepIndex: (change, dialect) => executed(lostIndex(change, dialect)),
    dropForeignKey: (change, dialect) => {
      const { table: ref, dbName, isNamesake } = change
      const drop = sql`${alter(ref)} drop foreign key ${ident(dbName)}`
      return isNamesake ? [drop] : [drop, ...executed(impliedIndexDrop(change, dialect))]
    },
  }
}

const common: Omit<
  Ddl,
  | 'lock'
  | 'catalog'
  | 'changeColumnType'
  | 'setNullable'
  | 'setDefault'
  | 'takeCollation'
  | 'keepIndex'
  | 'dropForeignKey'
> = {
  isIndexable,
  // InnoDB's limit, including generated columns.
  columnCount: { least: 1, most: 1_017 },
  referentialActions: new Set(['cascade', 'restrict', 'noAction', 'setNull']),

  autoincrement: sql`auto_increment`,
  initial,
  // An auto-increment column must be the first of some key.
  extraKeys: ({ columns, primaryKey }) =>
    columns
      .filter(({ dbName, isAutoincrement }) => isAutoincrement && primaryKey?.columns[0] !== dbName)
      .map(({ dbName }) => sql`key (${ident(dbName)})`),
  tableOptions: sql` engine = InnoDB default character set utf8mb4`,

  // These databases would drop the schema's tables with it.
  dropSchema: ({ schema }, dialect) => [
    dialect.slots.assertion(
      sql`not exists (select 1 from information_schema.tables where table_schema = ${literal(schema)})`,
      'service:schemaNotEmpty',
    ),
    sql`drop schema ${ident(schema)}`,
  ],
  renameTable: ({ table: ref, to }) => [sql`${alter(ref)} rename to ${table({ schema: ref.schema, dbName: to })}`],

  addColumn(change, dialect) {
    const { table: ref, column } = change
    const add = (definition: ColumnDefinition) => sql`${alter(ref)} add column ${columnDefinition(definition, dialect)}`
    if (column.isAutoincrement) return [sql`${add(column)}, add key (${ident(column.dbName)})`]
    if (column.isNullable) {
      const added = add({ ...column, initial: undefined })
      return column.initial === undefined ? [added] : [added, changeInitial(ref, column, dialect)]
    }
    const isEmpty = dialect.slots.assertion(sql`not exists (select 1 from ${table(ref)})`, NULL_FOUND)
    return [
      ...(change.backfill === undefined ? [isEmpty] : []),
      add({ ...column, isNullable: true, initial: undefined }),
      ...(change.backfill === undefined ? [] : [set(ref, column, initial(column, change.backfill, dialect))]),
      modify(ref, column, dialect),
    ]
  },

  dropIndex: ({ table: ref, index }) => [
    index.kind === 'primary'
      ? sql`${alter(ref)} drop primary key`
      : sql`drop index ${ident(index.dbName)} on ${table(ref)}`,
  ],

  history: undefined,

  misreads,
  tried: undefined,
  unread: undefined,
  elements: undefined,
  hasOwnRules,
}

/**
 * Gives a column the collation of a key. This migration creates the column, so there is no comment to keep; in a dry run the
 * column does not exist yet. If the key does not exist either, it gets our own collation.
 */
function collationOf({ table: ref, column, from }: ChangeOf<'takeCollation'>, dialect: DdlDialect): Sql {
  const made = / character set \w+ collate (\w+)$/.exec(compile(columnType(column, dialect), dialect).text)
  const type = literal(compile(columnType(column, dialect), dialect).text.slice(0, made?.index))
  const start = asText(sql`${alter(ref)} modify column ${ident(column.dbName)} `, dialect)
  const inPlace = (alias: string, at: TableRef, name: string) => {
    const of = (member: string) => ident(alias, member)
    return sql`${of('table_schema')} = ${schemaOf(at)} and ${of('table_name')} = ${literal(at.dbName)} and ${of('column_name')} = ${literal(name)}`
  }
  const change = sql`concat(${start}, ifnull(o.column_type, ${type}), ' character set ', k.character_set_name, ' collate ', k.collation_name,
      ${literal(column.isNullable ? ' null' : ' not null')})`
  const own = sql`ifnull(o.collation_name, ${literal(made?.[1] ?? '')})`
  return sql`ifnull((select if(${own} = k.collation_name or k.collation_name is null, ${noStatement}, ${change})
      from information_schema.columns k left join information_schema.columns o on ${inPlace('o', ref, column.dbName)}
      where ${inPlace('k', from.table, from.column)}), ${noStatement})`
}

/**
 * Drops the index that was created with a foreign key and not dropped with it. The index may have been replaced, or be used by
 * other keys, so the statement checks its state.
 */
function impliedIndexDrop({ table: ref, dbName, columns }: ChangeOf<'dropForeignKey'>, dialect: DdlDialect): Sql {
  const index = sql`select 1 from information_schema.statistics where ${inTable(ref)} and index_name = ${literal(dbName)}`
  const drop = asText(sql`drop index ${ident(dbName)} on ${table(ref)}`, dialect)
  return sql`if(exists (${index}) and not exists (${keysOf(ref, columns[0] ?? '')}), ${drop}, ${noStatement})`
}

/** Creates an index again that the database has replaced because it was created with a foreign key. */
function lostIndex({ table: ref, index }: ChangeOf<'keepIndex'>, dialect: DdlDialect): Sql {
  const found = sql`select 1 from information_schema.statistics where ${inTable(ref)} and index_name = ${literal(index.dbName)}`
  return sql`if(exists (${found}), ${noStatement}, ${asText(createIndex({ table: ref, index }), dialect)})`
}

/** Drops the index that `extraKeys` created, which may have a former name of its column. */
function countingKeyDrop({ table: ref, column, indexNames }: ChangeOf<'setDefault'>, dialect: DdlDialect): Sql {
  const known = join(['', ...indexNames].map(literal))
  const width = sql`select count(*) from information_schema.statistics o where ${inTable(ref)} and o.index_name = s.index_name`
  const drop = sql`concat('drop index \`', replace(s.index_name, '\`', '\`\`'), '\`', ${asText(sql` on ${table(ref)}`, dialect)})`
  return sql`ifnull((select ${drop} from information_schema.statistics s
    where ${inTable(ref)} and s.non_unique = 1 and s.column_name = ${literal(column.dbName)} and (${width}) = 1
      and s.index_name not in (${known}) and not exists (${keysOf(ref, column.dbName)}) limit 1), ${noStatement})`
}

/** The foreign keys whose first column, or whose referenced first column, is this one. */
function keysOf(ref: TableRef, column: string): Sql {
  const first = literal(column)
  return sql`select 1 from information_schema.key_column_usage where referenced_table_name is not null and (
    (${inTable(ref)} and column_name = ${first}) or (referenced_table_schema = ${schemaOf(ref)}
      and referenced_table_name = ${literal(ref.dbName)} and referenced_column_name = ${first}))`
}

/** The text of a fragment, as a constant. */
function asText(fragment: Sql, dialect: DdlDialect): Sql {
  return literal(compile(fragment, dialect).text)
}

/** A statement that does nothing. */
const NO_STATEMENT = 'do 0'
const noStatement = literal(NO_STATEMENT)

/** Queries the expression `text` for a statement and runs it; `noStatement` runs nothing. */
function executed(text: Sql): readonly Sql[] {
  return [
    withRowHandler(sql`select ${text}`, ([row]) => {
      const statement = row?.[0]
      if (typeof statement !== 'string') throw new SqlFault('the catalog lacks a column', { state: '42S22' })
      return statement === NO_STATEMENT ? undefined : answered(statement)
    }),
  ]
}

/**
 * A check of all rows of the table, and steps that depend on it. Locks the table before the check if the user may do so. Lock
 * and check are one statement of the migration, so a failed check has changed nothing.
 */
function looked(ref: TableRef, { look, steps, own }: Look): readonly Sql[] {
  if (own.isBehindVitess) return [look, ...steps]
  const locked = withRowHandler(sql`lock tables ${table(ref)} write`, () => look)
  const first = withRowHandler(sql`select ${mayLock(ref)}`, ([row]) => (row?.[0] === '1' ? locked : look))
  return [first, ...steps, sql`unlock tables`]
}

type Look = { readonly look: Sql; readonly steps: readonly Sql[]; readonly own: Family }

/** True if the user itself has the right; rights by a role are not found. */
function mayLock(ref: TableRef): Sql {
  const host = sql`substring_index(current_user(), '@', -1)`
  const user = sql`left(current_user(), char_length(current_user()) - char_length(${host}) - 1)`
  const isOwn = sql`privilege_type = 'LOCK TABLES' and grantee = concat('''', ${user}, '''@''', ${host}, '''')`
  return sql`exists (select 1 from information_schema.user_privileges where ${isOwn})
    or exists (select 1 from information_schema.schema_privileges where ${isOwn} and ${schemaOf(ref)} like table_schema)`
}

/** Keeps type attributes that are not in the model. */
const sameType = sql`column_type, ${collationClause}`

type ColumnRewrite = { readonly own: Family; readonly dialect: DdlDialect }
type Redefinition = ColumnRewrite & { readonly type: Sql; readonly how: Rewriting }

function redefined(ref: TableRef, column: ColumnDefinition, { dialect, own, type, how }: Redefinition): readonly Sql[] {
  const start = asText(sql`${alter(ref)} modify column ${ident(column.dbName)} `, dialect)
  return executed(redefinition({ ref, column }, { start, type, how }, own.attributes))
}

/** Maximum length in characters of four bytes. */
const MAX_KEY_LENGTH = MAX_KEY_BYTES / 4

function isIndexable(type: FieldType): boolean {
  if (type.name === 'string') return type.params.length === 'fixed' && type.params.value <= MAX_KEY_LENGTH
  return type.name !== 'json' && type.name !== 'bytes' && type.name !== 'geometry'
}

function modify(ref: TableRef, column: ColumnDefinition, dialect: DdlDialect): Sql {
  return sql`${alter(ref)} modify column ${columnDefinition(column, dialect)}`
}

function set(ref: TableRef, { dbName }: ColumnDefinition, value: Sql): Sql {
  return sql`update ${table(ref)} set ${ident(dbName)} = ${value}`
}

function convert(
  { table: ref, column, from, conversion }: ChangeOf<'changeColumnType'>,
  rewrite: ColumnRewrite,
): readonly Sql[] {
  const { dialect, own } = rewrite
  const { type } = column
  const name = ident(column.dbName)
  const refuse = (invalidOperation: Sql) => {
    const rows = sql`select 1 from ${table(ref)} where ${invalidOperation}`
    return dialect.slots.assertion(sql`not exists (${rows})`, OUT_OF_RANGE)
  }
  const as = (to: FieldType, how: Rewriting) => {
    const own = { ...column, type: to }
    return redefined(ref, own, { ...rewrite, how, type: asText(columnType(own, dialect), dialect) })
  }
  if (conversion !== 'cast') {
    if (type.name !== 'string') return as(type, 'typed')
    const steps = redefined(ref, column, { ...rewrite, how: 'typed', type: textType(type) })
    if (type.params.length === 'unlimited') return steps
    // Trailing spaces would be truncated.
    return looked(ref, { own, steps, look: refuse(sql`char_length(${name}) > ${integer(type.params.value)}`) })
  }
  const steps = as(type, 'cast')
  // As text a float has six digits; a double of the same value has all of them.
  if (from.name === 'float32') return [...as({ name: 'float64' }, 'cast'), ...steps]
  if (from.name === 'boolean') {
    return [...steps, sql`${set(ref, column, sql`if(${name} = '0', 'false', 'true')`)} where ${name} is not null`]
  }
  const misread = type.name === 'string' ? undefined : misreads(type, name)
  if (misread === undefined) return steps
  const value = canonical(type.name, name)
  const normalised = value === undefined ? [] : [set(ref, column, value)]
  return looked(ref, { own, look: refuse(misread), steps: [...normalised, ...steps] })
}

/** A text keeps its collation. */
function textType({ params }: FieldType & { readonly name: 'string' }): Sql {
  const name = params.length === 'unlimited' ? 'longtext' : `varchar(${params.value})`
  return sql`${literal(name)}, ${compressedClause}, ${collationClause}`
}

function misreads({ name }: FieldType, column: Sql): Sql | undefined {
  if (name === 'json') return sql`not json_valid(${column})`
  const form = textForms[name]
  return form === undefined ? undefined : sql`${column} not regexp ${literal(form)}`
}

const digits = '^-?[0-9]+\\z'

/** Patterns of texts that convert without loss; for other types the database itself refuses invalid texts. */
const textForms: Readonly<Record<TypeName, string | undefined>> = {
  int8: digits,
  int16: digits,
  int32: digits,
  int64: digits,
  uint8: digits,
  uint16: digits,
  uint32: digits,
  uint64: digits,
  float32: undefined,
  float64: undefined,
  decimal: undefined,
  string: undefined,
  uuid: '^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\\z',
  boolean: '^(true|false)\\z',
  date: undefined,
  time: undefined,
  dateTime: undefined,
  dateTimeWithTimezone: undefined,
  json: undefined,
  bytes: undefined,
  geometry: undefined,
}

/** Normalizes a text before its conversion. */
function canonical(type: TypeName, name: Sql): Sql | undefined {
  if (type === 'boolean') return sql`case ${name} when 'true' then '1' when 'false' then '0' end`
  return type === 'uuid' ? sql`lower(${name})` : undefined
}

/** Types whose default MySQL stores as an expression only. */
const expressed: ReadonlySet<TypeName> = new Set(['string', 'json', 'bytes', 'geometry'])

/** A constant is evaluated once, in our session, so that a timestamp does not depend on the time zone of later sessions. */
function initial({ type }: ColumnDefinition, value: InitialValue, dialect: DdlDialect): Sql {
  switch (value.kind) {
    case 'uuid':
      return sql`(uuid())`
    case 'now':
      return now[type.name] ?? sql`(utc_timestamp(6))`
    case 'static': {
      const { text } = value
      if (expressed.has(type.name))
        return sql`(${parameterless(dialect.assigned({ type, isList: false }, text), kept)})`
      return type.name === 'boolean' ? literal(text === 'true' ? '1' : '0') : literal(text.replace('Z', ''))
    }
  }
}

const now: Partial<Readonly<Record<TypeName, Sql>>> = {
  dateTimeWithTimezone: sql`(current_timestamp(6))`,
  date: sql`(utc_date())`,
  time: sql`(utc_time(6))`,
}

/** A form that an expression stores without loss: some versions store it with three bytes per character, or with escapes. */
function kept(text: string): Sql {
  if (/^[ !#-&(-[\]-~]*$/.test(text)) return literal(text)
  return sql`convert(${answered(`x'${hex(new TextEncoder().encode(text))}'`)} using utf8mb4)`
}
