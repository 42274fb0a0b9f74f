/** A manifest read the way a client reads it: its pools resolved, by docs/manifest.md alone. */
import type { InputField, Manifest } from '../../../src/core/manifest/format.ts'
import type { ModelRecords } from '../../../src/core/model/model.ts'

export type ReadType = {
  /** `int64`, `[postsCreateInput]`, `string?`; followed by `optional`, `default`, and other forms after `or`. */
  readonly fields: Readonly<Record<string, string>>
  readonly constraints: unknown
}

export type ReadBack = {
  readonly records: ModelRecords
  /** By name. */
  readonly inputs: ReadonlyMap<string, ReadType>
  readonly outputs: ReadonlyMap<string, ReadType>
  /** `create posts(postsCreateArguments): [postsCollectionOutput]` */
  readonly operations: readonly string[]
}

export function readBack(manifest: Manifest): ReadBack {
  const { strings, querySchema } = manifest
  const text = (index: number) => found(strings[index])
  const reference = (type: string): string => {
    if (type.endsWith('?')) return `${reference(type.slice(0, -1))}?`
    if (type.startsWith('[')) return `[${reference(type.slice(1, -1))}]`
    const index = Number(type.slice(1))
    if (type.startsWith('p')) return describePrimitive(manifest, index)
    if (type.startsWith('i')) return text(found(querySchema.inputObjectTypes[index]).name)
    if (type.startsWith('o')) return text(found(querySchema.outputObjectTypes[index]).name)
    return found(querySchema.enumTypes[index]).values.map(text).join('|')
  }
  const inputField = (index: number): string => {
    const { type, secondaryTypes = [], optional, hasDefault }: InputField = found(querySchema.inputFields[index])
    const forms = [type, ...secondaryTypes].map(reference).join(' or ')
    return `${forms}${optional ? ' optional' : ''}${hasDefault ? ' default' : ''}`
  }
  const outputField = (index: number): string => {
    const { type, arguments: parameters } = found(querySchema.outputFields[index])
    return `${reference(type)}${parameters === undefined ? '' : `(${reference(`i${parameters}`)})`}`
  }
  const types = (list: readonly Listed[], field: (index: number) => string) =>
    new Map(
      list.map(({ name, fields, constraints }) => [
        text(name),
        { fields: Object.fromEntries(pairs(fields, text, field)), constraints: named(constraints, text) },
      ]),
    )
  return {
    records: readRecords(manifest),
    inputs: types(querySchema.inputObjectTypes, inputField),
    outputs: types(querySchema.outputObjectTypes, outputField),
    operations: querySchema.operations.map(
      ([kind, collection, parameters, output]) =>
        `${kind} ${text(collection)}(${reference(`i${parameters}`)}): ${reference(output)}`,
    ),
  }
}

type Listed = { readonly name: number; readonly fields: readonly number[]; readonly constraints?: object }

function pairs(
  flat: readonly number[],
  text: (index: number) => string,
  field: (index: number) => string,
): readonly (readonly [string, string])[] {
  return flat.flatMap((name, index) => (index % 2 === 0 ? [[text(name), field(found(flat[index + 1]))] as const] : []))
}

function named(value: unknown, text: (index: number) => string): unknown {
  if (typeof value === 'number') return text(value)
  if (Array.isArray(value)) return value.map((one) => named(one, text))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, named(one, text)]))
}

function describePrimitive({ primitiveTypes }: Manifest, index: number): string {
  const type = found(primitiveTypes[index])
  return type.name === 'string' && type.params.length === 'fixed' ? `string(${type.params.value})` : type.name
}

function readRecords({ strings, primitiveTypes, serviceSchema }: Manifest): ModelRecords {
  const { sources, namespaces, collections } = serviceSchema
  const text = (index: number) => found(strings[index])
  return {
    sources: sources.map(({ id, name, provider }) => ({ id, apiName: text(name), provider: text(provider) })),
    namespaces: namespaces.map(({ id, dbName, source, isSystem = false }) => ({
      id,
      sourceId: found(sources[source]).id,
      dbName: text(dbName),
      isSystem,
    })),
    collections: collections.map(
      ({ id, apiName, dbName = apiName, source, namespace, isReadonly, isSystem, isView }) => ({
        id,
        sourceId: found(sources[found(source)]).id,
        namespaceId: namespace === undefined ? null : found(namespaces[namespace]).id,
        dbName: text(dbName),
        apiName: text(apiName),
        isReadOnly: isReadonly ?? false,
        isSystem: isSystem ?? false,
        isView: isView ?? false,
      }),
    ),
    primitiveFields: collections.flatMap(({ id: collectionId, primitiveFields }) =>
      primitiveFields.map(({ id, apiName, dbName = apiName, type, defaultValue = null, ...flags }) => ({
        id,
        collectionId,
        dbName: text(dbName),
        apiName: text(apiName),
        type: found(primitiveTypes[type]),
        isNullable: flags.isNullable ?? false,
        isList: flags.isList ?? false,
        isReadOnly: flags.isReadonly ?? false,
        isLoose: false,
        native: null,
        defaultValue,
      })),
    ),
    relationFields: collections.flatMap(({ id: collectionId, relationFields }) =>
      relationFields.map(({ id, apiName, oppositeCollection, oppositeField, constraint, ...flags }) => ({
        id,
        collectionId,
        apiName: text(apiName),
        oppositeCollectionId: found(collections[oppositeCollection]).id,
        oppositeRelationFieldId:
          oppositeField === undefined
            ? null
            : found(found(collections[oppositeCollection]).relationFields[oppositeField]).id,
        constraintId: constraint?.id ?? null,
        isList: flags.isList ?? false,
        isNullable: flags.isNullable ?? false,
      })),
    ),
    constraints: collections.flatMap(({ primitiveFields, relationFields }) =>
      relationFields.flatMap(({ constraint, linkingFields, oppositeCollection }) =>
        constraint === undefined
          ? []
          : [
              {
                ...constraint,
                dbName: text(constraint.dbName),
                mappings: linkingFields.map(([own, opposite]) => ({
                  constrainedFieldId: found(primitiveFields[own]).id,
                  referencedFieldId: found(found(collections[oppositeCollection]).primitiveFields[opposite]).id,
                })),
              },
            ],
      ),
    ),
    indexes: collections.flatMap(({ id: collectionId, primitiveFields, indexes = [] }) =>
      indexes.map(({ id, dbName, kind, fields }) => ({
        id,
        collectionId,
        dbName: text(found(dbName)),
        kind,
        fieldIds: fields.map((field) => found(primitiveFields[field]).id),
      })),
    ),
  }
}

function found<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('an index of the manifest points nowhere')
  return value
}
