/**
 * The model file as it is worked with: every short form written out, every default filled in
 * (docs/contract.md#the-model-as-a-file). `read.ts` makes it of JSON, `export/model.ts` of a model, `print.ts` its text.
 */
import type { FieldType } from '../model/field-type.ts'
import type { ReferentialAction } from '../model/model.ts'

/** An absent member is left alone by an apply. */
export type ModelFile = {
  /** The provider of each source by its name. */
  readonly sources?: ReadonlyMap<string, string>
  readonly collections?: ReadonlyMap<string, FileCollection>
  /** How collections and fields are called and shown, by their paths, such as `articles.title`. */
  readonly names?: ReadonlyMap<string, FileShown>
  readonly roles?: ReadonlyMap<string, FileRole>
  readonly policies?: ReadonlyMap<string, FilePolicy>
  readonly ids: ReadonlyMap<string, string>
}

export type FileCollection = {
  readonly fields: ReadonlyMap<string, FileField>
  /** Names of fields, or of relations for their columns; empty for no key. */
  readonly key: readonly string[]
  readonly indexes: readonly FileIndex[]
  readonly source: string
  /** Undefined for the source's own. */
  readonly namespace: string | undefined
  readonly dbName: string
  readonly isReadOnly: boolean
  readonly hasHistory: boolean
  readonly renamedFrom: string | undefined
}

export type FileIndex = {
  readonly isUnique: boolean
  readonly on: readonly string[]
  /** Undefined where the name is derived. */
  readonly dbName: string | undefined
}

export type FileField = FilePrimitive | FileRelation | FileJunction | FileOver

/** By whom a field is filled where a creation, or a change, gives no value. */
export type Filled = 'auto' | 'always' | 'update'

export type FilePrimitive = {
  readonly kind: 'primitive'
  readonly type: FieldType
  readonly isList: boolean
  readonly isNullable: boolean
  readonly filled: Filled | undefined
  /** A static default in wire form. */
  readonly value: { readonly of: unknown } | undefined
  /** Undefined where the columns beside it say how it is named (names.ts). */
  readonly dbName: string | undefined
  readonly isReadOnly: boolean
  readonly renamedFrom: string | undefined
}

export type FileRelation = {
  readonly kind: 'relation'
  readonly to: string
  readonly isNullable: boolean
  readonly opposite: string
  readonly isUnique: boolean
  readonly onDelete: ReferentialAction
  readonly onUpdate: ReferentialAction
  /** Undefined for the names that are derived. */
  readonly by: readonly string[] | undefined
  /** Undefined for the target's key. */
  readonly references: readonly string[] | undefined
  /** Undefined for the derived name; false where no database holds the relation. */
  readonly constraint: string | false | undefined
  readonly hasIndex: boolean
  readonly renamedFrom: string | undefined
}

/** A many-to-many relation whose junction is made of nothing else. */
export type FileJunction = {
  readonly kind: 'junction'
  readonly many: string
  readonly through: string
  readonly opposite: string
}

/** A many-to-many field over a junction that is a collection of its own. */
export type FileOver = {
  readonly kind: 'over'
  readonly many: string
  /** This collection's relation to the junction, and that of the junction to the other side. */
  readonly over: readonly [near: string, far: string]
  readonly opposite: string
  readonly renamedFrom: string | undefined
}

/** What is not said is absent. */
export type FileShown = {
  readonly displayName?: string
  readonly description?: string
  readonly icon?: string
  readonly color?: string
  readonly displayTemplate?: string
  readonly sort?: number
  readonly isHidden?: true
}

export type FileRole = {
  readonly description: string | null
  readonly policies: readonly string[]
  readonly renamedFrom: string | undefined
}

export type FilePolicy = {
  readonly description: string | null
  /** As it is sent: by names. */
  readonly content: unknown
  readonly renamedFrom: string | undefined
}

/** The name of a junction that none is given for. */
export function junctionName(collection: string, field: string): string {
  return `${collection}_${field}`
}

/** The relations at the two sides of a junction that lead to its rows. */
export function junctionSides(junction: string, isOfOne: boolean): readonly [from: string, to: string] {
  return [junction, isOfOne ? `${junction}To` : junction]
}

/** The columns of a relation that names none, by the fields that it refers to. */
export function columnsOf(relation: string, referenced: readonly string[]): readonly string[] {
  return referenced.map((name) => `${relation}${name.charAt(0).toUpperCase()}${name.slice(1)}`)
}

/** Names in code unit order, whatever the locale. */
export function inOrder<T>(entries: Iterable<readonly [string, T]>): readonly (readonly [string, T])[] {
  return [...entries].sort(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0))
}
