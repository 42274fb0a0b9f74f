/** The data model as its screens read it: the manifest without its pools, and what a migration would make of it. */
import type { ManifestText } from 'governed-data-client/generate'
import type { Operation } from 'governed-data-client/system'

export type FieldType = { readonly name: string; readonly params?: Readonly<Record<string, unknown>> }

export type Default = {
  readonly source: string
  readonly onCreate?: { readonly kind: string; readonly valueEncoded?: unknown }
  readonly onUpdate?: { readonly kind: string }
  readonly isAutoincrement?: boolean
}

export type Field = {
  readonly id: string
  readonly apiName: string
  readonly dbName: string
  readonly type: FieldType
  readonly isNullable: boolean
  readonly isList: boolean
  readonly isReadOnly: boolean
  readonly defaultValue: Default | null
}

export type Relation = {
  readonly id: string
  readonly apiName: string
  /** Ids of the collection that it leads to and of the relation there that leads back. */
  readonly to: string
  readonly opposite: string | undefined
  /** Ids of own fields. */
  readonly by: readonly string[]
  readonly isList: boolean
  readonly isNullable: boolean
  /** Of a many-to-many field: ids of the relations that it leads through. */
  readonly through?: readonly string[]
  /** At the side that refers. */
  readonly actions?: { readonly onDelete: Action; readonly onUpdate: Action }
}

export const referentialActions = ['noAction', 'restrict', 'cascade', 'setNull', 'setDefault'] as const
export type Action = (typeof referentialActions)[number]

export const indexKinds = ['normal', 'unique', 'primary'] as const
export type IndexKind = (typeof indexKinds)[number]

export type Index = { readonly id: string; readonly kind: IndexKind; readonly fieldIds: readonly string[] }

export type Collection = {
  readonly id: string
  readonly apiName: string
  readonly dbName: string
  readonly sourceId: string
  readonly namespaceId: string | undefined
  readonly isReadOnly: boolean
  readonly isSystem: boolean
  readonly isView: boolean
  readonly hasHistory: boolean
  readonly fields: readonly Field[]
  readonly relations: readonly Relation[]
  readonly indexes: readonly Index[]
}

export type Model = {
  readonly sources: readonly { readonly id: string; readonly name: string; readonly provider: string }[]
  readonly namespaces: readonly { readonly id: string; readonly dbName: string; readonly sourceId: string }[]
  readonly collections: readonly Collection[]
}

type Entry = {
  readonly id: string
  readonly apiName: number
  readonly dbName?: number
  readonly source: number
  readonly namespace?: number
  readonly isReadonly?: true
  readonly isSystem?: true
  readonly isView?: true
  readonly hasHistory?: true
  readonly primitiveFields: readonly {
    readonly id: string
    readonly apiName: number
    readonly dbName?: number
    readonly type: number
    readonly isNullable?: true
    readonly isList?: true
    readonly isReadonly?: true
    readonly defaultValue?: Default
  }[]
  readonly relationFields: readonly {
    readonly id: string
    readonly apiName: number
    readonly oppositeCollection: number
    readonly oppositeField?: number
    readonly linkingFields: readonly (readonly [own: number, opposite: number])[]
    readonly isList?: true
    readonly isNullable?: true
    readonly through?: { readonly near: number; readonly far: number }
    readonly constraint?: { readonly onDelete: Action; readonly onUpdate: Action }
  }[]
  readonly indexes?: readonly { readonly id: string; readonly kind: IndexKind; readonly fields: readonly number[] }[]
}

type Pools = {
  readonly strings: readonly string[]
  readonly primitiveTypes: readonly FieldType[]
  readonly serviceSchema: {
    readonly sources: readonly { readonly id: string; readonly name: number; readonly provider: number }[]
    readonly namespaces?: readonly {
      readonly id: string
      readonly dbName: number
      readonly source: number
      readonly isSystem?: true
    }[]
    readonly collections: readonly Entry[]
  }
}

