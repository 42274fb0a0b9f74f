/**
 * Reads the catalog of MySQL and MariaDB, where a database is a schema: the database that the connection names, or all that it
 * can see.
 */
import type { ReferentialAction } from '../../model/model.ts'
import { withChecks } from '../checks/column.ts'
import type { ReadCheck } from '../checks/expression.ts'
import type { Dialect, Rows } from '../dialect.ts'
import {
  assembleSchema,
  type CatalogRow,
  type Introspection,
  type IntrospectionScope,
  NOT_PERMITTED,
} from '../introspect.ts'
import type { SourceColumn, SourceIndex, SourceSchema, SourceTable } from '../source-schema.ts'
import { compile, type Sql, sql } from '../statement.ts'
import {
  type AnyRow,
  type ColumnRow,
  catalog,
  type IndexRow,
  inScope,
  placeKey,
  type RuleRow,
  readRows,
} from './catalog.ts'
import { fieldTypeOf, type Known } from './catalog-types.ts'
import { type ChecksByColumn, checksByColumn, exactCollation } from './checks.ts'
import { mariadb, mysql } from './dialect.ts'
import { inspection, isNumeric } from './truth-values.ts'
import { readViews, type Views } from './views.ts'

export const mariadbIntrospection: Introspection = family({
  dialect: mariadb,
  checks: (scope) => sql`
union all
select json_object('kind', 'check', 'schema', constraint_schema, 'table', table_name, 'name', constraint_name, 'clause', check_clause)
  from information_schema.check_constraints where ${inScope(sql`constraint_schema`, scope)}`,
  // Any other default is an expression or a quoted constant.
  isNoDefault: (text) => text === null || text === 'NULL',
  isUuid: ({ data }) => data === 'uuid',
})

