/** The fields, relations and indexes that the collections of a file are to have: names → records with ids. */
import { fileRecords } from '../model/file-collection.ts'
import { lookupOf } from '../model/lookup.ts'
import {
  type IndexRecord,
  type ModelRecords,
  modelOf,
  type PrimitiveFieldRecord,
  type RelationFieldRecord,
  type SourceRecord,
} from '../model/model.ts'
import type { Parts } from '../parts.ts'
import { type Ids, identify } from './identity.ts'
import { checkApiName, columnNames } from './names.ts'
import { fileFault } from './reading.ts'
import type {
  CollectionShape,
  Column,
  MatchedCollection,
  RelationShape,
  Resolved,
  ResolvedCollection,
} from './resolution.ts'
import { resolveColumn } from './resolve-column.ts'
import { resolveIndexes } from './resolve-indexes.ts'
import { type PairRecords, resolveManyToMany, resolveRelation } from './resolve-relation.ts'
import { type Shapes, shapesOf } from './shapes.ts'

export type FieldsContext = {
  readonly records: ModelRecords
  /** The sources whose collections the file lists. */
  readonly sources: ReadonlyMap<string, SourceRecord>
  readonly ids: Ids
}

export function* resolveFields(
  matched: readonly MatchedCollection[],
  { records, sources, ids }: FieldsContext,
): Parts<Resolved> {
  const managed = new Set([...sources.values()].map(({ id }) => id))
  const files = fileRecords(records)
  const own = records.collections.filter(({ sourceId }) => !managed.has(sourceId))
  const unlisted = [...own, ...files.collections]
  const unlistedIds = new Set(unlisted.map(({ id }) => id))
  const isUnlisted = ({ collectionId }: { readonly collectionId: string }) => unlistedIds.has(collectionId)
  const { collections: built } = yield* modelOf(0, records, files)
  const shapes = yield* shapesOf(
    matched,
    unlisted.flatMap(({ id }) => built.get(id) ?? []),
  )
  const places = new Map(matched.map(({ record, entry }) => [record.id, entry.place]))
  const owners = yield* knownRelations(shapes, records, ids)
  const dbNameOf = columnNames(shapes.all, records)
  const collections = new Map<CollectionShape, ResolvedCollection>()
  for (const shape of shapes.all) {
    collections.set(shape, yield* resolveColumns(shape, { shapes, records, ids, owners, places, dbNameOf }))
  }

  const kept = unlistedPairs(records, unlistedIds, matched)
  const names = new Map<string, Set<string>>()
  const collectionNames = new Map(matched.map(({ record }) => [record.id, record.apiName]))
  const claim = (collectionId: string, name: string, place: string) => {
    const taken = names.get(collectionId) ?? new Set<string>()
    names.set(collectionId, taken)
    const collection = collectionNames.get(collectionId) ?? 'the other collection'
    if (taken.has(name)) throw fileFault(place, `${collection} already has a field ${name}`)
    taken.add(name)
  }
  const columns = [...records.primitiveFields, ...files.primitiveFields].filter(isUnlisted)
  for (const { collectionId, apiName } of [...kept.relations, ...columns]) {
    claim(collectionId, apiName, 'model.sources')
  }
  for (const { record, fields, shape } of collections.values()) {
    for (const [name, field] of fields) claim(record.id, name, shape.columns.get(name)?.place ?? field.id)
  }
  const pairs: PairRecords[] = []
  for (const { shape, record } of collections.values()) {
    for (const relation of shape.relations.values()) {
      yield
      const pair = resolveRelation(relation, { shapes, collections, records, ids, known: owners.get(relation), built })
      claim(record.id, relation.name, relation.place)
      claim(pair.opposite.collectionId, pair.opposite.apiName, `${relation.place}.opposite`)
      pairs.push(pair)
      places.set(pair.owner.id, relation.place)
      places.set(pair.opposite.id, relation.place)
    }
  }
  const manyToMany = yield* resolveManyToMany(matched, { built, pairs, records, ids, claim })
  for (const [id, place] of manyToMany.places) places.set(id, place)

  const indexes: IndexRecord[] = []
  for (const collection of collections.values()) {
    indexes.push(...(yield* resolveIndexes(collection, { shapes, records, ids, places })))
  }
  const relationFields = [
    ...kept.relations,
    ...pairs.flatMap(({ owner, opposite }) => [owner, opposite]),
    ...manyToMany.records,
  ]
  const constraints = new Map(records.constraints.map((constraint) => [constraint.id, constraint]))
  for (const { constraint } of pairs) constraints.set(constraint.id, constraint)
  const used = new Set(relationFields.map(({ constraintId }) => constraintId))
  const resolved: ModelRecords = {
    sources: records.sources,
    namespaces: records.namespaces,
    collections: [...own, ...matched.map(({ record }) => record)],
    primitiveFields: [
      ...records.primitiveFields.filter(isUnlisted),
      ...[...collections.values()].flatMap(({ fields }) => [...fields.values()]),
    ],
    relationFields,
    constraints: [...constraints.values()].filter(({ id }) => used.has(id)),
    indexes: [...records.indexes.filter(isUnlisted), ...indexes],
  }
  return { records: resolved, places }
}