/** Without the namespace that collections of the workspace's own source have where nobody names one. */
export function recordsOf(manifest: ManifestText, workspace: string): Model {
  // Members that the client does not name are those of docs/manifest.md.
  const { strings, primitiveTypes, serviceSchema } = manifest as unknown as Pools
  const { sources, namespaces = [], collections } = serviceSchema
  const text = (at: number) => strings[at] ?? ''
  const collectionOf = (entry: Entry): Collection => {
    const { primitiveFields, relationFields, indexes = [] } = entry
    const idOf = (at: number) => primitiveFields[at]?.id ?? ''
    return {
      id: entry.id,
      apiName: text(entry.apiName),
      dbName: text(entry.dbName ?? entry.apiName),
      sourceId: sources[entry.source]?.id ?? '',
      namespaceId: namespaces[entry.namespace ?? -1]?.id,
      isReadOnly: entry.isReadonly === true,
      isSystem: entry.isSystem === true,
      isView: entry.isView === true,
      hasHistory: entry.hasHistory === true,
      fields: primitiveFields.map((field) => ({
        id: field.id,
        apiName: text(field.apiName),
        dbName: text(field.dbName ?? field.apiName),
        type: primitiveTypes[field.type] ?? { name: '' },
        isNullable: field.isNullable === true,
        isList: field.isList === true,
        isReadOnly: field.isReadonly === true,
        defaultValue: field.defaultValue ?? null,
      })),
      relations: relationFields.map(
        ({ id, apiName, isList, isNullable, linkingFields, through, constraint, ...to }) => {
          const other = collections[to.oppositeCollection]
          const near = through && relationFields[through.near]
          const far = near && through && collections[near.oppositeCollection]?.relationFields[through.far]
          return {
            id,
            apiName: text(apiName),
            to: other?.id ?? '',
            opposite: other?.relationFields[to.oppositeField ?? -1]?.id,
            by: linkingFields.map(([own]) => idOf(own)),
            isList: isList === true,
            isNullable: isNullable === true,
            ...(near && far && { through: [near.id, far.id] }),
            ...(constraint && { actions: constraint }),
          }
        },
      ),
      indexes: indexes.map(({ id, kind, fields }) => ({ id, kind, fieldIds: fields.map(idOf) })),
    }
  }
  return {
    sources: sources.map(({ id, name, provider }) => ({ id, name: text(name), provider: text(provider) })),
    namespaces: namespaces
      .filter(({ isSystem, dbName }) => !isSystem && text(dbName) !== `service_${workspace}_data`)
      .map(({ id, dbName, source }) => ({ id, dbName: text(dbName), sourceId: sources[source]?.id ?? '' })),
    collections: collections.map(collectionOf),
  }
}

// An operation is what was made here, or kept by this browser as it was made.
type Data = Record<string, never> & { readonly id: string; readonly operations?: readonly Operation[] }

/** The model after operations; what they name and is gone by now is left out, and the dry run says so. */
export function applied(model: Model, operations: readonly Operation[]): Model {
  return operations.reduce(afterOne, model)
}

function afterOne(model: Model, { kind, data: sent }: Operation): Model {
  const data = sent as Data
  const { namespaces, collections } = model
  switch (kind) {
    case 'createNamespace':
      return { ...model, namespaces: [...namespaces, sent as Model['namespaces'][number]] }
    case 'deleteNamespace':
      return { ...model, namespaces: namespaces.filter(({ id }) => id !== data.id) }
    case 'createCollection': {
      const empty = { isReadOnly: false, isSystem: false, isView: false, hasHistory: false, relations: [] }
      const made = { ...empty, ...sent, fields: [], indexes: [] } as unknown as Collection
      return { ...model, collections: [...collections, (data.operations ?? []).reduce(changedCollection, made)] }
    }
    case 'updateCollection':
      return changed(model, data.id, (one) => (data.operations ?? []).reduce(changedCollection, one))
    case 'deleteCollection':
      return { ...model, collections: collections.filter(({ id }) => id !== data.id) }
    case 'createRelationFieldPair':
      return withPair(model, (sent as { readonly data: Pair }).data)
    case 'createManyToManyFieldPair':
      return withManyToMany(model, sent as ManyToMany)
    case 'updateRelationFieldPair':
      return (data.operations ?? []).reduce((before, one) => withChangedPair(before, sent as Named, one), model)
    case 'deleteRelationFieldPair':
      return withoutPair(model, sent as Named)
    default:
      return model
  }
}

function changed(model: Model, id: string, change: (collection: Collection) => Collection): Model {
  return { ...model, collections: model.collections.map((one) => (one.id === id ? change(one) : one)) }
}

