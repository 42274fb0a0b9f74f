/** Which rows the operations of a plan or migration touch, which of them destroy values, and the questions how many. */
import { isSameType } from '../migration/conversion.ts'
import type { Operation } from '../migration/operation.ts'
import type { Collection, Model, PrimitiveField } from '../model/model.ts'
import type { TableRef } from '../sql/ddl/change.ts'
import { table } from '../sql/read/scope.ts'
import { compile, ident, integer, join, type Sql, type SqlSyntax, type Statement, sql } from '../sql/statement.ts'

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

/** The rows of a collection that operations write to, or take values from. */
export type Touched = {
  readonly collection: Collection
  /** Those with a value in one of these; where there are none, all. */
  readonly fields: readonly PrimitiveField[]
  readonly destroys: boolean
}

/** More are not counted. */
export const MOST_COUNTED = 1_000_000

/** `model` is the one before. Of views the database keeps no rows. */
export function touchedBy(operations: readonly Operation[], model: Model): readonly Touched[] {
  const touched = new Map<Collection, { fields: Set<PrimitiveField>; isWhole: boolean; destroys: boolean }>()
  for (const { kind, data } of operations) {
    if (kind !== 'deleteCollection' && kind !== 'updateCollection') continue
    const collection = model.collections.get(data.id)
    if (collection === undefined || collection.isView) continue
    const of = touched.get(collection) ?? { fields: new Set(), isWhole: false, destroys: false }
    if (kind === 'deleteCollection') Object.assign(of, { isWhole: true, destroys: true })
    for (const change of kind === 'deleteCollection' ? [] : data.operations) {
      const field = collection.primitives.find((one) => 'id' in change.data && one.id === change.data.id)
      if (change.kind === 'deletePrimitiveField' && field !== undefined) {
        of.fields.add(field)
        of.destroys = true
      }
      if (change.kind === 'updatePrimitiveField' && field !== undefined) {
        const isRetyped = change.data.operations.some(
          (one) => one.kind === 'changeType' && !isSameType(field.type, one.data.type),
        )
        if (isRetyped) of.fields.add(field)
      }
      if (change.kind === 'createPrimitiveField' && !change.data.isNullable) of.isWhole = true
    }
    if (of.isWhole || of.fields.size > 0) touched.set(collection, of)
  }
  return [...touched].map(([collection, { fields, isWhole, destroys }]) => {
    return { collection, fields: isWhole ? [] : [...fields], destroys }
  })
}

/** One row with their number, or one more than are counted. */
export function countTouched({ collection: { schema, dbName }, fields }: Touched, dialect: SqlSyntax): Statement {
  const some = join(
    fields.map((field) => sql`${ident('t', field.dbName)} is not null`),
    sql` or `,
  )
  const where = fields.length === 0 ? sql`` : sql` where ${some}`
  const rows = sql`select 1 as one from ${table({ schema, dbName })} t${where} limit ${integer(MOST_COUNTED + 1)}`
  return compile(sql`select count(*) from (${rows}) c`, dialect)
}
