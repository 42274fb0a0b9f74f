/** What the steps of a comparison of a model with a database share. */
import type { CollectionRecord, IndexRecord, PrimitiveFieldRecord } from '../model/model.ts'
import type { SourceTable } from '../sql/source-schema.ts'

export type DiffContext = {
  /** By the workspace's convention; numbering is done here. */
  readonly toApiName: (dbName: string) => string
  readonly newId: () => string
  readonly workspace: string
}

export type TableMatch = {
  readonly kept: readonly { readonly collection: CollectionRecord; readonly table: SourceTable }[]
  readonly added: readonly { readonly table: SourceTable; readonly namespaceId: string | null }[]
  readonly gone: readonly CollectionRecord[]
  readonly knowsRelations: boolean
  /** Of the collections that are kept. */
  readonly ids: ReadonlySet<string>
}

export type SchemaOperation = { readonly kind: string; readonly data: object }

/** A collection as it is now. */
export type CollectionDiff = {
  readonly collection: CollectionRecord
  readonly table: SourceTable
  readonly fields: readonly PrimitiveFieldRecord[]
  readonly fieldByColumn: ReadonlyMap<string, PrimitiveFieldRecord>
  readonly indexes: readonly IndexRecord[]
  /** Of the fields that are, relations apart from new ones included. */
  readonly names: Set<string>
  readonly operations: readonly SchemaOperation[]
}
