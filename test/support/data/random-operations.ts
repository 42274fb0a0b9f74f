/**
 * Random migrations: numbers → operations that fit a model. What a migration refuses is left out, so that every list
 * can be applied; names come from a small pool, so that they are freed and taken again.
 */
import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { ServiceError } from '../../../src/core/error.ts'
import { applyOperations, type MigrationContext, type SourceChange } from '../../../src/core/migration/apply.ts'
import { parseMigration } from '../../../src/core/migration/operation.ts'
import type { FieldType } from '../../../src/core/model/field-type.ts'
import type { CollectionRecord, ModelRecords } from '../../../src/core/model/model.ts'
import { atOnce } from '../../../src/core/parts.ts'

/** One operation: what it is, and four numbers to choose by. */
export type Throw = readonly [kind: number, a: number, b: number, c: number, d: number]

export type RandomOptions = {
  readonly sourceId: string
  readonly context: MigrationContext
  /** The types that a column may have; which of them depends on the numbers. */
  readonly typesOf: (column: string) => readonly { readonly type: FieldType; readonly isList: boolean }[]
  readonly namespaceNames: readonly string[]
}

const number = fc.nat({ max: 997 })

export const anyThrows = (lengths: { readonly minLength: number; readonly maxLength: number }) =>
  fc.array(fc.tuple(number, number, number, number, number), lengths)

/** The operations as they are sent, the model that they lead to, and what the database has to do for it. */
export function applyThrows(
  start: ModelRecords,
  throws: readonly Throw[],
  options: RandomOptions,
): {
  readonly operations: readonly object[]
  readonly records: ModelRecords
  readonly changes: readonly SourceChange[]
} {
  let records = start
  const operations: object[] = []
  const changes: SourceChange[] = []
  for (const thrown of [...throws.slice(0, 4).map(asCreation), ...throws]) {
    const data = operationOf(records, thrown, options)
    const applied = data === undefined ? undefined : appliedOne(records, data, options.context)
    if (data === undefined || applied === undefined) continue
    records = applied.records
    operations.push(data)
    changes.push(...applied.changes)
  }
  return { operations, records, changes }
}

/** The same numbers for a new collection, so that there is something to work on. */
function asCreation([, ...numbers]: Throw): Throw {
  return [kinds.indexOf('createCollection'), ...numbers]
}

function appliedOne(records: ModelRecords, data: object, context: MigrationContext) {
  try {
    return atOnce(applyOperations(records, parseMigration(JSON.stringify({ operations: [data] })).operations, context))
  } catch (error) {
    if (error instanceof ServiceError) return undefined
    throw error
  }
}

const tableNames = ['orders', 'Order Items', 'größe', 'a"b', 'x`y', "it's", 'SELECT', 'long_'.repeat(12)]
export const columnNames = [
  'id',
  'n_total',
  'n_id',
  'n "quoted"',
  's_title',
  's_ünicode',
  's`',
  'flag',
  'at',
  'doc',
  'tags',
]
const actions = ['noAction', 'cascade', 'restrict', 'setNull']

function operationOf(
  records: ModelRecords,
  [kind, a, b, c, d]: Throw,
  options: RandomOptions,
): { readonly kind: string; readonly data: object } | undefined {
  const collections = records.collections.filter(({ sourceId }) => sourceId === options.sourceId)
  const collection = pick(collections, a)
  const fields = records.primitiveFields.filter(({ collectionId }) => collectionId === collection?.id)
  const field = pick(fields, b)
  const update = (...operations: object[]) =>
    collection === undefined ? undefined : { kind: 'updateCollection', data: { id: collection.id, operations } }
  const updateField = (change: string, value: object) =>
    field === undefined
      ? undefined
      : update({ kind: 'updatePrimitiveField', data: { id: field.id, operations: [{ kind: change, data: value }] } })
  switch (kinds[kind % kinds.length]) {
    case 'createCollection':
      return createCollection(records, [kind, a, b, c, d], options)
    case 'createField':
      return update(createField(pickName(columnNames, b), [c, d], options))
    case 'deleteField':
      return field && update({ kind: 'deletePrimitiveField', data: { id: field.id } })
    case 'renameField':
      return updateField('changeDbName', { dbName: pickName(columnNames.filter(isLike(field?.dbName, options)), c) })
    case 'changeType':
      return field && updateField('changeType', { type: pick(options.typesOf(field.dbName), c)?.type })
    case 'changeNull':
      return updateField('changeIsNullable', { isNullable: c % 2 === 0 })
    case 'changeDefault':
      return updateField('changeDefaultValue', { defaultValue: defaults[c % defaults.length] })
    case 'createIndex':
      return update({
        kind: 'createIndex',
        data: {
          id: randomUUID(),
          kind: ['unique', 'normal', 'primary'][d % 3],
          fieldIds: [b, c].slice(0, 1 + (d % 2)).flatMap((at) => pick(fields, at)?.id ?? []),
        },
      })
    case 'deleteIndex': {
      const index = pick(
        records.indexes.filter(({ collectionId }) => collectionId === collection?.id),
        b,
      )
      return index && update({ kind: 'deleteIndex', data: { id: index.id } })
    }
    case 'renameCollection':
      return update({ kind: 'changeDbName', data: { dbName: pickName(tableNames, b) } })
    case 'deleteCollection':
      return collection && { kind: 'deleteCollection', data: { id: collection.id } }
    case 'createRelation':
      return createRelation(records, { collections, numbers: [a, b, c, d] })
    case 'updateRelation': {
      const pair = pairOf(records, a)
      const change = { onDelete: actions[b % actions.length], onUpdate: actions[c % actions.length] }
      return (
        pair && {
          kind: 'updateRelationFieldPair',
          data: { ...pair, operations: [{ kind: 'changeReferentialActions', data: change }] },
        }
      )
    }
    case 'deleteRelation': {
      const pair = pairOf(records, a)
      return pair && { kind: 'deleteRelationFieldPair', data: pair }
    }
    case 'createNamespace':
      return {
        kind: 'createNamespace',
        data: { id: randomUUID(), sourceId: options.sourceId, dbName: pickName(options.namespaceNames, a) },
      }
    case 'deleteNamespace': {
      const namespace = pick(
        records.namespaces.filter(({ dbName }) => options.namespaceNames.includes(dbName)),
        a,
      )
      return namespace && { kind: 'deleteNamespace', data: { id: namespace.id } }
    }
    default:
      return undefined
  }
}

