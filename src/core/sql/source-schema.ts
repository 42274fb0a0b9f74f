/** What a database has, in the words of the data model: the answer of every introspection, whatever was asked. */
import type { FieldType } from '../model/field-type.ts'
import type { IndexKind, ReferentialAction } from '../model/model.ts'

export type SourceSchema = {
  /** Where tables stand that are named without a schema. */
  readonly defaultNamespace: string | undefined
  readonly namespaces: readonly string[]
  /** False where relations between tables exist in the model alone, so that an introspection says nothing of them. */
  readonly knowsRelations: boolean
  readonly tables: readonly SourceTable[]
}

/** The schema of tables that stand in the source itself. */
export const NO_NAMESPACE = ''

/** A table, or what is read like one: a view, a materialized view, a foreign table. */
export type SourceTable = {
  readonly schema: string
  readonly dbName: string
  readonly isReadOnly: boolean
  readonly columns: readonly SourceColumn[]
  readonly indexes: readonly SourceIndex[]
  readonly foreignKeys: readonly SourceForeignKey[]
}

/** A column of a type that the model does not have is a read-only text, or JSON where the database renders it as such. */
export type SourceColumn = {
  readonly dbName: string
  readonly type: FieldType
  readonly isNullable: boolean
  readonly isList: boolean
  readonly isReadOnly: boolean
  readonly defaultKind: 'none' | 'autoincrement' | 'database'
  /** Whether PostgreSQL takes different texts of it for equal. */
  readonly isLoose?: boolean
}

/** An index over plain columns; what is unique under a condition, or in an expression, is not here. */
export type SourceIndex = {
  /** Undefined for a primary key where these have no name. */
  readonly dbName: string | undefined
  readonly kind: IndexKind
  readonly columns: readonly string[]
  /** Made by the database itself for a foreign key: no change when it comes. */
  readonly isImplied: boolean
}

export type SourceForeignKey = {
  readonly dbName: string
  readonly columns: readonly string[]
  readonly references: { readonly schema: string; readonly dbName: string; readonly columns: readonly string[] }
  readonly onDelete: ReferentialAction
  readonly onUpdate: ReferentialAction
}
