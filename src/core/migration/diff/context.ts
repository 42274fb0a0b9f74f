/** Types shared by the steps that compare a model with a database. */
import type { CollectionRecord, IndexRecord, PrimitiveFieldRecord } from '../../model/model.ts'
import type { SourceTable } from '../../sql/source-schema.ts'

export type DiffContext = {
  /** The API name derived from a database name (`conventionalName`); the caller resolves duplicates. */
  readonly toApiName: (dbName: string) => string
  readonly newId: () => string
  readonly workspace: string
}

export type TableMatch = {
  readonly kept: readonly { readonly collection: CollectionRecord; readonly table: SourceTable }[]
  readonly added: readonly { readonly table: SourceTable; readonly namespaceId: string | null }[]
  readonly gone: readonly CollectionRecord[]
  readonly knowsRelations: boolean
  /** Ids of the remaining collections. */
  readonly ids: ReadonlySet<string>
}

export type SchemaOperation = { readonly kind: string; readonly data: object }

/** A collection with its current fields and indexes. */
export type CollectionDiff = {
  readonly collection: CollectionRecord
  readonly table: SourceTable
  readonly fields: readonly PrimitiveFieldRecord[]
  readonly fieldByColumn: ReadonlyMap<string, PrimitiveFieldRecord>
  readonly indexes: readonly IndexRecord[]
  /** Names of the current primitive fields, and of all relations except new ones. */
  readonly names: Set<string>
  readonly operations: readonly SchemaOperation[]
}