export const mysqlIntrospection: Introspection = family({
  dialect: mysql,
  checks: (scope) => sql`
union all
select json_object('kind', 'check', 'schema', constraint_schema, 'table', '', 'name', constraint_name, 'clause', check_clause)
  from information_schema.check_constraints where ${inScope(sql`constraint_schema`, scope)}
union all
select json_object('kind', 'enforced', 'schema', constraint_schema, 'table', table_name, 'name', constraint_name)
  from information_schema.table_constraints
  where constraint_type = 'CHECK' and enforced = 'YES' and ${inScope(sql`constraint_schema`, scope)}`,
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
  const statement = (scope: IntrospectionScope) => compile(catalog(scope, own.checks(scope)), own.dialect)
  return {
    settings: [],
    statement,
    // A separate digest would not be faster: nearly all time is spent on the views of information_schema.
    digest: { statement, of: (rows) => rows.map(([text]) => text).join('\n') },
    inspect: (rows) => inspection(withoutDenied(readRows(rows)), own.dialect),
    parse: (rows, inspected = [], readCheck) => parse([...rows, ...inspected], own, readCheck),
  }
}

function parse(rows: Rows, own: Family, readCheck: ReadCheck | undefined): SourceSchema {
  const read = readRows(rows)
  const numbers = new Set(read.flatMap((row) => (row.kind === 'number' ? [placeKey(row, row.column)] : [])))
  const checks = checksByColumn(read, readCheck)
  const rules = new Map(read.flatMap((row) => (row.kind === 'rule' ? [[placeKey(row, row.name), row] as const] : [])))
  const columns = read.filter((row) => row.kind === 'column')
  const views = readViews(
    read.filter((row) => row.kind === 'view'),
    columns,
  )
  const found: Found = { checks, numbers, rules, views, engines: weakEngines(read, columns, views), own }
  const schema = assembleSchema(withoutDenied(read).flatMap((row) => catalogRow(row, found)))
  return { ...schema, tables: schema.tables.map(withOwnIndexes) }
}

/** The non-transactional engines, by their tables and the views of such tables. */
function weakEngines(
  rows: readonly AnyRow[],
  columns: readonly ColumnRow[],
  { behind }: Views,
): ReadonlyMap<string, string> {
  const engines = new Map(
    rows.flatMap((row) => {
      const { engine = null } = row.kind === 'table' ? row : {}
      return row.kind === 'table' && engine !== null && weak.test(engine) ? [[placeKey(row), engine] as const] : []
    }),
  )
  if (engines.size === 0) return engines
  return new Map(
    columns.flatMap((column) => {
      const engine = engines.get(placeKey(behind(column) ?? column))
      return engine === undefined ? [] : [[placeKey(column), engine] as const]
    }),
  )
}

/** Engines of MariaDB and MySQL that do not roll back a failed write. */
const weak = /^(?:myisam|mrg_myisam|aria|memory|csv|archive|blackhole|federated)$/i

/** Replaces columns that the user may not read, and tables without readable columns, by `skipped` rows. */
function withoutDenied(rows: readonly AnyRow[]): readonly AnyRow[] {
  const columns = rows.filter((row): row is ColumnRow => row.kind === 'column')
  const known = new Set(columns.map((row) => placeKey(row)))
  const readable = new Set(columns.flatMap((row) => (isReadable(row) ? [placeKey(row)] : [])))
  return rows.flatMap((row): readonly AnyRow[] => {
    const skipped = (column: string | null, reason: string) => [
      {
        kind: 'skipped' as const,
        schema: row.schema ?? '',
        table: 'table' in row ? row.table : '',
        column,
        reason,
      },
    ]
    const place = 'table' in row ? placeKey(row) : ''
    if (row.kind === 'table' && !readable.has(place)) {
      return skipped(null, row.form === 'VIEW' && !known.has(place) ? BROKEN : NOT_PERMITTED)
    }
    if (row.kind !== 'column' || isReadable(row)) return [row]
    return readable.has(place) ? skipped(row.name, NOT_PERMITTED) : []
  })
}

/** The catalog has only the name of a view that selects something deleted; every table has a column. */
const BROKEN = 'the database cannot open the view'

/** The catalog hides columns without any privilege; an empty list has no meaning. */
function isReadable({ privileges }: ColumnRow): boolean {
  return privileges === '' || /\bselect\b/i.test(privileges)
}

type Found = {
  readonly checks: ChecksByColumn
  readonly numbers: ReadonlySet<string>
  readonly rules: ReadonlyMap<string, RuleRow>
  readonly views: Views
  readonly engines: ReadonlyMap<string, string>
  readonly own: Family
}

function catalogRow(row: AnyRow, { checks, numbers, rules, views, engines, own }: Found): readonly CatalogRow[] {
  switch (row.kind) {
    case 'check':
    case 'enforced':
    case 'number':
    case 'rule':
    case 'view':
      return []
    case 'table': {
      const { schema, table } = row
      const engine = engines.get(placeKey(row))
      const isView = row.form === 'VIEW'
      const isReadOnly = engine !== undefined || (isView && !views.isWritable(row))
      const reason = `is read-only: the engine ${engine} has no transactions`
      const skipped = engine === undefined ? [] : [{ kind: 'skipped' as const, schema, table, column: null, reason }]
      return [{ ...row, isView, isReadOnly }, ...skipped]
    }
    case 'column': {
      const extra = views.behind(row)?.extra ?? COMPUTED
      const known = checks.get(placeKey(row, row.name)) ?? []
      const isJson = known.includes('json')
      const isNumber = numbers.has(placeKey(row, row.name)) || isNumeric(row, known)
      return [
        {
          ...row,
          column: withChecks(
            columnOf({ ...row, extra, ...(isJson && { data: 'json' }), ...(isNumber && { full: '' }) }, own),
            known.filter((check) => check !== 'json'),
            () => exactCollation.test(row.collation ?? ''),
          ),
        },
      ]
    }
    case 'index':
      return [{ ...row, index: indexKind(row), column: row.prefix === null || isWhole(row) ? row.column : null }]
    case 'foreignKey': {
      const references = { schema: row.toSchema, table: row.toTable, column: row.toColumn }
      const rule = rules.get(placeKey(row, row.name))
      return rule === undefined
        ? []
        : [{ ...row, references, onDelete: actionOf(rule.onDelete), onUpdate: actionOf(rule.onUpdate) }]
    }
    default:
      return [row]
  }
}

/** The catalog's mark of a generated column. */
const COMPUTED = 'GENERATED'

const PRIMARY = 'PRIMARY'

function indexKind({ name, repeats }: IndexRow): 'primary' | 'unique' | 'normal' {
  if (name === PRIMARY) return 'primary'
  return repeats === 0 ? 'unique' : 'normal'
}

/** Indexes of these kinds have a prefix length for every column. */
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

/**
 * Drops the name of a primary key, and marks indexes that were created for a foreign key and have its name, or for an
 * auto-increment column.
 */
function withOwnIndexes(table: SourceTable): SourceTable {
  const keys = new Map(table.foreignKeys.map(({ dbName, columns }) => [dbName, JSON.stringify(columns)]))
  // An auto-increment column must be the first of an index, which has the column's name if a migration created it.
  const counting = new Map(
    table.columns.flatMap(({ dbName, defaultKind }) =>
      defaultKind === 'autoincrement' ? [[dbName, JSON.stringify([dbName])] as const] : [],
    ),
  )
  const indexes = table.indexes.map((index): SourceIndex => {
    if (index.kind === 'primary') return { ...index, dbName: undefined }
    const columns = JSON.stringify(index.columns)
    const isImplied =
      index.kind === 'normal' && [keys, counting].some((known) => known.get(index.dbName ?? '') === columns)
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