/** The relation that each one of the file is now. */
function* knownRelations(
  shapes: Shapes,
  records: ModelRecords,
  ids: Ids,
): Parts<ReadonlyMap<RelationShape, RelationFieldRecord>> {
  const found = new Map<RelationShape, RelationFieldRecord>()
  const { relationsOf } = lookupOf(records)
  for (const { matched, relations } of shapes.all) {
    yield
    const there = relationsOf(matched.before?.id).filter(({ constraintId }) => constraintId !== null)
    const wanted = [...relations.values()].map((relation) => ({
      name: relation.name,
      line: `${matched.entry.line}.${relation.name}`,
      renamedFrom: relation.file.renamedFrom,
      relation,
    }))
    const named = there.map((record) => ({ id: record.id, name: record.apiName, record }))
    for (const [{ relation }, { record }] of identify(wanted, named, { ids, what: 'a relation' })) {
      found.set(relation, record)
    }
  }
  return found
}

type Columns = {
  readonly shapes: Shapes
  readonly records: ModelRecords
  readonly ids: Ids
  readonly owners: ReadonlyMap<RelationShape, RelationFieldRecord>
  readonly places: Map<string, string>
  readonly dbNameOf: ReturnType<typeof columnNames>
}

function* resolveColumns(
  shape: CollectionShape,
  { shapes, records, ids, owners, places, dbNameOf }: Columns,
): Parts<ResolvedCollection> {
  const { matched, columns } = shape
  const { record, before, entry } = matched
  const there = lookupOf(records).fieldsOf(before?.id)
  const wanted = [...columns.values()].map((column) => ({
    name: column.name,
    line: `${entry.line}.${column.name}`,
    renamedFrom: column.file?.renamedFrom ?? columnBefore(column, { shapes, owners, records }),
    column,
  }))
  const found = identify(
    wanted,
    there.map((field) => ({ id: field.id, name: field.apiName, field })),
    { ids, what: `a field of ${entry.name}` },
  )
  const fields = new Map<string, PrimitiveFieldRecord>()
  for (const one of wanted) {
    yield
    const { column } = one
    const known = found.get(one)?.field
    if (known?.apiName !== column.name) checkApiName(column.name, column.place)
    const field = resolveColumn(column, shapes.specOf(shape, column.name), {
      collectionId: record.id,
      before: known,
      id: known?.id ?? ids.forNew(one.line),
      dbName: dbNameOf(shape, column.name),
    })
    places.set(field.id, column.place)
    fields.set(column.name, field)
  }
  return { shape, record, fields }
}

/**
 * The column that the relation of a made one has now: it follows a rename of the relation. Of several it is the one that refers to
 * the field of that name, whatever their order.
 */
function columnBefore(
  { file, uses }: Column,
  { shapes, owners, records }: Pick<Columns, 'shapes' | 'owners' | 'records'>,
): string | undefined {
  const [use] = uses
  if (file !== undefined || use === undefined) return undefined
  const owner = owners.get(use.relation)
  const { constraints, fields } = lookupOf(records)
  const { mappings = [] } = constraints.get(owner?.constraintId ?? '') ?? {}
  const nameOf = (id: string | undefined) => fields.get(id ?? '')?.apiName
  const referenced = shapes.referencedBy(use.relation)
  const mapping =
    mappings.length === 1 && referenced.length === 1
      ? mappings[0]
      : mappings.find(({ referencedFieldId }) => nameOf(referencedFieldId) === referenced[use.position])
  return nameOf(mapping?.constrainedFieldId)
}

/** The relations of collections that the file does not list, and their sides at those that it does. */
function unlistedPairs(
  records: ModelRecords,
  unlisted: ReadonlySet<string>,
  matched: readonly MatchedCollection[],
): { readonly relations: readonly RelationFieldRecord[] } {
  const { collections, relations } = lookupOf(records)
  const there = new Set(matched.map(({ record }) => record.id))
  const isOfUnlisted = (record: RelationFieldRecord) => {
    const owner = record.constraintId === null ? relations.get(record.oppositeRelationFieldId ?? '') : record
    return owner !== undefined && owner.constraintId !== null && unlisted.has(owner.collectionId)
  }
  const pairs = records.relationFields.filter((record) => record.through === undefined && isOfUnlisted(record))
  for (const { apiName, collectionId, oppositeCollectionId } of pairs) {
    const gone = [collectionId, oppositeCollectionId].find((id) => !unlisted.has(id) && !there.has(id))
    const name = collections.get(gone ?? '')?.apiName
    if (gone !== undefined) {
      throw fileFault(
        'model.collections',
        `lacks ${name}, to which the relation ${apiName} of a source that model.sources does not name belongs`,
      )
    }
  }
  const kept = new Set(pairs.map(({ id }) => id))
  const over = records.relationFields.filter(
    ({ through }) => through !== undefined && kept.has(through.nearId) && kept.has(through.farId),
  )
  return { relations: [...pairs, ...over] }
}
