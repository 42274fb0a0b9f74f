/**
 * DDL of MariaDB and MySQL. They change a column by redefining it, and sometimes round values or fill in zeros where
 * the new definition does not fit: a statement that fails on such rows then runs first. Every DDL statement commits by
 * itself.
 */
import type { FieldType, TypeName } from '../../model/field-type.ts'
import type { Backfill, ColumnDefinition, TableRef } from '../change.ts'
import { alter, columnDefinition, columnType, withoutParams } from '../column-definition.ts'
import type { ChangeOf, Ddl, Dialect } from '../dialect.ts'
import { table } from '../read.ts'
import { compile, ident, integer, join, literal, type Sql, sql } from '../statement.ts'

/** Markers in the error message of a failed migration. */
export const NULL_FOUND = 'service:nullFound'
export const OUT_OF_RANGE = 'service:valueOutOfRange'

/** A lock by the name of the connection's database; released explicitly, or with the connection. */
const turnName = "concat('service:', md5(ifnull(database(), '')))"
const NO_TURN = 'service:noTurn'

/** `defaultClause` is the `default` of a definition, from a row of information_schema.columns. */
export function mysqlDdl(defaultClause: Sql): Ddl {
  return {
    ...common,
    changeColumnType: (change, dialect) => convert(change, { dialect, defaultClause }),
    setNullable: ({ table: ref, column }, dialect) =>
      redefined(ref, column, { dialect, defaultClause, type: sameType(column) }),
  }
}

const common: Omit<Ddl, 'changeColumnType' | 'setNullable'> = {
  lock: {
    // Fails, by an unknown time zone, if the lock is not acquired in time.
    take: { text: `set time_zone = if(get_lock(${turnName}, 30) = 1, @@time_zone, '${NO_TURN}')`, params: [] },
    release: [{ text: `select release_lock(${turnName})`, params: [] }],
    isTransaction: false,
  },
  isIndexable,
  referentialActions: new Set(['cascade', 'restrict', 'noAction', 'setNull']),

  autoincrement: sql`auto_increment`,
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
    if (column.isNullable) return [add(column)]
    const isEmpty = dialect.slots.assertion(sql`not exists (select 1 from ${table(ref)})`, NULL_FOUND)
    return [
      ...(change.backfill === undefined ? [isEmpty] : []),
      add({ ...column, isNullable: true }),
      ...(change.backfill === undefined ? [] : [set(ref, column, backfill(column, change.backfill, dialect))]),
      modify(ref, column, dialect),
    ]
  },

  setDefault: ({ table: ref, column }, dialect) => [modify(ref, column, dialect)],
  // A column of this migration, so that it has no default and no comment to keep.
  takeCollation({ table: ref, column, from }, dialect) {
    const start = asText(sql`${alter(ref)} modify column ${ident(column)} `, dialect)
    const inPlace = (alias: string, at: TableRef, name: string) => {
      const of = (member: string) => ident(alias, member)
      return sql`${of('table_schema')} = ${schemaOf(at)} and ${of('table_name')} = ${literal(at.dbName)} and ${of('column_name')} = ${literal(name)}`
    }
    const change = sql`concat(${start}, o.column_type, ' character set ', k.character_set_name, ' collate ', k.collation_name,
      if(o.is_nullable = 'YES', ' null', ' not null'))`
    return executed(sql`(select if(o.collation_name = k.collation_name or k.collation_name is null, 'do 0', ${change})
      from information_schema.columns o join information_schema.columns k on ${inPlace('k', from.table, from.column)}
      where ${inPlace('o', ref, column)})`)
  },
  dropIndex: ({ table: ref, index }) => [
    index.kind === 'primary'
      ? sql`${alter(ref)} drop primary key`
      : sql`drop index ${ident(index.dbName)} on ${table(ref)}`,
  ],
  dropForeignKey: (change, dialect) => {
    const { table: ref, dbName, isNamesake } = change
    const drop = sql`${alter(ref)} drop foreign key ${ident(dbName)}`
    return isNamesake ? [drop] : [drop, ...dropImpliedIndex(change, dialect)]
  },
}

/**
 * Drops the index that was created with a foreign key and is not dropped with it. The index may have been replaced, or
 * be used by other keys, so the statement checks its state.
 */
function dropImpliedIndex(
  { table: ref, dbName, columns }: ChangeOf<'dropForeignKey'>,
  dialect: Dialect,
): readonly Sql[] {
  const first = literal(columns[0] ?? '')
  const index = sql`select 1 from information_schema.statistics where ${inTable(ref)} and index_name = ${literal(dbName)}`
  const used = sql`select 1 from information_schema.key_column_usage where referenced_table_name is not null and (
    (${inTable(ref)} and column_name = ${first}) or (referenced_table_schema = ${schemaOf(ref)}
      and referenced_table_name = ${literal(ref.dbName)} and referenced_column_name = ${first}))`
  const drop = asText(sql`drop index ${ident(dbName)} on ${table(ref)}`, dialect)
  return executed(sql`if(exists (${index}) and not exists (${used}), ${drop}, 'do 0')`)
}

function schemaOf({ schema }: TableRef): Sql {
  return schema === undefined ? sql`database()` : literal(schema)
}

/** Matches the table in information_schema. */
function inTable(ref: TableRef): Sql {
  return sql`table_schema = ${schemaOf(ref)} and table_name = ${literal(ref.dbName)}`
}

