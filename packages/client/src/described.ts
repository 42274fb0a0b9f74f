/** What the types of a collection are written of, whether a manifest or a model file says it. */

export type Described = {
  readonly name: string
  readonly fields: readonly DescribedField[]
  /** Names of its fields. */
  readonly key: readonly string[]
  /** Whether an address can name an item. */
  readonly isAddressed: boolean
  /** What may be written, and whether it may be left out; undefined where nothing may. */
  readonly created: ReadonlyMap<string, boolean> | undefined
  readonly changed: ReadonlySet<string> | undefined
  readonly one: readonly DescribedRelation[]
  /** Relations to many items, with the collection of these. */
  readonly many: readonly (readonly [name: string, to: string])[]
  readonly unique: readonly (readonly string[])[]
}

export type DescribedField = {
  readonly name: string
  /** As in migrations, without parameters. */
  readonly type: string
  readonly isNullable: boolean
  readonly isList: boolean
  /** Those of an enum. */
  readonly values: readonly string[]
}

export type DescribedRelation = {
  readonly name: string
  readonly to: string
  /** Its columns, where they are here. */
  readonly by: readonly string[]
  /** Whether an answer may have null there. */
  readonly mayMiss: boolean
}
