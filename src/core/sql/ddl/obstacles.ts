/**
 * Obstacles of a migration (docs/contract.md#all-or-nothing): changes → queries to the database in its state before the first
 * change. Objects that the migration itself creates are not checked.
 */
import { integers } from '../../model/codec/number.ts'
import type { FieldType } from '../../model/field-type.ts'
import type { Parts } from '../../parts.ts'
import type { DatabaseErrorReason } from '../database-error.ts'
import { table } from '../read/scope.ts'
import { compile, ident, integer, join, literal, type Sql, type Statement, sql } from '../statement.ts'
import type { ColumnDefinition, IndexDefinition, SourceChange, TableRef } from './change.ts'
import type { ChangeOf, Ddl, DdlDialect } from './dialect.ts'

export type Obstacle = {
  readonly operation: number
  readonly subject: string | undefined
  /** A scalar query that counts the obstructing rows or catalog entries. */
  readonly count: Sql
  readonly cause: ObstacleCause
  /** The columns that `count` reads. */
  readonly reads: readonly ReadColumns[]
  /** Set for a query that fails if a row obstructs the change; `rows` counts these rows, which the database may not support. */
  readonly trial?: { readonly rows: Sql | undefined }
  /** Set if the query returns a text: extracts the obstructing views. */
  readonly viewsIn?: (text: string) => readonly string[]
}

/** Columns of a table, with their names before the migration; without columns, the existence of rows. */
export type ReadColumns = { readonly table: TableRef; readonly columns: readonly string[] }

export type ObstacleCause =
  | { readonly kind: 'data'; readonly reason: DatabaseErrorReason }
  | { readonly kind: 'catalog'; readonly reason: CatalogReason }

type CatalogReason = 'nameInUse' | 'inUse' | 'unsupported' | 'conversion'

/** Compiles one statement, whose row has the count of each obstacle. */
export function compileCounts(obstacles: readonly Obstacle[], dialect: DdlDialect): Statement {
  return compile(sql`select ${join(obstacles.map(({ count }) => sql`(${count})`))}`, dialect)
}

