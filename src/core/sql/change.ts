/** What a migration asks of a database; `core/migration` decides it and `ddl.ts` writes it as SQL. */
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
  /** In the following three `column` is the definition as it is to become. */
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
      /** Whether an index that the model knows is called like the key. */
      readonly isNamesake: boolean
    }

export type SourceChange = {
  readonly sourceId: string
  /** The position of the operation that it comes from. */
  readonly operation: number
  readonly change: Change
}

export type TableRef = { readonly schema: string | undefined; readonly dbName: string }

/** Defaults other than a running number are the service's business, and unknown to the database. */
export type ColumnDefinition = {
  readonly dbName: string
  readonly type: FieldType
  readonly isList: boolean
  readonly isNullable: boolean
  readonly isAutoincrement: boolean
}

export type IndexDefinition = { readonly dbName: string; readonly kind: IndexKind; readonly columns: readonly string[] }

/**
 * `assign` stores the old value in the new column, `cast` converts it by name, `zone` adds or drops the zone UTC.
 * (A cast would cut a text that is too long, an assignment refuses it.)
 */
export type Conversion = 'assign' | 'cast' | 'zone'

/** What the rows that exist already get in a new column that may not be null; `text` is a canonical parameter text. */
export type Backfill =
  | { readonly kind: 'static'; readonly text: string }
  | { readonly kind: 'uuid' }
  | { readonly kind: 'now' }