/** The text of a fragment, as a constant. */
function asText(fragment: Sql, dialect: Dialect): Sql {
  return literal(compile(fragment, dialect).text)
}

/** Executes the statement in the expression `text`. */
function executed(text: Sql): readonly Sql[] {
  return [
    sql`set @service_change = ${text}`,
    sql`prepare service_change from @service_change`,
    sql`execute service_change`,
    sql`deallocate prepare service_change`,
  ]
}

/** Type attributes that are not in the model stay unchanged. JSON is an alias that the catalog does not know. */
function sameType({ type }: ColumnDefinition): Sql {
  return type.name === 'json' ? sql`'json'` : sql`column_type, ${collationClause}`
}

const collationClause = sql`if(collation_name is null, '', concat(' character set ', character_set_name, ' collate ', collation_name))`

type Redefinition = ColumnRewrite & { readonly type: Sql }
type ColumnRewrite = { readonly dialect: Dialect; readonly defaultClause: Sql }

/** A column can only be redefined as a whole: attributes that are not in the model are read from the catalog. */
function redefined(ref: TableRef, column: ColumnDefinition, { dialect, defaultClause, type }: Redefinition) {
  if (column.isAutoincrement) return [modify(ref, column, dialect)]
  const start = asText(sql`${alter(ref)} modify column ${ident(column.dbName)} `, dialect)
  const nullability = column.isNullable ? sql`' null'` : sql`' not null'`
  const update = sql`if(extra like '%on update %', concat(' ', substring(extra, locate('on update', extra))), '')`
  const comment = sql`if(column_comment = '', '', concat(' comment ', quote(column_comment)))`
  const definition = sql`concat(${join([start, type, nullability, defaultClause, update, comment])})`
  return executed(
    sql`(select ${definition} from information_schema.columns
      where ${inTable(ref)} and column_name = ${literal(column.dbName)})`,
  )
}

/** The longest key of InnoDB, in characters of four bytes. */
const MAX_KEY_LENGTH = 768

function isIndexable(type: FieldType): boolean {
  if (type.name === 'string') return type.params.length === 'fixed' && type.params.value <= MAX_KEY_LENGTH
  return type.name !== 'json' && type.name !== 'bytes' && type.name !== 'geometry'
}

function modify(ref: TableRef, column: ColumnDefinition, dialect: Dialect): Sql {
  return sql`${alter(ref)} modify column ${columnDefinition(column, dialect)}`
}

function set(ref: TableRef, { dbName }: ColumnDefinition, value: Sql): Sql {
  return sql`update ${table(ref)} set ${ident(dbName)} = ${value}`
}

function convert(
  { table: ref, column, from, conversion }: ChangeOf<'changeColumnType'>,
  rewrite: ColumnRewrite,
): readonly Sql[] {
  const { dialect } = rewrite
  const { type } = column
  const name = ident(column.dbName)
  const refuse = (invalidOperation: Sql) => {
    const rows = sql`select 1 from ${table(ref)} where ${invalidOperation}`
    return dialect.slots.assertion(sql`not exists (${rows})`, OUT_OF_RANGE)
  }
  const step = modify(ref, column, dialect)
  if (conversion !== 'cast') {
    if (type.name !== 'string')
      return redefined(ref, column, { ...rewrite, type: asText(columnType(column, dialect), dialect) })
    const steps = redefined(ref, column, { ...rewrite, type: textType(type) })
    if (type.params.length === 'unlimited') return steps
    // Trailing spaces would be truncated.
    return [refuse(sql`char_length(${name}) > ${integer(type.params.value)}`), ...steps]
  }
  if (type.name === 'string') return toText({ ref, column, from, dialect })
  const form = textForms[type.name]
  if (form === undefined) return [step]
  const check = refuse(sql`${name} not regexp ${literal(form)}`)
  const value = canonical(type.name, name)
  return value === undefined ? [check, step] : [check, set(ref, column, value), step]
}

/** A text keeps its collation. */
function textType({ params }: FieldType & { readonly name: 'string' }): Sql {
  const name = params.length === 'unlimited' ? 'longtext' : `varchar(${params.value})`
  return sql`${literal(name)}, ${collationClause}`
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

/** Normalises a text before its conversion. */
function canonical(type: TypeName, name: Sql): Sql | undefined {
  if (type === 'boolean') return sql`case ${name} when 'true' then '1' when 'false' then '0' end`
  return type === 'uuid' ? sql`lower(${name})` : undefined
}

type ToText = {
  readonly ref: TableRef
  readonly column: ColumnDefinition
  readonly from: FieldType
  readonly dialect: Dialect
}

function toText({ ref, column, from, dialect }: ToText): readonly Sql[] {
  const steps = [modify(ref, column, dialect)]
  const name = ident(column.dbName)
  switch (from.name) {
    case 'boolean':
      return [...steps, sql`${set(ref, column, sql`if(${name} = '0', 'false', 'true')`)} where ${name} is not null`]
    case 'float32':
      // As text a float has six digits; a double of the same value has all of them.
      return [modify(ref, { ...column, type: { name: 'float64' } }, dialect), ...steps]
    default:
      return steps
  }
}

function backfill({ type }: ColumnDefinition, value: Backfill, dialect: Dialect): Sql {
  switch (value.kind) {
    case 'uuid':
      return sql`uuid()`
    case 'now':
      return sql`utc_timestamp(6)`
    case 'static':
      return withoutParams(dialect.typed({ type, isList: false }, value.text))
  }
}