/** What an operation inside of a collection makes of it. */
function changedCollection(collection: Collection, { kind, data: sent }: Operation): Collection {
  const data = sent as Data
  const { fields, indexes } = collection
  switch (kind) {
    case 'changeApiName':
    case 'changeDbName':
    case 'changeHasHistory':
      return { ...collection, ...sent }
    case 'createPrimitiveField':
      return {
        ...collection,
        fields: [...fields, { isReadOnly: false, defaultValue: null, ...sent } as unknown as Field],
      }
    case 'updatePrimitiveField': {
      // Each of its operations names what it sets, as the field has it.
      const set = Object.assign({}, ...(data.operations ?? []).map((one) => one.data))
      return { ...collection, fields: fields.map((field) => (field.id === data.id ? { ...field, ...set } : field)) }
    }
    case 'deletePrimitiveField':
      return { ...collection, fields: fields.filter(({ id }) => id !== data.id) }
    case 'createIndex':
      return { ...collection, indexes: [...indexes, sent as Index] }
    case 'deleteIndex':
      return { ...collection, indexes: indexes.filter(({ id }) => id !== data.id) }
    default:
      return collection
  }
}

type Side = {
  readonly id: string
  readonly apiName: string
  readonly isList: boolean
  readonly isConstrained: boolean
  readonly collectionId: string
  readonly fieldIds: readonly string[]
}

type Pair = {
  readonly onDelete: Action
  readonly onUpdate: Action
  readonly firstField: Side
  readonly secondField: Side
}

function withPair(model: Model, { firstField, secondField, onDelete, onUpdate }: Pair): Model {
  const added = (before: Model, side: Side, other: Side) =>
    changed(before, side.collectionId, (one) => ({
      ...one,
      relations: [
        ...one.relations,
        {
          id: side.id,
          apiName: side.apiName,
          to: other.collectionId,
          opposite: other.id,
          by: side.fieldIds,
          isList: side.isList,
          isNullable: one.fields.some(({ id, isNullable }) => isNullable && side.fieldIds.includes(id)),
          ...(side.isConstrained && { actions: { onDelete, onUpdate } }),
        },
      ],
    }))
  return added(added(model, firstField, secondField), secondField, firstField)
}

type ManySide = { readonly id: string; readonly apiName: string; readonly throughFieldId: string }
type ManyToMany = { readonly firstField: ManySide; readonly secondField: ManySide }

function withManyToMany(model: Model, { firstField, secondField }: ManyToMany): Model {
  const [near, far] = [firstField, secondField].map(({ throughFieldId }) => holderOf(model, throughFieldId))
  if (near === undefined || far === undefined) return model
  const added = (before: Model, own: ManySide, other: ManySide, from: Collection, to: Collection) => {
    const leading = to.relations.find(({ id }) => id === other.throughFieldId)?.opposite ?? ''
    const made = { id: own.id, apiName: own.apiName, to: to.id, opposite: other.id, by: [], isNullable: false }
    return changed(before, from.id, (one) => ({
      ...one,
      relations: [...one.relations, { ...made, isList: true, through: [own.throughFieldId, leading] }],
    }))
  }
  return added(added(model, firstField, secondField, near, far), secondField, firstField, far, near)
}

export function holderOf({ collections }: Model, relationId: string): Collection | undefined {
  return collections.find(({ relations }) => relations.some(({ id }) => id === relationId))
}

type Named = { readonly firstFieldId: string; readonly secondFieldId: string }

function withChangedPair(model: Model, { firstFieldId, secondFieldId }: Named, { kind, data }: Operation): Model {
  const { fieldId, ...set } = data as { readonly fieldId?: string }
  const matches = ({ id, actions }: Relation) =>
    kind === 'changeApiName' ? id === fieldId : actions !== undefined && [firstFieldId, secondFieldId].includes(id)
  const next = (one: Relation): Relation => {
    if (!matches(one)) return one
    return kind === 'changeApiName' ? { ...one, ...set } : { ...one, actions: { ...one.actions, ...set } as Pair }
  }
  return {
    ...model,
    collections: model.collections.map((one) => ({ ...one, relations: one.relations.map(next) })),
  }
}

/** Fields that lead through it go with it. */
function withoutPair(model: Model, { firstFieldId, secondFieldId }: Named): Model {
  const gone = [firstFieldId, secondFieldId]
  const stays = ({ id, through = [] }: Relation) => !gone.includes(id) && !through.some((one) => gone.includes(one))
  return {
    ...model,
    collections: model.collections.map((one) => ({ ...one, relations: one.relations.filter(stays) })),
  }
}
