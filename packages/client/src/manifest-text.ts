/** What clients read of a manifest; docs/manifest.md says what its numbers point into. */
export type ManifestText = {
  readonly strings: readonly string[]
  readonly primitiveTypes: readonly { readonly name: string }[]
  readonly serviceSchema: { readonly collections: readonly CollectionEntry[] }
  readonly querySchema: {
    readonly operations: readonly (readonly [kind: string, collection: number, parameters: number, output: string])[]
    readonly inputFields: readonly { readonly type: string; readonly optional?: true; readonly kind?: string }[]
    readonly outputFields: readonly { readonly type: string }[]
    readonly inputObjectTypes: readonly { readonly fields: readonly number[] }[]
    readonly outputObjectTypes: readonly { readonly fields: readonly number[] }[]
  }
}

export type CollectionEntry = {
  readonly id: string
  readonly apiName: number
  readonly isSystem?: true
  /** Who changes what of its items is recorded. */
  readonly hasHistory?: true
  /** Its items are grouped and aggregated. */
  readonly canAggregate?: true
  readonly primitiveFields: readonly FieldEntry[]
  readonly relationFields: readonly RelationEntry[]
  readonly indexes?: readonly { readonly kind: string; readonly fields: readonly number[] }[]
}

export type FieldEntry = {
  readonly id: string
  readonly apiName: number
  readonly type: number
  readonly isNullable?: true
  readonly isList?: true
  readonly isReadonly?: true
  readonly defaultValue?: object | null
  readonly values?: readonly number[]
}

export type RelationEntry = {
  readonly id: string
  readonly apiName: number
  readonly oppositeCollection: number
  readonly oppositeField?: number
  readonly linkingFields: readonly (readonly [own: number, opposite: number])[]
  readonly isList?: true
  readonly isForward?: true
  /** Of a many-to-many field. */
  readonly through?: { readonly near: number; readonly far: number }
}
