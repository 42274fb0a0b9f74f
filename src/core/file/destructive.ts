/** Which operations of a plan destroy values, and the questions how many. */
import type { Operation } from '../migration/operation.ts'
import type { Collection, Model, PrimitiveField } from '../model/model.ts'
import type { TableRef } from '../sql/change.ts'
import { table } from '../sql/read/scope.ts'
import { compile, ident, type Sql, type SqlSyntax, type Statement, sql } from '../sql/statement.ts'

export type Destruction = {
  readonly operation: number
  readonly path: string
  readonly sourceId: string
  readonly collection: Collection
  /** Those that go; none where the collection does. */
  readonly fields: readonly PrimitiveField[]
  /** A scalar query: how many rows lose something now. */
  readonly count: Sql
}

/** `model` is the one before. */
export function destructionsOf(operations: readonly Operation[], model: Model): readonly Destruction[] {
  return operations.flatMap(({ kind, data }, operation): readonly Destruction[] => {
    if (kind !== 'deleteCollection' && kind !== 'updateCollection') return []
    const collection = model.collections.get(data.id)
    if (collection === undefined) return []
    const { sourceId, apiName, schema, dbName } = collection
    const ref: TableRef = { schema, dbName }
    if (kind === 'deleteCollection') {
      return [
        { operation, path: apiName, sourceId, collection, fields: [], count: sql`select count(*) from ${table(ref)}` },
      ]
    }
    return data.operations.flatMap((change) => {
      if (change.kind !== 'deletePrimitiveField') return []
      const field = collection.primitives.find(({ id }) => id === change.data.id)
      if (field === undefined) return []
      const count = sql`select count(*) from ${table(ref)} t where ${ident('t', field.dbName)} is not null`
      return [{ operation, path: `${apiName}.${field.apiName}`, sourceId, collection, fields: [field], count }]
    })
  })
}

/** One row with the number. */
export function countStatement({ count }: Destruction, dialect: SqlSyntax): Statement {
  return compile(sql`select (${count})`, dialect)
}
