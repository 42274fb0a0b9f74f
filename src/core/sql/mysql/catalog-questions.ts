/** Queries of the catalogs of MariaDB and MySQL for obstacles of a migration (docs/contract.md#all-or-nothing). */
import type { FieldType } from '../../model/field-type.ts'
import type { TableRef } from '../ddl/change.ts'
import type { CatalogQuestions } from '../ddl/dialect.ts'
import { empty, integer, join, literal, type Sql, sql } from '../statement.ts'
import { type Attributes, columnTriggers, columnUsers, lostAttributes, unreadableDefault } from './column-attributes.ts'
import { inTable, schemaOf } from './names.ts'
import { usingViews, viewsNaming } from './view-users.ts'

/** Maximum bytes of an InnoDB key. */
export const MAX_KEY_BYTES = 3_072

export function catalogOf(attributes: Attributes): CatalogQuestions {
  return {
    tables: (ref, gone) => {
      const all = sql`select count(*) from information_schema.tables where ${inTable(ref)}`
      return gone.length === 0 ? all : sql`${all} and table_schema not in (${join(gone.map(schemaOf))})`
    },
    columns: (ref, column) =>
      sql`select count(*) from information_schema.columns where ${inTable(ref)} and column_name = ${literal(column)}`,
    referrers: (ref, dropped) => {
      const others = sql`select count(*) from information_schema.key_column_usage
        where referenced_table_schema = ${schemaOf(ref)} and referenced_table_name = ${literal(ref.dbName)}
          and not (${inTable(ref)})`
      return dropped.length === 0 ? others : sql`${others} and constraint_name not in (${join(dropped.map(literal))})`
    },
    tooLongKey: (ref, columns) => sql`select coalesce(sum(character_octet_length), 0) > ${integer(MAX_KEY_BYTES)}
      from information_schema.columns where ${inTable(ref)} and column_name in (${join(columns.map(literal))})`,
    lost: (ref, column, isCast) => lostAttributes(ref, column, isCast, attributes),
    unreadableDefault: attributes.check && unreadableDefault,
    users: (ref, column, dropped) => columnUsers(ref, column, dropped, attributes),
    triggers: columnTriggers,
    views: viewsNaming,
    usingViews,
  }
}

/** Leading zeros (`zerofill`) exist only in a number's text. */
export function hasOwnRules(ref: TableRef, column: string, to: FieldType): Sql {
  const isFilled = to.name === 'string' ? sql` or column_type like '%zerofill%'` : empty
  return sql`select count(*) from information_schema.columns where ${inTable(ref)} and column_name = ${literal(column)}
    and (data_type in ('enum', 'set', 'inet4', 'inet6')${isFilled})`
}
