/** A file on its way to records: its collections, fields and relations beside what they are now. */
import type { Collection, CollectionRecord, ModelRecords, PrimitiveFieldRecord } from '../model/model.ts'
import type { FileCollection, FilePrimitive, FileRelation } from './file.ts'

export type Resolved = {
  readonly records: ModelRecords
  /** By the ids of collections, fields and indexes: where the file has them. */
  readonly places: ReadonlyMap<string, string>
}

/** A collection of the file, or the junction that a many-to-many relation stands for. */
export type CollectionEntry = {
  readonly name: string
  readonly line: string
  readonly place: string
  readonly file: FileCollection
  readonly renamedFrom: string | undefined
  readonly of?: { readonly collection: string; readonly field: string }
}

/** A collection with its record of then; `before` is undefined for a new one. */
export type MatchedCollection = {
  readonly entry: CollectionEntry
  readonly record: CollectionRecord
  readonly before: CollectionRecord | undefined
}

export type RelationShape = {
  readonly name: string
  readonly place: string
  readonly file: FileRelation
  readonly owner: CollectionShape
  readonly target: Target
}

/** What a relation leads to: a collection of the file, or one of a source that the file does not name. */
export type Target = { readonly shape: CollectionShape } | { readonly other: Collection }

export type CollectionShape = {
  readonly matched: MatchedCollection
  /** In the order of the file. */
  readonly relations: ReadonlyMap<string, RelationShape>
  /** All columns, the made ones behind the listed, by their names. */
  readonly columns: ReadonlyMap<string, Column>
}

export type Column = {
  readonly name: string
  readonly place: string
  /** Undefined for one that relations make. */
  readonly file: FilePrimitive | undefined
  /** The relations that have it, each with the position in it. */
  readonly uses: readonly { readonly relation: RelationShape; readonly position: number }[]
}

/** The records of one collection of the file. */
export type ResolvedCollection = {
  readonly shape: CollectionShape
  readonly record: CollectionRecord
  /** By the names of columns. */
  readonly fields: ReadonlyMap<string, PrimitiveFieldRecord>
}
