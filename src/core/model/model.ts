/**
 * The data model of a workspace. `ModelRecords` is the flat form that the system database stores and migrations change;
 * `Model` has every reference resolved, is built once per version, and is shared by all requests.
 */
import { atOnce, type Parts } from '../parts.ts'
import type { Check } from './checks.ts'
import type { FieldType } from './field-type.ts'

export type DefaultValue =
  | {
      readonly source: 'engineManaged'
      readonly onCreate?: EngineDefault
      readonly onUpdate?: { readonly kind: 'now' }
    }
  | { readonly source: 'connectorManaged'; readonly isAutoincrement?: boolean }

export type EngineDefault =
  | { readonly kind: 'static'; readonly valueEncoded: unknown }
  | { readonly kind: 'uuid' }
  | { readonly kind: 'now' }

export type ReferentialAction = 'cascade' | 'restrict' | 'noAction' | 'setNull' | 'setDefault'
export type IndexKind = 'primary' | 'unique' | 'normal'

export type SourceRecord = {
  readonly id: string
  readonly apiName: string
  readonly provider: string
  /** The schema of its ledger of writes, empty for that of the connection; absent without a ledger. */
  readonly ledgerSchema?: string
}

/** The source of every workspace in the system database, beside the tables of the service and of other workspaces. */
export const SYSTEM_SOURCE = '_system'

export function isSystemSource(source: Pick<SourceRecord, 'apiName'> | undefined): boolean {
  return source?.apiName === SYSTEM_SOURCE
}

export type NamespaceRecord = {
  readonly id: string
  readonly sourceId: string
  readonly dbName: string
  readonly isSystem: boolean
}

export type CollectionRecord = {
  readonly id: string
  readonly sourceId: string
  readonly namespaceId: string | null
  readonly dbName: string
  readonly apiName: string
  readonly isReadOnly: boolean
  readonly isSystem: boolean
  /** A view or foreign table, about whose rows the database promises nothing: key and relations are in the model alone. */
  readonly isView: boolean
  /** Present where other tables of PostgreSQL inherit from it, whose rows are among its own and may have the same keys. */
  readonly isInherited?: true
  /** Present where a migration that did not end has changed the table: no item of it is read or written until its source is introspected. */
  readonly isClosed?: true
  /** Present where triggers of PostgreSQL change rows after they are written, or keep them from being deleted. */
  readonly isTriggering?: true
  /** Present where its table records who changed what (docs/contract.md#history). */
  readonly hasHistory?: true
}

export type PrimitiveFieldRecord = {
  readonly id: string
  readonly collectionId: string
  readonly dbName: string
  readonly apiName: string
  readonly type: FieldType
  readonly isNullable: boolean
  readonly isList: boolean
  readonly isReadOnly: boolean
  readonly defaultValue: DefaultValue | null
  /** True if PostgreSQL may treat different texts of this column as equal. */
  readonly isLoose: boolean
  /** Null where the type of the column is that of the field. */
  readonly native: NativeType | null
  /** The database's constraints on its values that we can describe. */
  readonly checks?: readonly Check[]
}

/** The type of a column that the types of fields lack: values are read and written by the database's own functions. */
export type NativeType = {
  /** Absent where the database has no schemas. */
  readonly schema?: string
  readonly name: string
  /** Whether the database compares and orders its values; otherwise their texts are compared. */
  readonly isOrdered: boolean
  /** Those of an enum, in its order. */
  readonly values?: readonly string[]
  /** Digits of a number of a type that otherwise has none, in all and after the point, to which the database rounds. */
  readonly precision?: number
  readonly scale?: number
  /** Those of a composite type. */
  readonly members?: readonly Member[]
}

/** Its name, and what it is made of if it is a composite itself or a list of such. */
export type Member = readonly [name: string, members?: readonly Member[]]