/** Whether a column may have the same types under the other name. */
function isLike(name: string | undefined, { typesOf }: RandomOptions) {
  const types = JSON.stringify(typesOf(name ?? ''))
  return (other: string) => JSON.stringify(typesOf(other)) === types
}

const kinds: readonly string[] = [
  ...Array.from({ length: 5 }, () => 'createCollection'),
  ...Array.from({ length: 4 }, () => 'createField'),
  ...Array.from({ length: 5 }, () => 'createRelation'),
  ...Array.from({ length: 3 }, () => 'createIndex'),
  'deleteField',
  'renameField',
  'changeType',
  'changeNull',
  'changeDefault',
  'deleteIndex',
  'renameCollection',
  'deleteCollection',
  'updateRelation',
  'deleteRelation',
  'createNamespace',
  'deleteNamespace',
]

const defaults: readonly (object | null)[] = [
  null,
  { source: 'connectorManaged', isAutoincrement: true },
  { source: 'engineManaged', onCreate: { kind: 'static', valueEncoded: 7 } },
]

function createCollection(records: ModelRecords, [, a, b, c, d]: Throw, options: RandomOptions) {
  const columns = [columnNames[0] ?? '', ...columnNames.slice(1 + (b % 4), 1 + (b % 4) + (c % 5))]
  const fields = columns.map((name, position) =>
    createField(name, [d + position, position === 0 ? 1 : c + position], options),
  )
  const [first] = fields
  const primary = {
    kind: 'createIndex',
    data: { id: randomUUID(), kind: 'primary', fieldIds: [first?.data.id] },
  }
  const namespaces = records.namespaces.filter(({ sourceId, isSystem }) => sourceId === options.sourceId && !isSystem)
  return {
    kind: 'createCollection',
    data: {
      id: randomUUID(),
      sourceId: options.sourceId,
      namespaceId: pick(namespaces, d)?.id ?? null,
      dbName: pickName(tableNames, a),
      operations: [...fields, ...(d % 7 === 0 ? [] : [primary])],
    },
  }
}

function createField(dbName: string, [c, d]: readonly [number, number], { typesOf }: RandomOptions) {
  const { type, isList } = pick(typesOf(dbName), c) ?? { type: { name: 'int64' }, isList: false }
  const isCounting = dbName === 'id' && c % 3 === 0
  return {
    kind: 'createPrimitiveField',
    data: {
      id: randomUUID(),
      dbName,
      type,
      isList,
      isNullable: d % 2 === 0,
      defaultValue: isCounting ? defaults[1] : null,
    },
  }
}

