/**
 * A manifest (`GET /api/{workspace}/schema`) or a model file → the text of a module with its `Schema`, by which the
 * client knows every answer. The same model is the same text, whichever of both says it.
 */

import { describeModel, type ModelText } from './describe-model.ts'
import type { Described, DescribedRelation } from './described.ts'
import type { CollectionEntry, ManifestText, RelationEntry } from './manifest-text.ts'
import { schemaText } from './schema-text.ts'

export type { ModelText } from './describe-model.ts'
export type { CollectionEntry, FieldEntry, ManifestText, RelationEntry } from './manifest-text.ts'
export { MARK } from './schema-text.ts'

export function writeSchema(manifest: ManifestText, options: { readonly system?: boolean } = {}): string {
  const { collections } = manifest.serviceSchema
  const isOwn = (collection: CollectionEntry) => collection.isSystem !== true
  const related = collections
    .filter(isOwn)
    .flatMap(({ relationFields }) => relationFields.map(({ oppositeCollection }) => collections[oppositeCollection]))
  // Of the system collections, those that others lead to: files.
  const isIncluded = (collection: CollectionEntry | undefined) =>
    collection !== undefined && (options.system === true || isOwn(collection) || related.includes(collection))
  return schemaText(collections.filter(isIncluded).map((collection) => described(manifest, collection, isIncluded)))
}

/**
 * The same without a service, out of a model file. Throws for a file that is none, with the place. What only a database
 * knows is not in it: the values of enums and of check constraints are plain texts here.
 */
export function writeModelSchema(model: ModelText): string {
  return schemaText(describeModel(model))
}

function described(
  manifest: ManifestText,
  collection: CollectionEntry,
  isIncluded: (collection: CollectionEntry | undefined) => boolean,
): Described {
  const { strings, primitiveTypes, serviceSchema } = manifest
  const { primitiveFields, indexes = [] } = collection
  const of = (kind: string) => operation(manifest, collection, kind)
  const text = (index: number | undefined) => strings[index ?? -1] ?? ''
  const names = (fields: readonly number[]) => fields.map((index) => text(primitiveFields[index]?.apiName))
  const targetOf = ({ oppositeCollection }: RelationEntry) =>
    text(serviceSchema.collections[oppositeCollection]?.apiName)
  const relations = collection.relationFields.filter(({ oppositeCollection }) =>
    isIncluded(serviceSchema.collections[oppositeCollection]),
  )
  const changed = dataOf(manifest, of('updateOne') ?? of('updateMany'))
  return {
    name: text(collection.apiName),
    fields: primitiveFields.map(({ apiName, type, isNullable, isList, values = [] }) => ({
      name: text(apiName),
      type: primitiveTypes[type]?.name ?? '',
      isNullable: isNullable === true,
      isList: isList === true,
      values: values.map(text),
    })),
    key: names(indexes.find(({ kind }) => kind === 'primary')?.fields ?? []),
    isAddressed: of('readOne') !== undefined,
    created: withRequired(collection, dataOf(manifest, of('create')), names),
    changed: changed && new Set(changed.keys()),
    one: relations
      .filter(({ isList }) => isList !== true)
      .map(
        (relation): DescribedRelation => ({
          name: text(relation.apiName),
          to: targetOf(relation),
          by: relation.isForward ? names(relation.linkingFields.map(([own]) => own)) : [],
          mayMiss: mayMiss(manifest, collection, relation),
        }),
      ),
    many: relations
      .filter(({ isList }) => isList === true)
      .map((relation) => [text(relation.apiName), targetOf(relation)]),
    unique: indexes.filter(({ kind }) => kind === 'unique').map(({ fields }) => names(fields)),
  }
}

/** Of the operation that this collection serves, the input type; undefined where it does not. */
function operation({ querySchema }: ManifestText, { apiName }: CollectionEntry, kind: string) {
  const found = querySchema.operations.find(([served, collection]) => served === kind && collection === apiName)
  return found && { parameters: querySchema.inputObjectTypes[found[2]], output: found[3] }
}

type Operation = NonNullable<ReturnType<typeof operation>>

/** The fields of what is written: name → whether it may be left out. */
function dataOf(manifest: ManifestText, served: Operation | undefined): ReadonlyMap<string, boolean> | undefined {
  const { strings, querySchema } = manifest
  const data = members(served?.parameters?.fields ?? []).find(([text]) => strings[text] === 'data')
  if (data === undefined) return undefined
  const type = querySchema.inputObjectTypes[reference(querySchema.inputFields[data[1]]?.type)]
  const fields = members(type?.fields ?? []).flatMap(([text, index]) => {
    const field = querySchema.inputFields[index]
    return field?.kind === 'primitive' ? [[strings[text] ?? '', field.optional === true] as const] : []
  })
  return new Map(fields)
}

/**
 * A column of a relation may be left out where the relation is given, which the types of the client say (`Create`): of the
 * column they are told whether a new item needs it.
 */
function withRequired(
  { primitiveFields, relationFields }: CollectionEntry,
  created: ReadonlyMap<string, boolean> | undefined,
  names: (fields: readonly number[]) => readonly string[],
): ReadonlyMap<string, boolean> | undefined {
  const linking = relationFields.flatMap(({ isForward, linkingFields }) =>
    isForward ? linkingFields.map(([own]) => own) : [],
  )
  const needed = linking.filter((index) => {
    const { isNullable, defaultValue } = primitiveFields[index] ?? {}
    return isNullable !== true && (defaultValue === undefined || defaultValue === null)
  })
  return (
    created &&
    new Map([...created, ...names(needed).flatMap((name) => (created.has(name) ? [[name, false] as const] : []))])
  )
}

/** Whether the answer may have null there: a relation that is nullable, leads back, or into another source. */
function mayMiss(manifest: ManifestText, collection: CollectionEntry, relation: RelationEntry): boolean {
  const { querySchema } = manifest
  const served = operation(manifest, collection, 'readMany') ?? operation(manifest, collection, 'readOne')
  const item = querySchema.outputObjectTypes[reference(served?.output)]
  const field = members(item?.fields ?? []).find(([text]) => text === relation.apiName)
  return field === undefined || querySchema.outputFields[field[1]]?.type.endsWith('?') === true
}

/** `fields` of an object type in pairs. */
function members(fields: readonly number[]): readonly (readonly [text: number, field: number])[] {
  return fields.flatMap((text, at) => (at % 2 === 0 ? [[text, fields[at + 1] ?? -1] as const] : []))
}

/** The number of a type reference: `[i5?]` → 5. */
const reference = (type = '') => Number(/\d+/.exec(type)?.[0] ?? -1)