/** One side of a relation pair. `constraintId` is set on the side that owns the foreign key. */
export type RelationFieldRecord = {
  readonly id: string
  readonly collectionId: string
  readonly apiName: string
  readonly oppositeCollectionId: string
  readonly oppositeRelationFieldId: string | null
  readonly constraintId: string | null
  readonly isList: boolean
  readonly isNullable: boolean
  /** Of a many-to-many field: the relation of its collection to the junction, and that of the junction to the other side. */
  readonly through?: { readonly nearId: string; readonly farId: string }
}

export type ConstraintRecord = {
  readonly id: string
  readonly dbName: string
  readonly onDelete: ReferentialAction
  readonly onUpdate: ReferentialAction
  readonly mappings: readonly { readonly constrainedFieldId: string; readonly referencedFieldId: string }[]
}

export type IndexRecord = {
  readonly id: string
  readonly collectionId: string
  readonly dbName: string
  readonly kind: IndexKind
  readonly fieldIds: readonly string[]
}

/** Records in the order of their creation. */
export type ModelRecords = {
  readonly sources: readonly SourceRecord[]
  readonly namespaces: readonly NamespaceRecord[]
  readonly collections: readonly CollectionRecord[]
  readonly primitiveFields: readonly PrimitiveFieldRecord[]
  readonly relationFields: readonly RelationFieldRecord[]
  readonly constraints: readonly ConstraintRecord[]
  readonly indexes: readonly IndexRecord[]
}

export type PrimitiveField = PrimitiveFieldRecord & { readonly kind: 'primitive' }

/** What the values of a column are. */
export type ColumnShape = Pick<PrimitiveFieldRecord, 'type' | 'isList'> & Partial<Pick<PrimitiveFieldRecord, 'native'>>

export type RelationField = {
  readonly kind: 'relation'
  readonly id: string
  readonly apiName: string
  readonly collection: Collection
  readonly target: Collection
  /** The opposite field of the relation, if there is one. */
  readonly opposite: RelationField | undefined
  readonly isList: boolean
  readonly isNullable: boolean
  /** True if this collection owns the foreign key columns. */
  readonly isForward: boolean
  /** Pairs of columns that join the two collections: this collection's and the target's. */
  readonly joins: readonly { readonly own: PrimitiveField; readonly other: PrimitiveField }[]
  /** Of a many-to-many field, which has no joins of its own: the way to the junction, and on from there. */
  readonly through?: Through
}

export type Through = { readonly near: RelationField; readonly far: RelationField }

export type Field = PrimitiveField | RelationField

export type Index = {
  readonly id: string
  readonly dbName: string
  readonly kind: IndexKind
  readonly fields: readonly PrimitiveField[]
}

export type Collection = {
  readonly id: string
  readonly sourceId: string
  readonly apiName: string
  readonly dbName: string
  /** The database schema; undefined where the source has none. */
  readonly schema: string | undefined
  readonly isReadOnly: boolean
  readonly isSystem: boolean
  readonly isView: boolean
  readonly primitives: readonly PrimitiveField[]
  readonly relations: readonly RelationField[]
  readonly fields: ReadonlyMap<string, Field>
  readonly indexes: readonly Index[]
  readonly isInherited: boolean
  /** Of which no item is read or written: its table is not known to be as the model has it. */
  readonly isClosed: boolean
  /** Whether a row that was written is known only when it is read again: triggers act on it. */
  readonly isTriggering: boolean
  readonly hasHistory: boolean
  /** Whether a write of it may be recorded: its own, or what foreign keys have the database do with it elsewhere. */
  readonly isRecorded: boolean
  /** The columns of the primary key, possibly none. */
  readonly primaryKey: readonly PrimitiveField[]
  /**
   * What no two rows have in common: the primary key or a unique index of required fields, and where other tables inherit
   * from this one the row's table. Possibly none.
   */
  readonly identity: readonly PrimitiveField[]
  /** The primary key, if an address can name it: only then the collection has `/{key}` routes. Otherwise empty. */
  readonly key: readonly PrimitiveField[]
}

