/** Describes the tables of a database for previews, in the form of a connector's answer to `introspect`. */
import type { FieldType } from '../model/field-type.ts'
import type { SourceSchema, SourceTable } from './source-schema.ts'

export type DescribedSchema = {
  readonly namespaces: readonly { readonly name: string }[]
  readonly collections: readonly {
    readonly name: string
    readonly namespace: string
    readonly fields: readonly {
      readonly name: string
      readonly type: FieldType
      readonly isNullable: boolean
      readonly isList: boolean
      readonly isReadOnly: boolean
    }[]
    readonly key: readonly string[]
    readonly operations: readonly string[]
  }[]
}

export function describeSchema({ namespaces, tables }: SourceSchema): DescribedSchema {
  return {
    namespaces: namespaces.map((name) => ({ name })),
    collections: tables.map((table) => {
      const key = table.indexes.find(({ kind }) => kind === 'primary')?.columns ?? []
      return {
        name: table.dbName,
        namespace: table.schema,
        fields: table.columns.map(({ dbName, type, isNullable, isList, isReadOnly }) => ({
          name: dbName,
          type,
          isNullable,
          isList,
          isReadOnly,
        })),
        key,
        operations: operationsOf(table, key.length === 1),
      }
    }),
  }
}

/** Operations on a single item require a key of one column. */
function operationsOf({ isReadOnly }: SourceTable, isKeyed: boolean): readonly string[] {
  const reads = isKeyed ? ['readMany', 'readOne'] : ['readMany']
  if (isReadOnly) return reads
  const writes = ['createMany', 'updateMany', 'deleteMany']
  return isKeyed ? [...reads, ...writes, 'updateOne', 'deleteOne'] : [...reads, ...writes]
}