/** To a key of another collection, or of the same, from fields of the same types. */
function createRelation(
  records: ModelRecords,
  {
    collections,
    numbers: [a, b, c, d],
  }: { readonly collections: readonly CollectionRecord[]; readonly numbers: readonly [number, number, number, number] },
) {
  const owner = pick(collections, a)
  const target = pick(collections, b)
  const fieldById = new Map(records.primitiveFields.map((field) => [field.id, field]))
  const isKeyOf = (id: string | undefined) => (index: ModelRecords['indexes'][number]) =>
    index.collectionId === id && index.kind !== 'normal'
  const key = pick(records.indexes.filter(isKeyOf(target?.id)), c)
  const own: string[] = []
  for (const id of key?.fieldIds ?? []) {
    const found = records.primitiveFields.find(
      (field) =>
        field.collectionId === owner?.id &&
        !own.includes(field.id) &&
        JSON.stringify(field.type) === JSON.stringify(fieldById.get(id)?.type),
    )
    if (found !== undefined) own.push(found.id)
  }
  if (owner === undefined || target === undefined || key === undefined) return undefined
  const isUnique = records.indexes
    .filter(isKeyOf(owner.id))
    .some((index) => index.fieldIds.every((id) => own.includes(id)))
  const name = `r${a}_${b}_${c}`
  const side = { id: randomUUID(), apiName: `${name}_${randomUUID().slice(0, 4)}` }
  return {
    kind: 'createRelationFieldPair',
    data: {
      kind: 'single',
      data: {
        relationName: name,
        onDelete: actions[d % actions.length],
        firstField: { ...side, isList: false, isConstrained: true, collectionId: owner.id, fieldIds: own },
        secondField: {
          ...side,
          id: randomUUID(),
          apiName: `${side.apiName}_back`,
          isList: !isUnique,
          isConstrained: false,
          collectionId: target.id,
          fieldIds: key.fieldIds,
        },
      },
    },
  }
}

function pairOf(records: ModelRecords, at: number) {
  const owner = pick(
    records.relationFields.filter(({ constraintId }) => constraintId !== null),
    at,
  )
  return owner && { firstFieldId: owner.id, secondFieldId: owner.oppositeRelationFieldId }
}

function pick<T>(values: readonly T[], at: number): T | undefined {
  return values[at % Math.max(values.length, 1)]
}

function pickName(names: readonly string[], at: number): string {
  return names[at % names.length] ?? ''
}

/** A model without ids and API names, so that two of them can be compared. */
export function shapeOf(records: ModelRecords, sourceId: string) {
  const namespaces = new Map(records.namespaces.map(({ id, dbName }) => [id, dbName]))
  const fields = new Map(records.primitiveFields.map((field) => [field.id, field.dbName]))
  const constraints = new Map(records.constraints.map((constraint) => [constraint.id, constraint]))
  const relations = new Map(records.relationFields.map((relation) => [relation.id, relation]))
  const collections = new Map(records.collections.map((collection) => [collection.id, collection]))
  const named = (ids: readonly string[]) => ids.map((id) => fields.get(id))
  const place = (id: string) => {
    const collection = collections.get(id)
    return [namespaces.get(collection?.namespaceId ?? ''), collection?.dbName]
  }
  return {
    namespaces: records.namespaces
      .filter((namespace) => namespace.sourceId === sourceId)
      .map(({ dbName }) => dbName)
      .sort(),
    collections: sorted(
      records.collections
        .filter((collection) => collection.sourceId === sourceId)
        .map(({ id, isReadOnly }) => ({
          place: place(id),
          isReadOnly,
          fields: sorted(
            records.primitiveFields
              .filter(({ collectionId }) => collectionId === id)
              .map(({ dbName, type, isNullable, isList, isReadOnly: isFixed, defaultValue }) => ({
                dbName,
                type: type.name === 'decimal' && type.params.kind === 'constrained' ? { ...type.params } : type,
                isNullable,
                isList,
                isFixed,
                isCounting: defaultValue?.source === 'connectorManaged' && defaultValue.isAutoincrement === true,
              })),
          ),
          indexes: sorted(
            records.indexes
              .filter(({ collectionId }) => collectionId === id)
              // Not every database keeps the name of a primary key.
              .map(({ dbName, kind, fieldIds }) => ({
                dbName: kind === 'primary' ? '' : dbName,
                kind,
                columns: named(fieldIds),
              })),
          ),
        })),
    ),
    relations: sorted(
      records.relationFields.flatMap((owner) => {
        const constraint = constraints.get(owner.constraintId ?? '')
        const opposite = relations.get(owner.oppositeRelationFieldId ?? '')
        if (constraint === undefined) return []
        const constrained = constraint.mappings.map(({ constrainedFieldId }) => constrainedFieldId)
        const isUnique = records.indexes.some(
          ({ collectionId, kind, fieldIds }) =>
            collectionId === owner.collectionId &&
            kind !== 'normal' &&
            fieldIds.every((fieldId) => constrained.includes(fieldId)),
        )
        return {
          dbName: constraint.dbName,
          onDelete: constraint.onDelete,
          onUpdate: constraint.onUpdate,
          from: place(owner.collectionId),
          to: place(owner.oppositeCollectionId),
          columns: named(constrained),
          referenced: named(constraint.mappings.map(({ referencedFieldId }) => referencedFieldId)),
          isNullable: owner.isNullable,
          // Where it could be to one, whoever made it was free to call it a list.
          isList: isUnique ? undefined : opposite?.isList,
        }
      }),
    ),
  }
}

function sorted<T>(values: readonly T[]): readonly T[] {
  return [...values].sort((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1))
}