export type Model = {
  readonly version: number
  /** The records that migrations change: everything but the system collections. */
  readonly records: ModelRecords
  readonly sources: ReadonlyMap<string, SourceRecord>
  readonly collections: ReadonlyMap<string, Collection>
  /** By API name, unique in the workspace. */
  readonly byName: ReadonlyMap<string, Collection>
}

/** `modelOf` of records that are few, or of a moment in which nobody waits. */
export function buildModel(version: number, own: ModelRecords, builtIn: ModelRecords = noRecords): Model {
  return atOnce(modelOf(version, own, builtIn))
}

/**
 * Resolves every reference of `records` and of the system collections `builtIn`. A missing reference is a bug and
 * throws.
 */
export function* modelOf(version: number, own: ModelRecords, builtIn: ModelRecords): Parts<Model> {
  const records = joinRecords(own, builtIn)
  const schemas = new Map(records.namespaces.map((namespace) => [namespace.id, namespace.dbName]))
  const primitives = Map.groupBy(records.primitiveFields, (field) => field.collectionId)
  const indexes = Map.groupBy(records.indexes, (index) => index.collectionId)
  const fieldById = new Map<string, PrimitiveField>()
  const collections: Linking = new Map()
  for (const record of records.collections) {
    yield
    const own = (primitives.get(record.id) ?? []).map((field): PrimitiveField => ({ ...field, kind: 'primitive' }))
    for (const field of own) fieldById.set(field.id, field)
    const ownIndexes = (indexes.get(record.id) ?? []).map(
      ({ id, dbName, kind, fieldIds }): Index => ({
        id,
        dbName,
        kind,
        fields: fieldIds.map((fieldId) => found(fieldById.get(fieldId), fieldId)),
      }),
    )
    const primaryKey = ownIndexes.find(({ kind }) => kind === 'primary')?.fields ?? []
    const isIdentifying = ({ kind, fields }: Index) =>
      kind === 'unique' && fields.every(({ isNullable }) => !isNullable)
    const identifying = primaryKey.length > 0 ? primaryKey : (ownIndexes.find(isIdentifying)?.fields ?? [])
    collections.set(record.id, {
      id: record.id,
      sourceId: record.sourceId,
      apiName: record.apiName,
      dbName: record.dbName,
      schema: record.namespaceId === null ? undefined : found(schemas.get(record.namespaceId), record.namespaceId),
      isReadOnly: record.isReadOnly,
      isSystem: record.isSystem,
      isView: record.isView,
      primitives: own,
      relations: [],
      fields: new Map(own.map((field) => [field.apiName, field])),
      indexes: ownIndexes,
      isInherited: record.isInherited === true,
      isClosed: record.isClosed === true,
      isTriggering: record.isTriggering === true,
      hasHistory: record.hasHistory === true,
      isRecorded: record.hasHistory === true,
      primaryKey,
      identity: record.isInherited && identifying.length > 0 ? [...identifying, tableOfRow(record.id)] : identifying,
      key: primaryKey.some(({ isList, type }) => isList || type.name === 'geometry') ? [] : primaryKey,
    })
  }
  yield* linkRelations(records, collections, fieldById)
  markRecorded(collections)
  return {
    version,
    records: own,
    sources: new Map(records.sources.map((source) => [source.id, source])),
    collections,
    byName: new Map([...collections.values()].map((collection) => [collection.apiName, collection])),
  }
}

/** A column that every table of PostgreSQL has; no field of the API. */
function tableOfRow(collectionId: string): PrimitiveField {
  return {
    kind: 'primitive',
    id: `${collectionId}.tableoid`,
    collectionId,
    dbName: 'tableoid',
    apiName: 'tableoid',
    type: { name: 'string', params: { length: 'unlimited' } },
    isNullable: false,
    isList: false,
    isReadOnly: true,
    defaultValue: null,
    isLoose: false,
    native: { schema: 'pg_catalog', name: 'oid', isOrdered: true },
  }
}

