/** A model seen from its database: the schema that an introspection would find, and ways to change it behind our back. */

import { conventionalName } from '../../../src/core/migration/derive.ts'
import { diffModel } from '../../../src/core/migration/diff/diff.ts'
import { buildModel, type ModelRecords } from '../../../src/core/model/model.ts'
import { atOnce } from '../../../src/core/parts.ts'
import type { SourceColumn, SourceSchema, SourceTable } from '../../../src/core/sql/source-schema.ts'
import { id } from './build.ts'

/** Collections without a namespace stand in the default one. */
export function schemaOf(records: ModelRecords, sourceId: string = id('_system')): SourceSchema {
  const model = buildModel(1, records)
  const own = [...model.collections.values()].filter((collection) => collection.sourceId === sourceId)
  const tables = own.map((collection): SourceTable => {
    const owned = collection.relations.filter(({ isForward, target }) => isForward && target.sourceId === sourceId)
    return {
      schema: collection.schema ?? 'public',
      dbName: collection.dbName,
      isReadOnly: collection.isReadOnly,
      isView: collection.isView,
      columns: collection.primitives.map(
        ({ dbName, type, isNullable, isList, isReadOnly, isLoose, native, defaultValue }) => ({
          dbName,
          isLoose,
          native,
          type,
          isNullable,
          isList,
          isReadOnly,
          defaultKind:
            defaultValue?.source !== 'connectorManaged'
              ? 'none'
              : defaultValue.isAutoincrement === true
                ? 'autoincrement'
                : 'database',
        }),
      ),
      indexes: collection.indexes.map(({ dbName, kind, fields }) => ({
        dbName,
        kind,
        columns: fields.map((field) => field.dbName),
        isImplied: false,
      })),
      foreignKeys: owned.flatMap((relation) => {
        const record = records.relationFields.find((field) => field.id === relation.id)
        const constraint = records.constraints.find((one) => one.id === record?.constraintId)
        if (constraint === undefined) return []
        const { dbName, onDelete, onUpdate } = constraint
        return {
          dbName,
          onDelete,
          onUpdate,
          columns: relation.joins.map(({ own: field }) => field.dbName),
          references: {
            schema: relation.target.schema ?? 'public',
            dbName: relation.target.dbName,
            columns: relation.joins.map(({ other }) => other.dbName),
          },
        }
      }),
    }
  })
  const namespaces = records.namespaces.filter((one) => one.sourceId === sourceId && !one.isSystem)
  return {
    defaultNamespace: 'public',
    knowsRelations: true,
    skipped: [],
    namespaces: namespaces.map(({ dbName }) => dbName),
    tables,
  }
}

/** `schema` with one of its tables changed, or without it where `change` answers nothing. */
export function withTable(
  schema: SourceSchema,
  name: string,
  change: (table: SourceTable) => SourceTable | undefined,
): SourceSchema {
  const tables = schema.tables.flatMap((table) => (table.dbName === name ? (change(table) ?? []) : table))
  return { ...schema, tables }
}

export function withColumn(
  schema: SourceSchema,
  path: string,
  change: (column: SourceColumn) => SourceColumn | undefined,
): SourceSchema {
  const [tableName = '', columnName] = path.split('.')
  return withTable(schema, tableName, (table) => ({
    ...table,
    columns: table.columns.flatMap((column) => (column.dbName === columnName ? (change(column) ?? []) : column)),
  }))
}

export function table(dbName: string, columns: readonly SourceColumn[], more: Partial<SourceTable> = {}): SourceTable {
  return {
    schema: 'service_shop_data',
    dbName,
    isReadOnly: false,
    isView: false,
    columns,
    indexes: [],
    foreignKeys: [],
    ...more,
  }
}

export function column(dbName: string, more: Partial<SourceColumn> = {}): SourceColumn {
  const shape = {
    isNullable: false,
    isList: false,
    isReadOnly: false,
    isLoose: false,
    native: null,
    defaultKind: 'none',
  } as const
  return { dbName, type: { name: 'int64' }, ...shape, ...more }
}

/** What an introspection makes of `schema`; new things get the ids `new 1`, `new 2`, … */
export function diff(
  records: ModelRecords,
  schema: SourceSchema,
  sourceId: string = id('_system'),
  newId: () => string = counted(),
) {
  const toApiName = (dbName: string) => conventionalName(dbName, (text) => text)
  return atOnce(diffModel(records, sourceId, { schema, context: { toApiName, newId, workspace: 'shop' } }))
}

function counted(): () => string {
  let count = 0
  return () => {
    count += 1
    return id(`new ${count}`)
  }
}
