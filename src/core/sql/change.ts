/** Schema changes of a migration; `core/migration` decides them and `ddl.ts` writes them as SQL. */
import type { FieldType } from '../model/field-type.ts'
import type { IndexKind, ReferentialAction } from '../model/model.ts'

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
      readonly backfill: Backfill | undefined
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
  | { readonly kind: 'setDefault'; readonly table: TableRef; readonly column: ColumnDefinition }
  | { readonly kind: 'createIndex'; readonly table: TableRef; readonly index: IndexDefinition }
  | { readonly kind: 'dropIndex'; readonly table: TableRef; readonly index: IndexDefinition }
  /** Where a database compares texts by column, a new column takes this from the key that it will refer to. */
  | {
      readonly kind: 'takeCollation'
      readonly table: TableRef
      readonly column: string
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

export type SourceChange = {
  readonly sourceId: string
  /** The index of the operation that causes the change. */
  readonly operation: number
  readonly change: Change
}

export type TableRef = { readonly schema: string | undefined; readonly dbName: string }

/** Defaults other than auto-increment are filled in by the service and unknown to the database. */
export type ColumnDefinition = {
  readonly dbName: string
  readonly type: FieldType
  readonly isList: boolean
  readonly isNullable: boolean
  readonly isAutoincrement: boolean
}

export type IndexDefinition = { readonly dbName: string; readonly kind: IndexKind; readonly columns: readonly string[] }

/**
 * `assign` stores the old value in the new column, `cast` converts it explicitly, `zone` adds or drops the zone UTC. (A
 * cast would truncate a text that is too long, an assignment refuses it.)
 */
export type Conversion = 'assign' | 'cast' | 'zone'

/** The value of existing rows in a new column that is not nullable; `text` is a canonical parameter text. */
export type Backfill =
  | { readonly kind: 'static'; readonly text: string }
  | { readonly kind: 'uuid' }
  | { readonly kind: 'now' }
