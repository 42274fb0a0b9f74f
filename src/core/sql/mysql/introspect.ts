/**
 * Reads the catalog of MySQL and MariaDB, where a database is a schema: the one that the connection names, or all that
 * it can see. Enums and sets are texts in the model, and the database refuses invalid values.
 */
import type { FieldType } from '../../model/field-type.ts'
import type { NativeType, ReferentialAction } from '../../model/model.ts'
import type { Dialect, Rows } from '../dialect.ts'
import {
  assembleSchema,
  type CatalogNames,
  type CatalogRow,
  type Introspection,
  type IntrospectionScope,
  NOT_PERMITTED,
  typesByCatalogName,
} from '../introspect.ts'
import type { SourceColumn, SourceIndex, SourceSchema, SourceTable } from '../source-schema.ts'
import { compile, empty, ident, join, literal, param, type Sql, type Statement, sql } from '../statement.ts'
import { mariadb, mysql } from './dialect.ts'

export const mariadbIntrospection: Introspection = family({
  dialect: mariadb,
  // A JSON column is a text with a check of this form.
  checks: (scope) => sql`
union all
select json_object('kind', 'check', 'schema', constraint_schema, 'table', table_name, 'clause', check_clause)
  from information_schema.check_constraints where ${inScope(sql`constraint_schema`, scope)} and check_clause like 'json_valid(%'`,
  // Any other default is an expression or a quoted constant.
  isNoDefault: (text) => text === null || text === 'NULL',
  isUuid: ({ data }) => data === 'uuid',
})

export const mysqlIntrospection: Introspection = family({
  dialect: mysql,
  checks: () => empty,
  isNoDefault: (text) => text === null,
  isUuid: ({ full, collation }) => full === 'char(36)' && collation === 'ascii_bin',
})

type Family = {
  readonly dialect: Dialect
  readonly checks: (scope: IntrospectionScope) => Sql
  readonly isNoDefault: (text: string | null) => boolean
  readonly isUuid: (column: ColumnRow) => boolean
}

function family(own: Family): Introspection {
  return {
    statement: (scope) => compile(catalog(scope, own), own.dialect),
    inspect: (rows) => inspection(rows, own.dialect),
    parse: (rows, inspected = []) => parse([...rows, ...inspected], own),
  }
}

/** Without joins, for which MariaDB opens a table again and again. */
function catalog(scope: IntrospectionScope, own: Family): Sql {
  return sql`
select json_object('kind', 'database', 'schema', database()) as r
union all
select json_object('kind', 'namespace', 'schema', schema_name)
  from information_schema.schemata where ${inScope(sql`schema_name`, scope)}
union all
select json_object('kind', 'table', 'schema', table_schema, 'table', table_name, 'form', table_type)
  from information_schema.tables
  where table_type in ('BASE TABLE', 'SYSTEM VERSIONED', 'VIEW') and ${inScope(sql`table_schema`, scope)}
union all
select json_object('kind', 'column', 'schema', table_schema, 'table', table_name, 'position', ordinal_position,
    'name', column_name, 'data', data_type, 'full', column_type, 'length', character_maximum_length,
    'precision', numeric_precision, 'scale', numeric_scale, 'collation', collation_name, 'nullable', is_nullable,
    'default', column_default, 'extra', extra, 'privileges', privileges)
  from information_schema.columns where ${inScope(sql`table_schema`, scope)}
union all
select json_object('kind', 'index', 'schema', table_schema, 'table', table_name, 'name', index_name,
    'position', seq_in_index, 'repeats', non_unique, 'column', column_name, 'prefix', sub_part, 'form', index_type)
  from information_schema.statistics where ${inScope(sql`table_schema`, scope)}
union all
select json_object('kind', 'foreignKey', 'schema', table_schema, 'table', table_name, 'name', constraint_name,
    'position', ordinal_position, 'column', column_name, 'toSchema', referenced_table_schema,
    'toTable', referenced_table_name, 'toColumn', referenced_column_name)
  from information_schema.key_column_usage
  where referenced_table_name is not null and ${inScope(sql`table_schema`, scope)}
union all
select json_object('kind', 'rule', 'schema', constraint_schema, 'table', table_name, 'name', constraint_name,
    'onDelete', delete_rule, 'onUpdate', update_rule)
  from information_schema.referential_constraints where ${inScope(sql`constraint_schema`, scope)}${own.checks(scope)}`
}

