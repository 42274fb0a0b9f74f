/**
 * The collection of files (docs/contract.md#files): collections of users have relations to it, its items are read, changed and
 * deleted like any other, and created by uploads alone.
 */
import type { FieldType } from './field-type.ts'
import {
  type Collection,
  isSystemSource,
  type Model,
  type ModelRecords,
  noRecords,
  type PrimitiveField,
} from './model.ts'
import { fileCollectionId, type PresentationName, presentationRecords } from './presentation.ts'

export const FILES = 'ServiceFile' satisfies PresentationName

/** The records of the collection of files alone, in the place that it has in the workspace of `records`. */
export function fileRecords({ sources, namespaces }: ModelRecords): ModelRecords {
  const source = sources.find(isSystemSource)
  const namespace = namespaces.find(({ sourceId, isSystem }) => isSystem && sourceId === source?.id)
  if (source === undefined || namespace === undefined) return noRecords
  const { collections, primitiveFields, indexes } = presentationRecords(source.id, namespace.id)
  const isOfFiles = ({ collectionId }: { readonly collectionId: string }) => collectionId === fileCollectionId
  return {
    ...noRecords,
    collections: collections.filter(isFiles),
    primitiveFields: primitiveFields.filter(isOfFiles),
    indexes: indexes.filter(isOfFiles),
  }
}

/** Files are a system collection under policies like those of users; no item is created but by an upload. */
export function isFiles({ id }: Pick<Collection, 'id'>): boolean {
  return id === fileCollectionId
}

/** What an upload writes beside the fields of a file: where its bytes are, and their hash. No request names them. */
const contentFields: readonly PrimitiveField[] = [
  contentField('contentKey', 'content_key', { name: 'uuid' }),
  contentField('contentHash', 'content_hash', { name: 'string', params: { length: 'unlimited' } }),
]

function contentField(apiName: string, dbName: string, type: FieldType): PrimitiveField {
  return {
    kind: 'primitive',
    id: `${fileCollectionId}.${apiName}`,
    collectionId: fileCollectionId,
    dbName,
    apiName,
    type,
    isNullable: false,
    isList: false,
    isReadOnly: false,
    defaultValue: null,
    isLoose: false,
    native: null,
  }
}

/** Whether the collection is that of files as uploads write it. */
export function isUploading(collection: Collection): boolean {
  const { fields } = collection
  return isFiles(collection) && contentFields.every((field) => fields.get(field.apiName) === field)
}

/** The fields that a right to write some of a file covers: the bytes go with their type. */
export function withContent(fieldIds: ReadonlySet<string>, { fields }: Collection): ReadonlySet<string> {
  if (!fieldIds.has(fields.get('mediaType')?.id ?? '')) return fieldIds
  return new Set([...fieldIds, ...contentFields.map(({ id }) => id)])
}

const named = new WeakMap<Collection, Collection>()

/** Of a collection as uploads write it, that of files as requests name it: without what is in the store. */
export function namedByRequests(collection: Collection): Collection {
  return named.get(collection) ?? collection
}

const uploading = new WeakMap<Model, Model>()

/** The model by which files are uploaded: all fields of a file are written, its bytes among them. */
export function uploadingModel(model: Model): Model {
  const known = uploading.get(model)
  if (known !== undefined) return known
  const files = model.collections.get(fileCollectionId)
  // Of a workspace that is gone there is no collection at all.
  if (files === undefined) return model
  // Those of the content are not among the fields that an answer has.
  const primitives = files.primitives.map((field) => ({ ...field, isReadOnly: false }))
  const byId = new Map(primitives.map((field) => [field.id, field]))
  const ofThese = (fields: readonly PrimitiveField[]) => fields.map((field) => byId.get(field.id) ?? field)
  const written: Collection = {
    ...files,
    primitives,
    fields: new Map([
      ...files.fields,
      ...[...primitives, ...contentFields].map((field) => [field.apiName, field] as const),
    ]),
    indexes: files.indexes.map((index) => ({ ...index, fields: ofThese(index.fields) })),
    primaryKey: ofThese(files.primaryKey),
    identity: ofThese(files.identity),
    key: ofThese(files.key),
  }
  const made: Model = {
    ...model,
    collections: new Map([...model.collections, [written.id, written]]),
    byName: new Map([...model.byName, [written.apiName, written]]),
  }
  uploading.set(model, made)
  named.set(written, files)
  return made
}
