/**
 * The system collections (docs/contract.md#system-collections): a built-in model over the tables of
 * `service_<workspace>_meta`, read through the same pipeline as every other collection. Items and migrations cannot
 * change it, but for `presentation.ts`.
 */
import type { FieldType, TypeName } from './field-type.ts'
import type { ModelRecords, PrimitiveFieldRecord, RelationFieldRecord } from './model.ts'
import { presentationRecords } from './presentation.ts'

type Column = readonly [
  apiName: string,
  dbName: string,
  type: 'uuid' | 'string' | 'boolean' | 'json' | 'int32',
  nullable?: 'nullable',
]

type Table = {
  readonly apiName: string
  readonly dbName: string
  readonly key: readonly string[]
  readonly columns: readonly Column[]
}

const tables: readonly Table[] = [
  {
    apiName: 'ServiceDataSource',
    dbName: 'data_source',
    key: ['id'],
    columns: [
      ['id', 'id', 'uuid'],
      ['apiName', 'api_name', 'string'],
      ['provider', 'provider', 'string'],
      ['preset', 'preset', 'string', 'nullable'],
    ],
  },
  {
    apiName: 'ServiceNamespace',
    dbName: 'namespace',
    key: ['id'],
    columns: [
      ['id', 'id', 'uuid'],
      ['sourceId', 'source_id', 'uuid'],
      ['dbName', 'db_name', 'string'],
      ['isSystem', 'is_system', 'boolean'],
    ],
  },
  {
    apiName: 'ServiceCollection',
    dbName: 'collection',
    key: ['id'],
    columns: [
      ['id', 'id', 'uuid'],
      ['sourceId', 'source_id', 'uuid'],
      ['namespaceId', 'namespace_id', 'uuid', 'nullable'],
      ['dbName', 'db_name', 'string'],
      ['apiName', 'api_name', 'string'],
      ['isReadOnly', 'is_read_only', 'boolean'],
      ['isSystem', 'is_system', 'boolean'],
    ],
  },
  {
    apiName: 'ServicePrimitiveField',
    dbName: 'primitive_field',
    key: ['id'],
    columns: [
      ['id', 'id', 'uuid'],
      ['collectionId', 'collection_id', 'uuid'],
      ['dbName', 'db_name', 'string'],
      ['apiName', 'api_name', 'string'],
      ['type', 'type', 'json'],
      ['isNullable', 'is_nullable', 'boolean'],
      ['isList', 'is_list', 'boolean'],
      ['isReadOnly', 'is_read_only', 'boolean'],
      ['defaultValue', 'default_value', 'json', 'nullable'],
    ],
  },
  {
    apiName: 'ServiceSingleRelationField',
    dbName: 'single_relation_field',
    key: ['id'],
    columns: [
      ['id', 'id', 'uuid'],
      ['apiName', 'api_name', 'string'],
      ['collectionId', 'collection_id', 'uuid'],
      ['oppositeCollectionId', 'opposite_collection_id', 'uuid'],
      ['oppositeRelationFieldId', 'opposite_relation_field_id', 'uuid', 'nullable'],
      ['constraintId', 'constraint_id', 'uuid', 'nullable'],
      ['isList', 'is_list', 'boolean'],
      ['isNullable', 'is_nullable', 'boolean'],
    ],
  },
  {
    apiName: 'ServiceSingleConstraint',
    dbName: 'single_constraint',
    key: ['id'],
    columns: [
      ['id', 'id', 'uuid'],
      ['dbName', 'db_name', 'string'],
      ['onDelete', 'on_delete', 'string'],
      ['onUpdate', 'on_update', 'string'],
    ],
  },
  {
    apiName: 'ServiceSingleConstraintField',
    dbName: 'single_constraint_field',
    key: ['constraintId', 'order'],
    columns: [
      ['constraintId', 'constraint_id', 'uuid'],
      ['constrainedFieldId', 'constrained_field_id', 'uuid'],
      ['referencedFieldId', 'referenced_field_id', 'uuid'],
      ['order', 'order', 'int32'],
    ],
  },
  {
    apiName: 'ServiceIndex',
    dbName: 'index',
    key: ['id'],
    columns: [
      ['id', 'id', 'uuid'],
      ['collectionId', 'collection_id', 'uuid'],
      ['dbName', 'db_name', 'string'],
      ['kind', 'kind', 'string'],
    ],
  },
  {
    apiName: 'ServiceIndexField',
    dbName: 'index_field',
    key: ['indexId', 'order'],
    columns: [
      ['indexId', 'index_id', 'uuid'],
      ['fieldId', 'field_id', 'uuid'],
      ['order', 'order', 'int32'],
    ],
  },
]

/**
 * A relation of the owner with its foreign key, and the opposite relation: `ServiceCollection.source` ↔
 * `ServiceDataSource.collections`.
 */
type Relation = {
  readonly from: string
  readonly name: string
  readonly column: string
  readonly to: string
  readonly back: string
  readonly backIs?: 'one'
}