/** `changes` are those of one source, in order. */
export function* obstaclesOf(changes: readonly SourceChange[], dialect: DdlDialect): Parts<readonly Obstacle[]> {
  const before = createBefore()
  const { ddl } = dialect
  const { catalog } = ddl
  const obstacles: Obstacle[] = []
  for (const { operation, subject, change } of changes) {
    const of = { operation, subject }
    yield
    const inData = (
      reason: DatabaseErrorReason,
      count: Sql | undefined,
      ...reads: readonly (ReadColumns | undefined)[]
    ) => {
      const known = reads.filter((one) => one !== undefined)
      if (count !== undefined) obstacles.push({ ...of, count, cause: { kind: 'data', reason }, reads: known })
    }
    const inCatalog = (reason: CatalogReason, count: Sql | undefined) => {
      if (count !== undefined) obstacles.push({ ...of, count, cause: { kind: 'catalog', reason }, reads: [] })
    }
    const inViews = (ref: TableRef, column?: string) => {
      if (catalog === undefined) return
      const viewsIn = (text: string) => catalog.usingViews(text, ref, column)
      const cause = { kind: 'catalog', reason: 'inUse' } as const
      obstacles.push({ ...of, count: catalog.views(ref), cause, reads: [], viewsIn })
    }
    const inColumn = (ref: TableRef, column: string) => {
      inViews(ref, column)
      inCatalog('inUse', catalog?.triggers(ref, column))
    }
    const inAttributes = (ref: TableRef, column: ColumnDefinition, how: { isCast: boolean; hasDefault: boolean }) => {
      const [place, dbName] = [before.tableOf(ref), before.columnOf(ref, column.dbName)]
      if (!place || !dbName) return
      inCatalog('unsupported', catalog?.lost(place, { ...column, dbName }, how.isCast))
      if (how.hasDefault) inCatalog('unsupported', catalog?.unreadableDefault?.(place, dbName))
    }
    const inRules = (ref: TableRef, { dbName: name, type }: ColumnDefinition) => {
      const [place, dbName] = [before.tableOf(ref), before.columnOf(ref, name)]
      if (place && dbName) inCatalog('conversion', ddl.hasOwnRules(place, dbName, type))
    }

    switch (change.kind) {
      case 'createTable':
        inCatalog(
          'nameInUse',
          before.isFreed(change.table) ? undefined : catalog?.tables(change.table, before.namesakes(change.table)),
        )
        before.make(change.table)
        break
      case 'dropTable': {
        const ref = before.tableOf(change.table)
        if (ref !== undefined) {
          inCatalog('inUse', catalog?.referrers(ref, before.droppedKeys))
          inViews(ref)
        }
        before.free(change.table)
        break
      }
      case 'renameTable': {
        const to = { ...change.table, dbName: change.to }
        inCatalog('nameInUse', before.isFreed(to) ? undefined : catalog?.tables(to, before.namesakes(to)))
        const ref = before.tableOf(change.table)
        if (ref !== undefined) inViews(ref)
        before.rename(change.table, to)
        break
      }
      case 'addColumn': {
        const { column, backfill } = change
        const ref = before.tableOf(change.table)
        if (ref !== undefined) {
          const isKnown = before.isFreed(change.table, column.dbName)
          inCatalog('nameInUse', isKnown ? undefined : catalog?.columns(ref, column.dbName))
          const needsValue = !column.isNullable && !column.isAutoincrement && backfill === undefined
          if (needsValue) inData('null', sql`select count(*) from ${table(ref)}`, before.readColumns(change.table, []))
        }
        before.makeColumn(change.table, column.dbName)
        break
      }
      case 'dropColumn': {
        const [ref, column] = [before.tableOf(change.table), before.columnOf(change.table, change.column)]
        if (ref !== undefined && column !== undefined) {
          const dropped = before.droppedOf(ref)
          inCatalog('inUse', catalog?.users(ref, column, dropped))
          inColumn(ref, column)
          dropped.push(column)
        }
        before.freeColumn(change.table, change.column)
        break
      }
      case 'renameColumn': {
        const ref = before.tableOf(change.table)
        const isKnown = ref === undefined || before.isFreed(change.table, change.to)
        inCatalog('nameInUse', isKnown ? undefined : catalog?.columns(ref, change.to))
        const column = before.columnOf(change.table, change.column)
        if (ref !== undefined && column !== undefined) inColumn(ref, column)
        before.renameColumn(change.table, change.column, change.to)
        break
      }
      case 'changeColumnType':
        inRules(change.table, change.column)
        inAttributes(change.table, change.column, {
          isCast: change.conversion === 'cast',
          hasDefault: change.conversion !== 'cast',
        })
        inData(
          'range',
          before.rows(change.table, [change.column.dbName], ([column]) => column && misfits(change, column, ddl)),
          before.readColumns(change.table, [change.column.dbName]),
        )
        tries(before, change, dialect).forEach((trial) => {
          obstacles.push({ ...of, ...trial, cause: { kind: 'data', reason: 'range' } })
        })
        break
      case 'setNullable':
        inAttributes(change.table, change.column, { isCast: false, hasDefault: true })
        if (!change.column.isNullable) {
          const names = [change.column.dbName]
          inData('null', before.rows(change.table, names, anyNull), before.readColumns(change.table, names))
        }
        break
      case 'createIndex': {
        const { index } = change
        const ref = before.tableOf(change.table)
        const reads = before.readColumns(change.table, index.columns)
        if (index.kind === 'primary') inData('null', before.rows(change.table, index.columns, anyNull), reads)
        inData('unique', index.kind === 'normal' ? undefined : doubled(before, change.table, index), reads)
        if (ref !== undefined) {
          const own = index.columns.flatMap((name) => before.columnOf(change.table, name) ?? [])
          if (own.length === index.columns.length) inCatalog('unsupported', catalog?.tooLongKey(ref, own))
        }
        break
      }
      case 'addForeignKey':
        inData(
          'foreignKey',
          orphans(before, change),
          before.readColumns(change.table, change.columns),
          before.readColumns(change.references.table, change.references.columns),
        )
        break
      case 'dropForeignKey':
        before.droppedKeys.push(change.dbName)
        break
      case 'setDefault':
        inAttributes(change.table, change.column, { isCast: false, hasDefault: false })
        break
      case 'createSchema':
      case 'dropSchema':
      case 'changeInitial':
      case 'dropIndex':
      case 'keepIndex':
      case 'takeCollation':
      case 'recordHistory':
      case 'endHistory':
        break
      default:
        change satisfies never
    }
  }
  return obstacles
}