const systemSchemas = ['information_schema', 'mysql', 'performance_schema', 'sys']

function inScope(schema: Sql, scope: IntrospectionScope): Sql {
  if (scope.kind === 'all') {
    return sql`${schema} not in (${join(systemSchemas.map(literal))}) and ${schema} = coalesce(database(), ${schema})`
  }
  return scope.names.length === 0 ? sql`1 = 0` : sql`${schema} in (${join(scope.names.map(param))})`
}

type Place = { readonly schema: string; readonly table: string }

type ColumnRow = Place & {
  readonly kind: 'column'
  readonly position: number
  readonly name: string
  readonly data: string
  /** With sizes and attributes, such as `int(10) unsigned zerofill`. */
  readonly full: string
  readonly length: number | null
  readonly precision: number | null
  readonly scale: number | null
  readonly collation: string | null
  readonly nullable: string
  readonly default: string | null
  readonly extra: string
  readonly privileges: string
}

type IndexRow = Place & {
  readonly kind: 'index'
  readonly name: string
  readonly position: number
  readonly repeats: number
  readonly column: string | null
  readonly prefix: number | null
  readonly form: string
}

type ForeignKeyRow = Place & {
  readonly kind: 'foreignKey'
  readonly name: string
  readonly position: number
  readonly column: string
  readonly toSchema: string
  readonly toTable: string
  readonly toColumn: string
}

/** What becomes of the rows of a foreign key. */
type RuleRow = Place & {
  readonly kind: 'rule'
  readonly name: string
  readonly onDelete: string
  readonly onUpdate: string
}

type SkippedRow = Extract<CatalogRow, { readonly kind: 'skipped' }>
type CheckRow = Place & { readonly kind: 'check'; readonly clause: string }
type TableRow = Place & { readonly kind: 'table'; readonly form: string }
type PlainRow = Extract<CatalogRow, { readonly kind: 'database' | 'namespace' }>
/** A column whose values are not only 0 and 1. */
type NumberRow = Place & { readonly kind: 'number'; readonly column: string }
type AnyRow = PlainRow | SkippedRow | TableRow | ColumnRow | IndexRow | ForeignKeyRow | RuleRow | CheckRow | NumberRow

/** Asks which columns of `tinyint(1)`, the type of truth values, hold other numbers. */
function inspection(rows: Rows, dialect: Dialect): Statement | undefined {
  const read = withoutDenied(readRows(rows))
  const tables = new Set(
    read.flatMap((row) => (row.kind === 'table' && row.form !== 'VIEW' ? [checkKey(row, '')] : [])),
  )
  const questions = read.flatMap((row) => {
    if (row.kind !== 'column' || row.full !== TRUTH || !tables.has(checkKey(row, ''))) return []
    const { schema, table, name } = row
    const found = sql`select 1 from ${ident(schema, table)} where ${ident(name)} not in (0, 1)`
    const answer = sql`json_object('kind', 'number', 'schema', ${literal(schema)}, 'table', ${literal(table)}, 'column', ${literal(name)})`
    return [sql`select ${answer} as r from (select 1) d where exists (${found})`]
  })
  return questions.length === 0 ? undefined : compile(join(questions, sql` union all `), dialect)
}

const TRUTH = 'tinyint(1)'

function readRows(rows: Rows): readonly AnyRow[] {
  return rows.map(([text]) => JSON.parse(text ?? '') as AnyRow)
}

function parse(rows: Rows, own: Family): SourceSchema {
  const read = readRows(rows)
  const numbers = new Set(read.flatMap((row) => (row.kind === 'number' ? [checkKey(row, row.column)] : [])))
  const checks = new Set(read.flatMap((row) => (row.kind === 'check' ? [checkKey(row, row.clause)] : [])))
  const rules = new Map(read.flatMap((row) => (row.kind === 'rule' ? [[checkKey(row, row.name), row] as const] : [])))
  const found: Found = { checks, numbers, rules, own }
  const schema = assembleSchema(withoutDenied(read).flatMap((row) => catalogRow(row, found)))
  return { ...schema, tables: schema.tables.map(withOwnIndexes) }
}

