/**
 * The mutable model during a migration: records by id, and the names in use, so that every operation takes constant
 * time. It never leaves `applyOperations`, which is pure from outside.
 */
import type { FieldType } from '../model/field-type.ts'
import type {
  CollectionRecord,
  ConstraintRecord,
  IndexRecord,
  NamespaceRecord,
  PrimitiveFieldRecord,
  ReferentialAction,
  RelationFieldRecord,
  SourceRecord,
} from '../model/model.ts'
import type { SourceChange, TableRef } from '../sql/ddl/change.ts'
import type { DeclaredKey } from '../sql/declared-key.ts'
import { invalidOperation, type MigrationFault } from './fault.ts'
import type { GivenUp } from './given-up.ts'

/** The properties of a database that migrations need; every `Dialect` has them. */
export type Storage = {
  readonly title: string
  readonly columnType: (type: FieldType, isList: boolean) => unknown
  readonly ddl: {
    readonly isIndexable: (type: FieldType) => boolean
    readonly columnCount: { readonly least: 0 | 1; readonly most: number }
    readonly referentialActions: ReadonlySet<ReferentialAction>
  }
}

export type MigrationContext = {
  /** Undefined if the service must not change the source's schema. */
  readonly dialectOf: (sourceId: string) => Storage | undefined
  /** The default namespace of new collections. */
  readonly dataNamespaceOf: (sourceId: string) => string | null
  /** The table of changes of a source; undefined if it has none. */
  readonly changesOf?: (sourceId: string) => TableRef | undefined
  readonly workspace: string
}

export type CollectionDraft = {
  record: CollectionRecord
  readonly fieldIds: Set<string>
  readonly indexIds: Set<string>
  readonly indexNames: Set<string>
  /** Relation fields of this collection, and those of others that refer to it. */
  readonly relationIds: Set<string>
  /** By the id of a field: the indexes that contain it, and the relations with a key that join by it, on either side. */
  readonly indexesBy: Map<string, Set<string>>
  readonly ownersBy: Map<string, Set<string>>
  /** Names of primitive and relation fields. */
  readonly fieldNames: Set<string>
  readonly columnNames: Set<string>
  /** Names of the foreign keys that this collection owns. */
  readonly constraintNames: Set<string>
}

export type Draft = {
  readonly context: MigrationContext
  readonly changes: SourceChange[]
  /** The columns and indexes that this migration creates, each qualified by its table. */
  readonly made: Set<string>
  readonly declaredKeys: DeclaredKey[]
  operation: number
  /** The fields that the current part of the operation concerns. */
  subject: string | undefined
  /** The last operation of each created, changed or deleted collection. */
  readonly touched: Map<string, number>
  /** The ids of deleted collections, even if they are used again. */
  readonly dropped: Set<string>
  readonly sources: Map<string, SourceRecord>
  readonly namespaces: Map<string, NamespaceRecord>
  readonly collections: Map<string, CollectionDraft>
  readonly fields: Map<string, PrimitiveFieldRecord>
  readonly relations: Map<string, RelationFieldRecord>
  /** By the id of a relation: the many-to-many fields that lead through it. */
  readonly leading: Map<string, Set<string>>
  readonly constraints: Map<string, ConstraintRecord>
  readonly indexes: Map<string, IndexRecord>
  readonly ids: Set<string>
  readonly collectionNames: Set<string>
  /** Names of tables and indexes, each qualified by `tableRef`. */
  readonly tableNames: Set<string>
  readonly indexNames: Set<string>
  /** Names of tables and columns that this migration frees. */
  readonly givenUp: Map<string, GivenUp>
  /** Names that existing records get in this migration. */
  readonly taken: Map<string, string>
}

/** Throws the innermost error of a migration, which its author can correct. */
export function refuse(fault: MigrationFault, reason: string): never {
  throw invalidOperation(fault, reason)
}