type Before = ReturnType<typeof createBefore>

/** Tracks the names that the changed tables and columns had before the migration. */
function createBefore() {
  const keyOf = ({ schema, dbName }: TableRef) => JSON.stringify([schema, dbName])
  /** By current name; undefined for tables that the migration creates. */
  const tables = new Map<string, TableRef | undefined>()
  const columns = new Map<string, Map<string, string | undefined>>()
  const freed = new Set<string>()
  const freedByName = new Map<string, TableRef[]>()
  const dropped = new Map<string, string[]>()
  const namesOf = (ref: TableRef) => {
    const names = columns.get(keyOf(ref)) ?? new Map<string, string | undefined>()
    columns.set(keyOf(ref), names)
    return names
  }
  const giveFree = (ref: TableRef) => {
    freed.add(keyOf(ref))
    freedByName.set(ref.dbName, [...(freedByName.get(ref.dbName) ?? []), ref])
  }
  const columnKey = (ref: TableRef, name: string) => `${keyOf(ref)} ${name}`
  const tableOf = (ref: TableRef) => (tables.has(keyOf(ref)) ? tables.get(keyOf(ref)) : ref)
  const columnOf = (ref: TableRef, name: string) => (namesOf(ref).has(name) ? namesOf(ref).get(name) : name)

  return {
    droppedKeys: [] as string[],
    /** The deleted columns of a table, by their names before the migration. */
    droppedOf(ref: TableRef): string[] {
      const own = dropped.get(keyOf(ref)) ?? []
      dropped.set(keyOf(ref), own)
      return own
    },
    tableOf,
    columnOf,
    isFreed: (ref: TableRef, column?: string) => freed.has(column === undefined ? keyOf(ref) : columnKey(ref, column)),
    /** Deleted tables of this name in any schema, because one may name the default schema and the other omit it. */
    namesakes: ({ dbName }: TableRef) => freedByName.get(dbName) ?? [],
    make(ref: TableRef) {
      tables.set(keyOf(ref), undefined)
      columns.delete(keyOf(ref))
    },
    free(ref: TableRef) {
      tables.delete(keyOf(ref))
      columns.delete(keyOf(ref))
      giveFree(ref)
    },
    rename(from: TableRef, to: TableRef) {
      tables.set(keyOf(to), tableOf(from))
      columns.set(keyOf(to), namesOf(from))
      columns.delete(keyOf(from))
      tables.delete(keyOf(from))
      giveFree(from)
    },
    makeColumn: (ref: TableRef, name: string) => void namesOf(ref).set(name, undefined),
    freeColumn: (ref: TableRef, name: string) => void freed.add(columnKey(ref, name)),
    renameColumn(ref: TableRef, from: string, to: string) {
      namesOf(ref).set(to, columnOf(ref, from))
      freed.add(columnKey(ref, from))
    },
    /** Undefined if a part is new. */
    readColumns(ref: TableRef, names: readonly string[]): ReadColumns | undefined {
      const [place, columns] = [tableOf(ref), names.flatMap((name) => columnOf(ref, name) ?? [])]
      return place && columns.length === names.length ? { table: place, columns } : undefined
    },
    /** Counts the table's rows that meet a condition on its columns; undefined if a part is new. */
    rows(ref: TableRef, names: readonly string[], condition: (columns: readonly Sql[]) => Sql | undefined) {
      const [place, known] = [tableOf(ref), names.map((name) => columnOf(ref, name))]
      if (place === undefined || known.includes(undefined)) return undefined
      const where = condition(known.map((name) => ident('b', name ?? '')))
      return where && sql`select count(*) from ${table(place)} b where ${where}`
    },
  }
}

function anyNull(columns: readonly Sql[]): Sql {
  return join(
    columns.map((column) => sql`${column} is null`),
    sql` or `,
  )
}

function noNull(columns: readonly Sql[]): Sql {
  return join(
    columns.map((column) => sql`${column} is not null`),
    sql` and `,
  )
}

