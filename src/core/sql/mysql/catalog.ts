/** The statement that reads the catalog, and its rows, each a JSON text. */
import { parseJson } from '../../exact-json.ts'
import type { Rows } from '../dialect.ts'
import type { CatalogRow, IntrospectionScope } from '../introspect.ts'
import { join, literal, param, type Sql, sql } from '../statement.ts'

/** Without joins, for which MariaDB opens the same table repeatedly. */
export function catalog(scope: IntrospectionScope, checks: Sql): Sql {
  return sql`
select json_object('kind', 'database', 'schema', database()) as r
union all
select json_object('kind', 'namespace', 'schema', schema_name)
  from information_schema.schemata where ${inScope(sql`schema_name`, scope)}
union all
select json_object('kind', 'table', 'schema', table_schema, 'table', table_name, 'form', table_type,
    'engine', engine)
  from information_schema.tables
  where table_type in ('BASE TABLE', 'SYSTEM VERSIONED', 'VIEW') and ${inScope(sql`table_schema`, scope)}
union all
select json_object('kind', 'view', 'schema', table_schema, 'table', table_name, 'definition', view_definition,
    'isUpdatable', is_updatable)
  from information_schema.views where ${inScope(sql`table_schema`, scope)}
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
  from information_schema.referential_constraints where ${inScope(sql`constraint_schema`, scope)}${checks}`
}

const systemSchemas = ['information_schema', 'mysql', 'performance_schema', 'sys']

export function inScope(schema: Sql, scope: IntrospectionScope): Sql {
  if (scope.kind === 'all') {
    return sql`${schema} not in (${join(systemSchemas.map(literal))}) and ${schema} = coalesce(database(), ${schema})`
  }
  return scope.names.length === 0 ? sql`1 = 0` : sql`${schema} in (${join(scope.names.map(param))})`
}

type Place = { readonly schema: string; readonly table: string }

export type ColumnRow = Place & {
  readonly kind: 'column'
  readonly position: number
  readonly name: string
  readonly data: string
  /** The full type with sizes and attributes, such as `int(10) unsigned zerofill`. */
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

export type IndexRow = Place & {
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

/** The referential actions of a foreign key. */
export type RuleRow = Place & {
  readonly kind: 'rule'
  readonly name: string
  readonly onDelete: string
  readonly onUpdate: string
}

type SkippedRow = Extract<CatalogRow, { readonly kind: 'skipped' }>

/** The table is empty on MySQL, where an `EnforcedRow` names it. */
type CheckRow = Place & { readonly kind: 'check'; readonly name: string; readonly clause: string }

type EnforcedRow = Place & { readonly kind: 'enforced'; readonly name: string }

/** A view has no engine. */
type TableRow = Place & { readonly kind: 'table'; readonly form: string; readonly engine: string | null }

/** The definition is empty if the user may not see it. */
export type ViewRow = Place & { readonly kind: 'view'; readonly definition: string; readonly isUpdatable: string }

type PlainRow = Extract<CatalogRow, { readonly kind: 'database' | 'namespace' }>

/** A column with other values than 0 and 1. */
type NumberRow = Place & { readonly kind: 'number'; readonly column: string }

export type AnyRow =
  | PlainRow
  | SkippedRow
  | TableRow
  | ViewRow
  | ColumnRow
  | IndexRow
  | ForeignKeyRow
  | RuleRow
  | CheckRow
  | EnforcedRow
  | NumberRow

export function readRows(rows: Rows): readonly AnyRow[] {
  return rows.map(([text]) => parseJson(text ?? '') as AnyRow)
}

/** Identifies a table, or with a name a part of it. */
export function placeKey({ schema, table }: Place, name = ''): string {
  return [schema, table, name].join('\0')
}