const relations: readonly Relation[] = [
  { from: 'ServiceNamespace', name: 'source', column: 'sourceId', to: 'ServiceDataSource', back: 'namespaces' },
  { from: 'ServiceCollection', name: 'source', column: 'sourceId', to: 'ServiceDataSource', back: 'collections' },
  { from: 'ServiceCollection', name: 'namespace', column: 'namespaceId', to: 'ServiceNamespace', back: 'collections' },
  {
    from: 'ServicePrimitiveField',
    name: 'collection',
    column: 'collectionId',
    to: 'ServiceCollection',
    back: 'primitiveFields',
  },
  {
    from: 'ServiceSingleRelationField',
    name: 'collection',
    column: 'collectionId',
    to: 'ServiceCollection',
    back: 'relationFields',
  },
  {
    from: 'ServiceSingleRelationField',
    name: 'oppositeCollection',
    column: 'oppositeCollectionId',
    to: 'ServiceCollection',
    back: 'inboundRelationFields',
  },
  {
    from: 'ServiceSingleRelationField',
    name: 'oppositeRelationField',
    column: 'oppositeRelationFieldId',
    to: 'ServiceSingleRelationField',
    back: 'self',
    backIs: 'one',
  },
  {
    from: 'ServiceSingleRelationField',
    name: 'constraint',
    column: 'constraintId',
    to: 'ServiceSingleConstraint',
    back: 'constrainedRelationField',
    backIs: 'one',
  },
  {
    from: 'ServiceSingleConstraintField',
    name: 'constraint',
    column: 'constraintId',
    to: 'ServiceSingleConstraint',
    back: 'fieldMappings',
  },
  {
    from: 'ServiceSingleConstraintField',
    name: 'constrainedField',
    column: 'constrainedFieldId',
    to: 'ServicePrimitiveField',
    back: 'constrainedBy',
  },
  {
    from: 'ServiceSingleConstraintField',
    name: 'referencedField',
    column: 'referencedFieldId',
    to: 'ServicePrimitiveField',
    back: 'referencedBy',
  },
  { from: 'ServiceIndex', name: 'collection', column: 'collectionId', to: 'ServiceCollection', back: 'indexes' },
  { from: 'ServiceIndexField', name: 'index', column: 'indexId', to: 'ServiceIndex', back: 'fields' },
  { from: 'ServiceIndexField', name: 'field', column: 'fieldId', to: 'ServicePrimitiveField', back: 'indexedBy' },
]

/** The built-in records of a workspace whose `_system` source and meta namespace have these ids. */
export function systemRecords(sourceId: string, namespaceId: string): ModelRecords {
  const ids = numberedIds()
  const collections = tables.map(({ apiName, dbName }) => ({
    id: ids(apiName),
    sourceId,
    namespaceId,
    dbName,
    apiName,
    isReadOnly: true,
    isSystem: true,
    isView: false,
  }))
  const primitiveFields = tables.flatMap((table) =>
    table.columns.map((column) => primitiveField(table.apiName, column, ids)),
  )
  const written = presentationRecords(sourceId, namespaceId)
  return {
    sources: [],
    namespaces: [],
    collections: [...collections, ...written.collections],
    primitiveFields: [...primitiveFields, ...written.primitiveFields],
    relationFields: relations.flatMap((relation) => relationPair(relation, ids)),
    constraints: relations.map(({ from, name, column, to }) => ({
      id: ids(`${from}.${name}.constraint`),
      dbName: `${from}_${name}`,
      onDelete: 'noAction',
      onUpdate: 'noAction',
      mappings: [{ constrainedFieldId: ids(`${from}.${column}`), referencedFieldId: ids(`${to}.id`) }],
    })),
    indexes: [
      ...tables.map(({ apiName, key }) => ({
        id: ids(`${apiName}.key`),
        collectionId: ids(apiName),
        dbName: `${apiName}_pkey`,
        kind: 'primary' as const,
        fieldIds: key.map((name) => ids(`${apiName}.${name}`)),
      })),
      ...written.indexes,
    ],
  }
}

function primitiveField(collection: string, [apiName, dbName, type, nullable]: Column, ids: Ids): PrimitiveFieldRecord {
  return {
    id: ids(`${collection}.${apiName}`),
    collectionId: ids(collection),
    dbName,
    apiName,
    type: fieldType(type),
    isNullable: nullable === 'nullable',
    isList: false,
    isReadOnly: true,
    defaultValue: null,
    isLoose: false,
    native: null,
  }
}

function fieldType(name: Column[2]): FieldType {
  return name === 'string' ? { name, params: { length: 'unlimited' } } : { name: name satisfies TypeName }
}

function relationPair(relation: Relation, ids: Ids): readonly RelationFieldRecord[] {
  const { from, name, to, back } = relation
  const isNullable = tables
    .find(({ apiName }) => apiName === from)
    ?.columns.some(([column, , , nullable]) => column === relation.column && nullable !== undefined)
  const forward = { id: ids(`${from}.${name}`), collectionId: ids(from), oppositeCollectionId: ids(to) }
  const backward = { id: ids(`${to}.${back}`), collectionId: ids(to), oppositeCollectionId: ids(from) }
  return [
    {
      ...forward,
      apiName: name,
      oppositeRelationFieldId: backward.id,
      constraintId: ids(`${from}.${name}.constraint`),
      isList: false,
      isNullable: isNullable === true,
    },
    {
      ...backward,
      apiName: back,
      oppositeRelationFieldId: forward.id,
      constraintId: null,
      isList: relation.backIs === undefined,
      isNullable: relation.backIs !== undefined,
    },
  ]
}

type Ids = (name: string) => string

/** Fixed ids that no client can generate: they are of no UUID version. */
function numberedIds(): Ids {
  const known = new Map<string, string>()
  return (name) => {
    const id = known.get(name) ?? `00000000-0000-0000-0000-${(known.size + 1).toString(16).padStart(12, '0')}`
    known.set(name, id)
    return id
  }
}
