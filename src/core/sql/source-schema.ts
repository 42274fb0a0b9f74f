/** The schema of a database in terms of the data model: the common result of every introspection. */
import type { Check } from '../model/checks.ts'
import type { FieldType } from '../model/field-type.ts'
import type { IndexKind, NativeType, ReferentialAction } from '../model/model.ts'

export type SourceSchema = {
  /** The schema of unqualified tables. */
  readonly defaultNamespace: string | undefined
  readonly namespaces: readonly string[]
  /** False if relations between tables exist in the model only, so that an introspection must not remove them. */
  readonly knowsRelations: boolean
  readonly tables: readonly SourceTable[]
  /** The objects of the database that `tables` omits. */
  readonly skipped: readonly SkippedTable[]
}

/** A table, or one of its columns if the reason says so. The table's name is qualified by its schema, if there is one. */
export type SkippedTable = { readonly table: string; readonly reason: string }

/** The schema of tables without a schema. */
export const NO_NAMESPACE = ''

/** A table, view, materialized view or foreign table. */
export type SourceTable = {
  readonly schema: string
  readonly dbName: string
  readonly isReadOnly: boolean
  readonly isView: boolean
  readonly isInherited?: true
  readonly isTriggering?: true
  readonly columns: readonly SourceColumn[]
  readonly indexes: readonly SourceIndex[]
  readonly foreignKeys: readonly SourceForeignKey[]
  readonly identity?: TableIdentity
}

/** The database's own ids of a table and, in order, of its columns: they stay the same when names change. */
export type TableIdentity = { readonly id: string; readonly columns: readonly string[] }

/** A column whose type the model lacks is a text, or JSON if the database renders it as such. */
export type SourceColumn = {
  readonly dbName: string
  readonly type: FieldType
  readonly isNullable: boolean
  readonly isList: boolean
  readonly isReadOnly: boolean
  readonly defaultKind: 'none' | 'autoincrement' | 'database'
  /** True if PostgreSQL treats different texts of the column as equal. */
  readonly isLoose: boolean
  /** The column's native type; null if it is that of `type`. */
  readonly native: NativeType | null
  /** Absent without known checks. */
  readonly checks?: readonly Check[]
}

/** An index on plain columns; partial and expression indexes are omitted. */
export type SourceIndex = {
  /** Undefined for a primary key in databases where it has no name. */
  readonly dbName: string | undefined
  readonly kind: IndexKind
  readonly columns: readonly string[]
  /** True if the database itself created the index for a foreign key, so that a new one is not a change. */
  readonly isImplied: boolean
}

export type SourceForeignKey = {
  readonly dbName: string
  readonly columns: readonly string[]
  readonly references: { readonly schema: string; readonly dbName: string; readonly columns: readonly string[] }
  readonly onDelete: ReferentialAction
  readonly onUpdate: ReferentialAction
}