/** Replaces columns that the user may not read, and tables without any other, by rows that say so. */
function withoutDenied(rows: readonly AnyRow[]): readonly AnyRow[] {
  const columns = rows.filter((row): row is ColumnRow => row.kind === 'column')
  const readable = new Set(columns.flatMap((row) => (isReadable(row) ? [checkKey(row, '')] : [])))
  const denied = new Set(columns.map((row) => checkKey(row, '')).filter((place) => !readable.has(place)))
  return rows.flatMap((row): readonly AnyRow[] => {
    const skipped = (column: string | null) => [
      {
        kind: 'skipped' as const,
        schema: row.schema ?? '',
        table: 'table' in row ? row.table : '',
        column,
        reason: NOT_PERMITTED,
      },
    ]
    const isDenied = 'table' in row && denied.has(checkKey(row, ''))
    if (row.kind === 'table' && isDenied) return skipped(null)
    if (row.kind !== 'column' || isReadable(row)) return [row]
    return isDenied ? [] : skipped(row.name)
  })
}

/** Without any privilege the catalog does not show the column; an empty list says nothing. */
function isReadable({ privileges }: ColumnRow): boolean {
  return privileges === '' || /\bselect\b/i.test(privileges)
}

type Found = {
  readonly checks: ReadonlySet<string>
  readonly numbers: ReadonlySet<string>
  readonly rules: ReadonlyMap<string, RuleRow>
  readonly own: Family
}

function catalogRow(row: AnyRow, { checks, numbers, rules, own }: Found): readonly CatalogRow[] {
  switch (row.kind) {
    case 'check':
    case 'number':
    case 'rule':
      return []
    case 'table':
      return [{ ...row, isReadOnly: row.form === 'VIEW' }]
    case 'column': {
      const isJson = checks.has(checkKey(row, `json_valid(${own.dialect.quote(row.name)})`))
      const isNumber = numbers.has(checkKey(row, row.name))
      return [
        { ...row, column: columnOf({ ...row, ...(isJson && { data: 'json' }), ...(isNumber && { full: '' }) }, own) },
      ]
    }
    case 'index':
      return [{ ...row, index: indexKind(row), column: row.prefix === null || isWhole(row) ? row.column : null }]
    case 'foreignKey': {
      const references = { schema: row.toSchema, table: row.toTable, column: row.toColumn }
      const rule = rules.get(checkKey(row, row.name))
      return rule === undefined
        ? []
        : [{ ...row, references, onDelete: actionOf(rule.onDelete), onUpdate: actionOf(rule.onUpdate) }]
    }
    default:
      return [row]
  }
}

function checkKey({ schema, table }: Place, clause: string): string {
  return [schema, table, clause].join('\0')
}

const PRIMARY = 'PRIMARY'

function indexKind({ name, repeats }: IndexRow): 'primary' | 'unique' | 'normal' {
  if (name === PRIMARY) return 'primary'
  return repeats === 0 ? 'unique' : 'normal'
}

/** Indexes of these kinds give a prefix length for every column. */
function isWhole({ form }: IndexRow): boolean {
  return form === 'SPATIAL' || form === 'FULLTEXT'
}

const actions: Readonly<Record<string, ReferentialAction>> = {
  'NO ACTION': 'noAction',
  RESTRICT: 'restrict',
  CASCADE: 'cascade',
  'SET NULL': 'setNull',
  'SET DEFAULT': 'setDefault',
}

function actionOf(rule: string): ReferentialAction {
  return actions[rule] ?? 'noAction'
}

/** Drops the name of a primary key, and marks indexes that were created for a foreign key and have its name. */
function withOwnIndexes(table: SourceTable): SourceTable {
  const keys = new Map(table.foreignKeys.map(({ dbName, columns }) => [dbName, JSON.stringify(columns)]))
  const indexes = table.indexes.map((index): SourceIndex => {
    if (index.kind === 'primary') return { ...index, dbName: undefined }
    const isImplied = index.kind === 'normal' && keys.get(index.dbName ?? '') === JSON.stringify(index.columns)
    return { ...index, isImplied }
  })
  return { ...table, indexes }
}

