/**
 * The format of the manifest (docs/manifest.md): every number is an index, either into `strings` or, as the comment
 * says, into another list. An absent flag is false.
 */
import type { Limits as ModelLimits } from '../model/checks.ts'
import type { FieldType } from '../model/field-type.ts'
import type { DefaultValue, IndexKind, ReferentialAction } from '../model/model.ts'

export type Manifest = {
  readonly formatVersion: 1
  readonly strings: readonly string[]
  readonly primitiveTypes: readonly FieldType[]
  readonly serviceSchema: ServiceSchema
  readonly querySchema: QuerySchema
}

/** What check constraints say of the values, but for a list of them; numbers are texts. */
export type Limits = Omit<ModelLimits, 'values'>

/** An index into `strings`. */
export type Text = number

/** How people call it. */
type Named = { readonly displayName?: Text; readonly description?: Text }

export type ServiceSchema = {
  readonly sources: readonly { readonly id: string; readonly name: Text; readonly provider: Text }[]
  /** `source`: into sources. */
  readonly namespaces: readonly {
    readonly id: string
    readonly dbName: Text
    readonly source: number
    readonly isSystem?: true
  }[]
  readonly collections: readonly CollectionEntry[]
}

export type CollectionEntry = Named & {
  readonly id: string
  readonly apiName: Text
  /** Absent where it equals apiName. */
  readonly dbName?: Text
  /** Absent, as is all that the database calls it, where only what the caller can use is told. */
  readonly source?: number
  readonly namespace?: number
  readonly isReadonly?: true
  readonly isSystem?: true
  readonly isView?: true
  /** It is recorded who changes what of its items. */
  readonly hasHistory?: true
  /** Its items are grouped and aggregated, in its own lists and in those of relations within the data source. */
  readonly canAggregate?: true
  /** Of a connector's collection: one item is written under `If-Match`. */
  readonly isConditional?: true
  /** Of a connector's collection: a write whose outcome nobody knows is done once if it is sent again under its key. */
  readonly isIdempotent?: true
  readonly primitiveFields: readonly PrimitiveFieldEntry[]
  readonly relationFields: readonly RelationFieldEntry[]
  readonly indexes?: readonly IndexEntry[]
}

export type PrimitiveFieldEntry = Named & {
  readonly id: string
  readonly apiName: Text
  readonly dbName?: Text
  /** Into primitiveTypes. */
  readonly type: number
  readonly isNullable?: true
  readonly isList?: true
  readonly isReadonly?: true
  readonly defaultValue?: DefaultValue
  /** Those of an enum, in its order, or of a check constraint. */
  readonly values?: readonly Text[]
  readonly limits?: Limits
}

export type RelationFieldEntry = Named & {
  readonly id: string
  readonly apiName: Text
  /** Into collections. */
  readonly oppositeCollection: number
  /** Into relationFields of the opposite collection. */
  readonly oppositeField?: number
  /** Into primitiveFields of this and of the opposite collection. */
  readonly linkingFields: readonly (readonly [own: number, opposite: number])[]
  readonly isList?: true
  readonly isNullable?: true
  readonly isForward?: true
  /** Of a many-to-many field: into relationFields of this collection and of the junction. */
  readonly through?: { readonly near: number; readonly far: number }
  /** Of a forward relation; system collections have none in the database. */
  readonly constraint?: {
    readonly id: string
    readonly dbName: Text
    readonly onDelete: ReferentialAction
    readonly onUpdate: ReferentialAction
  }
}

export type IndexEntry = {
  readonly id: string
  readonly dbName?: Text
  readonly kind: IndexKind
  /** Into primitiveFields. */
  readonly fields: readonly number[]
}

export type QuerySchema = {
  readonly operations: readonly Operation[]
  readonly inputFields: readonly InputField[]
  readonly outputFields: readonly OutputField[]
  readonly inputObjectTypes: readonly InputObjectType[]
  readonly outputObjectTypes: readonly ObjectType[]
  readonly enumTypes: readonly { readonly name: Text; readonly values: readonly Text[] }[]
}

export type OperationKind = 'readMany' | 'readOne' | 'create' | 'updateOne' | 'updateMany' | 'deleteOne' | 'deleteMany'

/** `parameters`: into inputObjectTypes; `output`: the type of `data` in the answer. */
export type Operation = readonly [kind: OperationKind, collection: Text, parameters: number, output: TypeReference]

/** `i<n>` input object, `o<n>` output object, `e<n>` enum, `p<n>` primitive; `[…]` a list, `…?` or null. */
export type TypeReference = string

export type InputField = {
  readonly type: TypeReference
  readonly optional?: true
  readonly kind?: 'primitive' | 'relation'
  /** Further accepted types. */
  readonly secondaryTypes?: readonly TypeReference[]
  readonly hasDefault?: true
  readonly limits?: Limits
}

/** `arguments` of a relation: into inputObjectTypes. */
export type OutputField = { readonly type: TypeReference; readonly arguments?: number; readonly limits?: Limits }

/**
 * `fields` is flat: a name, the index of its field in inputFields or outputFields, the next name …; `values` is the type of
 * members that the client names itself.
 */
export type ObjectType = { readonly name: Text; readonly fields: readonly number[]; readonly values?: TypeReference }
export type InputObjectType = ObjectType & { readonly constraints?: Constraints<Text> }

/** Constraints of an input object that its fields alone do not express. */
export type Constraints<Name> = {
  readonly atMostOneField?: true
  readonly atLeastOneField?: true
  /** At least one field of each list is required. */
  readonly atLeastOneOf?: readonly (readonly Name[])[]
  /** The first field of each list excludes all the others. */
  readonly excludes?: readonly (readonly Name[])[]
  /** Exactly the fields of one list are sent. */
  readonly exactlyOneSetOf?: readonly (readonly Name[])[]
}
