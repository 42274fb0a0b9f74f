/** Schema changes of a migration; `core/migration` decides them and `compile-change.ts` writes them as SQL. */
import type { FieldType } from '../../model/field-type.ts'
import type { ColumnShape, IndexKind, ReferentialAction } from '../../model/model.ts'

export type Change =
  | { readonly kind: 'createSchema'; readonly schema: string }
  | { readonly kind: 'dropSchema'; readonly schema: string }
  | {
      readonly kind: 'createTable'
      readonly table: TableRef
      readonly columns: readonly ColumnDefinition[]
      readonly primaryKey: IndexDefinition | undefined
    }
  | { readonly kind: 'dropTable'; readonly table: TableRef }
  | { readonly kind: 'renameTable'; readonly table: TableRef; readonly to: string }
  | {
      readonly kind: 'addColumn'
      readonly table: TableRef
      readonly column: ColumnDefinition
      readonly backfill: InitialValue | undefined
    }
  | { readonly kind: 'dropColumn'; readonly table: TableRef; readonly column: string }
  | { readonly kind: 'renameColumn'; readonly table: TableRef; readonly column: string; readonly to: string }
  /** In the following three, `column` is the new definition. */
  | {
      readonly kind: 'changeColumnType'
      readonly table: TableRef
      readonly column: ColumnDefinition
      readonly from: FieldType
      readonly conversion: Conversion
    }
  | { readonly kind: 'setNullable'; readonly table: TableRef; readonly column: ColumnDefinition }
  | {
      readonly kind: 'setDefault'
      readonly table: TableRef
      readonly column: ColumnDefinition
      /** The indexes of the table in the model; any other index of the column was created for its auto-increment. */
      readonly indexNames: readonly string[]
    }
  /** Sets or drops the column's default, by its `initial` value. */
  | { readonly kind: 'changeInitial'; readonly table: TableRef; readonly column: ColumnDefinition }
  | { readonly kind: 'createIndex'; readonly table: TableRef; readonly index: IndexDefinition }
  | { readonly kind: 'dropIndex'; readonly table: TableRef; readonly index: IndexDefinition }
  /** Creates this index again if the database dropped it because another index begins with its columns. */
  | { readonly kind: 'keepIndex'; readonly table: TableRef; readonly index: IndexDefinition }
  /** In databases with a collation per column, a new column takes the collation of the key that it will refer to. */
  | {
      readonly kind: 'takeCollation'
      readonly table: TableRef
      readonly column: ColumnDefinition
      readonly from: { readonly table: TableRef; readonly column: string }
    }
  | {
      readonly kind: 'addForeignKey'
      readonly table: TableRef
      readonly dbName: string
      readonly columns: readonly string[]
      readonly references: { readonly table: TableRef; readonly columns: readonly string[] }
      readonly onDelete: ReferentialAction
      readonly onUpdate: ReferentialAction
    }
  | {
      readonly kind: 'dropForeignKey'
      readonly table: TableRef
      readonly dbName: string
      readonly columns: readonly string[]
      /** True if an index in the model has the name of the key. */
      readonly isNamesake: boolean
    }

  /** Starts or renews recording. `isNew`: nothing was recorded before; `newFieldIds`: fields without earlier records. */
  | {
      readonly kind: 'recordHistory'
      readonly table: TableRef
      readonly recorded: Recorded
      readonly isNew: boolean
      readonly newFieldIds: readonly string[]
    }
  /** Ends the recording; `isDropped`: the table is gone, and its history is deleted. */
  | {
      readonly kind: 'endHistory'
      readonly table: TableRef
      readonly recorded: Pick<Recorded, 'collectionId' | 'changes'>
      readonly isDropped: boolean
    }

/** A column whose values are recorded. */
export type RecordedColumn = ColumnShape & { readonly id: string; readonly dbName: string }

/** The recorded parts of a collection; `changes` is the table for the records. */
export type Recorded = {
  readonly collectionId: string
  readonly changes: TableRef
  readonly key: readonly RecordedColumn[]
  readonly columns: readonly RecordedColumn[]
}

export type SourceChange = {
  readonly sourceId: string
  /** The index of the operation that causes the change. */
  readonly operation: number
  /** The fields that the change concerns, by API names, such as `articles.title`. */
  readonly subject?: string | undefined
  readonly change: Change
}

export type TableRef = { readonly schema: string | undefined; readonly dbName: string }

export type ColumnDefinition = {
  readonly dbName: string
  readonly type: FieldType
  readonly isList: boolean
  readonly isNullable: boolean
  readonly isAutoincrement: boolean
  /** The default for other writers; the service sends the value itself. */
  readonly initial: InitialValue | undefined
}

export type IndexDefinition = { readonly dbName: string; readonly kind: IndexKind; readonly columns: readonly string[] }

/**
 * `assign` stores the old value in the new column, `cast` converts it explicitly, `zone` adds or removes the zone UTC. A cast
 * would truncate a text that is too long; an assignment refuses it, except for trailing spaces.
 */
export type Conversion = 'assign' | 'cast' | 'zone'

/** The value of a new row; for a new required column, also of existing rows. `text` is a canonical parameter text. */
export type InitialValue =
  | { readonly kind: 'static'; readonly text: string }
  | { readonly kind: 'uuid' }
  | { readonly kind: 'now' }
