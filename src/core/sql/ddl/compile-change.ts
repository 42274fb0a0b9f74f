/**
 * Compiles the changes of a migration to DDL. Names are quoted, constants come from the model; `Ddl` has the differences
 * between databases.
 */

import type { ReferentialAction } from '../../model/model.ts'
import { table } from '../read/scope.ts'
import { empty, ident, join, literal, type Sql, sql } from '../statement.ts'
import type { Change } from './change.ts'
import { alter, changeInitial, columnDefinition } from './column-definition.ts'
import type { ChangeOf, DdlDialect, HistoryDdl } from './dialect.ts'

type Statements = readonly Sql[]

/** Statements in the order in which they must run. */
export function compileChange(change: Change, dialect: DdlDialect): Statements {
  const { ddl } = dialect
  switch (change.kind) {
    case 'createSchema':
      return [sql`create schema ${ident(change.schema)}`]
    case 'dropSchema':
      return ddl.dropSchema(change, dialect)
    case 'createTable':
      return [createTable(change, dialect)]
    case 'dropTable':
      return [sql`drop table ${table(change.table)}`]
    case 'renameTable':
      return ddl.renameTable(change)
    case 'addColumn':
      return ddl.addColumn(change, dialect)
    case 'dropColumn':
      return [sql`${alter(change.table)} drop column ${ident(change.column)}`]
    case 'renameColumn':
      return [sql`${alter(change.table)} rename column ${ident(change.column)} to ${ident(change.to)}`]
    case 'changeColumnType':
      return ddl.changeColumnType(change, dialect)
    case 'setNullable':
      return ddl.setNullable(change, dialect)
    case 'setDefault':
      return ddl.setDefault(change, dialect)
    case 'changeInitial':
      return [changeInitial(change.table, change.column, dialect)]
    case 'createIndex':
      return [createIndex(change)]
    case 'dropIndex':
      return ddl.dropIndex(change)
    case 'keepIndex':
      return ddl.keepIndex(change, dialect)
    case 'takeCollation':
      return ddl.takeCollation(change, dialect)
    case 'addForeignKey':
      return [addForeignKey(change)]
    case 'dropForeignKey':
      return ddl.dropForeignKey(change, dialect)
    case 'recordHistory':
      return recordHistory(change, dialect)
    case 'endHistory':
      return endHistory(change, dialect)
    default:
      return change satisfies never
  }
}

/** A new recording deletes the old history, because an unrecorded item may have taken the key of another one meanwhile. */
function recordHistory(change: ChangeOf<'recordHistory'>, dialect: DdlDialect): Statements {
  const { recorded, isNew, newFieldIds } = change
  const history = historyOf(dialect)
  const past = isNew ? [forgetChanges(recorded)] : history.forget(recorded, newFieldIds)
  return [...past, ...history.record(change, dialect)]
}

function endHistory(change: ChangeOf<'endHistory'>, dialect: DdlDialect): Statements {
  return [...historyOf(dialect).end(change), ...(change.isDropped ? [forgetChanges(change.recorded)] : [])]
}

function historyOf({ title, ddl: { history } }: DdlDialect): HistoryDdl {
  if (history === undefined) throw new TypeError(`${title} records nothing, and the migration let it pass`)
  return history
}

function forgetChanges({ changes, collectionId }: ChangeOf<'endHistory'>['recorded']): Sql {
  return sql`delete from ${table(changes)} where collection_id = ${literal(collectionId)}`
}

function createTable(change: ChangeOf<'createTable'>, dialect: DdlDialect): Sql {
  const { table: ref, columns, primaryKey } = change
  const lines = columns.map((column) => columnDefinition(column, dialect))
  const key =
    primaryKey === undefined
      ? []
      : [sql`constraint ${ident(primaryKey.dbName)} primary key (${names(primaryKey.columns)})`]
  const all = join([...lines, ...key, ...dialect.ddl.extraKeys(change)])
  return sql`create table ${table(ref)} (${all})${dialect.ddl.tableOptions}`
}

export function createIndex({ table: ref, index }: Omit<ChangeOf<'createIndex'>, 'kind'>): Sql {
  const columns = names(index.columns)
  if (index.kind === 'primary') {
    return sql`${alter(ref)} add constraint ${ident(index.dbName)} primary key (${columns})`
  }
  const unique = index.kind === 'unique' ? sql`unique ` : empty
  return sql`create ${unique}index ${ident(index.dbName)} on ${table(ref)} (${columns})`
}

const actions: Readonly<Record<ReferentialAction, Sql>> = {
  cascade: sql`cascade`,
  restrict: sql`restrict`,
  noAction: sql`no action`,
  setNull: sql`set null`,
  setDefault: sql`set default`,
}

function addForeignKey(change: ChangeOf<'addForeignKey'>): Sql {
  const { dbName, columns, references, onDelete, onUpdate } = change
  const target = sql`${table(references.table)} (${names(references.columns)})`
  const behaviour = sql`on delete ${actions[onDelete]} on update ${actions[onUpdate]}`
  return sql`${alter(change.table)} add constraint ${ident(dbName)} foreign key (${names(columns)}) references ${target} ${behaviour}`
}

function names(columns: readonly string[]): Sql {
  return join(columns.map((column) => ident(column)))
}