export const noRecords: ModelRecords = {
  sources: [],
  namespaces: [],
  collections: [],
  primitiveFields: [],
  relationFields: [],
  constraints: [],
  indexes: [],
}

function joinRecords(one: ModelRecords, other: ModelRecords): ModelRecords {
  return {
    sources: [...one.sources, ...other.sources],
    namespaces: [...one.namespaces, ...other.namespaces],
    collections: [...one.collections, ...other.collections],
    primitiveFields: [...one.primitiveFields, ...other.primitiveFields],
    relationFields: [...one.relationFields, ...other.relationFields],
    constraints: [...one.constraints, ...other.constraints],
    indexes: [...one.indexes, ...other.indexes],
  }
}

/** Foreign keys have rows changed with those that they refer to. */
function markRecorded(collections: Linking): void {
  const recorded = [...collections.values()].filter(({ hasHistory }) => hasHistory)
  for (const { relations } of recorded) {
    for (const { isForward, target } of relations) {
      const referred = collections.get(target.id)
      if (!isForward || referred === undefined || referred.isRecorded) continue
      referred.isRecorded = true
      recorded.push(referred)
    }
  }
}

type Linking = Map<string, Collection & { fields: Map<string, Field>; relations: RelationField[]; isRecorded: boolean }>

function* linkRelations(
  records: ModelRecords,
  collections: Linking,
  fieldById: ReadonlyMap<string, PrimitiveField>,
): Parts<void> {
  const constraints = new Map(records.constraints.map((constraint) => [constraint.id, constraint]))
  const recordById = new Map(records.relationFields.map((record) => [record.id, record]))
  const linked = new Map<string, RelationField & { opposite: RelationField | undefined }>()
  const link = (record: RelationFieldRecord, joins: RelationField['joins'], through?: Through) => {
    const collection = found(collections.get(record.collectionId), record.collectionId)
    const { id, apiName, isList, isNullable } = record
    const field: RelationField & { opposite: RelationField | undefined } = {
      kind: 'relation',
      id,
      apiName,
      collection,
      target: found(collections.get(record.oppositeCollectionId), record.oppositeCollectionId),
      opposite: undefined,
      isList,
      isNullable,
      isForward: record.constraintId !== null,
      joins,
      ...(through !== undefined && { through }),
    }
    linked.set(id, field)
    collection.relations.push(field)
    collection.fields.set(apiName, field)
  }
  for (const record of records.relationFields) {
    yield
    if (record.through !== undefined) continue
    const isForward = record.constraintId !== null
    const owner = isForward ? record : recordById.get(record.oppositeRelationFieldId ?? '')
    const constraintId = owner?.constraintId ?? ''
    const { mappings } = found(constraints.get(constraintId), constraintId)
    const joins = mappings.map(({ constrainedFieldId, referencedFieldId }) => {
      const constrained = found(fieldById.get(constrainedFieldId), constrainedFieldId)
      const referenced = found(fieldById.get(referencedFieldId), referencedFieldId)
      return isForward ? { own: constrained, other: referenced } : { own: referenced, other: constrained }
    })
    link(record, joins)
  }
  for (const record of records.relationFields) {
    if (record.through === undefined) continue
    const { nearId, farId } = record.through
    link(record, [], { near: found(linked.get(nearId), nearId), far: found(linked.get(farId), farId) })
  }
  for (const record of records.relationFields) {
    const field = linked.get(record.id)
    if (field !== undefined) field.opposite = linked.get(record.oppositeRelationFieldId ?? '')
  }
}

function found<T>(value: T | undefined, id: string): T {
  if (value === undefined) throw new Error(`the model refers to ${id}, which it does not have`)
  return value
}