/** Counts the combinations of values that occur more than once. */
function doubled(before: Before, ref: TableRef, { columns: names }: IndexDefinition): Sql | undefined {
  const groups = before.rows(
    ref,
    names,
    (columns) => sql`${noNull(columns)} group by ${join(columns)} having count(*) > 1`,
  )
  return groups && sql`select count(*) from (${groups}) d`
}

function orphans(before: Before, { table: ref, columns, references }: ChangeOf<'addForeignKey'>): Sql | undefined {
  const target = before.tableOf(references.table)
  const keys = references.columns.map((name) => before.columnOf(references.table, name))
  if (target !== undefined && keys.includes(undefined)) return undefined
  return before.rows(ref, columns, (own) => {
    if (target === undefined) return noNull(own)
    const equal = own.map((column, at) => sql`${column} = ${ident('k', keys[at] ?? '')}`)
    return sql`${noNull(own)} and not exists (select 1 from ${table(target)} k where ${join(equal, sql` and `)})`
  })
}

/** Texts that only the database can convert, by the rules of its release. */
function tries(
  before: Before,
  { table: ref, column, from, conversion }: ChangeOf<'changeColumnType'>,
  dialect: DdlDialect,
) {
  const reads = before.readColumns(ref, [column.dbName])
  const [name] = reads?.columns ?? []
  const isTried = conversion === 'cast' && from.name === 'string' && name !== undefined && reads !== undefined
  if (!isTried) return []
  const { tried, unread } = dialect.ddl
  const value = ident('b', name)
  const aggregate = tried?.(column, value, dialect)
  if (aggregate === undefined) return []
  const wrong = ofElements(column, value, dialect.ddl, (one) => unread?.(column, one, dialect))
  return [
    {
      count: sql`select 0 * ${aggregate} from ${table(reads.table)} b`,
      reads: [reads],
      trial: { rows: wrong && sql`select count(*) from ${table(reads.table)} b where ${wrong}` },
    },
  ]
}

/** A condition for old values, or elements of lists, that the new type cannot hold; undefined if all fit. */
function misfits(change: ChangeOf<'changeColumnType'>, value: Sql, ddl: Ddl): Sql | undefined {
  return ofElements(change.column, value, ddl, (one) => misfit(change, one, ddl))
}

/** A condition on a value, or on at least one element of a list. */
function ofElements(
  { isList }: ColumnDefinition,
  value: Sql,
  ddl: Ddl,
  conditionOn: (one: Sql) => Sql | undefined,
): Sql | undefined {
  if (!isList) return conditionOn(value)
  const [elements, condition] = [ddl.elements?.(value), conditionOn(ident('e', 'v'))]
  return elements && condition && sql`exists (select 1 from ${elements} where ${condition})`
}

function misfit({ column: { type }, from, conversion }: ChangeOf<'changeColumnType'>, value: Sql, ddl: Ddl) {
  if (type.name === 'string') {
    return type.params.length === 'fixed' && from.name === 'string'
      ? sql`char_length(${value}) > ${integer(type.params.value)}`
      : undefined
  }
  if (from.name === 'string') {
    const misread = ddl.misreads(type, value)
    const range = outOfRange(type, sql`cast(${value} as decimal(65, 0))`)
    return misread && range ? sql`case when ${misread} then true else ${range} end` : misread
  }
  if (conversion === 'zone') return undefined
  if (type.name === 'decimal') return type.params.kind === 'constrained' ? tooLarge(type, value) : undefined
  return outOfRange(type, value)
}

function outOfRange({ name }: FieldType, value: Sql): Sql | undefined {
  if (!Object.hasOwn(integers, name)) return undefined
  const { low, lowDigits, highDigits } = integers[name as keyof typeof integers]
  return sql`${value} not between ${literal(low < 0 ? `-${lowDigits}` : lowDigits)} and ${literal(highDigits)}`
}

function tooLarge({ params }: Extract<FieldType, { name: 'decimal' }>, value: Sql): Sql | undefined {
  if (params.kind !== 'constrained') return undefined
  const limit = literal(`1${'0'.repeat(Math.max(params.precision - params.scale, 0))}`)
  return sql`abs(${value}) >= cast(${limit} as decimal(65, 0))`
}