function columnOf(row: ColumnRow, own: Family): SourceColumn {
  const known: Known = own.isUuid(row) ? { type: { name: 'uuid' }, isReadOnly: false } : fieldTypeOf(row)
  const { type, isReadOnly } = known
  const isNullable = row.nullable === 'YES'
  const isGenerated = /\bGENERATED$/.test(row.extra)
  const counts = row.extra.includes('auto_increment')
  return {
    dbName: row.name,
    type,
    isNullable,
    isList: false,
    isReadOnly: isReadOnly || isGenerated,
    defaultKind:
      counts && /^u?int/.test(type.name)
        ? 'autoincrement'
        : (counts || !own.isNoDefault(row.default)) && !isGenerated
          ? 'database'
          : 'none',
    isLoose: false,
    native: known.native ?? null,
  }
}

type Known = { readonly type: FieldType; readonly isReadOnly: boolean; readonly native?: NativeType }

/** `unsigned` is put before the name by the query. */
const catalogNames: CatalogNames = {
  int8: ['tinyint'],
  int16: ['smallint', 'year'],
  int32: ['mediumint', 'int'],
  int64: ['bigint'],
  uint8: ['unsigned tinyint'],
  uint16: ['unsigned smallint'],
  uint32: ['unsigned mediumint', 'unsigned int'],
  uint64: ['unsigned bigint'],
  float32: ['float'],
  float64: ['double'],
  // Recognised by the type that this dialect uses for UUIDs.
  uuid: [],
  // Recognised by its length.
  boolean: [],
  date: ['date'],
  time: ['time'],
  dateTime: ['datetime'],
  dateTimeWithTimezone: ['timestamp'],
  json: ['json'],
  bytes: ['binary', 'varbinary', 'tinyblob', 'blob', 'mediumblob', 'longblob'],
  geometry: [
    ...['geometry', 'point', 'linestring', 'polygon', 'multipoint', 'multilinestring', 'multipolygon'],
    ...['geometrycollection', 'geomcollection'],
  ],
}

const plain = typesByCatalogName(catalogNames)
const integers: ReadonlySet<string> = new Set(['tinyint', 'smallint', 'mediumint', 'int', 'bigint'])

const texts: ReadonlySet<string> = new Set(['tinytext', 'text', 'mediumtext', 'longtext', 'set'])

/** The values that `enum('a','it''s')` lists. */
function labelsOf(full: string): readonly string[] {
  return [...full.matchAll(/'((?:[^']|'')*)'/g)].map(([, label = '']) => label.replaceAll("''", "'"))
}

/** Of MariaDB. */
const addresses: ReadonlySet<string> = new Set(['inet4', 'inet6'])

function fieldTypeOf(row: ColumnRow): Known {
  const { data, full } = row
  const known = (type: FieldType): Known => ({ type, isReadOnly: false })
  const isInteger = integers.has(data)
  const bit = { name: data, isOrdered: true }
  if (full === TRUTH) return known({ name: 'boolean' })
  if (full === 'bit(1)') return { ...known({ name: 'boolean' }), native: bit }
  const name = plain.get(isInteger && full.includes('unsigned') ? `unsigned ${data}` : data)
  if (name !== undefined) return known({ name })
  if (data === 'decimal') return known(decimal(row.precision ?? 10, row.scale ?? 0))
  if (data === 'char' || data === 'varchar') return known(text(row.length ?? 0))
  if (data === 'enum') return { ...known(text(0)), native: { name: data, isOrdered: true, values: labelsOf(full) } }
  if (texts.has(data)) return known(text(0))
  if (addresses.has(data)) return { ...known(text(0)), native: { name: data, isOrdered: true } }
  if (data === 'bit') return { ...known({ name: 'bytes' }), native: bit }
  return { type: data === 'vector' ? { name: 'bytes' } : text(0), isReadOnly: true }
}

function decimal(precision: number, scale: number): FieldType {
  return { name: 'decimal', params: { kind: 'constrained', precision, scale } }
}

/** A length of zero means unlimited. */
function text(length: number): FieldType {
  return {
    name: 'string',
    params: length === 0 ? { length: 'unlimited' } : { length: 'fixed', value: length },
  }
}
